"""Find exact nearest neighbors: outputs by Euclidean distance, words by cosine similarity.

The search by cosine has two steps. First a floating-point matrix product selects all words that can be among the
nearest, with a margin for rounding errors. Then exact integer cosines of these few words decide. So the result does not
depend on the machine, the library for matrix products, or the process that runs a block.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import iterate_squared_distances

from textveil_export.errors import ExportError
from textveil_export.parallel import BlockRunner, run_blocks, split_rows
from textveil_export.progress import Progress, ignore_progress


def find_nearest_outputs(
    rows: NDArray[np.int8],
    candidates: NDArray[np.int64],
    k: int,
    progress: Progress = ignore_progress,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Find the ``k`` candidates nearest to each row by Euclidean distance.

    A row is a neighbor of itself if it is a candidate. Of two equally near candidates the one with the lower id comes
    first. Memory is one block of the distance matrix.

    Args:
        rows: int8 rows, shape ``(symbols, dimension)``.
        candidates: Ids (rows) that may be neighbors, ascending, shape ``(candidates,)``.
        k: Neighbors per row.
        progress: Called with the number of processed rows.

    Returns:
        Neighbor ids, nearest first, shape ``(symbols, k)``; their squared distances, same shape; and the median squared
        distance over all pairs of two different candidates.

    Raises:
        ExportError: ``k`` is not between 1 and the number of candidates.
    """
    if not 1 <= k <= len(candidates):
        raise ExportError(f"k must be between 1 and the number of possible outputs, {len(candidates)}")
    neighbors = np.empty((len(rows), k), dtype=np.int64)
    squares = np.empty((len(rows), k), dtype=np.int64)
    is_candidate = np.zeros(len(rows), dtype=bool)
    is_candidate[candidates] = True
    pairs = PairMedian.make_empty(4 * int((rows.astype(np.int64) ** 2).sum(axis=1).max()))
    for start, block in iterate_squared_distances(rows, rows[candidates]):
        stop = start + len(block)
        pairs.add_block(block[is_candidate[start:stop]])
        neighbors[start:stop], squares[start:stop] = find_smallest(block, candidates, k)
        progress("finding neighbors", stop, len(rows))
    return neighbors, squares, pairs.find_median(len(candidates))


