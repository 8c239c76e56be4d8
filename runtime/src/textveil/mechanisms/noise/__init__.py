"""Random noise that protects the vectors of texts, and bounds of its privacy loss."""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.mechanisms.noise.parameters import BOX, L1, L2, ReleaseParameters, WordDropout
    from textveil.mechanisms.noise.vector import VectorReleaser

__all__ = ["BOX", "L1", "L2", "ReleaseParameters", "VectorReleaser", "WordDropout"]

__getattr__: AttributeGetter = make_lazy_getattr(__name__, __all__, "parameters", "vector")
