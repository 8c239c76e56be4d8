"""Rows of tables that are text: cut into bytes that stay as they are and cells that are rewritten."""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import groupby, islice
from typing import NamedTuple, Protocol, cast

from textveil.errors import BadRow, DocumentTooLong, FieldTooLong, InputError, TextveilError

from textveil_cli.files.selection import Selection

#: Characters of a text that is encoded and written in pieces.
LONG_TEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class Withheld:
    """Stands in place of what is not released of a document: why, and what makes the error without a quarantine."""

    reason: str
    error: Callable[[str], TextveilError] = BadRow


TOO_LONG = Withheld("its document has more drawn words, names and numbers than the cap")
NO_SCOPE = Withheld("--scope-column names no scope there")


class Drawn(NamedTuple):
    """What was drawn for some documents.

    Attributes:
        texts: The new texts of all documents, one after the other; ``Withheld`` for those of one that is not released.
        tokens: The tokens that each document is charged; ``Withheld`` for one that is not released.
        words: On the rung names, the words of each document that are drawn; nothing elsewhere.
    """

    texts: Sequence[str | Withheld]
    tokens: Sequence[int | Withheld]
    words: Sequence[int] = ()

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


@dataclass(kw_only=True)
class Block:
    """Rows that are rewritten together, whole documents.

    Attributes:
        rows: The rows.
        bad: Rows that cannot be rewritten.
        sizes: How many texts each document has, in the order of ``texts``.
    """

    rows: list[Row]
    bad: list[Bad]
    sizes: list[int]
    _document: str
    _glue: bytes
    _encode: Callable[[str], bytes]

    @property
    def count(self) -> int:
        """How many rows there are; headings and blank lines are none."""
        return sum(1 for row in self.rows if row.number)

    @property
    def texts(self) -> list[str]:
        """The texts of all rows."""
        return [text for row in self.rows for text in row.texts]

    @property
    def groups(self) -> list[Group]:
        """The documents, in order, those that leave together in one group."""
        if self._document == "key":
            joined = (of_key for _, of_key in groupby(_with_texts(self.rows), lambda row: row.key))
            return [Group(tuple(dict.fromkeys(row.scope for row in of_key)), 1) for of_key in joined]
        of_cells = self._document == "cell"
        return [Group((row.scope,), len(row.texts) if of_cells else 1) for row in _with_texts(self.rows)]

    def finish(self, drawn: Drawn) -> list[bytes]:
        """Returns the rows with what was drawn for their texts. Rows of which a text is withheld become bad rows.

        They are one piece. Of a block with a very long text each cell is one: joined, it would be held twice more.
        """
        texts = cast(list[str], drawn.texts if drawn.whole else self._without_withheld(drawn.texts))
        cells = map(self._encode, texts)
        written: list[bytes] = []
        apart = max(map(len, texts), default=0) >= LONG_TEXT
        for row in self.rows:
            parts = row.parts
            for place in row.places:
                parts[place] = next(cells)
            if apart:
                written += [part for cell in parts for part in (cell, self._glue)]
                written[-1] = row.end
            else:
                written.append(self._glue.join(parts) + row.end)
        return written if apart else [b"".join(written)]

    def _without_withheld(self, texts: Sequence[str | Withheld]) -> list[str]:
        """Makes bad rows of those that have a text that is withheld; returns the texts of the others."""
        rest, kept, rows = iter(texts), list[str](), list[Row]()
        for row in self.rows:
            of_row = [*islice(rest, len(row.places))]
            why = next((text for text in of_row if isinstance(text, Withheld)), None)
            if why is None:
                rows.append(row)
                kept += cast(list[str], of_row)
            else:
                raw = self._glue.join(row.parts) + row.end
                self.bad.append(Bad(number=row.number, line=row.line, reason=why.reason, raw=raw, error=why.error))
        self.rows = rows
        return kept


