"""Calibrates epsilon: finds exponents whose *certified* epsilon meets a target.

Or, where nothing is certified, exponents at which words stay unchanged as often as asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import layout
from textveil.mechanisms import Metric
from textveil.mechanisms.baselines import OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT, SanText, Table
from textveil.release import round_up

from textveil_export.certify.all_scores import AllScores
from textveil_export.certify.losses import Losses
from textveil_export.certify.search import worst_ratios
from textveil_export.errors import ExportError
from textveil_export.progress import Progress, no_progress
from textveil_export.text.flatten import flat_base, in_steps
from textveil_export.text.weights import Setting, fits, level_parameters

#: The share of sensitive words that each default level leaves unchanged (median over types).
DEFAULT_SHARES = 0.03, 0.12, 0.3, 0.5, 0.7, 0.9

#: A certified epsilon may stay below its target by this much.
TOLERANCE = 0.01
_MAX_PASSES = 14
#: Largest values of a base measure, the finest first: bytes where it is as flat as can be, since their rounding
#: averages out over thousands of words; where it may be uneven, its small values need finer steps, if totals allow.
_BYTES, _FINER = (255,), (4095, 1023, 255, 127)
#: An exponent may grow by this from the first guess on.
_ROOM = 1.05
#: Certified epsilon over exponent: the first guess.
_FIRST_RATIO = 1.02
_SAMPLED_WORDS = 256

#: Level name and mechanism.
Key = tuple[str, str]


@dataclass(frozen=True)
class _Point:
    """An exponent and what is certified there."""

    exponent: float
    certified: float


@dataclass(kw_only=True)
class _Searched:
    """A mechanism whose exponent is searched."""

    mechanism: str
    target: float
    guess: float
    base: NDArray[Any] | None = None
    low: _Point = _Point(0.0, 0.0)
    high: _Point | None = None

    @property
    def open(self) -> bool:
        return self.target - self.low.certified > TOLERANCE

    @property
    def setting(self) -> Setting:
        return Setting(_decimal(self.guess), self.base)

    def learn(self, certified: float) -> None:
        """Narrows the search by what is certified at the guess, and guesses anew by a secant."""
        point = _Point(float(_decimal(self.guess)), certified)
        if certified <= self.target:
            self.low = point if point.exponent > self.low.exponent else self.low
        elif self.high is None or point.exponent < self.high.exponent:
            self.high = point
        aim = self.target - TOLERANCE / 2
        if self.high is None or self.low.exponent == 0:  # one-sided so far: in proportion, which is nearly right
            self.guess = point.exponent * aim / point.certified
        else:
            share = (aim - self.low.certified) / (self.high.certified - self.low.certified)
            self.guess = self.low.exponent + min(max(share, 0.05), 0.95) * (self.high.exponent - self.low.exponent)


def by_certified_epsilon(
    table: Table,
    metric: Metric,
    targets: dict[str, Decimal],
    progress: Progress = no_progress,
    *,
    mechanisms: Sequence[str] = layout.TABLE_MECHANISMS,
    flatten_to: float | None = 1.0,
) -> dict[Key, Setting]:
    """Finds settings whose certified epsilon is at most the target and within tolerance of it.

    ``eps*(alpha)`` has no closed form: every guess is certified over all pairs. All levels are guessed anew in each
    pass, by secants: where words are close to one another ``eps*`` is nearly linear in ``alpha``. A level has its base
    measure flattened first, and keeps it if it is certified lower with it than without.

    Args:
        table: Neighbors, scores and roles.
        metric: Distances of all inputs.
        targets: Certified epsilon by level name.
        progress: Called with rows done, and passes.
        mechanisms: Which mechanisms to calibrate.
        flatten_to: What flattening aims for (``flatten.flat_base``), or ``None``: base measures stay uniform.

    Raises:
        ExportError: A target cannot be met with this table.
    """
    ratio = _FIRST_RATIO * (flatten_to or 1)
    searched = {
        (name, mechanism): _Searched(mechanism=mechanism, target=float(target), guess=float(target) / ratio)
        for name, target in targets.items()
        for mechanism in mechanisms
    }
    every = AllScores.of(metric, progress)

    def certified(some: Sequence[_Searched]) -> list[float]:
        """The certified epsilons, rounded up as certificates state them: a label is never below its proof."""
        laws = [
            SanText.of(table, metric, one.mechanism, level_parameters(table, one.setting, every.largest))
            for one in some
        ]
        losses = [Losses(law.channel_on(every)) for law in laws]
        return [round_up(worst.over_all.ratio) for worst in worst_ratios(every, table, losses, progress)]

    if flatten_to is not None:
        _flatten(table, every, list(searched.values()), certified, flatten_to=flatten_to, progress=progress)
    for number in range(1, _MAX_PASSES + 1):
        still_open = [one for one in searched.values() if one.open]
        if not still_open:
            break
        progress("turning the dial: passes", number, _MAX_PASSES)
        for one, found in zip(still_open, certified(still_open), strict=True):
            one.learn(found)
    if any(one.open for one in searched.values()):
        raise ExportError("a certified epsilon cannot be met with this table: try other targets")
    return {key: Setting(_decimal(one.low.exponent), one.base) for key, one in searched.items()}


def _flatten(
    table: Table,
    every: AllScores,
    searched: Sequence[_Searched],
    certified: Callable[[Sequence[_Searched]], list[float]],
    *,
    flatten_to: float,
    progress: Progress,
) -> None:
    """Gives levels a flattened base measure where the audit of both at the first guess prefers it."""
    flattened: list[_Searched] = []
    for number, one in enumerate(searched, 1):
        outputs = np.flatnonzero(table.roles & OUTPUT_ROLE[one.mechanism])
        q = flat_base(every, outputs, one.guess, progress, flatten_to=flatten_to)
        coarsest, *finer = _BYTES if flatten_to == 1 else _FINER
        base = in_steps(q, outputs, table.symbols, coarsest)
        for largest in finer:
            if fits(table, Setting(_decimal(one.guess * _ROOM), base), every.largest):
                break
            base = in_steps(q, outputs, table.symbols, largest)
        flattened.append(replace(one, base=base))
        progress("flattening base measures", number, len(searched))
    for one, other, plain, flat in zip(searched, flattened, certified(searched), certified(flattened), strict=True):
        if flat < plain:
            one.base = other.base


def by_unchanged_share(table: Table, metric: Metric) -> dict[Key, Setting]:
    """Finds exponents of the default levels for this metric, rounded to quarters.

    For each of ``DEFAULT_SHARES`` the exponent at which it is the median over the outputs of SanText+ of
    ``N_x = Pr[M(x) = x]``. A level is named by its textbook epsilon.

    Raises:
        ExportError: The metric is too flat for that many different levels.
    """
    settings: dict[Key, Setting] = {}
    median_unchanged = _median_unchanged(table, metric)
    for share in DEFAULT_SHARES:
        low, high = 0.0, 64.0
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (middle, high) if median_unchanged(middle) < share else (low, middle)
        exponent = Decimal(max(1, round(4 * high))) / 4
        settings |= {
            (f"{(2 * exponent).normalize():f}", mechanism): Setting(exponent) for mechanism in layout.TABLE_MECHANISMS
        }
    if len(settings) < len(DEFAULT_SHARES) * len(layout.TABLE_MECHANISMS):
        raise ExportError("the default levels coincide for this vocabulary: say exponents yourself")
    return settings


def _median_unchanged(table: Table, metric: Metric) -> Callable[[float], float]:
    """Returns the median unchanged share by exponent, in real arithmetic, over a sample of SanText+'s outputs."""
    outputs = np.flatnonzero(table.roles & SANTEXT_PLUS_OUTPUT)
    sample = outputs[:: max(1, len(outputs) // _SAMPLED_WORDS)]
    distances = np.concatenate([metric.scaled(squared[:, outputs]) for _, squared in metric.squared_to_all(sample)])

    def median_unchanged(exponent: float) -> float:
        return float(np.median(1 / np.exp(-exponent * distances).sum(axis=1)))

    return median_unchanged


def _decimal(exponent: float) -> Decimal:
    return Decimal(exponent).quantize(Decimal("0.0001"), rounding=ROUND_DOWN)
