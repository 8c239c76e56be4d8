"""Build encoder bundles, which ``textveil.Encoder`` loads, from trained checkpoints."""

from textveil_export.encoder.pooled_model import PooledModel, export_onnx_parts

__all__ = ["PooledModel", "export_onnx_parts"]
