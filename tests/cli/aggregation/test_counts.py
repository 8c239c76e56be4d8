"""Corrected counts cover the true numbers of labels, exactly where enumerable, else as often as stated."""

import itertools
from collections.abc import Callable
from decimal import Decimal
from math import exp

import numpy as np
import pytest
from textveil.bundle import HeldOutCounts
from textveil.mechanisms.staircase import LabelStaircase
from textveil_cli.aggregation import CountEstimates, count_class_labels, count_true_labels, counts

#: How often the model takes each code for a text of a label.
MODEL = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.3, 0.1, 0.6]])
NAMES = ("a", "b", "c")
TEXTS, HELD_OUT, RELEASES = 600, 90, 500
Counted = Callable[[HeldOutCounts, LabelStaircase, np.ndarray], CountEstimates]


def response(epsilon: float) -> LabelStaircase:
    """Randomized response over three codes."""
    unit = 10**6
    budget = round(unit / (exp(epsilon) + 2))
    return LabelStaircase.from_integers(
        "counts", Decimal(str(epsilon)), np.full(3, budget), budget * np.eye(3, dtype=np.int64)
    )


def of_model(model: np.ndarray, texts: int) -> HeldOutCounts:
    return HeldOutCounts(NAMES[: len(model)], np.rint(texts * model).astype(np.int64))


def test_estimates_are_right_on_average_and_so_is_the_variance_of_the_draw() -> None:
    """All outcomes of a text of each label, weighted; so many held-out texts that nothing of them is uncertain."""
    for labels in (3, 2):  # a square matrix, and more codes than labels
        staircase, held_out = response(1), of_model(MODEL[:labels], 20_000_000)
        rows = MODEL[:labels] @ staircase.probability_matrix
        mean, second, variance, plain = (np.zeros(labels) for _ in range(4))
        for outcome in itertools.product(range(3), repeat=labels):
            chance = np.prod([rows[label, index] for label, index in enumerate(outcome)])
            arrived = np.bincount(outcome, minlength=3)
            estimate = count_true_labels(held_out, [(staircase, arrived)])
            found = np.array([one.count for one in estimate.counts])
            assert found.sum() == pytest.approx(labels)
            mean += chance * found
            second += chance * found**2
            plain += chance * np.array([one.standard_error**2 for one in estimate.counts])
            weights = counts.compute_right_inverse(rows)
            assert weights is not None
            variance += chance * ((weights**2).T @ arrived - found)
        np.testing.assert_allclose(mean, 1, atol=1e-6)
        np.testing.assert_allclose(variance, second - mean**2, atol=1e-6)
        assert (plain >= second - mean**2 - 1e-6).all()  # one that comes out below 0 is taken as 0


