"""Merge words with nearly equal vectors, such as variants of case or spelling, into one vocabulary entry."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import iterate_squared_distances

from textveil_export.parallel import BlockRunner, run_blocks, split_rows
from textveil_export.progress import Progress, ignore_progress

#: Words at a distance below this share of the median distance become one symbol.
MERGE_DISTANCE = 0.1
_SAMPLED_PAIRS = 1 << 20
_TILE = 1024  # rows and columns of a product
_FIRST = 64  # coordinates that are compared first


def merge_near_duplicates(
    rows: NDArray[np.int8], progress: Progress = ignore_progress, run: BlockRunner = run_blocks
) -> tuple[list[int], dict[int, int]]:
    """Group words with nearly equal vectors; each group becomes one entry (symbol) of the vocabulary.

    The function processes words in order of frequency. The first word of a group is its representative. A later word
    joins the group of the most frequent representative that is near enough: within ``MERGE_DISTANCE`` times the median
    distance of two words. A word without such a representative begins a group.

    Without groups the certified (proven) epsilon would be larger. It is a loss per unit of distance, and two words at
    almost no distance still differ a little in their probabilities.

    Args:
        rows: int8 rows in order of frequency, shape ``(symbols, dimension)``.
        progress: Called with the number of processed rows.
        run: Function that applies another function to blocks of rows, such as in parallel processes.

    Returns:
        Indices of the representatives in ascending order, and the representative's index by the index of each other
        word.
    """
    threshold = MERGE_DISTANCE**2 * _estimate_median(rows)
    merged: dict[int, int] = {}
    if threshold > 0:  # NaN for a single word
        spans = split_rows(len(rows))
        for (_, stop), pairs in zip(spans, run(find_close_pairs, (rows, threshold), spans), strict=True):
            for index, other in pairs.tolist():
                if other not in merged:
                    merged.setdefault(index, other)  # pairs are sorted, so the first one is the most frequent
            progress("finding near-duplicates", stop, len(rows))
    return [i for i in range(len(rows)) if i not in merged], merged


def find_close_pairs(rows: NDArray[np.int8], threshold: float, start: int, stop: int) -> NDArray[np.int64]:
    """Find pairs of rows that are closer than a threshold: a row in a block, and any row before it.

    The result is exact. The squared distance over the first coordinates is a lower bound, which excludes most pairs.

    Args:
        rows: int8 rows, shape ``(symbols, dimension)``.
        threshold: Squared distance, above 0.
        start: First row of the block.
        stop: The row after the last row of the block.

    Returns:
        Pairs of indices, the later index first, in ascending order, shape ``(pairs, 2)``.
    """
    below = math.ceil(threshold)
    first = rows[:, :_FIRST]
    blocks: list[NDArray[np.int64]] = []
    for top in range(start, stop, _TILE):
        bottom = min(top + _TILE, stop)
        left = _make_left_factor(first[top:bottom])
        for begin in range(0, bottom, _TILE):
            negative = left @ _make_right_factor(first[begin : min(begin + _TILE, bottom)]).T
            row, column = np.divmod(np.flatnonzero(negative > -below), negative.shape[1])
            later, earlier = row + top, column + begin
            before = earlier < later
            pairs = np.stack([later[before], earlier[before]], axis=1)
            blocks.append(pairs if rows.shape[1] <= _FIRST else pairs[_check_below(rows, pairs, below)])
    all_pairs = np.concatenate(blocks)
    return all_pairs[np.lexsort((all_pairs[:, 1], all_pairs[:, 0]))]


def _make_left_factor(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return ``(2 x, -|x|^2, -1)`` of each row x: its product with ``(y, 1, |y|^2)`` is ``-|x - y|^2``.

    The product is exact: for so few coordinates, float32 represents each partial sum.
    """
    norms = (rows.astype(np.int64) ** 2).sum(axis=1, keepdims=True)
    return np.hstack([2 * rows.astype(np.float32), -norms, np.full_like(norms, -1)]).astype(np.float32)


def _make_right_factor(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return ``(y, 1, |y|^2)`` of each row y, to compute squared distances of rows by a matrix product.

    Its product with the result of ``_make_left_factor`` is ``-|x - y|^2``.
    """
    norms = (rows.astype(np.int64) ** 2).sum(axis=1, keepdims=True)
    return np.hstack([rows, np.ones_like(norms), norms]).astype(np.float32)


def _check_below(rows: NDArray[np.int8], pairs: NDArray[np.int64], below: int) -> NDArray[np.bool_]:
    """Return a boolean for each pair of rows: whether its squared distance is below ``below``."""
    answers = [
        ((rows[part[:, 0]].astype(np.int64) - rows[part[:, 1]]) ** 2).sum(axis=1) < below
        for part in np.array_split(pairs, 1 + len(pairs) // _TILE)
    ]
    return np.concatenate(answers)


def _estimate_median(rows: NDArray[np.int8]) -> float:
    """Return the median squared distance over a fixed sample of pairs of rows.

    The sample is the same on each machine, and the median is precise to about three digits, enough for merging. If
    there are fewer pairs than the sample draws, each distance is computed once and weighted by its number of draws.
    """
    if len(rows) ** 2 <= _SAMPLED_PAIRS:
        distances = np.concatenate([block for _, block in iterate_squared_distances(rows, rows)]).ravel()
        order = np.argsort(distances)
        upto = np.cumsum(_count_samples(len(rows))[order])
        if not upto[-1]:
            return float("nan")  # a single word has no pairs
        middle = np.array([(upto[-1] - 1) // 2, upto[-1] // 2])
        return float(np.mean(distances[order[np.searchsorted(upto, middle, side="right")]]))
    first, second = _sample_pairs(len(rows))
    squares = [
        ((rows[a].astype(np.int64) - rows[b]) ** 2).sum(axis=1)
        for a, b in zip(np.array_split(first, 64), np.array_split(second, 64), strict=True)
    ]
    return float(np.median(np.concatenate(squares)))


def _sample_pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a fixed sample of ordered pairs of different indices below ``count``.

    Returns:
        Two arrays of one length: the first index of each pair, and the second index.
    """
    first, second = np.random.default_rng(0).integers(0, count, (2, _SAMPLED_PAIRS))
    return first[first != second], second[first != second]


@lru_cache(maxsize=8)
def _count_samples(count: int) -> NDArray[np.int64]:
    """Count how often each pair is in the sample of ``_sample_pairs``, shape ``(count * count,)``."""
    first, second = _sample_pairs(count)
    return np.bincount(first * count + second, minlength=count * count)
