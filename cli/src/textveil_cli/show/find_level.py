"""Finds the level of SanText that meets a wish, by the statistics of a bundle."""

from textveil.bundle import TextBundle
from textveil.bundle.statistics import RELEASES, Measures
from textveil.errors import NoStatistics, OptionError, WishNotMet
from textveil.release import counted
from textveil.text import LevelSummary, summaries


def find_level(
    bundle: TextBundle,
    *,
    unchanged: float | None = None,
    bayes: float | None = None,
    releases: int = 1,
    mechanism: str | None = None,
) -> LevelSummary:
    """Returns the level that meets a wish.

    Args:
        bundle: A bundle with statistics.
        unchanged: The strictest level at which the median word stays unchanged with at least this probability.
        bayes: The lightest level at which the Bayes-optimal guess of a word is right with at most this probability;
            where that is simulated, the upper end of its 95 % interval counts.
        releases: How many independent releases of the word the observer has, with ``bayes``: 1, 2, 5 or 10.
        mechanism: The bundle's default if left out.

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
    bundle.require(mechanism or "santext")
    levels = summaries(bundle, mechanism)
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
            f"no level of {levels[0].mechanism} does that: they {what} "
            f"{low:.3g} ({first.level}) to {high:.3g} ({last.level})"
        )
    return chosen[0]


def _of(level: LevelSummary) -> Measures:
    assert level.measures is not None  # the bundle has statistics
    return level.measures
