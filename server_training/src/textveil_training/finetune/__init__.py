"""Fine-tuning on raw or sanitized text: classes of texts and of pairs, and scores of pairs."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_training.finetune.measure import predict
    from textveil_training.finetune.network import read_model

__all__ = ["predict", "read_model"]

__getattr__ = lazy_names(__name__, __all__, "measure", "network")
