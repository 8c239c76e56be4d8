"""Audit the installed random sampler: compare its samples with the exact probabilities of a mechanism.

There are three tests, each with a stated power:

* Privacy: for two inputs and an output whose privacy loss (log ratio of its two probabilities) is nearly the largest, a
  Clopper-Pearson interval gives a lower bound on the realized epsilon, which must not exceed the stated one.
* Distribution: counts of each likely output, and of groups of the other outputs, are compared with exact probabilities.
  The lowest and the highest bits of uniform integers are compared with the uniform distribution.
* Independence: a forked process must draw other random numbers than its parent.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, binomtest
from textveil.mechanisms import Integers, draw_uniform_below, random_uint64
from textveil.mechanisms.staircase import Staircase

from textveil_training.audit.defaults import SAMPLER_DRAWS

_BATCH = 1 << 18
#: Number of compared groups. Half of them are one of the likeliest outputs each; the others divide the remaining
#: outputs.
_GROUPS = 32
#: Probability that a correct sampler fails a comparison of an audit.
ALPHA = 1e-6
#: Error probability on either side of the printed bounds on epsilon (95 % intervals).
_TAIL = 0.025


@dataclass(frozen=True, kw_only=True)
class SamplerAudit:
    """Result of comparing a mechanism's samples with its exact probabilities, at one epsilon.

    Attributes:
        level: Name of the epsilon in the bundle.
        promised: The epsilon, as the bundle states it.
        exact: Log ratio of an output's probabilities for two inputs, computed from the integer weights of the
            mechanism. The inputs and the output are chosen so that the ratio is nearly the largest possible.
        realized: 95 % lower bound on the same log ratio, estimated from sampled outputs.
        faults: One line for each failed comparison; empty for a correct sampler.
        detectable_error: Smallest relative error in the smaller of the two probabilities that the samples detect with
            probability 99 %.
    """

    level: str
    promised: float
    exact: float
    realized: float
    faults: tuple[str, ...]
    detectable_error: float

    def __str__(self) -> str:
        """Format the result as one line for a terminal."""
        return (
            f"level {self.level}: stated epsilon {self.promised:g}, of the tested pair {self.exact:.3f}, realized at "
            f"least {self.realized:.3f} (95 %); "
            f"an error of {self.detectable_error:.0%} of its rarer probability would be detected"
        )


def audit_sampler(staircase: Staircase, draws: int = SAMPLER_DRAWS) -> SamplerAudit:
    """Compare samples of the staircase mechanism at one epsilon with its exact probabilities.

    Args:
        staircase: The loaded mechanism, of words or of class labels.
        draws: Number of draws from each of the two inputs.

    Returns:
        The bounds on epsilon, and a line for each fault.
    """
    likely, rare, output = find_tight_pair(staircase)
    first, second = (_count_outputs(staircase, one, draws) for one in (likely, rare))
    p, q = (_compute_probability(staircase, one, output) for one in (likely, rare))
    faults = [*_find_count_faults(staircase, likely, first, draws), *_find_count_faults(staircase, rare, second, draws)]
    faults += find_uniformity_faults(staircase.total, draws)
    if detect_fork_repeats():
        faults.append("a process and its fork have the same random numbers")
    counts = int(first[output]), int(second[output])
    promised = float(staircase.level.epsilon)
    if _bound_realized_epsilon(*counts, draws, ALPHA) > promised:
        faults.append("the realized epsilon exceeds the stated one")
    # Normal deviate of ALPHA divided among all comparisons (Chernoff bound), plus 2.4 for a power of 99 %.
    deviates = math.sqrt(-2 * math.log(ALPHA / (2 * _GROUPS))) + 2.4
    smallest = deviates / math.sqrt(max(1.0, draws * q))
    return SamplerAudit(
        level=staircase.level.name,
        promised=promised,
        exact=math.log(p / q),
        realized=_bound_realized_epsilon(*counts, draws, _TAIL),
        faults=tuple(faults),
        detectable_error=smallest,
    )


def find_tight_pair(staircase: Staircase) -> tuple[int, int, int]:
    """Find two inputs and an output for which the log ratio of probabilities is nearly the largest possible.

    In the staircase mechanism each input gives additional weight to the outputs near the input, up to a fixed total.
    The function chooses an output to which the first input gives as much weight as it can, and the second input gives
    nothing. Of all such outputs the function returns the likeliest, so that few samples suffice.

    Returns:
        The likely input, the unlikely input, and the output.
    """
    inputs = np.arange(staircase.table.symbol_count)
    stored, budgets = staircase.distribute_budget(inputs)
    whole = np.where((budgets == staircase.base[stored]) & (budgets > 0), budgets, -1)
    if whole.max() < 0:
        whole = budgets
    likely, place = np.unravel_index(int(whole.argmax()), whole.shape)
    output = int(stored[likely, place])
    of_output = np.where(stored == output, budgets, 0).sum(axis=1)
    left = staircase.budget - budgets.sum(axis=1)  # is divided among all outputs, so this output gets a part
    rare = int(np.lexsort((left, of_output))[0])
    return int(likely), rare, output


def find_uniformity_faults(total: int, draws: int) -> list[str]:
    """Test the generator of uniform integers below ``total``, and return one line of text for each fault.

    The tests are: range, repeated values, distribution of the lowest and of the highest bits.
    """
    numbers = draw_uniform_below(np.full(min(draws, _BATCH), total, np.int64), random_uint64)
    faults = []
    if numbers.min() < 0 or numbers.max() >= total:
        faults.append("uniform integers are out of range")
    repeated, expected = len(numbers) - len(np.unique(numbers)), len(numbers) ** 2 / 2 / total
    if expected < 1 and repeated > 20:
        faults.append("uniform integers repeat: they have too few random bits")
    cells = 64
    for name, cell in {
        "low": numbers % cells,
        "high": (numbers.astype(object) * cells // total).astype(np.int64),
    }.items():
        observed = np.bincount(cell, minlength=cells)
        low = [total // cells + (place < total % cells) for place in range(cells)]
        high = [-(-(place + 1) * total // cells) - -(-place * total // cells) for place in range(cells)]
        for place, exact in enumerate(low if name == "low" else high):
            if not _is_plausible(int(observed[place]), len(numbers), exact / total, ALPHA / cells):
                faults.append(f"uniform integers: the {name} bits are not uniform")
                break
    return faults


def detect_fork_repeats() -> bool:
    """Return whether a process and its fork draw the same random numbers, which would be a fault."""
    if not hasattr(os, "fork"):
        return False
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, random_uint64(8).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    own = random_uint64(8).tobytes()
    with os.fdopen(reading, "rb") as answer:
        theirs = answer.read()
    os.waitpid(child, 0)
    return own == theirs


def _count_outputs(staircase: Staircase, input_id: int, draws: int) -> Integers:
    """Sample outputs for one input (word or class label), and count how often each output occurs."""
    counts = np.zeros(len(staircase.base), dtype=np.int64)
    for start in range(0, draws, _BATCH):
        inputs = np.full(min(_BATCH, draws - start), input_id)
        counts += np.bincount(staircase.draw_symbols(inputs, random_uint64), minlength=len(counts))
    return counts


def _compute_probability(staircase: Staircase, input_id: int, output: int) -> float:
    """Return the exact probability that the mechanism replaces the word ``input_id`` by ``output``."""
    row = staircase.compute_exact_row(input_id)
    return row[output] / sum(row)


def _find_count_faults(staircase: Staircase, input_id: int, counts: Integers, draws: int) -> Sequence[str]:
    """Compare counts of groups of outputs with exact probabilities, and return the first fault.

    The groups are: each of the likeliest outputs, and 16 parts of the remaining outputs in the order of their ids.

    Returns:
        A list with one line, or an empty list.
    """
    row = staircase.compute_exact_row(input_id)
    total = sum(row)
    order = sorted(range(len(row)), key=row.__getitem__, reverse=True)
    alone = order[: _GROUPS // 2]
    groups = [[output] for output in alone]
    rest = sorted(order[_GROUPS // 2 :])  # by id, so that a fault among rare outputs shows
    groups += [part.tolist() for part in np.array_split(np.array(rest, dtype=np.int64), _GROUPS // 2) if len(part)]
    for group in groups:
        share = sum(row[output] for output in group) / total
        observed = int(counts[group].sum())
        if not _is_plausible(observed, draws, share, ALPHA / (2 * len(groups))):
            return [f"input {input_id}: some outputs occur {observed:,} times, expected {share * draws:,.0f}"]
    return []


def _bound_realized_epsilon(likely: int, rare: int, draws: int, side: float) -> float:
    """Return a lower bound on the log-ratio of two probabilities from counts (Clopper and Pearson 1934).

    Args:
        likely: Count of the likelier event.
        rare: Count of the rarer event.
        draws: Number of samples in which each event was counted.
        side: Probability with which each of the two intervals is wrong.
    """

    def interval(count: int) -> tuple[float, float]:
        """Return the Clopper-Pearson interval of the probability of an event with a given count."""
        bounds = binomtest(count, draws).proportion_ci(1 - 2 * side, method="exact")
        return float(bounds.low), float(bounds.high)

    low, high = interval(likely)[0], interval(rare)[1]
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def _is_plausible(count: int, draws: int, share: float, alpha: float) -> bool:
    """Return whether a count of an event agrees with the exact probability of the event.

    Args:
        count: Number of draws in which the event happened.
        draws: Number of sampled outputs.
        share: Exact probability of the event.
        alpha: Probability that a correct sampler gives a count outside the two-sided binomial limits.
    """
    at_least, at_most = binom.sf(count - 1, draws, share), binom.cdf(count, draws, share)
    return bool(min(at_least, at_most) >= alpha / 2)
