"""The mapped table: which words are near which, who may come out, and the integer weight of every score.

One list of neighbours serves every level and both mechanisms: a level is a look-up from integer scores to integer
weights, and a mechanism is the set of words that may come out (docs/proofs/capped-score.md).
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged
from textveil.sampling import MAX_TOTAL, Integers

#: Bits of a symbol's role.
SANTEXT_OUTPUT, SANTEXT_PLUS_OUTPUT, KEPT = 1, 2, 4
OUTPUT_ROLE = {"santext": SANTEXT_OUTPUT, "santext+": SANTEXT_PLUS_OUTPUT}


@dataclass(frozen=True)
class LevelLaw:
    """What one level of one mechanism adds to the table.

    Attributes:
        exponent: ``alpha`` per unit of scaled distance; the textbook bound is ``2 alpha``.
        weights: ``weights[s]`` is the integer weight of score ``s``, shape ``(scores,)``, non-increasing, >= 1.
        base: Base measure of every symbol, shape ``(symbols,)``, or ``None`` where it is uniform.
    """

    exponent: Decimal
    weights: Integers
    base: NDArray[np.uint32] | None


@dataclass(frozen=True)
class Table:
    """Neighbours of every input. Inputs are the symbols, by id, and ``<unk>``, whose row is the last.

    Attributes:
        neighbours: Ids of the ``k`` nearest candidate outputs of each input, nearest first, the input itself
            included where it is one; shape ``(symbols + 1, k)``.
        scores: Their scores ``floor(grid * d)``, same shape, non-decreasing along a row.
        roles: Bits ``SANTEXT_OUTPUT``, ``SANTEXT_PLUS_OUTPUT`` and ``KEPT`` of each symbol, shape ``(symbols,)``.
        grid: Score steps per unit of scaled distance.
        median_squared_distance: Squared distance, in embedding grid steps, that is one unit of scaled distance.
        unknown_extra: Squared length of the coordinate that only ``<unk>`` has.
    """

    neighbours: NDArray[Any]
    scores: NDArray[np.uint16]
    roles: NDArray[np.uint8]
    grid: int
    median_squared_distance: int
    unknown_extra: int
    tensors: dict[str, NDArray[Any]]

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]], law: dict[str, Any]) -> "Table":
        """Checks shapes, types and ranges, and gives the table; ``BundleDamaged`` where one is wrong."""
        neighbours, scores, roles = tensors["neighbours"], tensors["scores"], tensors["roles"]
        shape = (law["symbols"] + 1, law["neighbours"])
        if any(type(n) is not int for n in shape):
            raise BundleDamaged("law.json: a count is not an integer")
        integers = [law[key] for key in ("grid", "median_squared_distance", "unknown_extra_squared_distance")]
        if (
            neighbours.shape != shape
            or scores.shape != shape
            or roles.shape != (shape[0] - 1,)
            or min(shape) < 1
            or neighbours.dtype not in (np.uint16, np.uint32)
            or scores.dtype != np.uint16
            or roles.dtype != np.uint8
            or any(type(n) is not int for n in integers)
            or min(integers[:2]) < 1
            or integers[2] < 0
        ):
            raise BundleDamaged("table.safetensors: shapes, types or constants do not fit the law")
        ordered = np.sort(neighbours, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise BundleDamaged("table.safetensors: a row stores a neighbour twice")
        if ordered[:, -1].max() >= shape[0] - 1 or (scores[:, 1:] < scores[:, :-1]).any():
            raise BundleDamaged("table.safetensors: neighbours or scores are out of range")
        santext, santext_plus, kept = ((roles & bit) != 0 for bit in (SANTEXT_OUTPUT, SANTEXT_PLUS_OUTPUT, KEPT))
        if (roles & ~np.uint8(SANTEXT_OUTPUT | SANTEXT_PLUS_OUTPUT | KEPT)).any():
            raise BundleDamaged("table.safetensors: a symbol has an unknown role")
        if not santext_plus.any() or (santext_plus & ~santext).any() or (santext_plus & kept).any():
            raise BundleDamaged("table.safetensors: the output sets are empty or overlap the kept words")
        if not santext[neighbours].all():
            raise BundleDamaged("table.safetensors: a neighbour is not an output")
        return cls(neighbours, scores, roles, *integers, tensors)

    @property
    def symbols(self) -> int:
        """Number of symbols; also the row of ``<unk>``."""
        return len(self.roles)

    def level_law(self, exponent: Decimal, weights_name: str, base_name: str | None) -> LevelLaw:
        """The law of one level by the names of its arrays; ``BundleDamaged`` where they do not fit."""
        weights = self.tensors[weights_name]
        base = None if base_name is None else self.tensors[base_name]
        if weights.dtype != np.int64 or weights.ndim != 1 or not exponent.is_finite() or exponent <= 0:
            raise BundleDamaged("table.safetensors: a level has no valid weights")
        if len(weights) <= int(self.scores[:, -1].max()) or weights[-1] < 1 or (weights[1:] > weights[:-1]).any():
            raise BundleDamaged("table.safetensors: the weights of a level do not cover its scores")
        if wrong_weight(weights, exponent, self.grid) is not None:
            raise BundleDamaged("table.safetensors: the weights of a level do not follow its exponent")
        if base is not None and (base.dtype != np.uint32 or base.shape != self.roles.shape):
            raise BundleDamaged("table.safetensors: a base measure does not fit the vocabulary")
        largest_base = 1 if base is None else int(base.max())
        tail_bound = int(weights[self.scores[:, -1]].max()) * self.symbols * largest_base
        if tail_bound + int(weights[0]) * largest_base * self.scores.shape[1] >= MAX_TOTAL:
            raise BundleDamaged("table.safetensors: the weights of a level are too large")
        return LevelLaw(exponent, weights, base)

    def base_measure(self, mechanism: str, law: LevelLaw) -> Integers:
        """The base measure of a mechanism, zero for words that are never its output, shape ``(symbols,)``."""
        outputs = (self.roles & OUTPUT_ROLE[mechanism]) != 0
        if law.base is None:
            return outputs.astype(np.int64)
        base = np.where(outputs, law.base, 0).astype(np.int64)
        if (base[outputs] < 1).any():
            raise BundleDamaged("table.safetensors: a base measure is zero for an output")
        return base

    def squared_distances(
        self, embeddings: NDArray[np.int8], first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> Integers:
        """Squared distances of pairs of inputs in embedding grid steps, exact; ``<unk>`` is ``symbols``. ``(n,)``."""
        squared = np.empty(len(first), dtype=np.int64)
        for part in np.array_split(np.arange(len(first)), max(1, len(first) // 8192)):
            difference = embeddings[first[part]].astype(np.int32) - embeddings[second[part]]
            squared[part] = np.einsum("ij,ij->i", difference, difference, dtype=np.int64)
        return squared + np.where((first == self.symbols) != (second == self.symbols), self.unknown_extra, 0)

    def squared_distance(self, embeddings: NDArray[np.int8], first: int, second: int) -> int:
        """Squared distance of two inputs in embedding grid steps."""
        return int(self.squared_distances(embeddings, np.array([first]), np.array([second]))[0])

    def distance(self, embeddings: NDArray[np.int8], first: int, second: int) -> float:
        """Scaled distance: 1 is the median distance of two words of the vocabulary."""
        return math.sqrt(self.squared_distance(embeddings, first, second) / self.median_squared_distance)


def wrong_weight(weights: Integers, exponent: Decimal, grid: int) -> int | None:
    """The first score whose weight is not ``exp(-alpha s / grid)`` times a constant, to within rounding.

    The textbook epsilon, twice the exponent, is true of weights that follow the exponent and of no others.
    """
    with np.errstate(all="ignore"):
        exact = float(weights[0]) * np.exp(-float(exponent) * np.arange(len(weights)) / grid)
        wrong = ~(np.abs(weights - exact) <= 1 + 1e-9 * exact)
    return int(np.argmax(wrong)) if wrong.any() else None


def scores(squared: Integers, grid: int, median_squared: int) -> Integers:
    """``floor(grid * sqrt(squared / median_squared))`` in integers, any shape: how distances become scores."""
    radicand = squared * (grid * grid) // median_squared
    root = np.sqrt(radicand.astype(np.float64)).astype(np.int64)
    root -= root * root > radicand  # the floating-point root is at most one off
    root += (root + 1) * (root + 1) <= radicand
    return root
