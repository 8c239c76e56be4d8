"""The table is SanText: a dense reference, written from the paper alone, finds the same probabilities.

Yue et al. 2021, Equation 1: ``Pr[M(x) = y]`` is proportional to ``exp(-epsilon d(x, y) / 2)`` over all outputs. The
reference below computes just that, in float64, from the rows a bundle carries. Whatever is stored, the integers that
ship differ by their rounding only, and by no more than follows from it. What could go wrong: an epsilon used without
the half, a metric that is not the one of the statement. The parts of a table are in ``test_table_parts.py``.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import small_bundles
from defined_weights import outputs, squared_distances
from numpy.typing import NDArray
from textveil import Sanitizer
from textveil.bundle.text import TextBundle
from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.baselines.table import LevelParameters

Reals = NDArray[np.float64]

GEOMETRIES = {
    "scattered": (small_bundles.scattered(40, 16, seed=21), ("0.5", "4")),
    "twins": (small_bundles.twins(26, 8, seed=22), ("0.5", "4")),
    "lattice": (small_bundles.lattice(), ("0.5", "4")),
    "outlier": (small_bundles.outlier(24, seed=23), ("0.25", "2")),
    "clusters": (small_bundles.clusters(seed=24), ("0.5", "4")),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., TextBundle]:
    """Bundles by geometry and ``k``; each is written once."""

    @cache
    def open_bundle(geometry: str, k: int | None) -> TextBundle:
        vectors, exponents = GEOMETRIES[geometry]
        folder: Path = tmp_path_factory.mktemp("bundles") / "bundle"
        return small_bundles.small_bundle(folder, vectors, k=k, exponents=exponents)

    return open_bundle


# The distribution.


def dense_santext(rows: Reals, allowed: list[int], epsilon: float) -> Reals:
    """Equation 1 for all inputs, shape ``(inputs, allowed)``; ``epsilon`` is per unit of the rows."""
    distances = np.sqrt(((rows[:, None] - rows[allowed][None]) ** 2).sum(axis=2))
    likelihood = np.exp(-0.5 * epsilon * distances)
    return likelihood / likelihood.sum(axis=1, keepdims=True)


def scaled_rows(bundle: TextBundle) -> Reals:
    """The shipped rows in units of the median distance, with the coordinate that only ``<unk>`` has."""
    rows = np.zeros((bundle.symbols + 1, bundle.metric.rows.shape[1] + 1))
    rows[:, :-1] = bundle.metric.rows
    rows[-1, -1] = math.sqrt(bundle.metric.unknown_extra)
    return rows / math.sqrt(bundle.metric.median_squared)


def shipped_law(bundle: TextBundle, mechanism: str, law: LevelParameters) -> Reals:
    """Probabilities of the integers that ship, each the float64 nearest to a quotient of integers."""
    exact = SanText.of(bundle.table, bundle.metric, mechanism, law)
    weights = exact.channel.weights_from(np.arange(bundle.symbols + 1))[:, outputs(bundle, mechanism)]
    return np.array([[weight / sum(row) for weight in row] for row in weights.tolist()])


def rounding_bound(law: LevelParameters, grid: int) -> float:
    """Largest relative error of a probability: ``exp(alpha / grid) (1 + rho) / (1 - rho) - 1``.

    ``floor`` makes a distance smaller by less than one step, which multiplies a weight by less than
    ``exp(alpha / grid)`` and never by less than 1; rounding divides it by between ``1 - rho`` and ``1 + rho``,
    ``rho = 1 / (2 W_min)``. A normalizer is a sum of weights and moves within the same limits, so their quotient
    moves by at most one step and by ``(1 + rho) / (1 - rho)``. (Two rows are compared in a privacy loss, hence the
    two of each in ``privacy.rounding_slack``.)
    """
    rho = 1 / (2 * int(law.weights[-1]))
    return math.expm1(float(law.exponent) / grid + math.log1p(rho) - math.log1p(-rho))


def relative_error(found: Reals, expected: Reals) -> float:
    """Largest factor between the two, less 1, whichever is the larger."""
    return float(np.expm1(np.abs(np.log(found) - np.log(expected)).max()))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
@pytest.mark.parametrize("k", [1, 5, None])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_table_is_santext_whatever_is_stored(
    opened: Callable[..., TextBundle], geometry: str, k: int | None, mechanism: str
) -> None:
    bundle = opened(geometry, k)
    allowed = outputs(bundle, mechanism)
    for level in bundle.levels:
        law = level.parameters[mechanism]
        shipped = shipped_law(bundle, mechanism, law)
        reference = dense_santext(scaled_rows(bundle), allowed, 2 * float(law.exponent))
        assert relative_error(shipped, reference) < rounding_bound(law, bundle.table.grid) + 1e-12
        assert relative_error(shipped, dense_santext(scaled_rows(bundle), allowed, 2.02 * float(law.exponent))) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_reference_sees_faults(opened: Callable[..., TextBundle], geometry: str) -> None:
    """Epsilon off by 1 %, epsilon without the half, or one unit of distance 1 % off."""
    bundle = opened(geometry, None)
    law = bundle.levels[1].parameters["santext"]
    shipped, allowed = shipped_law(bundle, "santext", law), outputs(bundle, "santext")
    rows, epsilon = scaled_rows(bundle), 2 * float(law.exponent)
    for fault in (
        dense_santext(rows, allowed, 1.01 * epsilon),
        dense_santext(rows, allowed, epsilon / 2),
        dense_santext(rows * 0.99, allowed, epsilon),
    ):
        assert relative_error(shipped, fault) > 5 * rounding_bound(law, bundle.table.grid)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_distances_of_the_statement(opened: Callable[..., TextBundle], geometry: str) -> None:
    """``Sanitizer.distance`` and ``Metric`` give the metric of the mechanism, ``<unk>`` included."""
    bundle = opened(geometry, 2)
    squared, sanitizer = list(map(list, squared_distances(bundle))), Sanitizer(bundle)
    words = [*bundle.vocabulary, "quokka"]
    for x, first in enumerate(words):
        for y, second in enumerate(words):
            expected = math.sqrt(squared[x][y] / bundle.metric.median_squared)
            assert sanitizer.distance(first, second) == pytest.approx(expected, rel=1e-15, abs=0)
            assert bundle.metric.distance(x, y) == sanitizer.distance(first, second)
    first, second = (index.ravel() for index in np.indices((len(words), len(words))))
    assert bundle.metric.squared(first, second).reshape(len(words), -1).tolist() == squared
    backwards = np.arange(len(words))[::-1]
    blocks: dict[int, list[int]] = {}
    for part, block in bundle.metric.squared_to_all(backwards, 5):
        blocks |= dict(zip(part.tolist(), block.tolist(), strict=True))
    assert [blocks[x] for x in range(len(words))] == squared
    median_of_pairs = sorted(
        squared[x][y] for x in outputs(bundle, "santext") for y in outputs(bundle, "santext") if x < y
    )
    assert bundle.metric.median_squared == median_of_pairs[(len(median_of_pairs) - 1) // 2]
    for exact, rounded_down in zip(squared, bundle.metric.scaled(np.array(squared)).tolist(), strict=True):
        for square, distance in zip(exact, rounded_down, strict=True):
            assert Fraction(distance) ** 2 <= Fraction(square, bundle.metric.median_squared)
            assert distance == pytest.approx(math.sqrt(square / bundle.metric.median_squared), rel=1e-13, abs=0)
