"""Neighbors and near-duplicates by blocks equal their definitions, for any blocks and vectors."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil.mechanisms import iterate_squared_distances
from textveil_export.parallel import split_rows
from textveil_export.text import near_duplicates, neighbors
from textveil_export.text.near_duplicates import find_close_pairs, merge_near_duplicates


def by_definition(rows, words, k, favor):
    """Cosines in steps of 2^-20, favored words, and ties to the lower id, one row at a time."""
    norms = np.sqrt((rows.astype(np.int64) ** 2).sum(axis=1).astype(np.float64))
    inverse = np.where(norms > 0, 1 / np.maximum(norms, 1), 0)

    def steps(x, ys):
        products = rows[ys].astype(np.int64) @ rows[x].astype(np.int64)
        return np.rint(products * inverse[x] * inverse[ys] * (1 << 20)).astype(np.int64)

    favored = dict(zip(words, favor.tolist(), strict=True))
    near = []
    for x in range(len(rows)):
        others = np.array([y for y in words if y != x])
        far = -np.array([favored[y] for y in others]) - steps(x, others)
        near.append([x, *others[np.lexsort((others, far))][: k - 1].tolist()])
    return near


def vectors(seed, count, dimension, span):
    """Small integers: few values make many ties, and rows of zeros."""
    return np.random.default_rng(seed).integers(-span, span + 1, (count, dimension)).astype(np.int8)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(4, 40),
    st.integers(1, 6),
    st.sampled_from([1, 3, 127]),
    st.integers(1, 4),
    st.sampled_from([0, 0, 1 << 18]),
    st.sampled_from([3, 8, 1024]),
)
def test_neighbors_are_those_of_the_definition(seed, count, dimension, span, k, most, tile):
    rows = vectors(seed, count, dimension, span)
    words = np.flatnonzero(np.random.default_rng(seed).random(count) < 0.8)
    if k > len(words):
        words = np.arange(count)
    favor = np.random.default_rng(seed).integers(-most, most + 1, len(words))
    with patch.object(neighbors, "_TILE", tile):
        found = neighbors.find_nearest_words(rows, words, k, favor)
    assert found.tolist() == by_definition(rows, words.tolist(), k, favor)


def test_a_word_that_float32_ranks_wrongly_is_ranked_by_its_exact_cosine():
    """Cosines that differ by less than a float32 can tell, near 1."""
    rng = np.random.default_rng(1)
    rows = np.tile(rng.integers(-127, 128, 300), (400, 1)).astype(np.int8)
    for row in range(1, 400):
        places = rng.integers(0, 300, 3)
        rows[row, places] = np.clip(rows[row, places].astype(int) + rng.integers(-2, 3, 3), -127, 127)
    words, none = np.arange(400), np.zeros(400, dtype=np.int64)
    assert neighbors.find_nearest_words(rows, words, 30, none).tolist() == by_definition(rows, words.tolist(), 30, none)


def test_without_a_margin_a_nearest_word_is_missed(monkeypatch):
    """The margin is needed: with none, the same vectors give another answer."""
    sifted = neighbors._discard_distant
    monkeypatch.setattr(neighbors, "_discard_distant", lambda *a: sifted(a[0], a[1], a[2], a[3], a[4], 0.0))
    with pytest.raises((AssertionError, IndexError)):
        test_a_word_that_float32_ranks_wrongly_is_ranked_by_its_exact_cosine()


@pytest.mark.slow
def test_rows_to_which_many_words_are_equally_near_are_ranked_by_id():
    rows = np.zeros((3000, 2), dtype=np.int8)
    rows[:10, 0] = 1
    found = neighbors.find_nearest_words(rows, np.arange(3000), 4, np.zeros(3000, np.int64))
    assert found[2000].tolist() == [2000, 0, 1, 2]
    assert found[0].tolist() == [0, 1, 2, 3]


def test_blocks_do_not_change_the_neighbors():
    rows = vectors(5, 300, 20, 60)
    words, none = np.arange(300), np.zeros(300, np.int64)
    whole = neighbors.find_nearest_words(rows, words, 9, none)

    def backwards(work, shared, blocks) -> Any:
        halves = [[(a, (a + b) // 2), ((a + b) // 2, b)] for a, b in blocks]
        return iter([np.concatenate([work(*shared, *half) for half in reversed(pair)][::-1]) for pair in halves])

    assert (neighbors.find_nearest_words(rows, words, 9, none, run=backwards) == whole).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.sampled_from([1, 5, 70]), st.sampled_from([2, 30]))
def test_close_pairs_are_those_of_the_definition(seed, count, dimension, span):
    rows = vectors(seed, count, dimension, span)
    threshold = float(np.random.default_rng(seed).integers(1, 60 * dimension)) + 0.5
    ((_, squared),) = iterate_squared_distances(rows, rows, block=count)
    expected = [[x, y] for x, y in np.argwhere(squared < threshold).tolist() if y < x]
    middle = count // 2
    found = [
        pair for part in ((0, middle), (middle, count)) for pair in find_close_pairs(rows, threshold, *part).tolist()
    ]
    assert found == expected


def test_near_duplicates_are_found_in_any_blocks(monkeypatch):
    rows = vectors(2, 500, 80, 100)
    rows[400:450] = rows[:50]
    whole = merge_near_duplicates(rows)
    assert whole[1] == {400 + n: n for n in range(50)}
    monkeypatch.setattr(near_duplicates, "_TILE", 7)
    monkeypatch.setattr(near_duplicates, "split_rows", lambda count: split_rows(count, 33))
    assert merge_near_duplicates(rows) == whole
