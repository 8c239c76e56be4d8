"""The table that staircases of a bundle draw from: neighbors, the base, and which words may come out.

The bound holds whatever is in it, as long as no row stores an id twice and the base has no zero
(docs/proofs/staircase.md, condition 4 and 1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged

_ALL_ROLES, _LOWER_ROLES = 63, 48
#: Rows that are checked at once.
_ROWS_AT_ONCE = 1 << 11


def output_role(*, visible: bool, lower: bool = False) -> int:
    """Returns the bit of a symbol that may be an output where function words are visible, or not.

    1 with visible function words, 2 without. 16 and 32 are the same for slots whose output is written in lower case
    (``lower``). 4 and 8 are in bundles of before, and say nothing.
    """
    return (1 if visible else 2) << (4 if lower else 0)


_NEIGHBOR_TYPES = np.dtype(np.uint16), np.dtype(np.uint32)


@dataclass(frozen=True, eq=False)
class StaircaseTable:
    """The neighbors and the base of a bundle. Inputs are the symbols, by id, and ``<unk>``, which has no neighbors.

    Attributes:
        neighbors: Ids of the nearest symbols of each symbol, nearest first, the symbol itself before all others;
            shape ``(symbols, k)``.
        base: Public weight of every symbol as an output, at least 1, shape ``(symbols,)``.
        roles: Bits ``output_role`` of every symbol: under which rules it may come out, shape ``(symbols,)``. The bound
            holds whatever they are.
    """

    neighbors: NDArray[Any]
    base: NDArray[np.uint32]
    roles: NDArray[np.uint8]

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]], symbols: int) -> "StaircaseTable":
        """Checks shapes, types and ranges, and gives the table.

        Raises:
            BundleDamaged: A row stores an id twice or one that is not a symbol, or the base has a zero.
        """
        neighbors, base, roles = tensors["neighbours"], tensors["base"], tensors["roles"]
        if (
            neighbors.ndim != 2
            or len(neighbors) != symbols
            or neighbors.shape[1] < 1
            or neighbors.dtype not in _NEIGHBOR_TYPES
            or base.shape != (symbols,)
            or base.dtype != np.uint32
            or roles.shape != (symbols,)
            or roles.dtype != np.uint8
        ):
            raise BundleDamaged("staircase.safetensors: shapes or types do not fit the vocabulary")
        highest = 0
        for start in range(0, symbols, _ROWS_AT_ONCE):  # all at once, they would take four times the file
            ordered = neighbors[start : start + _ROWS_AT_ONCE].astype(np.uint32)  # quicker than 16 bits
            ordered.sort(axis=1)
            if (ordered[:, 1:] == ordered[:, :-1]).any():
                raise BundleDamaged("staircase.safetensors: a row stores a neighbor twice")
            highest = max(highest, int(ordered[:, -1].max()))
        if highest >= symbols or (neighbors[:, 0] != np.arange(symbols)).any():
            raise BundleDamaged(
                "staircase.safetensors: a row does not begin with its own word, or leaves the vocabulary"
            )
        if base.min() < 1:
            raise BundleDamaged("staircase.safetensors: the base has a zero")
        if (roles & ~np.uint8(_ALL_ROLES)).any():
            raise BundleDamaged("staircase.safetensors: a symbol has an unknown role")
        return cls(neighbors, base, roles)

    def outputs(self, *, visible: bool, lower: bool = False) -> NDArray[np.bool_]:
        """Returns which symbols may come out under a rule, shape ``(symbols,)``.

        Args:
            visible: Whether function words are visible.
            lower: Whether the output is written in lower case. If no symbol has a role of lower case, case decides
                nothing.
        """
        lower = lower and bool((self.roles & _LOWER_ROLES).any())
        return (self.roles & output_role(visible=visible, lower=lower)) != 0

    @property
    def symbols(self) -> int:
        """Number of symbols; also the id of ``<unk>``."""
        return len(self.base)
