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
from textveil.text.names.slots import ENDS_IN_INITIAL, GROUP, LONE_INITIAL, RUN, TITLE_BEFORE, Entry, Slot
from textveil.text.names.spelled import JOINS_DIGITS
from textveil.text.names.tokens import (
    ALONE,
    AT_SENTENCE,
    AT_START,
    CAPITAL,
    DIGITS,
    FORM,
    INITIAL,
    INITIALS,
    INWARD,
    LOOSE,
    NAME,
    NAMED,
    NUMBER,
    OUTWARD,
    SHOWN,
    UNIT,
    Token,
    Window,
    is_plain,
    may_be_led,
    new,
)
from textveil.text.names.words import JOINS, JOINS_INITIALS, LINE_BREAKS, Words
from textveil.text.segmentation import LOWER, TITLE, UPPER
from textveil.work_limits import STEP, check_work

#: Number of words in Title case from which a line counts as a headline; a shorter line may be a title or a band.
_LONG_HEADLINE = 7
#: Types of lower-case strings that do not occur in headlines.
_SMALL_KINDS = frozenset(load_data(ENTITY_TYPES)["headline"])
_MOST_CONNECTORS = 3
#: Number of strings per join.
_JOINED = 1 << 14
#: Layouts of ages and of area codes.
_AGES = frozenset(("1", "2", "3"))
#: Gaps between digits that open or close a bracket.
_OPENS_BRACKET, _CLOSES_BRACKET = " (", frozenset((")", ") "))
#: Characters before the number of a list item on its line, blanks after its mark, and the most digits of such a number.
_BEFORE_LISTED, _LONGEST_LISTED = load_data(CHARACTERS)["gaps"]["before_listed"], 2
_BLANKS = frozenset(load_data(CHARACTERS)["gaps"]["blanks_listed"])
_WITH_PLUS = frozenset((GROUP, "phone", "account"))


