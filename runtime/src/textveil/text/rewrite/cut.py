"""Texts as arrays of integers.

Each distinct segment of a call gets a number, so that it is looked up once. The classes here live for one call of the
sanitizer.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from itertools import compress, count, islice
from typing import NamedTuple

import numpy as np

from textveil.mechanisms.integer_sampling import Integers
from textveil.text import segmentation
from textveil.text.rewrite.plan import Plan
from textveil.text.segmentation import LONGEST_WORD, LOWER, apply_case, case_pattern, is_gap
from textveil.text.segmentation.cut import cut, words_and_gaps
from textveil.text.skeleton import DRAWN_BY_KEY, Pieces, Role, Token, sentence_start

#: Roles of tokens. ``SHOWN`` tokens are kept, but printed by key and case instead of passed through unchanged.
AS_IT_IS, REPLACED, DRAWN, SHOWN = range(4)
#: Entries of segments that pass through unchanged: gaps, gaps that end a sentence, kept words.
GAP, END, VISIBLE = range(3)
#: A call discards its numbers when it has more than this many pieces or segments.
_MAX_PIECES = 1 << 18
#: Numbers of two segments that every call has: a single space, and the empty string.
_BLANK, _NOTHING = 0, 1

#: Role, index (an input id, an entity type, a kept word), case, identity and wholeness of one token.
Row = tuple[int, int, int, int, int]
_COLUMNS = 5


class Segments:
    """The distinct segments of a call, numbered, with the decisions on their tokens.

    Every segment has an *entry*. An entry from 0 on is a row: the row of the one token of the segment, or a row for
    segments that pass through unchanged. A segment with an entry below 0 is *special*: it has several tokens or none,
    or its tokens depend on the start of a sentence.

    Args:
        plan: The plan, whose rule decides on tokens.

    Attributes:
        numbers: Number of each segment. A lookup in this mapping adds a new segment; ``look_up`` then adds its entry.
        entries: Entry of each segment.
        ranges: First row and end of the tokens of the special segment of entry ``-1 - k``: inside a sentence at
            ``2 k``, at the start of one at ``2 k + 1``.
        gaps: Whether each special segment is a gap.
        shown: Printed form of kept tokens that do not pass through unchanged.
        identities: Number of each identity.
        spellings: First spelling of each identity.

    Privacy:
        An instance contains the user's text and must not outlive the call.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._bare = plan.terms.sanitize_punctuation
        self._keeps_case = plan.keeps_case
        self._consistent = plan.terms.consistent
        self._unknown = plan.bundle.symbols
        self.numbers: defaultdict[str, int] = defaultdict(count(_NOTHING + 1).__next__, {" ": _BLANK, "": _NOTHING})
        self.entries: array[int] = array("q", [GAP, GAP])
        self._rows = array("q", [AS_IT_IS, 0, LOWER, -1, 0] * (VISIBLE + 1))
        self.ranges: list[tuple[int, int]] = []
        self.gaps: list[bool] = []
        self.shown: list[str] = []
        self.identities: dict[tuple[int, object], int] = {}
        self.spellings: list[str] = []

    @property
    def rows(self) -> Integers:
        """The rows of all tokens, shape ``(rows, 5)``."""
        return np.array(self._rows).reshape(-1, _COLUMNS)

    def look_up(self) -> None:
        """Add the entries of new segments."""
        ids, unknown, equal = self._plan.bundle.ids, self._unknown, self._identity if self._consistent else None
        entries, rows, new = self.entries, self._rows, [*islice(self.numbers, len(self.entries), None)]
        plain = [segment.isascii() and segment.isalpha() and len(segment) <= LONGEST_WORD for segment in new]
        words = [*compress(new, plain)]
        keys = [*map(str.lower, words)]
        cases = [LOWER if key == word else case_pattern(word) for key, word in zip(keys, words, strict=True)]
        said = zip(keys, cases, self._plan.rule.plain(keys, cases), strict=True)
        more: list[int] = []  # rows to add together
        for segment, is_plain in zip(new, plain, strict=True):
            if is_plain:
                key, case, kind = next(said)
                if kind is not None:
                    entries.append((len(rows) + len(more)) // _COLUMNS)
                    role, index = (DRAWN, ids.get(key, unknown)) if kind == DRAWN_BY_KEY else (REPLACED, kind)
                    more += (role, index, case, -1 if equal is None else equal(role, index, segment), True)
                    continue
            rows.fromlist(more)
            more.clear()
            entries.append(self._gap(segment) if is_gap(segment) else self._entry(segment))
        rows.fromlist(more)

    def _entry(self, segment: str) -> int:
        pieces = self._plan.rule.tokens(segment, starts_sentence=False)
        first = pieces[0][1]
        if len(pieces) == 1 and first.role is Role.REPLACED:
            return self._add([self._row(first, segment)])
        if first.key is None and first.role is Role.DRAWN:
            starting = self._plan.rule.tokens(segment, starts_sentence=True)
            if starting != pieces:
                return self._add_special([self._rows_of(pieces), self._rows_of(starting)])
        if all(token.role is Role.SHOWN for _, token in pieces):
            shown = "".join(self._shown(token) for _, token in pieces)
            return VISIBLE if shown == segment and not self._bare else self._add_special([self._rows_of(pieces)])
        rows = self._rows_of(pieces)
        return self._add(rows) if len(rows) == 1 else self._add_special([rows])

    def _gap(self, gap: str) -> int:
        if not self._bare:
            return END if sentence_start(gap) else GAP
        marks = [self._plan.rule.mark(mark) for mark in gap if not mark.isspace()]
        return self._add_special([[self._row(mark) for mark in marks]], gap=True)

    def _add(self, rows: list[Row]) -> int:
        """Add rows and return the number of the first."""
        first = len(self._rows) // _COLUMNS
        for row in rows:
            self._rows.extend(row)
        return first

    def _add_special(self, ways: list[list[Row]], *, gap: bool = False) -> int:
        """Add the tokens inside a sentence, and the tokens at the start of one if they differ."""
        found = [(first := self._add(rows), first + len(rows)) for rows in ways]
        self.ranges += found[0], found[-1]
        self.gaps.append(gap)
        return -len(self.gaps)

    def _rows_of(self, pieces: Pieces) -> list[Row]:
        return [self._row(token, spelled) for spelled, token in pieces]

    def _row(self, token: Token, spelled: str | None = None) -> Row:
        """Return the row of a token; a token without a spelling is equal to no other."""
        if token.role is Role.SHOWN:
            self.shown.append(self._shown(token))
            return SHOWN, len(self.shown) - 1, LOWER, -1, True
        role, index = (DRAWN, self._plan.symbol(token)) if token.kind is None else (REPLACED, token.kind)
        identity = self._identity(role, index, spelled) if self._consistent and spelled is not None else -1
        return role, index, token.case, identity, token.whole

    def _identity(self, role: int, index: int, spelled: str) -> int:
        """Return a number that is common to equal tokens.

        Equal are tokens with equal symbols, equal unknown words, and equal entities of one type.
        """
        if role == DRAWN and index < self._unknown:
            folded: tuple[int, object] = -1, index
        else:
            folded = index if role == REPLACED else -1, _short(segmentation.key(spelled))
        identity = self.identities.setdefault(folded, len(self.identities))
        if identity == len(self.spellings):
            self.spellings.append(spelled)
        return identity

    def _shown(self, token: Token) -> str:
        """Return a kept token as printed, from its key and case pattern."""
        key = token.key or ""
        return apply_case(key, token.case) if self._keeps_case else key


class Cut(NamedTuple):
    """Documents as numbers of segments.

    Attributes:
        numbers: Numbers of the segments of all documents, shape ``(segments,)``.
        ends: End of each document in ``numbers``, shape ``(documents,)``.
    """

    numbers: Integers
    ends: Integers


class Reader:
    """Segmentation of texts into numbers of segments.

    The result is that of ``segmentation.segments``, but each distinct piece is split once.

    A *piece* is a part of a text between single spaces that touches no string. No word contains a space, and pieces
    split gaps at spaces: so the words are those of ``segmentation.segments``, and the gaps between them the same, in
    several segments.

    Args:
        plan: The plan of the call.

    Attributes:
        segments: The distinct segments of the call.

    Privacy:
        As for ``Segments``.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._begin()

    def _begin(self) -> None:
        self.segments: Segments = Segments(self._plan)
        #: Number of each piece. A string is never split; here a space at its end distinguishes it from all other
        #: pieces.
        self._numbers = defaultdict(count().__next__)
        self._inside = array("q")  # the segments of all pieces, each piece followed by a space
        self._starts = array("q", [0])  # start of each piece in ``_inside``, and the end of the last

    def read(self, texts: Iterable[str]) -> Cut:
        """Segment texts and return the numbers of their segments."""
        self._forget()
        pieces, ends = array("q"), array("q")
        last = array("q")  # for each part before a part without a space between: the number of pieces up to it
        find = self._numbers.__getitem__
        for text in texts:
            for start, end, is_one in cut(text, lone_clitics=self._plan.keeps_lone_clitics):
                part = text[start:end]
                if is_one:
                    pieces.append(find(part + " "))
                else:
                    pieces.extend(map(find, part.split(" ")))
                last.append(len(pieces))
            ends.append(len(pieces))
        self._cut()
        return self._joined(np.array(pieces), np.array(last), np.array(ends))

    def _cut(self) -> None:
        """Split new pieces into segments."""
        find, apart = self.segments.numbers.__getitem__, self._plan.terms.sanitize_punctuation
        inside, starts = self._inside, self._starts
        for piece in islice(self._numbers, len(starts) - 1, None):
            if piece.isascii() and piece.isalpha():
                inside.append(find(piece))
            elif piece.endswith(" "):
                inside.append(find(piece[:-1]))
            elif piece.endswith((",", ".")) and piece.isascii() and piece[:-1].isalpha():  # fast path
                inside.extend((find(piece[:-1]), find(piece[-1])))
            else:
                inside.extend(map(find, words_and_gaps(piece, marks_apart=apart)))
            inside.append(_BLANK)
            starts.append(len(inside))
        self.segments.look_up()

    def _joined(self, pieces: Integers, last: Integers, ends: Integers) -> Cut:
        """Return the segments of pieces, with spaces between those that touch no string."""
        starts = np.array(self._starts)
        sizes = np.diff(starts)[pieces]
        after = np.cumsum(sizes)  # end of the segments of each piece
        inside = np.arange(sizes.sum()) + np.repeat(starts[pieces] - (after - sizes), sizes)
        numbers = np.array(self._inside)[inside]
        numbers[after[last - 1] - 1] = _NOTHING
        return Cut(numbers, after[ends - 1])

    def read_segments(self, documents: Iterable[Iterable[str]]) -> Cut:
        """Return the numbers of documents that are lists of segments already."""
        self._forget()
        numbers, ends = array("q"), array("q")
        for document in documents:
            numbers.extend(map(self.segments.numbers.__getitem__, document))
            ends.append(len(numbers))
        self.segments.look_up()
        return Cut(np.array(numbers), np.array(ends))

    def _forget(self) -> None:
        """Discard all numbers if there are too many, so that memory is bounded for any text."""
        if max(len(self._numbers), len(self.segments.numbers)) > _MAX_PIECES:
            self._begin()


def _short(key: str) -> str | bytes:
    """Return the key of an unknown word, or its SHA-256 if case folding made the key very long."""
    return key if len(key) <= LONGEST_WORD else sha256(key.encode("utf-8", "surrogatepass")).digest()
