"""``Channel``: the output distribution ``Pr[M(x) = y]`` of a mechanism.

It returns rows, columns and logarithms.

Audits, certificates, leakage statistics, attacks and training read the distribution only from here.
There are two kinds: ``ScoreChannel`` below, and the one of the staircase mechanism
(``textveil.mechanisms.staircase.channel``).
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
    """The output distribution of one mechanism for every input.

    Inputs are the symbols, by id, then ``<unk>``.

    Attributes:
        base: Base measure of every symbol, 0 for symbols that the mechanism never samples, shape ``(symbols,)``.
    """

    base: Integers

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of symbols; also the id of ``<unk>`` as an input."""

    @abstractmethod
    def rows(self, inputs: Ids) -> Floats:
        """Return ``Pr[M(x) = y]`` of some inputs to all symbols, shape ``(n, symbols)``.

        Each row sums to 1.
        """

    @abstractmethod
    def columns(self, outputs: Ids) -> Floats:
        """Return ``Pr[M(x) = y]`` of all inputs to some outputs, shape ``(n, inputs)``."""

    @abstractmethod
    def exact_row(self, token: int) -> list[int]:
        """Return the exact weight of every symbol as the output of one input: integers of any size."""

    @property
    def drawn(self) -> "Channel":
        """The output distribution without the coin, for inputs that the mechanism never keeps."""
        return self

    @property
    def inputs(self) -> int:
        """The number of inputs: every symbol, and ``<unk>``."""
        return self.symbols + 1

    @cached_property
    def outputs(self) -> Ids:
        """Ids of the symbols that the mechanism samples, ascending."""
        return np.flatnonzero(self.base)

    def log_rows(self, inputs: Ids) -> Floats:
        """Return ``ln Pr[M(x) = y]`` of some inputs to all symbols, shape ``(n, symbols)``.

        The value is -inf for a probability of 0.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.rows(inputs))

    def column_blocks(self, outputs: Ids, size: int = BLOCK) -> Iterator[tuple[Ids, Floats]]:
        """Yield blocks of some outputs, in order, and their ``columns``."""
        for start in range(0, len(outputs), size):
            yield outputs[start : start + size], self.columns(outputs[start : start + size])


@dataclass(frozen=True, kw_only=True)
class ScoreChannel(Channel):
    """The output distribution of a mechanism with integer weights that depend on scores.

        Pr[M(x) = y] = q(y) W[c(x, y)] / Z(x),    Z(x) = sum over y of q(y) W[c(x, y)],

    with a base measure ``q``, a look-up ``W`` from scores to integer weights, and a score ``c(x, y)``
    (``textveil.mechanisms.scores``). SanText+ keeps some inputs with a probability and samples otherwise; this class
    includes that mixture (docs/proofs/santext-plus.md, "The channel").

    Attributes:
        scores: The scores ``c(x, y)``.
        score_weights: ``W``, at least 1 each, shape ``(scores,)``; a score past the end has the last weight.
        base: ``q``, shape ``(symbols,)``, 0 for symbols that the mechanism never samples.
        keepable: True for inputs that the mechanism may keep without sampling, ``<unk>`` last, shape
            ``(symbols + 1,)``; ``None`` for none.
        kept_of_2_64: Probability that the mechanism keeps a keepable input without sampling, in units of 2**-64.
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
        """The output distribution without the coin, for inputs that the mechanism never keeps."""
        if not self.kept_of_2_64:
            return self
        drawn = replace(self, keepable=None, kept_of_2_64=0)
        if "totals" in vars(self):  # the totals do not depend on the coin: reuse them
            vars(drawn)["totals"] = self.totals
        return drawn

    @cached_property
    def weights(self) -> Integers:
        """``W`` for every possible score, shape ``(scores.largest + 1,)`` or longer."""
        beyond = max(0, self.scores.largest + 1 - len(self.score_weights))
        return np.pad(self.score_weights, (0, beyond), mode="edge")

    @cached_property
    def log_weights(self) -> Floats:
        """``ln W`` for every possible score, same shape as ``weights``."""
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
        """The probability that the mechanism keeps each input without sampling, shape ``(inputs,)``."""
        if self.keepable is None:
            return np.zeros(self.inputs)
        return np.where(self.keepable, self.kept_of_2_64 / 2**64, 0.0)

    def weights_from(self, inputs: Ids) -> Integers:
        """Return the exact sampling weights ``q(y) W[c(x, y)]``, one row per input.

        Returns:
            Shape ``(n, symbols)``.
        """
        weights = np.take(self.weights, self.scores.from_inputs(inputs))
        weights *= self.base
        return weights

    def weights_to(self, outputs: Ids) -> Integers:
        """Return the exact sampling weights, one row per output, shape ``(n, inputs)``."""
        weights = np.take(self.weights, self.scores.to_outputs(outputs))
        weights *= self.base[outputs, None]
        return weights

    def rows(self, inputs: Ids) -> Floats:
        """Return ``Pr[M(x) = y]`` of some inputs to all symbols, shape ``(n, symbols)``.

        Each row sums to 1.
        """
        weights = self.weights_from(inputs)
        # The sum of the computed row is enough: `totals` would compute the weights of all inputs.
        probabilities = weights * ((1 - self.kept[inputs]) / weights.sum(axis=1))[:, None]
        own = np.flatnonzero(inputs < self.scores.symbols)
        probabilities[own, inputs[own]] += self.kept[inputs[own]]
        return probabilities

    def columns(self, outputs: Ids) -> Floats:
        """Return ``Pr[M(x) = y]`` of all inputs to some outputs, shape ``(n, inputs)``."""
        probabilities = self.weights_to(outputs) * ((1 - self.kept) / self.totals)
        probabilities[np.arange(len(outputs)), outputs] += self.kept[outputs]
        return probabilities

    def exact_row(self, token: int) -> list[int]:
        """Return the exact weight of every symbol as the output of one input: integers of any size."""
        weights = [int(weight) for weight in self.weights_from(np.array([token]))[0]]
        if self.keepable is None or not self.keepable[token] or not self.kept_of_2_64:
            return weights
        total = sum(weights)
        weights = [weight * (2**64 - self.kept_of_2_64) for weight in weights]
        weights[token] += total * self.kept_of_2_64
        return weights
