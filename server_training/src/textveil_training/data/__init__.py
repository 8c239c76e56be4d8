"""Read labeled texts, row by row, from tables and from files in the formats of published data sets."""

from textveil_training.data.corpus_release import read_release_terms
from textveil_training.data.examples import LabeledExample
from textveil_training.data.formats import FORMATS, FormatName, get_format, list_files, list_splits, load_examples
from textveil_training.data.published import ReadOptions
from textveil_training.data.splits import choose_share, group_texts, split_examples, split_groups
from textveil_training.data.tables import read_table

__all__ = [
    "FORMATS",
    "FormatName",
    "LabeledExample",
    "ReadOptions",
    "choose_share",
    "get_format",
    "group_texts",
    "list_files",
    "list_splits",
    "load_examples",
    "read_release_terms",
    "read_table",
    "split_examples",
    "split_groups",
]
