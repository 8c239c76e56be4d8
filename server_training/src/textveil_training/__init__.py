"""Server side of textveil: sanitize corpora, train models on sanitized text, and measure attacks."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

from textveil_training.data import load_examples, split_examples
from textveil_training.errors import DataError

if TYPE_CHECKING:
    from textveil_training.encoder.train_encoder import TrainedEncoder, train_encoder

__all__ = ["DataError", "TrainedEncoder", "load_examples", "split_examples", "train_encoder"]

__getattr__ = make_lazy_getattr(__name__, __all__, "encoder.train_encoder")
