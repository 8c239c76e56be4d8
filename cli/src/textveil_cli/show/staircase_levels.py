"""The levels of a bundle's staircase in numbers: what each promises, and what it does to drawn words."""

from dataclasses import dataclass

import numpy as np
from textveil.bundle import TextBundle
from textveil.mechanisms.staircase import SlotStaircase, Staircase
from textveil.text import StaircasePlans

_AT_ONCE = 4096


@dataclass(frozen=True, kw_only=True)
class StaircaseSummary:
    """What one level of the staircase promises, and what it does to drawn words.

    Attributes:
        epsilon: ``L``: nats per drawn word.
        default: Whether it is meant where no epsilon is given.
        share: ``h``, as it is in the bundle.
        near: ``p_near``: how often a word is drawn from its neighborhood, rounded up. Of slots in lower case and
            others the larger figure, here and below.
        guess_gain: ``C``: the most that the chance of a right guess of one word grows on average, rounded up.
        largest_odds: ``e**L``, rounded up: the factor by which the odds of two words change at most.
        kept_median: Probability that a word comes out as itself, median over the words that may come out.
        kept_low: Its 5 % quantile.
        kept_high: Its 95 % quantile.
        kept_most: The largest of any word.
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
    """Returns the levels of a bundle's staircase, strictest first.

    Args:
        bundle: A bundle with a staircase.
        protect: The rung of the ladder; the bundle's default if left out.

    Raises:
        UnknownMechanism: The bundle has no staircase.
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
    """Returns the probability that a word comes out as itself, in the slots where that is likelier.

    Of every word that may come out anywhere, shape ``(words,)``.
    """
    both = np.zeros(len(slots.strict.base))
    for staircase in {slots.strict, slots.lower}:
        outputs = np.flatnonzero(staircase.base)
        both[outputs] = np.maximum(both[outputs], kept_shares(staircase))
    return both[(slots.strict.base > 0) | (slots.lower.base > 0)]


def kept_shares(staircase: Staircase) -> np.ndarray:
    """Returns the probability that a word comes out as itself, of every word that may come out."""
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
