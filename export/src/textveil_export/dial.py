"""The dial: exponents at which what is *proven* meets a target, or words stay unchanged as often as asked."""

from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal

import numpy as np
from numpy.typing import NDArray
from textveil.audit import Audit
from textveil.bundle import TABLE_MECHANISMS
from textveil.mechanisms import TableLaw
from textveil.table import SANTEXT_PLUS_OUTPUT, LevelLaw, Table

from textveil_export import weights
from textveil_export.certify import worst_ratios
from textveil_export.errors import ExportError
from textveil_export.sources import Progress, no_progress

#: Names of the default levels and the share of sensitive words that each leaves unchanged (median over types).
DEFAULT_LEVELS = {
    "noise": 0.03,
    "strict": 0.12,
    "firm": 0.3,
    "balanced": 0.5,
    "light": 0.7,
    "veil": 0.9,
}

#: A certified epsilon may stay below its target by this much.
TOLERANCE = 0.02
_MAX_PASSES = 12


def by_certified_epsilon(
    table: Table, rows: NDArray[np.int8], targets: dict[str, Decimal], progress: Progress = no_progress
) -> dict[str, Decimal]:
    """Exponents whose certified epsilon, the larger of both mechanisms', is at most the target and within tolerance.

    ``eps*(alpha)`` has no closed form; every guess is certified over all pairs. All levels are guessed anew in each
    pass over the distances, by secants: where words are close to one another ``eps*`` is nearly linear in ``alpha``.

    Args:
        table: Neighbours, scores and roles.
        rows: Embedding rows, ``<unk>`` last.
        targets: Certified epsilon by level name.
        progress: Called with rows done, and passes.

    Raises:
        ExportError: A target cannot be met with this table.
    """
    low = dict.fromkeys(targets, (0.0, 0.0))  # exponent and its certified epsilon, at most the target
    high: dict[str, tuple[float, float]] = {}
    guess = {name: 0.85 * float(target) for name, target in targets.items()}
    for number in range(1, _MAX_PASSES + 1):
        open_levels = [name for name in targets if float(targets[name]) - low[name][1] > TOLERANCE]
        progress("turning the dial: passes", number, max(number, _MAX_PASSES // 2))
        if not open_levels:
            return {name: _decimal(low[name][0]) for name in targets}
        exponents = {name: _decimal(guess[name]) for name in open_levels}
        certified = _certified(table, rows, exponents, progress)
        for name in open_levels:
            target = float(targets[name])
            point = float(exponents[name]), certified[name]
            if certified[name] <= target:
                low[name] = max(low[name], point)
            else:
                high[name] = min(high.get(name, point), point)
            guess[name] = _next_guess(low[name], high.get(name), point, target - TOLERANCE / 2)
    raise ExportError("a certified epsilon cannot be met with this table: try other targets")


def _next_guess(
    low: tuple[float, float], high: tuple[float, float] | None, last: tuple[float, float], aim: float
) -> float:
    if high is None or low[0] == 0:  # one-sided so far: scale, which is nearly right, and a little further
        return last[0] * aim / last[1]
    share = (aim - low[1]) / (high[1] - low[1])
    return low[0] + min(max(share, 0.05), 0.95) * (high[0] - low[0])


def _certified(
    table: Table, rows: NDArray[np.int8], exponents: dict[str, Decimal], progress: Progress
) -> dict[str, float]:
    audits = []
    for exponent in exponents.values():
        law = LevelLaw(exponent, _weights(table, exponent), None)
        audits += [Audit(TableLaw.of(table, mechanism, law)) for mechanism in TABLE_MECHANISMS]
    worsts = iter(worst_ratios(table, rows, audits, progress))
    return {name: max(next(worsts)[0].ratio for _ in TABLE_MECHANISMS) for name in exponents}


def _weights(table: Table, exponent: Decimal) -> NDArray[np.int64]:
    tails = table.scores[:, -1].astype(np.int64)
    return weights.level_weights(exponent, tails, table.symbols, table.neighbours.shape[1], table.grid)


def _decimal(exponent: float) -> Decimal:
    return Decimal(exponent).quantize(Decimal("1e-4"), rounding=ROUND_DOWN)


def by_unchanged_share(table: Table) -> dict[str, Decimal]:
    """Exponents of the default levels for this metric, rounded to quarters.

    For each name in ``DEFAULT_LEVELS`` the exponent at which the median over the outputs of SanText+ of
    ``N_x = Pr[M(x) = x]`` is the share that the name stands for.

    Raises:
        ExportError: The metric is too flat for that many different levels.
    """
    median_unchanged = _median_unchanged(table)
    levels: dict[str, Decimal] = {}
    for name, share in DEFAULT_LEVELS.items():
        low, high = 0.0, 64.0
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (middle, high) if median_unchanged(middle) < share else (low, middle)
        levels[name] = Decimal(max(1, round(4 * high))) / 4
    if len(set(levels.values())) < len(levels):
        raise ExportError("the default levels coincide for this vocabulary: name levels yourself")
    return levels


def _median_unchanged(table: Table) -> Callable[[float], float]:
    sensitive = np.flatnonzero(table.roles & SANTEXT_PLUS_OUTPUT)
    distances = table.scores[sensitive].astype(np.float64) / table.grid
    is_output = (table.roles[table.neighbours[sensitive]] & SANTEXT_PLUS_OUTPUT) != 0

    def median_unchanged(exponent: float) -> float:
        factors = np.exp(-exponent * distances)
        tail = factors[:, -1]
        normaliser = tail * len(sensitive) + ((factors - tail[:, None]) * is_output).sum(axis=1)
        return float(np.median(1 / normaliser))

    return median_unchanged
