"""Readers of bundles (folders with word lists, tables or a model), which check every byte of a bundle.

``open_bundle`` is the entry point. The module ``textveil.bundle.layout`` has the names of the files, for code that
writes bundles.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.bundle.defaults import DEFAULT_BUNDLE, find_artifact
    from textveil.bundle.files import MAX_BUNDLE_BYTES, ExpectedBundle, read_hashed_file
    from textveil.bundle.held_out import HeldOutCounts
    from textveil.bundle.label_bundle import LabelBundle, StaticExtractorData
    from textveil.bundle.open import open_bundle
    from textveil.bundle.parsers import FLOAT_TYPES, make_unique_dict, parse_tensors
    from textveil.bundle.signer import make_signed_message
    from textveil.bundle.staircase_files import EntityTypeFile, TemplateFiles
    from textveil.bundle.statistics import MeasuredEffects
    from textveil.bundle.text_bundle import TextBundle
    from textveil.bundle.vector_bundle import OnnxExtractorData, VectorBundle

__all__ = [
    "DEFAULT_BUNDLE",
    "FLOAT_TYPES",
    "MAX_BUNDLE_BYTES",
    "EntityTypeFile",
    "ExpectedBundle",
    "HeldOutCounts",
    "LabelBundle",
    "MeasuredEffects",
    "OnnxExtractorData",
    "StaticExtractorData",
    "TemplateFiles",
    "TextBundle",
    "VectorBundle",
    "find_artifact",
    "make_signed_message",
    "make_unique_dict",
    "open_bundle",
    "parse_tensors",
    "read_hashed_file",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__,
    __all__,
    # Modules with the fewest imports come first, so that opening a text bundle does not import the modules for vectors.
    "defaults",
    "files",
    "parsers",
    "signer",
    "open",
    "text_bundle",
    "held_out",
    "statistics",
    "staircase_files",
    "vector_bundle",
    "label_bundle",
)
