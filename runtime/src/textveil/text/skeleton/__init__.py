"""Rules: what of a text is shown, what is replaced without a look, and what is drawn.

The rules that draw everything are imported when they are asked for: the staircase has its own.
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
