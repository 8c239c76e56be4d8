"""Round a matrix of probabilities, by which labels are replaced at random, to integers with a proven epsilon.

The method is that of docs/proofs/index-staircase.md:

    b = column minimum,    a = (Q - b) / e1,    H = (1 - sum of b) / e1,    e1 = F / G <= exp(epsilon) - 1

These equations convert any matrix with ``Q(y|x) <= exp(epsilon) Q(y|x')`` to a staircase mechanism with the base
weights ``b``, the additional weights ``a`` and their sum ``H`` in each row; ``F`` and ``G`` are integers. Here a row
has ``MASS`` units of probability, and rounding keeps the row sums. The bound of the resulting integers is checked,
whatever the input was.
"""

from decimal import Decimal
from math import log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray
from textveil.mechanisms import Floats, Integers
from textveil.mechanisms.staircase import LabelStaircase, compute_realized_ratio

from textveil_export.errors import ExportError

#: Units of probability in a row. This number keeps totals near 2**60.
MASS = 1 << 40
#: Entries below this probability are treated as rounding errors of a solver.
_SMALLEST_PROBABILITY = 1e-9


def compute_realized_epsilon(epsilon: str) -> float:
    """Compute the epsilon that remains after ``exp(epsilon)`` is rounded down to a ratio of integers.

    This realized epsilon is at most ``epsilon``, and at least about ``epsilon - 1e-6``. If probabilities are optimized
    for the realized epsilon, their conversion to integers changes them by only about ``1e-9``.

    Args:
        epsilon: A decimal number.

    Example:
        >>> 1.999998 < compute_realized_epsilon("2") <= 2
        True
    """
    return log1p(compute_realized_ratio(Decimal(epsilon)))


def make_integer_randomizer(name: str, randomizer: ArrayLike, epsilon: str) -> LabelStaircase:
    """Round a randomizer (matrix by which labels are replaced at random) to integers whose epsilon is proven.

    If the given matrix satisfies ``epsilon``, the result has the same probabilities to about ``1e-6``. If not, the
    function reduces entries whose privacy loss exceeds ``epsilon``, so that the result satisfies ``epsilon``.

    Args:
        name: Name of the randomizer.
        randomizer: ``Q(y|x)``, shape ``(n, n)``, a row for each class, not negative. Rows need not sum to 1.
        epsilon: A decimal number in ``(0, 16]``.

    Raises:
        ExportError: ``randomizer`` is not a square matrix of finite numbers that are not negative.
        BundleDamaged: ``epsilon`` or ``n`` is out of range.

    Example:
        >>> randomizer = make_integer_randomizer("counts", [[0.75, 0.25], [0.25, 0.75]], "2")
        >>> randomizer.probability_matrix.round(3).tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """
    rows = _normalize_rows(np.asarray(randomizer, dtype=np.float64))
    lowest = rows.min(axis=0)
    used = rows.any(axis=0)
    base = np.where(used, np.maximum(1, np.ceil(MASS * lowest)), 0).astype(np.int64)
    ratio = compute_realized_ratio(Decimal(epsilon)) or 1.0  # for F = 0 the units above the base have no effect
    # A matrix with equal rows has no units above the base; a budget of one satisfies the theorem's condition.
    budget = int(np.clip(np.floor(MASS * (1 - lowest.sum()) / ratio), 1, base.sum()))
    exact = MASS * (rows - lowest) / ratio
    dealt = np.clip(np.floor(exact), 0, base).astype(np.int64)
    for row, target in zip(dealt, exact, strict=True):
        _adjust_row(row, target, base, budget)
    return LabelStaircase.from_integers(name, Decimal(epsilon), base, dealt)


def _normalize_rows(randomizer: Floats) -> Floats:
    """Scale each row of a matrix of probabilities to the sum 1, and set entries that are only rounding errors to 0.

    A row of zeros becomes uniform over the columns that have a nonzero entry.
    """
    if (
        randomizer.ndim != 2
        or randomizer.shape[0] != randomizer.shape[1]
        or not np.isfinite(randomizer).all()
        or randomizer.min() < 0
    ):
        raise ExportError("a randomizer must be a square matrix of finite numbers that are not negative")
    rows = np.where(randomizer < _SMALLEST_PROBABILITY, 0, randomizer)
    used = rows.any(axis=0)
    used = used if used.any() else np.ones(len(rows), dtype=bool)
    rows[~rows.any(axis=1)] = used
    return rows / rows.sum(axis=1, keepdims=True)


def _adjust_row(row: Integers, target: NDArray[np.float64], base: Integers, budget: int) -> None:
    """Add or subtract units in a row of integers until its sum equals ``budget``.

    The function changes the row in place, and first changes the entries that differ most from their targets.

    Args:
        row: Integers, changed in place.
        target: Exact values before rounding.
        base: Upper limit of each entry.
        budget: Sum of the row after the change.
    """
    missing = budget - int(row.sum())
    order = np.argsort(np.where(missing > 0, row - target, target - row), kind="stable")
    # First at most one unit per entry, to spread the rounding; then as many as an entry allows.
    for most in (1, None):
        for y in order:
            room = int(base[y] - row[y]) if missing > 0 else int(row[y])
            step = min(abs(missing), room if most is None else min(room, most))
            row[y] += step if missing > 0 else -step
            missing -= step if missing > 0 else -step
