"""Public facts in the mode ``names``: entities that the rules of the option ``facts`` leave unchanged.

The rules run after the three passes that split a text into unchanged texts and *mentions* (detected entities to
replace). A rule turns a mention into unchanged text if two conditions hold:

- the text of the mention is in a public set ``D`` of the rule (a list, a form, a range of values);
- the *place* of the mention permits it. A place is the unchanged text around a mention, and the types of the mentions
  next to it.

The place never depends on the text of a replaced mention, and the set ``D`` is public. So the output distribution
remains a function of the template (unchanged words and types of mentions). A span that stays replaced could have any
string of its type outside ``D`` (docs/proofs/names.md, "Facts"). The rules for numbers run in a second round, which
reads the unchanged text of the first round.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property

from textveil.bundle.names_files import NamesLists
from textveil.text.identifiers import split_identifier
from textveil.text.names.entity_types import PUBLIC_TYPE_NAMES, EntityMention
from textveil.text.names.fact_date_ranges import PRESENT, ends_year_range
from textveil.text.names.fact_formulas import follows_unit, is_formula, is_variable
from textveil.text.names.fact_identifiers import IdentifierRules, is_code_place, is_code_word
from textveil.text.names.fact_labels import LabelFacts, follows_plate, follows_role, is_name_place
from textveil.text.names.fact_numbers import (
    KEPT_NUMERIC_TYPES,
    CodeFacts,
    NumberFacts,
    follows_degrees,
    is_times_sign,
    precedes_telephone,
)
from textveil.text.names.fact_places import LINE_BREAKS, LinePlaces
from textveil.text.names.fact_products import ProductFacts
from textveil.text.names.fact_strings import (
    CODE,
    CODE_NAMES,
    CONSTANTS,
    FUNCTION_WORDS,
    HEADINGS,
    LABELED,
    LABELS,
    LETTERED,
    NOUNS,
    PRODUCTS,
    PUBLIC_NAMES,
    SENTENCES,
    STARTS,
    SURNAMES,
    TERMS,
    UNITS,
    VARIETIES,
    FactStrings,
)
from textveil.text.names.fact_typos import TypingErrors
from textveil.text.names.guarantee import LONG_NUMBERS
from textveil.text.names.spans import SpanFinder, find_run_case
from textveil.text.names.tokens import (
    AFTER_TITLE,
    CAPITALIZED_RUN,
    HOLDS_OWN,
    KEPT,
    LONE_INITIAL,
    RANDOMIZED_POOL,
    EntitySpan,
)
from textveil.text.segmentation import LOWER, TITLE

#: Largest number of elements that are read together. No element is kept because of unknown text after them.
_MAX_BATCH = 1 << 10
_STRINGS = frozenset(("file", "path", "key", "id"))
_WORDS, _CAPITALS = frozenset(("word",)), frozenset((CAPITALIZED_RUN,))
_LINKED, _SYMBOLS = _WORDS | {"group"}, frozenset(("letter", LONE_INITIAL, "id"))
_WORD_TYPES = _LINKED | _CAPITALS | _STRINGS | {"other", "letter", LONE_INITIAL, "month", "weekday", "title"}
#: Largest number of items between a word of a request, such as *translate*, and a language; and of words of a greeting.
_MAX_REQUEST, _MAX_PHRASE = 12, 3
#: Ends of the names of classes of errors: ``KeyError``.
_ERROR_CLASSES = ("Error", "Exception", "Warning")
_SIZE = re.compile("[0-9]{1,4}[x\u00d7][0-9]{1,4}")


class FactRules:
    """Rules that leave public facts unchanged, such as weekdays, units and ages, under a call's options.

    Args:
        lists: The public word lists.
        level: Value of the option ``facts``, one of ``FACTS``.
        denied: Words of the option ``deny`` (normalized spellings), which are always replaced.
        randomized: Words of the option ``randomize``.
        hidden_types: Entity types that the options ``tag`` and ``drop`` write as tags or remove.
        shows_errors: Whether the result has the original spelling of words with a corrected typing error, as in a
            preview.
        only_tags: Whether all entities become tags such as ``[city 1]``.

    Privacy:
        The object stores no text of the user.
    """

    def __init__(
        self,
        lists: NamesLists,
        level: str,
        denied: Collection[str] = (),
        randomized: Collection[str] = (),
        hidden_types: Collection[str] = (),
        shows_errors: bool = False,
        only_tags: bool = False,
    ) -> None:
        self.level: str = level
        self._lists, self._hidden_types = lists, hidden_types
        self.strings: FactStrings = FactStrings(lists, level, denied, randomized, only_tags)
        self._denied, self._shows_errors = self.strings.denied, shows_errors
        self._facts = lists.rules.facts
        self._secret = self._facts.secret_words
        self._before_values = self._secret | self._facts.address_words
        self._before_names = self._secret | self._facts.name_leads | self._facts.kin
        #: The rule of each round, and the provisional types of the spans that it can keep.
        self._rules = (
            (self._is_kept_word, _WORD_TYPES),
            (self._is_linked, _LINKED),
            (self._is_corrected, _WORDS),
            (self._is_kept_capital, _CAPITALS),
            (self._is_kept_unit, _SYMBOLS),
            (self._is_kept_number, KEPT_NUMERIC_TYPES),
        )

    @cached_property
    def _openings(self) -> frozenset[str]:
        """Words that may begin a sentence although they may be names, and words at the end of a range of years."""
        return self._facts.starts | PRESENT

    @cached_property
    def _leads(self) -> frozenset[str]:
        """Words with which the roles and greetings of ``split_roles`` begin."""
        return self._facts.roles.union(phrase.partition(" ")[0] for phrase in self._facts.phrases)

    @cached_property
    def _codes(self) -> CodeFacts:
        return CodeFacts(self.strings.words)

    @cached_property
    def _numbers(self) -> NumberFacts:
        return NumberFacts(self.strings, self._codes)

    @cached_property
    def _labels(self) -> LabelFacts:
        return LabelFacts(self.strings)

    @cached_property
    def _products(self) -> ProductFacts:
        return ProductFacts(self.strings)

    @cached_property
    def _identifiers(self) -> IdentifierRules:
        return IdentifierRules(self.strings)

    @cached_property
    def _errors(self) -> TypingErrors:
        return TypingErrors(self.strings)

    def split_roles(self, mention: EntityMention) -> tuple[str, EntitySpan] | None:
        """Split an entity such as *Patient Anna Novak* into its roles (*Patient*) and a span with the other words.

        A greeting may precede the roles, as in *Hi Anna* and *Kind Regards Anna*.

        Returns:
            The text of the greeting and the roles, with a blank after each word, and the span of the other words.
            ``None`` if the entity begins with neither a greeting nor a role, or if only a single initial follows.
        """
        span, count = mention.span, 0
        tokens = span.tokens
        for words in range(min(_MAX_PHRASE, len(tokens) - 1), 0, -1):
            if " ".join(token.key for token in tokens[:words]) in self._facts.phrases:
                count = words
                break
        while count < len(tokens) and tokens[count].case != LOWER and tokens[count].key in self._facts.roles:
            count += 1
        lead = "".join(f"{token.text} " for token in tokens[:count])
        rest = tokens[count:]
        if not lead or not span.text.startswith(lead) or not rest or (len(rest) == 1 and len(rest[0].text) == 1):
            return None
        return lead, span._replace(
            text=span.text[len(lead) :],
            tokens=rest,
            case=find_run_case(rest),
            preceding_word=tokens[count - 1].key,
            title_case_words=max(0, span.title_case_words - sum(token.case == TITLE for token in tokens[:count])),
        )

    def names_secret(self, elements: Sequence[str | EntityMention]) -> bool:
        """Return whether the value of a JSON key must be replaced: the key names a secret, or contains a replaced word.

        Args:
            elements: Unchanged texts and detected entities of the key.
        """
        if any(not isinstance(element, str) for element in elements):
            return True
        words = split_identifier("".join(map(str, elements)))
        return not self._secret.isdisjoint(word.lower() for word in words)

    # --- places

    def keep_facts(
        self,
        elements: Iterable[str | EntityMention],
        finder: SpanFinder,
        classify_span: Callable[[EntitySpan], EntityMention],
        may_correct: bool = False,
    ) -> Iterator[str | EntityMention]:
        """Yield the parts of a text, and turn detected entities that are public facts back into unchanged text.

        Args:
            elements: Unchanged texts and entities, in order.
            finder: Object that found the entities. The method adds the words of the facts to its count of unchanged
                words.
            classify_span: Function that assigns an entity type to a span, and returns the entity.
            may_correct: Whether typing errors may be corrected.
        """
        kept_texts: list[str] = []
        for element in self._keep_in_batches(elements, finder, classify_span, may_correct):
            if isinstance(element, str):
                kept_texts.append(element)
            else:
                yield "".join(kept_texts)
                yield element
                kept_texts = []
        yield "".join(kept_texts)

    def _keep_in_batches(
        self,
        elements: Iterable[str | EntityMention],
        finder: SpanFinder,
        classify_span: Callable[[EntitySpan], EntityMention],
        may_correct: bool,
    ) -> Iterator[str | EntityMention]:
        batch: list[str | EntityMention] = []
        is_cut, begun, word_before = False, False, ""
        for element in elements:
            if begun and isinstance(element, str) and not element.isprintable():  # no line break is printable
                end = max(map(element.rfind, LINE_BREAKS)) + 1
                if end:
                    batch.append(element[:end])
                    place = LinePlaces(batch, self._facts, is_cut, False, word_before)
                    yield from self._keep_in_lines(place, finder, classify_span, may_correct)
                    batch, element, is_cut, begun = [], element[end:], False, False
                    word_before = place.last_word
            batch.append(element)
            begun = begun or not isinstance(element, str)
            if len(batch) >= _MAX_BATCH:
                place = LinePlaces(batch, self._facts, is_cut, True, word_before)
                yield from self._keep_in_lines(place, finder, classify_span, may_correct)
                batch, is_cut, begun = [], True, False
        if not begun:  # kept text alone, which may be long
            yield from batch
            return
        place = LinePlaces(batch, self._facts, is_cut, False, word_before)
        yield from self._keep_in_lines(place, finder, classify_span, may_correct)

    def _keep_in_lines(
        self,
        place: LinePlaces,
        finder: SpanFinder,
        classify_span: Callable[[EntitySpan], EntityMention],
        may_correct: bool,
    ) -> Sequence[str | EntityMention]:
        entries = [(index, mention) for index, mention in place.hidden if self._may_keep(mention)]
        all_sets = [*map(self.strings.find_sets, [mention for _, mention in entries])]
        hidden = [  # no rule keeps capitalized words that are in no public set
            (index, mention, sets)
            for (index, mention), sets in zip(entries, all_sets, strict=True)
            if sets or mention.span.entity_type != CAPITALIZED_RUN or mention.span.text.lower() in self._openings
        ]
        for rule, types in self._rules:
            is_correction = rule == self._is_corrected
            if is_correction and not (may_correct and self.strings.is_useful):
                continue
            found = {
                index: mention.span.text
                for index, mention, sets in hidden
                if mention.span.entity_type in types and rule(place, index, mention, sets)
            }
            if not found:
                continue
            hidden = [entry for entry in hidden if entry[0] not in found]
            if is_correction and not self._shows_errors:
                found = {index: self._errors.correct(text) for index, text in found.items()}
            finder.kept_count += place.keep(found)
        for index, mention in entries:
            span = mention.span
            if place.mentions[index] is None:  # a rule keeps it
                continue
            if span.entity_type == CAPITALIZED_RUN:
                if len(span.tokens) > 1 and span.tokens[0].key in self._leads and (split := self.split_roles(mention)):
                    place.pieces[index] = split[0], classify_span(split[1])
            elif span.entity_type in _STRINGS or span.entity_type == "url":
                cut = self._identifiers.cut_address if span.entity_type == "url" else self._identifiers.cut
                if not place.follows(index, self._secret) and (pieces := cut(span.text)):
                    place.pieces[index] = pieces
        return [*place.iterate_elements()]

    def _may_keep(self, mention: EntityMention) -> bool:
        span, entity_type, layout = mention.span, mention.entity_type, mention.parts[0].layout
        if not span.tokens or span.escaped_text or (layout and mention.parts[0][:2] == RANDOMIZED_POOL):
            return False
        if span.preceding_word == AFTER_TITLE:  # also if the option ``keep`` leaves the title unchanged
            return False
        if entity_type == "number" and layout in LONG_NUMBERS and not self.strings.is_useful:
            return False
        if self._hidden_types and PUBLIC_TYPE_NAMES.get(entity_type, entity_type) in self._hidden_types:
            return False
        flags = 0
        for token in span.tokens:
            flags |= token.flags
        return not flags & HOLDS_OWN and (
            not self._denied or self._denied.isdisjoint([token.key for token in span.tokens])
        )

    def _is_kept_unit(self, place: LinePlaces, index: int, mention: EntityMention, _sets: int) -> bool:
        return self._numbers.is_kept_unit(place, index, mention.span.text)

    def _is_kept_number(self, place: LinePlaces, index: int, mention: EntityMention, _sets: int) -> bool:
        return self._numbers.is_kept(place, index, mention)

    def _is_kept_word(self, place: LinePlaces, index: int, mention: EntityMention, sets: int) -> bool:
        """Return whether a rule of ``facts`` leaves a word, a letter, an identifier, a unit or a weekday unchanged.

        Args:
            place: The words and entities of the lines that contain the word.
            index: Index of the word among them.
            mention: The word as a detected entity.
            sets: Public sets of words that contain the text, as flags (``FactStrings.find_sets``).
        """
        span, strings = mention.span, self.strings
        entity_type = span.entity_type
        if entity_type == CAPITALIZED_RUN:
            if sets & UNITS:
                return place.follows_number(index) or follows_unit(place, index, self._facts.units)
            if sets & VARIETIES and place.is_variety_place(index):
                return True
            if sets & NOUNS and place.is_noun_place(index):
                return not place.follows(index, self._before_names)
            if sets & LABELS and precedes_telephone(place, index):
                return not place.follows(index, self._before_names)
            if sets & LETTERED:
                return not (place.has_capital_beside(index) or place.follows(index, self._before_names))
            if sets & FUNCTION_WORDS and not place.has_capital_beside(index):
                return True
            return bool(sets & LABELED) and self._labels.is_kept_run(place, index, span)
        if entity_type == "word":
            is_word = (
                sets & TERMS
                or (sets & CODE_NAMES and is_code_word(place, index))
                or (sets & NOUNS and place.is_noun_place(index) and place.get_word(index - 1) not in self._facts.kin)
                or (span.text in self._facts.units and follows_unit(place, index, self._facts.units))
                or self._labels.is_kept_word(place, index, span.text)
                or self._products.is_kept_word(place, index, span.text)
            )
            return bool(is_word) and not place.follows(index, self._secret)
        if entity_type in _STRINGS:
            if _SIZE.fullmatch(span.text) or self._is_formula(span.text):
                return strings.is_useful and not place.follows(index, self._before_values)
            if self._labels.is_kept_string(place, index, span.text):
                return True
            if strings.is_useful and self._codes.is_kept_string(place, index, span.text):
                return not span.text.isupper() or strings.is_plain(span.text)
            return not place.follows(index, self._secret) and strings.is_plain(span.text)
        if entity_type == "other":
            return not place.follows(index, self._secret) and self._labels.is_word_list(span.text)
        if entity_type == "letter":
            if span.text == "x" and is_times_sign(place, index):
                return not place.follows(index, self._before_values)
            is_place = place.is_single_letter(index) or (
                is_variable(place, index) and not place.follows(index, self._before_values)
            )
            return span.text.isascii() and is_place
        if entity_type == LONE_INITIAL:
            if strings.is_degree(span.text) and follows_degrees(place, index):
                return True
            if self._labels.is_label_letter(place, index, span.text) and not place.has_capital_beside(index):
                return True
            return strings.is_label_letter(span.text) and self._labels.is_label_place(place, index)
        if entity_type == "month":
            return strings.is_auxiliary(span.text) and self._labels.begins_question(place, index)
        if entity_type == "title":
            return (
                strings.only_tags and span.text.lower() in ("sir", "madam") and self._labels.is_salutation(place, index)
            )
        if entity_type == "group" and self._is_language(place, index, span.text.lower()):
            return True
        if not strings.is_useful:
            return False
        if entity_type == "group":
            followers = self._facts.start_followers
            begins = place.begins_sentence(index, followers) or place.begins_clause(index, followers)
            return begins and strings.begins_as_group(span.text)
        return entity_type == "weekday" and self._labels.is_weekday_place(place, index, span.text)

    def _is_language(self, place: LinePlaces, index: int, word: str) -> bool:
        """Return whether a word is a language in its place; at ``plain`` only of a request: *translate into German*."""
        if word not in self._lists.fact_lists["language"] or not place.is_language_place(index):
            return False
        if self.strings.is_useful:
            return True
        before = place.list_words_before(index, _MAX_REQUEST)
        return self.strings.only_tags and not self._facts.request_words.isdisjoint(before)

    def _is_formula(self, text: str) -> bool:
        return is_formula(text) and self._denied.isdisjoint(text.lower())

    def _is_linked(self, place: LinePlaces, index: int, mention: EntityMention, _sets: int) -> bool:
        """Return whether a word may stay unchanged because of an unchanged word next to it.

        This applies to function words of other languages, and to parts of the name of a language (``US English``).

        Args:
            place: The words and entities of the lines that contain the word.
            index: Index of the word among them.
            mention: The word as a detected entity.
        """
        span, strings = mention.span, self.strings
        if span.entity_type == "group":
            languages, word = self._lists.fact_lists["language"], span.text.lower()
            if word in languages and place.follows_word(index, strings.is_country_variety):
                return strings.is_useful
            is_language = place.get_word(index + 1).istitle() and place.get_word(index + 1).lower() in languages
            return strings.is_variety(word) and is_language and place.gaps[index + 1] == " "
        if span.case != LOWER or not strings.is_linked(span.text) or place.follows(index, self._secret):
            return False
        return place.has_word_beside(index, strings.is_foreign)

    def _is_corrected(self, place: LinePlaces, index: int, mention: EntityMention, _sets: int) -> bool:
        """Return whether a word has a typing error that may be corrected in its context.

        Args:
            place: The words and entities of the lines that contain the word.
            index: Index of the word among them.
            mention: The word as a detected entity.
        """
        span = mention.span
        if not self._errors.has_form(span.text) or not place.is_error_place(index):
            return False
        return not place.follows(index, self._before_names) and self._errors.correct(span.text) != ""

    def corrects(self, word: str) -> bool:
        """Return whether a word has a typing error that these rules correct in some contexts."""
        return self.strings.is_useful and self._errors.correct(word) != ""

    def _is_kept_capital(self, place: LinePlaces, index: int, mention: EntityMention, sets: int) -> bool:
        """Return whether a rule of ``facts`` leaves capitalized words unchanged, such as a heading or a company.

        Args:
            place: The words and entities of the lines that contain the span.
            index: Index of the span among them.
            mention: The span as a detected entity.
            sets: Public sets of words that contain the text, as flags (``FactStrings.find_sets``).
        """
        span, strings, facts = mention.span, self.strings, self._facts
        tokens = [token for token in span.tokens if token.token_class != KEPT]
        is_start = span.text.istitle() and span.text.lower() in facts.starts
        is_listed = sets & SURNAMES > 0 and place.precedes_name(index)
        if is_start and not is_listed and place.begins_sentence(index, facts.start_followers):
            return True
        if is_start and strings.is_auxiliary(span.text) and self._labels.begins_question(place, index):
            return True
        if is_start and strings.is_plain_start(span.text.lower()) and place.begins_clause(index, None):
            return not place.follows(index, self._before_names)
        is_present = strings.is_useful and span.text.istitle() and span.text.lower() in PRESENT
        if is_present and strings.is_shared(span.text.lower()) and ends_year_range(place, index):
            return True
        if sets & CONSTANTS and is_code_place(place, index) and not place.follows(index, self._secret):
            return True
        may_be_product = sets & PRODUCTS > 0 and len(tokens) == len(span.tokens)
        is_product = may_be_product and self._products.is_kept_run(place, index, tokens)
        if not is_product and not sets & (STARTS | CODE | PUBLIC_NAMES | HEADINGS | SENTENCES):
            return False
        if is_name_place(place, index, facts.roles, facts.kin) or place.follows(index, self._before_names):
            return False
        if follows_role(place, index, facts.roles) or follows_plate(place, index):
            return False
        is_led = len(tokens) > 1 and tokens[0].key in self._leads  # in ``Patient Summer`` the rest may be a name
        if is_led and (tokens[0].key in facts.roles or self.split_roles(mention) is not None):
            return False
        if sets & STARTS:
            followers = facts.start_followers if strings.is_rare(tokens[0].key) else None
            if place.begins_clause(index, followers):
                return True
        if sets & CODE:
            is_kept = strings.is_useful and (span.text[0].islower() or strings.is_public)
            is_kept = is_kept or (len(tokens) == 1 and span.text.endswith(_ERROR_CLASSES))
            if is_kept or is_code_place(place, index):
                return True
        if is_product or sets & (PUBLIC_NAMES | SENTENCES):
            return strings.is_public or not (span.text.istitle() and self._products.is_addressed(place, index))
        is_phrase = len(span.tokens) > 1
        is_heading = sets & HEADINGS > 0 and not self._products.is_party_place(place, index, is_phrase)
        return is_heading and (is_phrase or place.is_heading_place(index, facts.heading_leads))
