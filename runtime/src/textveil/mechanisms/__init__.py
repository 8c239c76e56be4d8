"""The mechanisms, their output distribution, and the exact integer sampling that they draw with."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.mechanisms.baselines.fbdd import Fbdd, laplace_noise
    from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
    from textveil.mechanisms.baselines.santext import CappedSanText, ExactSanText, rounding_slack
    from textveil.mechanisms.baselines.santext_plus import ReplacementCoin, SanTextPlus, mixture_epsilon
    from textveil.mechanisms.baselines.table import (
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
    from textveil.mechanisms.channel import Channel, ScoreChannel
    from textveil.mechanisms.distribution import UNKNOWN, Distribution
    from textveil.mechanisms.elements import CONTEXT_MARKS, CONTEXT_POSITIONS, Elements
    from textveil.mechanisms.entropy import RandomUint64, random_uint64
    from textveil.mechanisms.integer_sampling import MAX_TOTAL, Integers, Rows, uniform_below
    from textveil.mechanisms.metric import Floats, Metric, squared_distances
    from textveil.mechanisms.noise.discrete import NoiseTable, discrete_gaussian, discrete_laplace
    from textveil.mechanisms.noise.parameters import BOX, L1, L2, ReleaseParameters, WordDropout
    from textveil.mechanisms.noise.vector import Releaser, noise_for
    from textveil.mechanisms.protocol import MECHANISMS, Alone, Everywhere, Mechanism, Slots
    from textveil.mechanisms.scores import EqualityScores, MetricScores, Progress, Scores, StoredScores
    from textveil.mechanisms.staircase.context import ContextTable
    from textveil.mechanisms.staircase.fluent import FluentStaircase
    from textveil.mechanisms.staircase.index import MAX_CODES, IndexStaircase
    from textveil.mechanisms.staircase.slots import FluentSlots, SlotStaircase
    from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel, realized_ratio
    from textveil.mechanisms.staircase.table import StaircaseTable, output_role

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
    "Alone",
    "CappedSanText",
    "Channel",
    "ContextTable",
    "Distribution",
    "Elements",
    "EqualityScores",
    "Everywhere",
    "ExactSanText",
    "Fbdd",
    "Floats",
    "FluentSlots",
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
    "SanTextPlus",
    "ScoreChannel",
    "Scores",
    "SlotStaircase",
    "Slots",
    "Staircase",
    "StaircaseLevel",
    "StaircaseTable",
    "StoredScores",
    "Table",
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
    "distribution",
    "elements",
    "entropy",
    "integer_sampling",
    "metric",
    "protocol",
    "scores",
    "baselines.fbdd",
    "baselines.randomized_response",
    "baselines.santext",
    "baselines.santext_plus",
    "baselines.table",
    "noise.discrete",
    "noise.parameters",
    "noise.vector",
    "staircase.context",
    "staircase.fluent",
    "staircase.index",
    "staircase.slots",
    "staircase.staircase",
    "staircase.table",
)
