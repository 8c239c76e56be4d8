"""``Channel``: the output distribution of a mechanism, ``Pr[M(x) = y]``, by row, by column, by pair and in logs.

Every mechanism with integer weights has the form

    Pr[M(x) = y] = q(y) W[c(x, y)] / Z(x),    Z(x) = sum over y of q(y) W[c(x, y)],

with a base measure ``q``, a look-up ``W`` from scores to integer weights, and a score ``c(x, y)``
(``textveil.mechanisms.scores``).

SanText+ keeps some inputs with a probability and draws otherwise; ``Channel`` mixes that in
(docs/proofs/santext-plus.md, "The channel"). Audits, certificates,
leakage statistics, attacks and training read the distribution from here and from nowhere else.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Floats
from textveil.mechanisms.scores import BLOCK, Ids, Progress, Scores


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
