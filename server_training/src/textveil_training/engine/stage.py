"""Define a training stage: trained parameters, batches, optimizers, and metrics of each epoch."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from textveil_cli.errors import ResumeError
from torch import Tensor, nn


@dataclass(frozen=True)
class OptimizerUpdate:
    """An optimizer, and the loss that it minimizes.

    Attributes:
        optimizer: The optimizer; the learning rate of its parameter groups is the peak rate.
        loss: Function that computes the loss of a batch, a scalar tensor, from the indices of its examples.
        accumulate_gradients: Function for batches that are too large for one pass: it computes the gradient of ``loss``
            in parts and returns the loss. ``None`` for a single pass.
    """

    optimizer: torch.optim.Optimizer
    loss: Callable[[Tensor], Tensor]
    accumulate_gradients: Callable[[Tensor], float] | None = None

    def compute_gradients(self, batch: Tensor) -> float:
        """Compute the gradients of a batch's loss, and return the loss.

        Args:
            batch: Indices of the examples in the batch.
        """
        if self.accumulate_gradients is not None:
            return self.accumulate_gradients(batch)
        loss = self.loss(batch)
        loss.backward()
        return loss.item()


@dataclass(frozen=True, kw_only=True)
class TrainingStage:
    """A number of epochs that train the same parameters with the same optimizers.

    Attributes:
        name: Name of the stage in the record.
        modules: Networks to train, by name; the state file contains their weights.
        num_epochs: Number of epochs.
        batches: Function that returns the batches of an epoch from a random generator. A batch is a tensor of example
            indices.
        updates: Optimizers with their losses. Each of them updates its parameters on every batch, in this order.
        measure: Function that returns metrics by name after every epoch; the epoch with the largest ``dev`` is the
            best.
        warmup: Share of the steps in which the learning rate rises.
        clip_norm: Largest norm of the gradient of each update; larger gradients are scaled down to it.
        steps: Total number of steps, if the last epoch is shorter than the others; ``None`` for whole epochs.
        steps_per_epoch: Number of steps of every epoch except the last; required with ``steps``.

    Raises:
        ValueError: Only one of ``steps`` and ``steps_per_epoch`` is given, or ``num_epochs`` does not agree with them.
    """

    name: str
    modules: dict[str, nn.Module]
    num_epochs: int
    batches: Callable[[torch.Generator], Sequence[Tensor]]
    updates: Sequence[OptimizerUpdate]
    measure: Callable[[], dict[str, float]]
    warmup: float
    clip_norm: float
    steps: int | None = None
    steps_per_epoch: int | None = None

    def __post_init__(self) -> None:
        if (self.steps is None) != (self.steps_per_epoch is None):
            raise ValueError("pass both steps and steps_per_epoch, or none of them")
        if self.steps and self.steps_per_epoch and math.ceil(self.steps / self.steps_per_epoch) != self.num_epochs:
            raise ValueError("the number of steps must equal epochs times steps per epoch")

    def collect_tensors(self) -> dict[str, Tensor]:
        """Return the tensors of the stage's state by name: module weights and optimizer moments."""
        tensors = {
            f"weights.{module}.{name}": tensor
            for module, owner in self.modules.items()
            for name, tensor in owner.state_dict().items()
        }
        for number, update in enumerate(self.updates):
            for index, moments in update.optimizer.state_dict()["state"].items():
                tensors |= {f"moments.{number}.{index}.{name}": tensor for name, tensor in moments.items()}
        return tensors

    def restore_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Copy the tensors from ``collect_tensors`` back into the modules and optimizers.

        Raises:
            ResumeError: The tensors are of another architecture.
        """
        try:
            for module, owner in self.modules.items():
                prefix = f"weights.{module}."
                owner.load_state_dict({n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)})
            for number, update in enumerate(self.updates):
                state: dict[int, dict[str, Tensor]] = {}
                prefix = f"moments.{number}."
                for name, tensor in tensors.items():
                    if name.startswith(prefix):
                        index, moment = name.removeprefix(prefix).split(".")
                        state.setdefault(int(index), {})[moment] = tensor
                groups = update.optimizer.state_dict()["param_groups"]
                update.optimizer.load_state_dict({"state": state, "param_groups": groups})
        except (RuntimeError, ValueError, KeyError) as error:
            raise ResumeError(
                "the unfinished run has another architecture: repeat its command, or choose a new folder"
            ) from error


def make_adamw(
    network: nn.Module, learning_rate: Callable[[str], float | None], weight_decay: float, *, fused: bool = True
) -> torch.optim.AdamW:
    """Create an AdamW optimizer with decoupled weight decay on matrices only (Loshchilov and Hutter 2019).

    Args:
        network: Network whose parameters are trained.
        learning_rate: Function that returns the peak rate for a parameter's name; ``None`` for a parameter that is not
            trained.
        weight_decay: Weight decay of matrices; vectors such as biases have none.
        fused: Whether parameters with equal rate and decay form one group and are updated in one fused operation.
            Otherwise every parameter is its own group. The results differ by rounding only.
    """
    groups: dict[tuple[float, float, str], dict[str, Any]] = {}
    for name, parameter in network.named_parameters():
        rate = learning_rate(name)
        if rate is not None:
            decay = weight_decay if parameter.ndim > 1 else 0.0
            group = {"params": [], "lr": rate, "weight_decay": decay}
            groups.setdefault((rate, decay, "" if fused else name), group)["params"].append(parameter)
    return torch.optim.AdamW(list(groups.values()), fused=fused or None)
