"""Encoders, which return a randomized class label or a short noisy vector for a text, with one epsilon for the text."""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.vector.encoder import Encoder, VectorRelease
    from textveil.vector.extractor import EncodingNotes, StaticExtractor, TextExtractor, make_extractor
    from textveil.vector.label_encoder import HASH_DIGITS, LabelRelease, TextLabelEncoder
    from textveil.vector.label_statement import LabelStatement
    from textveil.vector.load import load_encoder
    from textveil.vector.statement import VectorStatement, make_vector_statement
    from textveil.vector.static_tokenizer import compute_pair_buckets, find_word_rows
    from textveil.vector.wordpiece import WordPiece

__all__ = [
    "HASH_DIGITS",
    "Encoder",
    "EncodingNotes",
    "LabelRelease",
    "LabelStatement",
    "StaticExtractor",
    "TextExtractor",
    "TextLabelEncoder",
    "VectorRelease",
    "VectorStatement",
    "WordPiece",
    "compute_pair_buckets",
    "find_word_rows",
    "load_encoder",
    "make_extractor",
    "make_vector_statement",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__,
    __all__,
    "encoder",
    "extractor",
    "label_encoder",
    "label_statement",
    "load",
    "statement",
    "static_tokenizer",
    "wordpiece",
)
