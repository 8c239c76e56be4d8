"""FBDD's distribution in low dimensions, counted and compared with the integral that defines it, and its metric DP.

The probability of an output is the mass of the noise over its Voronoi cell. Along a ray from the input the cells are
intervals, so the integral is done here in polar coordinates: over all directions by a quadrature, and along each ray
exactly, by the distribution function of the radius. Nothing of that calls the code that draws.

Counts come from the operating system's entropy. A test of chance rejects a faultless distribution with probability
below 1e-9, and each is shown to reject the distribution with a fault planted in it.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import faulty_fbdd
import numpy as np
import pytest
import small_bundles
from numpy.typing import NDArray
from scipy.special import gammainc
from scipy.stats import binom, chi2, norm
from textveil import Sanitizer
from textveil.bundle.text_bundle import TextBundle
from textveil.mechanisms import entropy
from textveil.mechanisms.baselines import fbdd
from textveil.mechanisms.baselines.fbdd import Fbdd, draw_laplace_noise
from textveil.mechanisms.baselines.table import SANTEXT_OUTPUT_ROLE

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

pytestmark = pytest.mark.statistical

SIGNIFICANCE = 1e-9
DRAWS = 150_000
#: Words near each other and far away; 1 is never an output.
PLANE = np.array(
    [[-127, 0], [-100, 40], [-60, -30], [-20, 25], [0, -70], [30, 5], [35, 60], [70, -45], [90, 20], [127, 80]]
)
LISTS = small_bundles.Lists(never_output=(1,))


def _bundle(folder: pytest.TempPathFactory, vectors: NDArray[np.int64]) -> TextBundle:
    path = folder.mktemp("bundles") / "bundle"
    return small_bundles.small_bundle(path, vectors, k=2, exponents=("2",), lists=LISTS)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> TextBundle:
    return _bundle(tmp_path_factory, PLANE)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> TextBundle:
    return _bundle(tmp_path_factory, small_bundles.scattered(10, 3, seed=17))


def law_of(bundle: TextBundle, epsilon: float) -> Fbdd:
    return Fbdd.from_table(bundle.table, bundle.metric, Decimal(str(epsilon)))


def counts_of(law: Fbdd, token: int, draws: int = DRAWS) -> Counts:
    return np.bincount(
        law.draw_symbols(np.full(draws, token), entropy.random_uint64), minlength=len(law.metric.rows) - 1
    )


# The definition.


def directions(dimension: int, fineness: int) -> tuple[Floats, Floats]:
    """Points of the unit sphere in 2 or 3 dimensions and their weights, which sum to 1."""
    angle = 2 * np.pi * (np.arange(fineness) + 0.5) / fineness
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if dimension == 2:
        return circle, np.full(fineness, 1 / fineness)
    height, weight = np.polynomial.legendre.leggauss(fineness // 4)
    flat = np.sqrt(1 - height**2)[:, None, None] * circle
    points = np.concatenate([flat, np.broadcast_to(height[:, None, None], (*flat.shape[:2], 1))], axis=2)
    return points.reshape(-1, 3), np.repeat(weight / 2 / fineness, fineness)


def law_by_integral(bundle: TextBundle, epsilon: float, token: int, fineness: int) -> Floats:
    """Probability of every symbol, shape ``(symbols,)``: the noise integrated over the cells of the outputs."""
    assert bundle.metric is not None
    rows = bundle.metric.rows / math.sqrt(bundle.metric.median_squared)
    outputs = np.flatnonzero(bundle.table.roles & SANTEXT_OUTPUT_ROLE)
    sites, dimension = rows[outputs] - rows[token], rows.shape[1]
    along, weights = directions(dimension, fineness)
    law = np.zeros(bundle.symbol_count)
    # On the ray r u, output y is nearer than y' where r u.(y - y') > (|y|^2 - |y'|^2) / 2.
    slope, height = along @ sites.T, (sites**2).sum(axis=1) / 2
    for y, site in enumerate(outputs):
        gain, cost = slope[:, [y]] - slope, height[y] - height
        with np.errstate(divide="ignore", invalid="ignore"):
            border = cost / gain
        low = np.where(gain > 0, border, 0).max(axis=1).clip(min=0)
        high = np.where(gain < 0, border, np.inf).min(axis=1)
        mass = gammainc(dimension, epsilon * high) - gammainc(dimension, epsilon * low)
        law[site] = weights @ np.where(high > low, mass, 0)
    return law


@pytest.mark.full
@pytest.mark.parametrize(("name", "fineness"), [("plane", 4000), ("space", 800)])
def test_the_integral_is_precise(name: str, fineness: int, request: pytest.FixtureRequest) -> None:
    """It sums to 1, and a finer one is the same to an error far below that of counting."""
    bundle = request.getfixturevalue(name)
    for token in (0, len(PLANE)):
        coarse, fine = (law_by_integral(bundle, 4, token, part) for part in (fineness // 2, fineness))
        assert fine.sum() == pytest.approx(1, abs=1e-9)
        assert np.abs(coarse - fine).max() < 1e-4


def test_the_integral_in_one_dimension(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Words on a line: the cells are strips, and one coordinate of the noise decides."""
    bundle = _bundle(tmp_path_factory, small_bundles.line(4))
    assert bundle.metric is not None
    place = bundle.metric.rows[:-1, 0] / math.sqrt(bundle.metric.median_squared)
    outputs = np.flatnonzero(bundle.table.roles & SANTEXT_OUTPUT_ROLE)
    angle = np.pi * (np.arange(200_000) + 0.5) / 200_000 - np.pi / 2

    def above(border: float) -> float:
        """Pr[place + z > border], over all directions of which half point that way."""
        gap = abs(border - place[0])
        beyond = float((1 - gammainc(2, 3 * gap / np.cos(angle))).mean() / 2)
        return beyond if border > place[0] else 1 - beyond

    strips = [above((place[a] + place[b]) / 2) for a, b in pairwise(outputs)]  # the highest output first
    assert law_by_integral(bundle, 3, 0, 4000)[outputs] == pytest.approx(np.diff([0, *strips, 1]), abs=2e-5)


