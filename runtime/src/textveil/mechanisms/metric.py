"""Euclidean distances between words, in exact integers.

A word's *row* is its vector of 8-bit integers (docs/format-santext.md, "embeddings.safetensors"). The rows define the
distances. Every squared distance is an integer, so all implementations compute the same distances from the same rows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.arrays import Floats, Integers

#: Number of rows of the distance matrix that are computed at a time.
BLOCK = 256
_BLOCK_PAIRS = 512


@dataclass(frozen=True, eq=False, kw_only=True)
class WordMetric:
    """Distances between all words of a vocabulary in the order of their ids, then ``<unk>`` (unknown words).

    A *scaled distance* is a distance divided by the median distance of two words. A *score* is a scaled distance in
    steps of ``1 / grid``, rounded down.

    Attributes:
        rows: Vectors of the inputs, int8, ``<unk>`` last, shape ``(symbols + 1, dimension)``.
        grid: Number of score steps per unit of scaled distance (distance divided by the median distance of two words).
        median_squared: Square of the median distance of two words, in units of the rows.
        unknown_extra: Square of the additional coordinate of ``<unk>``. This coordinate is 0 for all words.

    Example:
        >>> rows = np.array([[0, 0], [3, 4], [6, 8]], np.int8)
        >>> metric = WordMetric(rows=rows, grid=10, median_squared=25, unknown_extra=0)
        >>> metric.compute_distance(0, 1)
        1.0
        >>> metric.compute_scores(metric.compute_squared(np.array([0]), np.array([1]))).tolist()
        [10]
    """

    rows: NDArray[np.int8]
    grid: int
    median_squared: int
    unknown_extra: int

    def compute_squared(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Integers:
        """Compute the exact squared distance of the vectors of each pair of inputs; shape ``(n,)``."""
        squared = np.empty(len(first), dtype=np.int64)
        for part in np.array_split(np.arange(len(first)), max(1, -(-len(first) // _BLOCK_PAIRS))):
            difference = self.rows[first[part]].astype(self._exact_type)
            difference -= self.rows[second[part]]
            squared[part] = np.einsum("ij,ij->i", difference, difference)
        unknown = len(self.rows) - 1
        return squared + np.where((first == unknown) != (second == unknown), self.unknown_extra, 0)

    @cached_property
    def _exact_type(self) -> type[np.float32 | np.float64]:
        """Floating-point type without rounding errors in squared distances: ``float32`` if possible, else ``float64``.

        Partial sums are at most four times the largest squared length of a row.
        """
        norms = np.concatenate([(part.astype(np.int64) ** 2).sum(axis=1) for part in np.array_split(self.rows, 64)])
        return np.float32 if 4 * int(norms.max()) < 1 << 24 else np.float64

    def iterate_squared_blocks(
        self, inputs: NDArray[np.intp], block: int = BLOCK
    ) -> Iterator[tuple[NDArray[np.intp], Integers]]:
        """Compute the squared distances from the given inputs to all inputs, and yield them in blocks.

        Args:
            inputs: Input ids.
            block: Maximum number of inputs in one block.

        Yields:
            The input ids of the block, and their squared distances, shape ``(ids of the block, all inputs)``.
        """
        unknown = len(self.rows) - 1
        for start, squared in _iterate_squared_distances(self.rows[inputs], *self._all_rows, block):
            part = inputs[start : start + len(squared)]
            squared[part != unknown, -1] += self.unknown_extra
            squared[part == unknown, :-1] += self.unknown_extra
            yield part, squared

    @cached_property
    def _all_rows(self) -> tuple[Any, Integers]:
        """Result of ``_prepare_candidates`` for all word vectors: the transposed vectors, and their squared norms."""
        return _prepare_candidates(self.rows)

    def compute_scores(self, squared: Integers) -> Integers:
        """Convert squared distances ``d**2``, of any shape, to the integer scores ``floor(grid * d)``."""
        return compute_scores(squared, self.grid, self.median_squared)

    def compute_scaled(self, squared: Integers) -> Floats:
        """Return the scaled distances ``d`` for squared distances of any shape, rounded down.

        A scaled distance is a distance divided by the median distance of two words.
        """
        return np.sqrt(squared / self.median_squared) * (1 - 1e-14)

    def compute_distance(self, first: int, second: int) -> float:
        """Return the scaled distance of two inputs, given their ids.

        The unit is the median distance of two words of the vocabulary.
        """
        return math.sqrt(int(self.compute_squared(np.array([first]), np.array([second]))[0]) / self.median_squared)


def compute_scores(squared: Integers, grid: int, median_squared: int) -> Integers:
    """Return the scores ``floor(grid * sqrt(squared / median_squared))`` for squared distances of any shape.

    The scores are exact, because the function corrects rounding errors with integer arithmetic.
    """
    radicand = squared * (grid * grid) // median_squared
    root = np.sqrt(radicand.astype(np.float64)).astype(np.int64)
    root -= root * root > radicand  # the floating-point root differs from the integer root by at most one
    root += (root + 1) * (root + 1) <= radicand
    return root


def iterate_squared_distances(
    rows: NDArray[np.int8], candidates: NDArray[np.int8], block: int = BLOCK
) -> Iterator[tuple[int, Integers]]:
    """Compute the squared distances from all rows to all candidates, and yield them in blocks, to limit memory.

    The computation ``|x - y|^2 = |x|^2 + |y|^2 - 2 x.y`` is exact: every partial sum of ``x.y`` is an integer that the
    floating-point type of the matrix product can represent, in any order of summation.

    Args:
        rows: Vectors, shape ``(n, dimension)``.
        candidates: Vectors, shape ``(m, dimension)``.
        block: Maximum number of rows in one block.

    Yields:
        Index of the first row of the block, and the squared distances, shape ``(rows of the block, m)``.

    Example:
        >>> rows = np.array([[0, 0], [3, 4]], np.int8)
        >>> for start, squared in iterate_squared_distances(rows, rows):
        ...     print(start, squared.tolist())
        0 [[0, 25], [25, 0]]
    """
    return _iterate_squared_distances(rows, *_prepare_candidates(candidates), block)


def _prepare_candidates(candidates: NDArray[np.int8]) -> tuple[Any, Integers]:
    """Prepare the second factor of a matrix product, so that the product of integer vectors has no rounding errors.

    Returns:
        The transposed vectors in a floating-point type without rounding errors, and the squared norms of the vectors.
    """
    exact = np.float32 if candidates.shape[1] * 128**2 < 1 << 24 else np.float64
    norms = [(part.astype(np.int64) ** 2).sum(axis=1) for part in np.array_split(candidates, 64)]
    return candidates.astype(exact).T, np.concatenate(norms)


def _iterate_squared_distances(
    rows: NDArray[np.int8], right: Any, right_norms: Integers, block: int
) -> Iterator[tuple[int, Integers]]:
    for start in range(0, len(rows), block):
        left = rows[start : start + block]
        norms = (left.astype(np.int64) ** 2).sum(axis=1)
        products = (left.astype(right.dtype) @ right).astype(np.int64)
        products *= -2
        products += norms[:, None]
        products += right_norms
        yield start, products
