"""From exponents to the integer weights that ship, and what they do to words."""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import TableLaw
from textveil.sampling import MAX_TOTAL, Integers
from textveil.table import LevelLaw, Table

from textveil_export.errors import ExportError

#: Score steps per unit of scaled distance.
GRID = 6000
#: Weights below this would be rounded too coarsely to be a fair copy of the law.
_SMALLEST_WEIGHT = 1 << 16
_LARGEST_SHIFT = 60


def score_weights(exponent: Decimal, largest_score: int, shift: int, grid: int = GRID) -> Integers:
    """``round(2**shift * exp(-exponent * s / grid))`` for every score ``s``, correctly rounded.

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
            weights.append(int(value.to_integral_value(ROUND_HALF_EVEN)))
            value *= step
    return np.array(weights, dtype=np.int64)


def level_weights(
    exponent: Decimal, tail_scores: NDArray[np.int64], symbols: int, k: int, grid: int = GRID
) -> Integers:
    """The weights of one level at the largest scale that keeps every total below ``MAX_TOTAL``.

    Args:
        exponent: ``alpha``.
        tail_scores: The last stored score of every input, shape ``(inputs,)``.
        symbols: Number of symbols.
        k: Stored neighbours per input.
        grid: Score steps per unit of distance.

    Raises:
        ExportError: ``alpha`` is so large that the rarest outcomes fall below what integers can hold.
    """
    first, last = int(tail_scores.min()), int(tail_scores.max())
    for shift in range(_LARGEST_SHIFT, 15, -1):
        with localcontext(prec=30):
            one = Decimal(2) ** shift
            largest_tail = int(one * (-exponent * first / grid).exp()) + 1
            smallest_tail = int(one * (-exponent * last / grid).exp())
        if largest_tail * symbols + (1 << shift) * k < MAX_TOTAL:
            if smallest_tail < _SMALLEST_WEIGHT:
                break
            return score_weights(exponent, last, shift, grid)
    raise ExportError(f"exponent {exponent} is too large for this metric: the tail of a row would vanish")


def unchanged_shares(table: Table, mechanism: str, law: LevelLaw) -> NDArray[np.float64]:
    """``N_x = Pr[M(x) = x]`` of every possible output of a mechanism, from the integers that ship."""
    table_law = TableLaw.of(table, mechanism, law)
    words = np.flatnonzero(table_law.base)
    shares = []
    for part in np.array_split(words, max(1, len(words) // 4096)):
        rows = table_law.rows(part)
        own = (np.diff(rows.cumulative, axis=1, prepend=0) * (rows.stored == part[:, None])).sum(axis=1)
        shares.append((own + rows.tail * table_law.base[part]) / rows.totals)
    return np.concatenate(shares)
