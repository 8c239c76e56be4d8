"""Round float vectors to int8: vectors of words, of the unknown word, and of an encoder's tokens."""

import numpy as np
from numpy.typing import NDArray

from textveil_export.errors import SourceError

_MAX_DIMENSIONS = 1 << 16  # squared distances times the squared grid fit 64-bit integers
_ROWS_AT_ONCE = 1 << 14  # limits the memory of intermediate float64 arrays


def measure_vector_step(vectors: NDArray[np.float32]) -> float:
    """Return the size of one int8 step of ``quantize_vectors``, in units of the vectors.

    Args:
        vectors: Finite vectors, shape ``(symbols, dimension)``.

    Raises:
        SourceError: All vectors are zero, or the dimension is too large for exact arithmetic.

    Example:
        >>> measure_vector_step(np.array([[254.0, -2.0]], dtype=np.float32))
        2.0
    """
    return _find_largest_component(vectors) / 127


def quantize_vectors(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Round vectors to int8 with one step for all, so that the largest component becomes 127.

    One common step preserves distances. The distances between int8 rows are the metric of a text bundle.

    Args:
        vectors: Finite vectors, shape ``(symbols, dimension)``.

    Returns:
        int8 rows of the same shape.

    Raises:
        SourceError: All vectors are zero, or the dimension is too large for exact arithmetic.

    Example:
        >>> quantize_vectors(np.array([[254.0, -2.0]], dtype=np.float32)).tolist()
        [[127, -1]]
    """
    largest = _find_largest_component(vectors)
    rows = np.empty(vectors.shape, dtype=np.int8)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        rows[part] = np.rint(vectors[part].astype(np.float64) * (127 / largest))
    return rows


def _find_largest_component(vectors: NDArray[np.float32]) -> float:
    """Return the largest absolute component of the vectors.

    Raises:
        SourceError: All vectors are zero, or the dimension is too large for exact arithmetic.
    """
    largest = max(float(vectors.max()), -float(vectors.min()))
    if largest < 1e-300 or vectors.shape[1] > _MAX_DIMENSIONS:
        raise SourceError(f"the vectors are all zero, or have more than {_MAX_DIMENSIONS:,} dimensions")
    return largest


def quantize_rows(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round rows to int8 with one step per row, so that each row's largest component becomes 127.

    If rows differ in length, as embeddings of an encoder do, this is more precise than one step for all.

    Args:
        rows: Finite rows, shape ``(rows, dimension)``.

    Returns:
        The int8 rows, same shape, and the step of each row, shape ``(rows, 1)``. Their product is nearly ``rows``. The
        step of a row of zeros is 1.
    """
    rounded, steps = np.empty(rows.shape, dtype=np.int8), np.empty((len(rows), 1), dtype=np.float32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        largest = np.abs(rows[part]).max(axis=1, keepdims=True)
        steps[part] = np.where(largest > 0, largest / 127, 1)
        rounded[part] = np.rint(rows[part] / steps[part])
    return rounded, steps


def place_unknown(rows: NDArray[np.int8], median_squared: int) -> tuple[NDArray[np.int8], int]:
    """Compute a vector for the unknown word ``<unk>`` at a median distance of one unit from the words.

    The vector is the mean of all words plus one extra coordinate of squared length ``extra``. At the mean itself,
    ``<unk>`` would be close to all words and raise the epsilon of the whole table. With the extra coordinate, all
    distances are still Euclidean.

    Args:
        rows: int8 rows of the words, shape ``(symbols, dimension)``.
        median_squared: Squared length of one unit: the median squared distance of two words.

    Returns:
        The int8 row, shape ``(dimension,)``, and ``extra``, at least 0.
    """
    row = np.rint(rows.mean(axis=0, dtype=np.float64)).astype(np.int8)
    squared = ((rows.astype(np.int64) - row) ** 2).sum(axis=1)
    return row, max(0, median_squared - int(np.median(squared)))
