"""From a channel of real numbers to the integers of a staircase: the recipe of docs/proofs/index-staircase.md.

    b = column minimum,    a = (Q - b) / e1,    H = (1 - sum of b) / e1,    e1 = F / G <= exp(epsilon) - 1

turns any channel with ``Q(y|x) <= exp(epsilon) Q(y|x')`` into a staircase; here it is done with ``MASS`` units of
probability and rounded so that the result is one again. Whatever comes in, what comes out is certified.
"""

from decimal import Decimal
from math import log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray
from textveil.mechanisms import Floats, Integers
from textveil.mechanisms.staircase import IndexStaircase, realized_ratio

from textveil_export.errors import ExportError

#: Units of probability that a row is made of: totals stay near 2**60.
MASS = 1 << 40
#: Probability below which an entry is the rounding error of a solver.
_SMALLEST_PROBABILITY = 1e-9


def compute_realized_epsilon(epsilon: str) -> float:
    """Returns ``ln(1 + F / G)``, the epsilon that a staircase of that level has: below it by about ``1e-6`` at most.

    A channel that is made for this one keeps its probabilities to about ``1e-9``.
    """
    return log1p(realized_ratio(Decimal(epsilon)))


def make_integer_randomizer(name: str, channel: ArrayLike, epsilon: str) -> IndexStaircase:
    """Rounds a channel to integers and certifies them.

    A private channel keeps its probabilities to about ``1e-6``. Any other one becomes a private channel that is not
    too far from it: entries are cut off where they would lose more than ``epsilon``.

    Args:
        name: Name of the channel.
        channel: ``Q(y|x)``, shape ``(n, n)``: a row for each code, not negative. Need not be private or sum to 1.
        epsilon: A decimal number in ``(0, 16]``.

    Raises:
        ExportError: It is not a square matrix of finite numbers that are not negative.
        BundleDamaged: ``epsilon`` or ``n`` is out of range.
    """
    rows = _normalize_rows(np.asarray(channel, dtype=np.float64))
    lowest = rows.min(axis=0)
    used = rows.any(axis=0)
    base = np.where(used, np.maximum(1, np.ceil(MASS * lowest)), 0).astype(np.int64)
    ratio = realized_ratio(Decimal(epsilon)) or 1.0  # with F = 0 what is dealt does not matter
    # A constant channel would have nothing to deal: one unit keeps it within the theorem.
    budget = int(np.clip(np.floor(MASS * (1 - lowest.sum()) / ratio), 1, base.sum()))
    exact = MASS * (rows - lowest) / ratio
    dealt = np.clip(np.floor(exact), 0, base).astype(np.int64)
    for row, target in zip(dealt, exact, strict=True):
        _adjust_row(row, target, base, budget)
    return IndexStaircase.certified(name, Decimal(epsilon), base, dealt)


def _normalize_rows(channel: Floats) -> Floats:
    """Rows that sum to 1, without dust; a row of zeros becomes uniform over what is left."""
    if channel.ndim != 2 or channel.shape[0] != channel.shape[1] or not np.isfinite(channel).all() or channel.min() < 0:
        raise ExportError("a channel is a square matrix of numbers that are not negative")
    rows = np.where(channel < _SMALLEST_PROBABILITY, 0, channel)
    used = rows.any(axis=0)
    used = used if used.any() else np.ones(len(rows), dtype=bool)
    rows[~rows.any(axis=1)] = used
    return rows / rows.sum(axis=1, keepdims=True)


def _adjust_row(row: Integers, target: NDArray[np.float64], base: Integers, budget: int) -> None:
    """Adds or takes until a row deals the budget: first where it is furthest from its wish. In place."""
    missing = budget - int(row.sum())
    order = np.argsort(np.where(missing > 0, row - target, target - row), kind="stable")
    # One unit each first, so that rounding is spread; then whatever room there is.
    for most in (1, None):
        for y in order:
            room = int(base[y] - row[y]) if missing > 0 else int(row[y])
            step = min(abs(missing), room if most is None else min(room, most))
            row[y] += step if missing > 0 else -step
            missing -= step if missing > 0 else -step
