"""The programs that bound every private release give the same numbers as other methods."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from math import exp, inf, nan, sqrt
from pathlib import Path

import numpy as np
import pytest
from bounds import channels
from bounds.channels import best_channel, ceiling, exceeds, randomized_response, reference, standard_error
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from textveil_export.label import compute_realized_epsilon, make_integer_randomizer
from textveil_training.data import load_examples
from textveil_training.errors import InvalidRandomizer
from textveil_training.label_randomizers import compute_joint_shares, fit_accuracy_randomizer, make_counts_randomizer

Floats = NDArray[np.float64]
AG = Path(__file__).parents[4] / "shared" / "data" / "ag_private" / "ag_data.txt"

shares = st.lists(st.floats(0.01, 1), min_size=2, max_size=5)
epsilons = st.floats(0, 6)


def confusions(largest: int = 4) -> st.SearchStrategy[Floats]:
    row = st.integers(0, 50)
    return st.integers(2, largest).flatmap(
        lambda classes: st.lists(
            st.lists(row, min_size=classes, max_size=classes), min_size=classes, max_size=classes
        ).map(lambda rows: np.array(rows, dtype=float) + np.eye(len(rows)))
    )


def by_enumeration(gains: Floats, epsilon: float) -> float:
    """Compute the same maximum without a solver of linear programs.

    Extreme private channels are staircases (Kairouz, Oh and Viswanath 2016, "Extremal mechanisms for local differential
    privacy", Theorem 2): the column of an output is ``theta`` times a vector of ones and ``e^epsilon``. So the maximum
    is over non-negative weights of the ``2^K`` patterns that give every input the sum 1, and it is attained with at
    most K patterns: all choices of K are tried.
    """
    inputs = len(gains)
    patterns = np.array(list(product((1.0, exp(epsilon)), repeat=inputs)))
    worth = (patterns @ gains).max(axis=1)
    best = 0.0
    for chosen in combinations(range(len(patterns)), inputs):
        columns = patterns[list(chosen)].T
        if abs(np.linalg.det(columns)) < 1e-9:
            continue
        weights = np.linalg.solve(columns, np.ones(inputs))
        if (weights >= -1e-12).all():
            best = max(best, float(weights @ worth[list(chosen)]))
    return best


@pytest.mark.slow
@settings(max_examples=25)
@given(confusion=confusions(), epsilon=st.floats(0.05, 6))
def test_the_program_agrees_with_an_enumeration_of_staircases(confusion: Floats, epsilon: float) -> None:
    gains = compute_joint_shares(confusion)
    assert best_channel(gains, epsilon).accuracy == pytest.approx(by_enumeration(gains, epsilon), abs=1e-7)
    prior = confusion.sum(axis=1)
    assert ceiling(prior, epsilon) == pytest.approx(by_enumeration(np.diag(prior / prior.sum()), epsilon), abs=1e-7)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 4.0, 8.0, 12.0])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_for_equal_classes_randomized_response_is_the_ceiling(classes: int, epsilon: float) -> None:
    """Kairouz, Bonawitz and Ramage 2016; for two classes Warner's coin."""
    known = 1 / (1 + (classes - 1) * exp(-epsilon))
    assert ceiling([1] * classes, epsilon) == pytest.approx(known, abs=1e-9)
    assert randomized_response(np.eye(classes), epsilon) == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize(("prior", "epsilon"), [(0.9, 1.0), (0.9, 3.0), (0.6, 0.2), (0.6, 2.0)])
def test_two_unequal_classes(prior: float, epsilon: float) -> None:
    """The optimum is always the larger class, or the coin, whichever is right more often."""
    assert ceiling([prior, 1 - prior], epsilon) == pytest.approx(max(prior, 1 / (1 + exp(-epsilon))), abs=1e-9)


@settings(max_examples=40)
@given(prior=shares, epsilon=epsilons, delta=st.floats(0, 1))
def test_delta_adds_at_most_delta(prior: list[float], epsilon: float, delta: float) -> None:
    pure = ceiling(prior, epsilon)
    approximate = ceiling(prior, epsilon, delta)
    assert pure - 1e-7 <= approximate <= min(1.0, pure + delta) + 1e-7


def test_delta_for_two_classes_is_the_known_mechanism() -> None:
    """With probability delta the class itself, else the coin (Kairouz, Oh and Viswanath 2015): attained exactly."""
    for epsilon, delta in ((0.0, 0.3), (1.0, 0.1), (3.0, 0.02)):
        known = delta + (1 - delta) / (1 + exp(-epsilon))
        assert ceiling([0.5, 0.5], epsilon, delta) == pytest.approx(known, abs=1e-8)


@settings(max_examples=40)
@given(confusion=confusions(), epsilon=epsilons, more=epsilons)
def test_the_order_of_the_figures(confusion: Floats, epsilon: float, more: float) -> None:
    """Majority and randomized response cannot beat the reference, which beats neither ceiling nor clean model."""
    prior = confusion.sum(axis=1)
    held = reference(confusion, epsilon)
    majority = prior.max() / prior.sum()
    assert max(majority, randomized_response(confusion, epsilon)) <= held + 1e-7
    assert held <= ceiling(prior, epsilon) + 1e-7
    assert held <= compute_joint_shares(confusion).max(axis=1).sum() + 1e-7
    assert held <= reference(confusion, epsilon + more) + 1e-7


def exact(channel: Floats) -> list[list[Fraction]]:
    return [[Fraction(entry) for entry in row] for row in channel.tolist()]


def largest_excess(rows: list[list[Fraction]], epsilon: float) -> Fraction:
    """``max_{i,i'} sum_o max(0, Q(o|i) - e^epsilon Q(o|i'))``, with a hundred digits of ``e^epsilon``."""
    with localcontext(prec=100):
        ratio = Fraction(Decimal(epsilon).exp())
    return max(
        sum((max(Fraction(0), p - ratio * q) for p, q in zip(row, other, strict=True)), Fraction(0))
        for row, other in product(rows, repeat=2)
    )


def assert_private_channel(confusion: Floats, epsilon: float, delta: float) -> None:
    gains = compute_joint_shares(confusion)
    found = best_channel(gains, epsilon, delta)
    rows = exact(found.channel)
    assert [sum(row) for row in rows] == [1] * len(rows)
    assert min(map(min, rows)) >= 0
    assert largest_excess(rows, epsilon) <= Fraction(delta)
    assert (gains * found.channel).sum() == pytest.approx(found.accuracy, abs=2e-6)


#: The solver's solution for it holds -1e-9.
DUSTY = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [3, 0, 1, 0], [0, 0, 0, 1]], dtype=float)


