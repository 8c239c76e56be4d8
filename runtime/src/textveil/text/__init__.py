"""Public API of text sanitizing: the class ``Sanitizer``, its results, privacy statements and privacy levels.

Each name of ``__all__`` is imported when it is first used, so that an import of this package is fast. Two submodules
are imported by their own names: ``textveil.text.segmentation`` splits texts into tokens, and ``textveil.text.restore``
puts the original words back into a reply to a sanitized text.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.text.guarantees import NOTION
    from textveil.text.kept_words import KeptWords
    from textveil.text.level_summary import LevelSummary, summarize_levels
    from textveil.text.levels import format_epsilon
    from textveil.text.options import DEFAULT_FACTS, Options
    from textveil.text.restore_policy import RestorePolicy, SkipReason
    from textveil.text.restored import Restored, RestoreReport
    from textveil.text.rewrite import SanitizingPlan
    from textveil.text.sanitizer import Sanitizer, make_plan
    from textveil.text.segmentation import LOWER, fold_word, is_gap, is_string, split_clitic, split_text
    from textveil.text.staircase_plans import StaircasePlanFactory
    from textveil.text.statement import PrivacyTerms, Result
    from textveil.text.token_rules import (
        SHAPES,
        EntityTypes,
        TemplateRule,
        TokenRole,
        parse_entity_type,
        parse_function_words,
    )

__all__ = [
    "DEFAULT_FACTS",
    "LOWER",
    "NOTION",
    "SHAPES",
    "EntityTypes",
    "KeptWords",
    "LevelSummary",
    "Options",
    "PrivacyTerms",
    "RestorePolicy",
    "RestoreReport",
    "Restored",
    "Result",
    "Sanitizer",
    "SanitizingPlan",
    "SkipReason",
    "StaircasePlanFactory",
    "TemplateRule",
    "TokenRole",
    "fold_word",
    "format_epsilon",
    "is_gap",
    "is_string",
    "make_plan",
    "parse_entity_type",
    "parse_function_words",
    "split_clitic",
    "split_text",
    "summarize_levels",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__,
    __all__,
    # The modules with the fewest imports first. The command line needs only a sanitizer, which imports the modules of a
    # mode at its first use.
    "options",
    "statement",
    "segmentation",
    "sanitizer",
    "kept_words",
    "token_rules",
    "guarantees",
    "rewrite.plan",
    "staircase_plans",
    "levels",
    "level_summary",
    "restore_policy",
    "restored",
)