def find_smallest(
    squared: NDArray[np.int64], candidates: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the ``k`` smallest values of each row, and return their ids and values.

    Args:
        squared: Values, shape ``(rows, candidates)``.
        candidates: Ids of the columns, ascending.
        k: Number of values per row.

    Returns:
        Ids and values, each of shape ``(rows, k)``, sorted by value, then by id.
    """
    width = len(candidates)
    keys = squared * width + np.arange(width)  # one integer orders by value, then by id
    if k < width:
        keys = np.partition(keys, k - 1, axis=1)[:, :k]
    keys = np.sort(keys, axis=1)
    return candidates[keys % width], keys // width


@dataclass
class PairMedian:
    """Count integer squared distances block by block, and find their exact median over all ordered pairs.

    Attributes:
        counts: Number of pairs at each squared distance.
    """

    counts: NDArray[np.int64]

    @classmethod
    def make_empty(cls, largest: int) -> "PairMedian":
        """Return an object that has counted no pairs yet, for squared distances from 0 to ``largest``."""
        return cls(np.zeros(largest + 1, dtype=np.int64))

    def add_block(self, squared: NDArray[np.int64]) -> None:
        """Count the squared distances in one block of the distance matrix."""
        counted = np.bincount(squared.ravel())
        self.counts[: len(counted)] += counted

    def find_median(self, identical: int) -> int:
        """Return the lower median of the counted distances, without pairs of a word with itself.

        Args:
            identical: Number of counted pairs of a word with itself, which have distance 0.
        """
        counts = self.counts.copy()
        counts[0] -= identical
        return int(np.searchsorted(np.cumsum(counts), (counts.sum() + 1) // 2))


#: Number of integer steps in a cosine of 1.
COSINE_STEPS = 1 << 20
_WORST_VALUE = 1 << 60  # farther than any word
_TILE = 1024  # rows and columns of a product
_PAIRS = 1 << 16  # exact cosines computed at a time


class _NeighborCandidates(NamedTuple):
    """Words that may be among the nearest neighbors of rows in one tile of the similarity matrix.

    Each array has one element per candidate.

    Attributes:
        rows: Row of the tile.
        columns: Position of the candidate in the array of words.
        values: Approximate similarity.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: NDArray[np.float32]


def find_nearest_words(
    rows: NDArray[np.int8],
    words: NDArray[np.intp],
    k: int,
    favor: NDArray[np.int64],
    progress: Progress = ignore_progress,
    run: BlockRunner = run_blocks,
) -> NDArray[np.uint32]:
    """Find the words nearest to each row by cosine similarity plus a bonus per word.

    The row itself comes first. Of two equally near words the one with the lower id comes first.

    Args:
        rows: int8 rows, shape ``(symbols, dimension)``.
        words: Ids that may be neighbors, ascending.
        k: Ids per row.
        favor: Integer bonus of each word of ``words``. The unit is that of the cosines: a bonus of ``COSINE_STEPS``
            equals a cosine of 1.
        progress: Called with the number of processed rows.
        run: Function that applies another function to blocks of rows, such as in parallel processes.

    Returns:
        Ids, shape ``(symbols, k)``.

    Raises:
        ExportError: There are fewer words than ``k``.
    """
    if k > len(words):
        raise ExportError(f"k must be at most the number of words, {len(words)}")
    near = np.empty((len(rows), k), dtype=np.uint32)
    near[:, 0] = np.arange(len(rows))
    if k == 1:
        return near
    spans = split_rows(len(rows))
    shared = (rows, words, favor, compute_inverse_norms(rows), k - 1)
    for (start, stop), nearest in zip(spans, run(find_nearest_in_block, shared, spans), strict=True):
        near[start:stop, 1:] = nearest
        progress("finding neighbors", stop, len(rows))
    return near


def find_nearest_in_block(
    rows: NDArray[np.int8],
    words: NDArray[np.intp],
    favor: NDArray[np.int64],
    inverse_norms: NDArray[np.float64],
    count: int,
    start: int,
    stop: int,
) -> NDArray[np.uint32]:
    """Find the nearest words of each row in a block; a row is no neighbor of itself.

    Args:
        rows: int8 rows, shape ``(symbols, dimension)``.
        words: Ids that may be neighbors, ascending.
        favor: Integer bonus of each word of ``words``; a bonus of ``COSINE_STEPS`` equals a cosine of 1.
        inverse_norms: ``1 / |row|`` of all rows.
        count: Number of neighbors per row, below ``len(words)``.
        start: First row of the block.
        stop: The row after the last row of the block.

    Returns:
        Ids, nearest first, shape ``(stop - start, count)``.
    """
    near = np.empty((stop - start, count), dtype=np.uint32)
    for top in range(start, stop, _TILE):
        bottom = min(top + _TILE, stop)
        candidates, crowded = _collect_candidates(rows, words, favor, inverse_norms, count, top, bottom)
        far = np.empty(len(candidates.rows), dtype=np.int64)
        for at in range(0, len(far), _PAIRS):
            part = slice(at, at + _PAIRS)
            x, y = candidates.rows[part] + top, words[candidates.columns[part]]
            cosines = np.einsum(
                "ij,ij->i", rows[x].astype(_choose_exact_type(rows)), rows[y].astype(_choose_exact_type(rows))
            )
            steps = _round_cosines(cosines.astype(np.float64), inverse_norms[x], inverse_norms[y])
            far[part] = -favor[candidates.columns[part]] - steps
        order = np.lexsort((candidates.columns, far, candidates.rows))
        begins = np.searchsorted(candidates.rows[order], np.arange(bottom - top))
        clear = np.flatnonzero(~crowded)
        best = order[begins[clear][:, None] + np.arange(count)]
        near[top - start + clear] = words[candidates.columns[best]]
        for row in (np.flatnonzero(crowded) + top).tolist():
            near[row - start] = _find_nearest_in_row(rows, words, favor, count, row)
    return near


def _collect_candidates(
    rows: NDArray[np.int8],
    words: NDArray[np.intp],
    favor: NDArray[np.int64],
    inverse_norms: NDArray[np.float64],
    count: int,
    top: int,
    bottom: int,
) -> tuple[_NeighborCandidates, NDArray[np.bool_]]:
    """Select for each row of a block all words that can be among its ``count`` nearest.

    The measure of nearness is the cosine in integer steps plus ``favor``. This function computes the measure in
    floating point, with a known bound ``e`` on the error. If ``count`` words of a row reach a value ``v``, then a word
    below ``v - 2 e`` is not among the ``count`` nearest, and the function omits this word.

    Args:
        rows: int8 rows of all words.
        words: Ids that may be neighbors, ascending.
        favor: Bonus of each word of ``words``.
        inverse_norms: ``1 / |row|`` of all rows.
        count: Number of neighbors per row.
        top: First row of the block.
        bottom: The row after the last row of the block.

    Returns:
        The selected words, and a boolean for each row: whether the row has too many of them (is crowded).
    """
    largest_favor = float(np.abs(favor).max())
    # d roundings of a product of d terms (Higham 2002, 3.1), two for each factor, half a step of the cosine.
    margin = 2.0**-24 * (COSINE_STEPS * (rows.shape[1] + 8) + 4 * largest_favor) * 1.01 + 2
    left = rows[top:bottom] * inverse_norms[top:bottom, None].astype(np.float32)
    own = np.searchsorted(words, np.arange(top, bottom))
    is_word = words[np.minimum(own, len(words) - 1)] == np.arange(top, bottom)
    threshold = np.full(bottom - top, -np.inf, dtype=np.float32)
    most = 8 * count + _TILE
    crowded = np.zeros(bottom - top, dtype=bool)
    candidates = _NeighborCandidates(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.float32))
    last_size = 0
    for begin in range(0, len(words), _TILE):
        ids = words[begin : begin + _TILE]
        right = rows[ids] * (inverse_norms[ids, None] * COSINE_STEPS).astype(np.float32)
        values = (left @ right.T).astype(np.float32, copy=False)
        if largest_favor:
            values += favor[begin : begin + _TILE].astype(np.float32)
        inside = is_word & (own >= begin) & (own < begin + len(ids))
        values[inside, own[inside] - begin] = -np.inf  # a word is not a neighbor of itself
        if not begin and len(ids) > count:
            threshold[:] = np.partition(values, -count, axis=1)[:, -count] - np.float32(2 * margin)
        row, column = np.divmod(np.flatnonzero(values >= threshold[:, None]), len(ids))
        candidates = _NeighborCandidates(
            np.append(candidates.rows, row),
            np.append(candidates.columns, column + begin),
            np.append(candidates.values, values[row, column]),
        )
        if len(candidates.rows) > 2 * last_size + 4 * count * len(left) or begin + _TILE >= len(words):
            candidates = _discard_distant(candidates, threshold, crowded, count, most, 2 * margin)
            last_size = len(candidates.rows)
    return candidates, crowded


