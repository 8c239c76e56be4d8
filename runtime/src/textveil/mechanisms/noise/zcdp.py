"""Zero-concentrated differential privacy (zCDP) of Gaussian noise, and its (epsilon, delta).

Proof: docs/proofs/representation.md, step 3.

Take an integer vector whose L2 sensitivity is ``D``, with discrete Gaussian noise of parameter ``variance`` on every
coordinate. It is rho-zCDP with ``rho = D^2 / (2 variance)``. And rho-zCDP implies (epsilon, delta)-DP, for every order
``a > 1``, with

    delta = exp((a - 1) (a rho - epsilon)) / (a - 1) * (1 - 1/a)^a

(Canonne, Kamath, Steinke 2020, sections 2.2 and 2.3). The logarithm of delta is convex in ``a`` and smallest where
``rho = (epsilon - ln(1 - 1/a)) / (2 a - 1)``. Every order gives a true bound, so a search that stops early only makes
the bound less tight. All computations are decimal arithmetic, with the same result on every machine.
"""

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

#: Digits of the arithmetic, and a generous bound of the effect of its rounding on a logarithm.
_DIGITS, _ROUNDING = 45, Decimal("1e-30")
_MIN_EXCESS, _MAX_EXCESS, _HALVINGS = Decimal("1e-6"), Decimal("1e6"), 60


def compute_delta_bound(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return the smallest delta that rho-zCDP implies at an epsilon, rounded up.

    It is the smallest over the orders that are searched.

    Args:
        rho: Above 0.
        epsilon: Above 0.
    """
    with localcontext(prec=_DIGITS):
        loss, exact_rho = _to_decimal(epsilon), _to_decimal(rho)
        order = _find_order(lambda excess: _compute_best_rho(excess, loss) <= exact_rho)
        return _round_up((_compute_log_delta(exact_rho, loss, order) + _ROUNDING).exp())


def compute_largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho whose ``compute_delta_bound`` is at most ``delta``, rounded down.

    Args:
        epsilon: Above 0.
        delta: The target delta, in ``(0, 1)``.
    """
    with localcontext(prec=_DIGITS):
        loss, target = _to_decimal(epsilon), _to_decimal(delta).ln()
        excess = _find_order(
            lambda order: _compute_log_delta(_compute_best_rho(order, loss), loss, order) + _ROUNDING <= target
        )
        rho = _compute_best_rho(excess, loss)
    with localcontext(prec=12, rounding=ROUND_FLOOR):  # twelve digits are enough, and a smaller rho is safe
        return Fraction(+rho)


def compute_exponential(epsilon: Fraction) -> Fraction:
    """Return ``exp(epsilon)``, rounded up."""
    with localcontext(prec=_DIGITS):
        return _round_up((_to_decimal(epsilon) + _ROUNDING).exp())


def _find_order(condition: Callable[[Decimal], bool]) -> Decimal:
    """Return the smallest ``a - 1`` for which a monotone condition holds, by bisection from above.

    The condition must hold for all larger values too.
    """
    low, high = _MIN_EXCESS, _MAX_EXCESS
    for _ in range(_HALVINGS):
        middle = (low * high).sqrt()
        low, high = (low, middle) if condition(middle) else (middle, high)
    return high


def _compute_best_rho(excess: Decimal, loss: Decimal) -> Decimal:
    """Return the rho for which the order ``1 + excess`` gives the smallest delta."""
    return (loss - (excess / (1 + excess)).ln()) / (2 * excess + 1)


def _compute_log_delta(rho: Decimal, loss: Decimal, excess: Decimal) -> Decimal:
    order = 1 + excess
    return excess * (order * rho - loss) + order * (excess / order).ln() - excess.ln()


def _to_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def _round_up(value: Decimal) -> Fraction:
    """Return a value rounded up to twenty digits."""
    with localcontext(prec=20, rounding=ROUND_CEILING):
        return Fraction(+value)
