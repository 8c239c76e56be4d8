"""Build text bundles (data folders for rewriting texts) from words and their vectors.

``textveil.Sanitizer`` loads such a bundle.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil_export.text.build import TextBundleRecipe, build_text_bundle
    from textveil_export.text.level_weights import LevelSetting, make_level_parameters
    from textveil_export.text.quantize import measure_vector_step, quantize_vectors
    from textveil_export.text.word_roles import LISTS, WordPolicy
    from textveil_export.text.word_vectors import WordVectors, read_vectors
    from textveil_export.text.write import write_bundle

__all__ = [
    "LISTS",
    "LevelSetting",
    "TextBundleRecipe",
    "WordPolicy",
    "WordVectors",
    "build_text_bundle",
    "make_level_parameters",
    "measure_vector_step",
    "quantize_vectors",
    "read_vectors",
    "write_bundle",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__, __all__, "build", "level_weights", "quantize", "word_roles", "word_vectors", "write"
)
