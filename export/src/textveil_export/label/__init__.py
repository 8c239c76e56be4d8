"""Build label bundles: data folders with which a device sends a random class or cluster label instead of a text."""

from textveil_export.label.contents import (
    LabelBundleContents,
    make_certificate,
    quantize_static_parts,
    read_label_contents,
)
from textveil_export.label.integer_randomizers import compute_realized_epsilon, make_integer_randomizer
from textveil_export.label.sentences import add_sentences
from textveil_export.label.write import write_label_bundle

__all__ = [
    "LabelBundleContents",
    "add_sentences",
    "compute_realized_epsilon",
    "make_certificate",
    "make_integer_randomizer",
    "quantize_static_parts",
    "read_label_contents",
    "write_label_bundle",
]
