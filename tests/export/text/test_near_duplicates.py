"""The metric on public vectors: rounding, merging, the scale, and the position of ``<unk>``."""

import numpy as np
import pytest
from textveil_export.errors import SourceError
from textveil_export.text.near_duplicates import _SAMPLED_PAIRS, _estimate_median, _sample_pairs, merge_near_duplicates
from textveil_export.text.neighbors import find_nearest_outputs
from textveil_export.text.quantize import place_unknown, quantize_rows, quantize_vectors


def test_one_step_for_the_whole_matrix():
    rows = quantize_vectors(np.array([[1.0, -2.0], [0.5, 0.0]], np.float32))
    assert rows.dtype == np.int8
    assert rows.tolist() == [[64, -127], [32, 0]]


def test_one_step_for_each_row():
    vectors = np.array([[1.0, -2.0], [0.5, 0.25], [0.0, 0.0]], np.float32)
    rows, steps = quantize_rows(vectors)
    assert rows.dtype == np.int8
    assert rows.tolist() == [[64, -127], [127, 64], [0, 0]]
    assert steps.dtype == np.float32
    assert steps.ravel().tolist() == [np.float32(2 / 127), np.float32(0.5 / 127), 1]


def test_vectors_that_are_all_zero():
    with pytest.raises(SourceError, match="all zero"):
        quantize_vectors(np.zeros((3, 2), np.float32))


def test_near_duplicates_join_the_most_frequent_representative():
    rng = np.random.default_rng(0)
    rows = rng.integers(-127, 128, (60, 20)).astype(np.int8)
    rows[7] = rows[3]
    rows[9, 1:] = rows[3, 1:]  # close to 3 and to 7, which is not a representative
    rows[9, 0] = rows[3, 0] + (1 if rows[3, 0] < 0 else -1)
    kept, merged = merge_near_duplicates(rows)
    assert merged == {7: 3, 9: 3}
    assert kept == [i for i in range(60) if i not in (7, 9)]


def test_a_chain_is_not_one_symbol():
    """Greedy representatives: what is close to a merged word, but not to its representative, stays."""
    rng = np.random.default_rng(0)
    rows = rng.integers(-100, 101, (60, 20)).astype(np.int8)
    step = int(0.08 * np.sqrt(_estimate_median(rows)))
    for place, word in enumerate((10, 20, 30)):
        rows[word] = rows[10]
        rows[word, 0] = -100 + place * step
    _, merged = merge_near_duplicates(rows)
    assert merged == {20: 10}


@pytest.mark.parametrize("count", [2, 3, 24, 61])
def test_the_sampled_median_of_few_words_is_that_of_the_sampled_pairs(count):
    rows = np.random.default_rng(count).integers(-127, 128, (count, 3)).astype(np.int8)
    first, second = _sample_pairs(count)
    assert len(first) > _SAMPLED_PAIRS // 3
    squares = ((rows[first].astype(np.int64) - rows[second]) ** 2).sum(axis=1)
    assert _estimate_median(rows) == np.median(squares)


def test_the_unknown_word_is_one_unit_away_from_others():
    rows = np.random.default_rng(0).integers(-127, 128, (50, 30)).astype(np.int8)
    _, _, median = find_nearest_outputs(rows, np.arange(50), 1)
    row, extra = place_unknown(rows, median)
    squared = ((rows.astype(int) - row) ** 2).sum(1) + extra
    assert extra > 0
    assert int(np.median(squared)) == median


def test_unknown_words_need_no_extra_coordinate_where_the_mean_is_far():
    rows = np.array([[127, 0], [0, 127], [-127, -127]], np.int8)
    assert place_unknown(rows, 100)[1] == 0
