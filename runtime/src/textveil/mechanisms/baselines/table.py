"""The table of SanText (random replacement of words): similar words of each word, possible outputs and weights.

All levels (epsilons) and both mechanisms, ``santext`` and ``santext+``, use the same similar words. Each similar word
has an integer score, and each level a table with the integer weight of each score. Each mechanism has its own set of
possible outputs (docs/proofs/santext.md).
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.integer_sampling import MAX_TOTAL

#: Bit masks of the roles of a symbol: possible output of ``santext``, possible output of ``santext+``, and word that
#: ``santext+`` may keep.
SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE, KEPT_ROLE = 1, 2, 4
#: Smallest weight. At this weight, rounding to integers changes a weight by at most 2**-13 of its value.
MIN_WEIGHT = 1 << 12
_NEIGHBOR_TYPES = np.dtype(np.uint16), np.dtype(np.uint32)
_BASE_TYPES = np.dtype(np.uint8), *_NEIGHBOR_TYPES
OUTPUT_ROLE = {"santext": SANTEXT_OUTPUT_ROLE, "santext+": SANTEXT_PLUS_OUTPUT_ROLE}


@dataclass(frozen=True)
class LevelParameters:
    """Parameters of SanText or SanText+ (random replacement of words) at one epsilon.

    Attributes:
        exponent: ``alpha`` per unit of scaled distance. Without rounding to integers, the privacy loss per unit is at
            most ``2 alpha``.
        weights: ``weights[s]`` is the integer weight of an output whose distance from the input has the rounded value
            (score) ``s``, shape ``(scores,)``. Weights do not increase with the score and are at least ``MIN_WEIGHT``.
            Larger scores have the last weight.
        base: For each word of the vocabulary, a factor of its weight as an output, the same for all inputs, shape
            ``(symbols,)``; ``None`` if all factors are 1.

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
    """Nearest words (neighbors) of every input word, for the mechanism SanText.

    The inputs are all words of the vocabulary (*symbols*), in the order of their ids, and then ``<unk>`` for unknown
    words.

    Attributes:
        neighbors: Ids of the ``k`` nearest possible outputs of each input, nearest first, including the input itself if
            it is a possible output; shape ``(symbol_count + 1, k)``.
        scores: Scores ``floor(grid * d)`` of these neighbors, where ``d`` is the scaled distance; same shape. Scores do
            not decrease along a row.
        roles: For each word, a combination of bit masks: ``SANTEXT_OUTPUT_ROLE`` and ``SANTEXT_PLUS_OUTPUT_ROLE`` for
            words that may be outputs, and ``KEPT_ROLE`` for words that SanText+ may leave unchanged; shape
            ``(symbol_count,)``.
        grid: Number of score steps per unit of scaled distance (distance divided by the median distance of two words).
        tensors: Dictionary from the name of each array in the file to the array. ``mechanism.json`` states the names of
            the arrays of each level.

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
        """Create the table from the arrays of a file, after checking shapes, types and ranges.

        Args:
            tensors: Dictionary from the name of each array in ``table.safetensors`` to the array.
            definition: The parsed ``mechanism.json``.

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
            raise BundleDamaged("table.safetensors: a row has the same neighbor twice")
        if ordered[:, -1].max() >= shape[0] - 1 or (scores[:, 1:] < scores[:, :-1]).any():
            raise BundleDamaged("table.safetensors: neighbors or scores are out of range")
        santext, santext_plus, kept = (
            (roles & bit) != 0 for bit in (SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE, KEPT_ROLE)
        )
        if (roles & ~np.uint8(SANTEXT_OUTPUT_ROLE | SANTEXT_PLUS_OUTPUT_ROLE | KEPT_ROLE)).any():
            raise BundleDamaged("table.safetensors: a word has an unknown role")
        if not santext_plus.any() or (santext_plus & ~santext).any() or (santext_plus & kept).any():
            raise BundleDamaged("table.safetensors: a set of outputs is empty, or has a word that santext+ may keep")
        if not santext[neighbors].all():
            raise BundleDamaged("table.safetensors: a row has a neighbor that is not a possible output")
        return cls(neighbors=neighbors, scores=scores, roles=roles, grid=definition["grid"], tensors=tensors)

    @property
    def symbol_count(self) -> int:
        """Number of words in the vocabulary. This number is also the id of ``<unk>`` (unknown words) as an input."""
        return len(self.roles)

    def get_level_parameters(self, exponent: Decimal, weights_name: str, base_name: str | None) -> LevelParameters:
        """Check the arrays of one level (epsilon) of this table, and return the parameters of this level.

        Args:
            exponent: ``alpha`` of the level.
            weights_name: Name of the array with the weights.
            base_name: Name of the array with the factors of outputs; ``None`` if all factors are 1.

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
            raise BundleDamaged("table.safetensors: the weights of a level do not match its exponent")
        if base is not None and (base.dtype not in _BASE_TYPES or base.shape != self.roles.shape):
            raise BundleDamaged(
                "table.safetensors: the factors of outputs must have one entry for each word of the vocabulary"
            )
        base_sum, largest_base = (
            (self.symbol_count, 1) if base is None else (int(base.sum(dtype=np.int64)), int(base.max()))
        )
        if bound_largest_total(weights, self.scores, base_sum, largest_base) >= MAX_TOTAL:
            raise BundleDamaged("table.safetensors: the weights of a level are too large")
        return LevelParameters(exponent, weights, base)

    def compute_base_measure(self, mechanism: str, parameters: LevelParameters) -> Integers:
        """Compute a factor for each word of the vocabulary by which the word's weight as an output is multiplied.

        The factor is the same for all inputs.

        Args:
            mechanism: ``santext`` or ``santext+``, which have different possible outputs.
            parameters: Parameters of one epsilon.

        Returns:
            Factors, shape ``(symbols,)``; 0 for words that are never an output.

        Raises:
            BundleDamaged: The factor of a possible output is 0.
        """
        outputs = (self.roles & OUTPUT_ROLE[mechanism]) != 0
        if parameters.base is None:
            return outputs.astype(np.int64)
        base = np.where(outputs, parameters.base, 0).astype(np.int64)
        if (base[outputs] < 1).any():
            raise BundleDamaged("table.safetensors: the factor of an output is zero")
        return base


def bound_largest_total(weights: Integers, scores: NDArray[np.uint16], base_sum: int, largest_base: int) -> int:
    """Return an upper bound of the total weight of all outputs, over all inputs.

    Args:
        weights: Integer weight of each score (integer distance of two words).
        scores: Scores of the neighbors (nearest words) of each input.
        base_sum: Sum of the factors of all outputs. The weight of an output is its factor, multiplied by the weight of
            the score.
        largest_base: Largest factor of an output.
    """
    return int(weights[int(scores[:, -1].min())]) * base_sum + int(weights[0]) * largest_base * scores.shape[1]


def find_wrong_weight(weights: Integers, exponent: Decimal, grid: int) -> int | None:
    """Find the first weight of a level that does not decrease exponentially with the distance of two words.

    The mechanism SanText rounds the distance of two words to an integer, the score ``s``. Its privacy bound,
    ``2 alpha`` per unit of distance, holds only if the weight of each score is ``exp(-alpha s / grid)`` times a
    constant. The check allows for rounding.

    Args:
        weights: Integer weight of each score; the index is the score.
        exponent: ``alpha``, the exponent of the level (one epsilon of the mechanism).
        grid: Number of scores per unit of distance. The unit is the median distance of two words.

    Returns:
        The score of the first wrong weight, or ``None`` if all weights are correct.
    """
    with np.errstate(all="ignore"):
        exact = float(weights[0]) * np.exp(-float(exponent) * np.arange(len(weights)) / grid)
        wrong = ~(np.abs(weights - exact) <= 1 + 1e-9 * exact)
    return int(np.argmax(wrong)) if wrong.any() else None
