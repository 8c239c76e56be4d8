"""How likely every input makes an output: columns of a law, and rows, by blocks.

``Pr[M(x) = y] = weight(x, y) / Z(x)`` with ``Z(x) = sum_y weight(x, y)``. Where the tail is exact,
``weight(x, y) = q(y) W[min(s(x, y), last)]`` with ``s(x, y) = floor(grid d(x, y))``: squared distances are integers, so
one look-up from them to weights replaces scores and roots. In the other laws ``weight(x, y) = tail(x) q(y) +
excess(x, y)`` with few stored words y for each x. Weights are the integers of the law, as doubles.
"""

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import ExactLaw, ResponseLaw, TableLaw, WeightedLaw

Ids = NDArray[np.int64]
Doubles = NDArray[np.float64]

#: Outputs at a time: some 40 MB of doubles for 20,000 inputs.
BLOCK = 256


def columns_of(law: WeightedLaw, inputs: int, report: Callable[[int, int], None] | None = None) -> "Columns":
    """The columns of a law.

    Args:
        law: The law.
        inputs: Number of inputs, ``<unk>`` counted.
        report: Called with outputs done and outputs in all where totals have to be summed.
    """
    if isinstance(law, ExactLaw):
        return ExactColumns(law, report)
    assert isinstance(law, TableLaw | ResponseLaw)  # all there are
    return StoredColumns(law, inputs)


class ExactColumns:
    """Columns of a law with an exact tail.

    Args:
        law: The law.
        report: Called with outputs done and outputs in all while totals are summed.

    Attributes:
        outputs: Ids of the outputs that are drawn.
    """

    def __init__(self, law: ExactLaw, report: Callable[[int, int], None] | None = None) -> None:
        self._metric, self._base, self._report = law.metric, law.capped.base, report
        self.outputs = np.flatnonzero(self._base)
        weights = law.capped.weights
        last = len(weights) - 1
        # The first squared distance whose score is `last` or more: from there on every pair has the last weight.
        end = -(-(last**2) * self._metric.median_squared // self._metric.grid**2) + 1
        scores = self._metric.scores(np.arange(min(end, self._largest()) + 1, dtype=np.int64))
        self._weights = weights[np.minimum(scores, last)].astype(np.float64)

    def _largest(self) -> int:
        """No squared distance is larger: twice the longest row, squared, and the coordinate of ``<unk>``."""
        parts = np.array_split(self._metric.rows, 64)
        longest = max(int((part.astype(np.int64) ** 2).sum(axis=1).max(initial=0)) for part in parts)
        return 4 * longest + self._metric.unknown_extra

    def blocks(self, outputs: Ids) -> Iterator[tuple[Ids, Doubles]]:
        """Some outputs in order, a block at a time, and their weights from every input, shape ``(block, inputs)``."""
        for part, squared in self._metric.squared_to_all(outputs, BLOCK):
            weights = np.take(self._weights, squared, mode="clip")
            weights *= self._base[part, None]
            yield part, weights

    def rows(self, inputs: Ids) -> Iterator[tuple[Ids, Doubles]]:
        """Some inputs in order, a block at a time, and their weights to every symbol, shape ``(block, symbols)``."""
        for part, squared in self._metric.squared_to_all(inputs, BLOCK):
            weights = np.take(self._weights, squared[:, :-1], mode="clip")
            weights *= self._base
            yield part, weights

    @cached_property
    def totals(self) -> Doubles:
        """``Z(x)`` of every input, ``<unk>`` last, shape ``(inputs,)``."""
        total = np.zeros(len(self._metric.rows))
        done = 0
        for part, weights in self.blocks(self.outputs):
            total += weights.sum(axis=0)
            done += len(part)
            if self._report is not None:
                self._report(done, len(self.outputs))
        return total


class StoredColumns:
    """Columns of a law that stores words for every input, and gives one weight per unit of ``q`` to all others.

    Args:
        law: The law.
        inputs: Number of inputs, ``<unk>`` counted.

    Attributes:
        outputs: Ids of the outputs that are drawn.
        totals: ``Z(x)`` of every input, ``<unk>`` last, shape ``(inputs,)``.
    """

    def __init__(self, law: TableLaw | ResponseLaw, inputs: int) -> None:
        self._law, rows = law, law.rows(np.arange(inputs))
        self.totals: Doubles = rows.totals.astype(np.float64)
        self._tail = rows.tail.astype(np.float64)
        self._base = np.diff(rows.base, prepend=0)
        self.outputs = np.flatnonzero(self._base)
        excess = np.diff(rows.cumulative, axis=1, prepend=0)
        x, place = np.nonzero(excess)
        stored = rows.stored[x, place]
        order = np.argsort(stored, kind="stable")
        self._x, self._excess = x[order], excess[x, place][order].astype(np.float64)
        self._starts = np.searchsorted(stored[order], np.arange(len(self._base) + 1))

    def blocks(self, outputs: Ids) -> Iterator[tuple[Ids, Doubles]]:
        """Some outputs in order, a block at a time, and their weights from every input, shape ``(block, inputs)``."""
        for start in range(0, len(outputs), BLOCK):
            part = outputs[start : start + BLOCK]
            weights = self._base[part, None] * self._tail
            for row, y in enumerate(part):
                entries = slice(self._starts[y], self._starts[y + 1])
                weights[row, self._x[entries]] += self._excess[entries]
            yield part, weights

    def rows(self, inputs: Ids) -> Iterator[tuple[Ids, Doubles]]:
        """Some inputs in order, a block at a time, and their weights to every symbol, shape ``(block, symbols)``."""
        for start in range(0, len(inputs), BLOCK):
            part = inputs[start : start + BLOCK]
            yield part, self._law.channel.weights_from(part).astype(np.float64)


Columns = ExactColumns | StoredColumns
