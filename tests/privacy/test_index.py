"""A class label is sampled exactly by its definition, and reveals no more of a text than is stated.

Small channels are enumerated completely, and copies with a planted fault must be detected. A hostile bundle is refused,
or keeps the bound.
"""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dealt import drawn_from, largest_ratio
from faulty_staircase import OF_INDEX, faulty
from hypothesis import given
from hypothesis import strategies as st
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase import MAX_LABELS, LabelStaircase, make_staircase_randomizer
from textveil.mechanisms.staircase.staircase import BASE_UNIT

UNIT = 3
#: Epsilon, base and what is dealt; the third has an index that is never released, the last is constant.
CHANNELS = (
    ("2", [2, 2, 2], [[2, 0, 0], [0, 2, 0], [0, 0, 2]]),
    ("0.7", [1, 3, 2], [[0, 2, 1], [0, 1, 2], [1, 1, 1]]),
    ("3", [2, 0, 3, 1], [[2, 0, 1, 0], [0, 0, 3, 0], [1, 0, 1, 1], [0, 0, 2, 1]]),
    ("1", [4, 1], [[1, 0], [1, 0]]),
)


def built(channel: Any, kind: type[LabelStaircase] = LabelStaircase, unit: int = UNIT) -> LabelStaircase:
    epsilon, base, dealt = channel
    return kind.from_integers("a channel", Decimal(epsilon), np.array(base), np.array(dealt), unit)


def defined(channel: Any, unit: int = UNIT) -> list[list[Fraction]]:
    """``Pr[M(x) = y]`` by definition, a row for each code."""
    epsilon, base, dealt = channel
    with localcontext(prec=50):
        factor = int((Decimal(epsilon).exp() - 1) * unit)
    total = unit * sum(base) + factor * sum(dealt[0])
    return [[Fraction(unit * b + factor * a, total) for a, b in zip(row, base, strict=True)] for row in dealt]


def check_draws(kind: type[LabelStaircase]) -> None:
    for channel in CHANNELS:
        staircase = built(channel, kind)
        codes = staircase.label_count
        assert [drawn_from(staircase, code, codes) for code in range(codes)] == defined(channel)


def test_every_integer_goes_to_its_index() -> None:
    check_draws(LabelStaircase)


@pytest.mark.parametrize("fault", OF_INDEX)
def test_a_planted_fault_is_seen(fault: str) -> None:
    with pytest.raises((AssertionError, BundleDamaged)):
        check_draws(faulty(fault, LabelStaircase))


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_output_distribution_is_the_definition(channel: Any) -> None:
    staircase, rows = built(channel), defined(channel)
    for code, row in enumerate(rows):
        exact = make_staircase_randomizer(staircase).compute_exact_row(code)
        assert [Fraction(weight, sum(exact)) for weight in exact] == row
    wanted = np.array([[float(p) for p in row] for row in rows])
    np.testing.assert_allclose(staircase.probability_matrix, wanted, rtol=1e-12)
    np.testing.assert_allclose(
        make_staircase_randomizer(staircase).compute_columns(np.arange(staircase.label_count))[:, :-1],
        wanted.T,
        rtol=1e-12,
    )  # the last input is not a code: the base itself
    exact = make_staircase_randomizer(staircase).compute_exact_row(staircase.label_count)
    assert [Fraction(w, sum(exact)) for w in exact] == [Fraction(b, sum(channel[1])) for b in channel[1]]


def test_the_bound_is_attained_and_not_passed() -> None:
    for channel in CHANNELS[:-1]:
        with localcontext(prec=50):
            factor = int((Decimal(channel[0]).exp() - 1) * 3)
        assert largest_ratio(defined(channel)) == 1 + Fraction(factor, 3)
    assert largest_ratio(defined(CHANNELS[-1])) == 1


@st.composite
def channels(draw: Any) -> Any:
    """Any integers that the certificate lets pass, by way of cards dealt from one pack."""
    codes = draw(st.integers(2, 5))
    base = draw(st.lists(st.integers(0, 9), min_size=codes, max_size=codes).filter(any))
    cards = [y for y, b in enumerate(base) for _ in range(b)]
    budget = draw(st.integers(1, len(cards)))
    dealt = [Counter(draw(st.permutations(cards))[:budget]) for _ in range(codes)]
    epsilon = draw(st.sampled_from(("0.000000001", "0.01", "0.7", "2", "8", "16")))
    return epsilon, base, [[row[y] for y in range(codes)] for row in dealt]


