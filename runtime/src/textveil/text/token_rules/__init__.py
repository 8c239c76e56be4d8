"""Rules that classify each token: unchanged (*kept*), replaced by another entity of its type, or randomized.

``EveryWordRule`` is imported at first access, because the staircase mechanism does not need it.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr
from textveil.text.segmentation.segments import SHAPES
from textveil.text.token_rules.entity_types import EntityType, EntityTypes, parse_entity_type
from textveil.text.token_rules.function_words import TemplateRule, collect_denied_keys, parse_function_words
from textveil.text.token_rules.rule import (
    KEPT_AS_KEY,
    PUNCTUATION_TYPE,
    RANDOMIZED_BY_KEY,
    ClassifiedToken,
    ClassifiedTokens,
    TokenRole,
    TokenRule,
)

if TYPE_CHECKING:
    from textveil.text.token_rules.every_word import EveryWordRule

__all__ = [
    "KEPT_AS_KEY",
    "PUNCTUATION_TYPE",
    "RANDOMIZED_BY_KEY",
    "SHAPES",
    "ClassifiedToken",
    "ClassifiedTokens",
    "EntityType",
    "EntityTypes",
    "EveryWordRule",
    "TemplateRule",
    "TokenRole",
    "TokenRule",
    "collect_denied_keys",
    "parse_entity_type",
    "parse_function_words",
]

__getattr__: AttributeGetter = make_lazy_getattr(__name__, __all__, "every_word")
