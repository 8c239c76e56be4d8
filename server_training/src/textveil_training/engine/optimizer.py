"""AdamW with a learning rate for each part of a network."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def adamw(
    network: nn.Module, learning_rate: Callable[[str], float | None], weight_decay: float, *, fused: bool = True
) -> torch.optim.AdamW:
    """Returns AdamW with decay on matrices alone, decoupled (Loshchilov and Hutter 2019).

    Args:
        network: Network whose parameters are trained.
        learning_rate: Maps a parameter's name to its peak rate, or to None where it is not trained.
        weight_decay: Decay of matrices; vectors such as biases have none.
        fused: Whether parameters of equal rate and decay are one group and take one fused step. Without it every
            parameter is a group of its own. Both are the same mathematics, with sums in another order.
    """
    groups: dict[tuple[float, float, str], dict[str, Any]] = {}
    for name, parameter in network.named_parameters():
        rate = learning_rate(name)
        if rate is not None:
            decay = weight_decay if parameter.ndim > 1 else 0.0
            group = {"params": [], "lr": rate, "weight_decay": decay}
            groups.setdefault((rate, decay, "" if fused else name), group)["params"].append(parameter)
    return torch.optim.AdamW(list(groups.values()), fused=fused or None)
