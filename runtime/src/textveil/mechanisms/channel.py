"""``Channel``: the output distribution of a mechanism, ``Pr[M(x) = y]``, by row, by column and in logs.

Audits, certificates, leakage statistics, attacks and training read the distribution from here and from nowhere else.
There are two kinds: ``ScoreChannel`` below, and the one of the staircase (``textveil.mechanisms.staircase.channel``).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Floats
from textveil.mechanisms.scores import BLOCK, Ids, Scores


class Channel(ABC):
    """The output distribution of one mechanism for every input: the symbols, by id, and ``<unk>``, the last.

    Attributes:
        base: Base measure of every symbol, 0 for those that are never drawn, shape ``(symbols,)``.
    """

    base: Integers

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of symbols; also the id of ``<unk>`` as an input."""

    @abstractmethod
    def rows(self, inputs: Ids) -> Floats:
        """Returns ``Pr[M(x) = y]`` of some inputs to all symbols, shape ``(n, symbols)``; a row sums to 1."""

    @abstractmethod
    def columns(self, outputs: Ids) -> Floats:
        """Returns ``Pr[M(x) = y]`` of all inputs to some outputs, shape ``(n, inputs)``."""

    @abstractmethod
    def exact_row(self, token: int) -> list[int]:
        """Returns the exact weight of every symbol as the output of one input: integers of any size."""

    @property
    def drawn(self) -> "Channel":
        """The channel of the draw alone, for inputs that are never kept."""
        return self

    @property
    def inputs(self) -> int:
        """The number of inputs: every symbol, and ``<unk>``."""
        return self.symbols + 1

    @cached_property
    def outputs(self) -> Ids:
        """Ids of the symbols that are drawn, ascending."""
        return np.flatnonzero(self.base)

    def log_rows(self, inputs: Ids) -> Floats:
        """Returns ``ln Pr[M(x) = y]`` of some inputs to all symbols, -inf where it is 0, shape ``(n, symbols)``."""
        with np.errstate(divide="ignore"):
            return np.log(self.rows(inputs))

    def column_blocks(self, outputs: Ids, size: int = BLOCK) -> Iterator[tuple[Ids, Floats]]:
        """Yields some outputs in order, a block at a time, and their ``columns``."""
        for start in range(0, len(outputs), size):
            yield outputs[start : start + size], self.columns(outputs[start : start + size])


@dataclass(frozen=True, kw_only=True)
class ScoreChannel(Channel):
    """The output distribution of a mechanism with integer weights that depend on scores.

        Pr[M(x) = y] = q(y) W[c(x, y)] / Z(x),    Z(x) = sum over y of q(y) W[c(x, y)],

    with a base measure ``q``, a look-up ``W`` from scores to integer weights, and a score ``c(x, y)``
    (``textveil.mechanisms.scores``). SanText+ keeps some inputs with a probability and draws otherwise; that is mixed
    in here (docs/proofs/santext-plus.md, "The channel").

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
    def symbols(self) -> int:
        """The number of symbols; also the id of ``<unk>`` as an input."""
        return self.scores.symbols

    @property
    def drawn(self) -> "ScoreChannel":
        """The channel of the draw alone, for inputs that are never kept."""
        if not self.kept_of_2_64:
            return self
        drawn = replace(self, keepable=None, kept_of_2_64=0)
        if "totals" in vars(self):  # summed already: they are about draws
            vars(drawn)["totals"] = self.totals
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

    def exact_row(self, token: int) -> list[int]:
        """Returns the exact weight of every symbol as the output of one input: integers of any size."""
        weights = [int(weight) for weight in self.weights_from(np.array([token]))[0]]
        if self.keepable is None or not self.keepable[token] or not self.kept_of_2_64:
            return weights
        total = sum(weights)
        weights = [weight * (2**64 - self.kept_of_2_64) for weight in weights]
        weights[token] += total * self.kept_of_2_64
        return weights
