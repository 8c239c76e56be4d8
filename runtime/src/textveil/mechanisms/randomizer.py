"""Output distributions of mechanisms, as matrices of probabilities.

``Pr[M(x) = y]`` is the probability of output ``y`` for input ``x``. Rows belong to inputs, columns to outputs. Audits,
certificates, leakage statistics, attacks and training use these classes. ``Randomizer`` is the interface. It has two
implementations: ``ScoreRandomizer``, and ``StaircaseRandomizer`` for the staircase mechanism.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.arrays import Floats, Ids, Integers
from textveil.mechanisms.scores import BLOCK, PairScoring


class Randomizer(ABC):
    """Interface of the exact output probabilities of one mechanism, for every input word.

    The inputs are the words of the vocabulary (*symbols*), in the order of their ids, and then ``<unk>`` (unknown
    words).

    Attributes:
        base: Base weight of each symbol: the part of its weight as an output that is the same for all inputs; 0 for
            symbols that are never an output. Shape ``(symbol_count,)``.

    Example:
        >>> from textveil import Sanitizer
        >>> from textveil.text import make_plan
        >>> plan = make_plan(Sanitizer.load().bundle, epsilon=8)
        >>> randomizer: Randomizer = plan.mechanism.get_randomizer()
        >>> randomizer.compute_rows(np.array([0])).sum(axis=1).round(6).tolist()
        [1.0]
    """

    base: Integers

    @property
    @abstractmethod
    def symbol_count(self) -> int:
        """Number of words in the vocabulary (symbols). It is also the id of the input ``<unk>`` (unknown words)."""

    @abstractmethod
    def compute_rows(self, inputs: Ids) -> Floats:
        """Compute the probabilities of all outputs for each given input: ``Pr[M(x) = y]``, shape ``(n, symbols)``.

        The probabilities in each row sum to 1.
        """

    @abstractmethod
    def compute_columns(self, outputs: Ids) -> Floats:
        """Compute the probabilities of given outputs for all inputs: ``Pr[M(x) = y]``, shape ``(n, inputs)``."""

    @abstractmethod
    def compute_exact_row(self, token: int) -> list[int]:
        """Compute the exact integer weight of every word of the vocabulary as an output for one input.

        Args:
            token: Id of the input.

        Returns:
            One integer of any size for each word, in proportion to its probability.
        """

    @property
    def without_coin(self) -> "Randomizer":
        """The probabilities without the random decision by which SanText+ leaves common words unchanged.

        Other mechanisms make no such decision; for these the result is this object.
        """
        return self

    @property
    def input_count(self) -> int:
        """Number of possible inputs: all words of the vocabulary, and ``<unk>`` for unknown words."""
        return self.symbol_count + 1

    @cached_property
    def output_ids(self) -> Ids:
        """Ids of the words that sampling may return for some input, ascending.

        A word that SanText+ may leave unchanged, but never samples, is not in the result (``without_coin``).
        """
        return np.flatnonzero(self.base)

    def compute_log_rows(self, inputs: Ids) -> Floats:
        """Compute the log probabilities of all outputs for given inputs, ``ln Pr[M(x) = y]``, shape ``(n, symbols)``.

        The logarithm of the probability 0 is -inf.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.compute_rows(inputs))

    def iterate_column_blocks(self, outputs: Ids, size: int = BLOCK) -> Iterator[tuple[Ids, Floats]]:
        """Compute the probabilities of outputs for all inputs (``compute_columns``) in blocks, to limit memory.

        Args:
            outputs: Ids of outputs.
            size: Maximum number of outputs in one block.

        Yields:
            The ids of the block, and the result of ``compute_columns`` for them.
        """
        for start in range(0, len(outputs), size):
            yield outputs[start : start + size], self.compute_columns(outputs[start : start + size])


