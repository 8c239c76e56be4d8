"""Common parts of all mechanisms: output distributions and exact integer sampling.

The mechanisms themselves are in ``textveil.mechanisms.staircase``, ``textveil.mechanisms.noise`` and
``textveil.mechanisms.baselines``.
"""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.mechanisms.channel import Channel, ScoreChannel
    from textveil.mechanisms.coin import ReplacementCoin
    from textveil.mechanisms.distribution import UNKNOWN, Distribution
    from textveil.mechanisms.entropy import RandomUint64, random_uint64
    from textveil.mechanisms.integer_sampling import MAX_TOTAL, Integers, uniform_below
    from textveil.mechanisms.metric import Floats, Metric, squared_distances
    from textveil.mechanisms.protocol import Alone, Everywhere, Mechanism, Slots
    from textveil.mechanisms.scores import EqualityScores, MetricScores

__all__ = [
    "MAX_TOTAL",
    "UNKNOWN",
    "Alone",
    "Channel",
    "Distribution",
    "EqualityScores",
    "Everywhere",
    "Floats",
    "Integers",
    "Mechanism",
    "Metric",
    "MetricScores",
    "RandomUint64",
    "ReplacementCoin",
    "ScoreChannel",
    "Slots",
    "random_uint64",
    "squared_distances",
    "uniform_below",
]

__getattr__: Find = lazy_names(
    __name__, __all__, "channel", "coin", "distribution", "entropy", "integer_sampling", "metric", "protocol", "scores"
)
