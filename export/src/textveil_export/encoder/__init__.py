"""From a trained checkpoint to a bundle that ``textveil.Encoder`` loads."""

from textveil_export.encoder.pooled_model import PooledModel, export_onnx_parts

__all__ = ["PooledModel", "export_onnx_parts"]
