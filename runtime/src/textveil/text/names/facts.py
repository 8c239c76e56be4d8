"""Facts of the mode ``names``: spans that are kept because a public rule covers them.

The finder reads the elements of a text after the three passes: kept texts and mentions. It turns a mention into kept
text if two conditions hold:

- its own string is in a public set ``D`` of the rule (a list, a form, a range of values);
- its *place* allows the rule. A place is the kept text around the mention, and the classes of the mentions beside it.

The place never depends on a string that is replaced, and the set ``D`` is public. So the output stays a function of the
template, and any other string of the same type outside ``D`` may stand in each replaced span (docs/proofs/names.md,
"Facts"). The rules for numbers run in a second round, which reads the kept text of the first round.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property

from textveil.bundle.names_files import CENSUS, FUNCTION, NAME, OPENER, RARE, START, NamesLists
from textveil.bundle.rules import Rules
from textveil.text.identifiers import iterate_identifier_words, split_identifier
from textveil.text.names.entity_types import PUBLIC_TYPE_NAMES, EntityMention, MentionPart
from textveil.text.names.fact_places import LINE_BREAKS, NUMERIC_TYPES, LinePlaces
from textveil.text.names.lexicon import find_ending
from textveil.text.names.spans import SpanFinder, find_run_case
from textveil.text.names.tokens import (
    AFTER_TITLE,
    CAPITALIZED,
    CAPITALIZED_RUN,
    HOLDS_OWN,
    KEPT,
    RANDOMIZED,
    EntitySpan,
    NamesToken,
)
from textveil.text.options import FACTS
from textveil.text.segmentation import LOWER, TITLE, UPPER, find_case_pattern

#: Number of elements that are read together at most. Nothing is kept on account of what may follow a cut.
_MAX_BATCH = 1 << 10
_DAYS = frozenset(("day", "ordinal", "date"))
_DATES = frozenset(("month", "day", "date", "year", "year-range", "season"))
_STRINGS = frozenset(("file", "path", "key", "id"))
#: Endings of plurals and the endings of their singulars.
_PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"), ("s", ""))
#: Fewest letters of a single word in Title case that is kept.
_MIN_HEADING = 4
_MAX_BARE, _MAX_AGE, _MAX_ORDINAL = 89, 89, 99
_COUNTED = re.compile(r"[0-9]{1,4}|[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,4}\.[0-9]{1,2}")
_CAMEL = re.compile("[a-z][A-Z]")
_DECIMAL = re.compile(r"[0-9]{1,3}\.[0-9]{1,4}")
_RANGE = re.compile("[0-9]{1,3}[-\u2013][0-9]{1,3}")
_RATING = re.compile(r"[0-9]{1,2}(?:\.5)?/(?:5|10|100)")
_COUNTRIES = frozenset(("country", "the-country"))
_SIZE = re.compile("[0-9]{1,4}[x\u00d7][0-9]{1,4}")
_PIECES = re.compile(r"[\x20-\x7e]+")
#: Marks of source code; and marks that strings with a hidden word have only in addresses and secrets.
_CODE_MARKS = re.compile(r"[_.$:\\#]|/.*/|[a-z][A-Z]")
_UNCUT_MARKS = re.compile(r"[@%&?]|://")
_ROUND = frozenset("100 200 256 404 500 512".split())
_CURRENCIES = frozenset("$\u20ac\u00a3\u00a5")


class FactRules:
    """Public rules of one value of the option ``facts``, under the options of a call.

    Args:
        lists: The lists of the bundle.
        level: One of ``FACTS``.
        denied: Keys of words that are always replaced.
        hidden_types: Public names of types that the options write as tags or remove.

    Privacy:
        The object stores no text of the user.
    """

    def __init__(
        self,
        lists: NamesLists,
        level: str,
        denied: Collection[str] = (),
        hidden_types: Collection[str] = (),
    ) -> None:
        self.level, self._lists, self._denied, self._hidden_types = level, lists, frozenset(denied), hidden_types
        self._common, self._facts = lists.common_words, lists.rules.facts
        number = FACTS.index(level)
        self._is_useful, self._is_public = number >= 2, number >= 3
        self._secret = self._facts.secret_words
        self._before_values = self._secret | self._facts.address_words
        self._before_names = self._secret | self._facts.name_leads | self._facts.kin

    @cached_property
    def _surrogates(self) -> frozenset[str]:
        """All surrogates, in lower case: no rule keeps one of them."""
        return frozenset(entry.lower() for pool in self._lists.surrogate_pools.values() for entry in pool)

    @cached_property
    def _persons(self) -> frozenset[str]:
        members = self._lists.members_by_type
        return members["given"] | members["family"] | members["given-abroad"]

    @cached_property
    def _terms(self) -> frozenset[str]:
        lists = self._lists.fact_lists
        spelled = frozenset(entry.lower() for entry in lists["capital"] | lists["acronym"] if entry.isascii())
        foreign = lists["foreign"] if self._is_useful else frozenset()
        return (lists["term"] | spelled | foreign) - self._persons - self._surrogates - self._denied

    @cached_property
    def _capitals(self) -> frozenset[str]:
        lists = self._lists.fact_lists
        found = lists["capital"] | lists["acronym"] | (lists["company"] if self._is_public else frozenset())
        return frozenset(entry for entry in found if entry.lower() not in self._surrogates)

    # --- sets of strings

    def is_term(self, word: str) -> bool:
        """Return whether a lower-case word is a listed term."""
        return word in self._terms

    def is_plain_identifier(self, string: str) -> bool:
        """Return whether all pieces of a string such as ``customer_id`` are public words.

        It has at most one group of digits: one or two digits, or a round number.
        """
        if _PIECES.fullmatch(string) is None or "@" in string or "%" in string or "&" in string:
            return False
        pieces = split_identifier(string)
        digits = [piece for piece in pieces if piece[0].isdigit()]
        if len(digits) > 1 or not all(len(piece) <= 2 or piece in _ROUND for piece in digits):
            return False
        words = [piece.lower() for piece in pieces if not piece[0].isdigit()]
        if not words or (len(words) > 1 and not self._facts.name_prefixes.isdisjoint(words)):
            return False
        return any(len(word) > 1 for word in words) and all(map(self._is_piece, words))

    def cut_identifier(self, string: str) -> list[str | EntityMention] | None:
        """Cut a string of source code into kept texts and hidden words; return ``None`` if it is replaced as a whole.

        Whether it is cut follows from the string with ``xxxx`` in the place of each word that is not public, so no
        hidden word affects it. Each of these words is a mention of its own.
        """
        if _PIECES.fullmatch(string) is None or _UNCUT_MARKS.search(string):
            return None
        pieces = [*iterate_identifier_words(string)]
        hidden = [
            (start, end)
            for start, end in pieces
            if string[start].isalpha()
            and not self._is_piece(word := string[start:end].lower())
            and word not in self._facts.name_prefixes
            and word not in self._domains
        ]
        masked = string
        for start, end in reversed(hidden):
            if end - start < 2:
                return None
            masked = f"{masked[:start]}{_mask_word(string[start:end])}{masked[end:]}"
        if not self._is_code(masked):
            return None
        elements: list[str | EntityMention] = []
        position = 0
        for start, end in hidden:
            word = string[start:end]
            elements += (string[position:start], _make_piece(word, self._lists.rules))
            position = end
        return [*elements, string[position:]]

    def _is_code(self, masked: str) -> bool:
        """Return whether a string without its hidden words is source code, and not an address."""
        words = [masked[start:end] for start, end in iterate_identifier_words(masked)]
        digits = [word for word in words if word[0].isdigit()]
        if len(digits) > 1 or any(len(word) > 2 and word not in _ROUND for word in digits):
            return False
        letters = [word.lower() for word in words if not word[0].isdigit()]
        public = [word for word in letters if word != "xxxx" and len(word) > 1]
        if not public or not self._facts.name_prefixes.isdisjoint(letters) or _CODE_MARKS.search(masked) is None:
            return False
        return letters[-1] not in self._domains and letters[0] not in ("http", "https", "www", "ftp", "mailto")

    @cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(self._lists.rules.domains)

    def _is_piece(self, word: str) -> bool:
        if word in self._denied or word in self._persons or word in self._surrogates:
            return False
        marks = self._common.get(word, 0)
        if marks:
            return not marks & NAME
        return len(word) == 1 or word in self._facts.identifier_pieces or word in self._terms

    def split_roles(self, mention: EntityMention) -> tuple[str, EntitySpan] | None:
        """Return the roles at the beginning of a run with the blank after them, and the span of the rest.

        In *Patient Anna Novak* the first word is a role. The result is ``None`` without one, and if nothing but a
        single initial follows.
        """
        span, count = mention.span, 0
        tokens = span.tokens
        while count < len(tokens) and tokens[count].case == TITLE and tokens[count].key in self._facts.roles:
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
            title_case_words=max(0, span.title_case_words - count),
        )

    def is_public_run(self, mention: EntityMention) -> bool:
        """Return whether all words of a run of capitals are listed with this spelling."""
        tokens = [token for token in mention.span.tokens if token.token_class != KEPT]
        return bool(tokens) and all(map(self._is_public_capital, (token.text for token in tokens)))

    def _is_public_capital(self, text: str) -> bool:
        if text in self._capitals:
            return text.lower() not in self._denied
        if (
            not (text[0].islower() or self._is_public)
            or not text.isascii()
            or not text.isalpha()
            or not _CAMEL.search(text)
        ):
            return False
        return self.is_plain_identifier(text)  # lowerCamel

    def is_title_case(self, mention: EntityMention) -> bool:
        """Return whether all words of a run in Title case are common words that name no person and no place.

        At least one of them begins sentences. The others may be words of institutions and firms.
        """
        words = [token for token in mention.span.tokens if token.token_class != KEPT]
        if any(token.token_class != CAPITALIZED or token.case not in (TITLE, UPPER) for token in words):
            return False
        keys = [token.key for token in words]
        marks = [self._common.get(key, 0) for key in keys]
        if not all(map(self._is_heading_word, keys)) or (
            len(keys) == 1 and (marks[0] & CENSUS or len(keys[0]) < _MIN_HEADING)
        ):
            return False
        return any(mark & (START | OPENER) and not mark & RARE for mark in marks)

    def _is_function_word(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether a run is one function word that names nobody, such as *We*."""
        marks = self._common.get(tokens[0].key, 0) if len(tokens) == 1 and len(tokens[0].text) > 1 else 0
        return (
            marks & FUNCTION > 0
            and not marks & (NAME | CENSUS)
            and tokens[0].text
            in (
                tokens[0].key.title(),
                tokens[0].key.upper(),
            )
        )

    def _is_heading_word(self, word: str) -> bool:
        marks = self._common.get(word, 0)
        if not marks or marks & NAME:
            return False
        return word not in self._persons and word not in self._denied and word not in self._place_names

    @cached_property
    def _place_names(self) -> frozenset[str]:
        names = "street-word firm-word city country state place particle title group".split()
        return frozenset().union(*(self._lists.members_by_type[name] for name in names))

    def is_plural(self, word: str) -> bool:
        """Return whether a kept word is the plural of a common noun."""
        if word[-1:] != "s" or not word.islower() or len(word) < 4 or word in self._facts.not_plurals:
            return False
        if self._common.get(word, 0) & (FUNCTION | OPENER):
            return False
        return any(word.endswith(end) and word[: -len(end)] + single in self._common for end, single in _PLURALS)

    def is_adjective(self, word: str) -> bool:
        """Return whether a word may stand between a number and the noun that it counts."""
        marks = self._common.get(word, 0)
        return marks > 0 and word.islower() and not marks & (FUNCTION | OPENER | NAME)

    def names_secret(self, elements: Sequence[str | EntityMention]) -> bool:
        """Return whether no rule may keep the value of a JSON key: it names a secret, or has a hidden word."""
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
    ) -> Iterator[str | EntityMention]:
        """Yield kept texts and mentions in turn. The mentions that a rule covers are kept text.

        Args:
            elements: Kept texts and mentions, in order.
            finder: Finder of the spans, whose number of kept words grows by those of the facts.
            classify_span: Classifier of a span by its type.
        """
        kept_texts: list[str] = []
        for element in self._keep_in_batches(elements, finder, classify_span):
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
    ) -> Iterator[str | EntityMention]:
        batch: list[str | EntityMention] = []
        is_cut, begun, word_before = False, False, ""
        for element in elements:
            if isinstance(element, str) and begun:
                end = max(map(element.rfind, LINE_BREAKS)) + 1
                if end:
                    batch.append(element[:end])
                    place = LinePlaces(batch, self._facts, is_cut, False, word_before)
                    yield from self._keep_in_lines(place, finder, classify_span)
                    batch, element, is_cut, begun = [], element[end:], False, False
                    word_before = place.last_word
            batch.append(element)
            begun = begun or not isinstance(element, str)
            if len(batch) >= _MAX_BATCH:
                place = LinePlaces(batch, self._facts, is_cut, True, word_before)
                yield from self._keep_in_lines(place, finder, classify_span)
                batch, is_cut, begun = [], True, False
        place = LinePlaces(batch, self._facts, is_cut, False, word_before)
        yield from self._keep_in_lines(place, finder, classify_span)

    def _keep_in_lines(
        self, place: LinePlaces, finder: SpanFinder, classify_span: Callable[[EntitySpan], EntityMention]
    ) -> Iterator[str | EntityMention]:
        for rule in (self._is_kept_word, self._is_kept_number):
            found = [
                index
                for index, mention in enumerate(place.mentions)
                if mention is not None and self._may_keep(mention) and rule(place, index, mention)
            ]
            finder.kept_count += place.keep(found)
        for index, mention in enumerate(place.mentions):
            if mention is None or not self._may_keep(mention):
                continue
            if mention.span.entity_type == CAPITALIZED_RUN and (split := self.split_roles(mention)):
                place.pieces[index] = split[0], classify_span(split[1])
            if mention.span.entity_type not in _STRINGS:
                continue
            if not place.follows(index, self._secret) and (pieces := self.cut_identifier(mention.span.text)):
                place.pieces[index] = pieces
        return place.iterate_elements()

    def _may_keep(self, mention: EntityMention) -> bool:
        if mention.parts[0].layout == RANDOMIZED or not mention.span.tokens or mention.span.escaped_text:
            return False
        public = PUBLIC_TYPE_NAMES.get(mention.entity_type, mention.entity_type)
        if public in self._hidden_types:
            return False
        return not any(token.key in self._denied or token.flags & HOLDS_OWN for token in mention.span.tokens)

    def _is_kept_word(self, place: LinePlaces, index: int, mention: EntityMention) -> bool:
        span = mention.span
        entity_type = span.entity_type
        if entity_type == "word":
            return span.case == LOWER and self.is_term(span.text) and not place.follows(index, self._secret)
        if entity_type in _STRINGS:
            if _SIZE.fullmatch(span.text):
                return self._is_useful and not place.follows(index, self._before_values)
            return not place.follows(index, self._secret) and self.is_plain_identifier(span.text)
        if entity_type == CAPITALIZED_RUN:
            is_start = span.text.istitle() and span.text.lower() in self._facts.starts
            if is_start and place.begins_sentence(index, self._facts.start_followers):
                return True
            if self._is_function_word(span.tokens) and not place.has_capital_beside(index):
                return True
        if entity_type == "letter":
            return span.text.isascii() and place.is_single_letter(index)
        if not self._is_useful:
            return False
        if entity_type == CAPITALIZED_RUN:
            if place.is_name_place(index, self._facts.roles, self._facts.kin):
                return False
            if place.follows(index, self._before_names):
                return False
            if self.is_public_run(mention):
                return True
            if self._is_public and mention.entity_type in _COUNTRIES and span.preceding_word != AFTER_TITLE:
                return True
            if not self.is_title_case(mention):
                return False
            return len(span.tokens) > 1 or place.is_heading_place(index, self._facts.heading_leads)
        if entity_type == "group":
            return span.text.lower() in self._lists.fact_lists["language"] and place.is_language_place(index)
        if entity_type == "weekday":
            return not place.has_capital_beside(index)
        return False

    def _is_kept_number(self, place: LinePlaces, index: int, mention: EntityMention) -> bool:
        entity_type, text = mention.span.entity_type, mention.span.text
        if entity_type == "month":
            return self._is_useful and place.is_month_place(index) and not place.has_in_sentence(index, _DAYS)
        if entity_type not in NUMERIC_TYPES:
            return False
        if entity_type == "age":
            return self._is_useful and text.isascii() and text.isdigit() and int(text) <= _MAX_AGE
        if (
            place.follows(index, self._before_values)
            or place.gaps[index].endswith("#")
            or place.precedes_capital(index)
        ):
            return False
        neighbors = place.count_neighbors(index)
        if neighbors > 1:
            return False
        if entity_type in ("number", "year", "digits"):
            form = _RANGE if entity_type == "digits" else _COUNTED
            if form.fullmatch(text) and self._is_counted(place, index):
                return True
            if entity_type == "digits" and not neighbors and _RATING.fullmatch(text):
                return True
        if (
            not self._is_useful
            or place.has_capital_beside(index)
            or place.has_in_sentence(index, _DAYS - {entity_type})
        ):
            return False
        if entity_type == "year" or mention.entity_type == "year-range":
            return not neighbors or place.has_only_years_beside(index)
        if neighbors or place.has_in_sentence(index, _DATES):
            return False
        if entity_type == "number":
            bare = text.isdigit() and text.isascii() and len(text) <= 2 and int(text) <= _MAX_BARE
            return (bare or _DECIMAL.fullmatch(text) is not None) and place.is_between_words(index)
        if entity_type == "ordinal":
            digits = text[:-2]
            listed = digits.isdigit() and digits.isascii() and int(digits) <= _MAX_ORDINAL
            return listed and self.is_adjective(place.get_word(index + 1))
        return entity_type in ("time", "decade")

    def _is_counted(self, place: LinePlaces, index: int) -> bool:
        """Return whether a number is counted, or is the first of two: ``20 to 35 hours``."""
        if self._counts(place, index) or (self._is_useful and self._is_amount(place, index)):
            return True
        following = place.mentions[index + 2] if index + 2 < len(place.mentions) else None
        return (
            place.get_word(index + 1) in self._facts.range_words
            and following is not None
            and following.span.entity_type in ("number", "year")
            and self._counts(place, index + 2)
        )

    def _counts(self, place: LinePlaces, index: int) -> bool:
        """Return whether a unit or a plural follows a number, or a word such as *version* precedes it."""
        gap, after = place.gaps[index + 1], place.get_word(index + 1)
        if gap.lstrip(" ").startswith("%"):
            return True
        facts = self._facts
        if gap in ("", " ", "-") and (after in facts.units or after.lower() in facts.units):
            return not place.is_age(index + 1)
        if gap in (" ", "-") and after not in self._facts.currencies:
            if self.is_plural(after) and not place.is_age(index + 1):
                return True
            second = place.get_word(index + 2)
            if (
                second
                and place.gaps[index + 2] == " "
                and self.is_adjective(after)
                and self.is_plural(second)
                and second not in self._facts.currencies
            ):
                return not place.is_age(index + 2)
        return place.gaps[index] == " " and place.get_word(index - 1).lower() in facts.counters

    def _is_amount(self, place: LinePlaces, index: int) -> bool:
        return place.gaps[index][-1:] in _CURRENCIES or (
            place.gaps[index + 1] == " " and place.get_word(index + 1).lower() in self._facts.currencies
        )


def _mask_word(word: str) -> str:
    return "XXXX" if word.isupper() else "Xxxx" if word[0].isupper() else "xxxx"


def _make_piece(word: str, rules: Rules) -> EntityMention:
    """Return a word of an identifier as a mention."""
    folded, case = word.lower(), find_case_pattern(word)
    layout = find_ending(folded, rules)
    part = MentionPart("word", layout, folded, word)
    return EntityMention("word", case, (part,), EntitySpan("word", case, layout, (), word), word)
