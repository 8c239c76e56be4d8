"""Build encoder bundles (folders with a model for noisy vectors of texts) from trained checkpoints.

``textveil.Encoder`` loads such a bundle.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_export.encoder.build import EncoderBuildSettings, build_encoder
    from textveil_export.encoder.checkpoint import find_export_obstacle
    from textveil_export.encoder.pooled_model import PooledModel, export_onnx_parts
    from textveil_export.encoder.write import write_encoder_bundle

__all__ = [
    "EncoderBuildSettings",
    "PooledModel",
    "build_encoder",
    "export_onnx_parts",
    "find_export_obstacle",
    "write_encoder_bundle",
]

__getattr__ = make_lazy_getattr(__name__, __all__, "checkpoint", "pooled_model", "build", "write")
