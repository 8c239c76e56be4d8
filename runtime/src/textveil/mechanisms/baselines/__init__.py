"""Published mechanisms to compare with: SanText, SanText+, FBDD and randomized response."""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.mechanisms.baselines.fbdd import Fbdd, laplace_noise
    from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
    from textveil.mechanisms.baselines.santext import SanText, rounding_slack
    from textveil.mechanisms.baselines.santext_plus import SanTextPlus, mixture_epsilon
    from textveil.mechanisms.baselines.table import (
        KEPT,
        OUTPUT_ROLE,
        SANTEXT_OUTPUT,
        SANTEXT_PLUS_OUTPUT,
        SMALLEST_WEIGHT,
        LevelParameters,
        Table,
    )

__all__ = [
    "KEPT",
    "OUTPUT_ROLE",
    "SANTEXT_OUTPUT",
    "SANTEXT_PLUS_OUTPUT",
    "SMALLEST_WEIGHT",
    "Fbdd",
    "LevelParameters",
    "RandomizedResponse",
    "SanText",
    "SanTextPlus",
    "Table",
    "laplace_noise",
    "mixture_epsilon",
    "rounding_slack",
]

__getattr__: Find = lazy_names(__name__, __all__, "fbdd", "randomized_response", "santext", "santext_plus", "table")
