"""Build bundles whose devices release a class label or a cluster label instead of a text."""

from textveil_export.index.contents import IndexContents, make_certificate, quantize_static_parts, read_index_contents
from textveil_export.index.integer_randomizers import compute_realized_epsilon, make_integer_randomizer
from textveil_export.index.sentences import add_sentences
from textveil_export.index.write import write_index_bundle

__all__ = [
    "IndexContents",
    "add_sentences",
    "compute_realized_epsilon",
    "make_certificate",
    "make_integer_randomizer",
    "quantize_static_parts",
    "read_index_contents",
    "write_index_bundle",
]
