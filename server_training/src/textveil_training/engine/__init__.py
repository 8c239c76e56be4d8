"""The one training engine: the loop, what every run has in common, its record, its files, its text."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_training.engine.encoders import MINILM, device_named, load_transformer, mean_pooled, precision_for
    from textveil_training.engine.run import RunRecord, software
    from textveil_training.engine.stage import adamw
    from textveil_training.engine.tokens import Tokenizer, bucketed, vectors_of

__all__ = [
    "MINILM",
    "RunRecord",
    "Tokenizer",
    "adamw",
    "bucketed",
    "device_named",
    "load_transformer",
    "mean_pooled",
    "precision_for",
    "software",
    "vectors_of",
]

__getattr__ = lazy_names(__name__, __all__, "encoders", "run", "stage", "tokens")
