"""Published mechanisms for comparison with the staircase mechanism: SanText, SanText+, FBDD and randomized response."""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.mechanisms.baselines.fbdd import Fbdd, draw_laplace_noise
    from textveil.mechanisms.baselines.fbdd_statistics import (
        FbddStatistics,
        choose_output_words,
        count_likely_outputs,
        count_required,
        measure_fbdd,
        measure_neighbor_distances,
        suggest_fbdd_epsilons,
    )
    from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
    from textveil.mechanisms.baselines.santext import SanText, bound_rounding_slack
    from textveil.mechanisms.baselines.santext_plus import SanTextPlus, compute_mixture_epsilon
    from textveil.mechanisms.baselines.table import (
        KEPT_ROLE,
        MIN_WEIGHT,
        OUTPUT_ROLE,
        SANTEXT_OUTPUT_ROLE,
        SANTEXT_PLUS_OUTPUT_ROLE,
        LevelParameters,
        SanTextTable,
    )

__all__ = [
    "KEPT_ROLE",
    "MIN_WEIGHT",
    "OUTPUT_ROLE",
    "SANTEXT_OUTPUT_ROLE",
    "SANTEXT_PLUS_OUTPUT_ROLE",
    "Fbdd",
    "FbddStatistics",
    "LevelParameters",
    "RandomizedResponse",
    "SanText",
    "SanTextPlus",
    "SanTextTable",
    "bound_rounding_slack",
    "choose_output_words",
    "compute_mixture_epsilon",
    "count_likely_outputs",
    "count_required",
    "draw_laplace_noise",
    "measure_fbdd",
    "measure_neighbor_distances",
    "suggest_fbdd_epsilons",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__, __all__, "fbdd", "fbdd_statistics", "randomized_response", "santext", "santext_plus", "table"
)
