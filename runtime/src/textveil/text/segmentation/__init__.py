"""Tokenizer of the modes that randomize words.

The definitions are in docs/format-staircase.md. The mode ``names`` has its own tokenizer,
``textveil.text.names.tokenizer``. Terms:

- *segment*: any part of the result; the segments concatenate to the text.
- *gap*: a segment of white space and punctuation between tokens.
- *word*, *string*: a segment that is a token, of ordinary letters or of more than that.
- *chunk*: text between blanks.
"""

from textveil.text.segmentation.patterns import MAX_WORD_LENGTH
from textveil.text.segmentation.segments import is_gap, is_string, iterate_split_text, split_text
from textveil.text.segmentation.words import (
    APOSTROPHES,
    AUXILIARIES,
    BYTE_ORDER_MARK,
    CLITICS,
    LOWER,
    NOT_CLITIC,
    TITLE,
    UPPER,
    apply_case,
    clitic_pattern,
    find_case_pattern,
    fold_apostrophes,
    fold_word,
    is_folded,
    split_clitic,
)

__all__ = [
    "APOSTROPHES",
    "AUXILIARIES",
    "BYTE_ORDER_MARK",
    "CLITICS",
    "LOWER",
    "MAX_WORD_LENGTH",
    "NOT_CLITIC",
    "TITLE",
    "UPPER",
    "apply_case",
    "clitic_pattern",
    "find_case_pattern",
    "fold_apostrophes",
    "fold_word",
    "is_folded",
    "is_gap",
    "is_string",
    "iterate_split_text",
    "split_clitic",
    "split_text",
]
