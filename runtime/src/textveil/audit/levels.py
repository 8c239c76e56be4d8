"""Choosing a level: what the levels of a bundle do to words, in numbers, and which level meets a wish.

The numbers are computed when a bundle is made and lie in it (``statistics.json``; docs/levels.md says what they mean).
Nothing is drawn and no text is looked at here: a level is a public choice.
"""

from dataclasses import dataclass
from typing import Any

from textveil.bundle.layout import STATISTICS, TABLE_MECHANISMS
from textveil.bundle.santext_files import Level
from textveil.bundle.text import TextBundle
from textveil.errors import BundleDamaged, NoStatistics, OptionError, UnknownMechanism, WishNotMet
from textveil.release import counted
from textveil.text.levels import find_tail, label

#: Numbers of releases of the same word for which a bundle tells recovery rates.
RELEASES = (1, 2, 5, 10)


@dataclass(frozen=True)
class Recovery:
    """How often an observer who knows everything public guesses a word from its releases.

    Attributes:
        rate: Share of right guesses, in [0, 1]; exact for one release, else simulated.
        low: Lower end of a 95 % interval; ``rate`` itself if exact.
        high: Upper end.
    """

    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class Measures:
    """Measured effects of one mechanism at one level on the words it protects. Medians are over words (types).

    Attributes:
        unchanged: Median of ``N_x``, the probability that a word stays what it is.
        unchanged_low: Its 5 % quantile.
        unchanged_high: Its 95 % quantile.
        unchanged_most: The largest of any word.
        rarely_unchanged: Share of words with ``N_x`` below .01.
        likely_outputs: Median of ``S_x``, the smallest number of words that hold .95 of the mass of a row.
        likely_inputs: Median of ``S*_y``, the number of inputs that give an output at least .01 times as often as the
            likeliest one.
        min_entropy: Median of ``-ln max_y Pr[M(x) = y]``, in nats.
        recovery: The Bayes-optimal guess of a word under a public prior, by number of releases.
        recovery_without_release: What the prior alone gives away: the share of its commonest word.
        recovery_with_kept_words: ``santext+``: the same from one release over all words, those included that the coin
            keeps; else ``None``.
    """

    unchanged: float
    unchanged_low: float
    unchanged_high: float
    unchanged_most: float
    rarely_unchanged: float
    likely_outputs: float
    likely_inputs: float
    min_entropy: float
    recovery: dict[int, Recovery]
    recovery_without_release: float
    recovery_with_kept_words: float | None


@dataclass(frozen=True)
class LevelSummary:
    """One mechanism of one level: what is promised, and what it does.

    Attributes:
        level, mechanism, tail: Names of the level, the mechanism and the tail.
        epsilon: The epsilon that the level is called by; loss per token and unit of scaled distance.
        epsilon_kind: ``CERTIFIED`` or ``TEXTBOOK`` of ``textveil.text.statement``.
        epsilon_textbook: ``2 alpha``.
        epsilon_pure_ldp: Largest loss whatever the distance; ``None`` without a certificate.
        measures: What it does to words; ``None`` for a bundle without statistics.
    """

    level: str
    mechanism: str
    tail: str
    epsilon: float
    epsilon_kind: str
    epsilon_textbook: float
    epsilon_pure_ldp: float | None
    measures: Measures | None

    @property
    def options(self) -> str:
        """The options of the command line that choose it."""
        return f"--mechanism {self.mechanism} --level {self.level} --tail {self.tail}"


def summary(bundle: TextBundle, level: Level, mechanism: str, tail: str) -> LevelSummary:
    """Returns what is known about one mechanism of one level.

    Raises:
        BundleDamaged: The statistics of the bundle lack a number.
    """
    epsilon, kind = label(bundle, level, mechanism, tail)
    pure: Any = (bundle.certificate or {}).get("levels")
    for key in (level.name, mechanism, tail, "epsilon_pure_ldp"):
        pure = pure.get(key) if isinstance(pure, dict) else None
    return LevelSummary(
        level=level.name,
        mechanism=mechanism,
        tail=tail,
        epsilon=epsilon,
        epsilon_kind=kind,
        epsilon_textbook=float(2 * level.parameters[mechanism, tail].exponent),
        epsilon_pure_ldp=_number(pure),
        measures=None if bundle.statistics is None else _measures(bundle.statistics, level.name, mechanism, tail),
    )


