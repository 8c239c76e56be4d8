"""Draws from the sampler that is installed, and compares what comes out with what is promised and with the law.

Three questions, each with a stated power:

* Can an output favor one word over another by more than ``exp(L)``? Two inputs and an output are chosen for which the
  law comes close to that, and Clopper and Pearson's interval bounds the realized epsilon from below.
* Is the law the one that the integers say? Counts of likely outputs, of the neighborhood and of all the rest are
  compared with exact probabilities, and the uniform integers with uniform ones, down to their last bits.
* Do two processes share randomness? A fork draws; the two must differ.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, binomtest
from textveil.mechanisms import Integers, random_uint64, uniform_below
from textveil.mechanisms.staircase import Staircase

DRAWS = 1_000_000
_BATCH = 1 << 18
#: Groups of outputs that are compared: the likeliest ones alone, and as many parts of the rest.
_GROUPS = 32
#: Chance that a sound sampler is called faulty, for each comparison of an audit.
ALPHA = 1e-6
#: Confidence of the bounds of epsilon that are printed: an error of 2.5 % on either side.
_TAIL = 0.025


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What the draws of one level say.

    Attributes:
        level: Name of the level.
        promised: Its epsilon.
        exact: The loss of the chosen pair at the chosen output, by the integers.
        realized: Lower bound of it from the draws, at 95 %.
        faults: What is wrong, each in a line; empty for a sound sampler.
        smallest: Smallest relative error of the rare probability that these draws show with a chance of 99 %.
    """

    level: str
    promised: float
    exact: float
    realized: float
    faults: tuple[str, ...]
    detectable_error: float

    def __str__(self) -> str:
        return (
            f"level {self.level}: promised {self.promised:g}, chosen pair {self.exact:.3f}, realized at least "
            f"{self.realized:.3f} (95 %); "
            f"an error of {self.detectable_error:.0%} of its rarer probability would be seen"
        )


def audit_sampler(staircase: Staircase, draws: int = DRAWS) -> AuditResult:
    """Checks the sampler of one level of a staircase, also of an index, with the operating system's entropy.

    Args:
        staircase: The mechanism as it is loaded.
        draws: How many draws of each of the two inputs.
    """
    likely, rare, output = find_tight_pair(staircase)
    first, second = (_count_outputs(staircase, one, draws) for one in (likely, rare))
    p, q = (_compute_probability(staircase, one, output) for one in (likely, rare))
    faults = [*_find_count_faults(staircase, likely, first, draws), *_find_count_faults(staircase, rare, second, draws)]
    faults += find_uniformity_faults(staircase.total, draws)
    if detect_fork_repeats():
        faults.append("two processes draw the same")
    counts = int(first[output]), int(second[output])
    promised = float(staircase.level.epsilon)
    if _bound_realized_epsilon(*counts, draws, ALPHA) > promised:
        faults.append("an output favors one input by more than is promised")
    # A deviate of ALPHA shared by all comparisons (its Chernoff bound), and 2.4 for 99 %.
    deviates = math.sqrt(-2 * math.log(ALPHA / (2 * _GROUPS))) + 2.4
    smallest = deviates / math.sqrt(max(1.0, draws * q))
    return AuditResult(
        level=staircase.level.name,
        promised=promised,
        exact=math.log(p / q),
        realized=_bound_realized_epsilon(*counts, draws, _TAIL),
        faults=tuple(faults),
        detectable_error=smallest,
    )


def find_tight_pair(staircase: Staircase) -> tuple[int, int, int]:
    """Returns two inputs and an output at which the loss is (next to) the largest, and the output as likely as can be.

    The output has all of its base from the budget of the first input, and nothing of that of the second. Its base
    weight is just below ``H`` then, and it is nearly all that comes out.
    """
    inputs = np.arange(staircase.table.symbols)
    stored, budgets = staircase.budgets(inputs)
    whole = np.where((budgets == staircase.base[stored]) & (budgets > 0), budgets, -1)
    if whole.max() < 0:
        whole = budgets
    likely, place = np.unravel_index(int(whole.argmax()), whole.shape)
    output = int(stored[likely, place])
    of_output = np.where(stored == output, budgets, 0).sum(axis=1)
    left = staircase.budget - budgets.sum(axis=1)  # spread over all outputs, this one too
    rare = int(np.lexsort((left, of_output))[0])
    return int(likely), rare, output


def find_uniformity_faults(total: int, draws: int) -> list[str]:
    """Returns what is wrong with uniform integers below a number: too few, uneven low or high bits."""
    numbers = uniform_below(np.full(min(draws, _BATCH), total, np.int64), random_uint64)
    faults = []
    if numbers.min() < 0 or numbers.max() >= total:
        faults.append("uniform integers are out of range")
    repeated, expected = len(numbers) - len(np.unique(numbers)), len(numbers) ** 2 / 2 / total
    if expected < 1 and repeated > 20:
        faults.append("uniform integers repeat themselves: they have too few bits")
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
                faults.append(f"uniform integers: their {name} bits are not uniform")
                break
    return faults


def detect_fork_repeats() -> bool:
    """Tells whether a process and its copy draw the same random words."""
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
    counts = np.zeros(len(staircase.base), dtype=np.int64)
    for start in range(0, draws, _BATCH):
        inputs = np.full(min(_BATCH, draws - start), input_id)
        counts += np.bincount(staircase.draw(inputs, random_uint64), minlength=len(counts))
    return counts


def _compute_probability(staircase: Staircase, input_id: int, output: int) -> float:
    row = staircase.exact_row(input_id)
    return row[output] / sum(row)


def _find_count_faults(staircase: Staircase, input_id: int, counts: Integers, draws: int) -> Sequence[str]:
    """Groups of outputs whose counts are not those of the law: the likeliest ones alone, and the rest in 16 parts."""
    row = staircase.exact_row(input_id)
    total = sum(row)
    order = sorted(range(len(row)), key=row.__getitem__, reverse=True)
    alone = order[: _GROUPS // 2]
    groups = [[output] for output in alone]
    rest = sorted(order[_GROUPS // 2 :])  # by id: a tail that is drawn otherwise moves mass between them
    groups += [part.tolist() for part in np.array_split(np.array(rest, dtype=np.int64), _GROUPS // 2) if len(part)]
    for group in groups:
        share = sum(row[output] for output in group) / total
        observed = int(counts[group].sum())
        if not _is_plausible(observed, draws, share, ALPHA / (2 * len(groups))):
            return [f"input {input_id}: outputs come out {observed:,} times that should {share * draws:,.0f} times"]
    return []


def _bound_realized_epsilon(likely: int, rare: int, draws: int, side: float) -> float:
    """A lower bound of the log-ratio of two probabilities, each wrong with a chance of ``side`` (Clopper, Pearson)."""

    def interval(count: int) -> tuple[float, float]:
        bounds = binomtest(count, draws).proportion_ci(1 - 2 * side, method="exact")
        return float(bounds.low), float(bounds.high)

    low, high = interval(likely)[0], interval(rare)[1]
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def _is_plausible(count: int, draws: int, share: float, alpha: float) -> bool:
    at_least, at_most = binom.sf(count - 1, draws, share), binom.cdf(count, draws, share)
    return bool(min(at_least, at_most) >= alpha / 2)
