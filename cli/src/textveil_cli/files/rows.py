"""Rows of tables: bytes that stay as they are, and cells that are rewritten."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple, Protocol, cast

from textveil.errors import BadRow, TextveilError

#: Characters of a text that is encoded and written in pieces.
LONG_TEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class Withheld:
    """Stands in place of what is not released of a document: why, and what makes the error without a quarantine."""

    reason: str
    error: Callable[[str], TextveilError] = BadRow


TOO_LONG = Withheld("its document has more drawn words, names and numbers than the cap")
NO_SCOPE = Withheld("--scope-column names no scope there")


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn for some documents.

    Attributes:
        texts: The new texts of all documents, one after the other; ``Withheld`` for those of one that is not released.
        tokens: The tokens that each document is charged; ``Withheld`` for one that is not released.
        words: On the rung names, the words of each document that are drawn; nothing elsewhere.
        replaced: In the mode names, the words of each document that are on no list and are replaced; else nothing.
    """

    texts: Sequence[str | Withheld]
    tokens: Sequence[int | Withheld]
    _: KW_ONLY
    words: Sequence[int] = ()
    replaced: Sequence[int] = ()

    @property
    def whole(self) -> bool:
        """Whether all documents are released."""
        return not any(isinstance(tokens, Withheld) for tokens in self.tokens)


class Group(NamedTuple):
    """Documents that leave together or not at all: those of a row.

    Attributes:
        scopes: The scopes that each of them is charged to, empty where none is named; ``None`` is that of the run.
        documents: How many there are.
    """

    scopes: tuple[str | None, ...]
    documents: int


class Documents(Protocol):
    """Anything with documents, which are drawn, and leave in groups."""

    @property
    def texts(self) -> list[str]:
        """The texts of all documents, one after the other."""
        ...

    @property
    def sizes(self) -> list[int]:
        """How many texts each document has."""
        ...

    @property
    def groups(self) -> list[Group]:
        """Which documents leave together, and their scopes."""
        ...


@dataclass(slots=True, kw_only=True)
class Row:
    """A row, cut into parts. Headings and blank lines are rows without texts, and have the number 0.

    Attributes:
        number: Number of the row in its file, from 1, the heading not counted.
        line: Number of its first line in the file, from 1.
        parts: All of its bytes but the line end; the row is these, joined by what its format joins cells with.
        places: Which parts are cells to rewrite; empty cells and nulls are not.
        texts: The text of each of them.
        end: The line end.
        key: The value of the document key; ``None`` without one.
        scope: The value of the scope column, empty where it names none; ``None`` without one.
    """

    number: int
    line: int
    parts: list[bytes]
    places: Sequence[int] = ()
    texts: list[str] = field(default_factory=list)
    end: bytes = b""
    key: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """A row that is not released: where it is, why, its bytes, and what makes its error. As private as the file."""

    number: int
    line: int
    reason: str
    raw: bytes = field(repr=False)
    error: Callable[[str], TextveilError] = BadRow


class Layout(Protocol):
    """Cuts the lines of one file into rows."""

    glue: bytes

    def rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[Row | Bad]:
        """Yields rows of lines with their ends; those that go on stay for the next call, unless these are the last."""
        ...

    def encode(self, text: str) -> bytes:
        """Returns the bytes of a rewritten cell."""
        ...

    def go_on(self, rows: int, lines: int) -> None:
        """Counts on from so many rows and lines, which stand before those to come."""
        ...


def in_pieces(text: str, encode: Callable[[str], bytes], around: bytes) -> bytes:
    """Returns a long text as ``encode`` makes it of each piece: all of it at once would be held twice more.

    Args:
        text: The text.
        encode: Looks at each character alone.
        around: What stands before and after all of it.
    """
    written = bytearray(around)
    for start in range(0, len(text), LONG_TEXT):
        written += encode(text[start : start + LONG_TEXT])
    written += around
    return cast(bytes, written)  # joined and written as bytes are; to make bytes of it would be a copy
