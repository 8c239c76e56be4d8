"""Where floats become int8 rows: vectors of words, the row of ``<unk>``, embeddings of an encoder."""

import numpy as np
from numpy.typing import NDArray

from textveil_export.errors import SourceError

_MAX_DIMENSIONS = 1 << 16  # squared distances times the squared grid stay inside 64-bit integers
_ROWS_AT_ONCE = 1 << 14  # what is between the floats and the int8 rows is in memory for so many


def quantize_vectors(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Rounds vectors to int8 with one step for all, so that the largest component becomes 127.

    One step keeps distances: those between the int8 rows are the metric of a text bundle.

    Args:
        vectors: Shape ``(symbols, dimension)``, finite.

    Returns:
        Shape ``(symbols, dimension)``.

    Raises:
        SourceError: All vectors are zero, or there are too many dimensions for exact arithmetic.
    """
    largest = max(float(vectors.max()), -float(vectors.min()))
    if largest < 1e-300 or vectors.shape[1] > _MAX_DIMENSIONS:
        raise SourceError("the vectors are all zero or have too many dimensions")
    rows = np.empty(vectors.shape, dtype=np.int8)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        rows[part] = np.rint(vectors[part].astype(np.float64) * (127 / largest))
    return rows


def quantize_rows(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rounds rows to int8 with a step for each, so that the largest component of every row becomes 127.

    Finer than one step for all where rows differ in length, as the embeddings of an encoder do.

    Args:
        rows: Shape ``(rows, dimension)``, finite.

    Returns:
        The int8 rows, same shape, and their steps, shape ``(rows, 1)``: ``rows`` is nearly their product. The step of
        a row of zeros is 1.
    """
    rounded, steps = np.empty(rows.shape, dtype=np.int8), np.empty((len(rows), 1), dtype=np.float32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        largest = np.abs(rows[part]).max(axis=1, keepdims=True)
        steps[part] = np.where(largest > 0, largest / 127, 1)
        rounded[part] = np.rint(rows[part] / steps[part])
    return rounded, steps


def place_unknown(rows: NDArray[np.int8], median_squared: int) -> tuple[NDArray[np.int8], int]:
    """Places ``<unk>`` above the mean of all words, so high that its median distance to them is one unit.

    At the mean itself ``<unk>`` would be close to everything and raise the epsilon of the whole table. A coordinate
    of its own, of squared length ``extra``, keeps all distances Euclidean.

    Returns:
        The int8 row, shape ``(dimension,)``, and ``extra``, at least 0.
    """
    row = np.rint(rows.mean(axis=0, dtype=np.float64)).astype(np.int8)
    squared = ((rows.astype(np.int64) - row) ** 2).sum(axis=1)
    return row, max(0, median_squared - int(np.median(squared)))
