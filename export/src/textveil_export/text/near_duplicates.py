"""Words so close to one another that they become one symbol: casing, spelling variants."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import squared_distances

from textveil_export.progress import Progress, no_progress

#: Two words closer than this share of the median distance become one symbol.
MERGE_DISTANCE = 0.1
_SAMPLED_PAIRS = 1 << 20


def merge_near_duplicates(rows: NDArray[np.int8], progress: Progress = no_progress) -> tuple[list[int], dict[int, int]]:
    """Finds words so close that they should be one symbol (casing, spelling variants).

    Greedy representatives in rank order: a word joins the most frequent earlier representative within
    ``MERGE_DISTANCE`` times the median distance, else it represents itself. Left apart, such a pair would dominate
    the certified epsilon through a small difference of its normalizers.

    Args:
        rows: int8 rows in rank order, shape ``(symbols, dimension)``.
        progress: Called with rows done.

    Returns:
        Indices of the representatives in rank order, and the representative of every other index.
    """
    threshold = MERGE_DISTANCE**2 * _sampled_median(rows)
    merged: dict[int, int] = {}
    for start, block in squared_distances(rows, rows):
        for row, near in zip(*np.nonzero(block < threshold), strict=True):
            index, other = start + int(row), int(near)
            if other < index and other not in merged:
                merged.setdefault(index, other)  # np.nonzero is in order: the first is the most frequent
        progress("finding near-duplicates", start + len(block), len(rows))
    return [i for i in range(len(rows)) if i not in merged], merged


def _sampled_median(rows: NDArray[np.int8]) -> float:
    # A fixed sample of public vectors: reproducible, and precise to three digits, enough for a merging rule.
    if len(rows) ** 2 <= _SAMPLED_PAIRS:  # fewer pairs than are sampled: each is computed once
        every = np.concatenate([block for _, block in squared_distances(rows, rows)]).ravel()
        order = np.argsort(every)
        upto = np.cumsum(_times_sampled(len(rows))[order])
        if not upto[-1]:
            return float("nan")  # one word alone: nothing is near it
        middle = np.array([(upto[-1] - 1) // 2, upto[-1] // 2])
        return float(np.mean(every[order[np.searchsorted(upto, middle, side="right")]]))
    first, second = _sampled_pairs(len(rows))
    squares = [
        ((rows[a].astype(np.int64) - rows[b]) ** 2).sum(axis=1)
        for a, b in zip(np.array_split(first, 64), np.array_split(second, 64), strict=True)
    ]
    return float(np.median(np.concatenate(squares)))


def _sampled_pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = np.random.default_rng(0).integers(0, count, (2, _SAMPLED_PAIRS))
    return first[first != second], second[first != second]


@lru_cache(maxsize=8)
def _times_sampled(count: int) -> NDArray[np.int64]:
    # How often each pair is in the sample, shape (count * count,): the same for all vocabularies of that many words.
    first, second = _sampled_pairs(count)
    return np.bincount(first * count + second, minlength=count * count)
