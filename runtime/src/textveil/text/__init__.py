"""Text to tokens to draws to text, and what a release of text promises.

Names are imported when they are first asked for: an encoder needs the word pieces, and pays for nothing else.
"""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.text.kinds import SHAPES, Kinds, read_kind
    from textveil.text.level_summary import LevelSummary, summaries
    from textveil.text.lexicon import Lexicon
    from textveil.text.mention_options import Mentions
    from textveil.text.mention_statement import MentionStatement, MentionTerms
    from textveil.text.mentions import MentionPlan
    from textveil.text.options import Options, Plan, make_plan
    from textveil.text.restore import Restorer
    from textveil.text.result import Result
    from textveil.text.sanitizer import Sanitizer
    from textveil.text.segmentation import AUXILIARIES, CLITICS, is_gap, is_string, key, segments, split_clitic
    from textveil.text.skeleton import Role, Rule, function_words
    from textveil.text.statement import CERTIFIED, PURE_LDP, TEXTBOOK, PrivacyStatement, Terms
    from textveil.text.wordpiece import WordPiece

__all__ = [
    "AUXILIARIES",
    "CERTIFIED",
    "CLITICS",
    "PURE_LDP",
    "SHAPES",
    "TEXTBOOK",
    "Kinds",
    "LevelSummary",
    "Lexicon",
    "MentionPlan",
    "MentionStatement",
    "MentionTerms",
    "Mentions",
    "Options",
    "Plan",
    "PrivacyStatement",
    "Restorer",
    "Result",
    "Role",
    "Rule",
    "Sanitizer",
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
    "kinds",
    "level_summary",
    "lexicon",
    "mention_options",
    "mention_statement",
    "mentions",
    "options",
    "restore",
    "result",
    "sanitizer",
    "segmentation",
    "skeleton",
    "statement",
    "wordpiece",
)
