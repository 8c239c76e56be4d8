"""Sanitization-aware pretraining of a masked language model: mask the sanitized text, predict the original token."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_training.pretrain.settings import Recipe, read_recipe

__all__ = [
    "Recipe",
    "read_recipe",
]

__getattr__ = lazy_names(__name__, __all__, "settings")
