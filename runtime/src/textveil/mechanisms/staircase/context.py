"""What stands around a drawn mention, and what the base makes of it: one factor for each class of words.

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
from textveil.mechanisms.elements import CONTEXT_POSITIONS, Elements
from textveil.mechanisms.integer_sampling import Integers


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
