"""Joining of numbers between which only single blanks or round brackets are.

Grammar: ``D = E (" "? E)*``, ``E = number | "(" D ")"``. A string is a D up to its last number outside of brackets; a
bracketed part after that number is read separately. So every string of numbers ends in a number, whatever it looks
like, and the text after it does not depend on which string it is. A string that begins with a bracket never touches the
text before it.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator

import regex

from textveil.lazy import LatePattern
from textveil.text.segmentation.characters import ANY, BETWEEN, BREAK_BEFORE, HARD, SOFT, TRIM, TRIMMED, Span, word

_BETWEEN = LatePattern(re.compile, f"[{BETWEEN}]+")
_SOLID = LatePattern(regex.compile, rf"[^\p{{White_Space}}{HARD}{SOFT}{TRIM}]")
_BRACKETED = LatePattern(regex.compile, rf"[(\[{{]{word(ANY)}[)\]}}]", regex.V1)


class NumberGroup:
    """Numbers with only blanks and brackets between them, and the strings that they form.

    Args:
        text: The whole text.
        after: End of the string before the numbers.
        first: The first number.

    Attributes:
        end: End of the last number.
    """

    def __init__(self, text: str, after: int, first: Span) -> None:
        self._text, self._after, self._first = text, after, first
        self._joined: _Joined | None = None  # created at the second number
        self.end: int = first[1]

    def goes_on_to(self, start: int) -> bool:
        """Return whether a number that begins at ``start`` belongs to this group."""
        return _BETWEEN.fullmatch(self._text, self.end, start) is not None

    def add(self, number: Span) -> Iterator[Span]:
        """Add the next number and yield the strings that are now complete."""
        self.end = number[1]
        if self._joined is None:
            place = self._first[0]
            while place > self._after and self._text[place - 1] == "(":
                place -= 1
            self._joined = _Joined(self._text, place)
            yield from self._joined.read(self._first)
        yield from self._joined.read(number)

    def close(self) -> Iterable[Span]:
        """Return the remaining strings, after the last number."""
        return (self._first,) if self._joined is None else self._joined.give_up()


class _Joined:
    """Reader of several numbers and the characters between them, from the left.

    It stores positions only, in arrays: an open bracket or an incomplete string needs a few bytes.
    """

    def __init__(self, text: str, place: int) -> None:
        self._text, self._place = text, place
        self._number = "I" if len(text) < 1 << 32 else "Q"  # four bytes, or eight
        self._begin = place  # start of the outermost D
        self._wait_for_nothing()

    def read(self, number: Span) -> Iterator[Span]:
        """Read up to the end of a number and yield the strings that are now complete."""
        for place in range(self._place, number[0]):
            yield from self._mark(place)
        if not self._open and not self._starts:
            self._begin = number[0]
        # Together with the part of its D before it, the number is one string.
        start = self._open[-1] + 1 if self._open else self._begin
        first = bisect_left(self._starts, start)
        del self._starts[first:], self._ends[first:]
        self._starts.append(start)
        self._ends.append(number[1])
        self._place, self._blank = number[1], False

    def give_up(self) -> Iterable[Span]:
        """Return the pending strings, which no later number can join."""
        found = zip(self._starts, self._ends, strict=True)
        self._wait_for_nothing()
        return found

    def _wait_for_nothing(self) -> None:
        self._open = array(self._number)  # positions of open brackets
        self._starts, self._ends = array(self._number), array(self._number)  # the pending strings
        self._blank = False  # whether the last character was a blank

    def _mark(self, place: int) -> Iterable[Span]:
        """Read a bracket or a blank and return the strings that it completes."""
        mark = self._text[place]
        waits = not self._blank and len(self._starts) > 0 and (not self._open or self._starts[-1] > self._open[-1])
        if mark == "(":
            if not self._open and not self._starts:
                if _touched(self._text, place - 1):
                    return ()  # the text before the bracket would touch the number
                self._begin = place
            self._open.append(place)
            self._blank = False
        elif not waits or (mark == ")" and not self._open):
            return self.give_up()
        elif mark == ")":
            self._open.pop()
        else:
            self._blank = True
        return ()


def _touched(text: str, place: int) -> bool:
    """Return whether the text up to ``place`` would touch a number after it.

    It would if it ends in a run, in marks after a run, or in a bracketed word after a run.
    """
    if place >= 0 and text[place] in ")]}":
        before = BREAK_BEFORE.search(text, 0, place)
        if before is None or not _BRACKETED.fullmatch(text, before.start(), place + 1):
            return False
        return before.start() > 0 and _SOLID.match(text, before.start() - 1) is not None
    while place >= 0 and text[place] in TRIMMED:
        place -= 1
    return place >= 0 and _SOLID.match(text, place) is not None
