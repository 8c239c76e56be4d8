"""The laws: which integer weights each input has. Drawing from them is the business of ``sampling``.

* ``santext``: Pr[M(x) = y] = q(y) exp(-alpha s(x, y)) / Z(x) over every output, SanText (Yue et al. 2021, Eq. 1)
  with the capped score s(x, y) = min(d(x, y), r(x)) (docs/proofs/capped-score.md), or, where the tail is exact, with
  s = d itself.
* ``santext+``: the same over the sensitive outputs; a common word is kept with probability 1 - p (Algorithm 2).
* ``fbdd``: noise on the vector, then the nearest output; it has no weights (module ``fbdd``).
* ``krr``: k-ary randomised response, the word itself e^epsilon times likelier than any other output.
* ``random``: uniform over the outputs.

All but ``fbdd`` are integer weights. Those but the exact tail's are ``tail(x) base(y) + excess(x, y)`` and share one
sampler; the exact tail draws from the same rows and rejects.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from textveil import sampling
from textveil.errors import OptionError
from textveil.metric import Metric
from textveil.sampling import Integers, Rows
from textveil.table import SANTEXT_OUTPUT, LevelLaw, Table

RandomWords = Callable[[int], NDArray[np.uint64]]

MECHANISMS = ("santext", "santext+", "random", "krr", "fbdd")

#: Largest epsilon of ``krr``: beyond it the word is practically always kept.
MAX_KRR_EPSILON = 30


class Law(Protocol):
    """What comes out for every input (a symbol id, or the number of symbols for ``<unk>``)."""

    def draw(self, inputs: Integers, random_words: RandomWords) -> Integers:
        """One output for each input, independently, shape ``(n,)``."""
        ...


@runtime_checkable
class WeightedLaw(Law, Protocol):
    """A law that is integer weights over the outputs for every input: it can be told as well as drawn from."""

    def weights_of(self, token: int) -> Integers:
        """The weight of every symbol as output of one input, shape ``(symbols,)``. Exact."""
        ...


@dataclass(frozen=True)
class TableLaw:
    """SanText's law with the capped score, from a table (the law of ``santext``; the rows of ``santext+``).

    With ``W`` the level's weights, ``s_j`` the scores stored for ``x`` and ``s_k`` the last of them:
    ``tail(x) = W[s_k]``, ``excess(x, y_j) = q(y_j) (W[s_j] - W[s_k])``. A stored neighbour that is not an output
    of the mechanism has ``q = 0``. It is ``2 alpha d``-metric-DP up to ``privacy.rounding_slack``.

    Attributes:
        table: Neighbours and scores.
        weights: ``W``, shape ``(scores,)``.
        base: ``q``, shape ``(symbols,)``, 0 where a symbol is never an output.
        base_sums: Running sums of ``base``.
    """

    table: Table
    weights: Integers
    base: Integers
    base_sums: Integers

    @classmethod
    def of(cls, table: Table, mechanism: str, law: LevelLaw) -> "TableLaw":
        """The law of ``mechanism`` (``santext`` or ``santext+``) at one level."""
        base = table.base_measure(mechanism, law)
        return cls(table, law.weights, base, np.cumsum(base))

    def rows(self, inputs: Integers) -> Rows:
        """The rows of some inputs, in that order."""
        stored = self.table.neighbours[inputs].astype(np.int64)
        weights = self.weights[self.table.scores[inputs]]
        tail = weights[:, -1]
        excess = (weights - tail[:, None]) * self.base[stored]
        return Rows(stored, np.cumsum(excess, axis=1), tail, self.base_sums)

    def weights_of(self, token: int) -> Integers:
        """Returns the weight of every symbol as output of one input, shape ``(symbols,)``."""
        return self.rows(np.array([token])).weights(0)

    def draw(self, inputs: Integers, random_words: RandomWords) -> Integers:
        """Draws one output for every input, shape ``(n,)``."""
        return _draw(self.rows, inputs, random_words)


@dataclass(frozen=True)
class ExactLaw:
    """SanText's law without a cap: every output has the weight of its own distance, stored or not.

    ``weight(x, y) = q(y) W[s(x, y)]`` with ``s(x, y) = floor(grid d(x, y))`` from the rows of the metric. A draw
    proposes from the capped row, which has ``q(y) W[s_k]`` for every word that is not stored, and thins the tail;
    words that are not stored are no nearer than the last one that is, so ``W[s(x, y)] <= W[s_k]``
    (docs/proofs/exact-tail.md).

    Attributes:
        capped: The capped law of the same weights.
        metric: Distances of all inputs.
    """

    capped: TableLaw
    metric: Metric

    def tail_weights(self, inputs: Integers, outputs: Integers) -> Integers:
        """``W[s(x, y)]`` of pairs, shape ``(n,)``."""
        weights = self.capped.weights
        return weights[np.minimum(self.metric.scores(self.metric.squared(inputs, outputs)), len(weights) - 1)]

    def weights_of(self, token: int) -> Integers:
        """Returns the weight of every symbol as output of one input, shape ``(symbols,)``."""
        symbols = np.arange(self.capped.table.symbols)
        return self.capped.base * self.tail_weights(np.full(len(symbols), token), symbols)

    def draw(self, inputs: Integers, random_words: RandomWords) -> Integers:
        """Draws one output for every input, shape ``(n,)``."""
        unique, row_of = np.unique(inputs, return_inverse=True)
        return sampling.draw_thinned(
            self.capped.rows(unique),
            row_of,
            lambda rows, outputs: self.tail_weights(unique[rows], outputs),
            random_words,
        )


@dataclass(frozen=True)
class ResponseLaw:
    """``random`` and ``krr``: uniform over the outputs, plus ``excess`` for the input itself where it is one.

    Pr[M(x) = x] / Pr[M(x) = y] = (tail + excess) / tail for x among the outputs; other inputs are uniform. Pure
    epsilon-LDP with epsilon = ln((tail + excess) / tail) (Kairouz, Bonawitz, Ramage 2016).

    Attributes:
        is_output: 1 for outputs, shape ``(symbols,)``.
        tail: Weight of any one output.
        excess: Additional weight of the input itself.
    """

    is_output: Integers
    tail: int
    excess: int

    @classmethod
    def uniform(cls, table: Table) -> "ResponseLaw":
        """The law of ``random``."""
        return cls(_outputs(table), 1, 0)

    @classmethod
    def randomised_response(cls, table: Table, epsilon: Decimal) -> "ResponseLaw":
        """The law of ``krr``. ``exp(epsilon)`` is rounded down, so that ``epsilon`` can only overstate.

        Raises:
            OptionError: ``epsilon`` is not in ``(0, MAX_KRR_EPSILON]``.
        """
        if not 0 < epsilon <= MAX_KRR_EPSILON:
            raise OptionError(f"krr needs an epsilon above 0 and at most {MAX_KRR_EPSILON}")
        tail = 1 << 15  # exp(30) * 2**15 < 2**59, and 2**15 * symbols < 2**59
        with localcontext(prec=60, rounding=ROUND_FLOOR):
            # Decimal.exp is correctly rounded to nearest whatever the context says: take one unit off the last
            # of 60 digits before rounding down.
            own = int((epsilon.exp() * (1 - Decimal(10) ** -58) * tail).to_integral_value())
        return cls(_outputs(table), tail, max(own - tail, 0))

    def rows(self, inputs: Integers) -> Rows:
        """The rows of some inputs, in that order."""
        own = np.append(self.is_output, 0)[inputs]
        stored = np.where(own, inputs, 0)[:, None]
        tail = np.full(len(inputs), self.tail, dtype=np.int64)
        return Rows(stored, (own * self.excess)[:, None], tail, np.cumsum(self.is_output))

    def weights_of(self, token: int) -> Integers:
        """Returns the weight of every symbol as output of one input, shape ``(symbols,)``."""
        return self.rows(np.array([token])).weights(0)

    def draw(self, inputs: Integers, random_words: RandomWords) -> Integers:
        """Draws one output for every input, shape ``(n,)``."""
        return _draw(self.rows, inputs, random_words)


def _draw(rows: Callable[[Integers], Rows], inputs: Integers, random_words: RandomWords) -> Integers:
    unique, row_of = np.unique(inputs, return_inverse=True)
    return sampling.draw(rows(unique), row_of, random_words)


def _outputs(table: Table) -> Integers:
    return ((table.roles & SANTEXT_OUTPUT) != 0).astype(np.int64)


@dataclass(frozen=True)
class ReplacementCoin:
    """SanText+'s coin for common words: replaced when a random 64-bit word is below ``threshold``.

    Attributes:
        threshold: In ``[1, 2**64]``; the probability of replacement is ``threshold / 2**64``, exactly.
    """

    threshold: int

    @classmethod
    def of(cls, probability: str | float | Fraction) -> "ReplacementCoin":
        """The coin of probability ``p``, rounded up to a multiple of 2**-64.

        Raises:
            OptionError: ``p`` is not a number in ``(0, 1]``.
        """
        try:
            exact = probability if isinstance(probability, Fraction) else Decimal(str(probability))
            in_range = 0 < exact <= 1
        except InvalidOperation:
            raise OptionError("the replacement probability is not a number") from None
        if not in_range:
            raise OptionError("the replacement probability must be above 0 and at most 1")
        if exact < 2**-64:  # before an exponent of any size becomes an integer of that size
            return cls(1)
        return cls(math.ceil(Fraction(exact) * 2**64))

    def replaced(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of the coins, one random word each, say that the common word is replaced."""
        if self.threshold == 2**64:
            return np.ones(len(words), dtype=bool)
        return words < np.uint64(self.threshold)
