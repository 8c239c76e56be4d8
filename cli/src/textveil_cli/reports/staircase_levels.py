"""Compute, for each epsilon of the staircase mechanism of a bundle, its guarantee and its effect on words.

The staircase mechanism randomizes words; it is the extremal mechanism for local DP (Kairouz, Oh, Viswanath 2014).
"""

from dataclasses import dataclass

import numpy as np
from textveil.bundle import TextBundle
from textveil.mechanisms.staircase import SlotStaircases, Staircase
from textveil.text import StaircasePlanFactory

_CHUNK_WORDS = 4096


@dataclass(frozen=True, kw_only=True)
class StaircaseSummary:
    """Guarantee of one epsilon of the staircase mechanism, and its effect on randomized words.

    A bundle may have different output distributions for words in lower case and for other words. ``near``,
    ``guess_gain`` and the fields that begin with ``unchanged`` are then the larger of the two values.

    Attributes:
        epsilon: Epsilon per randomized word.
        default: Whether it is the default epsilon.
        share: The mechanism samples an output in proportion to its weight: a base weight for each word, plus an
            additional weight for words that are similar to the input. This is the sum of the additional weights
            divided by the sum of the base weights (``h``), as written in the bundle.
        near: Probability that the output is sampled from the additional weights, and is thus similar to the input;
            rounded up.
        guess_gain: Largest factor by which the output raises the probability that an attacker guesses a word, averaged
            over the outputs; rounded up.
        largest_odds: ``e**epsilon``, rounded up: the largest factor by which the output changes the odds between two
            words.
        unchanged_median: Probability that a word is replaced by itself; the median over the possible outputs.
        unchanged_low: The 5 % quantile of this probability.
        unchanged_high: The 95 % quantile of this probability.
        unchanged_most: The maximum of this probability.
    """

    epsilon: float
    default: bool
    share: str
    near: float
    guess_gain: float
    largest_odds: int
    unchanged_median: float
    unchanged_low: float
    unchanged_high: float
    unchanged_most: float


def summarize_staircase(bundle: TextBundle, *, protect: str | None = None) -> list[StaircaseSummary]:
    """Return a summary of each epsilon of a bundle's staircase mechanism, the smallest epsilon first.

    Args:
        bundle: A bundle with a staircase mechanism.
        protect: The protection mode, such as 'words'; ``None`` for that of the bundle's mechanism.

    Raises:
        UnknownMechanism: The bundle has no staircase mechanism.
    """
    plans = StaircasePlanFactory(bundle)
    summaries = []
    for level in bundle.staircase_levels:
        plan = plans.make_plan({"epsilon": str(level.epsilon), "protect": protect or bundle.default_staircase_mode})
        terms_facts = plan.terms.promise.list_figures(plan.terms)
        assert isinstance(plan.mechanism, SlotStaircases)
        unchanged_probabilities = compute_max_unchanged_probabilities(plan.mechanism)
        low, median, high = np.quantile(unchanged_probabilities, (0.05, 0.5, 0.95), method="inverted_cdf")
        summaries.append(
            StaircaseSummary(
                epsilon=float(level.epsilon),
                default=level.name == bundle.default_staircase_level,
                share=str(level.share),
                near=terms_facts["neighborhood_probability"],
                guess_gain=terms_facts["guess_gain"],
                largest_odds=terms_facts["max_odds_ratio"],
                unchanged_median=float(median),
                unchanged_low=float(low),
                unchanged_high=float(high),
                unchanged_most=float(unchanged_probabilities.max()),
            )
        )
    return summaries


def compute_max_unchanged_probabilities(slots: SlotStaircases) -> np.ndarray:
    """Compute for each word the probability that the staircase mechanism replaces the word by itself.

    The probability may differ between lower case and capitalized forms of a word; the result is then the larger one.

    Args:
        slots: The staircase mechanism for words in lower case, and that for other words.

    Returns:
        Probabilities of shape ``(words,)``, for all words that are a possible output.
    """
    largest = np.zeros(len(slots.any_case.base))
    for staircase in {slots.any_case, slots.lower_case}:
        outputs = np.flatnonzero(staircase.base)
        largest[outputs] = np.maximum(largest[outputs], compute_unchanged_probabilities(staircase))
    return largest[(slots.any_case.base > 0) | (slots.lower_case.base > 0)]


def compute_unchanged_probabilities(staircase: Staircase) -> np.ndarray:
    """Compute for each word of a staircase mechanism the probability that the mechanism returns the word unchanged.

    The result has shape ``(outputs,)``, in the order of the output words.
    """
    outputs = np.flatnonzero(staircase.base)
    probabilities = []
    for part in np.array_split(outputs, max(1, len(outputs) // _CHUNK_WORDS)):
        _, budgets = staircase.distribute_budget(part)
        near_budget, base = budgets.sum(axis=1), staircase.base[part]
        own_budget = budgets[:, 0] + (staircase.budget - near_budget) / np.maximum(
            1, staircase.base_sum - near_budget
        ) * (base - budgets[:, 0])
        probabilities.append((staircase.unit * base + staircase.factor * own_budget) / staircase.total)
    return np.concatenate(probabilities)
