"""Readers that stream examples from the formats the data sets are published in."""

from textveil_training.data.examples import (
    AttributedText,
    Document,
    Example,
    LabelledPair,
    LabelledText,
    ScoredPair,
)
from textveil_training.data.formats import FORMATS, Format, FormatName, ReadOptions, available_splits, files_of, load
from textveil_training.data.hash_split import share_of, split
from textveil_training.data.summary import Summary, summarise

__all__ = [
    "FORMATS",
    "AttributedText",
    "Document",
    "Example",
    "Format",
    "FormatName",
    "LabelledPair",
    "LabelledText",
    "ReadOptions",
    "ScoredPair",
    "Summary",
    "available_splits",
    "files_of",
    "load",
    "share_of",
    "split",
    "summarise",
]
