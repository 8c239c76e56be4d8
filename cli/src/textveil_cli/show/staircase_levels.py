"""Figures for each epsilon of a bundle's staircase mechanism: guarantee and effect on words.

The staircase mechanism is the extremal mechanism for local DP (Kairouz, Oh, Viswanath 2014).
"""

from dataclasses import dataclass

import numpy as np
from textveil.bundle import TextBundle
from textveil.mechanisms.staircase import SlotStaircase, Staircase
from textveil.text import StaircasePlans

_AT_ONCE = 4096


@dataclass(frozen=True, kw_only=True)
class StaircaseSummary:
    """Guarantee of one epsilon of the staircase mechanism, and its effect on randomized words.

    Where slots in lower case and other slots differ, ``near``, ``guess_gain`` and the ``kept`` figures are the larger
    ones.

    Attributes:
        epsilon: ``L``, epsilon per randomized word.
        default: Whether it is the default epsilon.
        share: ``h``, as written in the bundle.
        near: ``p_near``, probability that a word is sampled from its neighborhood, rounded up.
        guess_gain: ``C``, the maximum factor by which the probability of a right guess of one word grows on average,
            rounded up.
        largest_odds: ``e**L``, rounded up: the maximum factor by which the odds of two words change.
        kept_median: Probability that a word is replaced by itself, median over the possible outputs.
        kept_low: The 5 % quantile of this probability.
        kept_high: The 95 % quantile of this probability.
        kept_most: The largest probability of any word.
    """

    epsilon: float
    default: bool
    share: str
    near: float
    guess_gain: float
    largest_odds: int
    kept_median: float
    kept_low: float
    kept_high: float
    kept_most: float


def staircase_summaries(bundle: TextBundle, *, protect: str | None = None) -> list[StaircaseSummary]:
    """Return a summary of each epsilon of a bundle's staircase mechanism, strictest first.

    Args:
        bundle: A bundle with a staircase mechanism.
        protect: The protection mode; the bundle's default if left out.

    Raises:
        UnknownMechanism: The bundle has no staircase mechanism.
    """
    plans = StaircasePlans(bundle)
    found = []
    for level in bundle.staircase_levels:
        plan = plans.plan({"epsilon": str(level.epsilon), "protect": protect or bundle.default_protect})
        told = plan.terms.promise.facts(plan.terms)
        assert isinstance(plan.mechanism, SlotStaircase)
        kept = most_kept(plan.mechanism)
        low, median, high = np.quantile(kept, (0.05, 0.5, 0.95), method="inverted_cdf")
        found.append(
            StaircaseSummary(
                epsilon=float(level.epsilon),
                default=level.name == bundle.default_staircase_level,
                share=str(level.share),
                near=told["near"],
                guess_gain=told["guess_gain"],
                largest_odds=told["largest_odds"],
                kept_median=float(median),
                kept_low=float(low),
                kept_high=float(high),
                kept_most=float(kept.max()),
            )
        )
    return found


def most_kept(slots: SlotStaircase) -> np.ndarray:
    """Return the probability that a word is replaced by itself, the maximum over slot types.

    Slots are lower case or strict. One value for every possible output of either, shape ``(words,)``.
    """
    both = np.zeros(len(slots.strict.base))
    for staircase in {slots.strict, slots.lower}:
        outputs = np.flatnonzero(staircase.base)
        both[outputs] = np.maximum(both[outputs], kept_shares(staircase))
    return both[(slots.strict.base > 0) | (slots.lower.base > 0)]


def kept_shares(staircase: Staircase) -> np.ndarray:
    """Return the probability that a word is replaced by itself, for every possible output.

    Shape ``(outputs,)``, in the order of the output words.
    """
    outputs = np.flatnonzero(staircase.base)
    kept = []
    for part in np.array_split(outputs, max(1, len(outputs) // _AT_ONCE)):
        _, budgets = staircase.budgets(part)
        dealt, base = budgets.sum(axis=1), staircase.base[part]
        own = budgets[:, 0] + (staircase.budget - dealt) / np.maximum(1, staircase.base_sum - dealt) * (
            base - budgets[:, 0]
        )
        kept.append((staircase.unit * base + staircase.factor * own) / staircase.total)
    return np.concatenate(kept)
