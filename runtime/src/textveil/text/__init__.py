"""Text to tokens to draws to text, and what a release of text promises.

Names are imported when they are first asked for: an encoder needs the word pieces, and pays for nothing else.
"""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.text.level_summary import LevelSummary, summaries
    from textveil.text.options import Options
    from textveil.text.plans import make_plan
    from textveil.text.result import Result
    from textveil.text.rewrite import Plan
    from textveil.text.sanitizer import Sanitizer
    from textveil.text.segmentation import AUXILIARIES, CLITICS, LOWER, is_gap, is_string, key, segments, split_clitic
    from textveil.text.skeleton import SHAPES, Kinds, Role, SkeletonRule, function_words, read_kind
    from textveil.text.statement import PrivacyStatement, Terms
    from textveil.text.wordpiece import WordPiece

__all__ = [
    "AUXILIARIES",
    "CLITICS",
    "LOWER",
    "SHAPES",
    "Kinds",
    "LevelSummary",
    "Options",
    "Plan",
    "PrivacyStatement",
    "Result",
    "Role",
    "Sanitizer",
    "SkeletonRule",
    "Terms",
    "WordPiece",
    "function_words",
    "is_gap",
    "is_string",
    "key",
    "make_plan",
    "read_kind",
    "segments",
    "split_clitic",
    "summaries",
]

__getattr__ = lazy_names(
    __name__,
    __all__,
    "level_summary",
    "options",
    "plans",
    "result",
    "rewrite",
    "sanitizer",
    "segmentation",
    "skeleton",
    "statement",
    "wordpiece",
)
