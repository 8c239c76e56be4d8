"""Joins numbers that single blanks or round brackets hold together, as they come.

``D = E (" "? E)*``, ``E = number | "(" D ")"``: every number joins in the same way, whatever it looks like. A bracket
around all of it stays a gap. Of a group that is going on, only what may still be joined is held.
"""

import re
from collections.abc import Iterator

import regex

from textveil.text.characters import ANY, BREAK_BEFORE, HARD, SOFT, TRIM, TRIMMED, word

#: What may stand between two numbers of a group.
BETWEEN = "() \u00a0\u2009\u202f"
#: As many brackets, blanks and numbers may wait for what joins them; all are given up before another bracket or blank.
MOST_WAITING = 2000
_BETWEEN = re.compile(f"[{BETWEEN}]+")
_SOLID = regex.compile(rf"[^\p{{White_Space}}{HARD}{SOFT}{TRIM}]")
_BRACKETED = regex.compile(rf"[(\[{{]{word(ANY)}[)\]}}]", regex.V1)

Span = tuple[int, int]


class NumberGroup:
    """The numbers that a stretch of blanks and brackets holds together, and what they become.

    Args:
        text: The whole text.
        after: End of the string before the numbers.

    Attributes:
        end: End of the last number; ``after`` where there is none.
    """

    def __init__(self, text: str, after: int) -> None:
        self._text, self._after = text, after
        self._only: Span | None = None  # the first number, as long as it is alone
        self._place = -1  # up to where the text has been read, once there are two
        self._waiting: list[tuple[str, Span, Span]] = []  # number, bracket or blank; with brackets around, and without
        self.end = after

    def goes_on_to(self, start: int) -> bool:
        """Tells whether a number that starts there belongs to this group; the first one always does."""
        return self._only is None or _BETWEEN.fullmatch(self._text, self.end, start) is not None

    def add(self, number: Span) -> Iterator[Span]:
        """Takes the next number, and yields strings that are complete."""
        if self._only is None:
            self._only = number
        else:
            if self._place < 0:
                self._place = self._only[0]
                while self._place > self._after and self._text[self._place - 1] == "(":
                    self._place -= 1
                yield from self._read(self._only)
            yield from self._read(number)
        self.end = number[1]

    def close(self, before: int) -> Iterator[Span]:
        """Yields the strings that are left, where another string begins at ``before``, or the text ends."""
        if self._place >= 0:
            end = self.end
            while end < before and self._text[end] == ")":
                end += 1
            yield from self._read_marks(end, -1)
            yield from self._given_up()
        elif self._only is not None:
            yield self._only

    def _read(self, number: Span) -> Iterator[Span]:
        yield from self._read_marks(number[0], number[0])
        self._waiting.append(("number", number, number))
        self._join_last()
        self._place = number[1]

    def _read_marks(self, end: int, next_number: int) -> Iterator[Span]:
        """Reads brackets and blanks up to a place."""
        for place in range(self._place, end):
            mark, stop = self._text[place], place + 1
            if mark != ")" and len(self._waiting) >= MOST_WAITING:
                yield from self._given_up()
            below = [entry[0] for entry in self._waiting[-2:]]
            if mark == "(" and not self._waiting and _touched(self._text, place - 1, -1):
                pass  # what stands before it would touch the number
            elif (
                mark == ")" and below == ["(", "number"] and (stop == next_number or not _touched(self._text, stop, 1))
            ):
                (_, _, inner), (_, (start, _), _) = self._waiting.pop(), self._waiting.pop()
                self._waiting.append(("number", (start, stop), inner))
            elif mark == "(" or (mark != ")" and below[-1:] == ["number"]):
                self._waiting.append((mark, (place, stop), (place, stop)))
            else:
                yield from self._given_up()
            self._join_last()
        self._place = end

    def _given_up(self) -> Iterator[Span]:
        """Numbers that nothing joins any more."""
        waiting, self._waiting = self._waiting, []
        return (inner for kind, _, inner in waiting if kind == "number")

    def _join_last(self) -> None:
        waiting = self._waiting
        if not waiting or waiting[-1][0] != "number":
            return
        blank = len(waiting) > 2 and waiting[-2][0] not in ("number", "(")
        first = -3 if blank else -2
        if len(waiting) > 1 and waiting[first][0] == "number":
            span = waiting[first][1][0], waiting[-1][1][1]
            waiting[first:] = [("number", span, span)]


def _touched(text: str, place: int, step: int) -> bool:
    """Whether a run goes on here, or there are marks and then a run: a bracket would be within a run.

    Or there is a word in brackets, which a number without a bracket would be glued to.
    """
    if _bracketed(text, place, step):
        return True
    while 0 <= place < len(text) and text[place] in TRIMMED:
        place += step
    return 0 <= place < len(text) and _SOLID.match(text, place) is not None


def _bracketed(text: str, place: int, step: int) -> bool:
    """Whether a word in brackets begins here, or ends here if the step is back."""
    if step > 0:
        return _BRACKETED.match(text, place) is not None
    before = BREAK_BEFORE.search(text, 0, place) if place >= 0 and text[place] in ")]}" else None
    return before is not None and _BRACKETED.fullmatch(text, before.start(), place + 1) is not None
