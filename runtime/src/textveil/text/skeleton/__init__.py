"""Rules that classify each token as kept, replaced without a look at it, or randomized.

The rules that randomize every token are imported lazily: the staircase mechanism uses its own rule.
"""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names
from textveil.text.skeleton.function_words import SkeletonRule, denied_keys, function_words
from textveil.text.skeleton.kinds import SHAPES, Kind, Kinds, read_kind
from textveil.text.skeleton.rule import DRAWN_BY_KEY, MARKS, Pieces, Role, Rule, Token, sentence_start

if TYPE_CHECKING:
    from textveil.text.skeleton.everything import EveryPieceRule, EverythingRule

__all__ = [
    "DRAWN_BY_KEY",
    "MARKS",
    "SHAPES",
    "EveryPieceRule",
    "EverythingRule",
    "Kind",
    "Kinds",
    "Pieces",
    "Role",
    "Rule",
    "SkeletonRule",
    "Token",
    "denied_keys",
    "function_words",
    "read_kind",
    "sentence_start",
]

__getattr__: Find = lazy_names(__name__, __all__, "everything")
