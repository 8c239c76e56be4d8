"""k-ary randomized response, and the uniform mechanism ``random``.

Source: Kairouz, Bonawitz, Ramage 2016. Proof: docs/proofs/randomized-response.md.
"""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from functools import cached_property

import numpy as np

from textveil.errors import OptionError
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.baselines.table import SANTEXT_OUTPUT_ROLE, SanTextTable
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import WeightRows, draw_from_inputs
from textveil.mechanisms.randomizer import ScoreRandomizer
from textveil.mechanisms.scores import EqualityScores

#: Largest epsilon of ``krr``. At larger epsilons, the output would practically always be the input word.
MAX_KRR_EPSILON = 30


@dataclass(frozen=True)
class RandomizedResponse:
    """The mechanisms ``random`` (uniform) and ``krr`` (k-ary randomized response).

    All possible outputs have equal weight, except that the input itself may have more weight. Probabilities are
    proportional to weights.

    If the input ``x`` is a possible output, ``Pr[M(x) = x] / Pr[M(x) = y] = (tail + excess) / tail`` for any other
    output ``y``. For all other inputs, the output distribution is uniform. The mechanism satisfies pure local
    differential privacy with ``epsilon = ln((tail + excess) / tail)`` (Kairouz, Bonawitz, Ramage 2016).

    Attributes:
        is_output: 1 for each word of the vocabulary (symbol) that is a possible output, else 0; shape ``(symbols,)``.
        tail: Weight of every possible output.
        excess: Additional weight of the input, if it is a possible output.

    Example:
        >>> response = RandomizedResponse(np.array([1, 1, 0]), tail=1, excess=2)  # symbol 2 is never an output
        >>> response.compute_rows(np.array([0, 2])).compute_weights(0).tolist()
        [3, 1, 0]
        >>> response.randomizer.compute_rows(np.array([0])).tolist()
        [[0.75, 0.25, 0.0]]
    """

    is_output: Integers
    tail: int
    excess: int

    @classmethod
    def make_uniform(cls, table: SanTextTable) -> "RandomizedResponse":
        """Create the mechanism ``random``, which returns each possible output with the same probability."""
        return cls(_make_output_mask(table), 1, 0)

    @classmethod
    def from_table(cls, table: SanTextTable, epsilon: Decimal) -> "RandomizedResponse":
        """Create the mechanism ``krr`` (k-ary randomized response) for an epsilon.

        ``exp(epsilon)`` is rounded down, so ``epsilon`` is an upper bound of the actual privacy loss.

        Raises:
            OptionError: ``epsilon`` is not in ``(0, MAX_KRR_EPSILON]``.
        """
        if not 0 < epsilon <= MAX_KRR_EPSILON:
            raise OptionError(f"krr needs an epsilon above 0 and at most {MAX_KRR_EPSILON}")
        tail = 1 << 15  # exp(30) * 2**15 < 2**59, and 2**15 * symbols < 2**59
        with localcontext(prec=60, rounding=ROUND_FLOOR):
            # Decimal.exp always rounds to nearest. Before rounding down, subtract one part in 10**58: more than the
            # rounding to 60 digits can add.
            own = int((epsilon.exp() * (1 - Decimal(10) ** -58) * tail).to_integral_value())
        return cls(_make_output_mask(table), tail, max(own - tail, 0))

    def compute_rows(self, inputs: Integers) -> WeightRows:
        """Return the integer weights of all outputs, with one row for each input."""
        own = np.append(self.is_output, 0)[inputs]
        stored = np.where(own, inputs, 0)[:, None]
        tail = np.full(len(inputs), self.tail, dtype=np.int64)
        return WeightRows(
            stored=stored, cumulative=(own * self.excess)[:, None], tail=tail, base=np.cumsum(self.is_output)
        )

    @cached_property
    def randomizer(self) -> ScoreRandomizer:
        """The exact output probabilities for every input word."""
        weights = np.array([self.tail + self.excess, self.tail], dtype=np.int64)
        scores = EqualityScores(len(self.is_output))
        return ScoreRandomizer(scores=scores, score_weights=weights, base=self.is_output)

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output word for every input word, independently; return ids, shape ``(n,)``."""
        return draw_from_inputs(self.compute_rows, inputs, random_uint64)


def _make_output_mask(table: SanTextTable) -> Integers:
    return ((table.roles & SANTEXT_OUTPUT_ROLE) != 0).astype(np.int64)
