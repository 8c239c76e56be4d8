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

from textveil.lazy import LazyPattern
from textveil.text.segmentation.characters import (
    BREAK_BEFORE,
    HARD_BREAKS,
    NUMBER_SEPARATORS,
    SOFT_BREAKS,
    TRIM_PATTERN,
    TRIMMED_MARKS,
    UNICODE_CLASSES,
    TextSpan,
    make_word_pattern,
)

_SEPARATORS = LazyPattern(re.compile, f"[{NUMBER_SEPARATORS}]+")
_SOLID = LazyPattern(regex.compile, rf"[^\p{{White_Space}}{HARD_BREAKS}{SOFT_BREAKS}{TRIM_PATTERN}]")
_BRACKETED = LazyPattern(regex.compile, rf"[(\[{{]{make_word_pattern(UNICODE_CLASSES)}[)\]}}]", regex.V1)


class NumberGroup:
    """Numbers with only blanks and brackets between them, and the strings that they form.

    Args:
        text: The whole text.
        after: End of the string before the numbers.
        first: The first number.

    Attributes:
        end: End of the last number.
    """

    def __init__(self, text: str, after: int, first: TextSpan) -> None:
        self._text, self._after, self._first = text, after, first
        self._joiner: _NumberJoiner | None = None  # created at the second number
        self.end: int = first[1]

    def accepts_number_at(self, start: int) -> bool:
        """Return whether a number that begins at ``start`` belongs to this group."""
        return _SEPARATORS.fullmatch(self._text, self.end, start) is not None

    def add_number(self, number: TextSpan) -> Iterator[TextSpan]:
        """Add the next number and yield the strings that are now complete."""
        self.end = number[1]
        if self._joiner is None:
            index = self._first[0]
            while index > self._after and self._text[index - 1] == "(":
                index -= 1
            self._joiner = _NumberJoiner(self._text, index)
            yield from self._joiner.read_number(self._first)
        yield from self._joiner.read_number(number)

    def close_group(self) -> Iterable[TextSpan]:
        """Return the remaining strings, after the last number."""
        return (self._first,) if self._joiner is None else self._joiner.release_pending()


class _NumberJoiner:
    """Reader of several numbers and the characters between them, from the left.

    It stores positions only, in arrays: an open bracket or an incomplete string needs a few bytes.
    """

    def __init__(self, text: str, index: int) -> None:
        self._text, self._position = text, index
        self._number = "I" if len(text) < 1 << 32 else "Q"  # four bytes, or eight
        self._outer_start = index  # start of the outermost D
        self._clear_pending()

    def read_number(self, number: TextSpan) -> Iterator[TextSpan]:
        """Read up to the end of a number and yield the strings that are now complete."""
        for index in range(self._position, number[0]):
            yield from self._read_mark(index)
        if not self._open and not self._starts:
            self._outer_start = number[0]
        # Together with the part of its D before it, the number is one string.
        start = self._open[-1] + 1 if self._open else self._outer_start
        first = bisect_left(self._starts, start)
        del self._starts[first:], self._ends[first:]
        self._starts.append(start)
        self._ends.append(number[1])
        self._position, self._blank = number[1], False

    def release_pending(self) -> Iterable[TextSpan]:
        """Return the pending strings, which no later number can join."""
        found = zip(self._starts, self._ends, strict=True)
        self._clear_pending()
        return found

    def _clear_pending(self) -> None:
        self._open = array(self._number)  # positions of open brackets
        self._starts, self._ends = array(self._number), array(self._number)  # the pending strings
        self._blank = False  # whether the last character was a blank

    def _read_mark(self, index: int) -> Iterable[TextSpan]:
        """Read a bracket or a blank and return the strings that it completes."""
        mark = self._text[index]
        waits = not self._blank and len(self._starts) > 0 and (not self._open or self._starts[-1] > self._open[-1])
        if mark == "(":
            if not self._open and not self._starts:
                if _would_touch(self._text, index - 1):
                    return ()  # the text before the bracket would touch the number
                self._outer_start = index
            self._open.append(index)
            self._blank = False
        elif not waits or (mark == ")" and not self._open):
            return self.release_pending()
        elif mark == ")":
            self._open.pop()
        else:
            self._blank = True
        return ()


def _would_touch(text: str, index: int) -> bool:
    """Return whether the text up to ``index`` would touch a number after it.

    It would if it ends in a run, in marks after a run, or in a bracketed word after a run.
    """
    if index >= 0 and text[index] in ")]}":
        before = BREAK_BEFORE.search(text, 0, index)
        if before is None or not _BRACKETED.fullmatch(text, before.start(), index + 1):
            return False
        return before.start() > 0 and _SOLID.match(text, before.start() - 1) is not None
    while index >= 0 and text[index] in TRIMMED_MARKS:
        index -= 1
    return index >= 0 and _SOLID.match(text, index) is not None
