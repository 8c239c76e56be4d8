"""The parts of a table of SanText against the plainest implementation of what they claim.

Neighbors against a full sort, scores against ``math.isqrt``, distances against Python's integers, weights against 300
bits. What could go wrong: ties that drop a neighbor, a float that rounds where an integer was promised.
"""

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import small_bundles
from defined_weights import outputs, squared_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from numpy.typing import NDArray
from textveil import Sanitizer
from textveil.mechanisms import metric
from textveil.mechanisms.baselines.table import SanTextTable
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import compute_scores
from textveil_export.errors import ExportError
from textveil_export.text.level_weights import GRID, LevelSetting, compute_score_weights, make_level_parameters
from textveil_export.text.neighbors import find_nearest_outputs


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
    near, squares, median = find_nearest_outputs(np.array(rows, dtype=np.int8), np.array(candidates), k)
    assert (near.tolist(), squares.tolist(), median) == naive_nearest(rows, candidates, k)


def test_neighbors_across_blocks() -> None:
    """More rows than one block of the distance matrix, on a lattice where ties cross its edge."""
    generator = np.random.default_rng(31)
    rows = generator.integers(-3, 4, (2 * metric.BLOCK + 7, 3)).astype(np.int8)
    candidates = np.flatnonzero(generator.random(len(rows)) < 0.7)
    near, squares, median = find_nearest_outputs(rows, candidates, 12)
    assert (near.tolist(), squares.tolist(), median) == naive_nearest(rows.tolist(), candidates.tolist(), 12)


def test_k_outside_its_range_is_refused() -> None:
    rows = np.array([[0], [1], [5]], dtype=np.int8)
    for k in (0, 3):
        with pytest.raises(ExportError):
            find_nearest_outputs(rows, np.array([0, 2]), k)


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
            [
                part
                for _, part in metric.iterate_squared_distances(np.array(rows, np.int8), np.array(rows, np.int8), block)
            ]
        )
        assert found.tolist() == [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]


@pytest.mark.parametrize("dimension", [1039, 1040, 1041, 1042])
def test_squared_distances_at_the_limit_of_float32(dimension: int) -> None:
    """``dimension * 127**2`` crosses ``2**24`` at 1041: below it float32 holds every sum, above it float64 must."""
    rows = np.full((4, dimension), 127, dtype=np.int8)
    rows[1], rows[2, ::2], rows[3, 0] = -127, 126, 126
    integers = rows.astype(object)
    expected = [[int(((x - y) ** 2).sum()) for y in integers] for x in integers]
    ((_, found),) = metric.iterate_squared_distances(rows, rows)
    assert found.tolist() == expected


def test_single_precision_beyond_its_limit_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same check on a copy that always uses float32 fails: the sums there are really needed."""
    rows = np.full((2, 3001), 127, dtype=np.int8)
    rows[1, 0] = 126
    ((_, right),) = metric.iterate_squared_distances(rows, rows)
    monkeypatch.setattr(metric, "np", SimpleNamespace(**{**vars(np), "float64": np.float32}))
    ((_, wrong),) = metric.iterate_squared_distances(rows, rows)
    assert right.tolist() == [[0, 1], [1, 0]]
    assert wrong.tolist() != right.tolist()


@pytest.mark.parametrize(
    "geometry", [small_bundles.twins(26, 8, 22), small_bundles.lattice(), small_bundles.outlier(24, 23)]
)
def test_distances_of_the_statement(tmp_path: Path, geometry: NDArray[np.int64]) -> None:
    """``Sanitizer.distance`` and ``WordMetric`` give the metric of the mechanism, ``<unk>`` included, in its unit."""
    bundle = small_bundles.small_bundle(tmp_path / "bundle", geometry, k=2, exponents=("2",))
    assert bundle.metric is not None
    squared, sanitizer = list(map(list, squared_distances(bundle))), Sanitizer(bundle)
    words, allowed = [*bundle.vocabulary, "quokka"], outputs(bundle, "santext")
    pairs = sorted(squared[x][y] for x in allowed for y in allowed if x < y)
    assert bundle.metric.median_squared == pairs[(len(pairs) - 1) // 2]
    for x, first in enumerate(words):
        for y, second in enumerate(words):
            exact = Fraction(squared[x][y], bundle.metric.median_squared)
            assert sanitizer.distance(first, second) == pytest.approx(math.sqrt(exact), rel=1e-15, abs=0)
            assert bundle.metric.compute_distance(x, y) == sanitizer.distance(first, second)
            assert Fraction(float(bundle.metric.compute_scaled(np.array([squared[x][y]]))[0])) ** 2 <= exact
    first, second = (index.ravel() for index in np.indices((len(words), len(words))))
    assert bundle.metric.compute_squared(first, second).reshape(len(words), -1).tolist() == squared


@given(
    st.lists(st.integers(0, 4 * 4096 * 127**2), min_size=1, max_size=20),
    st.integers(1, 4 * 4096 * 127**2),
    st.sampled_from([GRID, 1, 100]),
)
def test_scores_are_integer_square_roots(squared: list[int], median: int, grid: int) -> None:
    expected = [math.isqrt(square * grid * grid // median) for square in squared]
    assert compute_scores(np.array(squared), grid, median).tolist() == expected


@given(st.integers(1, 65535), st.integers(-2, 2), st.integers(1, 10**6))
def test_scores_beside_whole_numbers(root: int, offset: int, median: int) -> None:
    """Squared distances at which the score is about to change: floats would round some of them up."""
    square = max(0, -(-root * root * median // GRID**2) + offset)
    assert compute_scores(np.array([square]), GRID, median).tolist() == [math.isqrt(square * GRID * GRID // median)]


def exact_weights(exponent: Decimal, scores: list[int], shift: int) -> list[int]:
    """``round(2**shift exp(-alpha s / grid))`` from 300 bits."""
    with mp.workprec(300):
        alpha = mp.mpf(exponent.as_integer_ratio()[0]) / exponent.as_integer_ratio()[1]
        return [int(mp.nint(mp.mpf(2) ** shift * mp.exp(-alpha * s / GRID))) for s in scores]


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize(("exponent", "shift"), [("0.25", 60), ("12", 58), ("14.75", 60), ("0.001", 16)])
def test_every_weight_of_a_long_table(exponent: str, shift: int) -> None:
    """All 20,000 scores: an error of the running product would have grown by the last one."""
    weights = compute_score_weights(Decimal(exponent), 20_000, shift)
    assert weights[0] == 1 << shift
    assert weights.tolist() == exact_weights(Decimal(exponent), list(range(20_001)), shift)


@given(st.decimals(Decimal("0.01"), 40, places=3), st.integers(8, 60), st.integers(0, 400))
@settings(max_examples=30)
def test_any_weights(exponent: Decimal, shift: int, largest: int) -> None:
    weights = compute_score_weights(exponent, largest, shift)
    assert weights.tolist() == exact_weights(exponent, list(range(largest + 1)), shift)


@pytest.mark.full
@pytest.mark.slow
@given(
    st.decimals(Decimal("0.25"), 40, places=2),
    st.lists(st.integers(0, 16_000), min_size=1, max_size=5),
    st.integers(1, 50_000),
    st.integers(1, 256),
    st.sampled_from([None, 1, 255, 65_535, 4_000_000_000]),
)
@settings(max_examples=60)
def test_level_weights_use_the_room_there_is(
    exponent: Decimal, tails: list[int], symbols: int, k: int, largest_base: int | None
) -> None:
    """Totals stay below ``MAX_TOTAL`` for every row, the smallest weight keeps its bits, and a larger scale fails."""
    base = None if largest_base is None else np.full(symbols, largest_base, dtype=np.uint32)
    scores = np.repeat(np.array(tails, dtype=np.uint16)[:, None], k, axis=1)
    table = SanTextTable(
        neighbors=np.zeros((1, k), np.uint16), scores=scores, roles=np.ones(symbols, np.uint8), grid=GRID, tensors={}
    )
    last, smallest = max(tails) + 500, 1 << 12

    def largest_total(scale: int) -> int:
        of_tail, of_zero = exact_weights(exponent, [min(tails), 0], scale)
        return (of_tail * symbols + of_zero * k) * (largest_base or 1)

    room = max(scale for scale in range(61) if scale == 0 or largest_total(scale) < MAX_TOTAL * (1 - 1e-8) - symbols)
    try:
        law = make_level_parameters(table, LevelSetting(exponent, base), last)
    except ExportError:
        assert exact_weights(exponent, [last], room)[0] <= smallest * (1 + 1e-8) or room < 16
        return
    scale = int(law.weights[0]).bit_length() - 1
    some = [*range(0, last, 50), last]
    assert law.weights[some].tolist() == exact_weights(exponent, some, scale)
    assert len(law.weights) == last + 1
    assert law.exponent == exponent
    assert law.weights[-1] >= smallest
    assert largest_total(scale) < MAX_TOTAL
    assert scale >= room
