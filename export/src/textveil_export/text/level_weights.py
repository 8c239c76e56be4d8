"""From the exponent and the base measure of a level to the integer weights that ship."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import MAX_TOTAL, Integers
from textveil.mechanisms.baselines import SMALLEST_WEIGHT, LevelParameters, Table

from textveil_export.errors import ExportError

#: Score steps per unit of scaled distance.
GRID = 6000
_LARGEST_SHIFT = 60


@dataclass(frozen=True)
class LevelSetting:
    """What is chosen for one level and mechanism.

    Attributes:
        exponent: ``alpha`` per unit of scaled distance.
        base: Base measure, shape ``(symbols,)``, or ``None`` where it is uniform.
    """

    exponent: Decimal
    base: NDArray[Any] | None = None


def compute_score_weights(exponent: Decimal, largest_score: int, shift: int, grid: int = GRID) -> Integers:
    """Returns ``round(2**shift * exp(-exponent * s / grid))`` for every score ``s``, correctly rounded.

    Args:
        exponent: ``alpha`` per unit of scaled distance.
        largest_score: Scores are 0 to this.
        shift: Weight of score 0 is ``2**shift``.
        grid: Score steps per unit of distance.
    """
    with localcontext(prec=60):
        step = (-exponent / grid).exp()
        value = Decimal(2) ** shift
        weights = []
        for _ in range(largest_score + 1):
            weights.append(round(value))  # half to even
            value *= step
    return np.array(weights, dtype=np.int64)


def make_level_parameters(table: Table, setting: LevelSetting, largest_score: int) -> LevelParameters:
    """Returns the integer weights of one level at the largest scale that keeps every total below ``MAX_TOTAL``.

    Args:
        table: Neighbors and scores.
        setting: Exponent and base measure.
        largest_score: The largest score of any input and output: weights go up to there.

    Raises:
        ExportError: ``alpha`` is so large that the rarest outcomes fall below what integers can hold.
    """
    shift = _find_largest_shift(table, setting, largest_score)
    if shift is None:
        raise ExportError(f"exponent {setting.exponent} is too large for this metric: the tail of a row would vanish")
    weights = compute_score_weights(setting.exponent, largest_score, shift, table.grid)
    return LevelParameters(setting.exponent, weights, setting.base)


def fits_integers(table: Table, setting: LevelSetting, largest_score: int) -> bool:
    """Tells whether ``level_parameters`` finds a scale."""
    return _find_largest_shift(table, setting, largest_score) is not None


def _find_largest_shift(table: Table, setting: LevelSetting, largest_score: int) -> int | None:
    base = setting.base
    base_sum, largest_base = (table.symbols, 1) if base is None else (int(base.sum(dtype=np.int64)), int(base.max()))
    step = -float(setting.exponent) / table.grid
    for shift in range(_LARGEST_SHIFT, 15, -1):
        one = np.float64(2.0**shift)
        first = np.ceil(one * np.exp(step * int(table.scores[:, -1].min())) * (1 + 1e-9)) + 1
        if first * base_sum + one * largest_base * table.scores.shape[1] < MAX_TOTAL:
            return shift if one * np.exp(step * largest_score) * (1 - 1e-9) >= SMALLEST_WEIGHT else None
    return None
