"""Compute the integer weights of a level from its exponent and base measure."""

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
    """Real-valued parameters of one level and mechanism.

    Attributes:
        exponent: ``alpha`` per unit of scaled distance.
        base: Base measure, shape ``(symbols,)``, or ``None`` if it is uniform.

    Example:
        >>> from decimal import Decimal
        >>> LevelSetting(Decimal(6)).base is None
        True
    """

    exponent: Decimal
    base: NDArray[Any] | None = None


def compute_score_weights(exponent: Decimal, largest_score: int, shift: int, grid: int = GRID) -> Integers:
    """Return ``round(2**shift * exp(-exponent * s / grid))`` for each score ``s``.

    Args:
        exponent: ``alpha`` per unit of scaled distance.
        largest_score: Scores are 0 to this.
        shift: The weight of score 0 is ``2**shift``.
        grid: Score steps per unit of distance.

    Returns:
        Shape ``(largest_score + 1,)``, correctly rounded, ties to even.
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
    """Return the integer weights of a level at the largest possible scale.

    The scale keeps all totals below ``MAX_TOTAL``.

    Args:
        table: Neighbors and scores.
        setting: Exponent and base measure.
        largest_score: Largest score of any input and output.

    Raises:
        ExportError: The exponent is so large that the weights of far outputs would round to zero.

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
    shift = _find_largest_shift(table, setting, largest_score)
    if shift is None:
        raise ExportError(f"exponent {setting.exponent} is too large for this vocabulary: use a smaller one")
    weights = compute_score_weights(setting.exponent, largest_score, shift, table.grid)
    return LevelParameters(setting.exponent, weights, setting.base)


def fits_integers(table: SanTextTable, setting: LevelSetting, largest_score: int) -> bool:
    """Return whether ``make_level_parameters`` succeeds for a setting."""
    return _find_largest_shift(table, setting, largest_score) is not None


def _find_largest_shift(table: SanTextTable, setting: LevelSetting, largest_score: int) -> int | None:
    """Return the exponent of the largest scale ``2**shift`` that fits integers, or ``None``."""
    base = setting.base
    base_sum, largest_base = (
        (table.symbol_count, 1) if base is None else (int(base.sum(dtype=np.int64)), int(base.max()))
    )
    step = -float(setting.exponent) / table.grid
    for shift in range(_LARGEST_SHIFT, 15, -1):
        one = np.float64(2.0**shift)
        first = np.ceil(one * np.exp(step * int(table.scores[:, -1].min())) * (1 + 1e-9)) + 1
        if first * base_sum + one * largest_base * table.scores.shape[1] < MAX_TOTAL:
            return shift if one * np.exp(step * largest_score) * (1 - 1e-9) >= MIN_WEIGHT else None
    return None
