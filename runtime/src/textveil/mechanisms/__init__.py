"""The mechanisms, their output distribution, and the exact integer sampling that they draw with."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.mechanisms.channel import Channel, ScoreChannel
    from textveil.mechanisms.context import CONTEXT_MARKS, CONTEXT_POSITIONS, ContextTable, Elements
    from textveil.mechanisms.discrete_noise import NoiseTable, discrete_gaussian, discrete_laplace
    from textveil.mechanisms.distribution import UNKNOWN, Distribution
    from textveil.mechanisms.entropy import RandomUint64, random_uint64
    from textveil.mechanisms.fbdd import Fbdd, laplace_noise
    from textveil.mechanisms.fluent import FluentStaircase
    from textveil.mechanisms.index_staircase import MAX_CODES, IndexStaircase
    from textveil.mechanisms.integer_sampling import MAX_TOTAL, Integers, Rows, uniform_below
    from textveil.mechanisms.metric import Floats, Metric, squared_distances
    from textveil.mechanisms.protocol import MECHANISMS, Mechanism, WeightedMechanism
    from textveil.mechanisms.randomized_response import RandomizedResponse
    from textveil.mechanisms.santext import CappedSanText, ExactSanText, rounding_slack
    from textveil.mechanisms.santext_plus import ReplacementCoin, mixture_epsilon
    from textveil.mechanisms.scores import EqualityScores, MetricScores, Progress, Scores, StoredScores
    from textveil.mechanisms.staircase import Staircase, StaircaseLevel, realized_ratio
    from textveil.mechanisms.staircase_table import StaircaseTable, output_role
    from textveil.mechanisms.table import (
        CAPPED,
        EXACT,
        KEPT,
        OUTPUT_ROLE,
        SANTEXT_OUTPUT,
        SANTEXT_PLUS_OUTPUT,
        SMALLEST_EXACT_WEIGHT,
        LevelParameters,
        Table,
        largest_total,
        wrong_weight,
    )
    from textveil.mechanisms.vector_noise import Releaser, noise_for
    from textveil.mechanisms.vector_parameters import BOX, L1, L2, ReleaseParameters, WordDropout

__all__ = [
    "BOX",
    "CAPPED",
    "CONTEXT_MARKS",
    "CONTEXT_POSITIONS",
    "EXACT",
    "KEPT",
    "L1",
    "L2",
    "MAX_CODES",
    "MAX_TOTAL",
    "MECHANISMS",
    "OUTPUT_ROLE",
    "SANTEXT_OUTPUT",
    "SANTEXT_PLUS_OUTPUT",
    "SMALLEST_EXACT_WEIGHT",
    "UNKNOWN",
    "CappedSanText",
    "Channel",
    "ContextTable",
    "Distribution",
    "Elements",
    "EqualityScores",
    "ExactSanText",
    "Fbdd",
    "Floats",
    "FluentStaircase",
    "IndexStaircase",
    "Integers",
    "LevelParameters",
    "Mechanism",
    "Metric",
    "MetricScores",
    "NoiseTable",
    "Progress",
    "RandomUint64",
    "RandomizedResponse",
    "ReleaseParameters",
    "Releaser",
    "ReplacementCoin",
    "Rows",
    "ScoreChannel",
    "Scores",
    "Staircase",
    "StaircaseLevel",
    "StaircaseTable",
    "StoredScores",
    "Table",
    "WeightedMechanism",
    "WordDropout",
    "discrete_gaussian",
    "discrete_laplace",
    "laplace_noise",
    "largest_total",
    "mixture_epsilon",
    "noise_for",
    "output_role",
    "random_uint64",
    "realized_ratio",
    "rounding_slack",
    "squared_distances",
    "uniform_below",
    "wrong_weight",
]

__getattr__ = lazy_names(
    __name__,
    __all__,
    "channel",
    "context",
    "discrete_noise",
    "distribution",
    "entropy",
    "fbdd",
    "fluent",
    "index_staircase",
    "integer_sampling",
    "metric",
    "protocol",
    "randomized_response",
    "santext",
    "santext_plus",
    "scores",
    "staircase",
    "staircase_table",
    "table",
    "vector_noise",
    "vector_parameters",
)
