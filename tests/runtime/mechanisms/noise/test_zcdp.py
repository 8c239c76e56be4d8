"""The conversion from zCDP to (epsilon, delta) equals the published formula."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from scipy.optimize import minimize_scalar
from textveil.mechanisms.noise import zcdp

EPSILONS = ("0.5", "1", "2", "3", "4", "6", "8", "12")
RHOS = [Fraction(1, 200), Fraction(1, 20), Fraction(1, 4), Fraction(3, 2)]


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(8)])
def test_the_conversion_is_the_best_over_all_orders(rho: Fraction, epsilon: Fraction) -> None:
    """Against a search over orders in floating point, of the formula as it is published."""

    def log_delta(log_excess: float) -> float:
        a = 1 + math.exp(log_excess)
        return (a - 1) * (a * float(rho) - float(epsilon)) - math.log(a - 1) + a * math.log1p(-1 / a)

    found: Any = minimize_scalar(log_delta, bounds=(-12, 12), method="bounded", options={"xatol": 1e-10})
    best = math.exp(found.fun)
    assert float(zcdp.compute_delta_bound(rho, epsilon)) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("epsilon", [Fraction(e) for e in EPSILONS])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12)])
def test_the_inverse_keeps_delta_and_hardly_wastes_any(epsilon: Fraction, delta: Fraction) -> None:
    rho = zcdp.compute_largest_rho(epsilon, delta)
    assert delta * (1 - Fraction(1, 10**6)) <= zcdp.compute_delta_bound(rho, epsilon) <= delta
    assert zcdp.compute_delta_bound(rho * (1 + Fraction(1, 10**6)), epsilon) > delta


def test_exp_is_rounded_up() -> None:
    for epsilon in (Fraction(1, 2), Fraction(4), Fraction(12)):
        assert float(zcdp.compute_exponential(epsilon)) == pytest.approx(math.exp(epsilon), rel=1e-15)
        assert zcdp.compute_exponential(epsilon) > Fraction(Decimal(epsilon.numerator) / epsilon.denominator)
