"""Clopper and Pearson's exact interval of a probability from a count (1934).

The bounds are quantiles of beta distributions, ``B(alpha; k, n - k + 1)`` and ``B(1 - alpha; k + 1, n - k)``.
The regularized incomplete beta function is computed by its continued fraction (DLMF 8.17.22).
"""

import math

_TINY = 1e-300
#: What double precision may lose; the bounds are widened by it.
_WIDER = 1e-7


def lower(count: int, draws: int, alpha: float) -> float:
    """Returns a bound that a probability is below with a chance of at most ``alpha``, whatever it is."""
    if count == 0:
        return 0.0
    return _quantile(alpha, count, draws - count + 1) * (1 - _WIDER)


def upper(count: int, draws: int, alpha: float) -> float:
    """Returns a bound that a probability is above with a chance of at most ``alpha``, whatever it is."""
    if count == draws:
        return 1.0
    return min(1.0, _quantile(1 - alpha, count + 1, draws - count) * (1 + _WIDER))


def tail(share: float, count: int, draws: int) -> float:
    """Returns the probability of ``count`` or more of so many draws, each with probability ``share``; count >= 1."""
    return _beta(share, count, draws - count + 1)


def _quantile(share: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if _beta(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function ``I_x(a, b)``."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges fast
        return 1 - _beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d or _TINY)
    fraction = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + term * d) or _TINY)
            c = (1 + term / c) or _TINY
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction
