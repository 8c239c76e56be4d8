"""Text to tokens to draws to text, and what a release of text promises.

Names are imported when they are first asked for: an encoder needs the word pieces, and pays for nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "CERTIFIED": "statement",
    "CLITICS": "segmentation",
    "Lexicon": "lexicon",
    "Options": "options",
    "PURE_LDP": "statement",
    "Plan": "options",
    "PrivacyStatement": "statement",
    "Result": "sanitizer",
    "Sanitizer": "sanitizer",
    "TEXTBOOK": "statement",
    "Terms": "statement",
    "WordPiece": "wordpiece",
    "is_gap": "segmentation",
    "is_string": "segmentation",
    "key": "segmentation",
    "make_plan": "options",
    "segments": "segmentation",
    "split_clitic": "segmentation",
    "table_mechanism": "options",
}


def __getattr__(name: str) -> Any:
    """Imports a public name from its module when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
