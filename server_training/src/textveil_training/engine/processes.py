"""Run a training in one process, or in several processes that train one model together.

``accelerate launch --multi_gpu`` starts several processes, and on CPUs ``torchrun`` does (``accelerate launch --cpu``
starts a single one). They communicate through ``accelerate``.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from textveil_training.engine.encoders import get_device
from textveil_training.errors import SettingError


class SingleProcess:
    """Communication between the processes of a training, for a training in a single process.

    Args:
        device: ``cpu`` or a CUDA device.

    Attributes:
        rank: Index of this process, from 0.
        world_size: Number of processes.
        device: Device on which this process computes.

    Raises:
        DeviceError: The device does not exist.
    """

    rank, world_size = 0, 1

    def __init__(self, device: str) -> None:
        self.device = get_device(device)

    def wrap_model(self, model: nn.Module) -> Callable[..., Tensor]:
        """Return the model unchanged; with several processes, the result would average gradients over all of them."""
        return model

    def no_sync(self, model: Any) -> AbstractContextManager[object]:
        """Return a context manager inside which processes do not exchange gradients."""
        del model
        return nullcontext()

    def broadcast(self, tensor: Tensor) -> Tensor:
        """Return the ``tensor`` of the first process (rank 0); all processes have tensors of the same shape."""
        return tensor

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        return tensor

    def any(self, flag: bool) -> bool:
        """Return whether ``flag`` is true in any process."""
        return flag

    def wait(self) -> None:
        """Wait until all processes reach this call."""


class DistributedProcess(SingleProcess):
    """Communication between the processes of a training, for several processes connected by ``accelerate``.

    Args:
        device: ``cpu``; for any other value accelerate assigns a separate device to each process.

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
        self.rank, self.world_size = self._accelerator.process_index, self._accelerator.num_processes

    def wrap_model(self, model: nn.Module) -> Callable[..., Tensor]:
        """Return a model whose gradients are averaged over all processes."""
        return self._accelerator.prepare_model(model)

    def no_sync(self, model: Any) -> AbstractContextManager[object]:
        """Return a context manager inside which processes do not exchange gradients."""
        return self._accelerator.no_sync(model)

    def broadcast(self, tensor: Tensor) -> Tensor:
        """Return the ``tensor`` of the first process (rank 0); all processes have tensors of the same shape."""
        from accelerate.utils import broadcast

        found: Any = broadcast(tensor.to(self.device))
        return found.to(tensor.device)

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        found: Any = self._accelerator.reduce(tensor.to(self.device), "sum")
        return found.to(tensor.device)

    def any(self, flag: bool) -> bool:
        """Return whether ``flag`` is true in any process."""
        return bool(self.sum(torch.tensor(int(flag))).item())

    def wait(self) -> None:
        """Wait until all processes reach this call."""
        self._accelerator.wait_for_everyone()


def get_process(device: str) -> SingleProcess:
    """Detect whether a launcher started several processes, and return the object for their communication.

    Raises:
        DeviceError: The device does not exist.
        SettingError: A launcher started several processes, and accelerate is not installed.
    """
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    return DistributedProcess(device) if several else SingleProcess(device)
