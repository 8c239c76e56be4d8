"""Parser of ``statistics.json``: measured effects of every epsilon of SanText (random replacement of words).

docs/levels.md explains the effects.
"""

from dataclasses import dataclass
from typing import Any

from textveil.errors import BundleDamaged

#: For these numbers of released outputs of one word, a bundle states how often an attacker guesses the word.
RELEASE_COUNTS = (1, 2, 5, 10)


@dataclass(frozen=True)
class RecoveryEstimate:
    """Success rate of the best possible guess of a word from its randomized outputs and all public data.

    Attributes:
        rate: Share of right guesses, from 0 to 1. The rate is exact for one output, and simulated for several.
        low: Lower end of a 95 % confidence interval; equal to ``rate`` if the rate is exact.
        high: Upper end of the interval; equal to ``rate`` if the rate is exact.
    """

    rate: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class MeasuredEffects:
    """Measured effects of one mechanism at one epsilon on words, such as how often a word stays unchanged.

    Medians and quantiles give each word of the vocabulary the same weight.

    Attributes:
        unchanged: Median over words of the probability that the output is the word itself.
        unchanged_low: 5 % quantile of this probability.
        unchanged_high: 95 % quantile of this probability.
        unchanged_most: Maximum of this probability.
        rarely_unchanged: Share of words for which this probability is below .01.
        likely_outputs: Median over words of the smallest number of outputs with a total probability of .95.
        likely_inputs: Median over outputs of the number of words that are plausible inputs. A word is a plausible input
            if it gives the output with at least .01 times the probability of the likeliest input.
        min_entropy: Median over words of the negative natural logarithm of the probability of the likeliest output.
        recovery: Success rate of the Bayes-optimal guess of a word under a public prior, by the number of outputs for
            the word.
        recovery_without_release: Success rate of a guess without any output: the prior probability of the most
            frequent word.
        recovery_with_kept_words: For ``santext+``, the success rate from one output, over all words: also over common
            words, which the mechanism leaves unchanged at random. ``None`` for other mechanisms.

    Example:
        >>> from textveil.bundle import find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("english-santext"))
        >>> level = bundle.santext_levels[0].name
        >>> effects = parse_measured_effects(bundle.statistics, level, "santext")
        >>> 0 < effects.unchanged_low <= effects.unchanged <= effects.unchanged_high < 1
        True
    """

    unchanged: float
    unchanged_low: float
    unchanged_high: float
    unchanged_most: float
    rarely_unchanged: float
    likely_outputs: float
    likely_inputs: float
    min_entropy: float
    recovery: dict[int, RecoveryEstimate]
    recovery_without_release: float
    recovery_with_kept_words: float | None


def parse_measured_effects(statistics: dict[str, Any], level: str, mechanism: str) -> MeasuredEffects:
    """Return the measured effects of one mechanism at one epsilon from parsed statistics.

    Args:
        statistics: The parsed ``statistics.json``.
        level: Name of the level, that is, of the epsilon.
        mechanism: Name of the mechanism.

    Raises:
        BundleDamaged: A number is missing or malformed.
    """
    try:
        entry = statistics["levels"][level][mechanism]
        with_kept = entry.get("bayes_recovery_with_kept_words")
        medians = {
            name: _get_quantile(entry[name]) for name in ("unchanged", "likely_outputs", "likely_inputs", "min_entropy")
        }
        return MeasuredEffects(
            **medians,
            unchanged_low=_get_quantile(entry["unchanged"], "0.05"),
            unchanged_high=_get_quantile(entry["unchanged"], "0.95"),
            unchanged_most=_get_quantile(entry["unchanged"], "max"),
            rarely_unchanged=_check_number(entry["rarely_unchanged"]),
            recovery={releases: _parse_recovery(entry["bayes_recovery"][str(releases)]) for releases in RELEASE_COUNTS},
            recovery_without_release=_check_number(statistics["mechanisms"][mechanism]["recovery_without_release"]),
            recovery_with_kept_words=None if with_kept is None else _check_number(with_kept["1"]["rate"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise BundleDamaged("statistics.json: a number is missing or malformed") from error


def _get_quantile(distribution: dict[str, Any], name: str = "0.5") -> float:
    return _check_number(distribution["quantiles"][name])


def _parse_recovery(entry: dict[str, Any]) -> RecoveryEstimate:
    rate = _check_number(entry["rate"])
    return RecoveryEstimate(rate, _check_number(entry.get("low", rate)), _check_number(entry.get("high", rate)))


def _check_number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError("not a number")
    return float(value)