def summaries(bundle: TextBundle, mechanism: str | None = None, tail: str | None = None) -> list[LevelSummary]:
    """Returns the levels of a bundle for one mechanism and tail (the bundle's defaults if left out), strictest first.

    Raises:
        UnknownMechanism: The mechanism is unknown or has no levels.
        OptionError: The bundle does not have that tail.
        BundleDamaged: The statistics of the bundle lack a number.
    """
    if mechanism in (None, *TABLE_MECHANISMS):
        bundle.require(TABLE_MECHANISMS[0])
    mechanism = bundle.default_table_mechanism if mechanism is None else mechanism
    if mechanism not in TABLE_MECHANISMS:
        raise UnknownMechanism(f"levels belong to the mechanisms {' and '.join(TABLE_MECHANISMS)}")
    tail = find_tail(bundle, tail)
    return [summary(bundle, level, mechanism, tail) for level in bundle.levels]


def calibrate(
    bundle: TextBundle,
    *,
    unchanged: float | None = None,
    bayes: float | None = None,
    releases: int = 1,
    mechanism: str | None = None,
    tail: str | None = None,
) -> LevelSummary:
    """Returns the level that meets a wish.

    Args:
        bundle: A bundle with statistics.
        unchanged: The strictest level at which the median word stays unchanged with at least this probability.
        bayes: The lightest level at which the Bayes-optimal guess of a word is right with at most this probability;
            where that is simulated, the upper end of its 95 % interval counts.
        releases: How many independent releases of the word the observer has, with ``bayes``: 1, 2, 5 or 10.
        mechanism: The bundle's default if left out.
        tail: The bundle's default if left out.

    Raises:
        NoStatistics: The bundle does not tell.
        WishNotMet: No level does it; the message says what the levels reach.
        OptionError: Not exactly one wish, or a value out of range, or a mechanism that the bundle does not have.
    """
    if (unchanged is None) == (bayes is None):
        raise OptionError("one wish is needed: unchanged or bayes")
    wish = unchanged if bayes is None else bayes
    if wish is None or not 0 < wish < 1:
        raise OptionError("a wish is a probability above 0 and below 1")
    if releases not in RELEASES or (bayes is None and releases != 1):
        raise OptionError(f"releases goes with bayes and is one of {', '.join(map(str, RELEASES))}")
    levels = summaries(bundle, mechanism, tail)
    if bundle.statistics is None:
        raise NoStatistics("this bundle carries no statistics: textveil-export statistics adds them")
    if bayes is None:
        reached = [(level, _of(level).unchanged) for level in levels]
        meeting = [level for level, share in reached if share >= wish]
        what, chosen = "keep the median word with probability", meeting[:1]
    else:
        reached = [(level, _of(level).recovery[releases].high) for level in levels]
        meeting = [level for level, share in reached if share <= wish]
        times = counted(releases, "release")
        what, chosen = f"let a word be guessed from {times} with probability", meeting[-1:]
    if not chosen:
        (first, low), (last, high) = (min(reached, key=lambda of: of[1]), max(reached, key=lambda of: of[1]))
        raise WishNotMet(
            f"no level of {levels[0].mechanism} with {levels[0].tail} tail does that: they {what} "
            f"{low:.3g} ({first.level}) to {high:.3g} ({last.level})"
        )
    return chosen[0]


def _of(level: LevelSummary) -> Measures:
    assert level.measures is not None  # the bundle has statistics
    return level.measures


def _measures(statistics: dict[str, Any], level: str, mechanism: str, tail: str) -> Measures:
    try:
        entry = statistics["levels"][level][mechanism][tail]
        with_kept = entry.get("bayes_recovery_with_kept_words")
        found = {
            name: _quantile(entry[name]) for name in ("unchanged", "likely_outputs", "likely_inputs", "min_entropy")
        }
        return Measures(
            **found,
            unchanged_low=_quantile(entry["unchanged"], "0.05"),
            unchanged_high=_quantile(entry["unchanged"], "0.95"),
            unchanged_most=_quantile(entry["unchanged"], "max"),
            rarely_unchanged=_stated(entry["rarely_unchanged"]),
            recovery={releases: _recovery(entry["bayes_recovery"][str(releases)]) for releases in RELEASES},
            recovery_without_release=_stated(statistics["mechanisms"][mechanism]["recovery_without_release"]),
            recovery_with_kept_words=None if with_kept is None else _stated(with_kept["1"]["rate"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise BundleDamaged(f"{STATISTICS}: a number is missing or malformed") from error


def _quantile(distribution: dict[str, Any], name: str = "0.5") -> float:
    return _stated(distribution["quantiles"][name])


def _recovery(entry: dict[str, Any]) -> Recovery:
    rate = _stated(entry["rate"])
    return Recovery(rate, _stated(entry.get("low", rate)), _stated(entry.get("high", rate)))


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _stated(value: Any) -> float:
    number = _number(value)
    if number is None:
        raise TypeError("not a number")
    return number
