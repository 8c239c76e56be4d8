"""``krr`` and ``random`` keep to their promise in integers: no ratio of two inputs is above ``e**epsilon``.

Checked with interval arithmetic, also a hair below the epsilons where one more integer would be one too many. Copies of
the code that make one such integer must fail.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from dealt import deals_exactly, largest_ratio
from defined_weights import outputs
from hypothesis import given
from hypothesis import strategies as st
from intervals import iv
from planted import planted
from textveil.bundle.text_bundle import TextBundle
from textveil.mechanisms import integer_sampling as sampling
from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
from textveil.mechanisms.baselines.table import SanTextTable
from textveil.mechanisms.integer_sampling import WeightRows


def at_most_exponential(ratio: Fraction, epsilon: Decimal) -> bool:
    """Whether ``ratio <= e**epsilon``, for certain: interval arithmetic at 400 bits decides it one way or the other."""
    with_precision, iv.prec = iv.prec, 400
    try:
        exponential = iv.exp(iv.mpf(epsilon.as_integer_ratio()[0]) / epsilon.as_integer_ratio()[1])
        exact = iv.mpf(ratio.numerator) / ratio.denominator
        assert exact.b <= exponential.a or exact.a > exponential.b, "undecided"
        return bool(exact.b <= exponential.a)
    finally:
        iv.prec = with_precision


def just_below(above: int) -> Decimal:
    """Return an epsilon slightly below ``ln(above / 2**15)``: by ten units in the 70th digit."""
    with localcontext(prec=70):
        logarithm = (Decimal(above) / (1 << 15)).ln()
        return logarithm - Decimal(10) ** (logarithm.adjusted() - 68)


def response_weights(law: RandomizedResponse, symbols: int) -> tuple[list[list[int]], WeightRows]:
    rows = law.compute_rows(np.arange(symbols + 1))
    return [rows.compute_weights(row).tolist() for row in range(symbols + 1)], rows


@given(
    st.one_of(
        st.decimals(Decimal("1e-12"), 30, allow_nan=False, allow_infinity=False),
        st.decimals(Decimal("0.01"), 30, places=2),
        st.integers((1 << 15) + 1, 1 << 40).map(just_below),
    )
)
def test_krr_never_exceeds_its_epsilon(bundle: TextBundle, epsilon: Decimal) -> None:
    """Every ratio of every two inputs is at most ``e**epsilon``, and words are kept as often as integers then allow.

    Inputs outside the outputs (``<unk>``, words that are never an output) are uniform over them.
    """
    table = bundle.table
    allowed = outputs(bundle, "santext")
    assert 0 < len(allowed) < table.symbol_count
    weights, rows = response_weights(RandomizedResponse.from_table(table, epsilon), table.symbol_count)
    tail, own = 1 << 15, weights[allowed[0]][allowed[0]]
    for x, row in enumerate(weights):
        assert row == [(own if x == y else tail) if y in allowed else 0 for y in range(table.symbol_count)]
    assert rows.totals.tolist() == [sum(row) for row in weights]
    ratio = largest_ratio([[Fraction(row[y], sum(row)) for y in allowed] for row in weights])
    assert ratio is not None
    assert at_most_exponential(ratio, epsilon)
    assert not at_most_exponential(Fraction(own + 2, tail), epsilon)


def test_every_integer_of_krr(bundle: TextBundle) -> None:
    table = bundle.table
    weights, rows = response_weights(RandomizedResponse.from_table(table, Decimal("1.5")), table.symbol_count)
    assert deals_exactly(sampling.select_outputs, rows, weights)


def stays_below(randomized_response: Callable[..., RandomizedResponse], table: SanTextTable) -> bool:
    """Whether ``krr`` keeps to epsilons a hair below ``ln(n / 2**15)``: ``n`` itself is one integer too many."""
    for above in (*range(40_000, 40_040), *range(10**12, 10**12 + 40)):
        epsilon = just_below(above)
        assert not at_most_exponential(Fraction(above, 1 << 15), epsilon)
        law = randomized_response(RandomizedResponse, table, epsilon)
        if not at_most_exponential(Fraction(law.tail + law.excess, law.tail), epsilon):
            return False
    return True


_OWN = "(epsilon.exp() * (1 - Decimal(10) ** -58) * tail)"
KRR_FAULTS = {
    "exp is rounded up": [("ROUND_FLOOR", '"ROUND_CEILING"')],
    "exp is trusted to its last digit": [(_OWN, "(epsilon.exp() * tail)")],
    "exp is a float": [("epsilon.exp()", "Decimal(float(epsilon)).exp()")],
}


def test_krr_just_below_a_whole_number(bundle: TextBundle) -> None:
    assert stays_below(RandomizedResponse.from_table.__func__, bundle.table)


@pytest.mark.parametrize("fault", KRR_FAULTS)
def test_a_fault_in_krr_is_seen(bundle: TextBundle, fault: str) -> None:
    of = planted(RandomizedResponse.from_table.__func__, *KRR_FAULTS[fault]).__func__
    assert not stays_below(of, bundle.table)


def test_random_is_uniform(bundle: TextBundle) -> None:
    """Every input, ``<unk>`` and words that are never an output included, has the same law: one integer a word."""
    allowed = outputs(bundle, "santext")
    rows = RandomizedResponse.make_uniform(bundle.table).compute_rows(np.arange(bundle.symbol_count + 1))
    for row in range(bundle.symbol_count + 1):
        assert rows.compute_weights(row).tolist() == [int(y in allowed) for y in range(bundle.symbol_count)]
    assert rows.totals.tolist() == [len(allowed)] * (bundle.symbol_count + 1)
