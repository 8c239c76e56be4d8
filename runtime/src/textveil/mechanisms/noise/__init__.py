"""Noise for vectors, and its privacy loss."""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.mechanisms.noise.parameters import BOX, L1, L2, ReleaseParameters, WordDropout
    from textveil.mechanisms.noise.vector import Releaser

__all__ = ["BOX", "L1", "L2", "ReleaseParameters", "Releaser", "WordDropout"]

__getattr__: Find = lazy_names(__name__, __all__, "parameters", "vector")
