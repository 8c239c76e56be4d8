"""Classifier of spans by entity type (pass 3 of the mode ``names``).

A span (tokens of one entity) with its type is a *mention*. The type depends on the text of the span, on the unchanged
word before it, and on lists of names. The output reveals the type, but no list of names decides whether a span is
replaced.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

from textveil.bundle.rules import Rules
from textveil.lazy import ENTITY_TYPES, load_data
from textveil.text.names.kept_mentions import TITLES, join_title_surname, merge_kept_mentions, select_kept_names
from textveil.text.names.lexicon import find_ending
from textveil.text.names.numbers import MIN_CARD_DIGITS, classify_number
from textveil.text.names.tokens import (
    AFTER_TITLE,
    BEGINS_DOTTED_NAME,
    CAPITALIZED_RUN,
    DIGIT_GROUP,
    INITIAL,
    INITIALS,
    KEPT_AT_SENTENCE,
    KNOWN_PERSON,
    LONE_INITIAL,
    RANDOMIZED,
    RANDOMIZED_POOL,
    SURNAME,
    EntitySpan,
    NamesToken,
    TextElement,
    create_tuple,
)
from textveil.text.segmentation import UPPER

#: Lists of whole names, in order of precedence. The first one that contains a run (a sequence of capitalized words)
#: gives the type of the run.
_TYPES = load_data(ENTITY_TYPES)
_NAME_LISTS = tuple(_TYPES["whole"])
#: Lists of words that end a name, each with the type of such a name.
_NAME_ENDING_LISTS = tuple((name, kind) for name, kind in _TYPES["last"])
_MAX_ACRONYM_LENGTH = 5
#: A common word in capitals with fewer letters has the type ``acronym``, for example "WHO".
_MIN_COMMON_WORD_LENGTH = 4
#: List of first names that only this module reads. It affects the type of a span, never whether a string is replaced.
_FOREIGN_GIVEN_LIST = _TYPES["first_names_only"]
#: Lists of whole names that exclude persons: a run that contains a word of one of them is not the name of a person.
_NON_PERSON_LISTS = frozenset(_TYPES["no_persons"])
#: Pairs of lists: a run whose first and last word are on these lists may also be the name of a person.
_PERSON_LIST_PAIRS = frozenset((("given", "given"), ("given", "family")))
#: Replacement types for names in a document without capitals. Surrogates of ``organization`` and ``place`` may consist
#: of common words, which a second pass over the output would keep.
_TYPES_WITHOUT_CAPITALS = _TYPES["without_capitals"]
#: Types of runs that name a person. Common words before the name are not replaced by a surrogate of their own.
_PERSON_TYPES = ("person", "given", "family")
#: Types without a list of members. An unlisted string may be a name, so ``keep`` never covers these types.
UNLISTED_TYPES = frozenset(_TYPES["unlisted"])
_NON_DIGITS = re.compile(r"[^0-9]+")
#: Types that a caller may assign to a whole text.
ASSIGNABLE_TYPES = frozenset(("person", "city", "organization", "group", "word"))
#: Public name of each type, as in tags and options. Several types have the same one: those of personal names, and
#: others that a reader need not distinguish. The public name of a type that is not in this table is its own name.
PUBLIC_TYPE_NAMES: dict[str, str] = _TYPES["called"]


class MentionPart(NamedTuple):
    """A part of an entity with a surrogate (replacement) of its own, such as the first name of a person.

    Attributes:
        entity_type: Type of the part, such as ``given`` for a first name.
        layout: Public form of the text, which the output reveals, such as the number of digits.
        folded: The text, normalized. Parts with equal values get equal surrogates.
        text: The part as spelled.
    """

    entity_type: str
    layout: str
    folded: str
    text: str

    @property
    def is_randomized(self) -> bool:
        """Whether the word is on the list of the option ``randomize``: a random word of this list replaces the word."""
        return self[:2] == RANDOMIZED_POOL


class EntityMention(NamedTuple):
    """A name, number or other entity of a text, with its type. Sanitizing replaces it by a surrogate or a tag.

    The sanitized text reveals the types of the entity and its parts, its case, and which of these parts are equal to
    each other. ``name_text`` is the text of the entity. For a person it lacks the common words before the name:
    ``Anna`` for ``Ask Anna``.
    """

    entity_type: str
    case: int
    parts: tuple[MentionPart, ...]
    span: EntitySpan
    name_text: str

    @property
    def template_entry(self) -> tuple[object, ...]:
        """Public properties of this entity, which the sanitized text reveals, such as its type and its case."""
        span = self.span
        parts = ((part.entity_type, part.layout) for part in self.parts)
        return (
            self.entity_type,
            self.case,
            span.layout if span.entity_type in (CAPITALIZED_RUN, KNOWN_PERSON) else "",
            span.title_case_words,
            span.preceding_word,
            *parts,
        )

    @property
    def equality_key(self) -> tuple[tuple[str, ...], ...]:
        """Type, layout (public form) and normalized text of each part. Entities with equal keys get the same tag."""
        return tuple([part[:3] for part in self.parts])


def convert_to_given_name(mention: EntityMention) -> EntityMention:
    """Return a copy of a detected family name (``EntityMention``) that has the type of a first name."""
    (part,) = mention.parts
    return mention._replace(entity_type="given", parts=(part._replace(entity_type="given"),))


class GivenNameLinker:
    """Corrects the type of a single family name to first name, if the document has used the word as a first name."""

    def __init__(self) -> None:
        self._given, self._family = set[str](), set[str]()

    def link_text(self, elements: Sequence[str | EntityMention]) -> Sequence[str | EntityMention]:
        """Correct the type of some names as ``link_names`` does, and return all parts of the text."""
        places = [
            place
            for place, entry in enumerate(elements)
            if not isinstance(entry, str) and entry.entity_type in _PERSON_TYPES
        ]
        if not places:
            return elements
        linked = [*elements]
        for place, entry in zip(places, self.link_names([elements[place] for place in places]), strict=True):
            linked[place] = entry
        return linked

    def link_names(self, entries: Iterable[str | EntityMention]) -> Iterator[str | EntityMention]:
        """Yield the parts of a text, with the entity type of some names corrected from family name to first name.

        Only a family name without a first name next to it can change its type. Its type changes if the same word was a
        first name earlier in the document, and was never a family name.
        """
        for entry in entries:
            if isinstance(entry, str) or entry.entity_type not in _PERSON_TYPES:
                yield entry
                continue
            name = entry.parts[0].folded
            is_linked = entry.entity_type == "family" and name in self._given and name not in self._family
            linked_mention = convert_to_given_name(entry) if is_linked else entry
            for part in linked_mention.parts:
                if part.entity_type != "initial":
                    (self._given if part.entity_type == "given" else self._family).add(part.folded)
            yield linked_mention


class EntityClassifier:
    """Classifier that assigns an entity type, such as person or city, to each name, number or other span of a text.

    Args:
        name_lists: Dictionary from the name of a list, such as ``given``, to its words and names.
        common: Common words, which are left unchanged outside of names; without the words of the option ``deny``.
        rules: Rules of the language, such as number words and date formats.
        kept_types: Types of the option ``keep``: a listed name of such a type is left unchanged.
        unchanged_types: Types that also apply in a document without capital letters, where names look like other words.
            ``_TYPES_WITHOUT_CAPITALS`` maps all other types to types for words.
        denied: Words of the option ``deny``, normalized, which are always replaced.
    """

    def __init__(
        self,
        name_lists: Mapping[str, frozenset[str]],
        common: Collection[str],
        rules: Rules,
        kept_types: Collection[str] = (),
        unchanged_types: Collection[str] = (),
        denied: frozenset[str] = frozenset(),
    ) -> None:
        self._rules, self._place_before = rules, rules.place_prepositions
        self._street_leads = rules.place_prepositions | rules.facts.street_leads
        self._common, self._denied = common, denied
        self._kept_types, self._unchanged_types = kept_types, unchanged_types
        self._name_lists, self._foreign_given = name_lists, name_lists[_FOREIGN_GIVEN_LIST]
        self._given = name_lists["given"] | name_lists[_FOREIGN_GIVEN_LIST]
        self._type_by_name: dict[str, str] = {}
        for name in reversed(_NAME_LISTS):
            self._type_by_name.update(zip(name_lists[name], repeat(name), strict=False))
        #: Mentions of randomized words, each made once: words of a public list.
        self._randomized_mentions: dict[NamesToken, EntityMention] = {}
        self._type_by_end_word = {
            entry: kind for name, kind in reversed(_NAME_ENDING_LISTS) for entry in name_lists[name]
        }

    @cached_property
    def _kept_names(self) -> frozenset[str]:
        kept_types, lists = self._kept_types, self._name_lists
        is_kept_by_list = [(PUBLIC_TYPE_NAMES.get(name, name) in kept_types, lists[name]) for name in _NAME_LISTS]
        persons = "person" in kept_types, lists["particle"] | self._rules.also_persons
        return select_kept_names([*is_kept_by_list, persons])

    def classify_span(self, span: EntitySpan, has_capitals: bool) -> EntityMention:
        """Assign an entity type to a span of a text, and return the span with its type (``EntityMention``).

        Args:
            span: The span.
            has_capitals: Whether the document has a capital letter. If not, names look like other words.
        """
        provisional_type, tokens = span.entity_type, span.tokens
        if span.layout == RANDOMIZED and provisional_type == "word":
            mention = self._randomized_mentions.get(tokens[0])
            if mention is None:
                mention = self._randomized_mentions[tokens[0]] = self._make_mention(span, "word", RANDOMIZED)
            return mention
        if provisional_type == DIGIT_GROUP and len(tokens) >= MIN_CARD_DIGITS:
            # The result is that of ``classify_number``, without scanning megabytes.
            return self._make_mention(span, "card", "")
        if provisional_type == DIGIT_GROUP:
            entity_type, layout = classify_number(_NON_DIGITS.sub("-", span.text.strip("+(")), self._rules.patterns)
            return self._make_mention(span, entity_type, layout)
        if provisional_type == LONE_INITIAL:
            return self._make_mention(span, "initial", "")
        if provisional_type != CAPITALIZED_RUN and (has_capitals or provisional_type != "word"):
            return self._make_mention(span, provisional_type, span.layout)
        folded = tokens[0].key if len(tokens) == 1 else " ".join([token.key for token in tokens])
        entity_type = self._type_by_name.get(folded)
        if provisional_type != CAPITALIZED_RUN:
            if entity_type is not None and all(token.layout != RANDOMIZED for token in tokens):  # not after ``new``
                if entity_type not in self._unchanged_types:
                    entity_type = _TYPES_WITHOUT_CAPITALS.get(entity_type, entity_type)
                return self._make_mention(span, entity_type, "")
            return self._make_mention(span, span.entity_type, span.layout)
        if entity_type is None:
            entity_type = self._classify_run(span) if len(tokens) > 1 else self._classify_word(span, folded)
        if entity_type == "family" and span.preceding_word in self._place_before:
            entity_type = "city"
        name_start = self._find_name_start(span) if entity_type in _PERSON_TYPES else 0
        if name_start and name_start > (first := self._find_common_first_name(span, name_start)):
            entity_type, name_start = "person", first
        if entity_type not in ("person", "given") and not name_start:
            return self._make_mention(
                span, entity_type, find_ending(folded, self._rules) if entity_type == "word" else "", folded
            )
        parts = (
            self._split_person_name(span, name_start)
            if entity_type == "person"
            else [_make_part(span, entity_type, name_start)]
        )
        # The case of words before the name does not count.
        case = UPPER if all(part.entity_type == "initial" for part in parts) else span.case
        return EntityMention(entity_type, case, tuple(parts), span, _get_text_from(span, name_start))

    def classify_elements(
        self, blocks: Iterable[Sequence[TextElement]], has_capitals: bool
    ) -> Iterator[str | EntityMention]:
        """Assign entity types to spans (tokens of one entity), and yield unchanged texts and typed spans in turn.

        A title after a first name becomes a part of the name. An entity that the option ``keep`` leaves unchanged
        becomes text. A word beside a name remains a typed span even then, because the word may be a part of the name.

        Args:
            blocks: Lists of unchanged texts and spans in turn.
            has_capitals: Whether the document has a capital letter.
        """
        classify_span = self.classify_span
        classified = (  # a generator, so that the spans are found when the caller asks for the first element
            [entry if isinstance(entry, str) else classify_span(entry, has_capitals) for entry in block]
            for block in blocks
        )
        entries = self._join_titles(classified)
        yield from merge_kept_mentions(entries, self._is_kept) if self._kept_types else entries

    def _join_titles(self, blocks: Iterable[list[str | EntityMention]]) -> Iterator[str | EntityMention]:
        held, title_at = list[str | EntityMention](), 0  # an entity, the text after it, and a title at that index
        for block in blocks:
            types = [entry.span.entity_type for entry in block if not isinstance(entry, str)]
            if not title_at and TITLES.isdisjoint(types):  # usual
                held += block
                last = max(0, len(held) - 1 - isinstance(held[-1], str))
                yield from held[:last]
                del held[:last]
                continue
            for entry in block:
                if not isinstance(entry, str):
                    if held and not title_at and entry.span.entity_type in TITLES:
                        title_at = len(held)
                    else:
                        yield from join_title_surname(held, title_at, entry) if title_at else held
                        held, title_at = list[str | EntityMention](), 0
                held.append(entry)
        yield from join_title_surname(held, title_at, None) if title_at else held

    def _is_kept(self, mention: EntityMention) -> bool:
        """Return whether the option ``keep`` leaves a detected entity unchanged.

        The option must name the entity's type, which follows from a list or from the form of the text. If other lists
        have the text too, the option must name their types as well.
        """
        entity_type, span, kept_types = mention.entity_type, mention.span, self._kept_types
        keys = [token.key for token in span.tokens]
        if (
            PUBLIC_TYPE_NAMES.get(entity_type, entity_type) not in kept_types
            or mention.parts[0].is_randomized
            or not self._denied.isdisjoint(keys)
        ):
            return False
        if entity_type in _PERSON_TYPES:
            return all(
                _is_initial(token) or token.key in self._kept_names
                for token in span.tokens[self._find_name_start(span) :]
            )
        if entity_type not in _NAME_LISTS:
            return entity_type != "word" or " ".join(keys) in self._common
        ends = self._type_by_name.get(keys[0]), self._type_by_name.get(keys[-1])
        if "person" not in kept_types and ends in _PERSON_LIST_PAIRS and len(keys) > 1:
            return False
        return span.preceding_word != AFTER_TITLE and " ".join(keys) in self._kept_names

    def _make_mention(
        self, span: EntitySpan, entity_type: str, layout: str, folded: str | None = None
    ) -> EntityMention:
        if folded is None:
            folded = span.tokens[0].key if len(span.tokens) == 1 else span.text.lower()
        part = create_tuple(MentionPart, (entity_type, layout, folded, span.text))
        return create_tuple(EntityMention, (entity_type, span.case, (part,), span, span.text))

    def _classify_word(self, span: EntitySpan, folded: str) -> str:
        if span.preceding_word == AFTER_TITLE:
            return "given" if folded in self._foreign_given else "family"
        if folded in self._common and folded.isalpha() and len(folded) >= _MIN_COMMON_WORD_LENGTH:
            return "word"
        if span.case == UPPER and len(folded) <= _MAX_ACRONYM_LENGTH:
            return "acronym"
        return "given" if folded in self._foreign_given else "family"

    def _classify_run(self, span: EntitySpan) -> str:
        tokens = span.tokens
        keys = [token.key for token in tokens]
        if tokens[0].entity_type == "particle":
            return "family"
        name_start = self._find_name_start(span)
        person_type = "person" if name_start < len(keys) - 1 else "given"
        end_type = self._find_end_type(span, name_start)
        if span.preceding_word == AFTER_TITLE:
            may_be_person = tokens[-1].flags & SURNAME or keys[-1] in self._type_by_name
            return person_type if end_type is None or may_be_person else end_type
        if end_type is None:
            end_type = "place" if tokens[0].flags & BEGINS_DOTTED_NAME else self._type_by_end_word.get(keys[0])
        if end_type is not None:
            return "person" if self._is_person_before_place(span, name_start) else end_type
        if _is_initial(tokens[name_start]) or keys[name_start] in self._name_lists["given"]:
            return person_type
        first, last = self._type_by_name.get(keys[name_start]), self._type_by_name.get(keys[-1])
        if len(keys) - name_start == 2 and last == "family" and first in (None, "family"):
            return "person"
        is_foreign_given = keys[name_start] in self._foreign_given
        if not is_foreign_given and span.preceding_word in self._place_before:
            return "city"
        if self._names_organization(span, name_start):
            return "organization"
        return person_type if is_foreign_given or person_type == "person" else "family"

    def _is_person_before_place(self, span: EntitySpan, name_start: int) -> bool:
        """Return whether a name such as *Joy Field* may be a person's, although *Field* also ends names of places.

        The name must consist of a first name and a family name. The word before the name must not be a preposition of
        places such as *on*.
        """
        tokens = span.tokens[name_start:]
        if len(tokens) != 2 or span.preceding_word in self._street_leads:
            return False
        first, last = tokens[0].key, tokens[1]
        if first not in self._given or self._type_by_name.get(first, "given") not in ("given", "family"):
            return False
        is_surname = last.key in self._name_lists["family"] or last.flags & SURNAME > 0
        return is_surname and self._type_by_end_word.get(last.key) == "place"

    def _find_end_type(self, span: EntitySpan, name_start: int) -> str | None:
        """Return the entity type that the last word of a name determines (*School*); ``None`` if it determines none.

        Some last words, such as *Home*, determine no type after a single first name.
        """
        key = span.tokens[-1].key
        is_pair = len(span.tokens) == 2 and span.tokens[name_start].key in self._name_lists["given"]
        is_institution = key in self._rules.facts.institution_ends and not is_pair
        return self._type_by_end_word.get(key) or ("organization" if is_institution else None)

    def _names_organization(self, span: EntitySpan, name_start: int) -> bool:
        """Return whether capitalized words name an organization rather than a person.

        For example, a word that is in no person's name shows this. Of two words, the second may belong to a person's
        name in two cases: it is a common word after a listed first name, or a rare family name after an unlisted word.
        """
        tokens = span.tokens[name_start:]
        listed_types = [self._type_by_name.get(token.key) for token in tokens]
        if "&" in span.text or (len(tokens) == 1 and listed_types[0] == "city"):
            return True
        is_foreign_given = tokens[0].key in self._foreign_given
        is_pair = len(tokens) == 2
        may_be_common = is_pair and is_foreign_given and listed_types[0] in (None, "family")
        is_unlisted = is_pair and listed_types[0] is None and tokens[0].key not in self._common
        for index, (token, kind) in enumerate(zip(tokens, listed_types, strict=True)):
            if (index == 0 and is_foreign_given) or token.entity_type == "particle" or _is_initial(token):
                continue
            if index and tokens[index - 1].key in self._name_lists["particle"]:  # ``El-Sayed``
                continue
            if (
                token.key in self._type_by_end_word
                or kind in _NON_PERSON_LISTS
                or (token.case == UPPER and span.case != UPPER)
            ):
                return True
            is_surname = may_be_common or (is_unlisted and token.flags & SURNAME)
            if token.key in self._common and kind not in ("given", "family") and not is_surname:
                return True
        return False

    def _find_name_start(self, span: EntitySpan) -> int:
        """Return the index of the word at which a person's name begins among capitalized words.

        Words that may start a sentence can precede the name: for ``Ask Anna`` the result is 1. The method skips such
        words up to the first other word. If a given name, or an initial with a word after it, is among the words up to
        there, the name begins at the first of these. Otherwise it begins at that other word, but at index 0 if the word
        is an initial, if a title precedes the words, or if all words may start a sentence.
        """
        last = len(span.tokens) - 1
        for index, token in enumerate(span.tokens):
            is_initial = _is_initial(token)
            if token.key in self._given or (is_initial and index < last):
                return index
            if not token.flags & KEPT_AT_SENTENCE:
                return 0 if is_initial or span.preceding_word == AFTER_TITLE else index
        return 0

    def _find_common_first_name(self, span: EntitySpan, name_start: int) -> int:
        """Return the index of a common word that is the first name before a family name: *we hired Blessing Okoro*.

        All words before the family name belong to the name if a kept word precedes them, since no sentence starts
        there. Otherwise the name begins at the first of them that is also a family name.
        """
        begin = span.tokens[name_start]
        if begin.key in self._given or _is_initial(begin):
            return name_start
        surnames = (index for index, token in enumerate(span.tokens[:name_start]) if token.flags & SURNAME)
        return 0 if span.preceding_word else next(surnames, name_start)

    def _split_person_name(self, span: EntitySpan, name_start: int) -> list[MentionPart]:
        """Split a person's name into parts: initials, given names, and a family name at the end.

        Particles such as *van* belong to the family name.
        """
        parts: list[MentionPart] = []
        for index, token in enumerate(span.tokens[name_start:], name_start):
            if token.token_class == INITIAL or (_is_initial(token) and index < len(span.tokens) - 1):
                parts.append(MentionPart("initial", "", token.key, token.text))
            elif index == len(span.tokens) - 1 or (index > name_start and token.key not in self._given):
                parts.append(_make_part(span, "family", index))
                break
            else:
                parts.append(MentionPart("given", "", token.key, token.text))
        return parts


def _is_initial(token: NamesToken) -> bool:
    """Return whether a token of a name is an initial (``A``), or several initials with dots (``J.R.``)."""
    return token.token_class == INITIAL or token.flags & INITIALS > 0


def _make_part(span: EntitySpan, entity_type: str, first: int) -> MentionPart:
    """Create the part of an entity that begins at the word with index ``first``, and ends with the entity."""
    return MentionPart(
        entity_type, "", " ".join(token.key for token in span.tokens[first:]), _get_text_from(span, first)
    )


def _get_text_from(span: EntitySpan, first: int) -> str:
    """Return the text of a span (tokens of one entity), from its word with index ``first`` to its end."""
    end = 0
    for token in span.tokens[:first]:
        end = span.text.index(token.text, end) + len(token.text)
    return span.text[span.text.index(span.tokens[first].text, end) :]