def _discard_distant(
    candidates: _NeighborCandidates,
    threshold: NDArray[np.float32],
    crowded: NDArray[np.bool_],
    count: int,
    most: int,
    slack: float,
) -> _NeighborCandidates:
    """Discard candidates that cannot be among the nearest, and raise the thresholds of their rows.

    A row with more than ``most`` candidates is marked as crowded and loses its candidates; ``_find_nearest_in_row``
    searches it later. The function changes ``threshold`` and ``crowded`` in place.

    Args:
        candidates: Candidates of all rows.
        threshold: Smallest value that a candidate of each row needs.
        crowded: True for rows that ``_find_nearest_in_row`` searches.
        count: Number of neighbors of a row.
        most: Largest number of candidates of a row.
        slack: Candidates remain if they are at most this much below the ``count``-th largest value of their row.
    """
    order = np.lexsort((-candidates.values, candidates.rows))
    row, column, value = candidates.rows[order], candidates.columns[order], candidates.values[order]
    begins = np.searchsorted(row, np.arange(len(threshold) + 1))
    full = np.flatnonzero(np.diff(begins) >= count)
    threshold[full] = np.maximum(threshold[full], value[begins[full] + count - 1] - np.float32(slack))
    remaining = (value >= threshold[row]) & (value > -np.inf)
    crowded |= np.bincount(row[remaining], minlength=len(threshold)) > most
    threshold[crowded] = np.inf  # these rows are searched exactly later
    remaining &= ~crowded[row]
    return _NeighborCandidates(row[remaining], column[remaining], value[remaining])


def _find_nearest_in_row(
    rows: NDArray[np.int8], words: NDArray[np.intp], favor: NDArray[np.int64], count: int, row: int
) -> NDArray[np.intp]:
    """Find the nearest words of one row by the exact cosines of all words.

    This function handles crowded rows, such as a row of zeros, to which all words are equally near.

    Args:
        rows: int8 rows of all words.
        words: Ids of the words that can be neighbors.
        favor: Bonus of each of these words, in steps of the rounded cosines.
        count: Number of neighbors.
        row: Id of the word whose neighbors the function finds.
    """
    products = (rows[words].astype(_choose_exact_type(rows)) @ rows[row].astype(_choose_exact_type(rows))).astype(
        np.float64
    )
    far = -favor - _round_cosines(
        products, compute_inverse_norms(rows[row : row + 1]), compute_inverse_norms(rows[words])
    )
    far[words == row] = _WORST_VALUE // len(words)
    return find_smallest(far[None], words, count)[0][0]


def _round_cosines(
    products: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Compute cosines in integer steps of 2^-20 from inner products and inverse norms.

    The products are integers that the float type represents exactly, whatever the order of summation. The following
    operations are single IEEE 754 operations, equal on all machines. The function changes ``products`` in place.

    Args:
        products: Inner products of rows.
        left: ``1 / |row|`` of the first factors.
        right: ``1 / |row|`` of the second factors.
    """
    products *= left
    products *= right
    products *= COSINE_STEPS
    return np.rint(products).astype(np.int64)


def _choose_exact_type(rows: NDArray[np.int8]) -> type[np.float32 | np.float64]:
    """Return the smallest float type that represents exactly each partial sum of the product of two rows."""
    return np.float32 if rows.shape[1] * 128**2 < 1 << 24 else np.float64


def compute_inverse_norms(rows: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return ``1 / |row|`` of int8 rows, shape ``(rows,)``, and 0 for a row of zeros."""
    squares = [(part.astype(np.int64) ** 2).sum(axis=1) for part in np.array_split(rows, 1 + len(rows) // _TILE)]
    norms = np.concatenate(squares)
    return np.where(norms > 0, 1 / np.sqrt(np.maximum(norms, 1).astype(np.float64)), 0.0)
