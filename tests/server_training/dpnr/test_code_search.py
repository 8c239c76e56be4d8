"""Codes for the classes: what they keep, against integrals, and whether the best ones are found."""

from dataclasses import replace
from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm
from textveil.mechanisms.noise import zcdp
from textveil_training.dpnr.code_search import (
    ClassCodes,
    CodeSearchSettings,
    estimate_code_accuracy,
    search_best_dimension,
    search_codes,
)
from textveil_training.dpnr.training_noise import Mode, bound_vectors, compute_noise_scale
from textveil_training.errors import InvalidRandomizer
from textveil_training.label_randomizers import compute_joint_shares, fit_accuracy_randomizer

Floats = NDArray[np.float64]

LEVELS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
QUICK = CodeSearchSettings(restarts=1, steps=60, draws=256, fresh_draws=1 << 14)
#: Counts like those of AG news with entities: two large topics, two small ones.
LIKE_AG = np.array([[700, 130, 2, 10], [120, 420, 1, 7], [3, 3, 4, 1], [20, 15, 0, 21]])
DELTA = 1e-6


def reference(confusion: NDArray[np.generic], epsilon: float) -> float:
    """Return the accuracy of the best private channel on decisions, without a delta."""
    return float((compute_joint_shares(confusion) * fit_accuracy_randomizer(confusion, epsilon)).sum())


def by_quadrature(codes: Floats, confusion: Floats, epsilon: float) -> float:
    """``A(c)`` for l1 in two dimensions: the integral as a sum over a fine grid."""
    scale = 2 / epsilon
    axis = np.arange(-1 - 14 * scale, 1 + 14 * scale, 0.02)
    joint_shares = compute_joint_shares(confusion)
    density = [
        np.exp(-np.abs(axis[:, None] - c[0]) / scale - np.abs(axis[None] - c[1]) / scale) / (2 * scale) ** 2
        for c in codes
    ]
    worth = [sum(joint_shares[i, y] * density[i] for i in range(len(codes))) for y in range(len(codes))]
    return float(np.max(worth, axis=0).sum() * 0.02**2)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_two_equal_classes_on_a_line_have_a_closed_form(epsilon: float) -> None:
    accuracy, error = estimate_code_accuracy([[-1], [1]], np.eye(2), epsilon)
    assert abs(accuracy - (1 - exp(-epsilon / 2) / 2)) < 5 * error + 1e-12
    assert error < 1e-3
    sigma = compute_noise_scale("l2", 1, epsilon, DELTA)
    accuracy, error = estimate_code_accuracy([[-1], [1]], np.eye(2), epsilon, "l2", DELTA)
    assert abs(accuracy - norm.cdf(1 / sigma)) < 5 * error + 1e-12
    accuracy, error = estimate_code_accuracy([[0, 1], [1, 0]], np.eye(2), epsilon, "box")
    assert accuracy < 1 - exp(-epsilon / 2) / 2  # two coordinates carry half of the distance each


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [pytest.param(1.0, marks=pytest.mark.full), 6.0])
def test_unequal_classes_in_the_plane_against_an_integral(epsilon: float) -> None:
    codes = np.array([[1, 0], [-1, 0], [0.3, -0.7], [0, 1]])
    accuracy, error = estimate_code_accuracy(codes, LIKE_AG, epsilon)
    assert accuracy == pytest.approx(by_quadrature(codes, LIKE_AG, epsilon), abs=5 * error + 2e-4)


def test_the_standard_error_is_the_spread_of_repeated_estimates() -> None:
    codes = [[1, 0], [-1, 0], [0, 1], [0, -1]]
    runs = [estimate_code_accuracy(codes, LIKE_AG, 3.0, draws=512, seed=seed) for seed in range(200)]
    spread = np.std([accuracy for accuracy, _ in runs], ddof=1)
    assert spread == pytest.approx(np.mean([error for _, error in runs]), rel=0.25)  # five standard errors of a spread


def test_too_little_noise_would_show() -> None:
    """Half of the scale, as from a sensitivity of 1 instead of 2, is beyond the reference of its epsilon."""
    codes = [[-1.0], [1.0]]
    for epsilon in (1.0, 2.0, 4.0):
        honest, error = estimate_code_accuracy(codes, np.eye(2), epsilon)
        assert honest + 5 * error < reference(np.eye(2), epsilon)
        faulty, error = estimate_code_accuracy(codes, np.eye(2), 2 * epsilon)
        assert faulty - 5 * error > reference(np.eye(2), epsilon)


