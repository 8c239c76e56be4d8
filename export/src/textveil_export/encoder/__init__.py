"""From a trained checkpoint to a bundle that ``textveil.Encoder`` loads."""

from textveil_export.encoder.build import EncoderContents, EncoderSettings, build_encoder
from textveil_export.encoder.candidates import MIN_SAMPLE
from textveil_export.encoder.checkpoint import Checkpoint, load_checkpoint
from textveil_export.encoder.evaluation import Texts, classify, prepare, read_labeled, vectors
from textveil_export.encoder.int8 import RECIPES, graph_name, quantize
from textveil_export.encoder.onnx_graph import Reference, check_parity, export_graph
from textveil_export.encoder.pooled import PooledModel, onnx_parts
from textveil_export.encoder.session import Session
from textveil_export.encoder.write import write_encoder

__all__ = [
    "MIN_SAMPLE",
    "RECIPES",
    "Checkpoint",
    "EncoderContents",
    "EncoderSettings",
    "PooledModel",
    "Reference",
    "Session",
    "Texts",
    "build_encoder",
    "check_parity",
    "classify",
    "export_graph",
    "graph_name",
    "load_checkpoint",
    "onnx_parts",
    "prepare",
    "quantize",
    "read_labeled",
    "vectors",
    "write_encoder",
]
