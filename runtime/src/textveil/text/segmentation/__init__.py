"""Tokenizer of the modes that randomize words.

The definitions are in docs/format-staircase.md. The mode ``names`` has its own tokenizer,
``textveil.text.names.chunks``. Terms:

- *segment*: any part of the result; the segments concatenate to the text.
- *gap*: a segment of white space and punctuation between tokens.
- *word*, *string*: a segment that is a token, of ordinary letters or of more than that.
- *chunk*: text between blanks.
"""

from textveil.text.segmentation.cut import is_gap, is_string, iterate_segments, segments
from textveil.text.segmentation.strings import LONGEST_WORD
from textveil.text.segmentation.words import (
    APOSTROPHES,
    AUXILIARIES,
    BYTE_ORDER_MARK,
    CLITICS,
    LOWER,
    NOT,
    TITLE,
    UPPER,
    apply_case,
    case_pattern,
    clitic_pattern,
    fold_apostrophes,
    is_folded,
    key,
    split_clitic,
)

__all__ = [
    "APOSTROPHES",
    "AUXILIARIES",
    "BYTE_ORDER_MARK",
    "CLITICS",
    "LONGEST_WORD",
    "LOWER",
    "NOT",
    "TITLE",
    "UPPER",
    "apply_case",
    "case_pattern",
    "clitic_pattern",
    "fold_apostrophes",
    "is_folded",
    "is_gap",
    "is_string",
    "iterate_segments",
    "key",
    "segments",
    "split_clitic",
]
