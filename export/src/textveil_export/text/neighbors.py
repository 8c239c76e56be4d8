"""Exact nearest neighbors by brute force, in blocks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import squared_distances

from textveil_export.errors import ExportError
from textveil_export.progress import Progress, no_progress


def nearest(
    rows: NDArray[np.int8],
    candidates: NDArray[np.int64],
    k: int,
    progress: Progress = no_progress,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Finds the ``k`` candidates nearest to every row, the row itself included where it is a candidate.

    Ties are broken by id. Memory is one block of the distance matrix.

    Args:
        rows: int8 rows, shape ``(symbols, dimension)``.
        candidates: Ids (rows) that may be neighbors, ascending, shape ``(candidates,)``.
        k: Neighbors per row.
        progress: Called with rows done.

    Returns:
        Neighbor ids, nearest first, shape ``(symbols, k)``; their squared distances, same shape; and the median
        squared distance over all pairs of two different candidates.

    Raises:
        ExportError: ``k`` is not between 1 and the number of candidates.
    """
    if not 1 <= k <= len(candidates):
        raise ExportError(f"k must be between 1 and the number of possible outputs, {len(candidates)}")
    neighbors = np.empty((len(rows), k), dtype=np.int64)
    squares = np.empty((len(rows), k), dtype=np.int64)
    is_candidate = np.zeros(len(rows), dtype=bool)
    is_candidate[candidates] = True
    pairs = MedianOfPairs.up_to(4 * int((rows.astype(np.int64) ** 2).sum(axis=1).max()))
    for start, block in squared_distances(rows, rows[candidates]):
        stop = start + len(block)
        pairs.add(block[is_candidate[start:stop]])
        neighbors[start:stop], squares[start:stop] = smallest(block, candidates, k)
        progress("finding neighbors", stop, len(rows))
    return neighbors, squares, pairs.median(len(candidates))


def smallest(
    squared: NDArray[np.int64], candidates: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Finds ids and values of the ``k`` smallest entries of each row, ascending by (value, id)."""
    width = len(candidates)
    keys = squared * width + np.arange(width)  # value first, then id: one integer orders both
    if k < width:
        keys = np.partition(keys, k - 1, axis=1)[:, :k]
    keys = np.sort(keys, axis=1)
    return candidates[keys % width], keys // width


@dataclass
class MedianOfPairs:
    """The exact median of integer squared distances over all ordered pairs, gathered block by block."""

    counts: NDArray[np.int64]

    @classmethod
    def up_to(cls, largest: int) -> "MedianOfPairs":
        """Makes an empty count of squared distances from 0 to ``largest``."""
        return cls(np.zeros(largest + 1, dtype=np.int64))

    def add(self, squared: NDArray[np.int64]) -> None:
        """Counts a block."""
        counted = np.bincount(squared.ravel())
        self.counts[: len(counted)] += counted

    def median(self, identical: int) -> int:
        """Returns the lower median, leaving out ``identical`` pairs of a word with itself (squared distance 0)."""
        counts = self.counts.copy()
        counts[0] -= identical
        return int(np.searchsorted(np.cumsum(counts), (counts.sum() + 1) // 2))
