"""SanText, the exponential mechanism over word distances (Yue et al. 2021, Eq. 1).

    Pr[M(x) = y] = q(y) exp(-alpha d(x, y)) / Z(x)

for every output ``y``, near or far. Here ``d`` is the scaled distance, ``alpha`` the exponent of the level, ``q`` a
factor of each output that is the same for all inputs, and ``Z`` the sum. A table of integer weights replaces the
exponential. Proof: docs/proofs/santext.md.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from textveil.mechanisms import integer_sampling
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.baselines.table import LevelParameters, SanTextTable
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import WeightRows
from textveil.mechanisms.metric import WordMetric
from textveil.mechanisms.randomizer import ScoreRandomizer
from textveil.mechanisms.scores import MetricScores, PairScoring

#: All levels (epsilons) of one bundle share their scores.
_SCORES: WeakKeyDictionary[WordMetric, MetricScores] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class SanText:
    """SanText over a table and its distances. It is also the sampler of ``santext+``.

    The weight of output ``y`` for input ``x`` is ``q(y) W[s]``, where the score ``s`` is ``floor(grid d(x, y))``. The
    table stores the scores of the nearest outputs only. Sampling first proposes an output as if every other output had
    the last stored score. Those outputs are not nearer, so their true weight is at most that; a second random choice
    then rejects the proposal in proportion (``draw_thinned``). For two words at distance ``d`` the loss is at most ``2
    alpha d``, plus ``bound_rounding_slack``.

    Attributes:
        table: Neighbors and scores.
        metric: Distances of all inputs.
        weights: ``W``, the weight of each score, shape ``(scores,)``. A score past the end has the last weight.
        base: ``q``, shape ``(symbols,)``, 0 for symbols that are never an output.
        base_sums: Running sums of ``base``.

    Example:
        >>> from textveil.bundle import TextBundle, find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("english-santext"), TextBundle)
        >>> level = bundle.santext_levels[0]
        >>> santext = SanText.from_table(bundle.table, bundle.metric, "santext", level.parameters["santext"])
        >>> santext.randomizer.symbol_count == bundle.symbol_count
        True
    """

    table: SanTextTable
    metric: WordMetric
    weights: Integers
    base: Integers
    base_sums: Integers

    @classmethod
    def from_table(
        cls, table: SanTextTable, metric: WordMetric, mechanism: str, parameters: LevelParameters
    ) -> "SanText":
        """Create ``mechanism`` (``santext`` or ``santext+``) at one level (epsilon)."""
        base = table.compute_base_measure(mechanism, parameters)
        return cls(table=table, metric=metric, weights=parameters.weights, base=base, base_sums=np.cumsum(base))

    def compute_proposals(self, inputs: Integers) -> WeightRows:
        """Return the weights with which outputs are proposed, one row for each input ``x``.

        Every output ``y`` has the weight ``q(y) tail(x)``: its base weight times the weight ``W`` of the last score
        that the table stores for ``x``. A stored neighbor ``y`` has in addition ``excess(x, y) = q(y) (W[its score] -
        tail(x))``, which is 0 if it is not an output.
        """
        stored = self.table.neighbors[inputs].astype(np.int64)
        weights = self.weights[self.table.scores[inputs]]
        tail = weights[:, -1]
        excess = (weights - tail[:, None]) * self.base[stored]
        return WeightRows(stored=stored, cumulative=np.cumsum(excess, axis=1), tail=tail, base=self.base_sums)

    def compute_weights(self, inputs: Integers, outputs: Integers) -> Integers:
        """Return the weight ``W`` of the score of each pair of input and output, shape ``(n,)``."""
        scores = self.metric.compute_scores(self.metric.compute_squared(inputs, outputs))
        return self.weights[np.minimum(scores, len(self.weights) - 1)]

    @cached_property
    def randomizer(self) -> ScoreRandomizer:
        """The output distribution of every input."""
        scores = _SCORES.get(self.metric)
        if scores is None:
            scores = _SCORES[self.metric] = MetricScores(self.metric)
        return self.make_randomizer(scores)

    def make_randomizer(self, scores: PairScoring) -> ScoreRandomizer:
        """Return the output distribution, given scores that several levels share."""
        return ScoreRandomizer(scores=scores, score_weights=self.weights, base=self.base)

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output for every input, independently, shape ``(n,)``."""
        unique, row_of = np.unique(inputs, return_inverse=True)
        return integer_sampling.draw_thinned(
            self.compute_proposals(unique),
            row_of,
            lambda rows, outputs: self.compute_weights(unique[rows], outputs),
            random_uint64,
        )


def bound_rounding_slack(exponent: Decimal, grid: int, smallest_weight: int) -> float:
    """Bound the loss per token that rounding to integers may add to ``2 alpha d``, rounded up.

    Scores are ``floor(grid * d)``, so the scores of an output for two inputs at distance ``d`` differ by less than
    ``grid * d + 1``. Weights are rounded to nearest, a relative error of at most ``rho = 1 / (2 smallest_weight)``. The
    weight and the total each add ``alpha / grid + ln((1 + rho) / (1 - rho))`` (docs/proofs/integer-sampling.md).

    Args:
        exponent: ``alpha``.
        grid: Score steps per unit of scaled distance.
        smallest_weight: The smallest weight of the level.

    Example:
        >>> 0 <= bound_rounding_slack(Decimal(8), grid=1000, smallest_weight=1 << 20) < 0.1
        True
    """
    rho = 1 / (2 * smallest_weight)
    return math.nextafter(
        (2 * float(exponent) / grid + 2 * (math.log1p(rho) - math.log1p(-rho))) * (1 + 1e-12), math.inf
    )
