"""Reasons for previews: why the mode ``names`` replaces a word or leaves it unchanged.

The module searches the word lists for each word of a text. The options ``keep`` and ``facts`` also leave words
unchanged. To find the words that stay because of these options, the module reads the text a second time without them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from textveil.bundle.fact_words import CASED_UNITS, DEGREES
from textveil.bundle.names_files import FUNCTION, NamesLists
from textveil.lazy import ENTITY_TYPES, load_data
from textveil.text.explanation import FUNCTION_WORD, ExplainedPiece
from textveil.text.names.entity_types import EntityMention
from textveil.text.names.plan import NamesPlan
from textveil.text.names.tokens import (
    AFTER_TITLE,
    CAPITALIZED,
    CAPITALIZED_RUN,
    INITIAL,
    KEPT_FOR_EMPHASIS,
    KNOWN_PERSON,
    LONE_INITIAL,
    NamesToken,
)
from textveil.text.options import NO_FACTS
from textveil.text.segmentation import UPPER, fold_apostrophes, fold_word

_TYPES = load_data(ENTITY_TYPES)
#: Lists of whole names, and of words that end or begin a name, each in order of precedence; types that such a word
#: gives; the list of first names of other countries.
_NAME_LISTS = tuple(_TYPES["whole"])
_END_WORD_LISTS = tuple(name for name, _ in _TYPES["last"])
_END_WORD_TYPES = frozenset(entity_type for _, entity_type in _TYPES["last"])
_FOREIGN_GIVEN_LIST = _TYPES["first_names_only"]
#: Provisional types of spans whose words have a capital.
_CAPITALIZED_TYPES = frozenset((CAPITALIZED_RUN, LONE_INITIAL))
#: Types of lower-case words and letters that have no other type.
_WORD_TYPES = frozenset(("word", "letter"))
#: Types of strings that may be made of words.
_STRING_TYPES = frozenset(("file", "path", "key", "id", "url"))

#: Gap between a word such as *order* and its number; and a text without digits.
_NUMBER_GAP, _NO_DIGITS = re.compile(r"[ #:.]+"), re.compile(r"[^0-9]+")


def explain_preview(plan: NamesPlan, text: str) -> Iterator[ExplainedPiece]:
    """Yield each part of a text, with its position, and the reason why it is unchanged or replaced.

    Args:
        plan: The checked options of the call, with the word lists.
        text: The text.

    Privacy:
        The result is as private as the text.
    """
    option_reasons, facts = _OptionReasons(plan, text), plan.facts
    identifying = frozenset[str]() if facts is None else facts.strings.words.address_words
    start, word_before = 0, ""
    for piece, state, mention in plan.iterate_pieces(text):
        end = start + len(piece)
        if mention is not None:
            reason = _explain_mention(mention, plan)
            if reason == "pattern" and word_before in identifying and not _NO_DIGITS.fullmatch(piece):
                reason = f"pattern: beside {word_before}"  # no fact rule keeps the number of an order
        elif state == "gap":
            reason = ""
        else:
            reason = option_reasons.find(start, piece) or explain_token(plan.classify_word(piece), plan)
        yield ExplainedPiece(text=piece, state=state, start=start, end=end, reason=reason)
        if state != "gap":
            word_before = fold_word(piece) if mention is None else ""
        elif not _NUMBER_GAP.fullmatch(piece):
            word_before = ""
        start = end


def explain_token(tokens: Sequence[NamesToken], plan: NamesPlan) -> str:
    """Return the reason why the mode ``names`` leaves a word unchanged, such as ``common-word``.

    The reason follows from the class of the word's tokens, and from the lists that contain the word.

    Args:
        tokens: The tokens of the word: one, or a stem and its clitic (``Anna`` and ``'s``).
        plan: The checked options of the call, with the word lists.
    """
    token, lists = tokens[0], plan.lists
    folded = fold_word("".join(part.text for part in tokens))
    marks = lists.common_words.get(folded) or lists.common_words.get(token.key)
    if plan.allowed.intersection((folded, token.key)):
        return "allow"
    if fold_apostrophes(token.text) in lists.kept_capitals:
        return "kept-capital"
    if marks is None:
        return "expression"
    if marks & FUNCTION:
        return FUNCTION_WORD
    if token.token_class not in (CAPITALIZED, INITIAL):
        return "common-word"
    is_emphatic = token.case == UPPER and token.flags & KEPT_FOR_EMPHASIS
    return "common-word-in-capitals" if is_emphatic else "common-word-at-start"


def _explain_mention(mention: EntityMention, plan: NamesPlan) -> str:
    """Return the reason why an entity has its type, such as ``list: given`` for a listed first name."""
    span, parts, lists = mention.span, mention.parts, plan.lists.members_by_type
    if parts[0].is_randomized:
        return "randomize"
    if span.entity_type == KNOWN_PERSON:
        return "known"
    if plan.own_types is not None and mention.entity_type in plan.own_types.names:
        return "patterns"
    if any(token.key in plan.denied or not plan.denied.isdisjoint(token.key.split("-")) for token in span.tokens):
        return "deny"
    if span.preceding_word == AFTER_TITLE:
        return "title-before"
    names = [name for part in parts if (name := _find_list(part.entity_type, part.folded, plan.lists))]
    if not names and span.entity_type == "word" != mention.entity_type:  # a name in a text without capitals
        names = [name for name in _NAME_LISTS if parts[0].folded in lists[name]][:1]
    if not names and span.tokens and mention.entity_type in _END_WORD_TYPES:
        end_words = (span.tokens[-1].key, span.tokens[0].key)
        names = [name for word in end_words for name in _END_WORD_LISTS if word in lists[name]][:1]
    if names:
        return f"list: {', '.join(dict.fromkeys(names))}"
    if mention.entity_type == "city" and span.preceding_word in plan.lists.rules.place_prepositions:
        return "word-before"
    if span.entity_type in _CAPITALIZED_TYPES:
        return "capital"
    if mention.entity_type in _WORD_TYPES:
        return "perhaps-a-name" if parts[0].folded in plan.lists.common_words else "not-common"
    return "pattern"


def _find_list(entity_type: str, folded: str, lists: NamesLists) -> str:
    """Return the name of the list that determines the entity type of a text; empty if no list does.

    Args:
        entity_type: The entity type.
        folded: The text, normalized.
        lists: The word lists.
    """
    names = [entity_type, *([_FOREIGN_GIVEN_LIST] if entity_type == "given" else [])]
    return next((name for name in names if folded in lists.members_by_type.get(name, ())), "")


class _OptionReasons:
    """Finds the option, ``keep`` or ``facts``, that leaves a given word of a text unchanged.

    Args:
        plan: The checked options of the call, with the word lists.
        text: The text.
    """

    def __init__(self, plan: NamesPlan, text: str) -> None:
        self._plan = plan
        self._starts = list[int]()
        self._mentions = list[tuple[int, str, EntityMention]]()
        if not plan.style.keep and plan.facts_level == NO_FACTS:
            return
        start = 0
        for piece, entity_type, mention in plan.plan_without_options.iterate_pieces(text):
            if mention is not None:
                self._starts.append(start)
                self._mentions.append((start + len(piece), entity_type, mention))
            start += len(piece)

    def find(self, start: int, word: str) -> str:
        """Return why an option leaves a word unchanged, such as ``keep: city``; empty if no option is needed.

        Args:
            start: Index in the text of the first character of the word.
            word: The unchanged word.
        """
        index = bisect_right(self._starts, start + len(word) - 1) - 1
        if index < 0 or self._mentions[index][0] <= start:
            return ""
        _, entity_type, mention = self._mentions[index]
        if entity_type in self._plan.style.keep:
            return f"keep: {entity_type}"
        return f"facts: {self._name_fact(word, entity_type, mention)}"

    def _name_fact(self, word: str, entity_type: str, mention: EntityMention) -> str:
        """Return the reason why the option ``facts`` leaves a word unchanged.

        Args:
            word: The word.
            entity_type: The entity type of the word without this option.
            mention: The entity that would contain the word without this option.

        Returns:
            ``identifier`` for an identifier or a part of one; ``typing-error`` for a corrected word; the name of the
            word list that contains the word; ``unit`` for a unit with a capital letter; and for other words
            ``heading``, or the entity type of the word.
        """
        if entity_type in _STRING_TYPES:
            return "identifier"
        folded = fold_word(word)
        for key in (word, folded):  # the spelling first: some lists have words with a capital
            for name, entries in self._plan.lists.fact_lists.items():
                if key in entries:
                    return name
        if entity_type == "word" and self._plan.corrects(folded):
            return "typing-error"
        if mention.span.entity_type not in _CAPITALIZED_TYPES:
            return entity_type
        if word in CASED_UNITS or word in DEGREES:
            return "unit"
        rules = self._plan.facts
        if rules is not None and (rules.strings.is_camel(word) or rules.strings.is_code_constant(word)):
            return "identifier"
        return "heading" if folded in self._plan.lists.common_words else entity_type
