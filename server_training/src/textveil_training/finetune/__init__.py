"""Fine-tune encoders on raw or sanitized text, to classify single texts or pairs, or to score pairs."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_training.finetune.measure import predict
    from textveil_training.finetune.network import read_model

__all__ = ["predict", "read_model"]

__getattr__ = make_lazy_getattr(__name__, __all__, "measure", "network")
