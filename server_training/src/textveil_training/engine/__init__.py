"""Training engine that all training commands share: training loop, run folder, checkpoints and tokenization."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_training.engine.encoders import MINILM, choose_precision, get_device, load_transformer, pool_mean
    from textveil_training.engine.run import RunRecord, list_software
    from textveil_training.engine.stage import make_adamw
    from textveil_training.engine.tokens import EncoderTokenizer, compute_vectors, make_length_batches

__all__ = [
    "MINILM",
    "EncoderTokenizer",
    "RunRecord",
    "choose_precision",
    "compute_vectors",
    "get_device",
    "list_software",
    "load_transformer",
    "make_adamw",
    "make_length_batches",
    "pool_mean",
]

__getattr__ = make_lazy_getattr(__name__, __all__, "encoders", "run", "stage", "tokens")
