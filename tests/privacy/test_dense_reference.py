"""The table is SanText: a dense reference, written from the paper alone, finds the same probabilities.

Yue et al. 2021, Equation 1: ``Pr[M(x) = y]`` is proportional to ``exp(-epsilon d(x, y) / 2)`` over all outputs. The
reference below computes just that, in float64, from the rows a bundle carries. With ``k`` as large as the set of
outputs and real weights of the distances that are stored, the table must give the same to 1e-9; the integers that
ship differ by their rounding only, and by no more than follows from it. The parts are held against the plainest
implementation of what they claim: neighbors against a full sort, scores against ``math.isqrt``, distances against
Python's integers, weights against 300 bits. What could go wrong: an epsilon used without the half, a metric that is
not the one of the statement, ties that drop a neighbor, a float that rounds where an integer was promised.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import small_bundles
from defined_weights import defined_weights, outputs, squared_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from numpy.typing import NDArray
from textveil import Sanitizer
from textveil.bundle.text_bundle import Bundle
from textveil.mechanisms import metric
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import scores
from textveil.mechanisms.santext import CappedSanText, ExactSanText
from textveil.mechanisms.table import CAPPED, EXACT, LevelParameters, Table
from textveil_export.errors import ExportError
from textveil_export.text.neighbors import nearest, smallest
from textveil_export.text.weights import GRID, Setting, level_parameters, score_weights

Reals = NDArray[np.float64]

GEOMETRIES = {
    "scattered": (small_bundles.scattered(40, 16, seed=21), ("0.5", "4", "10.25")),
    "twins": (small_bundles.twins(26, 8, seed=22), ("0.5", "4", "12")),
    "lattice": (small_bundles.lattice(), ("0.5", "4", "12")),
    "outlier": (small_bundles.outlier(24, seed=23), ("0.25", "2", "3.5")),
    "clusters": (small_bundles.clusters(seed=24), ("0.5", "4", "12")),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Bundle]:
    """Bundles by geometry, ``k`` and tail; each is written once. At the largest exponents no exact tail fits."""

    @cache
    def open_bundle(geometry: str, k: int | None, tail: str = CAPPED) -> Bundle:
        vectors, exponents = GEOMETRIES[geometry]
        exponents = exponents[:2] if tail == EXACT else exponents
        folder: Path = tmp_path_factory.mktemp("bundles") / "bundle"
        return small_bundles.small_bundle(folder, vectors, k=k, exponents=exponents, tails=(tail,))

    return open_bundle


# The distribution.


def dense_santext(rows: Reals, allowed: list[int], epsilon: float) -> Reals:
    """Equation 1 for all inputs, shape ``(inputs, allowed)``; ``epsilon`` is per unit of the rows."""
    distances = np.sqrt(((rows[:, None] - rows[allowed][None]) ** 2).sum(axis=2))
    likelihood = np.exp(-0.5 * epsilon * distances)
    return likelihood / likelihood.sum(axis=1, keepdims=True)


def scaled_rows(bundle: Bundle) -> Reals:
    """The shipped rows in units of the median distance, with the coordinate that only ``<unk>`` has."""
    assert bundle.metric is not None
    rows = np.zeros((bundle.symbols + 1, bundle.metric.rows.shape[1] + 1))
    rows[:, :-1] = bundle.metric.rows
    rows[-1, -1] = math.sqrt(bundle.metric.unknown_extra)
    return rows / math.sqrt(bundle.metric.median_squared)


def unrounded_law(bundle: Bundle, mechanism: str, exponent: float) -> Reals:
    """The table's distribution in real numbers: stored neighbors, their distances, one tail for everything else."""
    squared = np.array(squared_distances(bundle), dtype=np.float64)
    allowed = outputs(bundle, mechanism)
    weights = np.zeros((bundle.symbols + 1, bundle.symbols))
    for x, stored in enumerate(bundle.table.neighbors.astype(np.int64)):
        factors = np.exp(-exponent * np.sqrt(squared[x, stored] / bundle.metric.median_squared))
        weights[x, :] = factors[-1]
        weights[x, stored] = factors
    weights = weights[:, allowed]
    return weights / weights.sum(axis=1, keepdims=True)


