"""The worst pair of inputs found so far, by loss per unit of distance, and which pairs are looked at first."""

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Floats
from textveil.mechanisms.baselines import KEPT, Table

_SEED_NEIGHBORS = 4


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The largest loss per unit of distance found so far, and where.

    Attributes:
        ratio: ``loss / d``.
        first, second: The inputs ``x`` and ``x'``; -1 before any pair was looked at.
        distance: ``d``.
    """

    ratio: float = 0.0
    first: int = -1
    second: int = -1
    distance: float = 0.0

    def or_worse(self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats) -> "Worst":
        """Returns the worst of this and of some pairs."""
        if not len(losses):
            return self
        ratios = losses / distances
        index = int(ratios.argmax())
        if ratios[index] <= self.ratio:
            return self
        return Worst(
            ratio=float(ratios[index]),
            first=int(first[index]),
            second=int(second[index]),
            distance=float(distances[index]),
        )


class Worsts:
    """The worst pair over all inputs and over sensitive inputs. Several threads may add to it.

    Args:
        sensitive: Which inputs are sensitive, shape ``(inputs,)``.
    """

    def __init__(self, sensitive: NDArray[np.bool_]) -> None:
        self.sensitive = sensitive
        self.over_all = Worst()
        self.over_sensitive = Worst()
        self._lock = Lock()

    @property
    def threshold(self) -> float:
        """A pair with a smaller ratio changes nothing: the worst over sensitive inputs is never above the other."""
        return max(self.over_sensitive.ratio, 1e-9)

    def add(self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats) -> None:
        """Takes the losses of some pairs into account; shapes ``(n,)``."""
        both = self.sensitive[first] & self.sensitive[second]
        with self._lock:
            self.over_all = self.over_all.or_worse(losses, first, second, distances)
            self.over_sensitive = self.over_sensitive.or_worse(losses[both], first[both], second[both], distances[both])


def sensitive_inputs(table: Table) -> NDArray[np.bool_]:
    """Tells which inputs are sensitive under SanText+: never kept, ``<unk>`` too; shape ``(inputs,)``."""
    return np.append((table.roles & KEPT) == 0, True)


def near_pairs(neighbors: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns pairs of near inputs in both orders: a good first guess makes the bound skip nearly all others."""
    near = neighbors[:, :_SEED_NEIGHBORS].astype(np.intp)
    first = np.repeat(np.arange(len(near)), near.shape[1])
    second = near.ravel()
    apart = first != second
    first, second = first[apart], second[apart]
    return np.concatenate([first, second]), np.concatenate([second, first])
