"""Merger of numbers in words and of names spelled letter by letter, before slots are found.

``five five oh one`` and ``k-o-v-a-c-s`` carry the same information as ``5501`` and ``Kovacs``, so each becomes one
token. The module reads classes, gaps and, of number words and letters, only which of a few element classes they belong
to. Any other word of the same element class leaves the merged tokens the same (docs/proofs/names.md).
"""

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from textveil.bundle.rules import Rules
from textveil.lazy import CHARACTERS, load_data
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

#: The types of merged tokens.
SPELLED_NUMBER, SPELLED_LETTERS = "spelled-number", "spelled-letters"
#: Element classes: up to ten and digits, words of the list ``number-word``, scales, multipliers; connectors.
ONES, LISTED, SCALE, TIMES, AND, POINT = "dwsxap"
#: Element class of digits before merging. Adjacent digits are one element, since they may be one number.
DIGITS_TOO = "n"
#: The fewest elements that are merged, and the most in one token.
LEAST_SPELLED, MOST_SPELLED = 3, 12
#: Marks of which one may separate two elements: of numbers, and of letters. Blanks are allowed in addition.
_GAPS = load_data(CHARACTERS)["gaps"]
JOINS_SPELLED, JOINS_LETTERS = frozenset(_GAPS["joins_spelled"]), frozenset(_GAPS["joins_letters"])
#: Gaps between digits of one group, as in the search for slots.
JOINS_DIGITS = frozenset(_GAPS["joins_digits"])
#: Number of tokens per move.
_BLOCK = 1 << 10
_BLANKS = _GAPS["blanks"]
#: Marks after which a single letter is a clitic.
APOSTROPHES = tuple(_GAPS["apostrophes"])
#: Gaps that join the words of a name, and gaps that join initials to the name after them.
_JOINS, _JOINS_NAMES = frozenset(_GAPS["joins"]), frozenset(_GAPS["joins_names"])


@dataclass(frozen=True, kw_only=True)
class _Span:
    """Tokens to merge.

    ``start`` and ``stop`` are the range of the span. ``places`` has the indices of the counted elements, and for
    numbers ``classes`` has their element classes.
    """

    kind: str
    start: int
    stop: int
    places: Sequence[int]
    classes: Sequence[str] = ()


def join_spelled(words: list[Token], spelled: list[str], special: "array[int]", rules: Rules) -> None:
    """Merge each spelled number or name of a text into one token, in place.

    A merged token replaces its first element, and later tokens move up. No list is copied, since the lists need many
    times the memory of the text.

    Args:
        words: Tokens of the text that are not gaps.
        spelled: The gap before each token and its text, in turn, and the gap at the end.
        special: Indices of the tokens that are not plainly kept.
        rules: Rules of the language.
    """
    numbers = any(words[at].bits & NUMBER for at in special)
    letters = any(_is_letter(words[at]) for at in special)
    if not numbers and not letters:
        return
    reader = _Reader(words, spelled, rules)
    found, looked = array("I"), 0  # the new ``special``, and the number of its old entries that are done
    last, filled, position = spelled[-1], 0, 0  # tokens before ``position`` have moved to the range before ``filled``
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


def may_reach_over(words: Sequence[Token], spelled: Sequence[str], place: int, rules: Rules) -> bool:
    """Return whether a spelled number or name may extend over the gap before a token."""

    def may_be_of_one(token: Token) -> bool:
        is_number = token.bits & NUMBER > 0 or token.cls == DIGITS or token.key in rules.number_connectors
        return is_number or _is_letter(token)

    both = may_be_of_one(words[place - 1]) and may_be_of_one(words[place])
    return both and _Reader(words, spelled, rules).joins(place, JOINS_LETTERS)


