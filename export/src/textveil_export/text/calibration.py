"""Choose the parameters (exponent and base measure) of SanText for given certified epsilons.

SanText replaces words at random. The base measure has a factor for each output word.

The certified epsilon has no closed form, so the search certifies each exponent that it tries. Without targets, the
module chooses exponents by the share of words that stay unchanged.

Flattening makes the normalizer nearly constant. Let ``Pr[M(x) = y] = q(y) exp(-alpha s(x, y)) / Z(x)`` be the
probability that SanText outputs the word ``y`` for ``x``. Here ``alpha`` is the exponent, ``s`` the scaled distance,
and ``Z(x)`` the normalizer. Any base measure ``q > 0`` that does not depend on ``x`` keeps the guarantee. If ``Z`` is
constant, the certified epsilon is ``alpha`` instead of ``2 alpha`` (*tight constraints*: ElSalamouny, Chatzikokolakis,
Palamidessi 2015). If some words have many near words and others have few, a constant ``Z`` would give words with many
near words almost no probability as outputs. In this case the setting ``flatten_to`` permits ``ln Z`` to change with the
distance, up to a maximum slope. An error in this module cannot weaken the guarantee: the finished integers are
certified like any others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import layout
from textveil.mechanisms import WordMetric
from textveil.mechanisms.baselines import OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE, SanText, SanTextTable
from textveil.release import round_up

from textveil_export.certify.loss_bounds import LossBounds
from textveil_export.certify.pair_scores import PairScores
from textveil_export.certify.pair_search import find_worst_ratios
from textveil_export.errors import ExportError
from textveil_export.progress import Progress, ignore_progress
from textveil_export.text.level_weights import LevelSetting, fits_integers, make_level_parameters

_MAX_ROUNDS = 150
_CONVERGED = 2e-3
_SLOPE_ROUNDS, _ROUNDS_PER_CHECK = 45, 15
_ROWS_AT_ONCE = 256


def compute_flat_base(
    pair_scores: PairScores,
    outputs: NDArray[np.intp],
    exponent: float,
    progress: Progress = ignore_progress,
    *,
    flatten_to: float = 1.0,
) -> NDArray[np.float32]:
    """Compute factors ``q`` of output words (base measure) for which the normalizer ``Z`` is nearly constant.

    In the mechanism SanText, ``Pr[M(x) = y] = q(y) exp(-alpha d(x, y)) / Z(x)``, where ``d`` is the distance of two
    words and ``alpha`` the exponent. The target ``T`` for ``Z`` is constant, or the result of ``smooth_totals``. With
    the matrix ``Phi(x, y) = exp(-alpha d(x, y)) / T(x)``, the relative squared error of ``Z`` is that of ``Phi q = 1``.
    The updates ``q <- q (Phi' 1) / (Phi' Phi q)`` minimize this error under ``q > 0`` (Daube-Witherspoon and
    Muehllehner 1986); ``Phi'`` is the transposed matrix. If ``T`` is not constant, each round gives more weight to the
    rows with the largest errors (Lawson 1961), since the pair of words with the largest privacy loss decides the
    certified epsilon. The function returns the best result of several rounds. Memory: four bytes per input and output.

    Args:
        pair_scores: Distances of all pairs of words as integers (scores).
        outputs: Ids of the outputs.
        exponent: ``alpha`` per unit of scaled distance.
        progress: Called with the number of rounds.
        flatten_to: Target for the certified epsilon divided by ``alpha``, at least 1. At 1, ``Z`` is made as constant
            as possible; above, ``ln Z`` may change by ``(flatten_to - 1) alpha`` per unit of distance.

    Returns:
        Values from 0 to 1, the largest 1, shape ``(outputs,)``.
    """
    steps = np.arange(pair_scores.max_score + 1)
    factors = np.exp(-exponent * steps / pair_scores.metric.grid).astype(np.float32)
    phi = np.empty((len(pair_scores.scores), len(outputs)), dtype=np.float32)
    for block in pair_scores.split_inputs(_ROWS_AT_ONCE):
        phi[block] = factors[pair_scores.scores[block][:, outputs]]
    sloped = flatten_to > 1
    target_totals = np.ones(len(phi), dtype=np.float32)
    if sloped:
        target_totals = smooth_totals(pair_scores, phi.sum(axis=1), (flatten_to - 1) * exponent)
        phi /= target_totals[:, None]
    q = np.ones(len(outputs), dtype=np.float32)
    emphasis = np.ones(len(phi), dtype=np.float32)
    target = phi.sum(axis=0, dtype=np.float64).astype(np.float32)
    best, gentlest = q, np.inf
    rounds = _SLOPE_ROUNDS if sloped else _MAX_ROUNDS
    for number in range(1, rounds + 1):
        z = phi @ q
        if sloped and number % _ROUNDS_PER_CHECK == 0:
            slope = find_steepest_slope(pair_scores, np.log(z * target_totals))
            best, gentlest = (q.copy(), slope) if slope < gentlest else (best, gentlest)
        if sloped and number >= _ROUNDS_PER_CHECK and number % 3 == 0:
            error = np.abs(np.log(z))
            emphasis *= 1 + 2 * (error / error.max()) ** 2
            target = emphasis @ phi
        change = target / ((emphasis * z) @ phi)
        q *= change
        progress("flattening", number, rounds)
        if not sloped and np.quantile(np.abs(np.log(change)), 0.99) < _CONVERGED:
            break
    best = best if sloped else q
    return best / best.max()


def find_steepest_slope(pair_scores: PairScores, logs: NDArray[np.float32]) -> float:
    """Return the largest slope of a function of words: the difference of two values, divided by the words' distance.

    Args:
        pair_scores: Distances of all pairs of words as integers (scores).
        logs: Value of the function for each input, shape ``(inputs,)``.
    """
    largest = 0.0
    for block in pair_scores.split_inputs(_ROWS_AT_ONCE):
        steps = pair_scores.scores[block].astype(np.float32)
        steps[steps == 0] = np.inf
        largest = max(largest, float((np.abs(logs - logs[block, None]) / steps).max()))
    return largest * pair_scores.metric.grid


def smooth_totals(pair_scores: PairScores, totals: NDArray[np.float32], slope: float) -> NDArray[np.float32]:
    """Return normalizers close to ``totals`` whose logarithms change by at most ``slope`` per unit of distance.

    Let ``Z(x)`` be the given normalizer of word ``x``, and ``d`` the distance of two words. The result is the mean of
    two functions with this slope: the largest one below ``ln Z``, which is
    ``min over x' of ln Z(x') + slope d(x, x')``, and the smallest one above ``ln Z``, which is
    ``max over x' of ln Z(x') - slope d(x, x')`` (McShane 1934).

    Args:
        pair_scores: Distances of all pairs of words as integers (scores).
        totals: ``Z``, shape ``(inputs,)``.
        slope: Largest change of ``ln Z`` per unit of distance.

    Returns:
        Normalizers, shape ``(inputs,)``.
    """
    logs = np.log(totals)
    smoothed = np.empty_like(logs)
    for block in pair_scores.split_inputs(_ROWS_AT_ONCE):
        allowed = pair_scores.scores[block].astype(np.float32) * np.float32(slope / pair_scores.metric.grid)
        smoothed[block] = ((logs + allowed).min(axis=1) + (logs - allowed).max(axis=1)) / 2
    return np.exp(smoothed)


def round_base(
    q: NDArray[np.float32], outputs: NDArray[np.intp], symbols: int, largest: int
) -> NDArray[np.unsignedinteger]:
    """Round a base measure (factors of outputs) to integers: 1 to ``largest`` for outputs, 0 for all other words.

    Args:
        q: Base measure, values from 0 to 1, shape ``(outputs,)``.
        outputs: Ids of the outputs.
        symbols: Number of words in the vocabulary.
        largest: Integer for the value 1.

    Returns:
        Integers, shape ``(symbols,)``.
    """
    base = np.zeros(symbols, dtype=np.min_scalar_type(largest))
    base[outputs] = np.maximum(1, np.rint(q * largest))
    return base


#: Probability that the median sensitive word stays unchanged, for each default level.
DEFAULT_SHARES = 0.03, 0.12, 0.3, 0.5, 0.7, 0.9

#: Largest allowed gap between a certified epsilon and its target.
TOLERANCE = 0.01
_MAX_PASSES = 14
#: Integers for the largest value of a rounded base measure, finest rounding first. Bytes suffice for a constant
#: normalizer, since rounding errors average out over thousands of words. Otherwise small values need finer steps,
#: unless the total weight would exceed its limit.
_BYTE_STEPS, _FINER_STEPS = (255,), (4095, 1023, 255, 127)
#: Largest allowed ratio of an exponent to its first guess.
_EXPONENT_MARGIN = 1.05
#: First guess of the certified epsilon divided by the exponent.
_FIRST_RATIO = 1.02
_SAMPLED_WORDS = 256

#: Name of a level, and name of a mechanism.
LevelKey = tuple[str, str]


@dataclass(frozen=True)
class _CertifiedPoint:
    """Pair of an exponent of SanText (random replacement of words) and the certified epsilon at this exponent."""

    exponent: float
    certified: float


@dataclass(kw_only=True)
class _ExponentSearch:
    """State of the search for the exponent of SanText with which the certified epsilon reaches a target.

    Attributes:
        mechanism: ``santext`` or ``santext+``.
        target: Largest certified epsilon that the search accepts.
        guess: Next exponent to certify.
        base: Base measure (factors of outputs), or ``None`` if all factors are equal.
        low: The largest tested exponent whose certified epsilon is at most the target.
        high: The smallest tested exponent whose certified epsilon exceeds the target; ``None`` before one is found.
    """

    mechanism: str
    target: float
    guess: float
    base: NDArray[Any] | None = None
    low: _CertifiedPoint = _CertifiedPoint(0.0, 0.0)
    high: _CertifiedPoint | None = None

    @property
    def is_open(self) -> bool:
        """Whether the search must continue, because the best certified epsilon so far is too far below the target."""
        return self.target - self.low.certified > TOLERANCE

    @property
    def current_setting(self) -> LevelSetting:
        """The exponent and the base measure (factors of outputs) whose epsilon is certified next."""
        return LevelSetting(_round_exponent(self.guess), self.base)

    def narrow_search(self, certified: float) -> None:
        """Use the certified epsilon of the current guess to narrow the search, and choose the next exponent to try.

        If tested exponents are on both sides of the target, the next guess is where the secant through the nearest two
        comes just below the target. If they are on one side only, the guess is scaled in proportion.

        Args:
            certified: Certified epsilon of the current guess.
        """
        point = _CertifiedPoint(float(_round_exponent(self.guess)), certified)
        if certified <= self.target:
            self.low = point if point.exponent > self.low.exponent else self.low
        elif self.high is None or point.exponent < self.high.exponent:
            self.high = point
        aim = self.target - TOLERANCE / 2
        if self.high is None or self.low.exponent == 0:  # only one side is known: scale in proportion
            self.guess = point.exponent * aim / point.certified
        else:
            share = (aim - self.low.certified) / (self.high.certified - self.low.certified)
            self.guess = self.low.exponent + min(max(share, 0.05), 0.95) * (self.high.exponent - self.low.exponent)


def calibrate_certified_epsilon(
    table: SanTextTable,
    metric: WordMetric,
    targets: dict[str, Decimal],
    progress: Progress = ignore_progress,
    *,
    mechanisms: Sequence[str] = layout.TABLE_MECHANISMS,
    flatten_to: float | None = 1.0,
) -> dict[LevelKey, LevelSetting]:
    """Find exponents of SanText whose certified epsilons are at most their targets, and nearly equal to them.

    Each pass certifies one guess for every level (epsilon). The next guess comes from the secant method, since the
    certified epsilon is nearly linear in the exponent. The function first tries a flattened base measure
    (``compute_flat_base``) for each level, and uses this measure if it lowers the certified epsilon.

    Args:
        table: Similar words (neighbors) of each word, their distances as integers (scores), and possible outputs.
        metric: Distances of all inputs.
        targets: Largest certified epsilon by level name.
        progress: Called with the numbers of processed rows and passes.
        mechanisms: Mechanisms to calibrate.
        flatten_to: Target of flattening (``compute_flat_base``); with ``None``, all factors of outputs are equal.

    Returns:
        Exponent and base measure by level name and mechanism. Each certified epsilon is between its target minus
        ``TOLERANCE`` and its target.

    Raises:
        ExportError: No exponent meets a target with this table.
    """
    ratio = _FIRST_RATIO * (flatten_to or 1)
    searches = {
        (name, mechanism): _ExponentSearch(mechanism=mechanism, target=float(target), guess=float(target) / ratio)
        for name, target in targets.items()
        for mechanism in mechanisms
    }
    pair_scores = PairScores.compute(metric, progress)

    def certify_epsilons(some: Sequence[_ExponentSearch]) -> list[float]:
        """Return the certified epsilon for the exponent that each search tries next, rounded up as in certificates."""
        laws = [
            SanText.from_table(
                table,
                metric,
                search.mechanism,
                make_level_parameters(table, search.current_setting, pair_scores.max_score),
            )
            for search in some
        ]
        losses = [LossBounds(law.make_randomizer(pair_scores)) for law in laws]
        return [round_up(worst.overall.ratio) for worst in find_worst_ratios(pair_scores, table, losses, progress)]

    if flatten_to is not None:
        _flatten_bases(
            table, pair_scores, list(searches.values()), certify_epsilons, flatten_to=flatten_to, progress=progress
        )
    for number in range(1, _MAX_PASSES + 1):
        unfinished = [one for one in searches.values() if one.is_open]
        if not unfinished:
            break
        progress("calibrating epsilons: passes", number, _MAX_PASSES)
        for one, epsilon in zip(unfinished, certify_epsilons(unfinished), strict=True):
            one.narrow_search(epsilon)
    if any(one.is_open for one in searches.values()):
        raise ExportError(
            "no level of this vocabulary reaches a requested certified epsilon: use other --certified-epsilon values"
        )
    return {key: LevelSetting(_round_exponent(one.low.exponent), one.base) for key, one in searches.items()}


def _flatten_bases(
    table: SanTextTable,
    pair_scores: PairScores,
    searches: Sequence[_ExponentSearch],
    certified: Callable[[Sequence[_ExponentSearch]], list[float]],
    *,
    flatten_to: float,
    progress: Progress,
) -> None:
    """Replace the base measure (factors of outputs) of each search by a flattened one if this lowers the epsilon.

    Args:
        table: Similar words (neighbors) of each word, with their distances as integers (scores).
        pair_scores: Distances of all pairs of words as integers (scores).
        searches: Searches for an exponent; the function may change their base measure.
        certified: Function that returns the certified epsilon of each search's current guess.
        flatten_to: Target for the certified epsilon divided by ``alpha``, at least 1 (see ``compute_flat_base``).
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.
    """
    flattened: list[_ExponentSearch] = []
    for number, search in enumerate(searches, 1):
        outputs = np.flatnonzero(table.roles & OUTPUT_ROLE[search.mechanism])
        q = compute_flat_base(pair_scores, outputs, search.guess, progress, flatten_to=flatten_to)
        coarsest, *finer = _BYTE_STEPS if flatten_to == 1 else _FINER_STEPS
        base = round_base(q, outputs, table.symbol_count, coarsest)
        for largest in finer:
            if fits_integers(table, LevelSetting(_round_exponent(search.guess * _EXPONENT_MARGIN), base)):
                break
            base = round_base(q, outputs, table.symbol_count, largest)
        flattened.append(replace(search, base=base))
        progress("flattening base measures", number, len(searches))
    for search, other, plain, flat in zip(searches, flattened, certified(searches), certified(flattened), strict=True):
        if flat < plain:
            search.base = other.base


def calibrate_unchanged_share(table: SanTextTable, metric: WordMetric) -> dict[LevelKey, LevelSetting]:
    """Choose the exponents of the mechanism SanText for the default levels (epsilons), rounded to quarters.

    ``DEFAULT_SHARES`` has a target for each level. The function finds the exponent at which the median of
    ``Pr[M(x) = x]``, the probability that a word stays unchanged, equals this target. The median is over the output
    words of SanText+. The name of a level is its textbook epsilon, ``2 alpha``.

    Raises:
        ExportError: Two default levels have equal exponents for this vocabulary.
    """
    settings: dict[LevelKey, LevelSetting] = {}
    median_unchanged = _make_unchanged_median(table, metric)
    for share in DEFAULT_SHARES:
        low, high = 0.0, 64.0
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (middle, high) if median_unchanged(middle) < share else (low, middle)
        exponent = Decimal(max(1, round(4 * high))) / 4
        settings |= {
            (f"{(2 * exponent).normalize():f}", mechanism): LevelSetting(exponent)
            for mechanism in layout.TABLE_MECHANISMS
        }
    if len(settings) < len(DEFAULT_SHARES) * len(layout.TABLE_MECHANISMS):
        raise ExportError("two default levels are equal for this vocabulary: set levels with --exponent")
    return settings


def _make_unchanged_median(table: SanTextTable, metric: WordMetric) -> Callable[[float], float]:
    """Return a function from the factor of distances to the median probability that a word stays unchanged.

    The factor is the ``exponent`` in ``exp(-exponent * distance)``, the weight of an output. The median is over a
    sample of the words that are possible outputs.
    """
    outputs = np.flatnonzero(table.roles & SANTEXT_PLUS_OUTPUT_ROLE)
    sample = outputs[:: max(1, len(outputs) // _SAMPLED_WORDS)]
    distances = np.concatenate(
        [metric.compute_scaled(squared[:, outputs]) for _, squared in metric.iterate_squared_blocks(sample)]
    )

    def median_unchanged(exponent: float) -> float:
        """Return the median probability that a word stays unchanged with this exponent."""
        return float(np.median(1 / np.exp(-exponent * distances).sum(axis=1)))

    return median_unchanged


def _round_exponent(exponent: float) -> Decimal:
    """Round an exponent down to four decimals."""
    return Decimal(exponent).quantize(Decimal("0.0001"), rounding=ROUND_DOWN)
