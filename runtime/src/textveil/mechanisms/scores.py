"""The scores ``c(x, y)`` of pairs of words, which a look-up turns into weights.

* ``santext``: ``c = floor(grid d(x, y))`` (``MetricScores``);
* ``krr`` and ``random``: ``c = 0`` if ``x = y``, else ``1`` (``EqualityScores``).
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Metric

Ids = NDArray[np.intp]
Progress = Callable[[int, int], None]

#: Inputs or outputs at a time: some 40 MB of doubles for 20,000 symbols.
BLOCK = 256
#: Entries that a look-up of squared distances may have.
_LOOK_UP = 1 << 22
_FEW = 4


class Scores(Protocol):
    """The scores ``c(x, y)`` of a mechanism. Levels of one table share them.

    Inputs are the symbols by id, and ``<unk>``, the last. Outputs are symbols.
    """

    @property
    def symbols(self) -> int:
        """The number of symbols; also the id of ``<unk>`` as an input."""
        ...

    @property
    def largest(self) -> int:
        """An upper bound of every score."""
        ...

    def from_inputs(self, inputs: Ids) -> NDArray[Any]:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        ...

    def to_outputs(self, outputs: Ids) -> NDArray[Any]:
        """Returns the scores of all inputs to some outputs, shape ``(n, symbols + 1)``."""
        ...

    def of_pairs(self, inputs: Ids, outputs: Ids) -> NDArray[Any]:
        """Returns the score of each pair. The arguments are broadcast against each other."""
        ...

    def totals(self, weights: Integers, base: Integers, progress: Progress | None = None) -> Integers:
        """Returns ``Z(x) = sum over y of q(y) W[c(x, y)]`` of every input, exact, shape ``(symbols + 1,)``.

        Args:
            weights: ``W``, for every score up to ``largest``.
            base: ``q``, shape ``(symbols,)``.
            progress: Called with inputs done and inputs in all, where it takes a while.
        """
        ...


class MetricScores:
    """The scores of SanText: ``floor(grid d(x, y))`` for every pair, from the shipped rows.

    Args:
        metric: Distances of all inputs.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric, self.symbols = metric, len(metric.rows) - 1
        # No squared distance is larger: twice the longest row, squared, and the coordinate of <unk>.
        parts = np.array_split(metric.rows, 64)
        longest = max(int((part.astype(np.int64) ** 2).sum(axis=1).max(initial=0)) for part in parts)
        largest = 4 * longest + metric.unknown_extra
        self.largest = int(metric.scores(np.array([largest], dtype=np.int64))[0])
        # Squared distances are integers: where there are not too many, a look-up replaces a root for every pair.
        self._of_squared = None
        if largest < _LOOK_UP:
            self._of_squared = metric.scores(np.arange(largest + 1, dtype=np.int64)).astype(np.int32)

    def from_inputs(self, inputs: Ids) -> NDArray[Any]:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        if len(inputs) <= _FEW:  # a word that a device asks about: no copy of all rows is kept for it
            return self.of_pairs(inputs[:, None], np.arange(self.symbols))
        return np.concatenate([self._scored(squared[:, :-1]) for _, squared in self._squared(inputs)])

    def to_outputs(self, outputs: Ids) -> NDArray[Any]:
        """Returns the scores of all inputs to some outputs, shape ``(n, symbols + 1)``."""
        return np.concatenate([self._scored(squared) for _, squared in self._squared(outputs)])

    def of_pairs(self, inputs: Ids, outputs: Ids) -> NDArray[Any]:
        """Returns the score of each pair; the arguments are broadcast against each other."""
        first, second = np.broadcast_arrays(inputs, outputs)
        return self._scored(self.metric.squared(first.ravel(), second.ravel())).reshape(first.shape)

    def totals(self, weights: Integers, base: Integers, progress: Progress | None = None) -> Integers:
        """Returns ``Z(x)`` of every input, exact, shape ``(symbols + 1,)``."""
        return _dense_totals(self, weights, base, progress)

    def _squared(self, ids: Ids) -> Iterator[tuple[Ids, Integers]]:
        if not len(ids):
            return iter([(ids, np.empty((0, self.symbols + 1), dtype=np.int64))])
        return self.metric.squared_to_all(ids)

    def _scored(self, squared: Integers) -> NDArray[Any]:
        if self._of_squared is None:
            return self.metric.scores(squared)
        return np.take(self._of_squared, squared)


class EqualityScores:
    """The scores of randomized response: 0 for the input itself, 1 for every other symbol.

    Args:
        symbols: Number of symbols.
    """

    largest = 1

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols

    def from_inputs(self, inputs: Ids) -> Ids:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        return self.of_pairs(inputs[:, None], np.arange(self.symbols))

    def to_outputs(self, outputs: Ids) -> Ids:
        """Returns the scores of all inputs to some outputs, shape ``(n, symbols + 1)``."""
        return self.of_pairs(np.arange(self.symbols + 1), outputs[:, None])

    def of_pairs(self, inputs: Ids, outputs: Ids) -> Ids:
        """Returns the score of each pair; the arguments are broadcast against each other."""
        return (inputs != outputs).astype(np.intp)

    def totals(self, weights: Integers, base: Integers, progress: Progress | None = None) -> Integers:
        """Returns ``Z(x)`` of every input, exact, shape ``(symbols + 1,)``."""
        return weights[1] * base.sum() + (weights[0] - weights[1]) * np.append(base, 0)


def _dense_totals(scores: Scores, weights: Integers, base: Integers, progress: Progress | None) -> Integers:
    inputs = np.arange(scores.symbols + 1)
    totals = np.empty(len(inputs), dtype=np.int64)
    for start in range(0, len(inputs), BLOCK):
        part = inputs[start : start + BLOCK]
        totals[part] = np.take(weights, scores.from_inputs(part)) @ base
        if progress is not None:
            progress(int(part[-1]) + 1, len(inputs))
    return totals
