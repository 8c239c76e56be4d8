"""``Channel``: the output distribution of a mechanism, ``Pr[M(x) = y]``, by row, by column, by pair and in logs.

Every mechanism with integer weights has the form

    Pr[M(x) = y] = q(y) W[c(x, y)] / Z(x),    Z(x) = sum over y of q(y) W[c(x, y)],

with a base measure ``q``, a look-up ``W`` from scores to integer weights, and a score ``c(x, y)``:

* ``santext``, exact tail: ``c = floor(grid d(x, y))`` (``MetricScores``);
* ``santext``, capped tail: ``c = min(floor(grid d(x, y)), last stored score of x)`` (``StoredScores``);
* ``krr`` and ``random``: ``c = 0`` if ``x = y``, else ``1`` (``EqualityScores``).

SanText+ keeps some inputs with a probability and draws otherwise; ``Channel`` mixes that in
(docs/proofs/santext-plus.md, "The channel"). Audits, certificates,
leakage statistics, attacks and training read the distribution from here and from nowhere else.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Floats, Metric
from textveil.mechanisms.table import Table

Ids = NDArray[np.intp]
Progress = Callable[[int, int], None]

#: Inputs or outputs at a time: some 40 MB of doubles for 20,000 symbols.
BLOCK = 256


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
    """The scores of SanText without a cap: ``floor(grid d(x, y))`` for every pair, from the shipped rows.

    Args:
        metric: Distances of all inputs.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric, self.symbols = metric, len(metric.rows) - 1
        # No squared distance is larger: twice the longest row, squared, and the coordinate of <unk>.
        parts = np.array_split(metric.rows, 64)
        longest = max(int((part.astype(np.int64) ** 2).sum(axis=1).max(initial=0)) for part in parts)
        # Squared distances are integers: one look-up replaces a division and a root for every pair.
        self._of_squared = metric.scores(np.arange(4 * longest + metric.unknown_extra + 1, dtype=np.int64))
        self.largest = int(self._of_squared[-1])

    def from_inputs(self, inputs: Ids) -> Integers:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        return np.concatenate([self._scored(squared[:, :-1]) for _, squared in self._squared(inputs)])

    def to_outputs(self, outputs: Ids) -> Integers:
        """Returns the scores of all inputs to some outputs, shape ``(n, symbols + 1)``."""
        return np.concatenate([self._scored(squared) for _, squared in self._squared(outputs)])

    def of_pairs(self, inputs: Ids, outputs: Ids) -> Integers:
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

    def _scored(self, squared: Integers) -> Integers:
        return np.take(self._of_squared, squared)


