"""Tables that are text, block by block: whole lines, whole documents, and what is written of them."""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby, islice
from typing import cast

from textveil.errors import DocumentTooLong, FieldTooLong, InputError

from textveil_cli.files.rows import LONG_TEXT, Bad, Drawn, Group, Layout, Row, Withheld
from textveil_cli.files.selection import Selection


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
