"""Words of long lists, found in the bytes of their files: as objects they would take five times the memory."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

#: An entry's code: eight of its bytes and the next eight, as numbers, one XOR the other. Few
#: entries have one code, and these are compared.
_HALF = 8
_TAB, _LINE_FEED = b"\t\n"
#: Marks of an entry: it is one in Title case and ALL CAPS only; it is a member only, no output. Of what is behind an
#: entry the second alone ends in its letter so far behind a tab or a comma.
CAPITALIZED, MEMBER_ONLY = "capitalized", "member-only"


class Listed:
    """The words of some lists.

    Args:
        lists: Each in UTF-8, an entry a line, after a tab its marks. The last line is complete.
    """

    def __init__(self, lists: Sequence[bytes]) -> None:
        starts = [_lines(lines)[0] for lines in lists]
        codes = np.concatenate([np.empty(0, np.uint64), *map(_codes, lists, starts)])
        order, lengths = np.argsort(codes, kind="stable"), np.array([len(found) for found in starts], np.intp)
        self._lists = lists
        self._codes = array("Q", codes[order].tobytes())
        self._numbers = array("I", np.repeat(np.arange(len(lists), dtype=np.uint32), lengths)[order].tobytes())
        self._starts = array("I", np.concatenate([np.empty(0, np.uint32), *starts])[order].tobytes())

    def find(self, word: str) -> Iterator[tuple[int, bytes]]:
        """Yields the number of every list that has a word, first lists first, and what is behind the word there."""
        entry = word.encode("utf-8", "surrogatepass")
        head = entry.ljust(2 * _HALF, b"\0")
        code = int.from_bytes(head[:_HALF], "big") ^ int.from_bytes(head[_HALF : 2 * _HALF], "big")
        place = bisect_left(self._codes, code)
        while place < len(self._codes) and self._codes[place] == code:
            lines, start = self._lists[self._numbers[place]], self._starts[place]
            listed, _, marks = lines[start : lines.index(b"\n", start)].partition(b"\t")
            if listed == entry:
                yield self._numbers[place], marks
            place += 1


def outputs(lines: bytes) -> tuple[str, ...]:
    """Returns the entries of a list but for members only."""
    starts, ends = _lines(lines)
    letters = np.frombuffer(lines, np.uint8)
    before = letters[ends - np.minimum(ends, len(MEMBER_ONLY) + 1)]
    is_output = (letters[ends - 1] != ord(MEMBER_ONLY[-1])) | ((before != _TAB) & (before != ord(",")))
    printed = letters[np.repeat(is_output, ends - starts + 1)].tobytes().decode("utf-8")
    return tuple(printed.replace(f"\t{CAPITALIZED}", "").split("\n")[:-1])


def _lines(lines: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Where the lines of a list start and end."""
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_FEED).astype(np.uint32)
    return np.insert(ends[:-1] + 1, 0, 0)[: len(ends)], ends


def _codes(lines: bytes, starts: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """The code of every entry."""
    letters = np.frombuffer(lines + bytes(2 * _HALF), np.uint8)
    codes, inside = np.zeros(len(starts), np.uint64), np.ones(len(starts), np.bool_)
    for place in range(2 * _HALF):
        letter = letters[starts + np.uint32(place)]
        inside &= letter > _LINE_FEED  # no entry has control characters
        codes = (codes << np.uint64(8) | codes >> np.uint64(56)) ^ np.where(inside, letter, 0)
    return codes
