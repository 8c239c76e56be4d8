"""Build text bundles, which ``textveil.Sanitizer`` loads, from words and their vectors."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

from textveil_export.text.level_weights import LevelSetting, make_level_parameters

if TYPE_CHECKING:
    from textveil_export.text.build import TextBundleRecipe, build_text_bundle
    from textveil_export.text.quantize import quantize_vectors
    from textveil_export.text.word_roles import LISTS, WordPolicy
    from textveil_export.text.word_vectors import read_vectors
    from textveil_export.text.write import write_bundle

__all__ = [
    "LISTS",
    "LevelSetting",
    "TextBundleRecipe",
    "WordPolicy",
    "build_text_bundle",
    "make_level_parameters",
    "quantize_vectors",
    "read_vectors",
    "write_bundle",
]

__getattr__ = make_lazy_getattr(__name__, __all__, "build", "quantize", "word_roles", "word_vectors", "write")
