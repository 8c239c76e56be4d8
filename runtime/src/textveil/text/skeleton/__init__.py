"""Rules: what of a text is shown, what is replaced without a look, and what is drawn."""

from textveil.text.skeleton.function_words import SkeletonRule, denied_keys, function_words
from textveil.text.skeleton.kinds import SHAPES, Kind, Kinds, read_kind
from textveil.text.skeleton.rule import DRAWN_BY_KEY, MARKS, Pieces, Role, Rule, Token, sentence_start

__all__ = [
    "DRAWN_BY_KEY",
    "MARKS",
    "SHAPES",
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