@dataclass(frozen=True, kw_only=True)
class ScoreRandomizer(Randomizer):
    """Output distribution of a mechanism whose integer weights depend on scores of pairs of words.

        Pr[M(x) = y] = q(y) W[c(x, y)] / Z(x),    Z(x) = sum over y of q(y) W[c(x, y)],

    where ``c(x, y)`` is the score of a pair (``textveil.mechanisms.scores``), ``W`` a table with the integer weight of
    each score, and ``q`` a factor of each output that is the same for all inputs. SanText+ leaves some inputs unchanged
    at random, and samples otherwise; this class includes this mixture (docs/proofs/santext-plus.md).

    Attributes:
        scores: The scores ``c(x, y)``.
        score_weights: ``W``, each at least 1, shape ``(scores,)``. Larger scores have the last weight.
        base: ``q``, shape ``(symbol_count,)``; 0 for symbols that are never an output.
        is_keepable: For each input, whether the mechanism may return it without sampling; ``<unk>`` is last. Shape
            ``(symbol_count + 1,)``. ``None`` if the mechanism always samples.
        keep_threshold: Probability with which the mechanism returns such an input without sampling, multiplied by
            2**64.

    Example:
        >>> from textveil.mechanisms import EqualityScores
        >>> weights, base = np.array([3, 1]), np.array([1, 1])  # an own weight of 3, and 1 for the other symbol
        >>> randomizer = ScoreRandomizer(scores=EqualityScores(2), score_weights=weights, base=base)
        >>> randomizer.compute_rows(np.array([0, 1])).tolist()
        [[0.75, 0.25], [0.25, 0.75]]
        >>> randomizer.compute_exact_row(0)
        [3, 1]
    """

    scores: PairScoring
    score_weights: Integers
    base: Integers
    is_keepable: NDArray[np.bool_] | None = None
    keep_threshold: int = 0

    @property
    def symbol_count(self) -> int:
        """Number of words in the vocabulary (symbols). It is also the id of the input ``<unk>`` (unknown words)."""
        return self.scores.symbol_count

    @property
    def without_coin(self) -> "ScoreRandomizer":
        """The probabilities without the random decision by which SanText+ leaves common words unchanged.

        Other mechanisms make no such decision; for these the result is this object.
        """
        if not self.keep_threshold:
            return self
        randomizer = replace(self, is_keepable=None, keep_threshold=0)
        if "totals" in vars(self):  # the totals do not depend on the coin: reuse them
            vars(randomizer)["totals"] = self.totals
        return randomizer

    @cached_property
    def weights(self) -> Integers:
        """The integer weight ``W`` of every possible score; at least ``scores.max_score + 1`` entries."""
        beyond = max(0, self.scores.max_score + 1 - len(self.score_weights))
        return np.pad(self.score_weights, (0, beyond), mode="edge")

    @cached_property
    def log_weights(self) -> Floats:
        """Natural logarithm of the weight of every possible score, in the shape of ``weights``."""
        return np.log(self.weights.astype(np.float64))

    @cached_property
    def totals(self) -> Integers:
        """Exact sum of the weights of all outputs, ``Z(x)``, for each input ``x``; shape ``(inputs,)``."""
        return self.scores.compute_totals(self.weights, self.base)

    @cached_property
    def log_totals(self) -> Floats:
        """Logarithm of the sum of the weights of all outputs, ``ln Z(x)``, for each input; shape ``(inputs,)``."""
        return np.log(self.totals.astype(np.float64))

    @cached_property
    def keep_probabilities(self) -> Floats:
        """For each input, the probability that SanText+ returns the input without sampling; shape ``(inputs,)``."""
        if self.is_keepable is None:
            return np.zeros(self.input_count)
        return np.where(self.is_keepable, self.keep_threshold / 2**64, 0.0)

    def compute_input_weights(self, inputs: Ids) -> Integers:
        """Compute the exact integer weights ``q(y) W[c(x, y)]`` of all outputs ``y`` for given inputs ``x``.

        The factor ``q``, the weight table ``W`` and the score ``c`` are defined in the docstring of the class.

        Returns:
            Weights, shape ``(n, symbols)``, one row for each input.
        """
        weights = np.take(self.weights, self.scores.score_inputs(inputs))
        weights *= self.base
        return weights

    def compute_output_weights(self, outputs: Ids) -> Integers:
        """Compute the exact integer weights ``q(y) W[c(x, y)]`` of given outputs ``y`` for all inputs ``x``.

        The factor ``q``, the weight table ``W`` and the score ``c`` are defined in the docstring of the class.

        Returns:
            Weights, shape ``(n, inputs)``, one row for each output.
        """
        weights = np.take(self.weights, self.scores.score_outputs(outputs))
        weights *= self.base[outputs, None]
        return weights

    def compute_rows(self, inputs: Ids) -> Floats:
        """Compute the probabilities of all outputs for each given input: ``Pr[M(x) = y]``, shape ``(n, symbols)``.

        The probabilities in each row sum to 1.
        """
        weights = self.compute_input_weights(inputs)
        # The sum of the computed rows is enough. `totals` would compute the weights of all inputs.
        probabilities = weights * ((1 - self.keep_probabilities[inputs]) / weights.sum(axis=1))[:, None]
        own = np.flatnonzero(inputs < self.scores.symbol_count)
        probabilities[own, inputs[own]] += self.keep_probabilities[inputs[own]]
        return probabilities

    def compute_columns(self, outputs: Ids) -> Floats:
        """Compute the probabilities of given outputs for all inputs: ``Pr[M(x) = y]``, shape ``(n, inputs)``."""
        probabilities = self.compute_output_weights(outputs) * ((1 - self.keep_probabilities) / self.totals)
        probabilities[np.arange(len(outputs)), outputs] += self.keep_probabilities[outputs]
        return probabilities

    def compute_exact_row(self, token: int) -> list[int]:
        """Compute the exact integer weight of every word of the vocabulary as an output for one input.

        Args:
            token: Id of the input.

        Returns:
            One integer of any size for each word, in proportion to its probability.
        """
        weights = [int(weight) for weight in self.compute_input_weights(np.array([token]))[0]]
        if self.is_keepable is None or not self.is_keepable[token] or not self.keep_threshold:
            return weights
        total = sum(weights)
        weights = [weight * (2**64 - self.keep_threshold) for weight in weights]
        weights[token] += total * self.keep_threshold
        return weights
