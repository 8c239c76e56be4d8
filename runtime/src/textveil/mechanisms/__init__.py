"""Interfaces and functions for all mechanisms, which replace words or add noise at random.

They cover exact output distributions and exact sampling with integers.

The mechanisms themselves are in ``textveil.mechanisms.staircase``, ``textveil.mechanisms.noise`` and
``textveil.mechanisms.baselines``.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.mechanisms.arrays import Floats, Integers
    from textveil.mechanisms.coin import ReplacementCoin
    from textveil.mechanisms.distribution import UNKNOWN_SYMBOL, OutputDistribution
    from textveil.mechanisms.entropy import RandomUint64, draw_uniform_below, random_uint64
    from textveil.mechanisms.integer_sampling import MAX_TOTAL
    from textveil.mechanisms.metric import WordMetric, iterate_squared_distances
    from textveil.mechanisms.protocol import IsolatedSlots, Mechanism, SlotlessMechanism, Slots
    from textveil.mechanisms.randomizer import Randomizer, ScoreRandomizer
    from textveil.mechanisms.scores import EqualityScores, MetricScores

__all__ = [
    "MAX_TOTAL",
    "UNKNOWN_SYMBOL",
    "EqualityScores",
    "Floats",
    "Integers",
    "IsolatedSlots",
    "Mechanism",
    "MetricScores",
    "OutputDistribution",
    "RandomUint64",
    "Randomizer",
    "ReplacementCoin",
    "ScoreRandomizer",
    "SlotlessMechanism",
    "Slots",
    "WordMetric",
    "draw_uniform_below",
    "iterate_squared_distances",
    "random_uint64",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__,
    __all__,
    "arrays",
    "randomizer",
    "coin",
    "distribution",
    "entropy",
    "integer_sampling",
    "metric",
    "protocol",
    "scores",
)
