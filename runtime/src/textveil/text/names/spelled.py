"""Joins numbers in words, and names spelled letter by letter, into one token each before slots are found.

``five five oh one`` and ``k-o-v-a-c-s`` say what ``5501`` and ``Kovacs`` say. Reads classes, gaps and, of number words
and letters, which of a few classes they are of: any other of a class leaves the tokens joined as they are
(docs/proofs/names.md).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

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
_BLANKS = " \u00a0\t\r\n"
#: Marks behind which a lone letter is a clitic.
APOSTROPHES = ("'", "\u2019", "\u2018", "\u00b4")
#: Gaps that join words of a name, and that join initials to the name behind them.
_JOINS = frozenset((" ", "-", "\u00a0", "\u2010", "\u2011", " & "))
_JOINS_NAMES = frozenset((" ", ". ", ".", "-", "\u00a0"))


@dataclass(frozen=True, kw_only=True)
class _Span:
    """Tokens that are joined: their places, and of those that count the place and the class."""

    kind: str
    start: int
    stop: int
    elements: Sequence[tuple[int, str]]


def join_spelled(
    words: list[Token], spelled: list[str], special: Sequence[int]
) -> tuple[list[Token], list[str], Sequence[int]]:
    """Return the tokens of a text with each spelled number or name as one.

    Args:
        words: Its tokens that are not gaps.
        spelled: What stands before each, its text, and so on, and what stands at the end.
        special: Which of them are not plainly shown.

    Returns:
        The same three of the joined tokens.
    """
    numbers = sum(1 for at in special if words[at].bits & NUMBER)
    letters = sum(1 for at in special if _is_letter(words[at]))
    if not numbers and not letters:
        return words, spelled, special
    reader = _Reader(words, spelled)
    spans = list(reader.spans(special, numbers=numbers > 0, letters=letters > 0))
    if not spans:
        return words, spelled, special
    found_words, found_spelled, found_special = list[Token](), list[str](), list[int]()
    marked, position = set(special), 0
    for span in [*spans, None]:
        stop = len(words) if span is None else span.start
        found_special += [len(found_words) + at - position for at in range(position, stop) if at in marked]
        found_words += words[position:stop]
        found_spelled += spelled[2 * position : 2 * stop]
        if span is None:
            break
        for start, end, token in reader.joined(span):
            found_special.append(len(found_words))
            found_words.append(token)
            found_spelled += (spelled[2 * start], token.text)
            position = end
    return found_words, [*found_spelled, spelled[-1]], found_special


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

    def joined(self, span: _Span) -> Iterator[tuple[int, int, Token]]:
        """Yield the tokens that stand for a span, each with the first and last place that it has."""
        for first in range(0, len(span.elements), MOST_SPELLED):
            elements, rest = span.elements[first : first + MOST_SPELLED], span.elements[first + MOST_SPELLED :]
            start, stop = elements[0][0], rest[0][0] if rest else span.stop
            text = "".join(self._spelled[2 * start + 1 : 2 * stop])
            tokens = [self._words[at] for at, _ in elements]
            keys = [token.key for token in self._words[start:stop]]
            if span.kind == SPELLED_LETTERS:
                case = UPPER if all(token.case != LOWER for token in tokens) else LOWER
                token = Token(ALONE, text, "".join(keys), case, span.kind, str(len(elements)))
            else:
                layout = "".join(of for _, of in elements)
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
        elements, of = [(start, self._element(start))], ""
        while place < len(words):
            if words[place - 1].cls == DIGITS and self._is_digits(place) and self._spelled[2 * place] in JOINS_DIGITS:
                elements.append((place, ""))  # of one group
            elif not self._joins(place, JOINS_SPELLED):
                break
            elif of := self._element(place):
                elements.append((place, "" if of == DIGITS_TOO and elements[-1][1] in ("", of) else of))
            elif self._connects(place):
                elements += [(place, CONNECTORS[words[place].key]), (place + 1, self._element(place + 1))]
                place += 1
            else:
                break
            place += 1
        stop = place
        while elements and elements[-1][1] == TIMES:
            elements.pop()
        count = sum(of not in ("", AND, POINT) for _, of in elements)
        strong = any(words[at].bits & NUMBER and words[at].key not in WEAK for at, _ in elements)
        if count < LEAST_SPELLED or not strong:
            return None, stop
        last = elements[-1][0] + 1
        counted = [(at, ONES if of == DIGITS_TOO else of) for at, of in elements if of]
        return _Span(kind=SPELLED_NUMBER, start=start, stop=last, elements=counted), stop

    def _connects(self, place: int) -> bool:
        """Whether a word stands between two elements."""
        token, after = self._words[place], place + 1
        if token.cls != SHOWN or token.case != LOWER or token.key not in CONNECTORS or after == len(self._words):
            return False
        return self._joins(after, JOINS_SPELLED) and self._element(after) != ""

    # --- letters

    def _begin_letters(self, place: int, least: int) -> int:
        """Where the letters begin that lead to one: *a* is plainly shown, and may stand before it."""
        while place > least and self._is_element(place - 1) and self._joins(place, JOINS_LETTERS):
            place -= 1
        return place

    def _is_element(self, place: int) -> bool:
        token, gap = self._words[place], self._spelled[2 * place]
        if token.bits & CLITIC and gap.rstrip(" ").endswith(APOSTROPHES):
            return False
        dotted = token.cls == SHOWN and "." in (gap, self._spelled[2 * place + 2])  # a word of several: *old.a*
        return _is_letter(token) and not dotted and (gap != "" or place == 0)  # 5s

    def _letters(self, start: int) -> tuple[_Span | None, int]:
        """Return the letters that begin at a place, if they are joined, and where they end."""
        words, place = self._words, start
        while place < len(words) and self._is_element(place) and (place == start or self._joins(place, JOINS_LETTERS)):
            place += 1
        stop = place
        while self._leads(place) and stop > start and words[stop - 1].case != LOWER:
            stop -= 1  # initials of a name
        if stop - start < LEAST_SPELLED:
            return None, place
        letters = [(at, "") for at in range(start, stop)]
        return _Span(kind=SPELLED_LETTERS, start=start, stop=stop, elements=letters), place

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

    def _joins(self, place: int, marks: Collection[str]) -> bool:
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
