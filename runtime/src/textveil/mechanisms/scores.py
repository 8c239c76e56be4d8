"""Integer scores ``c(x, y)`` of pairs of words. The weight of output ``y`` for input ``x`` depends on the score.

* ``santext``: ``c = floor(grid d(x, y))``, the scaled distance ``d`` in steps of ``1 / grid`` (``MetricScores``);
* ``krr`` and ``random``: ``c = 0`` if ``x = y``, else ``1`` (``EqualityScores``).
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.arrays import Ids, Integers
from textveil.mechanisms.metric import WordMetric

#: Number of inputs or outputs in one block, which takes about 40 MB for 20,000 symbols.
BLOCK = 256
#: Maximum size of a lookup table from squared distances to scores.
_LOOK_UP = 1 << 22
_MAX_DIRECT_INPUTS = 4


class PairScoring(Protocol):
    """Interface of the scores: integers ``c(x, y)`` of pairs of words, which determine the weights of outputs.

    The scores are the same for all epsilons of a mechanism.

    Attributes:
        symbol_count: The number of words in the vocabulary (symbols). This number is also the id of ``<unk>`` (unknown
            words), the last input.
        max_score: An upper bound of all scores.
    """

    symbol_count: int
    max_score: int

    def score_inputs(self, inputs: Ids) -> NDArray[Any]:
        """Compute the score (integer distance) ``c(x, y)`` of each given input ``x`` and each word ``y``.

        Returns:
            Scores, shape ``(n, symbols)``.
        """
        ...

    def score_outputs(self, outputs: Ids) -> NDArray[Any]:
        """Compute the score (integer distance) ``c(x, y)`` of each given output ``y`` and each input ``x``.

        Returns:
            Scores, shape ``(n, symbols + 1)``.
        """
        ...

    def compute_totals(self, weights: Integers, base: Integers) -> Integers:
        """Return the exact total weight ``Z(x) = sum over y of q(y) W[c(x, y)]`` of every input.

        Args:
            weights: ``W``, the integer weight of every score (integer distance of two words) up to ``max_score``.
            base: ``q``, a factor of every output that is the same for all inputs, shape ``(symbols,)``.

        Returns:
            Totals, shape ``(symbols + 1,)``.
        """
        blocks = np.split(np.arange(self.symbol_count + 1), range(BLOCK, self.symbol_count + 1, BLOCK))
        return np.concatenate([np.take(weights, self.score_inputs(block)) @ base for block in blocks])


class MetricScores(PairScoring):
    """Scores of the mechanism SanText: scaled distances of two words in steps of ``1 / grid``.

    The scaled distance is the distance of the words' vectors divided by the median distance of two words. Scores are
    rounded down.

    Args:
        metric: Distances between all inputs (the words of the vocabulary, and ``<unk>``).

    Example:
        >>> rows = np.array([[0, 0], [3, 4], [6, 8]], np.int8)
        >>> metric = WordMetric(rows=rows, grid=10, median_squared=25, unknown_extra=0)
        >>> MetricScores(metric).score_inputs(np.array([0])).tolist()
        [[0, 10]]
    """

    def __init__(self, metric: WordMetric) -> None:
        self.metric: WordMetric = metric
        self.symbol_count: int = len(metric.rows) - 1
        # Upper bound of all squared distances: the square of twice the longest row, plus the coordinate of <unk>.
        parts = np.array_split(metric.rows, 64)
        longest = max(int((part.astype(np.int64) ** 2).sum(axis=1).max(initial=0)) for part in parts)
        largest = 4 * longest + metric.unknown_extra
        self.max_score: int = int(metric.compute_scores(np.array([largest], dtype=np.int64))[0])
        # Squared distances are integers. If their range is small, a lookup table is faster than square roots.
        self._score_by_squared = None
        if largest < _LOOK_UP:
            self._score_by_squared = metric.compute_scores(np.arange(largest + 1, dtype=np.int64)).astype(np.int32)

    def score_inputs(self, inputs: Ids) -> NDArray[Any]:
        """Compute the score of each pair of a given input and a word of the vocabulary (``PairScoring``)."""
        if len(inputs) <= _MAX_DIRECT_INPUTS:  # a query for single words on a device: avoid a copy of all rows
            first, second = np.repeat(inputs, self.symbol_count), np.tile(np.arange(self.symbol_count), len(inputs))
            return self._look_up_scores(self.metric.compute_squared(first, second)).reshape(
                len(inputs), self.symbol_count
            )
        return np.concatenate(
            [self._look_up_scores(squared[:, :-1]) for _, squared in self.metric.iterate_squared_blocks(inputs)]
        )

    def score_outputs(self, outputs: Ids) -> NDArray[Any]:
        """Compute the score of each pair of a given output and an input (``PairScoring.score_outputs``)."""
        if not len(outputs):
            return np.empty((0, self.symbol_count + 1), dtype=np.int64)
        return np.concatenate(
            [self._look_up_scores(squared) for _, squared in self.metric.iterate_squared_blocks(outputs)]
        )

    def _look_up_scores(self, squared: Integers) -> NDArray[Any]:
        if self._score_by_squared is None:
            return self.metric.compute_scores(squared)
        return np.take(self._score_by_squared, squared)


class EqualityScores(PairScoring):
    """Scores (distances) for the mechanism randomized response: 0 for the input word itself, 1 for all other words.

    Args:
        symbols: Number of words in the vocabulary.

    Example:
        >>> EqualityScores(3).score_inputs(np.array([0, 2])).tolist()
        [[0, 1, 1], [1, 1, 0]]
    """

    max_score = 1

    def __init__(self, symbols: int) -> None:
        self.symbol_count = symbols

    def score_inputs(self, inputs: Ids) -> Ids:
        """Compute the score of each pair of an input and a word of the vocabulary (``PairScoring.score_inputs``)."""
        return (inputs[:, None] != np.arange(self.symbol_count)).astype(np.intp)

    def score_outputs(self, outputs: Ids) -> Ids:
        """Compute the score of each pair of a given output and an input (``PairScoring.score_outputs``)."""
        return (np.arange(self.symbol_count + 1) != outputs[:, None]).astype(np.intp)

    def compute_totals(self, weights: Integers, base: Integers) -> Integers:
        """Compute the total weight of all outputs for each input (``PairScoring.compute_totals``)."""
        return weights[1] * base.sum() + (weights[0] - weights[1]) * np.append(base, 0)
