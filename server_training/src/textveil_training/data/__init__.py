"""Readers that stream examples from the formats the data sets are published in."""

from textveil_training.data.attributed import AG_ENTITIES, read_ag_entities
from textveil_training.data.examples import (
    AttributedText,
    Document,
    Example,
    LabeledPair,
    LabeledText,
    ScoredPair,
)
from textveil_training.data.formats import (
    FORMATS,
    Format,
    FormatName,
    ReadOptions,
    available_splits,
    files_of,
    format_named,
    load,
)
from textveil_training.data.grouped_split import divide, group_texts
from textveil_training.data.hash_split import share_of, split
from textveil_training.data.release import release_of
from textveil_training.data.summary import Summary, summarize
from textveil_training.data.tables import read_table

__all__ = [
    "AG_ENTITIES",
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
    "divide",
    "files_of",
    "format_named",
    "group_texts",
    "load",
    "read_ag_entities",
    "read_table",
    "release_of",
    "share_of",
    "split",
    "summarize",
]
