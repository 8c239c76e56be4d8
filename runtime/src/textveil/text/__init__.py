"""Text to tokens to draws to text, and what a release of text promises.

Names are imported when they are first asked for: an encoder needs the word pieces, and pays for nothing else.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textveil.text.kinds import SHAPES, Kinds, read_kind
    from textveil.text.lexicon import Lexicon
    from textveil.text.mention_options import Mentions
    from textveil.text.mention_statement import MentionStatement, MentionTerms
    from textveil.text.mentions import MentionPlan
    from textveil.text.options import Options, Plan, make_plan, table_mechanism
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
    "table_mechanism",
]


def __getattr__(name: str) -> Any:
    """Imports a public name from its module when it is first asked for."""
    if name == "Lexicon":
        from textveil.text import lexicon as module
    elif name in ("Options", "Plan", "make_plan", "table_mechanism"):
        from textveil.text import options as module
    elif name in ("SHAPES", "Kinds", "read_kind"):
        from textveil.text import kinds as module
    elif name == "Mentions":
        from textveil.text import mention_options as module
    elif name in ("MentionStatement", "MentionTerms"):
        from textveil.text import mention_statement as module
    elif name == "MentionPlan":
        from textveil.text import mentions as module
    elif name == "Restorer":
        from textveil.text import restore as module
    elif name in ("Role", "Rule", "function_words"):
        from textveil.text import skeleton as module
    elif name in ("Result", "Sanitizer"):
        from textveil.text import sanitizer as module
    elif name in ("AUXILIARIES", "CLITICS", "is_gap", "is_string", "key", "segments", "split_clitic"):
        from textveil.text import segmentation as module
    elif name in ("CERTIFIED", "PURE_LDP", "PrivacyStatement", "TEXTBOOK", "Terms"):
        from textveil.text import statement as module
    elif name == "WordPiece":
        from textveil.text import wordpiece as module
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)
