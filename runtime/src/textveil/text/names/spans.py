"""Finder of spans: decides which words stay unchanged, and which tokens together form one entity.

This is pass 2 of the mode ``names``. The finder reads the classes and case patterns of tokens, the gaps (blanks and
marks) between them, and the spelling of unchanged words. It never reads the spelling of a replaced word. So its
decisions stay the same if a text has other names of the same classes in place of its names (docs/proofs/names.md).

A *run* is a sequence of capitalized words that may be one name. Its words are its *members*. To *hide* a word means to
decide that the word is replaced. An argument ``end`` is the index after the last word of a line or span.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice, pairwise

from textveil.lazy import CHARACTERS, ENTITY_TYPES, load_data
from textveil.text.names import numbers
from textveil.text.names.lexicon import Lexicon, may_join_name
from textveil.text.names.name_cues import CuedNames, is_listed_name
from textveil.text.names.spelled_tokens import APOSTROPHES, SPELLED_LETTERS
from textveil.text.names.tokens import (
    AFTER_TITLE,
    BEGINS_DOTTED_NAME,
    BEGINS_PLACE,
    BEGINS_UNIT,
    CAPITALIZED,
    CAPITALIZED_RUN,
    CLITIC,
    DIGITS,
    ENDS_IN_INITIAL,
    FIRST_NAME,
    IBAN_HEAD,
    INITIAL,
    INITIALS,
    KEPT,
    KEPT_AT_SENTENCE,
    KEPT_AT_START,
    KEPT_NOUN,
    KEPT_WITH_CAPITALS,
    LEGAL_FORM,
    LISTED_PERSON,
    LONE_INITIAL,
    NAME_AFTER_TITLE,
    OUTWARD,
    RANDOMIZED,
    REPLACED,
    SURNAME,
    SURNAME_PARTICLE,
    EntitySpan,
    NamesToken,
    TextElement,
    TokenWindow,
    add_common_names,
    create_tuple,
    drop_nouns,
    find_connectors_end,
    find_member_end,
    is_emphasized,
    is_noun,
    is_title_case,
    may_begin_name,
    may_follow_initials,
)
from textveil.text.segmentation import LOWER, TITLE, UPPER
from textveil.work_steps import STEPS_PER_CHECK, check_work

_GAPS = load_data(CHARACTERS)["gaps"]
LINE_BREAKS, _ENDS_SENTENCE, _OPENING_MARKS, _QUOTES, _RUN_JOINS, _INITIAL_JOINS, _LEGAL_FORM_JOINS = (
    frozenset(_GAPS[name])
    for name in ("line_breaks", "ends_sentence", "opens", "quotes", "joins", "joins_initials", "joins_forms")
)
#: A line with at least this many words in Title case counts as a headline. A shorter one may be a title or a name.
_MIN_HEADLINE_WORDS, _MIN_LETTERS_TO_END = 7, 2
#: Types of lower-case strings that do not occur in headlines.
_NON_HEADLINE_TYPES = frozenset(load_data(ENTITY_TYPES)["headline"])
#: Number of strings that one ``join`` joins; of kept texts and spans per block; and the token in place of a freed one.
_JOIN_BLOCK, _BLOCK_ELEMENTS, _FREED_WORD = 1 << 14, 1 << 8, NamesToken(KEPT, "", "")


class SpanFinder:
    """Finds the names, numbers and other spans (tokens of one entity) to replace in one text, a few lines at a time.

    Args:
        windows: Tokens of the text, a few lines at a time.
        lexicon: The classifier of words by public lists.
        has_breaks: Whether the text has a line break.
        has_capitals: Whether the document has a capital letter. If not, words that may be names are replaced.
        cue: Kind of the cue (``CuedNames``) that the JSON key of the text is; empty for none.

    Attributes:
        kept_count: Number of unchanged words. The number is final after the last block of ``iterate_blocks``.
    """

    def __init__(
        self, windows: Iterable[TokenWindow], lexicon: Lexicon, *, has_breaks: bool, has_capitals: bool, cue: str = ""
    ) -> None:
        self._windows, self._has_breaks, self._has_capitals, self._cue = windows, has_breaks, has_capitals, cue
        self._rules, self._randomized_spans = lexicon.rules, lexicon.randomized_spans
        self._words, self._gaps, self._hidden = list[NamesToken](), list[str](), bytearray()
        self._plain_range = range(0)  # words that were checked and begin no address
        self._spellings, self._special_indices = list[str](), array("I")
        #: First word of these lines; first word after the last span; and first word whose token is not freed.
        self._first_word = self._after_last_span = self._freed_words = 0
        self._has_lower = False  # whether the line has a lower-case word: a headline has none
        self._kept: list[str] = []  # text of earlier lines since the last span
        self._last_list_number: tuple[int, ...] = ()  # last list number that was kept
        self.kept_count: int = 0

    def iterate_blocks(self) -> Iterator[list[TextElement]]:
        """Yield unchanged texts and spans (tokens of one entity) in turn, in short lists, to save memory."""
        remaining = self._iterate_elements()
        while block := [*islice(remaining, _BLOCK_ELEMENTS)]:
            yield block

    def _iterate_elements(self) -> Iterator[TextElement]:
        for window in self._windows:
            self._load_window(window)
            for start, end in self._iterate_lines():
                yield from self._iterate_line_elements(start, end)
            self._kept.append("".join(self._spellings[2 * self._after_last_span : -1]))
        self._kept.append(self._spellings[-1])
        yield "".join(self._kept)

    def _load_window(self, window: TokenWindow) -> None:
        """Load the tokens of the next lines. The last word of the previous lines remains, as decisions may need it."""
        words, spellings, self._special_indices = window
        last, hidden = self._words[-1:], self._hidden[-1:]
        if last:
            words[0], spellings[2] = last[0], self._spellings[-1]
        self._words, self._gaps, self._hidden = words, spellings[::2], bytearray(len(words))
        self._hidden[: len(last)] = hidden
        self._spellings, self._first_word, self._plain_range = spellings, len(last), range(0)
        self._after_last_span, self._freed_words = self._first_word, 0
        self.kept_count += len(words) - self._first_word

    def _iterate_lines(self) -> Iterator[tuple[int, int]]:
        start, end = self._first_word, len(self._words)
        for index, gap in enumerate(islice(self._gaps, start + 1, end), start + 1) if self._has_breaks else ():
            if gap != " " and not LINE_BREAKS.isdisjoint(gap):
                yield start, index
                start = index
        if self._special_indices:
            yield start, end

    def _iterate_line_elements(self, start: int, end: int) -> Iterator[TextElement]:
        words, gaps, special = self._words, self._gaps, self._special_indices
        if self._has_breaks:
            special = special[bisect_left(special, start) : bisect_left(special, end)]
        if (dates := self._rules.dates).links or dates.day_stop:
            numbers.mark_digits_beside_months(words, gaps, special, start, end, dates, self._has_readable_key)
        capitalized = self._find_capitalized(special, end)
        line = (words[at] for at in range(start, end) if gaps[at] != "-")
        self._has_lower = not capitalized or any(map(self._is_lower, line))
        if capitalized:
            self._hide_capitalized(capitalized, end)
            self._hide_surnames(capitalized, end)
        if any(words[at].flags & (LISTED_PERSON | FIRST_NAME) for at in special):
            names = CuedNames(words, gaps, self._hidden, self._has_capitals, self._rules.facts, self._cue)
            names.hide(special, start, end)
        for step, index in enumerate(special):
            if step % STEPS_PER_CHECK == STEPS_PER_CHECK - 1:
                check_work()
                self._free_words()
            if index < self._after_last_span:
                continue
            token = words[index]
            if (
                index == start
                and (token.token_class == DIGITS or token.entity_type == "number")
                and (number := numbers.find_list_number(words, gaps, index, end, self._last_list_number))
            ):
                self._last_list_number = number
                continue
            if not self._hidden[index] if token.token_class >= CAPITALIZED else self._is_kept(index, end):
                continue
            elements, stop = list[TextElement]((self._take_kept(index),)), index + 1
            if token.token_class == KEPT and not self._hidden[index]:
                stop = self._find_address_end(index, end)
                entity_type = "unit" if token.flags & BEGINS_UNIT and stop == index + 1 else "word"
                elements.append(self._make_span(entity_type, LOWER, "", index, stop))
            elif self._hidden[index] and token.token_class >= CAPITALIZED:
                stop = self._append_run(index, end, elements)
            elif token.token_class == DIGITS:
                stop = self._append_digits(index, start, end, elements)
            elif token.layout == RANDOMIZED and token.entity_type == "word":
                elements.append(self._randomized_spans[token])
            elif token.flags & (OUTWARD | IBAN_HEAD) and (code := numbers.find_grouped_code(words, gaps, index, end)):
                stop = code.stop
                elements.append(self._make_span(code.entity_type, LOWER, "", index, stop))
            else:
                entity_type = "word" if token.token_class == KEPT else token.entity_type
                elements.append(self._make_span(entity_type, token.case, token.layout, index, stop))
                takes_noun = entity_type == "word" and is_listed_name(token) and not self._has_capitals
                while takes_noun and stop < end and gaps[stop] == " " and may_join_name(words[stop]):
                    elements += (" ", self._make_span("word", LOWER, "", stop, stop + 1))
                    self._hidden[stop], takes_noun = True, is_listed_name(words[stop])
                    stop += 1
            self.kept_count -= stop - index
            self._after_last_span = stop
            yield from elements

    def _free_words(self) -> None:
        """Free tokens that no later decision reads, because all tokens of a long line would need much memory."""
        stop = max(self._freed_words, self._after_last_span - 1)  # the word before a span may affect it
        self._words[self._freed_words : stop] = [_FREED_WORD] * (stop - self._freed_words)
        self._freed_words = stop

    def _take_kept(self, index: int) -> str:
        """Return and consume the unchanged text between the last replaced word and the word at ``index``."""
        spellings = self._kept + self._spellings[2 * self._after_last_span : 2 * index + 1]
        self._kept.clear()
        return "".join(spellings)

    def _is_kept(self, index: int, end: int) -> bool:
        """Return whether a word without a capital stays unchanged in its line, which ends before the index ``end``."""
        token = self._words[index]
        if token.token_class == KEPT:
            return not self._hidden[index] and self._find_address_end(index, end) == index
        if token.token_class == REPLACED:
            return token.flags > 0 and self._is_common_in_context(index)
        return token.token_class == KEPT_WITH_CAPITALS and self._has_capitals and not self._hidden[index]

    def _has_readable_key(self, index: int, end: int) -> bool:
        """Return whether rules may read the word at ``index``, as it stays unchanged in its line (up to ``end``)."""
        return self._words[index].token_class == KEPT and self._is_kept(index, end)

    def _is_common_in_context(self, index: int) -> bool:
        """Return whether a possible title, office or clitic (an ending such as ``'s``) is only a common word here.

        A title or an office (such as *president*) at the start of a sentence is a common word if no name follows it. A
        clitic is a common word after an apostrophe and a stray blank (``it' s``).
        """
        token, gap = self._words[index], self._gaps[index]
        if token.flags & CLITIC:
            return gap.rstrip(" ").endswith(APOSTROPHES)
        if token.entity_type not in ("title", "office") or not self._starts_sentence(index):
            return False
        after = index + 1
        return after == len(self._words) or self._gaps[after] != " " or self._words[after].token_class < CAPITALIZED

    def _find_address_end(self, index: int, end: int) -> int:
        """Return the index after the words of a place or address that begins at ``index``; ``index`` if none begins.

        Example: *suite* in ``suite 7``. In a document without capital letters, also ``new york`` and ``port said``.
        """
        words, after = self._words, index + 1
        if not words[index].flags or after == end:
            return index
        if words[after].token_class == DIGITS and words[index].flags & BEGINS_UNIT:
            return after if numbers.get_gap_before_digits(self._gaps, after) in _INITIAL_JOINS | {" "} else index
        if self._has_capitals or index in self._plain_range:
            return index
        while words[after - 1].flags & BEGINS_PLACE and after < end and self._gaps[after] == " ":
            if words[after].token_class == KEPT_WITH_CAPITALS or (
                words[after].token_class == REPLACED and words[after].entity_type == "word"
            ):
                return after + 1
            after += 1
        self._plain_range = range(index, after)
        return index

    def _is_first_name(self, index: int, end: int) -> bool:
        """Return whether the common word at ``index``, such as ``Hope`` at a sentence start, is a first name there."""
        token, after = self._words[index], index + 1
        if not (token.flags & KEPT_AT_START and token.flags & SURNAME):
            return False
        precedes_word = after < end and self._gaps[after] == " " and self._words[after].case == LOWER
        return not (precedes_word and self._has_readable_key(after, end))

    def _follows_break(self, index: int) -> bool:
        """Return whether the word at ``index`` is the first word of the text, or follows a mark or a line break."""
        if index == 0 or (_OPENING_MARKS.isdisjoint(self._gaps[index]) and " - " not in self._gaps[index]):
            return index == 0
        if self._words[index].flags & NAME_AFTER_TITLE and self._words[index - 1].entity_type == "title":
            return "." not in self._gaps[index]
        return True

    def _starts_sentence(self, index: int) -> bool:
        if index == 0:
            return True
        gap, before = self._gaps[index], self._words[index - 1]
        if not gap[-1:].isspace() and gap[-1:] not in "\"'\u201c\u2018(":
            return False
        if _ENDS_SENTENCE.isdisjoint(gap):
            # A paragraph, or the name of a form field.
            return gap.count("\n") > 1 or ("\n" in gap and self._gaps[index + 1][:1] == ":")
        if not self._hidden[index - 1] and (
            before.token_class == KEPT or (before.token_class == KEPT_WITH_CAPITALS and self._has_capitals)
        ):
            return len(before.key) >= _MIN_LETTERS_TO_END and before.key not in self._rules.abbreviations
        return "." not in gap or (
            before.token_class != INITIAL and before.entity_type not in ("title", "letter", SPELLED_LETTERS)
        )

    def _is_lower(self, token: NamesToken) -> bool:
        """Return whether a token is a lower-case word that headlines never contain."""
        if token.case != LOWER:
            return False
        if token.token_class == KEPT:
            return token.key not in self._rules.headline_words and token.key[0].isalpha() and token.key[-1] != "'"
        return token.token_class == KEPT_WITH_CAPITALS or (
            token.token_class == REPLACED and token.entity_type in _NON_HEADLINE_TYPES
        )

    def _find_capitalized(self, special: Sequence[int], end: int) -> list[int]:
        """Return the indices of the capitalized words of a line, and of the particles (``van``) before them.

        The class of these particles becomes ``CAPITALIZED``; all other particles are replaced like words on no list.
        """
        words, capitalized = self._words, []
        for index in reversed(special):
            token = words[index]
            if token.token_class == REPLACED and token.entity_type == "particle":
                after = index + 1
                is_name = after < end and words[after].token_class >= CAPITALIZED and self._gaps[after] in _RUN_JOINS
                token = words[index] = (
                    token._replace(token_class=CAPITALIZED) if is_name else token._replace(entity_type="word")
                )
            if token.token_class >= CAPITALIZED:
                capitalized.append(index)
                if token.flags & LEGAL_FORM:
                    self._attach_full_stop(index)
        return capitalized[::-1]

    def _attach_full_stop(self, index: int) -> None:
        """Add the full stop after a legal form (``Inc.``) to the form's token, unless the full stop ends a sentence."""
        gap, after = self._gaps[index + 1], self._words[index + 1 : index + 2]
        goes_on = gap == ". " and after and after[0].case == LOWER and after[0].token_class not in (DIGITS, CAPITALIZED)
        if goes_on or gap.startswith((".,", ".)")):
            self._words[index] = self._words[index]._replace(text=f"{self._words[index].text}.")
            self._spellings[2 * index + 1] += "."
            self._gaps[index + 1] = self._spellings[2 * index + 2] = gap[1:]

    def _hide_capitalized(self, capitalized: Sequence[int], end: int) -> None:
        """Mark the capitalized words of a line to replace, and the lower-case words that hyphens join to them."""
        words = self._words
        title_case_words = 1 if self._has_lower else sum(is_title_case(words[place]) for place in capitalized)
        if title_case_words == 0 or title_case_words >= _MIN_HEADLINE_WORDS:
            is_replaced = [
                not words[place].flags & (KEPT_AT_START | KEPT_AT_SENTENCE)
                or self._follows_particle_or_initials(place)
                or self._follows_title(place)
                or self._is_first_name(place, end)
                for place in capitalized
            ]
            is_joined = [
                self._find_member_end(before, end) == place and self._gaps[place] in _RUN_JOINS
                for before, place in pairwise(capitalized)
            ]
            tokens = [words[place] for place in capitalized]
            for place in compress(capitalized, add_common_names(is_replaced, is_joined, tokens)):
                self._hide_member(place, end)
            return
        group = [capitalized[0]]
        for place in capitalized[1:]:
            if self._find_member_end(group[-1], end) != place or not self._joins_run(group[0], place):
                self._hide_group(group, end)
                group = []
            group.append(place)
        self._hide_group(group, end)

    def _hide_surnames(self, capitalized: Sequence[int], end: int) -> None:
        """Mark for replacement common words that are family names before a comma and a name: ``Hope, Daniel``.

        The word must begin a line, a sentence or an entry of a list. A replaced word or a title must follow the comma.
        """
        for place, after in [(at, at + 1) for at in capitalized if self._words[at].flags & SURNAME and at + 1 < end]:
            is_lead = self._gaps[after] == ", " and (self._hidden[after] or self._words[after].entity_type == "title")
            if is_lead and (self._follows_break(place) or self._starts_sentence(place)):
                self._hidden[place] = True

    def _follows_particle_or_initials(self, index: int) -> bool:
        """Return whether a particle (``van``) or initials precede a word, which make it a name even in a headline."""
        if index == 0:
            return False
        before, word, gap = self._words[index - 1], self._words[index], self._gaps[index]
        if before.flags & INITIALS or before.token_class == INITIAL:
            joins = _INITIAL_JOINS | {" "} if before.flags & INITIALS else _INITIAL_JOINS
            may_be_hidden = index > 1 and (self._gaps[index - 1] in _RUN_JOINS or self._follows_title(index - 1))
            return (may_be_hidden or before.flags != KEPT_AT_START) and gap in joins and may_follow_initials(word)
        return before.entity_type == "particle" and before.token_class == CAPITALIZED

    def _hide_member(self, index: int, end: int) -> None:
        for at in range(index, self._find_member_end(index, end)):
            self._hidden[at] = True

    def _hide_group(self, indices: Sequence[int], end: int) -> None:
        """Mark the words to replace in a group of adjacent capitalized words (a full name), outside of headlines.

        The marked words are replaced as one name, so the output does not reveal which of them are common words.
        """
        words, first = self._words, indices[0]
        if not words[first].flags or self._is_first_name(first, end) or self._is_whole_name(indices, end):
            pass
        elif words[first].flags & KEPT_AT_START and self._follows_break(first):
            indices = indices[1:]
        elif words[first].flags & KEPT_AT_SENTENCE and words[first].case == TITLE and self._starts_sentence(first):
            is_kept = all(is_emphasized(words[at]) or is_noun(words[at]) for at in indices[1:])
            indices = () if is_kept else indices
        if indices and words[indices[0]].flags & KEPT_NOUN and not self._follows_title(first):
            indices = drop_nouns(words, self._gaps, indices)
        if not all(words[at].case == UPPER and is_emphasized(words[at]) for at in indices):
            for index in indices:
                self._hide_member(index, end)

    def _is_whole_name(self, indices: Sequence[int], end: int) -> bool:
        """Return whether capitalized words that fill a quotation or a line begin with a particle: ``"El Brezo"``."""
        if not (self._words[indices[0]].flags & SURNAME_PARTICLE and may_begin_name(self._words, self._gaps, indices)):
            return False
        gaps, after = self._gaps, self._find_member_end(indices[-1], end)
        return not self._has_lower or (gaps[indices[0]][-1:] in _QUOTES and gaps[after][:1] in _QUOTES)

    def _follows_title(self, index: int) -> bool:
        """Return whether a title precedes a word, so that even a common noun is a name: ``Frau Freund``."""
        return index > 0 and self._words[index - 1].entity_type == "title" and self._gaps[index] in (" ", ". ")

    def _joins_run(self, first: int, after: int) -> bool:
        """Return whether the gap (blanks and marks) before the word at ``after`` joins it to the name from ``first``.

        Blanks and hyphens join all words. Other marks join only initials, some short forms (``St. Louis``) and legal
        forms.
        """
        gap, before = self._gaps[after], self._words[after - 1]
        if gap in _RUN_JOINS or (before.token_class == INITIAL and gap in _INITIAL_JOINS):
            return True
        if gap == ". " and before.flags & INITIALS and may_follow_initials(self._words[after]):
            return True
        follows_short_form = gap == ". " and after - 1 == first and before.flags & BEGINS_DOTTED_NAME
        return bool(follows_short_form or (gap in _LEGAL_FORM_JOINS and self._words[after].flags & LEGAL_FORM))

    def _find_member_end(self, index: int, end: int) -> int:
        """Return the index after a word of a name and after lower-case words that hyphens join to the word."""
        if self._gaps[index + 1] != "-":
            return index + 1
        return find_member_end(self._words, self._gaps, index, end, self._rules.suffixes)

    def _append_run(self, start: int, end: int, elements: list[TextElement]) -> int:
        """Append the name that begins at ``start`` to ``elements`` as one span (entity); return the index after it."""
        index, first = self._find_member_end(start, end), start
        while index < end:
            after = self._find_next_member(first, index, end)
            if after is None:
                break
            first = first if after == index else after  # connectors start a new group
            index = self._find_member_end(after, end)
        case = find_run_case(tokens := tuple(self._words[start:index]))
        layout = ENDS_IN_INITIAL if tokens[-1].token_class == INITIAL else ""
        entity_type = LONE_INITIAL if layout and len(tokens) == 1 else CAPITALIZED_RUN
        title_case_words = 0 if self._has_lower else sum(map(is_title_case, tokens))
        preceding_word, gap = "", self._gaps[start]
        if gap == " " and start > self._after_last_span and self._words[start - 1].token_class == KEPT:
            preceding_word = self._words[start - 1].key
        elif start and gap in (" ", ". ") and self._words[start - 1].entity_type == "title":
            preceding_word = AFTER_TITLE
        text = tokens[0].text if len(tokens) == 1 else "".join(self._spellings[2 * start + 1 : 2 * index])
        fields = entity_type, case, layout, tokens, text, preceding_word, title_case_words, ""
        elements.append(create_tuple(EntitySpan, fields))
        return index

    def _find_next_member(self, start: int, index: int, end: int) -> int | None:
        """Return the index of the next word of a name, at or after ``index``; ``None`` if the name has ended.

        The name, or its part after a connector such as *of*, begins at ``start``. The line ends at ``end``.
        """
        words, gaps, hidden = self._words, self._gaps, self._hidden
        if gaps[index] != " ":
            return index if hidden[index] and self._joins_run(start, index) else None
        if hidden[index]:
            return index
        if words[index].token_class == KEPT and words[index].key not in self._rules.connectors:
            return None
        after = find_connectors_end(words, gaps, index, end, self._rules.connectors)
        return after if index < after < end and hidden[after] else None

    def _append_digits(self, index: int, start: int, end: int, elements: list[TextElement]) -> int:
        """Append the number at ``index`` to ``elements`` as one span (entity); return the index after the number."""
        words, gaps = self._words, self._gaps
        number = numbers.find_number(words, gaps, index, start, end, self._rules, self._has_readable_key)
        span = self._make_span(number.entity_type, LOWER, number.layout, index, number.stop)
        # The sign of an international number and a bracket that closes inside the number belong to its span. This holds
        # only if the rest of the gap joins nothing, so that a second pass over the template finds the same spans.
        if (sign := gaps[index][-1:]) in ("+", "(") and numbers.includes_sign(words, gaps, index, start, end, span):
            elements[-1] = str(elements[-1])[:-1]
            span = span._replace(text=sign + span.text)
        elements.append(span)
        return number.stop

    def _make_span(self, entity_type: str, case: int, layout: str, start: int, end: int) -> EntitySpan:
        first, stop, parts = 2 * start + 1, 2 * end, self._spellings
        text = parts[first]
        if stop > first + 1:  # joined in small steps, so that other threads can run
            text = "".join("".join(parts[at : min(at + _JOIN_BLOCK, stop)]) for at in range(first, stop, _JOIN_BLOCK))
        return create_tuple(EntitySpan, (entity_type, case, layout, tuple(self._words[start:end]), text, "", 0, ""))


def find_run_case(tokens: Iterable[NamesToken]) -> int:
    """Return ``UPPER`` if all words of a name except initials and particles (*de*) are in capitals; else ``TITLE``."""
    words = [token for token in tokens if token.case != UPPER and token.token_class == CAPITALIZED]
    return TITLE if any(token.entity_type != "particle" for token in words) else UPPER