def shipped_law(bundle: Bundle, mechanism: str, law: LevelParameters) -> Reals:
    """Probabilities of the integers that ship, each the float64 nearest to a quotient of integers."""
    rows = CappedSanText.of(bundle.table, mechanism, law).rows(np.arange(bundle.symbols + 1))
    allowed = outputs(bundle, mechanism)
    return np.array(
        [
            [weight / total for weight in rows.weights(x)[allowed].tolist()]
            for x, total in enumerate(rows.totals.tolist())
        ]
    )


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
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_whole_table_is_santext(opened: Callable[..., Bundle], geometry: str, mechanism: str) -> None:
    bundle = opened(geometry, None)
    for level in bundle.levels:
        law = level.parameters[mechanism, CAPPED]
        reference = dense_santext(scaled_rows(bundle), outputs(bundle, mechanism), 2 * float(law.exponent))
        unrounded = unrounded_law(bundle, mechanism, float(law.exponent))
        assert np.abs(unrounded - reference).max() < 1e-9
        assert relative_error(unrounded, reference) < 1e-9
        assert (
            relative_error(shipped_law(bundle, mechanism, law), reference)
            < rounding_bound(law, bundle.table.grid) + 1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
@pytest.mark.parametrize("k", [1, 5, None])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_exact_tail_is_santext_whatever_is_stored(
    opened: Callable[..., Bundle], geometry: str, k: int | None, mechanism: str
) -> None:
    bundle = opened(geometry, k, EXACT)
    allowed = outputs(bundle, mechanism)
    for level in bundle.levels:
        law = level.parameters[mechanism, EXACT]
        reference = dense_santext(scaled_rows(bundle), allowed, 2 * float(law.exponent))
        exact = ExactSanText(CappedSanText.of(bundle.table, mechanism, law), bundle.metric)
        weights = np.array(
            [exact.channel.weights_from(np.array([x]))[0][allowed] for x in range(bundle.symbols + 1)],
            dtype=np.float64,
        )
        shipped = weights / weights.sum(axis=1, keepdims=True)
        assert relative_error(shipped, reference) < rounding_bound(law, bundle.table.grid) + 1e-12
        assert relative_error(shipped, dense_santext(scaled_rows(bundle), allowed, 2.02 * float(law.exponent))) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_reference_sees_faults(opened: Callable[..., Bundle], geometry: str) -> None:
    """Epsilon off by 1 %, epsilon without the half, one unit of distance 1 % off, or a capped row."""
    bundle = opened(geometry, None)
    law = bundle.levels[1].parameters["santext", CAPPED]
    shipped, allowed = shipped_law(bundle, "santext", law), outputs(bundle, "santext")
    rows, epsilon = scaled_rows(bundle), 2 * float(law.exponent)
    for fault in (
        dense_santext(rows, allowed, 1.01 * epsilon),
        dense_santext(rows, allowed, epsilon / 2),
        dense_santext(rows * 0.99, allowed, epsilon),
        shipped_law(opened(geometry, 3), "santext", law),
    ):
        assert relative_error(shipped, fault) > 5 * rounding_bound(law, bundle.table.grid)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
@pytest.mark.parametrize("k", [1, 2, 5, 9])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_capped_rows(opened: Callable[..., Bundle], geometry: str, k: int, mechanism: str) -> None:
    """With fewer neighbors: the real distribution within the same bound, and the integers as they are defined."""
    bundle = opened(geometry, k)
    squared = np.array(squared_distances(bundle), dtype=np.float64) / bundle.metric.median_squared
    candidates, allowed = outputs(bundle, "santext"), outputs(bundle, mechanism)
    cap = np.sort(squared[:, candidates], axis=1)[:, k - 1]
    for level in bundle.levels:
        law = level.parameters[mechanism, CAPPED]
        likelihood = np.exp(-float(law.exponent) * np.sqrt(np.minimum(squared[:, allowed], cap[:, None])))
        reference = likelihood / likelihood.sum(axis=1, keepdims=True)
        assert relative_error(unrounded_law(bundle, mechanism, float(law.exponent)), reference) < 1e-9
        assert (
            relative_error(shipped_law(bundle, mechanism, law), reference)
            < rounding_bound(law, bundle.table.grid) + 1e-12
        )
        rows = CappedSanText.of(bundle.table, mechanism, law).rows(np.arange(bundle.symbols + 1))
        by_definition = defined_weights(bundle, mechanism, law)
        assert [rows.weights(x).tolist() for x in range(len(by_definition))] == by_definition


def test_one_neighbor_is_uniform_noise(opened: Callable[..., Bundle]) -> None:
    """``k = 1`` makes all rows alike: the base measure, whatever the word."""
    bundle = opened("scattered", 1)
    assert np.ptp(shipped_law(bundle, "santext", bundle.levels[1].parameters["santext", CAPPED])) == 0


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_distances_of_the_statement(opened: Callable[..., Bundle], geometry: str) -> None:
    """``Sanitizer.distance`` and ``Metric`` give the metric of the mechanism, ``<unk>`` included."""
    bundle = opened(geometry, 2)
    assert bundle.metric is not None
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


# The parts.


def naive_nearest(rows: list[list[int]], candidates: list[int], k: int) -> tuple[list[list[int]], list[list[int]], int]:
    """Every row's candidates sorted by (distance, id), and the lower median over pairs of two candidates."""
    near, squares = [], []
    for x in rows:
        order = sorted((sum((a - b) ** 2 for a, b in zip(x, rows[y], strict=True)), y) for y in candidates)[:k]
        near.append([y for _, y in order])
        squares.append([square for square, _ in order])
    pairs = sorted(
        sum((a - b) ** 2 for a, b in zip(rows[x], rows[y], strict=True))
        for x in candidates
        for y in candidates
        if x < y
    )
    return near, squares, pairs[(len(pairs) - 1) // 2]


@given(st.data())
def test_neighbors_are_those_of_a_full_sort(data: st.DataObject) -> None:
    """Coordinates of a few values, so that most distances tie; ties go to the smaller id."""
    largest = data.draw(st.sampled_from([1, 2, 127]))
    count, dimension = data.draw(st.integers(2, 14)), data.draw(st.integers(1, 4))
    rows = data.draw(
        st.lists(
            st.lists(st.integers(-largest, largest), min_size=dimension, max_size=dimension),
            min_size=count,
            max_size=count,
        )
    )
    candidates = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=2)))
    k = data.draw(st.integers(1, len(candidates)))
    near, squares, median = nearest(np.array(rows, dtype=np.int8), np.array(candidates), k)
    assert (near.tolist(), squares.tolist(), median) == naive_nearest(rows, candidates, k)


