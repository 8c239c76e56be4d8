"""The scores ``c(x, y)`` of pairs of words; a look-up turns them into weights.

* ``santext``: ``c = floor(grid d(x, y))`` (``MetricScores``);
* ``krr`` and ``random``: ``c = 0`` if ``x = y``, else ``1`` (``EqualityScores``).
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Metric

Ids = NDArray[np.intp]

#: Inputs or outputs of one block: about 40 MB of doubles for 20,000 symbols.
BLOCK = 256
#: Maximum number of entries in a look-up of squared distances.
_LOOK_UP = 1 << 22
_FEW = 4


class Scores(Protocol):
    """The scores ``c(x, y)`` of a mechanism. Levels (epsilons) of one table share them.

    Attributes:
        symbols: The number of symbols, which are the outputs; also the id of ``<unk>``, the last input.
        largest: An upper bound of every score.
    """

    symbols: int
    largest: int

    def from_inputs(self, inputs: Ids) -> NDArray[Any]:
        """Return the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        ...

    def to_outputs(self, outputs: Ids) -> NDArray[Any]:
        """Return the scores of all inputs to some outputs, shape ``(n, symbols + 1)``."""
        ...

    def totals(self, weights: Integers, base: Integers) -> Integers:
        """Return the exact ``Z(x) = sum over y of q(y) W[c(x, y)]`` of every input.

        Args:
            weights: ``W``, for every score up to ``largest``.
            base: ``q``, shape ``(symbols,)``.

        Returns:
            Shape ``(symbols + 1,)``.
        """
        blocks = np.split(np.arange(self.symbols + 1), range(BLOCK, self.symbols + 1, BLOCK))
        return np.concatenate([np.take(weights, self.from_inputs(block)) @ base for block in blocks])


class MetricScores(Scores):
    """The scores of SanText: ``floor(grid d(x, y))`` for every pair, from the bundle's rows.

    Args:
        metric: Distances of all inputs.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric: Metric = metric
        self.symbols: int = len(metric.rows) - 1
        # Upper bound of all squared distances: (twice the longest row) squared, plus the coordinate of <unk>.
        parts = np.array_split(metric.rows, 64)
        longest = max(int((part.astype(np.int64) ** 2).sum(axis=1).max(initial=0)) for part in parts)
        largest = 4 * longest + metric.unknown_extra
        self.largest: int = int(metric.scores(np.array([largest], dtype=np.int64))[0])
        # Squared distances are integers: if their range is small, a look-up replaces a root for every pair.
        self._of_squared = None
        if largest < _LOOK_UP:
            self._of_squared = metric.scores(np.arange(largest + 1, dtype=np.int64)).astype(np.int32)

    def from_inputs(self, inputs: Ids) -> NDArray[Any]:
        """Implement ``Scores.from_inputs``."""
        if len(inputs) <= _FEW:  # a query for single words on a device: avoid a copy of all rows
            first, second = np.repeat(inputs, self.symbols), np.tile(np.arange(self.symbols), len(inputs))
            return self._scored(self.metric.squared(first, second)).reshape(len(inputs), self.symbols)
        return np.concatenate([self._scored(squared[:, :-1]) for _, squared in self.metric.squared_to_all(inputs)])

    def to_outputs(self, outputs: Ids) -> NDArray[Any]:
        """Implement ``Scores.to_outputs``."""
        if not len(outputs):
            return np.empty((0, self.symbols + 1), dtype=np.int64)
        return np.concatenate([self._scored(squared) for _, squared in self.metric.squared_to_all(outputs)])

    def _scored(self, squared: Integers) -> NDArray[Any]:
        if self._of_squared is None:
            return self.metric.scores(squared)
        return np.take(self._of_squared, squared)


class EqualityScores(Scores):
    """The scores of randomized response: 0 for the input itself, 1 for every other symbol.

    Args:
        symbols: Number of symbols.
    """

    largest = 1

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols

    def from_inputs(self, inputs: Ids) -> Ids:
        """Implement ``Scores.from_inputs``."""
        return (inputs[:, None] != np.arange(self.symbols)).astype(np.intp)

    def to_outputs(self, outputs: Ids) -> Ids:
        """Implement ``Scores.to_outputs``."""
        return (np.arange(self.symbols + 1) != outputs[:, None]).astype(np.intp)

    def totals(self, weights: Integers, base: Integers) -> Integers:
        """Implement ``Scores.totals``."""
        return weights[1] * base.sum() + (weights[0] - weights[1]) * np.append(base, 0)
