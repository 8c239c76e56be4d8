"""Joins numbers in words, and names spelled letter by letter, into one token each before slots are found.

``five five oh one`` and ``k-o-v-a-c-s`` say what ``5501`` and ``Kovacs`` say. Reads classes, gaps and, of number words
and letters, which of a few classes they are of: any other of a class leaves the tokens joined as they are
(docs/proofs/names.md).
"""

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from textveil.text.names.tokens import (
    ALONE,
    CAPITAL,
    CLITIC,
    DIGITS,
    INITIAL,
    INITIALS,
    LOOSE,
    NUMBER,
    SHOWN,
    Token,
    may_be_led,
)
from textveil.text.segmentation import LOWER, TITLE, UPPER

#: The kinds of joined tokens.
SPELLED_NUMBER, SPELLED_LETTERS = "spelled-number", "spelled-letters"
#: Classes of elements: up to ten and digits, words of the list ``number-word``, scales, multipliers; connectors.
ONES, LISTED, SCALE, TIMES, AND, POINT = "dwsxap"
#: What digits are until they are joined: those beside each other are one element, since they may be one number.
DIGITS_TOO = "n"
#: Words by class, of those that no list of the bundle has as ``number-word`` in lower case.
NUMBER_WORDS = {
    **dict.fromkeys("zero one two three four five six seven eight nine ten oh".split(), ONES),
    **dict.fromkeys("hundred thousand million billion trillion".split(), SCALE),
    **dict.fromkeys("double triple treble".split(), TIMES),
}
#: Words that stand between elements.
CONNECTORS = {"and": AND, "point": POINT}
#: Words that make no number by themselves: *oh oh oh*.
WEAK = frozenset(("oh", "o", "double", "triple", "treble"))
#: The fewest elements that are joined, and the most in one token.
LEAST_SPELLED, MOST_SPELLED = 3, 12
#: Marks of which one may stand between elements, and gaps beside those: of numbers, and of letters.
JOINS_SPELLED = frozenset("-\u2010\u2011\u2013\u2014,/")
JOINS_LETTERS = JOINS_SPELLED | {"."}
#: Gaps between digits that are one group, as where slots are found.
JOINS_DIGITS = frozenset((" ", "-", "\u00a0", ") ", ")", " (", "\u2013"))
#: Tokens that move together.
_BLOCK = 1 << 10
_BLANKS = " \u00a0\t\r\n"
#: Marks behind which a lone letter is a clitic.
APOSTROPHES = ("'", "\u2019", "\u2018", "\u00b4")
#: Gaps that join words of a name, and that join initials to the name behind them.
_JOINS = frozenset((" ", "-", "\u00a0", "\u2010", "\u2011", " & "))
_JOINS_NAMES = frozenset((" ", ". ", ".", "-", "\u00a0"))


@dataclass(frozen=True, kw_only=True)
class _Span:
    """Tokens that are joined: their places; and, of those that count, the places and, of numbers, the classes."""

    kind: str
    start: int
    stop: int
    places: Sequence[int]
    classes: Sequence[str] = ()


def join_spelled(words: list[Token], spelled: list[str], special: "array[int]") -> None:
    """Join each spelled number or name of a text into one token, in the lists that are given.

    A joined token takes the place of its first element and what follows moves up, so no list is copied: together they
    take many times the text.

    Args:
        words: Its tokens that are not gaps.
        spelled: What stands before each, its text, and so on, and what stands at the end.
        special: Which of them are not plainly shown.
    """
    numbers = any(words[at].bits & NUMBER for at in special)
    letters = any(_is_letter(words[at]) for at in special)
    if not numbers and not letters:
        return
    reader = _Reader(words, spelled)
    found, looked = array("I"), 0  # what becomes of ``special``, and how many of it were looked at
    last, filled, position = spelled[-1], 0, 0  # the tokens before ``position`` became those before ``filled``
    for span in chain(reader.spans(special, numbers=numbers, letters=letters), (None,)):
        stop = len(words) if span is None else span.start
        while looked < len(special) and special[looked] < stop:
            if special[looked] >= position:
                found.append(special[looked] - position + filled)
            looked += 1
        for start in range(position, stop, _BLOCK) if filled < position else ():
            end, to = min(start + _BLOCK, stop), start - position + filled
            words[to : to + end - start] = words[start:end]
            spelled[2 * to : 2 * (to + end - start)] = spelled[2 * start : 2 * end]
        filled, position = filled + stop - position, stop
        for start, end, token in () if span is None else reader.join_span(span):
            found.append(filled)
            words[filled], spelled[2 * filled], spelled[2 * filled + 1] = token, spelled[2 * start], token.text
            filled, position = filled + 1, end
    del words[filled:], spelled[2 * filled :]
    spelled.append(last)
    special[:] = found


