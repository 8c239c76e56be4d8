"""Readers that stream examples from the formats the data sets are published in."""

from textveil_training.data.examples import (
    AttributedText,
    Document,
    Example,
    LabeledPair,
    LabeledText,
    ScoredPair,
)
from textveil_training.data.formats import FORMATS, FormatName, available_splits, files_of, format_named, load
from textveil_training.data.hash_split import share_of, split
from textveil_training.data.published import Format, ReadOptions

__all__ = [
    "FORMATS",
    "AttributedText",
    "Document",
    "Example",
    "Format",
    "FormatName",
    "LabeledPair",
    "LabeledText",
    "ReadOptions",
    "ScoredPair",
    "available_splits",
    "files_of",
    "format_named",
    "load",
    "share_of",
    "split",
]