@given(channels())
def test_no_channel_loses_more_than_is_stated(channel: Any) -> None:
    staircase = built(channel, unit=BASE_UNIT)
    rows = [
        [Fraction(w) / sum(row) for w in row]
        for row in map(staircase.compute_exact_row, range(staircase.label_count + 1))
    ]
    ratio = largest_ratio(rows)
    assert ratio is not None
    assert ratio <= 1 + Fraction(staircase.factor, BASE_UNIT)
    with localcontext(prec=50):
        assert Decimal(ratio.numerator) / Decimal(ratio.denominator) <= Decimal(channel[0]).exp()


BIG = 2**62
HOSTILE: dict[str, tuple[Any, Any, str]] = {
    "no code": (np.zeros(0, np.int64), np.zeros((0, 0), np.int64), "a randomizer: an array has a wrong shape or type"),
    "one code": (np.ones(1, np.int64), np.ones((1, 1), np.int64), "a randomizer: an array has a wrong shape or type"),
    "too many codes": (
        np.ones(MAX_LABELS + 1, np.int64),
        np.eye(MAX_LABELS + 1, dtype=np.int64),
        "a randomizer: an array has a wrong shape or type",
    ),
    "a base of another shape": (
        np.ones((2, 2), np.int64),
        np.eye(2, dtype=np.int64),
        "a randomizer: an array has a wrong shape or type",
    ),
    "no square": (np.ones(2, np.int64), np.ones((2, 3), np.int64), "a randomizer: an array has a wrong shape or type"),
    "floats": (np.ones(2), np.eye(2), "a randomizer: an array has a wrong shape or type"),
    "unsigned": (np.ones(2, np.uint64), np.eye(2, dtype=np.uint64), "a randomizer: an array has a wrong shape or type"),
    "a negative base": (np.array([-1, 3]), np.array([[0, 1], [0, 1]]), "negative"),
    "a base of zero": (np.zeros(2, np.int64), np.zeros((2, 2), np.int64), "zero"),
    "a base that wraps": (np.full(4, BIG), np.zeros((4, 4), np.int64), "too large"),
    "a base that is too large": (np.full(2, 2**42), np.array([[1, 0], [0, 1]]), "too large"),
    "a budget that is too large": (np.full(2, 2**40), np.array([[2**40, 0], [0, 2**40]]), "too large"),
    "more than the base": (
        np.array([1, 1]),
        np.array([[2, 0], [1, 1]]),
        "a randomizer: a label has more budget than its base weight",
    ),
    "something of an index that is none": (
        np.array([0, 3]),
        np.array([[1, 1], [0, 2]]),
        "a randomizer: a label has more budget than its base weight",
    ),
    "less than nothing": (
        np.array([2, 2]),
        np.array([[-1, 2], [0, 1]]),
        "a randomizer: a label has more budget than its base weight",
    ),
    "a randomizer: every row must have the same total budget, above 0": (
        np.array([2, 2]),
        np.array([[1, 0], [1, 1]]),
        "a randomizer: every row must have the same total budget, above 0",
    ),
    "nothing": (
        np.array([2, 2]),
        np.zeros((2, 2), np.int64),
        "a randomizer: every row must have the same total budget, above 0",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_integers_are_refused(what: str) -> None:
    base, dealt, message = HOSTILE[what]
    with pytest.raises(BundleDamaged, match=message):
        LabelStaircase.from_integers("a channel", Decimal(12), base, dealt)


@pytest.mark.parametrize("epsilon", ["0", "-1", "16.1", "NaN", "Infinity"])
def test_an_epsilon_out_of_range_is_refused(epsilon: str) -> None:
    with pytest.raises(BundleDamaged, match=r"the privacy loss exceeds the stated epsilon|epsilon must be a number"):
        LabelStaircase.from_integers("a channel", Decimal(epsilon), np.array([2, 2]), np.array([[1, 0], [0, 1]]))


def test_as_much_entropy_for_every_code() -> None:
    asked: list[int] = []

    def words(count: int) -> Any:
        asked.append(count)
        return np.zeros(count, np.uint64)

    staircase = built(CHANNELS[2])
    for codes in ([0], [1], [3], [0, 1, 2, 3, 0]):
        asked.clear()
        staircase.draw_symbols(np.array(codes), words)
        assert asked == [len(codes)] * 2