def test_the_error_of_the_held_out_texts_is_that_of_their_rows() -> None:
    """Two levels are wrong in one and the same way: by the covariance of each row, through what the rows decide."""
    levels = [response(1), response(3)]
    arrived = [
        (level, np.array(found)) for level, found in zip(levels, ([400, 300, 500], [700, 300, 250]), strict=True)
    ]
    few, many = of_model(MODEL, 40), of_model(MODEL, 40_000_000 // 4)
    estimates = [count_true_labels(held_out, arrived).counts for held_out in (few, many)]
    alone = [np.array([max(0, one.count) for one in count_true_labels(many, [level]).counts]) for level in arrived]
    expected = np.zeros(3)
    for label in range(3):
        smooth = (few.decisions[label] + 2 / 3) / (few.decisions[label].sum() + 2)
        covariance = (np.diag(smooth) - np.outer(smooth, smooth)) / few.decisions[label].sum()
        back = np.linalg.inv(MODEL) * (alone[0][label] + alone[1][label])  # of a square matrix: P W = inverse of M
        expected += np.diag(back.T @ covariance @ back)
    found = [np.array([one.standard_error**2 for one in counted]) for counted in estimates]
    np.testing.assert_allclose(found[0] - found[1], expected, rtol=1e-4)


def test_no_mistake_among_few_texts_is_not_none() -> None:
    arrived = [(response(8), np.array([300, 300, 300]))]
    few, more = (count_true_labels(of_model(np.eye(3), texts), arrived).counts for texts in (5, 500))
    decided = count_class_labels(NAMES, arrived).counts
    for small, large, plain in zip(few, more, decided, strict=True):
        assert small.standard_error > 5 * large.standard_error > 5 * plain.standard_error
        assert small.interval is not None


@pytest.mark.parametrize(
    ("held_out", "reason"),
    [
        (None, "the bundle has no decisions of its model on held-out texts"),
        (HeldOutCounts(NAMES, np.array([[9, 1, 0], [0, 9, 1], [0, 0, 0]])), "a label has no held-out text"),
        (
            HeldOutCounts(NAMES, np.array([[9, 1, 0], [9, 1, 0], [0, 0, 5]])),
            "do not distinguish the labels enough for randomizer counts at eps",
        ),
        (
            HeldOutCounts((*NAMES, "d"), np.eye(4, 3, dtype=np.int64) + 1),
            "do not distinguish the labels enough for randomizer counts at eps",
        ),
    ],
)
def test_what_cannot_be_told_has_no_number(held_out: HeldOutCounts | None, reason: str) -> None:
    found = count_true_labels(held_out, [(response(4), np.array([5, 5, 5]))])
    assert found.counts == ()
    assert reason in str(found.refusal)


def test_intervals_are_cut_and_wider_ones_than_all_texts_and_those_outside_are_none() -> None:
    for count, error, interval in (
        (3, 1, (1, 5)),
        (-1.5, 1, (0, 0.5)),
        (-2.1, 1, None),
        (12.1, 1, None),
        (9.5, 1, (7.5, 10)),
        (5, 2.5, (0, 10)),
        (5, 2.6, None),
    ):
        assert counts.CountEstimate(label="a", count=count, standard_error=error, texts=10).interval == interval


def without_held_out_error(held_out: HeldOutCounts, staircase: LabelStaircase, arrived: np.ndarray) -> CountEstimates:
    """Plant a fault: treat the rows of the held-out texts as exact."""
    return count_true_labels(HeldOutCounts(held_out.labels, held_out.decisions * 10_000), [(staircase, arrived)])


def decisions_alone(_: HeldOutCounts, staircase: LabelStaircase, arrived: np.ndarray) -> CountEstimates:
    """Estimate by the model's decisions alone, with the error of the noise."""
    return count_class_labels(NAMES, [(staircase, arrived)])


def right(held_out: HeldOutCounts, staircase: LabelStaircase, arrived: np.ndarray) -> CountEstimates:
    return count_true_labels(held_out, [(staircase, arrived)])


def held(count: Counted, epsilon: float) -> np.ndarray:
    """Share of the releases in which the number of texts of each label is within two standard errors.

    Shares of the labels, held-out texts, decisions and noise are drawn anew for each, from a fixed seed.
    """
    generator, staircase = np.random.default_rng(3), response(epsilon)
    inside = np.zeros(3)
    for _ in range(RELEASES):
        truth = generator.multinomial(TEXTS, generator.dirichlet(np.ones(3)))
        table = np.stack([generator.multinomial(HELD_OUT // 3, row) for row in MODEL])
        codes = np.sum([generator.multinomial(n, row) for n, row in zip(truth, MODEL, strict=True)], axis=0)
        drawn = [generator.multinomial(n, row) for n, row in zip(codes, staircase.probability_matrix, strict=True)]
        found = count(HeldOutCounts(NAMES, table), staircase, np.sum(drawn, axis=0))
        inside += [abs(one.count - n) <= 2 * one.standard_error for one, n in zip(found.counts, truth, strict=True)]
    return inside / RELEASES


@pytest.mark.parametrize("epsilon", [1.5, 8])
def test_the_truth_is_within_two_standard_errors(epsilon: float) -> None:
    """95.4 % of a normal distribution; each share has a standard error of a point."""
    shares = held(right, epsilon)
    assert 0.93 <= shares.mean() <= 0.985
    assert shares.min() >= 0.92


@pytest.mark.parametrize(("fault", "most"), [(without_held_out_error, 0.75), (decisions_alone, 0.3)])
def test_an_error_of_the_draw_alone_does_not_hold_the_truth(fault: Counted, most: float) -> None:
    assert held(fault, 8).max() <= most
