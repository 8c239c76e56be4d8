"""Compute the integer weights of SanText from an exponent and a base measure (factors of outputs).

Integers cannot hold the weights of very distant words. Such words get the smallest weight that integers can hold. This
replaces the distance ``d`` by ``min(d, c)`` with a constant ``c``. If the input word changes, ``min(d, c)`` changes by
at most the distance of the two inputs, as ``d`` does, so the bound of SanText holds (docs/proofs/santext.md). Together
these words have a negligible probability.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import MAX_TOTAL, Integers
from textveil.mechanisms.baselines import MIN_WEIGHT, LevelParameters, SanTextTable

from textveil_export.errors import ExportError

#: Score steps per unit of scaled distance, where one unit is the median distance of two words.
GRID = 6000
_LARGEST_SHIFT = 60


@dataclass(frozen=True)
class LevelSetting:
    """Parameters of SanText (random replacement of words) for one level (epsilon) before they are rounded to integers.

    Attributes:
        exponent: ``alpha`` per unit of scaled distance.
        base: Factor of each output word (base measure), shape ``(symbols,)``, or ``None`` if all are equal.

    Example:
        >>> from decimal import Decimal
        >>> LevelSetting(Decimal(6)).base is None
        True
    """

    exponent: Decimal
    base: NDArray[Any] | None = None


def compute_score_weights(exponent: Decimal, largest_score: int, shift: int, grid: int = GRID) -> Integers:
    """Return ``round(2**shift * exp(-exponent * s / grid))`` for each score ``s`` (distance as an integer).

    Args:
        exponent: ``alpha`` per unit of scaled distance.
        largest_score: Largest score; the function computes weights of the scores 0 to ``largest_score``.
        shift: The weight of score 0 is ``2**shift``.
        grid: Score steps per unit of distance.

    Returns:
        Weights, shape ``(largest_score + 1,)``, correctly rounded, ties to even.
    """
    with localcontext(prec=60):
        step = (-exponent / grid).exp()
        value = Decimal(2) ** shift
        weights = []
        for _ in range(largest_score + 1):
            weights.append(round(value))  # half to even
            value *= step
    return np.array(weights, dtype=np.int64)


def make_level_parameters(table: SanTextTable, setting: LevelSetting, largest_score: int) -> LevelParameters:
    """Return the integer weights of the mechanism SanText at one epsilon, at the largest scale that integers can hold.

    The scale keeps all totals below ``MAX_TOTAL``. Weights below ``MIN_WEIGHT`` would be too inexact: scores with such
    a weight get the smallest sufficient weight instead.

    Args:
        table: Similar words (neighbors) of each word, with their distances as integers (scores).
        setting: Factor of distances (exponent), and factors of output words (base measure).
        largest_score: Largest score of any input and output.

    Raises:
        ExportError: The exponent is so large that integers cannot hold the weights of similar words. The message
            contains the largest possible exponent.

    Example:
        >>> from decimal import Decimal
        >>> import numpy as np
        >>> from textveil.mechanisms.baselines import SanTextTable
        >>> arrays = {
        ...     "neighbors": np.array([[0, 1], [1, 0], [0, 1]], np.uint16),
        ...     "scores": np.array([[0, 6000], [0, 6000], [3000, 3000]], np.uint16),
        ...     "roles": np.array([3, 3], np.uint8),
        ... }
        >>> table = SanTextTable.from_tensors(arrays, {"vocabulary_size": 2, "neighbors_per_word": 2, "grid": 6000})
        >>> parameters = make_level_parameters(table, LevelSetting(Decimal(1)), 6000)
        >>> round(float(parameters.weights[0] / parameters.weights[6000]), 6)
        2.718282
    """
    scale = _find_largest_scale(table, setting)
    if scale is None:
        largest = find_largest_exponent(table, setting.base)
        raise ExportError(
            f"exponent {setting.exponent} is too large for this vocabulary: the largest that fits is {largest}; fewer "
            "--neighbors allow a larger one"
        )
    shift, last_score = scale
    weights = compute_score_weights(setting.exponent, min(largest_score, last_score), shift, table.grid)
    return LevelParameters(setting.exponent, weights, setting.base)


def fits_integers(table: SanTextTable, setting: LevelSetting) -> bool:
    """Return whether the weights for an exponent fit into the integers of a bundle (data folder).

    If they do not fit, ``make_level_parameters`` raises an error.

    Args:
        table: Similar words (neighbors) of each word, with their distances as integers (scores).
        setting: Factor of distances (exponent), and factors of output words (base measure).
    """
    return _find_largest_scale(table, setting) is not None


def find_largest_exponent(table: SanTextTable, base: NDArray[Any] | None = None) -> Decimal:
    """Return the largest exponent (factor of distances) whose weights fit into integers, to four decimals.

    Args:
        table: Similar words (neighbors) of each word, with their distances as integers (scores).
        base: Factor of each output word (base measure), shape ``(symbols,)``, or ``None`` if all are equal.
    """
    step = Decimal("0.0001")
    low, high = 0, 1 << 40  # in steps
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits_integers(table, LevelSetting(middle * step, base)) else (low, middle)
    return low * step


def _find_largest_scale(table: SanTextTable, setting: LevelSetting) -> tuple[int, int] | None:
    """Find the largest scale ``2**shift`` at which integers hold the weights of all pairs of words.

    Args:
        table: Similar words (neighbors) of each word, with their distances as integers (scores).
        setting: Factor of distances (exponent), and factors of output words (base measure).

    Returns:
        ``shift``, and the largest score whose weight is at least ``MIN_WEIGHT``. ``None`` if the weight of a stored
        neighbor is below ``MIN_WEIGHT`` at every scale.
    """
    base = setting.base
    base_sum, largest_base = (
        (table.symbol_count, 1) if base is None else (int(base.sum(dtype=np.int64)), int(base.max()))
    )
    step = -float(setting.exponent) / table.grid
    nearest, farthest = int(table.scores[:, -1].min()), int(table.scores.max())
    for shift in range(_LARGEST_SHIFT, 15, -1):
        one = np.float64(2.0**shift)
        first = np.ceil(one * np.exp(step * nearest) * (1 + 1e-9)) + 1
        if first * base_sum + one * largest_base * table.scores.shape[1] < MAX_TOTAL:
            last_score = int(np.log(MIN_WEIGHT * (1 + 1e-9) / one) / step)
            return (shift, last_score) if last_score >= farthest else None
    return None