def test_neighbors_across_blocks() -> None:
    """More rows than one block of the distance matrix, on a lattice where ties cross its edge."""
    generator = np.random.default_rng(31)
    rows = generator.integers(-3, 4, (2 * metric.BLOCK + 7, 3)).astype(np.int8)
    candidates = np.flatnonzero(generator.random(len(rows)) < 0.7)
    near, squares, median = nearest(rows, candidates, 12)
    assert (near.tolist(), squares.tolist(), median) == naive_nearest(rows.tolist(), candidates.tolist(), 12)


def test_ties_broken_another_way_are_seen() -> None:
    """The sort that the neighbors are held against does see a table that orders ties by the larger id."""
    rows = np.array([[0], [1], [-1], [1], [3]], dtype=np.int8)
    candidates = np.arange(5)
    ((_, squared),) = metric.squared_distances(rows, rows)

    def faulty(squared: NDArray[np.int64], candidates: NDArray[np.int64], k: int) -> tuple[NDArray[Any], ...]:
        """Orders ties by the larger id: the columns are handed over in reverse."""
        return smallest(squared[:, ::-1], candidates[::-1], k)

    right = naive_nearest(rows.tolist(), candidates.tolist(), 2)
    assert smallest(squared, candidates, 2)[0].tolist() == right[0]
    assert faulty(squared, candidates, 2)[0].tolist() != right[0]


