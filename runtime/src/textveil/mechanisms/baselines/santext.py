"""SanText, the exponential mechanism over word distances (Yue et al. 2021, Eq. 1).

    Pr[M(x) = y] = q(y) exp(-alpha d(x, y)) / Z(x)

for every output ``y``, near or far. A look-up table of integer weights replaces the exponential. Proof:
docs/proofs/santext.md.
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
from textveil.mechanisms.integer_sampling import Integers, Rows
from textveil.mechanisms.metric import Metric
from textveil.mechanisms.scores import MetricScores, Scores

#: All levels (epsilons) of one bundle share their scores.
_SCORES: WeakKeyDictionary[Metric, MetricScores] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class SanText:
    """SanText (``santext``, and the sampler of ``santext+``) over a table and its metric.

    ``weight(x, y) = q(y) W[s(x, y)]`` with ``s(x, y) = floor(grid d(x, y))``. Sampling proposes from the stored row,
    in which every word without a stored score has the weight of the last stored one, and thins that tail: words without
    a stored score are not nearer, so ``W[s(x, y)] <= W[s_k]``. It is ``2 alpha d``-metric-DP up to ``rounding_slack``.

    Attributes:
        table: Neighbors and scores.
        metric: Distances of all inputs.
        weights: ``W``, shape ``(scores,)``; a score past the end has the last weight.
        base: ``q``, shape ``(symbols,)``, 0 for symbols that are never an output.
        base_sums: Running sums of ``base``.
    """

    table: Table
    metric: Metric
    weights: Integers
    base: Integers
    base_sums: Integers

    @classmethod
    def of(cls, table: Table, metric: Metric, mechanism: str, parameters: LevelParameters) -> "SanText":
        """Return ``mechanism`` (``santext`` or ``santext+``) at one level (epsilon)."""
        base = table.base_measure(mechanism, parameters)
        return cls(table=table, metric=metric, weights=parameters.weights, base=base, base_sums=np.cumsum(base))

    def proposals(self, inputs: Integers) -> Rows:
        """Return the proposal rows of some inputs, in their order.

        With ``s_j`` the scores stored for ``x`` and ``s_k`` the last of them: ``tail(x) = W[s_k]`` and
        ``excess(x, y_j) = q(y_j) (W[s_j] - W[s_k])``. A stored neighbor that is not an output has ``q = 0``.
        """
        stored = self.table.neighbors[inputs].astype(np.int64)
        weights = self.weights[self.table.scores[inputs]]
        tail = weights[:, -1]
        excess = (weights - tail[:, None]) * self.base[stored]
        return Rows(stored=stored, cumulative=np.cumsum(excess, axis=1), tail=tail, base=self.base_sums)

    def weights_of(self, inputs: Integers, outputs: Integers) -> Integers:
        """Return ``W[s(x, y)]`` of pairs of inputs and outputs, shape ``(n,)``."""
        scores = self.metric.scores(self.metric.squared(inputs, outputs))
        return self.weights[np.minimum(scores, len(self.weights) - 1)]

    @cached_property
    def channel(self) -> ScoreChannel:
        """The output distribution of every input."""
        scores = _SCORES.get(self.metric)
        if scores is None:
            scores = _SCORES[self.metric] = MetricScores(self.metric)
        return self.channel_on(scores)

    def channel_on(self, scores: Scores) -> ScoreChannel:
        """Return the output distribution, computed on scores that several levels share."""
        return ScoreChannel(scores=scores, score_weights=self.weights, base=self.base)

    def draw(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output for every input, independently, shape ``(n,)``."""
        unique, row_of = np.unique(inputs, return_inverse=True)
        return integer_sampling.draw_thinned(
            self.proposals(unique), row_of, lambda rows, outputs: self.weights_of(unique[rows], outputs), random_uint64
        )


def rounding_slack(exponent: Decimal, grid: int, smallest_weight: int) -> float:
    """Bound the loss per token that rounding to integers may add to ``2 alpha d``, rounded up.

    Scores are ``floor(grid * d)``, so two of them differ by less than ``grid * d(x, x') + 1``; weights are rounded
    to nearest, a relative error of at most ``rho = 1 / (2 smallest_weight)``. Numerator and normalizer each add
    ``alpha / grid + ln((1 + rho) / (1 - rho))`` (docs/proofs/integer-sampling.md).
    """
    rho = 1 / (2 * smallest_weight)
    return math.nextafter(
        (2 * float(exponent) / grid + 2 * (math.log1p(rho) - math.log1p(-rho))) * (1 + 1e-12), math.inf
    )
