"""Accuracy by subgroup: figures by hand, intervals that cover, differences that are there and those that are not."""

import math

import numpy as np
import pytest
from fairness.subgroups import Gap, SubgroupError, Subgroups, subgroups
from numpy.typing import NDArray
from scipy.stats import binom, norm

Floats = NDArray[np.float64]


def gap(found: Subgroups, column: int = 0) -> Gap:
    one = found.attributes[column].gap
    assert one is not None
    return one


def test_a_table_by_hand() -> None:
    draws = [[1, 1, 0, 1, 0, 1, 0], [1, 0, 0, 1, 1, 1, 0]]  # per text: 1, 1/2, 0, 1, 1/2, 1, 0
    attributes = [[1, 0], [1, 0], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0]]
    found = subgroups(draws, attributes, ["named", "rare"], minimum=2)
    assert (found.examples, found.comparisons) == (7, 1)
    assert found.accuracy == pytest.approx(4 / 7)
    assert found.standard_error == pytest.approx(math.sqrt((3.5 - 16 / 7) / 6 / 7))
    named, rare = found.attributes
    assert (named.having.examples, named.lacking.examples) == (4, 3)
    assert named.having.accuracy == pytest.approx(2.5 / 4)
    assert named.having.standard_error == pytest.approx(math.sqrt((2.25 - 2.5**2 / 4) / 3 / 4))
    assert named.lacking.accuracy == pytest.approx(1.5 / 3)
    assert named.lacking.standard_error == pytest.approx(math.sqrt((1.25 - 1.5**2 / 3) / 2 / 3))
    assert gap(found).value == pytest.approx(0.125)
    both = [named.having.standard_error, named.lacking.standard_error]
    assert gap(found).standard_error == pytest.approx(math.hypot(*[error or 0 for error in both]))
    assert (rare.having.examples, rare.lacking.examples, rare.having.accuracy, rare.gap) == (1, 6, None, None)
    shown = found.to_dict()
    assert shown["largest_gap"]["name"] == "named"
    assert shown["attributes"][1]["with"] == {"examples": 1, "accuracy": None, "standard_error": None}
    assert shown["attributes"][1]["interval"] is None
    assert shown["attributes"][0]["gap"] == 0.125


@pytest.mark.parametrize("columns", [1, 4])
def test_the_interval_is_that_of_agresti_and_caffo(columns: int) -> None:
    """With z^2 / 4 texts of either kind added, which at 95 % is one, and the level shared among the attributes."""
    right, sizes = (45, 20), (50, 40)
    correct = np.concatenate([np.arange(size) < count for count, size in zip(right, sizes, strict=True)])
    generator = np.random.default_rng(1)
    attributes = np.stack([np.arange(90) < 50, *(generator.random(90) < 0.5 for _ in range(columns - 1))], axis=1)
    z = norm.isf(0.025 / columns)
    shares = [(count + z**2 / 4) / (size + z**2 / 2) for count, size in zip(right, sizes, strict=True)]
    squares = [p * (1 - p) / (size + z**2 / 2) for p, size in zip(shares, sizes, strict=True)]
    low, high = gap(subgroups(correct, attributes, [""] * columns)).interval
    assert (low + high) / 2 == pytest.approx(shares[0] - shares[1])
    assert (high - low) / 2 == pytest.approx(z * math.sqrt(sum(squares)))


def coverage(low: Floats, high: Floats, size: int) -> float:
    """Return the smallest probability that an interval covers the true gap, over pairs of true accuracies."""
    counts, found = np.arange(size + 1), []
    for p in (0.3, 0.5, 0.8, 0.9, 0.97, 0.99):
        for q in (0.3, 0.5, 0.8, 0.9, 0.97, 0.99):
            chances = np.outer(binom.pmf(counts, size, p), binom.pmf(counts, size, q))
            found.append(chances[(low <= p - q + 1e-12) & (p - q - 1e-12 <= high)].sum())
    return min(found)


def test_intervals_cover_in_the_smallest_groups() -> None:
    """All outcomes of two groups of 30, weighted exactly. Standard errors alone would cover far less."""
    size = 30
    low, high, plain_low, plain_high = np.zeros((4, size + 1, size + 1))
    attributes = (np.arange(2 * size) < size)[:, None]
    for a in range(size + 1):
        for b in range(size + 1):
            correct = np.concatenate([np.arange(size) < a, np.arange(size) < b])
            found = gap(subgroups(correct, attributes, ["half"]))
            low[a, b], high[a, b] = found.interval
            reach = 1.96 * found.standard_error
            plain_low[a, b], plain_high[a, b] = found.value - reach, found.value + reach
    assert coverage(low, high, size) > 0.94
    assert coverage(plain_low, plain_high, size) < 0.8


def equal_groups(generator: np.random.Generator, texts: int = 500, columns: int = 6) -> tuple[Floats, Floats]:
    correct, attributes = generator.random(texts) < 0.8, generator.random((texts, columns)) < 0.4
    return correct.astype(np.float64), attributes.astype(np.float64)


def test_draws_of_one_text_are_not_many_texts() -> None:
    generator = np.random.default_rng(4)
    correct, attributes = equal_groups(generator)
    once, often = (subgroups(part, attributes, [""] * 6) for part in (correct, np.tile(correct, (20, 1))))
    assert once == often


