"""From probabilities and weights to a bundle whose devices release an index."""

from textveil_export.index.contents import IndexContents, certificate, static_parts
from textveil_export.index.integers import drawn_epsilon, integer_channel
from textveil_export.index.reopen import reopened
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
