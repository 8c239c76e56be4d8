"""FBDD by its parts: uniforms, noise, the nearest output, and the distribution that they make."""

import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import faulty_fbdd
import numpy as np
import pytest
import small_bundles
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta, gamma, kstest, norm
from textveil import Sanitizer
from textveil.bundle.text_bundle import TextBundle
from textveil.mechanisms import entropy
from textveil.mechanisms.baselines import fbdd
from textveil.mechanisms.baselines.fbdd import (
    MAX_FBDD_EPSILON,
    Fbdd,
    convert_to_uniform,
    count_words_per_point,
    draw_laplace_noise,
)
from textveil.mechanisms.baselines.table import SANTEXT_OUTPUT_ROLE

Floats = NDArray[np.float64]

#: Probability with which any one test of chance below rejects a faultless distribution.
SIGNIFICANCE = 1e-9
POINTS = 50_000


# --- uniforms ------------------------------------------------------------------------------------------------------


def test_uniforms_are_multiples_of_two_to_the_minus_53_above_zero() -> None:
    words = np.array([0, 1, 2**11 - 1, 2**11, 2**63, 2**64 - 2**11, 2**64 - 1], np.uint64)
    step = 2.0**-53
    assert convert_to_uniform(words).tolist() == [step, step, step, 2 * step, 0.5 + step, 1.0, 1.0]


@given(st.integers(0, 2**64 - 1))
def test_a_uniform_is_its_word(word: int) -> None:
    assert Fraction(float(convert_to_uniform(np.array([word], np.uint64))[0])) == Fraction((word >> 11) + 1, 2**53)


# --- the noise -----------------------------------------------------------------------------------------------------


def is_laplace(noise: Floats) -> bool:
    """Whether points could have density proportional to ``exp(-|z|)``: radius, direction, and no tie between them.

    The radius is Gamma(n). Each coordinate ``u`` of the direction, and ``u`` along a slanted axis, has ``u^2`` from
    Beta(1/2, (n - 1) / 2) and either sign; means of products of two coordinates are 0; radius and direction are
    uncorrelated. Each test is at ``SIGNIFICANCE``.
    """
    n = noise.shape[1]
    radius = np.linalg.norm(noise, axis=1)
    tests = [kstest(radius, gamma(n).cdf).pvalue]
    direction = noise / radius[:, None]
    slanted = direction @ np.arange(1, n + 1) / np.linalg.norm(np.arange(1, n + 1))
    for along in (*direction.T[:4], *direction.T[-2:], slanted):
        if n > 1:
            tests.append(kstest(along**2, beta(0.5, (n - 1) / 2).cdf).pvalue)
        tests.append(2 * norm.sf(abs(along.sum()) / np.sqrt((along**2).sum())))
        tests.append(2 * norm.sf(abs((along * (radius - n)).sum()) / np.sqrt(((along * (radius - n)) ** 2).sum())))
    for i, j in ((0, 1), (0, n // 2), (n // 2, n - 1), (n - 2, n - 1)):
        if 0 <= i < j < n:
            product = direction[:, i] * direction[:, j]
            tests.append(2 * norm.sf(abs(product.sum()) / np.sqrt((product**2).sum())))
    return min(tests) > SIGNIFICANCE


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 7, 50])
def test_the_noise_is_what_it_should_be(dimension: int) -> None:
    assert is_laplace(draw_laplace_noise(POINTS, dimension, entropy.random_uint64))


def test_the_noise_in_many_dimensions() -> None:
    noise = np.concatenate([draw_laplace_noise(2_000, 384, entropy.random_uint64) for _ in range(5)])
    assert is_laplace(noise)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [3, 7])
@pytest.mark.parametrize("fault", [fault for fault in faulty_fbdd.NOISE if fault != "3 % too small"])
def test_a_fault_in_the_noise_is_seen(fault: str, dimension: int) -> None:
    assert not is_laplace(faulty_fbdd.laplace_noise(fault)(POINTS, dimension, entropy.random_uint64))


@pytest.mark.parametrize("dimension", [1, 2, 3, 6])
@pytest.mark.parametrize("word", [0, 2**64 - 1, 2**63])
def test_extreme_words_give_finite_noise(dimension: int, word: int) -> None:
    noise = draw_laplace_noise(3, dimension, lambda count: np.full(count, word, np.uint64))
    assert noise.shape == (3, dimension)
    assert np.isfinite(noise).all()
    if word == 2**64 - 1:
        assert not noise.any()


@pytest.mark.parametrize("dimension", [1, 2, 5, 384])
def test_words_are_taken_in_fixed_number_and_once(dimension: int) -> None:
    """Two points are the two halves of the words: what one takes the other does not see."""
    asked: list[int] = []
    stream = np.random.default_rng(2).integers(0, 2**64, 2 * count_words_per_point(dimension), dtype=np.uint64)

    def words(count: int) -> NDArray[np.uint64]:
        asked.append(count)
        return stream[:count]

    both = draw_laplace_noise(2, dimension, words)
    second = draw_laplace_noise(1, dimension, lambda count: stream[-count:])
    assert asked == [2 * count_words_per_point(dimension)]
    assert np.array_equal(both[1:], second)


# --- the nearest output --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> TextBundle:
    folder = tmp_path_factory.mktemp("bundles") / "bundle"
    return small_bundles.small_bundle(folder, small_bundles.scattered(60, 3, seed=7), k=4, exponents=("2",))


@pytest.fixture(scope="module")
def lattice(tmp_path_factory: pytest.TempPathFactory) -> TextBundle:
    folder = tmp_path_factory.mktemp("bundles") / "bundle"
    return small_bundles.small_bundle(folder, small_bundles.lattice(), k=4, exponents=("2",))


def law_of(bundle: TextBundle, epsilon: float | str = 1) -> Fbdd:
    return Fbdd.from_table(bundle.table, bundle.metric, Decimal(str(epsilon)))


def nearest_by_hand(bundle: TextBundle, point: list[Fraction]) -> int:
    """Return the nearest output in exact fractions; ``min`` gives the first, which has the smallest id."""
    assert bundle.metric is not None
    rows = bundle.metric.rows.tolist()
    outputs = [y for y, role in enumerate(bundle.table.roles.tolist()) if role & SANTEXT_OUTPUT_ROLE]
    return min(outputs, key=lambda y: sum((a - b) ** 2 for a, b in zip(point, rows[y], strict=True)))


@given(point=st.lists(st.integers(-260, 260), min_size=3, max_size=3), halves=st.integers(0, 2))
@example(point=[0, 0, 0], halves=1)
def test_ties_go_to_the_smallest_id(lattice: TextBundle, point: list[int], halves: int) -> None:
    """On the lattice's own corners, edges and faces, where up to eight outputs are equally near."""
    place = [Fraction(coordinate, 1 << halves) for coordinate in point]
    found = law_of(lattice).outputs.find_nearest(np.array([[float(coordinate) for coordinate in place]]), 1.0)
    assert found.tolist() == [nearest_by_hand(lattice, place)]


@given(point=st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3), scale=st.floats(1e-3, 1e3))
def test_the_nearest_output_is_nearest(bundle: TextBundle, point: list[float], scale: float) -> None:
    """By distance in exact fractions; a point so close to a border that double precision cannot tell is let pass."""
    assert bundle.metric is not None
    place = [Fraction(coordinate) / Fraction(scale) for coordinate in point]
    found = int(law_of(bundle).outputs.find_nearest(np.array([point]), scale)[0])
    right = nearest_by_hand(bundle, place)
    rows = bundle.metric.rows.tolist()
    far, near = (sum((a - b) ** 2 for a, b in zip(place, rows[y], strict=True)) for y in (found, right))
    assert far - near <= Fraction(1, 10**12) * (sum(a * a for a in place) + 10**5)
    assert found in law_of(bundle).outputs.ids


def close_calls(bundle: TextBundle) -> tuple[Floats, NDArray[np.int64]]:
    """Points just inside the cell of an output, and that output: single precision is wrong about half of them."""
    assert bundle.metric is not None
    outputs = law_of(bundle).outputs
    rows = outputs.rows
    chance = np.random.default_rng(3)
    first, second = chance.integers(0, len(rows), (2, 4000))
    first, second = first[first != second], second[first != second]
    middle, step = (rows[first] + rows[second]) / 2, rows[first] - rows[second]
    aside = chance.normal(0, 30, step.shape)
    aside -= (aside * step).sum(axis=1, keepdims=True) / (step**2).sum(axis=1, keepdims=True) * step
    points = middle + aside + 1e-9 * step
    distances = ((points[:, None, :] - rows) ** 2).sum(axis=2)
    bordering = np.diff(np.sort(distances, axis=1)[:, :2])[:, 0] < 1e-3
    bordering &= distances.argmin(axis=1) == first
    return points[bordering], outputs.ids[first[bordering]].astype(np.int64)


def test_the_nearest_is_found_at_the_border_of_a_cell(bundle: TextBundle) -> None:
    points, right = close_calls(bundle)
    assert len(points) > 50
    assert np.array_equal(law_of(bundle).outputs.find_nearest(0.1 * points, 0.1), right)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 1, 40, MAX_FBDD_EPSILON])
def test_many_outputs_in_many_dimensions(epsilon: float, tmp_path: Path) -> None:
    """Against one product in double precision, at every size of the noise."""
    wide = small_bundles.small_bundle(tmp_path / "b", small_bundles.scattered(900, 60, seed=8), k=2, exponents=("2",))
    assert wide.metric is not None
    outputs = law_of(wide).outputs
    scale = epsilon / float(np.sqrt(wide.metric.median_squared))
    points = draw_laplace_noise(3_000, 60, entropy.random_uint64) + scale * wide.metric.rows[np.arange(3_000) % 901]
    rows = outputs.rows
    scores = points @ rows.T - scale / 2 * (rows**2).sum(axis=1)
    clear = np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0] > 1e-10 * np.abs(scores).max(axis=1)
    assert clear.mean() > 0.99
    found = outputs.find_nearest(points, scale)
    assert np.array_equal(found[clear], outputs.ids[scores.argmax(axis=1)][clear])


# --- the distribution ------------------------------------------------------------------------------------------------


def test_outputs_are_outputs(bundle: TextBundle) -> None:
    """Every output comes out, and nothing else does, for words that are outputs, that are not, and ``<unk>``."""
    allowed = set(np.flatnonzero(bundle.table.roles & SANTEXT_OUTPUT_ROLE).tolist())
    assert len(allowed) < bundle.symbol_count
    inputs = np.repeat(np.arange(bundle.symbol_count + 1), 500)
    assert set(law_of(bundle, 8).draw_symbols(inputs, entropy.random_uint64).tolist()) == allowed


def test_little_noise_keeps_the_word_and_much_noise_forgets_it(bundle: TextBundle) -> None:
    outputs = law_of(bundle).outputs.ids.astype(np.int64)
    assert np.array_equal(law_of(bundle, MAX_FBDD_EPSILON).draw_symbols(outputs, entropy.random_uint64), outputs)
    stream = np.random.default_rng(4).integers(0, 2**64, 100_000, dtype=np.uint64)
    for epsilon in ("1e-300", "5e-324"):
        ends = [
            law_of(bundle, epsilon).draw_symbols(np.full(500, x), lambda count: stream[:count]) for x in outputs[:3]
        ]
        assert np.array_equal(ends[0], ends[1])
        assert np.array_equal(ends[0], ends[2])


def test_blocks_change_nothing(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words give the same outputs whether tokens are drawn one by one, in blocks or at once."""
    inputs = np.random.default_rng(5).integers(0, bundle.symbol_count + 1, 200)

    def drawn() -> list[int]:
        chance = np.random.default_rng(6)
        return law_of(bundle, 3).draw_symbols(inputs, lambda n: chance.integers(0, 2**64, n, dtype=np.uint64)).tolist()

    whole = drawn()
    for words in (1, 70, 700):
        monkeypatch.setattr(fbdd, "_BLOCK_WORDS", words)
        assert drawn() == whole
    monkeypatch.setattr(fbdd, "_BLOCK_SCORES", 1)
    assert drawn() == whole
    assert law_of(bundle, 3).draw_symbols(np.array([], np.int64), entropy.random_uint64).tolist() == []


def test_laws_of_a_bundle_share_their_matrix(bundle: TextBundle) -> None:
    assert law_of(bundle, 1).outputs is law_of(bundle, 2).outputs


def test_the_words_come_from_the_system(tiny: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed number of bytes per token, and the same bytes give the same text whatever numpy's own state is."""
    texts = ["The doctor and zzz", "", "nurse, 17"]
    assert tiny.bundle.metric is not None
    dimension = tiny.bundle.metric.rows.shape[1]
    written = []
    for seed in (1, 2):
        np.random.seed(seed)
        asked: list[int] = []
        chance = np.random.default_rng(7)

        def scripted(count: int, asked: list[int] = asked, chance: np.random.Generator = chance) -> bytes:
            asked.append(count)
            return chance.bytes(count)

        monkeypatch.setattr(os, "urandom", scripted)
        before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
        written.append([result.text for result in tiny.sanitize_batch(texts, mechanism="fbdd", epsilon=3)])
        assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]
        assert sum(asked) == 6 * 8 * count_words_per_point(dimension)
    assert written[0] == written[1]
