"""Encoders: a text becomes one class label or a short vector, with one epsilon for the text."""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.vector.encoder import Encoder, VectorRelease
    from textveil.vector.extractor import Extractor, Notes, StaticExtractor, extractor_of
    from textveil.vector.index_encoder import IDENTITY_DIGITS, IndexEncoder, IndexRelease
    from textveil.vector.index_statement import IndexStatement
    from textveil.vector.load import load_encoder
    from textveil.vector.statement import VectorStatement, vector_statement
    from textveil.vector.static import pair_buckets, words_of

__all__ = [
    "IDENTITY_DIGITS",
    "Encoder",
    "Extractor",
    "IndexEncoder",
    "IndexRelease",
    "IndexStatement",
    "Notes",
    "StaticExtractor",
    "VectorRelease",
    "VectorStatement",
    "extractor_of",
    "load_encoder",
    "pair_buckets",
    "vector_statement",
    "words_of",
]

__getattr__: Find = lazy_names(
    __name__, __all__, "encoder", "extractor", "index_encoder", "index_statement", "load", "statement", "static"
)
