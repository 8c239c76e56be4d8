"""Text to tokens to draws to text, and what a release of text promises.

Names are imported when they are first asked for: an encoder needs the word pieces, and pays for nothing else. How text
is divided is in ``textveil.text.segmentation``, and what restores a rewritten one in ``textveil.text.restore``.
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
    # Those first that import the least; an encoder asks for word pieces, the command for a sanitizer.
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
