"""Zero-concentrated differential privacy (zCDP) of Gaussian noise, and conversion to (epsilon, delta).

Proof: docs/proofs/representation.md, step 3.

Suppose that an integer vector has the L2 sensitivity ``D``, and that discrete Gaussian noise with the parameter
``variance`` is added to every coordinate. This mechanism satisfies rho-zCDP with ``rho = D^2 / (2 variance)``. Every
rho-zCDP mechanism satisfies (epsilon, delta)-differential privacy, for every order ``a > 1``, with

    delta = exp((a - 1) (a rho - epsilon)) / (a - 1) * (1 - 1/a)^a

(Canonne, Kamath, Steinke 2020, sections 2.2 and 2.3). The logarithm of delta is convex in ``a``, with its minimum at
``rho = (epsilon - ln(1 - 1/a)) / (2 a - 1)``. Every order gives a valid bound, so a search that stops early only makes
the bound less tight. All computations use decimal arithmetic, with the same result on every machine.
"""

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

#: Number of decimal digits, and an upper bound of the rounding error of a logarithm.
_DIGITS, _ROUNDING = 45, Decimal("1e-30")
_MIN_EXCESS, _MAX_EXCESS, _HALVINGS = Decimal("1e-6"), Decimal("1e6"), 60


def compute_delta_bound(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return an upper bound of the delta at an epsilon for every mechanism that satisfies rho-zCDP.

    Every order above 1 gives a bound. The result is the smallest bound that a search finds, rounded up.

    Args:
        rho: Parameter of zero-concentrated differential privacy (zCDP), above 0.
        epsilon: Epsilon, above 0.
    """
    with localcontext(prec=_DIGITS):
        loss, exact_rho = _to_decimal(epsilon), _to_decimal(rho)
        order = _find_order(lambda excess: _compute_best_rho(excess, loss) <= exact_rho)
        return _round_up((_compute_log_delta(exact_rho, loss, order) + _ROUNDING).exp())


def compute_largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho, rounded down, for which ``compute_delta_bound`` is at most ``delta``.

    ``rho`` is the parameter of zero-concentrated differential privacy (zCDP).

    Args:
        epsilon: Epsilon, above 0.
        delta: Largest acceptable delta, in ``(0, 1)``.
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
    """Return the smallest ``a - 1`` for which a condition holds, where ``a`` is the order of the delta bound.

    Args:
        condition: Function of ``a - 1``. If it is true for a value, it must be true for all larger values.
    """
    low, high = _MIN_EXCESS, _MAX_EXCESS
    for _ in range(_HALVINGS):
        middle = (low * high).sqrt()
        low, high = (low, middle) if condition(middle) else (middle, high)
    return high


def _compute_best_rho(excess: Decimal, loss: Decimal) -> Decimal:
    """Return the rho (parameter of zCDP) for which a given order gives the smallest delta bound of all orders.

    Args:
        excess: The order minus 1.
        loss: Epsilon.
    """
    return (loss - (excess / (1 + excess)).ln()) / (2 * excess + 1)


def _compute_log_delta(rho: Decimal, loss: Decimal, excess: Decimal) -> Decimal:
    order = 1 + excess
    return excess * (order * rho - loss) + order * (excess / order).ln() - excess.ln()


def _to_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def _round_up(value: Decimal) -> Fraction:
    """Return a value, rounded up to twenty decimal digits, as a fraction."""
    with localcontext(prec=20, rounding=ROUND_CEILING):
        return Fraction(+value)
