"""Finder of slots: decides which words are kept and which tokens form one slot (pass 2).

It reads classes, case patterns and gaps, and of each kept word its key. It never reads a string that is replaced. Any
string of the class of a slot may therefore replace the original, in all slots at once, without changing another
decision (docs/proofs/names.md).
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from textveil.bundle.rules import Rules
from textveil.lazy import CHARACTERS, ENTITY_TYPES, load_data
from textveil.text.names.context_rules import INITIAL_JOINS, LINE_BREAKS, RUN_JOINS, ContextRules
from textveil.text.names.entity_spans import (
    AFTER_TITLE,
    CAPITALIZED_RUN,
    DIGIT_GROUP,
    ENDS_IN_INITIAL,
    LONE_INITIAL,
    EntitySpan,
    TextElement,
)
from textveil.text.names.spelled_tokens import DIGIT_JOINS
from textveil.text.names.tokens import (
    BEGINS_UNIT,
    CAPITALIZED,
    DIGITS,
    INITIAL,
    INITIALS,
    INWARD,
    KEPT,
    KEPT_AT_SENTENCE,
    KEPT_AT_START,
    KEPT_WITH_CAPITALS,
    LEGAL_FORM,
    LISTED_PERSON,
    NAME_ROLE,
    NUMBER_WORD,
    OUTWARD,
    REPLACED,
    NamesToken,
    TokenWindow,
    create_tuple,
    is_plainly_kept,
    may_follow_initials,
)
from textveil.text.segmentation import LOWER, TITLE, UPPER
from textveil.work_limits import STEPS_PER_CHECK, check_work

#: Number of words in Title case from which a line counts as a headline; a shorter line may be a title or a band.
_MIN_HEADLINE_WORDS = 7
#: Types of lower-case strings that do not occur in headlines.
_NON_HEADLINE_TYPES = frozenset(load_data(ENTITY_TYPES)["headline"])
_MAX_CONNECTORS = 3
#: Number of strings per join.
_JOIN_BLOCK = 1 << 14
#: Layouts of ages and of area codes.
_SHORT_NUMBER_LAYOUTS = frozenset(("1", "2", "3"))
#: Gaps between digits that open or close a bracket.
_OPENS_BRACKET, _CLOSES_BRACKET = " (", frozenset((")", ") "))
#: Characters before the number of a list item on its line, blanks after its mark, and the most digits of such a number.
_LIST_NUMBER_PREFIX, _MAX_LIST_DIGITS = load_data(CHARACTERS)["gaps"]["before_listed"], 2
_BLANKS = frozenset(load_data(CHARACTERS)["gaps"]["blanks_listed"])
_TYPES_WITH_PLUS = frozenset((DIGIT_GROUP, "phone", "account"))


class SpanFinder(ContextRules):
    """Slots of one text. It holds the words and gaps of some lines at a time.

    Args:
        windows: Tokens of the text.
        has_breaks: Whether the text has a line break.
        has_capitals: Whether any text of the document has a capital letter. If none has, words that may be names are
            replaced.
        rules: Rules of the language.

    Attributes:
        kept_count: Number of kept words; final after the last of ``iterate_elements``.
    """

    def __init__(self, windows: Iterable[TokenWindow], *, has_breaks: bool, has_capitals: bool, rules: Rules) -> None:
        super().__init__([], [], has_capitals=has_capitals, rules=rules)
        self._windows, self._has_breaks = windows, has_breaks
        self._spellings, self._special_indices = list[str](), array("I")
        self._first_word = self._after_last_span = 0  # first word of these lines, and first word after the last slot
        self._kept: list[str] = []  # text of earlier lines since the last slot
        self._last_list_number = 0  # last list number that was kept
        self.kept_count: int = 0

    def iterate_elements(self) -> Iterator[TextElement]:
        """Yield kept texts and slots in turn.

        They are yielded lazily: all at once need many times the memory of the text.
        """
        for window in self._windows:
            self._load_window(window)
            for start, end in self._iterate_lines():
                yield from self._iterate_line_elements(start, end)
            self._kept.append("".join(self._spellings[2 * self._after_last_span : -1]))
        self._kept.append(self._spellings[-1])
        yield "".join(self._kept)

    def _load_window(self, window: TokenWindow) -> None:
        """Load the next lines.

        The last word of the previous lines, as classified, and the gap after it remain.
        """
        words, spellings, self._special_indices = window
        last, hidden = self._words[-1:], self._hidden[-1:]
        if last:
            words[0], spellings[2] = last[0], self._spellings[-1]
        self.load_words(words, spellings[::2])
        self._hidden[: len(last)] = hidden
        self._spellings, self._first_word = spellings, len(last)
        self._after_last_span = self._first_word
        self.kept_count += len(words) - self._first_word

    def _iterate_lines(self) -> Iterator[tuple[int, int]]:
        start, end = self._first_word, len(self._words)
        for index in range(start + 1, end) if self._has_breaks else ():
            if not LINE_BREAKS.isdisjoint(self._gaps[index]):
                yield start, index
                start = index
        if self._special_indices:
            yield start, end

    def _iterate_line_elements(self, start: int, end: int) -> Iterator[TextElement]:
        words, gaps, special = self._words, self._gaps, self._special_indices
        if self._has_breaks:
            special = special[bisect_left(special, start) : bisect_left(special, end)]
        capitalized = self._find_capitalized(special, end)
        has_lower = not capitalized or any(self._is_lower(words[at]) for at in range(start, end) if gaps[at] != "-")
        if capitalized:
            self._hide_capitalized(capitalized, has_lower, end)
        for step, index in enumerate(special):
            if not step % STEPS_PER_CHECK:
                check_work()
            if index < self._after_last_span:
                continue
            token = words[index]
            if index == start and token.token_class == DIGITS and self._continues_list(index, end):
                continue
            if not self._hidden[index] if token.token_class >= CAPITALIZED else self._is_kept(index, end):
                continue
            elements: list[TextElement] = [self._take_kept(index)]
            if token.token_class == KEPT:
                stop = self._find_address_end(index, end)
                entity_type = "unit" if token.flags & BEGINS_UNIT and stop == index + 1 else "word"
                elements.append(self._make_span(entity_type, LOWER, "", index, stop))
            elif self._hidden[index]:
                stop = self._append_run(index, end, elements, has_lower)
            elif token.token_class == DIGITS:
                stop = self._append_digits(index, start, end, elements)
            elif (
                token.flags & OUTWARD and index + 1 < end and gaps[index + 1] == " " and words[index + 1].flags & INWARD
            ):
                stop = index + 2
                elements.append(self._make_span("postcode", LOWER, "", index, stop))
            else:
                stop = index + 1
                elements.append(self._make_span(token.entity_type, token.case, token.layout, index, stop))
                takes_noun = token.entity_type == "word" and token.flags & LISTED_PERSON and not self._has_capitals
                # A noun after a listed lower-case name is treated as a part of it (``martin short``).
                while takes_noun and stop < end and gaps[stop] == " " and _may_join_name(words[stop]):
                    elements += (" ", self._make_span("word", LOWER, "", stop, stop + 1))
                    self._hidden[stop], takes_noun = True, words[stop].entity_type == NAME_ROLE
                    stop += 1
            self.kept_count -= stop - index
            self._after_last_span = stop
            yield from elements

    def _take_kept(self, index: int) -> str:
        """Return the kept text between the last slot and the slot at ``place``."""
        text = "".join(self._spellings[2 * self._after_last_span : 2 * index + 1])
        if self._kept:
            text = "".join((*self._kept, text))
            self._kept.clear()
        return text

    def _find_capitalized(self, special: Sequence[int], end: int) -> list[int]:
        """Return the words of a line with a capital, and the particles before them.

        The method changes the class of these particles to ``CAPITALIZED``. Every other particle becomes an unlisted
        word, so a run has the same slots with a particle before it or without.
        """
        words, capitalized = self._words, []
        for index in reversed(special):
            token = words[index]
            if token.token_class == REPLACED and token.entity_type == "particle":
                after = index + 1
                precedes_name = (
                    after < end and words[after].token_class >= CAPITALIZED and self._gaps[after] in RUN_JOINS
                )
                token = words[index] = (
                    token._replace(token_class=CAPITALIZED) if precedes_name else token._replace(entity_type="word")
                )
            if token.token_class >= CAPITALIZED:
                capitalized.append(index)
                if token.flags & LEGAL_FORM:
                    self._attach_full_stop(index)
        return capitalized[::-1]

    def _attach_full_stop(self, index: int) -> None:
        """Add the full stop after the legal form of a firm to its slot if no sentence ends there."""
        gap, after = self._gaps[index + 1], self._words[index + 1 : index + 2]
        goes_on = gap == ". " and after and after[0].case == LOWER and after[0].token_class not in (DIGITS, CAPITALIZED)
        if goes_on or gap.startswith((".,", ".)")):
            self._words[index] = self._words[index]._replace(text=f"{self._words[index].text}.")
            self._spellings[2 * index + 1] += "."
            self._gaps[index + 1] = self._spellings[2 * index + 2] = gap[1:]

    def _hide_capitalized(self, capitalized: Sequence[int], has_lower: bool, end: int) -> None:
        """Mark the capitalized words that are replaced, with the lower-case words on hyphens.

        A hyphen attaches a lower-case word to a capitalized one.
        """
        words = self._words
        title_case_words = 1 if has_lower else sum(_is_title_case(words[place]) for place in capitalized)
        if title_case_words == 0 or title_case_words >= _MIN_HEADLINE_WORDS:
            for place in capitalized:
                if self._follows_particle_or_initials(place) or not words[place].flags & (
                    KEPT_AT_START | KEPT_AT_SENTENCE
                ):
                    self._hide_member(place, end)
            return
        group = [capitalized[0]]
        for place in capitalized[1:]:
            if not self._is_joined_to_run(group[0], group[-1], place, end):
                self._hide_group(group, end)
                group = []
            group.append(place)
        self._hide_group(group, end)

    def _follows_particle_or_initials(self, index: int) -> bool:
        """Return whether a particle or initials precede a word, which excludes a headline word."""
        if index == 0:
            return False
        before, gap = self._words[index - 1], self._gaps[index]
        if before.flags & INITIALS or (before.token_class == INITIAL and not before.flags):
            joins = INITIAL_JOINS | {" "} if before.flags else INITIAL_JOINS
            return gap in joins and may_follow_initials(self._words[index])
        return before.entity_type == "particle" and before.token_class == CAPITALIZED

    def _hide_member(self, index: int, end: int) -> None:
        for at in range(index, self._find_member_end(index, end)):
            self._hidden[at] = True

    def _hide_group(self, indices: Sequence[int], end: int) -> None:
        """Mark the hidden words of adjacent capitalized words, in a line that is not a headline.

        All hidden words of such a group form one slot. The choice of words only affects whether any word of the group
        is kept.
        """
        words, first = self._words, indices[0]
        if words[first].flags & KEPT_AT_START and self._follows_break(first):
            indices = indices[1:]
        elif words[first].flags & KEPT_AT_SENTENCE and words[first].case == TITLE and self._starts_sentence(first):
            indices = () if all(map(self._is_emphasized, indices[1:])) else indices
        if not all(map(self._is_emphasized, indices)):
            for index in indices:
                self._hide_member(index, end)

    def _append_run(self, start: int, end: int, elements: list[TextElement], has_lower: bool) -> int:
        """Append the slot of the run that begins at ``start``, and return the index after its end."""
        index, first = start + 1 if self._gaps[start + 1] != "-" else self._find_member_end(start, end), start
        while index < end:
            after = self._find_next_member(first, index, end)
            if after is None:
                break
            first = first if after == index else after  # connectors start a new group
            index = self._find_member_end(after, end)
        tokens, case = tuple(self._words[start:index]), UPPER
        for token in tokens:
            # Initials carry no case of their own, and no sentence ends at the full stop after one: both are public in
            # the template.
            if token.case != UPPER and token.token_class == CAPITALIZED and token.entity_type != "particle":
                case = TITLE
        layout = ENDS_IN_INITIAL if tokens[-1].token_class == INITIAL else ""
        entity_type = LONE_INITIAL if layout and len(tokens) == 1 else CAPITALIZED_RUN
        title_case_words = 0 if has_lower else sum(map(_is_title_case, tokens))
        preceding_word, gap = "", self._gaps[start]
        if gap == " " and start > self._after_last_span and self._words[start - 1].token_class == KEPT:
            preceding_word = self._words[start - 1].key
        elif start and gap in (" ", ". ") and self._words[start - 1].entity_type == "title":
            preceding_word = AFTER_TITLE
        text = tokens[0].text if len(tokens) == 1 else "".join(self._spellings[2 * start + 1 : 2 * index])
        elements.append(
            create_tuple(EntitySpan, (entity_type, case, layout, tokens, text, preceding_word, title_case_words, ""))
        )
        return index

    def _find_next_member(self, start: int, index: int, end: int) -> int | None:
        """Return the next member of a run whose last member ends at ``place``, or ``None``."""
        words, gaps, hidden = self._words, self._gaps, self._hidden
        if gaps[index] != " ":
            return index if hidden[index] and self._joins_run(start, index) else None
        if hidden[index]:
            return index
        after = index
        while (
            after < end
            and after - index < _MAX_CONNECTORS
            and words[after].token_class == KEPT
            and words[after].case == LOWER
            and words[after].key in self._rules.connectors
            and gaps[after] == " "
        ):
            after += 1
        if after in (index, end) or gaps[after] != " ":
            return None
        return after if hidden[after] else None

    def _append_digits(self, index: int, start: int, end: int, elements: list[TextElement]) -> int:
        """Append the slot of the digits at ``place``, and return the index after its end."""
        token = self._words[index]
        is_short = token.entity_type == "number" and token.layout in _SHORT_NUMBER_LAYOUTS
        if is_short and self._is_age(index, start, end):
            elements.append(self._make_span("age", LOWER, "", index, index + 1))
            return index + 1
        if self._is_beside_month(index, start, end):
            is_day = token.entity_type == "number" and token.layout in ("1", "2")
            elements.append(
                self._make_span(
                    "day" if is_day else token.entity_type, LOWER, "" if is_day else token.layout, index, index + 1
                )
            )
            return index + 1
        last = self._find_digits_end(index, start, end)
        span = self._make_span(
            token.entity_type if last == index + 1 else DIGIT_GROUP, LOWER, token.layout, index, last
        )
        # The sign of an international number and a bracket that closes inside the number belong to its slot. This holds
        # only if the rest of the gap joins nothing, so that a second pass over the template finds the same slots.
        sign = self._gaps[index][-1:]
        includes_sign = (sign == "+" and span.entity_type in _TYPES_WITH_PLUS) or (sign == "(" and ")" in span.text)
        if includes_sign and self._is_separate_number(index, start):
            elements[-1] = str(elements[-1])[:-1]
            span = span._replace(text=sign + span.text)
        elements.append(span)
        return last

    def _is_separate_number(self, index: int, start: int) -> bool:
        """Return whether the gap before digits joins nothing once the sign at its end is removed."""
        before = self._gaps[index][:-1]
        spaced = before[-1].isspace() if before else index == start
        return spaced and (index == start or self._words[index - 1].token_class != DIGITS or before not in DIGIT_JOINS)

    def _find_digits_end(self, index: int, start: int, end: int) -> int:
        """Return the index after the digits that form one slot with the digits at ``place``.

        A bracket opens before the first digits or after short ones (``+49 (30) 1234``), and closes before further
        digits.
        """
        is_open = self._gaps[index][-1:] == "(" and self._is_separate_number(index, start)
        last = index + 1
        while self._joins_digits(last, start, end):
            gap = self._gaps[last]
            if gap == _OPENS_BRACKET:
                if is_open or last > index + 1 or not self._opens_area_code(index, start, end):
                    break
                is_open = True
            elif gap in _CLOSES_BRACKET:
                if not is_open:
                    break
                is_open = False
            last += 1
        return last

    def _opens_area_code(self, index: int, start: int, end: int) -> bool:
        """Return whether the digits are short and a bracket follows with digits inside and after it."""
        token = self._words[index]
        if token.entity_type != "number" or token.layout not in _SHORT_NUMBER_LAYOUTS:
            return False
        last = index + 2
        while self._joins_digits(last, start, end) and self._gaps[last] not in _CLOSES_BRACKET:
            if self._gaps[last] == _OPENS_BRACKET:
                return False
            last += 1
        return self._joins_digits(last, start, end)

    def _joins_digits(self, index: int, start: int, end: int) -> bool:
        """Return whether joined digits without an adjacent month are at ``place``."""
        if index >= end or self._words[index].token_class != DIGITS or self._gaps[index] not in DIGIT_JOINS:
            return False
        return not self._is_beside_month(index, start, end)

    def _continues_list(self, index: int, end: int) -> bool:
        """Return whether the first word of a line is the next number of a list, or 1, and is kept.

        If it is, the method stores the number.
        """
        number, gap = self._words[index].text, self._gaps[index + 1]
        if number not in ("1", str(self._last_list_number + 1)) or len(number) > _MAX_LIST_DIGITS:
            return False
        before = self._gaps[index].rstrip(_LIST_NUMBER_PREFIX)
        if gap[:1] not in (".", ")") or _BLANKS.isdisjoint(gap) or before[-1:] not in LINE_BREAKS | {""}:
            return False
        if self._find_digits_end(index, index, end) > index + 1:
            return False
        self._last_list_number = int(number)
        return True

    def _join_spellings(self, start: int, stop: int) -> str:
        """Return the joined text of some strings, in small steps so that other threads can run."""
        if stop - start <= _JOIN_BLOCK:
            return "".join(self._spellings[start:stop])
        parts = ["".join(self._spellings[at : min(at + _JOIN_BLOCK, stop)]) for at in range(start, stop, _JOIN_BLOCK)]
        return "".join(parts)

    def _make_span(self, entity_type: str, case: int, layout: str, start: int, end: int) -> EntitySpan:
        text = self._join_spellings(2 * start + 1, 2 * end)
        return create_tuple(EntitySpan, (entity_type, case, layout, tuple(self._words[start:end]), text, "", 0, ""))

    def _is_lower(self, token: NamesToken) -> bool:
        """Return whether a token is a lower-case word that does not occur in headlines."""
        if token.case != LOWER:
            return False
        if token.token_class == KEPT:
            return token.key not in self._rules.headline_words and token.key[0].isalpha()
        return token.token_class == KEPT_WITH_CAPITALS or (
            token.token_class == REPLACED and token.entity_type in _NON_HEADLINE_TYPES
        )


def _may_join_name(token: NamesToken) -> bool:
    """Return whether a kept word may be a part of the name before it."""
    return token.entity_type != "" and is_plainly_kept(token._replace(flags=token.flags & ~NUMBER_WORD))


def _is_title_case(token: NamesToken) -> bool:
    return token.token_class == CAPITALIZED and token.case == TITLE
