"""SanText: random replacement of a word by the exponential mechanism over word distances (Yue et al. 2021, Eq. 1).

    Pr[M(x) = y] = q(y) exp(-alpha d(x, y)) / Z(x)

for every input ``x`` and output ``y``. Here ``d`` is the scaled distance (distance divided by the median distance of
two words), ``alpha`` the exponent that belongs to the epsilon, ``q`` a factor of each output that is the same for all
inputs, and ``Z`` the sum over all outputs. The code looks up integer weights in a table instead of computing the
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

#: Cached scores, which are the same for all levels (epsilons) of a bundle.
_SCORES: WeakKeyDictionary[WordMetric, MetricScores] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class SanText:
    """The mechanism SanText (random replacement of words, Yue et al. 2021) at one epsilon.

    The weight of output ``y`` for input ``x`` is ``q(y) W[s]``. The score ``s`` is ``floor(grid d(x, y))``, where
    ``grid`` is the number of scores per unit of the scaled distance ``d``. The table stores the scores of the nearest
    outputs only. Sampling first gives all other outputs the weight of the last stored score. This is at least their
    true weight, because they are at least as far away. A second random choice accepts such an output with a probability
    equal to the ratio of the two weights (``draw_thinned``). For two words at distance ``d``, the privacy loss is at
    most ``2 alpha d`` plus ``bound_rounding_slack``, where ``alpha`` is the exponent of the mechanism.

    Attributes:
        table: The nearest words of each word (neighbors), and their scores (integer distances).
        metric: Distances between all inputs (the words of the vocabulary, and ``<unk>``).
        weights: ``W``, the weight of each score, shape ``(scores,)``. Larger scores have the last weight.
        base: ``q``, shape ``(symbols,)``; 0 for symbols that are never an output.
        base_sums: Cumulative sums of ``base``.

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
        """Create the mechanism SanText at one epsilon.

        Args:
            table: Similar words of each word, with their scores.
            metric: Distances between all words.
            mechanism: ``santext`` or ``santext+``, which determines the possible output words.
            parameters: Parameters of the epsilon.
        """
        base = table.compute_base_measure(mechanism, parameters)
        return cls(table=table, metric=metric, weights=parameters.weights, base=base, base_sums=np.cumsum(base))

    def compute_proposals(self, inputs: Integers) -> WeightRows:
        """Return the weights for the first step of sampling, which proposes an output; one row for each input ``x``.

        The factor ``q`` of an output and the weight ``W`` of a score are defined in the docstring of the class. Every
        output ``y`` has the weight ``q(y) tail(x)``, where ``tail(x)`` is the weight of the last score that the table
        stores for ``x``. A stored neighbor (near word) ``y`` with the score ``s`` has the additional weight
        ``excess(x, y) = q(y) (W[s] - tail(x))``, which is 0 if ``y`` is not an output.
        """
        stored = self.table.neighbors[inputs].astype(np.int64)
        weights = self.weights[self.table.scores[inputs]]
        tail = weights[:, -1]
        excess = (weights - tail[:, None]) * self.base[stored]
        return WeightRows(stored=stored, cumulative=np.cumsum(excess, axis=1), tail=tail, base=self.base_sums)

    def compute_weights(self, inputs: Integers, outputs: Integers) -> Integers:
        """Return the weight of the score of each pair of an input and an output: an integer array of shape ``(n,)``.

        The score of a pair is the integer distance of its two words, and ``W`` (the attribute ``weights``) contains the
        weight of each score. Scores above the last entry of ``W`` have the weight of that entry. For one input, the
        probability of an output ``y`` is proportional to this weight times ``q(y)``, the factor of ``y`` in the
        attribute ``base``.
        """
        scores = self.metric.compute_scores(self.metric.compute_squared(inputs, outputs))
        return self.weights[np.minimum(scores, len(self.weights) - 1)]

    @cached_property
    def randomizer(self) -> ScoreRandomizer:
        """The exact output probabilities for every input word."""
        scores = _SCORES.get(self.metric)
        if scores is None:
            scores = _SCORES[self.metric] = MetricScores(self.metric)
        return self.make_randomizer(scores)

    def make_randomizer(self, scores: PairScoring) -> ScoreRandomizer:
        """Return an object with the exact output probabilities for every input word.

        Args:
            scores: The scores (distances) of all pairs of words. Mechanisms with different epsilons can share this
                object.
        """
        return ScoreRandomizer(scores=scores, score_weights=self.weights, base=self.base)

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output word for every input word, independently; return ids, shape ``(n,)``."""
        unique, row_of = np.unique(inputs, return_inverse=True)
        return integer_sampling.draw_thinned(
            self.compute_proposals(unique),
            row_of,
            lambda rows, outputs: self.compute_weights(unique[rows], outputs),
            random_uint64,
        )


def bound_rounding_slack(exponent: Decimal, grid: int, smallest_weight: int) -> float:
    """Return an upper bound of the privacy loss per token that rounding to integers adds to ``2 alpha d``.

    Here ``alpha`` is the exponent of SanText, and ``d`` the scaled distance of two inputs. Scores are
    ``floor(grid * distance)``, so the scores of an output for these inputs differ by less than ``grid * d + 1``.
    Weights are rounded to nearest, with a relative error of at most ``rho = 1 / (2 smallest_weight)``. The weight of an
    output and the total weight each add at most ``alpha / grid + ln((1 + rho) / (1 - rho))``
    (docs/proofs/integer-sampling.md).

    Args:
        exponent: The exponent ``alpha``.
        grid: Score steps per unit of scaled distance (distance divided by the median distance of two words).
        smallest_weight: The smallest weight of any score.

    Example:
        >>> 0 <= bound_rounding_slack(Decimal(8), grid=1000, smallest_weight=1 << 20) < 0.1
        True
    """
    rho = 1 / (2 * smallest_weight)
    return math.nextafter(
        (2 * float(exponent) / grid + 2 * (math.log1p(rho) - math.log1p(-rho))) * (1 + 1e-12), math.inf
    )