@settings(max_examples=60)
@given(
    confusion=confusions(),
    epsilon=st.one_of(epsilons, st.floats(1e-12, 1e-3), st.floats(6, 30)),
    delta=st.sampled_from([0.0, 0.0, 1e-5, 0.05]),
)
@example(confusion=DUSTY, epsilon=1e-9, delta=0.0)
@example(confusion=np.eye(4), epsilon=16.5, delta=0.0)  # the smallest entries are below the solver's tolerance
@example(confusion=np.array([[1, 2], [2, 1.0]]), epsilon=0.0, delta=0.0)
def test_the_solution_is_a_private_channel(confusion: Floats, epsilon: float, delta: float) -> None:
    """In rational arithmetic: no tolerance for signs, for the sums of rows, or for the promise."""
    assert_private_channel(confusion, epsilon, delta)


def test_rounding_errors_of_a_solver_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above rejects a solution with errors of 1e-9, which solvers of linear programs allow themselves."""
    dust = 1e-9 * (np.roll(np.eye(4), 1, axis=1) - np.eye(4))
    monkeypatch.setattr(channels, "_private", lambda gains, solution, epsilon, delta: solution + dust)
    with pytest.raises(AssertionError):
        assert_private_channel(DUSTY, 1e-9, 0.0)


def test_without_privacy_the_reference_is_the_clean_model() -> None:
    confusion = np.array([[50, 3], [9, 38]])
    for epsilon in (30.0, 900.0, inf):
        assert reference(confusion, epsilon) == pytest.approx(0.88)
        assert ceiling([53, 47], epsilon) == pytest.approx(1)
        assert randomized_response(confusion, epsilon) == pytest.approx(0.88)


def test_rows_are_true_classes() -> None:
    """A model that always says 0 leaves nothing to release, however many texts are of class 1."""
    assert reference([[10, 0], [30, 0]], 8.0) == pytest.approx(0.75)
    assert reference([[10, 30], [0, 0]], 8.0) == pytest.approx(1)


def test_the_ceiling_of_the_ag_test_set() -> None:
    if not AG.exists():
        pytest.skip("the published data are not here: ag_private")
    labels = [int(example.label or 0) for example in load_examples("ag-entities", AG, "test")]
    prior = np.bincount(labels, minlength=4)
    found = [ceiling(prior, epsilon) for epsilon in (1, 2, 4, 8)]
    assert found == pytest.approx([0.697, 0.840, 0.957, 0.999], abs=5e-4)


@pytest.mark.parametrize(
    ("prior", "epsilon", "delta"),
    [
        ([], 1, 0),
        ([0, 0], 1, 0),
        ([1, -1], 1, 0),
        ([1, nan], 1, 0),
        ([[1, 2], [3, 4]], 1, 0),
        ([1, 1], -1, 0),
        ([1, 1], nan, 0),
        ([1, 1], 1, -0.1),
        ([1, 1], 1, 1.1),
        ([1, 1], 1, nan),
    ],
)
def test_what_no_program_can_be_made_from(prior: list[float], epsilon: float, delta: float) -> None:
    with pytest.raises(InvalidRandomizer):
        ceiling(prior, epsilon, delta)
    with pytest.raises(InvalidRandomizer):
        reference([[1, 2, 3], [4, 5, 6]], 1)


def test_slack_is_four_standard_errors() -> None:
    error = standard_error(0.7, 2500)
    assert error == pytest.approx(sqrt(0.7 * 0.3 / 2500))
    assert exceeds(0.7 + 4.01 * error, 2500, 0.7)
    assert not exceeds(0.7 + 3.99 * error, 2500, 0.7)
    assert not exceeds(1.0, 2500, 1.0)
    assert not exceeds(0.7 + 4.01 * error, 1000, 0.7)


def counted(classes: int, seed: int) -> np.ndarray:
    """Return the counts of a classifier that is mostly right, with classes of different sizes."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(5, 400, classes)
    rows = generator.dirichlet(np.ones(classes), classes) + 2 * np.eye(classes)
    return np.stack([generator.multinomial(n, row / row.sum()) for n, row in zip(sizes, rows, strict=True)])


def accuracy(counts: np.ndarray, channel: np.ndarray) -> float:
    return float((compute_joint_shares(counts) * channel).sum())


@pytest.mark.parametrize("seed", range(4))
def test_the_channel_that_ships_is_as_accurate_as_any_and_integers_lose_next_to_nothing(seed: int) -> None:
    counts = counted(2 + seed, seed)
    for level in ("0.5", "1", "2", "4", "8"):
        epsilon = compute_realized_epsilon(level)
        found = fit_accuracy_randomizer(counts, epsilon)
        best = best_channel(compute_joint_shares(counts), epsilon).accuracy
        assert accuracy(counts, found) == pytest.approx(best, abs=1e-6)
        drawn = make_integer_randomizer("accuracy", found, level).probability_matrix
        assert accuracy(counts, drawn) == pytest.approx(best, abs=1e-6)
        response = make_integer_randomizer(
            "counts", make_counts_randomizer(len(counts), epsilon), level
        ).probability_matrix
        assert accuracy(counts, response) <= best + 1e-6
