"""SanText, the exponential mechanism over word distances (Yue et al. 2021, Eq. 1), exact and capped.

    Pr[M(x) = y] = q(y) exp(-alpha s(x, y)) / Z(x),

with ``s = d`` (``ExactSanText``, docs/proofs/exact-tail.md) or the capped score ``s = min(d(x, y), r(x))``
(``CappedSanText``, docs/proofs/capped-score.md). The exponential is a look-up of integer weights.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from textveil.mechanisms import integer_sampling
from textveil.mechanisms.baselines.table import LevelParameters, Table
from textveil.mechanisms.channel import ScoreChannel
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers, Rows, draw_rows
from textveil.mechanisms.metric import Metric
from textveil.mechanisms.scores import MetricScores, Scores, StoredScores


@dataclass(frozen=True)
class CappedSanText:
    """SanText with the capped score, from a table (``santext``; the rows of ``santext+``).

    With ``W`` the level's weights, ``s_j`` the scores stored for ``x`` and ``s_k`` the last of them:
    ``tail(x) = W[s_k]``, ``excess(x, y_j) = q(y_j) (W[s_j] - W[s_k])``. A stored neighbor that is not an output
    of the mechanism has ``q = 0``. It is ``2 alpha d``-metric-DP up to ``rounding_slack``.

    Attributes:
        table: Neighbors and scores.
        weights: ``W``, shape ``(scores,)``.
        base: ``q``, shape ``(symbols,)``, 0 where a symbol is never an output.
        base_sums: Running sums of ``base``.
    """

    table: Table
    weights: Integers
    base: Integers
    base_sums: Integers

    @classmethod
    def of(cls, table: Table, mechanism: str, parameters: LevelParameters) -> "CappedSanText":
        """Returns ``mechanism`` (``santext`` or ``santext+``) at one level."""
        base = table.base_measure(mechanism, parameters)
        return cls(table, parameters.weights, base, np.cumsum(base))

    def rows(self, inputs: Integers) -> Rows:
        """Returns the rows of some inputs, in that order."""
        stored = self.table.neighbors[inputs].astype(np.int64)
        weights = self.weights[self.table.scores[inputs]]
        tail = weights[:, -1]
        excess = (weights - tail[:, None]) * self.base[stored]
        return Rows(stored, np.cumsum(excess, axis=1), tail, self.base_sums)

    @cached_property
    def channel(self) -> ScoreChannel:
        """The output distribution of every input."""
        return self.channel_on(StoredScores(self.table))

    def channel_on(self, scores: Scores) -> ScoreChannel:
        """Returns the channel on scores that several levels share."""
        return ScoreChannel(scores, self.weights, self.base)

    def draw(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for every input, independently, shape ``(n,)``."""
        return draw_rows(self.rows, inputs, random_uint64)


#: Levels of one bundle share their scores.
_SCORES: WeakKeyDictionary[Metric, MetricScores] = WeakKeyDictionary()


@dataclass(frozen=True)
class ExactSanText:
    """SanText without a cap: every output has the weight of its own distance, stored or not.

    ``weight(x, y) = q(y) W[s(x, y)]`` with ``s(x, y) = floor(grid d(x, y))`` from the rows of the metric. A draw
    proposes from the capped row, which has ``q(y) W[s_k]`` for every word that is not stored, and thins the tail;
    words that are not stored are no nearer than the last one that is, so ``W[s(x, y)] <= W[s_k]``
    (docs/proofs/exact-tail.md).

    Attributes:
        capped: The capped mechanism of the same weights.
        metric: Distances of all inputs.
    """

    capped: CappedSanText
    metric: Metric

    def tail_weights(self, inputs: Integers, outputs: Integers) -> Integers:
        """Returns ``W[s(x, y)]`` of pairs, shape ``(n,)``."""
        weights = self.capped.weights
        return weights[np.minimum(self.metric.scores(self.metric.squared(inputs, outputs)), len(weights) - 1)]

    @cached_property
    def channel(self) -> ScoreChannel:
        """The output distribution of every input."""
        scores = _SCORES.get(self.metric)
        if scores is None:
            scores = _SCORES[self.metric] = MetricScores(self.metric)
        return self.channel_on(scores)

    def channel_on(self, scores: Scores) -> ScoreChannel:
        """Returns the channel on scores that several levels share."""
        return ScoreChannel(scores, self.capped.weights, self.capped.base)

    def draw(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for every input, independently, shape ``(n,)``."""
        unique, row_of = np.unique(inputs, return_inverse=True)
        return integer_sampling.draw_thinned(
            self.capped.rows(unique),
            row_of,
            lambda rows, outputs: self.tail_weights(unique[rows], outputs),
            random_uint64,
        )


def rounding_slack(exponent: Decimal, grid: int, smallest_weight: int) -> float:
    """Bounds the loss per token that rounding to integers may add to ``2 alpha d``, rounded up.

    Scores are ``floor(grid * d)``, so two of them differ by less than ``grid * d(x, x') + 1``; weights are rounded
    to nearest, a relative error of at most ``rho = 1 / (2 smallest_weight)``. Numerator and normalizer each add
    ``alpha / grid + ln((1 + rho) / (1 - rho))`` (docs/proofs/integer-sampling.md).
    """
    rho = 1 / (2 * smallest_weight)
    return math.nextafter(
        (2 * float(exponent) / grid + 2 * (math.log1p(rho) - math.log1p(-rho))) * (1 + 1e-12), math.inf
    )