def whole_lines(chunks: Iterable[bytes], most: int, name: str) -> Iterator[tuple[list[bytes], bool]]:
    """Yields the lines that have arrived, with their ends, and whether they are the last.

    Args:
        chunks: Bytes as they arrive.
        most: Bytes of the longest line; no more of a longer one is read.
        name: What errors call the file.

    Raises:
        FieldTooLong: A line is longer.
    """
    pending: list[bytes] = []
    size = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        size += len(chunk)
        if not end:
            pending.append(chunk)
            if size > most:
                raise FieldTooLong(f"{name}: a line is longer than --max-field allows")
            continue
        lines = BytesIO(b"".join([*pending, chunk[:end]])).readlines()
        pending, size = [chunk[end:]], len(chunk) - end
        yield lines, False
    rest = b"".join(pending)
    yield [rest] if rest else [], True


def blocks(layout: Layout, chunks: Iterable[bytes], selection: Selection, name: str) -> Iterator[Block]:
    """Yields the rows of a file in blocks, as they arrive.

    Args:
        layout: Cuts its lines.
        chunks: Its bytes.
        selection: What a document is.
        name: What errors call the file.

    Raises:
        TextveilError: The file cannot be gone on with; a single bad row is not an error here.
    """
    held: list[Row] = []  # those of a document that may go on
    seen: set[int] = set()
    begun = False
    for lines, last in whole_lines(chunks, selection.max_row, name):
        if lines and not begun:
            held, begun = without_mark(lines, name), True
        rows, bad = held, list[Bad]()
        for row in layout.rows(lines, last=last):
            (rows if isinstance(row, Row) else bad).append(row)  # type: ignore[arg-type]
        held = []
        if selection.document == "key":
            rows, held = _whole_documents(rows, bad, seen, layout.glue, last=last)
            if sum(map(len, (part for row in held for part in row.parts))) > selection.max_row:
                raise DocumentTooLong(f"{name}, row {held[0].number}: its document is longer than --max-field allows")
        if rows or bad or last:
            sizes = _sizes(rows, selection.document)
            yield Block(
                rows=rows, bad=bad, sizes=sizes, _document=selection.document, _glue=layout.glue, _encode=layout.encode
            )


def without_mark(lines: list[bytes], name: str) -> list[Row]:
    """Takes a byte order mark off the first line; returns a row of it, if there is one.

    Raises:
        InputError: The lines are UTF-16.
    """
    first = lines[0]
    if b"\0" in first[:2] or first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{name}: not UTF-8 at byte 0 (UTF-16, or no text: save it as UTF-8)")
    if not first.startswith(codecs.BOM_UTF8):
        return []
    lines[0] = first.removeprefix(codecs.BOM_UTF8)
    return [Row(number=0, line=1, parts=[codecs.BOM_UTF8])]


def _whole_documents(
    rows: list[Row], bad: list[Bad], seen: set[int], glue: bytes, *, last: bool
) -> tuple[list[Row], list[Row]]:
    """Splits rows before the last document, which may go on. A document that comes back is made of bad rows."""
    good: list[Row] = []
    key, known = None, False
    for row in rows:
        if row.number and row.key != key:
            if key is not None:
                seen.add(hash(key))
            key, known = row.key, hash(row.key) in seen
        if known and row.number:
            raw = glue.join(row.parts) + row.end
            reason = "rows of its document stand further up: sort them by the key"
            bad.append(Bad(number=row.number, line=row.line, reason=reason, raw=raw))
        else:
            good.append(row)
    if last or key is None:
        return good, []
    start = next(number for number, row in enumerate(good) if row.number and row.key == key) if not known else len(good)
    return good[:start], good[start:]


def _sizes(rows: list[Row], document: str) -> list[int]:
    """How many texts each document has."""
    if document == "cell":
        return [1 for row in rows for _ in row.texts]
    if document == "key":
        joined = groupby(_with_texts(rows), lambda row: row.key)
        return [sum(len(row.texts) for row in of_key) for _, of_key in joined]
    return [len(row.texts) for row in _with_texts(rows)]


def _with_texts(rows: list[Row]) -> list[Row]:
    """Rows that have something to rewrite. Blank lines between the rows of a document do not part it."""
    return [row for row in rows if row.texts]
