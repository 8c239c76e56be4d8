"""Readers that stream examples from the formats the data sets are published in."""

from textveil_training.data.examples import (
    AttributedText,
    Document,
    Example,
    LabeledPair,
    LabeledText,
    ScoredPair,
)
from textveil_training.data.formats import FORMATS, Format, FormatName, ReadOptions, available_splits, files_of, load
from textveil_training.data.hash_split import share_of, split
from textveil_training.data.summary import Summary, summarize

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
    "Summary",
    "available_splits",
    "files_of",
    "load",
    "share_of",
    "split",
    "summarize",
]