def may_reach_over(words: Sequence[Token], spelled: Sequence[str], place: int) -> bool:
    """Return whether a spelled number or name may have the tokens on both sides of the gap before a place."""

    def may_be_of_one(token: Token) -> bool:
        return token.bits & NUMBER > 0 or token.cls == DIGITS or _is_letter(token) or token.key in CONNECTORS

    both = may_be_of_one(words[place - 1]) and may_be_of_one(words[place])
    return both and _Reader(words, spelled).joins(place, JOINS_LETTERS)


class _Reader:
    """Finds spelled numbers and names among the tokens of a text."""

    def __init__(self, words: Sequence[Token], spelled: Sequence[str]) -> None:
        self._words, self._spelled = words, spelled

    def spans(self, special: Sequence[int], *, numbers: bool, letters: bool) -> Iterator[_Span]:
        """Yield what is joined, from left to right; numbers come before letters."""
        position = tried = tried_letters = 0  # a part of what is too short is too short
        for place in special:
            if place < position:
                continue
            span = None
            if numbers and place >= tried and self._element(place):
                span, tried = self._number(place)
            if span is None and letters and place >= tried_letters and self._is_element(place):
                span, tried_letters = self._letters(self._begin_letters(place, position))
            if span is not None:
                yield span
                position = span.stop

    def join_span(self, span: _Span) -> Iterator[tuple[int, int, Token]]:
        """Yield the tokens that stand for a span, each with its first place and the one behind its last."""
        for first in range(0, len(span.places), MOST_SPELLED):
            after = first + MOST_SPELLED
            places = span.places[first:after]
            start, stop = places[0], span.places[after] if after < len(span.places) else span.stop
            text = "".join(self._spelled[2 * start + 1 : 2 * stop])
            tokens = [self._words[at] for at in places]
            keys = [token.key for token in self._words[start:stop]]
            if span.kind == SPELLED_LETTERS:
                case = UPPER if all(token.case != LOWER for token in tokens) else LOWER
                token = Token(ALONE, text, "".join(keys), case, span.kind, str(len(places)))
            else:
                layout = "".join(span.classes[first:after])
                token = Token(ALONE, text, " ".join(keys), _case_of(tokens), span.kind, layout)
            yield start, stop, token

    # --- numbers

    def _element(self, place: int) -> str:
        """The class of an element of a number; nothing for any other token."""
        token = self._words[place]
        if token.bits & NUMBER:
            return NUMBER_WORDS.get(token.key, LISTED) if token.kind != "number-word" else LISTED
        if self._is_digits(place):
            return DIGITS_TOO
        return ONES if token.key == "o" and _is_letter(token) else ""

    def _is_digits(self, place: int) -> bool:
        """Whether a token is digits without a unit behind them."""
        after = place + 1
        return self._words[place].cls == DIGITS and (after == len(self._words) or self._spelled[2 * after] != "")

    def _number(self, start: int) -> tuple[_Span | None, int]:
        """Return the number that begins at a place, if one does, and where its elements end."""
        words, place = self._words, start + 1
        places, classes = array("I", (start,)), [self._element(start)]
        while place < len(words):
            if words[place - 1].cls == DIGITS and self._is_digits(place) and self._spelled[2 * place] in JOINS_DIGITS:
                classes.append("")  # of one group
            elif not self.joins(place, JOINS_SPELLED):
                break
            elif of := self._element(place):
                classes.append("" if of == DIGITS_TOO and classes[-1] in ("", of) else of)
            elif self._connects(place):
                places.append(place)
                classes += CONNECTORS[words[place].key], self._element(place + 1)
                place += 1
            else:
                break
            places.append(place)
            place += 1
        stop = place
        while classes and classes[-1] == TIMES:
            classes.pop()
        del places[len(classes) :]
        count = sum(of not in ("", AND, POINT) for of in classes)
        strong = any(words[at].bits & NUMBER and words[at].key not in WEAK for at in places)
        if count < LEAST_SPELLED or not strong:
            return None, stop
        last = places[-1] + 1
        counted = array("I", (at for at, of in zip(places, classes, strict=True) if of))
        classes = [ONES if of == DIGITS_TOO else of for of in classes if of]
        return _Span(kind=SPELLED_NUMBER, start=start, stop=last, places=counted, classes=classes), stop

    def _connects(self, place: int) -> bool:
        """Whether a word stands between two elements."""
        token, after = self._words[place], place + 1
        if token.cls != SHOWN or token.case != LOWER or token.key not in CONNECTORS or after == len(self._words):
            return False
        return self.joins(after, JOINS_SPELLED) and self._element(after) != ""

    # --- letters

    def _begin_letters(self, place: int, least: int) -> int:
        """Where the letters begin that lead to one: *a* is plainly shown, and may stand before it."""
        while place > least and self._is_element(place - 1) and self.joins(place, JOINS_LETTERS):
            place -= 1
        return place

    def _is_element(self, place: int) -> bool:
        token, gap = self._words[place], self._spelled[2 * place]
        if token.bits & CLITIC and gap.rstrip(" ").endswith(APOSTROPHES):
            return False
        inside = gap == "." or (self._spelled[2 * place + 2] == "." and place + 1 < len(self._words))
        dotted = inside and token.cls == SHOWN  # a word of several: *old.a*, but not the last one of a text
        return _is_letter(token) and not dotted and (gap != "" or place == 0)  # 5s

    def _letters(self, start: int) -> tuple[_Span | None, int]:
        """Return the letters that begin at a place, if they are joined, and where they end."""
        words, place = self._words, start
        while place < len(words) and self._is_element(place) and (place == start or self.joins(place, JOINS_LETTERS)):
            place += 1
        stop, leads = place, self._leads(place)
        while leads and stop > start and words[stop - 1].case != LOWER and self._spelled[2 * stop] in _JOINS_NAMES:
            stop -= 1  # initials of a name
        if stop - start < LEAST_SPELLED:
            return None, place
        return _Span(kind=SPELLED_LETTERS, start=start, stop=stop, places=range(start, stop)), place

    def _leads(self, place: int) -> bool:
        """Whether initials before a place are of the name that begins there, perhaps with particles."""
        words = self._words
        if place == len(words) or self._spelled[2 * place] not in _JOINS_NAMES:
            return False
        if may_be_led(words[place]) or (words[place].cls == CAPITAL and "." not in self._spelled[2 * place]):
            return True
        while words[place].kind == "particle" and place + 1 < len(words) and self._spelled[2 * place + 2] in _JOINS:
            place += 1
            if words[place].cls in (CAPITAL, INITIAL):
                return True
        return False

    def joins(self, place: int, marks: Collection[str]) -> bool:
        """Whether the gap before a token has blanks, at most one mark and at most one line end."""
        gap = self._spelled[2 * place]
        if gap in (" ", "-"):
            return True
        if self._words[place].cls == DIGITS:
            gap = gap.rstrip("+(")
        rest = gap.strip(_BLANKS)
        return gap == "." or (gap != "" and (not rest or rest in marks) and gap.count("\n") <= 1)


def _is_letter(token: Token) -> bool:
    """Whether a token is a letter that stands alone, or initials with dots."""
    if len(token.text) > 1:
        return token.bits & INITIALS > 0
    return token.cls in (SHOWN, LOOSE, INITIAL) or token.kind in ("letter", "particle")


def _case_of(tokens: Sequence[Token]) -> int:
    """The case of a number in words: that of its first word, but capitals only where all words have them."""
    words = [token for token in tokens if len(token.text) > 1 and token.cls != DIGITS and token.key not in CONNECTORS]
    if words and all(token.case == UPPER for token in words):
        return UPPER
    return LOWER if tokens[0].case == LOWER else TITLE