# The distribution.


def rejects(counts: Counts, law: Floats) -> bool:
    """Pearson's chi-square, and the count of what expects fewer than 100, by its own binomial tail.

    The chi-square's law holds for large counts alone: of outputs that together expect .01, a single one is 1 draw of
    100, not one of 1e9. So these are pooled with the rarest of the others there, and counted exactly besides.
    """
    if counts[law == 0].any():
        return True
    draws = int(counts.sum())
    order = np.argsort(law)
    found, expected = counts[order], law[order] * draws
    rare = int((expected < 100).sum())
    if binom.sf(found[:rare].sum() - 1, draws, expected[:rare].sum() / draws) < SIGNIFICANCE / 2:
        return True
    found = np.append(found[: rare + 1].sum(), found[rare + 1 :])
    expected = np.append(expected[: rare + 1].sum(), expected[rare + 1 :])
    terms = (found - expected) ** 2 / expected
    return bool(terms.sum() > chi2.isf(SIGNIFICANCE / 2, len(terms) - 1))


def test_one_output_in_a_million_is_not_a_fault() -> None:
    """It is seen once by chance; a hundred of them are a fault, and so is one that cannot come."""
    law = np.array([0.9, 0.1 - 1e-7, 1e-7, 0])
    assert not rejects(np.array([135_000, 14_999, 1, 0]), law)
    assert rejects(np.array([135_000, 14_900, 100, 0]), law)
    assert rejects(np.array([135_000, 14_999, 0, 1]), law)


@pytest.mark.parametrize("token", [0, 1, 3, 9, 10])
@pytest.mark.parametrize("epsilon", [0.3, 4, 20])
def test_the_law_is_the_integral(plane: TextBundle, token: int, epsilon: float) -> None:
    """Words that are outputs, one that is none, and ``<unk>``."""
    assert not rejects(counts_of(law_of(plane, epsilon), token), law_by_integral(plane, epsilon, token, 4000))


@pytest.mark.parametrize("token", [0, 10])
def test_the_law_in_space(space: TextBundle, token: int) -> None:
    assert not rejects(counts_of(law_of(space, 5), token), law_by_integral(space, 5, token, 800))


