"""From vectors to the metric that ships: int8 rows, one symbol for near-duplicates, a place for ``<unk>``."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from textveil.metric import squared_distances

from textveil_export.errors import SourceError
from textveil_export.sources import Progress, no_progress

#: Two words closer than this share of the median distance become one symbol.
MERGE_DISTANCE = 0.1
_MAX_DIMENSIONS = 1 << 16  # squared distances times the squared grid stay inside 64-bit integers
_SAMPLED_PAIRS = 1 << 20


def quantise(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Rounds vectors to int8 with one step for all, so that the largest component becomes 127.

    Args:
        vectors: Shape ``(symbols, dimension)``, finite.

    Raises:
        SourceError: All vectors are zero, or there are too many dimensions for exact arithmetic.
    """
    largest = float(np.abs(vectors).max())
    if largest < 1e-300 or vectors.shape[1] > _MAX_DIMENSIONS:
        raise SourceError("the vectors are all zero or have too many dimensions")
    return np.rint(vectors.astype(np.float64) * (127 / largest)).astype(np.int8)


def merge_near_duplicates(rows: NDArray[np.int8], progress: Progress = no_progress) -> tuple[list[int], dict[int, int]]:
    """Finds words so close that they should be one symbol (casing, spelling variants).

    Greedy representatives in rank order: a word joins the most frequent earlier representative within
    ``MERGE_DISTANCE`` times the median distance, else it represents itself. Left apart, such a pair would dominate
    the certified epsilon through a small difference of its normalisers.

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
    first, second = np.random.default_rng(0).integers(0, len(rows), (2, _SAMPLED_PAIRS))
    apart = first != second
    squares = [
        ((rows[a].astype(np.int64) - rows[b]) ** 2).sum(axis=1)
        for a, b in zip(np.array_split(first[apart], 64), np.array_split(second[apart], 64), strict=True)
    ]
    return float(np.median(np.concatenate(squares)))


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
        """The lower median, leaving out ``identical`` pairs of a word with itself (squared distance 0)."""
        counts = self.counts.copy()
        counts[0] -= identical
        return int(np.searchsorted(np.cumsum(counts), (counts.sum() + 1) // 2))

    def largest(self) -> int:
        """The largest squared distance."""
        return int(np.flatnonzero(self.counts)[-1])


def unknown_row(rows: NDArray[np.int8], median_squared: int) -> tuple[NDArray[np.int8], int]:
    """Where ``<unk>`` lies: above the mean of all words, so high that its median distance is one unit.

    At the mean itself ``<unk>`` would be close to everything and raise the epsilon of the whole table. A coordinate
    of its own, of squared length ``extra``, keeps all distances Euclidean.

    Returns:
        The int8 row, shape ``(dimension,)``, and ``extra``, at least 0.
    """
    row = np.rint(rows.mean(axis=0, dtype=np.float64)).astype(np.int8)
    squared = ((rows.astype(np.int64) - row) ** 2).sum(axis=1)
    return row, max(0, median_squared - int(np.median(squared)))
