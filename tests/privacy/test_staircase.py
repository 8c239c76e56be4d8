"""The staircase equals its definition, to the last integer, and loses no more than it states.

Small staircases are enumerated completely: every pair of uniform integers, every pair of inputs, every output. Each
check also runs on copies with a planted fault, and must fail.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dealt import drawn_from, largest_ratio
from faulty_staircase import FAULTS, faulty
from hypothesis import given
from hypothesis import strategies as st
from textveil.errors import BundleDamaged
from textveil.mechanisms import entropy
from textveil.mechanisms.staircase import make_staircase_randomizer
from textveil.mechanisms.staircase.staircase import BASE_UNIT, Staircase, StaircaseLevel, StaircaseTable, compute_factor

SYMBOLS = 7
UNIT = 3


def table(seed: int, k: int = 4, symbols: int = SYMBOLS) -> StaircaseTable:
    """Return a table of a few words with random neighbors and bases of 1 to 4."""
    generator = np.random.default_rng(seed)
    rows = [[x, *generator.permutation([y for y in range(symbols) if y != x])[: k - 1]] for x in range(symbols)]
    base = generator.integers(1, 5, symbols).astype(np.uint32)
    return StaircaseTable.from_tensors(tensors(np.array(rows, np.uint16), base), symbols)


def tensors(neighbors: Any, base: Any) -> dict[str, Any]:
    return {"neighbors": neighbors, "base": base, "roles": np.full(len(base), 15, np.uint8)}


def level(epsilon: str = "2", share: Fraction = Fraction(1, 2)) -> StaircaseLevel:
    return StaircaseLevel(name="a level", epsilon=Decimal(epsilon), share=share)


OUTPUTS = {"every word": np.ones(SYMBOLS, bool), "not two of them": np.arange(SYMBOLS) % 4 != 1}
SETTINGS = [
    (seed, epsilon, share, outputs)
    for seed, (epsilon, share) in enumerate(
        [
            ("0.7", Fraction(1, 5)),
            ("2", Fraction(1, 3)),
            ("2", Fraction(3, 4)),  # neighbors do not hold it: much is left over
            ("3", Fraction(1)),
            ("3", Fraction(9, 10)),
            ("1", Fraction(1, 10**6)),
        ]
    )
    for outputs in OUTPUTS
]


def built(setting: Any, kind: type[Staircase] = Staircase, unit: int = UNIT) -> Staircase:
    seed, epsilon, share, outputs = setting
    return kind.from_table(table(seed), level(epsilon, share), OUTPUTS[outputs], unit)


def defined_row(
    base: Sequence[int], neighbors: Sequence[int], *, budget: int, factor: int, unit: int
) -> list[Fraction]:
    """``Pr[M(x) = y]`` for every ``y``: the definition again, one output at a time. Slow and obvious.

    Args:
        base: ``b``, 0 for symbols that are not outputs.
        neighbors: Ids in the order in which the budget is dealt; empty for ``<unk>``.
        budget: ``H``.
        factor: ``F``.
        unit: ``G``.
    """
    dealt = [0] * len(base)
    remaining = budget
    for y in neighbors:
        dealt[y] = min(base[y], remaining)
        remaining -= dealt[y]
    free = sum(base) - sum(dealt)
    spread = [
        Fraction(a) + (Fraction(remaining * (b - a), free) if free else 0) for a, b in zip(dealt, base, strict=True)
    ]
    total = unit * sum(base) + factor * budget
    return [(unit * b + factor * a) / Fraction(total) for a, b in zip(spread, base, strict=True)]


def definition(staircase: Staircase) -> list[list[Fraction]]:
    """All rows by definition, with the factor computed anew."""
    with localcontext(prec=50):
        exact = int((staircase.level.epsilon.exp() - 1) * staircase.unit)
    base = staircase.base.tolist()
    budget = max(1, sum(base) * staircase.level.share.numerator // staircase.level.share.denominator)
    known = {"budget": budget, "factor": exact, "unit": staircase.unit}
    rows = [defined_row(base, [int(y) for y in neighbors], **known) for neighbors in staircase.table.neighbors]
    return [*rows, defined_row(base, [], **known)]


def check_draws(kind: type[Staircase]) -> None:
    for setting in SETTINGS:
        staircase = built(setting, kind)
        for token, row in enumerate(definition(staircase)):
            assert drawn_from(staircase, token, SYMBOLS) == row


def test_every_integer_goes_to_its_output() -> None:
    check_draws(Staircase)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault: str) -> None:
    with pytest.raises((AssertionError, BundleDamaged)):
        check_draws(faulty(fault))


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_channel_is_the_definition(setting: Any) -> None:
    staircase = built(setting)
    wanted, inputs = definition(staircase), np.arange(SYMBOLS + 1)
    for token, row in enumerate(wanted):
        exact = staircase.compute_exact_row(token)
        assert [Fraction(weight, sum(exact)) for weight in exact] == row
    as_floats = np.array([[float(p) for p in row] for row in wanted])
    np.testing.assert_allclose(make_staircase_randomizer(staircase).compute_rows(inputs), as_floats, rtol=1e-12)
    np.testing.assert_allclose(
        make_staircase_randomizer(staircase).compute_columns(np.arange(SYMBOLS)), as_floats.T, rtol=1e-12
    )


@given(
    st.integers(0, 10**6),
    st.sampled_from(("0.01", "0.7", "2", "4", "8")),
    st.fractions(Fraction(1, 40), 1),
    st.integers(1, SYMBOLS),
    st.lists(st.booleans(), min_size=SYMBOLS, max_size=SYMBOLS).filter(any),
)
def test_no_table_loses_more_than_is_stated(
    seed: int, epsilon: str, share: Fraction, k: int, outputs: list[bool]
) -> None:
    staircase = Staircase.from_table(table(seed, k), level(epsilon, share), np.array(outputs))
    rows = [[Fraction(w) / sum(exact) for w in exact] for exact in map(staircase.compute_exact_row, range(SYMBOLS + 1))]
    largest = largest_ratio(rows)
    assert largest is not None
    assert largest <= 1 + Fraction(staircase.factor, BASE_UNIT)
    with localcontext(prec=50):
        assert Decimal(largest.numerator) / Decimal(largest.denominator) <= Decimal(epsilon).exp()


def test_the_bound_is_attained() -> None:
    staircase = Staircase.from_table(table(1), level("2", Fraction(1, 3)), OUTPUTS["every word"])
    assert largest_ratio(definition(staircase)) == 1 + Fraction(staircase.factor, BASE_UNIT)


def test_a_word_stored_twice_loses_more_and_is_refused() -> None:
    twice = table(1).neighbors.copy()
    twice[2, 2] = twice[2, 1]
    with pytest.raises(BundleDamaged, match="twice"):
        StaircaseTable.from_tensors(tensors(twice, table(1).base), SYMBOLS)
    base = [1] * SYMBOLS
    rows = [
        defined_row(base, ids, budget=2, factor=compute_factor(Decimal(2)), unit=BASE_UNIT)
        for ids in ([], [3, 4], [0, 1])
    ]
    doubled = [list(row) for row in rows]
    doubled[1][3] += Fraction(
        compute_factor(Decimal(2)), BASE_UNIT * SYMBOLS
    )  # what a second interval of the same word would give
    honest, more = largest_ratio(rows), largest_ratio(doubled)
    assert honest is not None
    assert more is not None
    assert honest <= 1 + Fraction(compute_factor(Decimal(2)), BASE_UNIT) < more


def test_a_factor_that_claims_less_than_it_loses_is_refused() -> None:
    with pytest.raises(BundleDamaged, match="the privacy loss of a level exceeds its stated epsilon"):
        built(SETTINGS[2], faulty("the factor is rounded up"))


@pytest.mark.parametrize("epsilon", ["0.001", "1", "4", "6", "8", "10", "12", "16"])
def test_the_factor_is_the_largest_integer_that_is_allowed(epsilon: str) -> None:
    with localcontext(prec=80):
        allowed = (Decimal(epsilon).exp() - 1) * BASE_UNIT
        assert compute_factor(Decimal(epsilon)) <= allowed < compute_factor(Decimal(epsilon)) + 1


def test_two_words_of_entropy_for_every_token_whatever_it_is() -> None:
    asked: list[int] = []

    def words(count: int) -> Any:
        asked.append(count)
        return np.zeros(count, np.uint64)

    staircase = Staircase.from_table(table(1), level(), OUTPUTS["every word"])
    for tokens in ([0], [SYMBOLS], [0, 1, 2, SYMBOLS, 0]):
        asked.clear()
        staircase.draw_symbols(np.array(tokens), words)
        assert asked == [len(tokens)] * 2


def test_draws_are_independent_and_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    staircase = Staircase.from_table(table(1), level("1"), OUTPUTS["every word"])
    calls: list[Any] = []

    def uniform(totals: Any, words: Any, *, bits: int = 64) -> Any:
        calls.append(totals.tolist())
        return entropy.draw_uniform_below(totals, words, bits=bits)

    monkeypatch.setattr("textveil.mechanisms.staircase.staircase.draw_uniform_below", uniform)
    from textveil.mechanisms import random_uint64

    staircase.draw_symbols(np.array([1, 1, SYMBOLS]), random_uint64)
    free = [staircase.base_sum - int(staircase.distribute_budget(np.array([x]))[1].sum()) for x in (1, 1, SYMBOLS)]
    assert calls == [[staircase.total] * 3, free]


def test_what_a_level_says_of_itself() -> None:
    staircase = Staircase.from_table(table(1), level("2", Fraction(1, 3)), OUTPUTS["every word"])
    rows = definition(staircase)
    gain = sum(max(row[y] for row in rows) for y in range(SYMBOLS))  # of a uniform prior, times the inputs
    assert float(gain) <= staircase.guess_gain
    alike = 1 - sum(min(a, b) for a, b in zip(rows[0], rows[SYMBOLS], strict=True))
    assert float(alike) <= staircase.near_probability