def test_the_law_through_the_sanitizer(plane: TextBundle) -> None:
    """From text to text, an unknown string among words."""
    sanitizer = Sanitizer(plane)
    word = plane.vocabulary[3]
    written = sanitizer.sanitize(f"{word} zzz " * 100_000, mechanism="fbdd", epsilon=4).text.split()
    for start, token in ((0, 3), (1, len(PLANE))):
        counts = np.bincount([plane.symbol_ids[output] for output in written[start::2]], minlength=len(PLANE))
        assert not rejects(counts, law_by_integral(plane, 4, token, 4000))


#: In other words: a radius of Gamma(m - 1), of Gamma(m + 1), ...
NOISE_FAULTS = ("one exponential too few", "one exponential too many", "Gaussian noise", "3 % too small")


@pytest.mark.parametrize("fault", NOISE_FAULTS)
def test_a_fault_in_the_noise_is_seen(plane: TextBundle, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fbdd, "draw_laplace_noise", faulty_fbdd.laplace_noise(fault))
    assert rejects(counts_of(law_of(plane, 4), 3), law_by_integral(plane, 4, 3, 4000))


@pytest.mark.parametrize("fault", [*faulty_fbdd.DRAW, None])
def test_a_fault_in_the_draw_is_seen(plane: TextBundle, fault: str | None) -> None:
    law = law_of(plane, 4)
    token = len(PLANE)
    outputs = faulty_fbdd.draw(fault)(law, np.full(DRAWS, token), entropy.random_uint64)
    expected = law_by_integral(plane, 4, token, 4000)
    assert rejects(np.bincount(outputs, minlength=len(PLANE)), expected) == (fault is not None)


# Tokens are independent.


def repeats(law: Fbdd, token: int, probabilities: Floats) -> bool:
    """Whether two tokens in a row have the same output more or less often than independent ones would."""
    pairs = DRAWS // 2
    drawn = law.draw_symbols(np.full(2 * pairs, token), entropy.random_uint64)
    same = float((probabilities**2).sum())
    found = int((drawn[::2] == drawn[1::2]).sum())
    return bool(abs(found - pairs * same) > norm.isf(SIGNIFICANCE / 2) * math.sqrt(pairs * same * (1 - same)))


def shared_noise(share: int) -> Callable[..., Floats]:
    """Noise of which every ``share``-th vector is used for the next token, too; 1: one vector for all tokens."""

    def faulty(count: int, dimension: int, random_uint64: Any) -> Floats:
        noise = draw_laplace_noise(count, dimension, random_uint64)
        if share == 1:
            return np.broadcast_to(noise[:1], noise.shape)
        noise[1::share] = noise[: len(noise[1::share]) * share : share]
        return noise

    return faulty


def test_tokens_are_independent(plane: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    law, probabilities = law_of(plane, 4), law_by_integral(plane, 4, 3, 4000)
    assert not repeats(law, 3, probabilities)
    for share in (1, 50):
        monkeypatch.setattr(fbdd, "draw_laplace_noise", shared_noise(share))
        assert repeats(law, 3, probabilities)


# Metric DP.


def test_the_bound_is_nearly_reached(plane: TextBundle) -> None:
    """By the integral, over all pairs and outputs: the bound holds, and a distribution with less noise breaks it."""
    assert plane.metric is not None
    laws = [law_by_integral(plane, 3, token, 4000) for token in range(11)]
    used = [
        np.log(laws[x][law > 0] / law[law > 0]).max() / (3 * plane.metric.compute_distance(x, other))
        for x in range(11)
        for other, law in enumerate(laws)
        if x != other
    ]
    assert 0.85 < max(used) <= 1 + 1e-6


def test_unknown_words_are_covered_without_noise_of_their_own(plane: TextBundle) -> None:
    """``<unk>`` is charged for a coordinate that no output has: its pairs use less than the bound, never more."""
    assert plane.metric is not None
    unknown = len(PLANE)
    assert plane.metric.unknown_extra > 0
    shadow = replace(plane.metric, unknown_extra=0)
    laws = [law_by_integral(plane, 3, token, 4000) for token in range(11)]
    for x in range(10):
        for first, second in ((x, unknown), (unknown, x)):
            seen = laws[first] > 0
            loss = np.log(laws[first][seen] / laws[second][seen]).max()
            assert (
                loss <= 3 * shadow.compute_distance(x, unknown) + 1e-6 < 3 * plane.metric.compute_distance(x, unknown)
            )
