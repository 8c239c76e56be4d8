"""Sanitizing of text: tokenization, mechanisms, privacy statements and restoring.

The names of ``__all__`` are imported lazily, at first access: an encoder that needs only ``WordPiece`` imports nothing
else. Tokenization is in ``textveil.text.segmentation``; restoring a reply to a sanitized text is in
``textveil.text.restore``.
"""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.text.level_summary import LevelSummary, summaries
    from textveil.text.levels import epsilon_text
    from textveil.text.options import Options
    from textveil.text.promises import NOTION
    from textveil.text.restore_policy import RestorePolicy, SkipReason
    from textveil.text.restored import NotRestored, Restored, RestoreReport
    from textveil.text.rewrite import Plan
    from textveil.text.sanitizer import Sanitizer, make_plan
    from textveil.text.segmentation import LOWER, is_gap, is_string, key, segments, split_clitic
    from textveil.text.skeleton import SHAPES, Kinds, Role, SkeletonRule, function_words, read_kind
    from textveil.text.staircase_plans import StaircasePlans
    from textveil.text.statement import Result, Terms
    from textveil.text.wordpiece import WordPiece

__all__ = [
    "LOWER",
    "NOTION",
    "SHAPES",
    "Kinds",
    "LevelSummary",
    "NotRestored",
    "Options",
    "Plan",
    "RestorePolicy",
    "RestoreReport",
    "Restored",
    "Result",
    "Role",
    "Sanitizer",
    "SkeletonRule",
    "SkipReason",
    "StaircasePlans",
    "Terms",
    "WordPiece",
    "epsilon_text",
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

__getattr__: Find = lazy_names(
    __name__,
    __all__,
    # The modules with the fewest imports first: an encoder needs only word pieces, the command line only a sanitizer.
    "options",
    "segmentation",
    "statement",
    "skeleton",
    "promises",
    "rewrite.plan",
    "staircase_plans",
    "sanitizer",
    "wordpiece",
    "levels",
    "level_summary",
    "restore_policy",
    "restored",
)