def test_a_gap_that_the_classes_make_is_none_within_them() -> None:
    """Simpson's paradox, both ways: hard classes are commoner with the attribute, or hide what it does."""
    generator = np.random.default_rng(6)
    classes = generator.integers(0, 2, 4000)
    having = generator.random(4000) < np.where(classes == 1, 0.8, 0.2)
    mixed = generator.random(4000) < np.where(classes == 1, 0.6, 0.9)
    found = subgroups(mixed, having[:, None], [""], classes=classes)
    within = found.attributes[0].within_classes
    assert within is not None
    assert gap(found).differs
    assert (within.gap.differs, within.share) == (False, 1.0)
    hidden = generator.random(4000) < np.where(classes == 1, 0.9, 0.6) - 0.18 * having
    found = subgroups(hidden, having[:, None], [""], classes=classes)
    within = found.attributes[0].within_classes
    assert within is not None
    assert not gap(found).differs
    assert within.gap.differs
    assert within.gap.value == pytest.approx(-0.18, abs=4 * within.gap.standard_error)


@pytest.mark.parametrize("side", [0, 1])
def test_classes_without_both_groups_are_left_out(side: int) -> None:
    """Two classes of 100 and 80 texts count, with weights 5/9 and 4/9; a third has 29 texts on one side."""
    classes = np.repeat([0, 1, 2], [100, 80, 60])
    having = np.concatenate([np.arange(100) < 50, np.arange(80) < 40, (np.arange(60) < 29) ^ (side == 1)])
    correct = np.concatenate([np.arange(100) < 40, np.arange(80) < 70, np.zeros(60)])
    within = subgroups(correct, having[:, None], [""], classes=classes).attributes[0].within_classes
    assert within is not None
    assert within.share == 180 / 240
    assert within.gap.value == pytest.approx(5 / 9 * (40 / 50 - 0) + 4 / 9 * (1 - 30 / 40))
    variance = (5 / 9) ** 2 * (0.8 * 0.2 / 49) + (4 / 9) ** 2 * (0.75 * 0.25 / 39)
    assert within.gap.standard_error == pytest.approx(math.sqrt(variance))
    assert (within.to_dict()["share"], within.to_dict()["differs"]) == (0.75, True)
    none = subgroups(correct, having[:, None], [""], classes=np.arange(240)).attributes[0].within_classes
    assert none is None


def test_the_change_of_a_gap_is_measured_on_the_same_texts() -> None:
    generator = np.random.default_rng(7)
    hard = generator.random(1500) < 0.3
    having = generator.random((1500, 1)) < 0.3
    clean = np.where(hard, 0.0, 1.0)
    same = subgroups(clean, having, [""], other=clean).attributes[0].change
    assert same is not None
    assert (same.value, same.standard_error, same.differs) == (0, 0, False)
    hurt = clean * ~((generator.random(1500) < 0.08) & having[:, 0])
    change = subgroups(hurt, having, [""], other=clean).attributes[0].change
    assert change is not None
    assert change.differs
    assert change.value == pytest.approx((hurt - clean)[having[:, 0]].mean())
    apart = subgroups(hurt, having, [""]).attributes[0].gap
    assert apart is not None
    assert change.standard_error < 0.5 * apart.standard_error


def test_a_column_and_its_complement_are_one_comparison() -> None:
    correct, attributes = equal_groups(np.random.default_rng(8))
    column = attributes[:, [0]]
    young, old = subgroups(correct, np.hstack([column, 1 - column]), ["young", "old"]).attributes
    alone = gap(subgroups(correct, column, ["young"]))
    assert young.gap == alone
    assert old.gap is not None
    assert old.gap.value == pytest.approx(-alone.value)
    assert old.gap.interval == pytest.approx((-alone.interval[1], -alone.interval[0]))
    groups = np.eye(3)[np.random.default_rng(9).integers(0, 3, 500)]
    assert subgroups(correct, groups, list("abc")).comparisons == 3


@pytest.mark.parametrize(
    ("correct", "attributes", "options"),
    [
        ([1.0] * 60, np.zeros((60, 1)), {}),
        ([1.0] * 60, np.ones((60, 1)), {}),
        ([1.0] * 60, np.arange(60)[:, None] < 29, {}),
        ([1.0] * 60, np.arange(60)[:, None] / 60, {}),
        ([1.0] * 59, np.arange(60)[:, None] < 30, {}),
        ([1.5] * 60, np.arange(60)[:, None] < 30, {}),
        ([math.nan] * 60, np.arange(60)[:, None] < 30, {}),
        ([], np.zeros((0, 1)), {}),
        ([1.0] * 60, np.arange(60) < 30, {}),
        ([1.0] * 60, np.zeros((60, 2)), {}),
        ([1.0] * 60, np.arange(60)[:, None] < 30, {"minimum": 1}),
        ([1.0] * 60, np.arange(60)[:, None] < 30, {"confidence": 1.0}),
        ([1.0] * 60, np.arange(60)[:, None] < 30, {"classes": np.zeros(59)}),
        ([1.0] * 60, np.arange(60)[:, None] < 30, {"other": np.zeros(59)}),
    ],
)
def test_what_makes_no_table(correct: list[float], attributes: Floats, options: dict) -> None:
    with pytest.raises(SubgroupError):
        subgroups(correct, attributes, ["one"], **options)
