"""Bound and noise in training stay in the ball, have the right distribution, and pass gradients."""

import math
from typing import Any

import pytest
import torch
from scipy import stats
from textveil.mechanisms.noise.vector import build_noise
from textveil_training.dpnr.accuracy import make_release_parameters
from textveil_training.dpnr.training_noise import TrainingNoise, add_noise, bound_vectors, compute_sensitivity
from tiny_training import description

MODES = ["l1", "l2", "box"]


def vectors(spread: float = 3.0) -> torch.Tensor:
    return torch.randn(500, 5, generator=torch.Generator().manual_seed(1)) * spread


def norm(points: torch.Tensor, mode: str) -> torch.Tensor:
    return points.abs().sum(-1) if mode == "l1" else points.norm(dim=-1)


@pytest.mark.parametrize("mode", ["l1", "l2"])
def test_what_is_outside_comes_onto_the_surface_and_what_is_inside_stays(mode: str) -> None:
    points = torch.cat([vectors(), vectors(0.05)])
    inside = norm(points, mode) <= 1
    assert 0 < int(inside.sum()) < len(points)
    found = bound_vectors(points, mode)
    assert torch.equal(found[inside], points[inside])
    assert norm(found[~inside], mode) == pytest.approx(1.0, abs=1e-6)
    assert torch.nn.functional.cosine_similarity(found, points) == pytest.approx(1.0, abs=1e-5)


def test_the_box_takes_each_vector_from_0_to_1() -> None:
    found = bound_vectors(vectors(), "box")
    assert (found.amin(-1), found.amax(-1)) == (pytest.approx(0.0), pytest.approx(1.0))
    assert torch.equal(bound_vectors(torch.full((1, 4), 3.0), "box"), torch.zeros(1, 4))


@pytest.mark.parametrize("mode", MODES)
def test_no_two_bounded_vectors_are_farther_apart_than_the_sensitivity(mode: str) -> None:
    corners = torch.eye(5).repeat(2, 1) * torch.tensor([1.0] * 5 + [-1.0] * 5)[:, None]
    found = bound_vectors(torch.cat([vectors(), 9 * corners, 1 - corners]), mode)
    apart = torch.cdist(found, found, p=2 if mode == "l2" else 1)
    assert float(apart.max()) <= compute_sensitivity(mode, 5) + 1e-5
    if mode != "box":  # a box cannot be all ones against all zeros: the smallest entry is 0, the largest 1
        assert float(apart.max()) == pytest.approx(compute_sensitivity(mode, 5), rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("spread", [0.01, 3.0])
def test_gradients_pass_the_bound_and_the_noise(mode: str, spread: float) -> None:
    points = vectors(spread).requires_grad_()
    noise = torch.full((500, 1), 0.5)
    (add_noise(bound_vectors(points, mode), mode, noise) ** 2).sum().backward()
    assert points.grad is not None
    assert bool(torch.isfinite(points.grad).all())
    assert float((points.grad.abs().sum(-1) > 0).double().mean()) > 0.99


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("value", [0.0, 2.0])
def test_constant_vectors_have_a_finite_gradient(mode: str, value: float) -> None:
    points = torch.full((2, 4), value, requires_grad=True)
    bound_vectors(points, mode).sum().backward()
    assert points.grad is not None
    assert bool(torch.isfinite(points.grad).all())


@pytest.mark.parametrize(("mode", "distribution"), [("l1", stats.laplace), ("l2", stats.norm), ("box", stats.laplace)])
def test_another_scale_of_the_noise_is_noticed(mode: str, distribution: stats.rv_continuous) -> None:
    drawn = add_noise(torch.zeros(1, 2), mode, torch.full((100_000, 1, 1), 0.7), torch.Generator().manual_seed(3))
    drawn = drawn.numpy()
    assert stats.kstest(drawn.ravel(), distribution(scale=0.7).cdf).pvalue > 1e-6
    assert stats.kstest(drawn.ravel(), distribution(scale=0.73).cdf).pvalue < 1e-9
    correlation: Any = stats.pearsonr(drawn[:, 0, 0], drawn[:, 0, 1])
    assert abs(correlation.statistic) < 0.015, "every coordinate has its own"


def test_mode_none_adds_nothing() -> None:
    points = vectors()
    assert bound_vectors(points, "none") is points
    assert add_noise(points, "none", torch.ones(500, 1)) is points


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "delta"), [("l1", None), ("l2", "1e-6"), ("box", None)])
def test_training_meets_the_noise_that_the_device_adds(mode: str, delta: str | None) -> None:
    levels = ("1", "3", "8")
    of = description(mode=mode, dimension=4, levels=levels, delta=delta)
    noise = TrainingNoise(mode, 4, [float(level) for level in levels], float(delta or 0))
    for level in levels:
        parameters = make_release_parameters(of, level)
        variance = build_noise(parameters).variance
        scale = float(parameters.scale) if variance is None else math.sqrt(variance)
        found, log_epsilon = noise.add_at_epsilon(
            torch.zeros(1, 4), float(level), 100_000, torch.Generator().manual_seed(5)
        )
        deviation = scale / parameters.grid * (1 if mode == "l2" else math.sqrt(2))
        assert float(found.std()) == pytest.approx(deviation, rel=0.02)
        assert float(log_epsilon) == pytest.approx(math.log(float(level)), rel=1e-6)


def test_a_range_of_levels_is_met_everywhere_and_told_truly() -> None:
    torch.manual_seed(0)
    found, log_epsilon = TrainingNoise("l1", 3, [1, 8]).add_at_random_epsilons(torch.zeros(4000, 3), 5)
    assert found.shape == (5, 4000, 3)
    assert log_epsilon.shape == (5, 4000, 1)
    assert (float(log_epsilon.min()), float(log_epsilon.max())) == (
        pytest.approx(0.0, abs=0.01),
        pytest.approx(math.log(8), abs=0.01),
    )
    standardized = (found / (2 / log_epsilon.exp())).numpy().ravel()
    assert stats.kstest(standardized, stats.laplace.cdf).pvalue > 1e-6
