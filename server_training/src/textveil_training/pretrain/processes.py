"""Training alone, or as one of several processes.

They are started by ``accelerate launch --multi_gpu``, or on processors by ``torchrun`` (``accelerate launch --cpu``
starts one alone), and talk by way of ``accelerate``.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from textveil_training.encoders import device_named
from textveil_training.errors import SettingError


class Alone:
    """One process.

    Args:
        device: ``cpu`` or a CUDA device.

    Attributes:
        number: Of this process, from 0.
        count: Of processes.
        device: Where this process computes.

    Raises:
        DeviceError: There is no such device.
    """

    number, count = 0, 1

    def __init__(self, device: str) -> None:
        self.device = device_named(device)

    def wrapped(self, model: nn.Module) -> Callable[..., Tensor]:
        """The model such that its gradients are those of all processes."""
        return model

    def unshared(self, model: Any) -> AbstractContextManager[object]:
        """Within it gradients stay in this process: more are to come."""
        del model
        return nullcontext()

    def of_main(self, tensor: Tensor) -> Tensor:
        """The main process's values of a tensor that all have in the same shape."""
        return tensor

    def total(self, tensor: Tensor) -> Tensor:
        """Sum over the processes."""
        return tensor

    def any(self, flag: bool) -> bool:
        """Whether any process says so."""
        return flag

    def wait(self) -> None:
        """Until all are here."""


class Several(Alone):
    """One of several processes, by way of ``accelerate``.

    Args:
        device: ``cpu``; anything else lets accelerate give each process a device of its own.

    Raises:
        SettingError: accelerate is not installed.
    """

    def __init__(self, device: str) -> None:
        try:
            from accelerate import Accelerator
        except ImportError as error:
            raise SettingError(
                "several processes need accelerate: pip install 'textveil-training[distributed]'"
            ) from error
        if device != "cpu":
            super().__init__(device)
        self._accelerator = Accelerator(cpu=device == "cpu")
        self.device = self._accelerator.device
        self.number, self.count = self._accelerator.process_index, self._accelerator.num_processes

    def wrapped(self, model: nn.Module) -> Callable[..., Tensor]:
        """Returns the model with gradients summed over the processes."""
        return self._accelerator.prepare_model(model)

    def unshared(self, model: Any) -> AbstractContextManager[object]:
        """Keeps gradients to this process while the context lasts."""
        return self._accelerator.no_sync(model)

    def of_main(self, tensor: Tensor) -> Tensor:
        """Returns the tensor that rank 0 has."""
        from accelerate.utils import broadcast

        found: Any = broadcast(tensor.to(self.device))
        return found.to(tensor.device)

    def total(self, tensor: Tensor) -> Tensor:
        """Returns the sum of a tensor over all processes."""
        found: Any = self._accelerator.reduce(tensor.to(self.device), "sum")
        return found.to(tensor.device)

    def any(self, flag: bool) -> bool:
        """Returns whether any process says so."""
        return bool(self.total(torch.tensor(int(flag))).item())

    def wait(self) -> None:
        """Waits until all processes are here."""
        self._accelerator.wait_for_everyone()


def processes(device: str) -> Alone:
    """What this process is: alone, or one of several that a launcher started.

    Raises:
        DeviceError: There is no such device.
        SettingError: There are several, and accelerate is not installed.
    """
    return Several(device) if int(os.environ.get("WORLD_SIZE", "1")) > 1 else Alone(device)