class _Reader:
    """Finder of spelled numbers and names among the tokens of a text."""

    def __init__(self, words: Sequence[Token], spelled: Sequence[str], rules: Rules) -> None:
        self._words, self._spelled, self._rules = words, spelled, rules

    def spans(self, special: Sequence[int], *, numbers: bool, letters: bool) -> Iterator[_Span]:
        """Yield the spans to merge, from left to right; numbers have precedence over letters."""
        position = tried = tried_letters = 0  # a part of a span that is too short is also too short
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
        """Yield the merged tokens of a span, each with its first index and the index after its last."""
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
                token = Token(ALONE, text, " ".join(keys), self._case_of(tokens), span.kind, layout)
            yield start, stop, token

    # --- numbers

    def _element(self, place: int) -> str:
        """Return the element class of a token of a number; an empty string for any other token."""
        token = self._words[place]
        if token.bits & NUMBER:
            return self._rules.number_words.get(token.key, LISTED) if token.kind != "number-word" else LISTED
        if self._is_digits(place):
            return DIGITS_TOO
        return ONES if token.key in self._rules.number_letters and _is_letter(token) else ""

    def _is_digits(self, place: int) -> bool:
        """Return whether a token is digits without a unit after them."""
        after = place + 1
        return self._words[place].cls == DIGITS and (after == len(self._words) or self._spelled[2 * after] != "")

    def _number(self, start: int) -> tuple[_Span | None, int]:
        """Return the number that begins at an index, or ``None``, and the index after its elements."""
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
                classes += self._rules.number_connectors[words[place].key], self._element(place + 1)
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
        strong = any(words[at].bits & NUMBER and words[at].key not in self._rules.weak_numbers for at in places)
        if count < LEAST_SPELLED or not strong:
            return None, stop
        last = places[-1] + 1
        counted = array("I", (at for at, of in zip(places, classes, strict=True) if of))
        classes = [ONES if of == DIGITS_TOO else of for of in classes if of]
        return _Span(kind=SPELLED_NUMBER, start=start, stop=last, places=counted, classes=classes), stop

    def _connects(self, place: int) -> bool:
        """Return whether a word is a connector between two elements."""
        token, after = self._words[place], place + 1
        if token.cls != SHOWN or token.case != LOWER or after == len(self._words):
            return False
        if token.key not in self._rules.number_connectors:
            return False
        return self.joins(after, JOINS_SPELLED) and self._element(after) != ""

    # --- letters

    def _begin_letters(self, place: int, least: int) -> int:
        """Return the index of the first of the letters that precede a letter without a break.

        *a* is plainly kept, and may precede the given letter.
        """
        while place > least and self._is_element(place - 1) and self.joins(place, JOINS_LETTERS):
            place -= 1
        return place

    def _is_element(self, place: int) -> bool:
        token, gap = self._words[place], self._spelled[2 * place]
        if token.bits & CLITIC and gap.rstrip(" ").endswith(APOSTROPHES):
            return False
        inside = gap == "." or (self._spelled[2 * place + 2] == "." and place + 1 < len(self._words))
        dotted = inside and token.cls == SHOWN  # one of several words, *old.a*, but not the last one of a text
        return _is_letter(token) and not dotted and (gap != "" or place == 0)  # 5s

    def _letters(self, start: int) -> tuple[_Span | None, int]:
        """Return the letters that begin at an index, or ``None``, and the index after them.

        The result is ``None`` if too few letters remain without the initials of a name.
        """
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
        """Return whether initials before an index belong to a name there, perhaps with particles."""
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
        """Return whether the gap before a token has blanks, at most one mark and one line end."""
        gap = self._spelled[2 * place]
        if gap in (" ", "-"):
            return True
        if self._words[place].cls == DIGITS:
            gap = gap.rstrip("+(")
        rest = gap.strip(_BLANKS)
        return gap == "." or (gap != "" and (not rest or rest in marks) and gap.count("\n") <= 1)

    def _case_of(self, tokens: Sequence[Token]) -> int:
        """Return the case pattern of a number in words.

        It is the pattern of its first word, but capitals only if all words have them.
        """
        connectors = self._rules.number_connectors
        words = [
            token for token in tokens if len(token.text) > 1 and token.cls != DIGITS and token.key not in connectors
        ]
        if words and all(token.case == UPPER for token in words):
            return UPPER
        return LOWER if tokens[0].case == LOWER else TITLE


def _is_letter(token: Token) -> bool:
    """Return whether a token is a single letter, or initials with dots."""
    if len(token.text) > 1:
        return token.bits & INITIALS > 0
    return token.cls in (SHOWN, LOOSE, INITIAL) or token.kind in ("letter", "particle")
