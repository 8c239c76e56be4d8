"""Readers that stream examples from the formats the data sets are published in."""

from textveil_training.data.corpus_release import release_of
from textveil_training.data.examples import Example
from textveil_training.data.formats import FORMATS, FormatName, available_splits, files_of, format_named, load
from textveil_training.data.published import ReadOptions
from textveil_training.data.splits import divide, group_texts, share_of, split
from textveil_training.data.tables import read_table

__all__ = [
    "FORMATS",
    "Example",
    "FormatName",
    "ReadOptions",
    "available_splits",
    "divide",
    "files_of",
    "format_named",
    "group_texts",
    "load",
    "read_table",
    "release_of",
    "share_of",
    "split",
]
