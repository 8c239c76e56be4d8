"""The table for the staircases of a bundle: neighbors, base weights and roles.

The bound holds for any content, as long as no row stores an id twice and the base has no zero
(docs/proofs/staircase.md, condition 4 and 1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged

_ALL_ROLES, _LOWER_ROLES = 63, 48
#: Number of rows in one block of the check.
_BLOCK_ROWS = 1 << 11


def compute_output_role(*, function_words_kept: bool, lower: bool = False) -> int:
    """Return the bit of a symbol's role as an output, by whether function words are kept.

    ``function_words_kept`` is true if the mode keeps function words: 1 with kept function words, 2 without. 16 and 32
    are the same for slots whose output is written in lower case (``lower``). 4 and 8 occur in older bundles and have no
    meaning.

    Example:
        >>> compute_output_role(function_words_kept=True) != compute_output_role(function_words_kept=False)
        True
    """
    return (1 if function_words_kept else 2) << (4 if lower else 0)


_NEIGHBOR_TYPES = np.dtype(np.uint16), np.dtype(np.uint32)


@dataclass(frozen=True, eq=False)
class StaircaseTable:
    """The neighbors and the base of a bundle.

    Inputs are the symbols, by id, and ``<unk>``, which has no neighbors.

    Attributes:
        neighbors: Ids of the nearest symbols of each symbol, nearest first, the symbol itself before all others;
            shape ``(symbol_count, k)``.
        base: Public weight of every symbol as an output, at least 1, shape ``(symbol_count,)``.
        roles: Bit masks of ``compute_output_role`` of every symbol, shape ``(symbol_count,)``: the rules that allow the
            symbol as an output. The bound holds for any roles.

    Example:
        >>> from textveil.bundle import DEFAULT_BUNDLE, TextBundle, open_bundle
        >>> bundle = open_bundle(DEFAULT_BUNDLE, TextBundle)
        >>> table = bundle.staircase_table
        >>> table.symbol_count == len(bundle.vocabulary), table.neighbors.shape[0] == table.symbol_count
        (True, True)
    """

    neighbors: NDArray[Any]
    base: NDArray[np.uint32]
    roles: NDArray[np.uint8]

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]], symbols: int) -> "StaircaseTable":
        """Check shapes, types and ranges of the arrays, and return the table.

        Raises:
            BundleDamaged: A shape or type is invalid, a row stores an id twice or an id that is not a symbol, a row
                does not begin with its own symbol, the base has a zero, or a role is unknown.
        """
        neighbors, base, roles = tensors["neighbors"], tensors["base"], tensors["roles"]
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
            raise BundleDamaged("staircase.safetensors: shapes or types do not match the vocabulary")
        highest = 0
        for start in range(0, symbols, _BLOCK_ROWS):  # all rows at once take four times the file
            ordered = neighbors[start : start + _BLOCK_ROWS].astype(np.uint32)  # faster than 16-bit values
            ordered.sort(axis=1)
            if (ordered[:, 1:] == ordered[:, :-1]).any():
                raise BundleDamaged("staircase.safetensors: a row stores a neighbor twice")
            highest = max(highest, int(ordered[:, -1].max()))
        if highest >= symbols or (neighbors[:, 0] != np.arange(symbols)).any():
            raise BundleDamaged(
                "staircase.safetensors: a row must begin with its own word and contain only words of the vocabulary"
            )
        if base.min() < 1:
            raise BundleDamaged("staircase.safetensors: a base weight is zero")
        if (roles & ~np.uint8(_ALL_ROLES)).any():
            raise BundleDamaged("staircase.safetensors: a word has an unknown role")
        return cls(neighbors, base, roles)

    def get_output_mask(self, *, function_words_kept: bool, lower: bool = False) -> NDArray[np.bool_]:
        """Return the mask of possible outputs under a rule, shape ``(symbols,)``.

        Args:
            function_words_kept: Whether function words are kept.
            lower: Whether the output is written in lower case. If no symbol has a role of lower case, case makes no
                difference.
        """
        lower = lower and bool((self.roles & _LOWER_ROLES).any())
        return (self.roles & compute_output_role(function_words_kept=function_words_kept, lower=lower)) != 0

    @property
    def symbol_count(self) -> int:
        """Number of symbols; also the id of ``<unk>``."""
        return len(self.base)
