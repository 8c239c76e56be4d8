"""From probabilities and weights to a bundle whose devices release an index."""

from textveil_export.index.contents import IndexContents, certificate, reopened, static_parts
from textveil_export.index.integer_randomizers import drawn_epsilon, integer_channel
from textveil_export.index.sentences import with_sentences
from textveil_export.index.write import write_index

__all__ = [
    "IndexContents",
    "certificate",
    "drawn_epsilon",
    "integer_channel",
    "reopened",
    "static_parts",
    "with_sentences",
    "write_index",
]
