"""Bundles on disk: strict readers that check every byte. ``open_bundle`` is the entry point.

The module ``textveil.bundle.layout`` has the file names, for code that writes bundles.
"""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.bundle.atomic import atomic_bytes, atomic_folder, atomic_output
    from textveil.bundle.defaults import DEFAULT_BUNDLE, artifact
    from textveil.bundle.files import read_checked, unique_keys
    from textveil.bundle.held_out import HeldOut
    from textveil.bundle.index import IndexBundle, StaticParts
    from textveil.bundle.kept import Kept
    from textveil.bundle.maker import signed_message
    from textveil.bundle.open import open_bundle
    from textveil.bundle.opened import MAX_BUNDLE_BYTES, Pins
    from textveil.bundle.parts import KindFile, SkeletonFiles
    from textveil.bundle.safetensors import FLOATS, parse_tensors
    from textveil.bundle.statistics import Measures
    from textveil.bundle.text import TextBundle
    from textveil.bundle.vectors import OnnxParts, VectorBundle

__all__ = [
    "DEFAULT_BUNDLE",
    "FLOATS",
    "MAX_BUNDLE_BYTES",
    "HeldOut",
    "IndexBundle",
    "Kept",
    "KindFile",
    "Measures",
    "OnnxParts",
    "Pins",
    "SkeletonFiles",
    "StaticParts",
    "TextBundle",
    "VectorBundle",
    "artifact",
    "atomic_bytes",
    "atomic_folder",
    "atomic_output",
    "open_bundle",
    "parse_tensors",
    "read_checked",
    "signed_message",
    "unique_keys",
]

__getattr__: Find = lazy_names(
    __name__,
    __all__,
    # Modules with the fewest imports first: a text bundle opens without the modules for vectors.
    "opened",
    "defaults",
    "files",
    "safetensors",
    "maker",
    "open",
    "kept",
    "atomic",
    "parts",
    "text",
    "held_out",
    "statistics",
    "vectors",
    "index",
)