class Places(Words):
    """Slots of one text. It holds the words and gaps of some lines at a time.

    Args:
        windows: Tokens of the text.
        breaks: Whether the text has a line break.
        capitals: Whether any text of the document has a capital letter. If none has, words that may be names are
            replaced.
        rules: Rules of the language.

    Attributes:
        shown: Number of kept words; final after the last of ``entries``.
    """

    def __init__(self, windows: Iterable[Window], *, breaks: bool, capitals: bool, rules: Rules) -> None:
        super().__init__([], [], capitals=capitals, rules=rules)
        self._windows, self._breaks = windows, breaks
        self._spelled, self._special = list[str](), array("I")
        self._first = self._begin = 0  # first word of these lines, and first word after the last slot
        self._kept: list[str] = []  # text of earlier lines since the last slot
        self._counted = 0  # last list number that was kept
        self.shown: int = 0

    def entries(self) -> Iterator[Entry]:
        """Yield kept texts and slots in turn.

        They are yielded lazily: all at once need many times the memory of the text.
        """
        for window in self._windows:
            self._load_window(window)
            for start, end in self._lines():
                yield from self._line(start, end)
            self._kept.append("".join(self._spelled[2 * self._begin : -1]))
        self._kept.append(self._spelled[-1])
        yield "".join(self._kept)

    def _load_window(self, window: Window) -> None:
        """Load the next lines.

        The last word of the previous lines, as classified, and the gap after it remain.
        """
        words, spelled, self._special = window
        last, hidden = self._words[-1:], self._hidden[-1:]
        if last:
            words[0], spelled[2] = last[0], self._spelled[-1]
        self.load_words(words, spelled[::2])
        self._hidden[: len(last)] = hidden
        self._spelled, self._first = spelled, len(last)
        self._begin = self._first
        self.shown += len(words) - self._first

    def _lines(self) -> Iterator[tuple[int, int]]:
        start, end = self._first, len(self._words)
        for place in range(start + 1, end) if self._breaks else ():
            if not LINE_BREAKS.isdisjoint(self._gaps[place]):
                yield start, place
                start = place
        if self._special:
            yield start, end

    def _line(self, start: int, end: int) -> Iterator[Entry]:
        words, gaps, special = self._words, self._gaps, self._special
        if self._breaks:
            special = special[bisect_left(special, start) : bisect_left(special, end)]
        capitals = self._capitals_of(special, end)
        has_lower = not capitals or any(self._is_lower(words[at]) for at in range(start, end) if gaps[at] != "-")
        if capitals:
            self._hide(capitals, has_lower, end)
        for number, place in enumerate(special):
            if not number % STEP:
                check_work()
            if place < self._begin:
                continue
            token = words[place]
            if place == start and token.cls == DIGITS and self._counts_on(place, end):
                continue
            if not self._hidden[place] if token.cls >= CAPITAL else self._is_shown(place, end):
                continue
            found: list[Entry] = [self._take_kept(place)]
            if token.cls == SHOWN:
                stop = self._address(place, end)
                kind = "unit" if token.bits & UNIT and stop == place + 1 else "word"
                found.append(self._slot(kind, LOWER, "", place, stop))
            elif self._hidden[place]:
                stop = self._run(place, end, found, has_lower)
            elif token.cls == DIGITS:
                stop = self._digits(place, start, end, found)
            elif token.bits & OUTWARD and place + 1 < end and gaps[place + 1] == " " and words[place + 1].bits & INWARD:
                stop = place + 2
                found.append(self._slot("postcode", LOWER, "", place, stop))
            else:
                stop = place + 1
                found.append(self._slot(token.kind, token.case, token.layout, place, stop))
                named = token.kind == "word" and token.bits & NAMED and not self._capitals
                # A noun after a listed lower-case name is treated as a part of it (``martin short``).
                while named and stop < end and gaps[stop] == " " and _is_noun(words[stop]):
                    found += (" ", self._slot("word", LOWER, "", stop, stop + 1))
                    self._hidden[stop], named = True, words[stop].kind == NAME
                    stop += 1
            self.shown -= stop - place
            self._begin = stop
            yield from found

    def _take_kept(self, place: int) -> str:
        """Return the kept text between the last slot and the slot at ``place``."""
        text = "".join(self._spelled[2 * self._begin : 2 * place + 1])
        if self._kept:
            text = "".join((*self._kept, text))
            self._kept.clear()
        return text

    def _capitals_of(self, special: Sequence[int], end: int) -> list[int]:
        """Return the words of a line with a capital, and the particles before them.

        The method changes the class of these particles to ``CAPITAL``. Every other particle becomes an unlisted word,
        so a run has the same slots with a particle before it or without.
        """
        words, found = self._words, []
        for place in reversed(special):
            token = words[place]
            if token.cls == ALONE and token.kind == "particle":
                after = place + 1
                leads = after < end and words[after].cls >= CAPITAL and self._gaps[after] in JOINS
                token = words[place] = token._replace(cls=CAPITAL) if leads else token._replace(kind="word")
            if token.cls >= CAPITAL:
                found.append(place)
                if token.bits & FORM:
                    self._take_stop(place)
        return found[::-1]

    def _take_stop(self, place: int) -> None:
        """Add the full stop after the legal form of a firm to its slot if no sentence ends there."""
        gap, after = self._gaps[place + 1], self._words[place + 1 : place + 2]
        goes_on = gap == ". " and after and after[0].case == LOWER and after[0].cls not in (DIGITS, CAPITAL)
        if goes_on or gap.startswith((".,", ".)")):
            self._words[place] = self._words[place]._replace(text=f"{self._words[place].text}.")
            self._spelled[2 * place + 1] += "."
            self._gaps[place + 1] = self._spelled[2 * place + 2] = gap[1:]

    def _hide(self, capitals: Sequence[int], has_lower: bool, end: int) -> None:
        """Mark the capitalized words that are replaced, with the lower-case words on hyphens.

        A hyphen attaches a lower-case word to a capitalized one.
        """
        words = self._words
        titles = 1 if has_lower else sum(_is_title(words[place]) for place in capitals)
        if titles == 0 or titles >= _LONG_HEADLINE:
            for place in capitals:
                if self._is_led(place) or not words[place].bits & (AT_START | AT_SENTENCE):
                    self._hide_member(place, end)
            return
        together = [capitals[0]]
        for place in capitals[1:]:
            if not self._joined(together[0], together[-1], place, end):
                self._hide_together(together, end)
                together = []
            together.append(place)
        self._hide_together(together, end)

    def _is_led(self, place: int) -> bool:
        """Return whether a particle or initials precede a word, which excludes a headline word."""
        if place == 0:
            return False
        before, gap = self._words[place - 1], self._gaps[place]
        if before.bits & INITIALS or (before.cls == INITIAL and not before.bits):
            joins = JOINS_INITIALS | {" "} if before.bits else JOINS_INITIALS
            return gap in joins and may_be_led(self._words[place])
        return before.kind == "particle" and before.cls == CAPITAL

    def _hide_member(self, place: int, end: int) -> None:
        for at in range(place, self._member_end(place, end)):
            self._hidden[at] = True

    def _hide_together(self, places: Sequence[int], end: int) -> None:
        """Mark the hidden words of adjacent capitalized words, in a line that is not a headline.

        All hidden words of such a group form one slot. The choice of words only affects whether any word of the group
        is kept.
        """
        words, first = self._words, places[0]
        if words[first].bits & AT_START and self._opens(first):
            places = places[1:]
        elif words[first].bits & AT_SENTENCE and words[first].case == TITLE and self._starts_sentence(first):
            places = () if all(map(self._is_loud, places[1:])) else places
        if not all(map(self._is_loud, places)):
            for place in places:
                self._hide_member(place, end)

    def _run(self, start: int, end: int, found: list[Entry], has_lower: bool) -> int:
        """Append the slot of the run that begins at ``start``, and return the index after its end."""
        place, first = start + 1 if self._gaps[start + 1] != "-" else self._member_end(start, end), start
        while place < end:
            after = self._after_join(first, place, end)
            if after is None:
                break
            first = first if after == place else after  # connectors start a new group
            place = self._member_end(after, end)
        tokens, case = tuple(self._words[start:place]), UPPER
        for token in tokens:
            # Initials carry no case of their own, and no sentence ends at the full stop after one: both are public in
            # the template.
            if token.case != UPPER and token.cls == CAPITAL and token.kind != "particle":
                case = TITLE
        layout = ENDS_IN_INITIAL if tokens[-1].cls == INITIAL else ""
        kind = LONE_INITIAL if layout and len(tokens) == 1 else RUN
        titles = 0 if has_lower else sum(map(_is_title, tokens))
        before, gap = "", self._gaps[start]
        if gap == " " and start > self._begin and self._words[start - 1].cls == SHOWN:
            before = self._words[start - 1].key
        elif start and gap in (" ", ". ") and self._words[start - 1].kind == "title":
            before = TITLE_BEFORE
        text = tokens[0].text if len(tokens) == 1 else "".join(self._spelled[2 * start + 1 : 2 * place])
        found.append(new(Slot, (kind, case, layout, tokens, text, before, titles, "")))
        return place

    def _after_join(self, start: int, place: int, end: int) -> int | None:
        """Return the next member of a run whose last member ends at ``place``, or ``None``."""
        words, gaps, hidden = self._words, self._gaps, self._hidden
        if gaps[place] != " ":
            return place if hidden[place] and self._joins(start, place) else None
        if hidden[place]:
            return place
        after = place
        while (
            after < end
            and after - place < _MOST_CONNECTORS
            and words[after].cls == SHOWN
            and words[after].case == LOWER
            and words[after].key in self._rules.connectors
            and gaps[after] == " "
        ):
            after += 1
        if after in (place, end) or gaps[after] != " ":
            return None
        return after if hidden[after] else None

    def _digits(self, place: int, start: int, end: int, found: list[Entry]) -> int:
        """Append the slot of the digits at ``place``, and return the index after its end."""
        token = self._words[place]
        short = token.kind == "number" and token.layout in _AGES
        if short and self._is_age(place, start, end):
            found.append(self._slot("age", LOWER, "", place, place + 1))
            return place + 1
        if self._beside_month(place, start, end):
            day = token.kind == "number" and token.layout in ("1", "2")
            found.append(self._slot("day" if day else token.kind, LOWER, "" if day else token.layout, place, place + 1))
            return place + 1
        last = self._digits_end(place, start, end)
        slot = self._slot(token.kind if last == place + 1 else GROUP, LOWER, token.layout, place, last)
        # The sign of an international number and a bracket that closes inside the number belong to its slot. This holds
        # only if the rest of the gap joins nothing, so that a second pass over the template finds the same slots.
        sign = self._gaps[place][-1:]
        belongs = (sign == "+" and slot.kind in _WITH_PLUS) or (sign == "(" and ")" in slot.text)
        if belongs and self._is_apart(place, start):
            found[-1] = str(found[-1])[:-1]
            slot = slot._replace(text=sign + slot.text)
        found.append(slot)
        return last

    def _is_apart(self, place: int, start: int) -> bool:
        """Return whether the gap before digits joins nothing once the sign at its end is removed."""
        before = self._gaps[place][:-1]
        spaced = before[-1].isspace() if before else place == start
        return spaced and (place == start or self._words[place - 1].cls != DIGITS or before not in JOINS_DIGITS)

    def _digits_end(self, place: int, start: int, end: int) -> int:
        """Return the index after the digits that form one slot with the digits at ``place``.

        A bracket opens before the first digits or after short ones (``+49 (30) 1234``), and closes before further
        digits.
        """
        is_open = self._gaps[place][-1:] == "(" and self._is_apart(place, start)
        last = place + 1
        while self._is_joined(last, start, end):
            gap = self._gaps[last]
            if gap == _OPENS_BRACKET:
                if is_open or last > place + 1 or not self._opens_code(place, start, end):
                    break
                is_open = True
            elif gap in _CLOSES_BRACKET:
                if not is_open:
                    break
                is_open = False
            last += 1
        return last

    def _opens_code(self, place: int, start: int, end: int) -> bool:
        """Return whether the digits are short and a bracket follows with digits inside and after it."""
        token = self._words[place]
        if token.kind != "number" or token.layout not in _AGES:
            return False
        last = place + 2
        while self._is_joined(last, start, end) and self._gaps[last] not in _CLOSES_BRACKET:
            if self._gaps[last] == _OPENS_BRACKET:
                return False
            last += 1
        return self._is_joined(last, start, end)

    def _is_joined(self, place: int, start: int, end: int) -> bool:
        """Return whether joined digits without an adjacent month are at ``place``."""
        if place >= end or self._words[place].cls != DIGITS or self._gaps[place] not in JOINS_DIGITS:
            return False
        return not self._beside_month(place, start, end)

    def _counts_on(self, place: int, end: int) -> bool:
        """Return whether the first word of a line is the next number of a list, or 1, and is kept.

        If it is, the method stores the number.
        """
        number, gap = self._words[place].text, self._gaps[place + 1]
        if number not in ("1", str(self._counted + 1)) or len(number) > _LONGEST_LISTED:
            return False
        before = self._gaps[place].rstrip(_BEFORE_LISTED)
        if gap[:1] not in (".", ")") or _BLANKS.isdisjoint(gap) or before[-1:] not in LINE_BREAKS | {""}:
            return False
        if self._digits_end(place, place, end) > place + 1:
            return False
        self._counted = int(number)
        return True

    def _joined_text(self, start: int, stop: int) -> str:
        """Return the joined text of some strings, in small steps so that other threads can run."""
        if stop - start <= _JOINED:
            return "".join(self._spelled[start:stop])
        parts = ["".join(self._spelled[at : min(at + _JOINED, stop)]) for at in range(start, stop, _JOINED)]
        return "".join(parts)

    def _slot(self, kind: str, case: int, layout: str, start: int, end: int) -> Slot:
        text = self._joined_text(2 * start + 1, 2 * end)
        return new(Slot, (kind, case, layout, tuple(self._words[start:end]), text, "", 0, ""))

    def _is_lower(self, token: Token) -> bool:
        """Return whether a token is a lower-case word that does not occur in headlines."""
        if token.case != LOWER:
            return False
        if token.cls == SHOWN:
            return token.key not in self._rules.headline_words and token.key[0].isalpha()
        return token.cls == LOOSE or (token.cls == ALONE and token.kind in _SMALL_KINDS)


def _is_noun(token: Token) -> bool:
    """Return whether a kept word may be a part of the name before it."""
    return token.kind != "" and is_plain(token._replace(bits=token.bits & ~NUMBER))


def _is_title(token: Token) -> bool:
    return token.cls == CAPITAL and token.case == TITLE
