"""Compute lower bounds on epsilon from counts, and the power of the tests.

All bounds hold with a stated confidence for every mechanism whose draws are independent. Probabilities are bounded by
Clopper and Pearson (1934). The largest value that a test can report with its number of draws is its *ceiling*.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, binom

Floats = NDArray[np.float64]
#: Epsilons for which the power is computed.
_GRID = tuple(round(0.05 * step, 2) for step in range(1, 321))
#: Probability with which a test succeeds at its stated epsilon.
POWER = 0.9


def bound_below(count: ArrayLike, draws: int, alpha: float) -> Floats:
    """Compute a lower bound on a probability at confidence 1 - alpha.

    Args:
        count: Number of draws in which the event happened; a number or an array.
        draws: Number of sampled outputs.
        alpha: Probability that the bound is wrong.

    Example:
        >>> round(float(bound_below(90, 100, 0.05)), 3)
        0.836
    """
    counted = np.asarray(count, np.float64)
    return np.where(counted > 0, beta.ppf(alpha, np.maximum(counted, 1), draws - counted + 1), 0.0)


def bound_above(count: ArrayLike, draws: int, alpha: float) -> Floats:
    """Compute an upper bound on a probability at confidence 1 - alpha.

    Args:
        count: Number of draws in which the event happened; a number or an array.
        draws: Number of sampled outputs.
        alpha: Probability that the bound is wrong.
    """
    return 1.0 - bound_below(draws - np.asarray(count, np.float64), draws, alpha)


def bound_pair_epsilon(first: ArrayLike, second: ArrayLike, draws: int, alpha: float, delta: float = 0.0) -> Floats:
    """Compute a lower bound on epsilon from counts of one event in outputs of two neighboring inputs.

    The bound is ``ln((p - delta) / q)``. Here p is a lower confidence bound on the probability of the event for the
    first input, and q an upper one for the second input, each at confidence 1 - alpha / 2.

    Args:
        first: Number of the first input's outputs in the event.
        second: Number of the second input's outputs in the event.
        draws: Number of sampled outputs of each input.
        alpha: Probability that the result exceeds the true epsilon.
        delta: Delta of the audited claim.

    Returns:
        The bounds, at least 0, in the shape of the counts.

    Example:
        >>> float(bound_pair_epsilon(9000, 1000, 10_000, alpha=0.001).round(2))
        2.09
    """
    excess = bound_below(first, draws, alpha / 2) - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.maximum(excess, 0.0) / bound_above(second, draws, alpha / 2))
    return np.maximum(0.0, found)


def bound_identification_epsilon(hits: int, draws: int, inputs: int, alpha: float, delta: float = 0.0) -> float:
    """Compute a lower bound on epsilon from the number of right guesses of the input of an output.

    In each draw, one of ``inputs`` pairwise neighboring inputs is chosen uniformly, and the guess names one of them.
    The bound is ``ln((s - delta) (inputs - 1) / (1 - s))``, at least 0, where s is a lower confidence bound on the
    probability of a right guess.

    Args:
        hits: Number of right guesses.
        draws: Number of sampled outputs.
        inputs: Number of inputs.
        alpha: Probability that the result exceeds the true epsilon.
        delta: Delta of the audited claim.

    Example:
        >>> round(bound_identification_epsilon(700, 1000, 20_000, alpha=0.001), 1)
        10.5
    """
    success = float(bound_below(hits, draws, alpha))
    excess = success - delta
    return max(0.0, math.log(excess * (inputs - 1) / (1.0 - success))) if excess > 0 else 0.0


def compute_pair_ceiling(draws: int, alpha: float, delta: float = 0.0) -> float:
    """Compute the largest epsilon that the pair test (counts of one event for two inputs) can report.

    Args:
        draws: Number of sampled outputs of each input.
        alpha: Probability that the bound is wrong.
        delta: Delta of the audited claim.
    """
    return float(bound_pair_epsilon(draws, 0, draws, alpha, delta))


def compute_identification_ceiling(draws: int, inputs: int, alpha: float, delta: float = 0.0) -> float:
    """Compute the largest epsilon that the identification test (guesses of the input) can report.

    Args:
        draws: Number of sampled outputs in total.
        inputs: Number of inputs.
        alpha: Probability that the bound is wrong.
        delta: Delta of the audited claim.
    """
    return bound_identification_epsilon(draws, draws, inputs, alpha, delta)


@lru_cache
def find_half_power(outputs: int, draws: int, alpha: float, *, identification: bool) -> float | None:
    """Find the smallest epsilon for which a test of k-ary randomized response likely reports at least epsilon / 2.

    k-ary randomized response keeps its input with probability ``e^epsilon / (e^epsilon + outputs - 1)``, and otherwise
    returns one of the other outputs. The calculation assumes that the test counts the best event: the output equals the
    input. A real audit has to learn its event from outputs first, and needs a slightly larger epsilon.

    Args:
        outputs: Number of outputs, and of inputs in the identification test.
        draws: Number of draws in the identification test, or of each input in the pair test.
        alpha: Probability that the reported bound exceeds the true epsilon.
        identification: Whether the test is identification, instead of the pair test.

    Returns:
        The smallest epsilon of a grid (steps of .05 up to 16) at which the test succeeds with probability 90 %;
        ``None`` if there is none.

    Example:
        >>> find_half_power(1000, 40_000, 0.0005, identification=True)
        1.0
    """
    for epsilon in _GRID:
        kept = 1.0 / (1.0 + (outputs - 1) * math.exp(-epsilon))
        if identification:
            found = bound_identification_epsilon(int(binom.ppf(1 - POWER, draws, kept)), draws, outputs, alpha)
        else:
            side = (1 - POWER) / 2
            often, rarely = binom.ppf([side, 1 - side], draws, [kept, kept * math.exp(-epsilon)])
            found = float(bound_pair_epsilon(often, rarely, draws, alpha))
        if found >= epsilon / 2:
            return epsilon
    return None