@settings(max_examples=25)
@given(
    points=st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=4, max_size=4),
    epsilon=st.floats(0.2, 8),
    mode=st.sampled_from(["l1", "l2", "box"]),
)
def test_no_codes_beat_the_reference(points: list[list[float]], epsilon: float, mode: Mode) -> None:
    delta = DELTA if mode == "l2" else 0.0
    codes = bound_vectors(torch.tensor(points, dtype=torch.float64), mode).numpy()
    accuracy, error = estimate_code_accuracy(codes, LIKE_AG, epsilon, mode, delta, draws=2048)
    assert accuracy <= reference(LIKE_AG, epsilon) + delta + 5 * error + 1e-6


def test_the_gaussian_is_that_of_a_release() -> None:
    for epsilon, delta in (("0.5", "1e-6"), ("4", "1e-6"), ("8", "1e-5"), ("12", "0.01")):
        rho = zcdp.compute_largest_rho(Fraction(epsilon), Fraction(delta))
        assert compute_noise_scale("l2", 5, float(epsilon), float(delta)) == pytest.approx(sqrt(2 / rho), rel=1e-8)


def test_the_best_codes_of_two_classes_are_opposite_corners() -> None:
    found = search_codes(np.eye(2), [2.0], 1, search=QUICK)
    assert sorted(code for (code,) in found.codes) == pytest.approx([-1, 1], abs=1e-3)
    assert found.accuracies[0] == pytest.approx(1 - exp(-1) / 2, abs=5 * found.standard_errors[0])


@pytest.mark.full
@pytest.mark.slow
def test_a_second_coordinate_is_taken_where_it_pays_and_not_otherwise() -> None:
    """Four equal classes need the plane: on a line two of them would lie between the others."""
    line = search_codes(np.eye(4), [6.0], 1, search=QUICK).mean_accuracy
    found = search_best_dimension(np.eye(4), [6.0], dimensions=(1, 2), search=QUICK)
    assert len(found.codes[0]) == 2
    assert found.mean_accuracy > line + 0.05
    assert len(search_best_dimension(np.eye(2), [2.0], dimensions=(1, 2), search=QUICK).codes[0]) == 1


@pytest.mark.full
@pytest.mark.slow
def test_one_set_of_codes_serves_several_levels() -> None:
    shared = search_codes(LIKE_AG, LEVELS, 2, search=QUICK)
    for epsilon, accuracy, error in zip(LEVELS, shared.accuracies, shared.standard_errors, strict=True):
        held = reference(LIKE_AG, epsilon)
        assert 0.94 * held < accuracy < held + 5 * error
        assert estimate_code_accuracy(shared.codes, LIKE_AG, epsilon, draws=1 << 14) == (accuracy, error)
    assert list(shared.accuracies) == sorted(shared.accuracies)


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_codes_are_inside_the_set_of_their_mode(mode: Mode) -> None:
    found = search_codes(LIKE_AG, [3.0], 2, mode, DELTA if mode == "l2" else 0.0, replace(QUICK, steps=10))
    codes = np.array(found.codes)
    if mode == "box":
        assert (codes.min(axis=1) == 0).all()
        assert (codes.max(axis=1) == 1).all()
    else:
        assert (np.linalg.norm(codes, 1 if mode == "l1" else 2, axis=1) <= 1).all()
    assert ClassCodes(**found.to_dict()) == found
    assert search_codes(LIKE_AG, [3.0], 2, mode, found.delta, replace(QUICK, steps=10)) == found


@pytest.mark.parametrize(
    ("mode", "dimension", "epsilons", "delta"),
    [
        ("l1", 0, [1.0], 0.0),
        ("l1", 1, [], 0.0),
        ("l1", 1, [0.0], 0.0),
        ("l1", 1, [float("inf")], 0.0),
        ("l1", 1, [1.0], DELTA),
        ("l2", 1, [1.0], 0.0),
        ("box", 1, [1.0], 0.0),
        ("cube", 2, [1.0], 0.0),
    ],
)
def test_what_cannot_be_placed(mode: Mode, dimension: int, epsilons: list[float], delta: float) -> None:
    with pytest.raises(InvalidRandomizer):
        search_codes(LIKE_AG, epsilons, dimension, mode, delta, QUICK)


@pytest.mark.parametrize(
    ("codes", "mode"),
    [
        ([[1.1], [0]], "l1"),
        ([[0.6, 0.6], [0, 0]], "l1"),
        ([[0.9, 0.9], [0, 0]], "l2"),
        ([[-0.1, 1], [0, 0]], "box"),
        ([[float("nan")], [0]], "l1"),
        ([1, 0], "l1"),
        ([[1], [0], [0]], "l1"),
    ],
)
def test_codes_that_are_refused(codes: list[list[float]], mode: Mode) -> None:
    with pytest.raises(InvalidRandomizer):
        estimate_code_accuracy(codes, np.eye(2), 1.0, mode, DELTA if mode == "l2" else 0.0)


def test_no_dimension() -> None:
    with pytest.raises(InvalidRandomizer):
        search_best_dimension(np.eye(2), [1.0], dimensions=())