class StoredScores:
    """The scores of SanText with a capped tail: a word that an input does not store has the last score it stores.

    Args:
        table: Neighbors and scores.
    """

    def __init__(self, table: Table) -> None:
        self.table, self.symbols = table, table.symbols
        self._last = table.scores[:, -1].astype(np.intp)
        self.largest = int(self._last.max())

    def from_inputs(self, inputs: Ids) -> Ids:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        scores = np.repeat(self._last[inputs, None], self.symbols, axis=1)
        stored = self.table.neighbors[inputs].astype(np.intp)
        np.put_along_axis(scores, stored, self.table.scores[inputs].astype(np.intp), axis=1)
        return scores

    def to_outputs(self, outputs: Ids) -> Ids:
        """Returns the scores of all inputs to some outputs, shape ``(n, symbols + 1)``."""
        by_output, starts = self._storing
        scores = np.repeat(self._last[None, :], len(outputs), axis=0)
        counts = starts[outputs + 1] - starts[outputs]
        row = np.repeat(np.arange(len(outputs)), counts)
        entry = by_output[starts[outputs][row] + np.arange(len(row)) - (np.cumsum(counts) - counts)[row]]
        scores[row, entry // self.table.neighbors.shape[1]] = self.table.scores.ravel()[entry]
        return scores

    def of_pairs(self, inputs: Ids, outputs: Ids) -> Ids:
        """Returns the score of each pair; the arguments are broadcast against each other."""
        keys, scores = self._by_pair
        inputs, outputs = np.broadcast_arrays(inputs, outputs)
        wanted = inputs.astype(np.int64) * (self.symbols + 1) + outputs
        position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[position] == wanted, scores[position], self._last[inputs])

    def totals(self, weights: Integers, base: Integers, progress: Progress | None = None) -> Integers:
        """Returns ``Z(x)`` of every input, exact, shape ``(symbols + 1,)``."""
        totals = np.empty(self.symbols + 1, dtype=np.int64)
        mass = base.sum()
        for part in np.array_split(np.arange(len(totals)), max(1, len(totals) // 4096)):
            tail = weights[self._last[part]]
            excess = (weights[self.table.scores[part]] - tail[:, None]) * base[self.table.neighbors[part]]
            totals[part] = tail * mass + excess.sum(axis=1)
        return totals

    @cached_property
    def _storing(self) -> tuple[Ids, Ids]:
        """Entries of the table in order of the output they store, and where each output's entries begin."""
        flat = self.table.neighbors.ravel()
        order = np.argsort(flat, kind="stable")
        return order, np.searchsorted(flat[order], np.arange(self.symbols + 1))

    @cached_property
    def _by_pair(self) -> tuple[Integers, Ids]:
        """Keys ``input * (symbols + 1) + output`` in ascending order, and the score of each, to find by bisection."""
        stored = self.table.neighbors.astype(np.int64)
        order = np.argsort(stored, axis=1)
        keys = np.arange(len(stored))[:, None] * (self.symbols + 1) + np.take_along_axis(stored, order, axis=1)
        return keys.ravel(), np.take_along_axis(self.table.scores.astype(np.intp), order, axis=1).ravel()


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


@dataclass(frozen=True)
class Channel:
    """The output distribution of one mechanism for every input.

    Attributes:
        scores: The scores ``c(x, y)``.
        score_weights: ``W``, at least 1 each, shape ``(scores,)``; a score past the end has the last weight.
        base: ``q``, shape ``(symbols,)``, 0 for symbols that are never drawn.
        keepable: Which inputs may come out without a draw, ``<unk>`` last, shape ``(symbols + 1,)``; ``None`` for none.
        kept_of_2_64: Probability that a keepable input comes out without a draw, in units of 2**-64.
    """

    scores: Scores
    score_weights: Integers
    base: Integers
    keepable: NDArray[np.bool_] | None = None
    kept_of_2_64: int = 0

    @property
    def inputs(self) -> int:
        """The number of inputs: every symbol, and ``<unk>``."""
        return self.scores.symbols + 1

    @cached_property
    def outputs(self) -> Ids:
        """Ids of the symbols that are drawn, ascending."""
        return np.flatnonzero(self.base)

    @property
    def drawn(self) -> "Channel":
        """The channel of the draw alone, for inputs that are never kept."""
        if not self.kept_of_2_64:
            return self
        drawn = replace(self, keepable=None, kept_of_2_64=0)
        if "totals" in self.__dict__:  # summed already: they are about draws
            drawn.__dict__["totals"] = self.totals
        return drawn

    @cached_property
    def weights(self) -> Integers:
        """``W`` for every score there is, shape ``(scores.largest + 1,)`` or more."""
        beyond = max(0, self.scores.largest + 1 - len(self.score_weights))
        return np.pad(self.score_weights, (0, beyond), mode="edge")

    @cached_property
    def log_weights(self) -> Floats:
        """``ln W`` for every score there is, same shape."""
        return np.log(self.weights.astype(np.float64))

    @cached_property
    def totals(self) -> Integers:
        """``Z(x)`` of every input, exact, shape ``(inputs,)``."""
        return self.scores.totals(self.weights, self.base)

    def sum_totals(self, progress: Progress) -> None:
        """Computes ``totals`` now, and tells how far it is."""
        self.__dict__["totals"] = self.scores.totals(self.weights, self.base, progress)

    @cached_property
    def log_totals(self) -> Floats:
        """``ln Z(x)``, shape ``(inputs,)``."""
        return np.log(self.totals.astype(np.float64))

    @cached_property
    def kept(self) -> Floats:
        """The probability that each input comes out without a draw, shape ``(inputs,)``."""
        if self.keepable is None:
            return np.zeros(self.inputs)
        return np.where(self.keepable, self.kept_of_2_64 / 2**64, 0.0)

    def weights_from(self, inputs: Ids) -> Integers:
        """Returns the exact weights ``q(y) W[c(x, y)]`` of a draw, one row per input, shape ``(n, symbols)``."""
        weights = np.take(self.weights, self.scores.from_inputs(inputs))
        weights *= self.base
        return weights

    def weights_to(self, outputs: Ids) -> Integers:
        """Returns the exact weights of a draw, one row per output, shape ``(n, inputs)``."""
        weights = np.take(self.weights, self.scores.to_outputs(outputs))
        weights *= self.base[outputs, None]
        return weights

    def rows(self, inputs: Ids) -> Floats:
        """Returns ``Pr[M(x) = y]`` of some inputs to all symbols, shape ``(n, symbols)``; a row sums to 1."""
        weights = self.weights_from(inputs)
        # The row is at hand: its sum needs no look at other inputs.
        probabilities = weights * ((1 - self.kept[inputs]) / weights.sum(axis=1))[:, None]
        own = np.flatnonzero(inputs < self.scores.symbols)
        probabilities[own, inputs[own]] += self.kept[inputs[own]]
        return probabilities

    def columns(self, outputs: Ids) -> Floats:
        """Returns ``Pr[M(x) = y]`` of all inputs to some outputs, shape ``(n, inputs)``."""
        probabilities = self.weights_to(outputs) * ((1 - self.kept) / self.totals)
        probabilities[np.arange(len(outputs)), outputs] += self.kept[outputs]
        return probabilities

    def log_columns(self, outputs: Ids) -> Floats:
        """Returns ``ln Pr[M(x) = y]`` of all inputs to some outputs, -inf where it is 0, shape ``(n, inputs)``."""
        with np.errstate(divide="ignore"):
            return np.log(self.columns(outputs))

    def log_rows(self, inputs: Ids) -> Floats:
        """Returns ``ln Pr[M(x) = y]`` of some inputs to all symbols, -inf where it is 0, shape ``(n, symbols)``."""
        with np.errstate(divide="ignore"):
            return np.log(self.rows(inputs))

    def row_blocks(self, inputs: Ids, size: int = BLOCK) -> Iterator[tuple[Ids, Floats]]:
        """Yields some inputs in order, a block at a time, and their ``rows``."""
        for start in range(0, len(inputs), size):
            yield inputs[start : start + size], self.rows(inputs[start : start + size])

    def column_blocks(self, outputs: Ids, size: int = BLOCK) -> Iterator[tuple[Ids, Floats]]:
        """Yields some outputs in order, a block at a time, and their ``columns``."""
        for start in range(0, len(outputs), size):
            yield outputs[start : start + size], self.columns(outputs[start : start + size])


def _dense_totals(scores: Scores, weights: Integers, base: Integers, progress: Progress | None) -> Integers:
    inputs = np.arange(scores.symbols + 1)
    totals = np.empty(len(inputs), dtype=np.int64)
    for start in range(0, len(inputs), BLOCK):
        part = inputs[start : start + BLOCK]
        totals[part] = np.take(weights, scores.from_inputs(part)) @ base
        if progress is not None:
            progress(int(part[-1]) + 1, len(inputs))
    return totals