def test_k_outside_its_range_is_refused() -> None:
    rows = np.array([[0], [1], [5]], dtype=np.int8)
    for k in (0, 3):
        with pytest.raises(ExportError):
            nearest(rows, np.array([0, 2]), k)


@given(
    st.integers(1, 2048).flatmap(
        lambda dimension: st.tuples(
            st.lists(
                st.lists(st.sampled_from([-127, -126, -64, -1, 0, 1, 63, 126, 127]), min_size=16, max_size=16),
                min_size=1,
                max_size=5,
            ),
            st.just(dimension),
        )
    )
)
@settings(max_examples=40)
def test_squared_distances_are_integers(drawn: tuple[list[list[int]], int]) -> None:
    """Matrix products in floating point, and exact: dimensions on both sides of float32's limit, largest sums."""
    patterns, dimension = drawn
    rows = [(pattern * (dimension // 16 + 1))[:dimension] for pattern in patterns]
    for block in (1, 2, metric.BLOCK):
        found = np.concatenate(
            [part for _, part in metric.squared_distances(np.array(rows, np.int8), np.array(rows, np.int8), block)]
        )
        assert found.tolist() == [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]


@pytest.mark.parametrize("dimension", [1039, 1040, 1041, 1042])
def test_squared_distances_at_the_limit_of_float32(dimension: int) -> None:
    """``dimension * 127**2`` crosses ``2**24`` at 1041: below it float32 holds every sum, above it float64 must."""
    rows = np.full((4, dimension), 127, dtype=np.int8)
    rows[1], rows[2, ::2], rows[3, 0] = -127, 126, 126
    integers = rows.astype(object)
    expected = [[int(((x - y) ** 2).sum()) for y in integers] for x in integers]
    ((_, found),) = metric.squared_distances(rows, rows)
    assert found.tolist() == expected


def test_single_precision_beyond_its_limit_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same check on a copy that always uses float32 fails: the sums there are really needed."""
    rows = np.full((2, 3001), 127, dtype=np.int8)
    rows[1, 0] = 126
    ((_, right),) = metric.squared_distances(rows, rows)
    monkeypatch.setattr(metric, "np", SimpleNamespace(**{**vars(np), "float64": np.float32}))
    ((_, wrong),) = metric.squared_distances(rows, rows)
    assert right.tolist() == [[0, 1], [1, 0]]
    assert wrong.tolist() != right.tolist()


@given(
    st.lists(st.integers(0, 4 * 4096 * 127**2), min_size=1, max_size=20),
    st.integers(1, 4 * 4096 * 127**2),
    st.sampled_from([GRID, 1, 100]),
)
def test_scores_are_integer_square_roots(squared: list[int], median: int, grid: int) -> None:
    expected = [math.isqrt(square * grid * grid // median) for square in squared]
    assert scores(np.array(squared), grid, median).tolist() == expected


@given(st.integers(1, 65535), st.integers(-2, 2), st.integers(1, 10**6))
def test_scores_beside_whole_numbers(root: int, offset: int, median: int) -> None:
    """Squared distances at which the score is about to change: floats would round some of them up."""
    square = max(0, -(-root * root * median // GRID**2) + offset)
    assert scores(np.array([square]), GRID, median).tolist() == [math.isqrt(square * GRID * GRID // median)]


def test_scores_by_float_are_seen() -> None:
    """``floor(grid * sqrt(d2 / median))`` in float64 is one too small where the root is whole: so the code is not."""
    squared = np.arange(1, 200) ** 2 * 49
    exact = scores(squared, 3, 49)
    assert exact.tolist() == [3 * n for n in range(1, 200)]
    assert np.floor(3 * np.sqrt(squared * (1 / 49))).astype(np.int64).tolist() != exact.tolist()


def exact_weights(exponent: Decimal, scores: list[int], shift: int) -> list[int]:
    """``round(2**shift exp(-alpha s / grid))`` from 300 bits."""
    with mp.workprec(300):
        alpha = mp.mpf(exponent.as_integer_ratio()[0]) / exponent.as_integer_ratio()[1]
        return [int(mp.nint(mp.mpf(2) ** shift * mp.exp(-alpha * s / GRID))) for s in scores]


@pytest.mark.slow
@pytest.mark.parametrize(("exponent", "shift"), [("0.25", 60), ("12", 58), ("14.75", 60), ("0.001", 16)])
def test_every_weight_of_a_long_table(exponent: str, shift: int) -> None:
    """All 20,000 scores: an error of the running product would have grown by the last one."""
    weights = score_weights(Decimal(exponent), 20_000, shift)
    assert weights[0] == 1 << shift
    assert weights.tolist() == exact_weights(Decimal(exponent), list(range(20_001)), shift)


@given(st.decimals(Decimal("0.01"), 40, places=3), st.integers(8, 60), st.integers(0, 400))
@settings(max_examples=30)
def test_any_weights(exponent: Decimal, shift: int, largest: int) -> None:
    weights = score_weights(exponent, largest, shift)
    assert weights.tolist() == exact_weights(exponent, list(range(largest + 1)), shift)


@pytest.mark.slow
@given(
    st.decimals(Decimal("0.25"), 40, places=2),
    st.lists(st.integers(0, 16_000), min_size=1, max_size=5),
    st.integers(1, 50_000),
    st.integers(1, 256),
    st.sampled_from([None, 1, 255, 65_535, 4_000_000_000]),
    st.sampled_from([CAPPED, EXACT]),
)
@settings(max_examples=60)
def test_level_weights_use_the_room_there_is(
    exponent: Decimal, tails: list[int], symbols: int, k: int, largest_base: int | None, tail: str
) -> None:
    """Totals stay below ``MAX_TOTAL`` for every row, the smallest weight keeps its bits, and a larger scale fails."""
    base = None if largest_base is None else np.full(symbols, largest_base, dtype=np.uint32)
    scores = np.repeat(np.array(tails, dtype=np.uint16)[:, None], k, axis=1)
    table = Table(np.zeros((1, k), np.uint16), scores, np.ones(symbols, np.uint8), GRID, {})
    last, smallest = (max(tails) + 500, 1 << 12) if tail == EXACT else (max(tails), 1 << 16)

    def largest_total(scale: int) -> int:
        of_tail, of_zero = exact_weights(exponent, [min(tails), 0], scale)
        return (of_tail * symbols + of_zero * k) * (largest_base or 1)

    room = max(scale for scale in range(61) if scale == 0 or largest_total(scale) < MAX_TOTAL * (1 - 1e-8) - symbols)
    try:
        law = level_parameters(table, tail, Setting(exponent, base), last)
    except ExportError:
        assert exact_weights(exponent, [last], room)[0] <= smallest * (1 + 1e-8) or room < 16
        return
    scale = int(law.weights[0]).bit_length() - 1
    some = [*range(0, last, 50), last]
    assert law.weights[some].tolist() == exact_weights(exponent, some, scale)
    assert len(law.weights) == last + 1
    assert (law.tail, law.exponent) == (tail, exponent)
    assert law.weights[-1] >= smallest
    assert largest_total(scale) < MAX_TOTAL
    assert scale >= room
