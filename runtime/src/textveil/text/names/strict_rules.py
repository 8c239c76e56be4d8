"""Strict rules, which also replace words that the usual rules leave unchanged because of their context.

The strict rules apply to texts that a model wrote and another party changed. The usual rules leave ``<3``, ``&#79;`` or
a common word at the start of a sentence unchanged because of its context. An attacker could write a surrogate
(replacement) into such a context, and learn the entity type of its original from the result. Under the strict rules,
only the word itself decides whether it stays unchanged.
"""

from collections.abc import Iterable, Iterator

import regex

from textveil.text.names.entity_types import EntityMention, MentionPart
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.numbers import classify_number
from textveil.text.names.tokens import KEPT, EntitySpan
from textveil.text.segmentation import APOSTROPHES, LOWER, find_case_pattern, fold_word

_WORD_OR_NUMBER = regex.compile(r"[\p{L}\p{M}][\p{L}\p{M}'\u2019\u2018]*+|\p{N}++")


def hide_context_words(elements: Iterable[str | EntityMention], lexicon: Lexicon) -> Iterator[str | EntityMention]:
    """Yield the parts of a text, and turn each word that stays unchanged only in some contexts into an entity.

    The caller replaces entities, so these words are replaced too.

    Args:
        elements: Unchanged parts and entities of the text, in order.
        lexicon: The classifier of words by public lists.

    Privacy:
        The result is a function of the text and of public lists. Besides all entities that ``NamesReader`` finds, it
        has further ones, such as all numbers.
    """
    for element in elements:
        if not isinstance(element, str):
            yield element
            continue
        position = 0
        for match in _WORD_OR_NUMBER.finditer(element):
            word = match[0].rstrip(APOSTROPHES)
            if not _is_always_kept(word, lexicon):
                yield element[position : match.start()]
                yield _make_mention(word)
                position = match.start() + len(word)
        yield element[position:]


def _is_always_kept(word: str, lexicon: Lexicon) -> bool:
    return not word[0].isnumeric() and all(token.token_class == KEPT for token in lexicon.classify_word(word))


def _make_mention(word: str) -> EntityMention:
    entity_type, layout, case = "word", "", find_case_pattern(word)
    if word[0].isnumeric():
        entity_type, layout = classify_number(word) if word.isascii() else ("symbol", "")
    elif len(word) == 1:
        entity_type = "letter" if case == LOWER else "initial"
    part = MentionPart(entity_type, layout, fold_word(word), word)
    return EntityMention(entity_type, case, (part,), EntitySpan(entity_type, case, layout, (), word), word)
