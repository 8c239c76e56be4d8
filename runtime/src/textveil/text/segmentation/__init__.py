"""Divides text into words, strings and gaps: ``cut`` does this where words are drawn (format-staircase.md).

The rung ``names`` cuts in ``textveil.text.names.chunks``.
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
    "fold_apostrophes",
    "is_folded",
    "is_gap",
    "is_string",
    "iterate_segments",
    "key",
    "segments",
    "split_clitic",
]
