"""Sanitizes text: words are cut out, replaced by draws and put back; the statement says what that promises."""

from textveil.text.lexicon import Lexicon
from textveil.text.options import Options, Plan, make_plan, table_mechanism
from textveil.text.sanitizer import Result, Sanitizer
from textveil.text.segmentation import CLITICS, is_gap, is_string, key, segments, split_clitic
from textveil.text.statement import CERTIFIED, PURE_LDP, TEXTBOOK, PrivacyStatement, Terms
from textveil.text.wordpiece import WordPiece

__all__ = [
    "CERTIFIED",
    "CLITICS",
    "PURE_LDP",
    "TEXTBOOK",
    "Lexicon",
    "Options",
    "Plan",
    "PrivacyStatement",
    "Result",
    "Sanitizer",
    "Terms",
    "WordPiece",
    "is_gap",
    "is_string",
    "key",
    "make_plan",
    "segments",
    "split_clitic",
    "table_mechanism",
]
