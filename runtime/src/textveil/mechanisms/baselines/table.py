"""The table of a SanText bundle: neighbors of every word, possible outputs, and score weights.

One list of neighbors serves every level (epsilon) and both mechanisms. A level is a table from integer scores to
integer weights, and a mechanism is a set of possible outputs (docs/proofs/santext.md).
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.integer_sampling import MAX_TOTAL

#: Bit masks of a symbol's roles.
SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE, KEPT_ROLE = 1, 2, 4
#: Smallest weight: rounding to integers changes a weight by at most 2**-13 of its value.
MIN_WEIGHT = 1 << 12
_NEIGHBOR_TYPES = np.dtype(np.uint16), np.dtype(np.uint32)
_BASE_TYPES = np.dtype(np.uint8), *_NEIGHBOR_TYPES
OUTPUT_ROLE = {"santext": SANTEXT_OUTPUT_ROLE, "santext+": SANTEXT_PLUS_OUTPUT_ROLE}


@dataclass(frozen=True)
class LevelParameters:
    """The exponent, weights and base measure of one level (epsilon), for one mechanism.

    Attributes:
        exponent: ``alpha`` per unit of scaled distance. The textbook bound of the loss is ``2 alpha``.
        weights: ``weights[s]`` is the integer weight of score ``s``, shape ``(scores,)``, non-increasing, at least
            ``MIN_WEIGHT``. A score past the end has the last weight.
        base: Factor of the weight of every symbol, the same for all inputs, shape ``(symbols,)``; ``None`` if it is 1.

    Example:
        >>> from textveil.bundle import TextBundle, find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("english-santext"), TextBundle)
        >>> parameters = bundle.santext_levels[0].parameters["santext"]
        >>> int(parameters.weights.min()) >= 1
        True
    """

    exponent: Decimal
    weights: Integers
    base: NDArray[Any] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class SanTextTable:
    """Neighbors of every input. Inputs are the symbols, by id, then ``<unk>``.

    Attributes:
        neighbors: Ids of the ``k`` nearest candidate outputs of each input, nearest first, including the input itself
            if it is a candidate; shape ``(symbol_count + 1, k)``.
        scores: Scores ``floor(grid * d)`` of these neighbors, where ``d`` is the scaled distance; same shape,
            non-decreasing along a row.
        roles: Bit masks ``SANTEXT_OUTPUT_ROLE``, ``SANTEXT_PLUS_OUTPUT_ROLE`` and ``KEPT_ROLE`` of each symbol, shape
            ``(symbol_count,)``.
        grid: Score steps per unit of scaled distance.
        tensors: All arrays of the file, by name. Each level refers to its arrays by name.

    Example:
        >>> from textveil.bundle import TextBundle, find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("english-santext"), TextBundle)
        >>> bundle.table.symbol_count == len(bundle.vocabulary), bundle.table.neighbors.shape[1]
        (True, 60)
    """

    neighbors: NDArray[Any]
    scores: NDArray[np.uint16]
    roles: NDArray[np.uint8]
    grid: int
    tensors: dict[str, NDArray[Any]]

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]], definition: dict[str, Any]) -> "SanTextTable":
        """Check shapes, types and ranges of the arrays, and return the table.

        Raises:
            BundleDamaged: A shape, type or value is invalid.
        """
        neighbors, scores, roles = tensors["neighbors"], tensors["scores"], tensors["roles"]
        shape = (definition["vocabulary_size"] + 1, definition["neighbors_per_word"])
        if any(type(n) is not int for n in shape):
            raise BundleDamaged("mechanism.json: a count must be an integer")
        if (
            neighbors.shape != shape
            or scores.shape != shape
            or roles.shape != (shape[0] - 1,)
            or min(shape) < 1
            or neighbors.dtype not in _NEIGHBOR_TYPES
            or scores.dtype != np.uint16
            or roles.dtype != np.uint8
            or type(definition["grid"]) is not int
            or definition["grid"] < 1
        ):
            raise BundleDamaged("table.safetensors: shapes, types or constants do not match mechanism.json")
        ordered = np.sort(neighbors.astype(np.uint32), axis=1)  # faster than sorting 16-bit values
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise BundleDamaged("table.safetensors: a row stores a neighbor twice")
        if ordered[:, -1].max() >= shape[0] - 1 or (scores[:, 1:] < scores[:, :-1]).any():
            raise BundleDamaged("table.safetensors: neighbors or scores are out of range")
        santext, santext_plus, kept = (
            (roles & bit) != 0 for bit in (SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE, KEPT_ROLE)
        )
        if (roles & ~np.uint8(SANTEXT_OUTPUT_ROLE | SANTEXT_PLUS_OUTPUT_ROLE | KEPT_ROLE)).any():
            raise BundleDamaged("table.safetensors: a word has an unknown role")
        if not santext_plus.any() or (santext_plus & ~santext).any() or (santext_plus & kept).any():
            raise BundleDamaged("table.safetensors: a set of outputs is empty, or contains a word that is always kept")
        if not santext[neighbors].all():
            raise BundleDamaged("table.safetensors: a row stores a neighbor that cannot be an output")
        return cls(neighbors=neighbors, scores=scores, roles=roles, grid=definition["grid"], tensors=tensors)

    @property
    def symbol_count(self) -> int:
        """Number of symbols; also the index of the row of ``<unk>``."""
        return len(self.roles)

    def get_level_parameters(self, exponent: Decimal, weights_name: str, base_name: str | None) -> LevelParameters:
        """Return the parameters of one level (epsilon), given the names of its arrays.

        Raises:
            BundleDamaged: The arrays do not fit the table or the exponent, or their sums are too large.
        """
        weights = self.tensors[weights_name]
        base = None if base_name is None else self.tensors[base_name]
        if weights.dtype != np.int64 or weights.ndim != 1 or not exponent.is_finite() or exponent <= 0:
            raise BundleDamaged("table.safetensors: the weights of a level are invalid")
        if (
            len(weights) <= int(self.scores[:, -1].max())
            or weights[-1] < MIN_WEIGHT
            or (weights[1:] > weights[:-1]).any()
        ):
            raise BundleDamaged("table.safetensors: the weights of a level do not cover its scores")
        if find_wrong_weight(weights, exponent, self.grid) is not None:
            raise BundleDamaged("table.safetensors: the weights of a level differ from those of its exponent")
        if base is not None and (base.dtype not in _BASE_TYPES or base.shape != self.roles.shape):
            raise BundleDamaged(
                "table.safetensors: a base measure must have one weight for each word of the vocabulary"
            )
        base_sum, largest_base = (
            (self.symbol_count, 1) if base is None else (int(base.sum(dtype=np.int64)), int(base.max()))
        )
        if bound_largest_total(weights, self.scores, base_sum, largest_base) >= MAX_TOTAL:
            raise BundleDamaged("table.safetensors: the weights of a level are too large")
        return LevelParameters(exponent, weights, base)

    def compute_base_measure(self, mechanism: str, parameters: LevelParameters) -> Integers:
        """Return the factor of each symbol's weight under a mechanism, 0 if it is never an output.

        Returns:
            Shape ``(symbols,)``.

        Raises:
            BundleDamaged: The factor is 0 for an output.
        """
        outputs = (self.roles & OUTPUT_ROLE[mechanism]) != 0
        if parameters.base is None:
            return outputs.astype(np.int64)
        base = np.where(outputs, parameters.base, 0).astype(np.int64)
        if (base[outputs] < 1).any():
            raise BundleDamaged("table.safetensors: a base measure is zero for an output")
        return base


def bound_largest_total(weights: Integers, scores: NDArray[np.uint16], base_sum: int, largest_base: int) -> int:
    """Return an upper bound of the total weight of an input."""
    return int(weights[int(scores[:, -1].min())]) * base_sum + int(weights[0]) * largest_base * scores.shape[1]


def find_wrong_weight(weights: Integers, exponent: Decimal, grid: int) -> int | None:
    """Return the first score whose weight is not ``exp(-alpha s / grid)`` times a constant.

    The result is ``None`` if there is none.

    The check allows for rounding. The textbook epsilon, twice the exponent ``alpha``, is correct only for weights that
    follow the exponent.
    """
    with np.errstate(all="ignore"):
        exact = float(weights[0]) * np.exp(-float(exponent) * np.arange(len(weights)) / grid)
        wrong = ~(np.abs(weights - exact) <= 1 + 1e-9 * exact)
    return int(np.argmax(wrong)) if wrong.any() else None
