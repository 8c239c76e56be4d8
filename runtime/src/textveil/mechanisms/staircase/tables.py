"""The tables that staircases of a bundle draw from: neighbors, the base, which words may come out, and contexts.

The bound holds whatever is in the first, as long as no row stores an id twice and the base has no zero
(docs/proofs/staircase.md, condition 4 and 1). The second has what the base makes of what stands around a drawn mention:
one factor for each class of words.

    W_c(k) = W[n - 1 - min(n - 1, max over k' of E_c(k') - E_c(k))],
    E_c(k) = sum over the positions j of scores[rows[j, c_j], k].

A context ``c`` is four *elements*: what is public two before and one before a mention, and one and two after it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.protocol import CONTEXT_POSITIONS, Elements

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


@dataclass(frozen=True, eq=False, kw_only=True)
class ContextTable:
    """What the base makes of a context: one factor for each class of words.

    Attributes:
        elements: Numbers of elements.
        classes: Class of every symbol, shape ``(symbols,)``.
        rows: Row of ``scores`` of each element at each position, shape ``(4, elements)``.
        scores: Score of each class, shape ``(rows, classes)``.
        weights: ``W``, by score below the best: the last entry is that of the best class; at least 1, shape ``(n,)``.
    """

    elements: Elements
    classes: NDArray[np.uint8]
    rows: NDArray[np.uint16]
    scores: NDArray[np.int8]
    weights: NDArray[np.uint32]

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]], symbols: int, kinds: int) -> "ContextTable":
        """Checks shapes, types and ranges, and gives the table.

        Args:
            tensors: Arrays ``classes``, ``rows``, ``scores`` and ``weights``.
            symbols: Number of symbols of the vocabulary.
            kinds: Number of kinds of the skeleton.

        Raises:
            BundleDamaged: They do not fit the vocabulary and the kinds, name a class or a row that is not there, or a
                weight is 0.
        """
        elements = Elements(symbols, kinds + 1)
        classes, rows, scores, weights = (tensors[name] for name in ("classes", "rows", "scores", "weights"))
        if (
            classes.shape != (symbols,)
            or classes.dtype != np.uint8
            or rows.shape != (len(CONTEXT_POSITIONS), elements.count)
            or rows.dtype != np.uint16
            or scores.ndim != 2
            or scores.dtype != np.int8
            or not 1 <= scores.shape[1] <= 256
            or weights.ndim != 1
            or weights.dtype != np.uint32
            or not 1 <= len(weights) <= 1 << 10
        ):
            raise BundleDamaged("context.safetensors: shapes or types do not fit the vocabulary and the kinds")
        if classes.max() >= scores.shape[1] or rows.max() >= len(scores):
            raise BundleDamaged("context.safetensors: a class or a row is not there")
        if weights.min() < 1:
            raise BundleDamaged("context.safetensors: a weight is 0")
        return cls(elements=elements, classes=classes, rows=rows, scores=scores, weights=weights)

    def factors(self, contexts: Integers) -> Integers:
        """Returns ``W_c`` of some contexts, shape ``(n, classes)``.

        Args:
            contexts: Elements at ``CONTEXT_POSITIONS``, shape ``(n, 4)``.
        """
        total = np.zeros((len(contexts), self.scores.shape[1]), dtype=np.int16)
        for position, row_of in enumerate(self.rows):
            total += self.scores[row_of[contexts[:, position]]]
        below = total.max(axis=1)[:, None] - total
        last = len(self.weights) - 1
        return self._weights[last - np.minimum(below, last)]

    @cached_property
    def _weights(self) -> Integers:
        return self.weights.astype(np.int64)
