"""Blocks of text tables: complete lines and documents, and their rewritten bytes."""

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
    """Rows of complete documents that are rewritten together.

    Attributes:
        rows: The rows.
        bad: Rejected rows.
        sizes: Number of texts in each document, in the order of ``texts``.
    """

    rows: list[Row]
    bad: list[Bad]
    sizes: list[int]
    _document: str
    _glue: bytes
    _encode: Callable[[str], bytes]

    @property
    def count(self) -> int:
        """Return the number of rows without headings and blank lines."""
        return sum(1 for row in self.rows if row.number)

    @property
    def texts(self) -> list[str]:
        """Return the texts of all rows."""
        return [text for row in self.rows for text in row.texts]

    @property
    def groups(self) -> list[Group]:
        """Return the groups of documents that are released together, in order."""
        if self._document == "key":
            joined = (of_key for _, of_key in groupby(_with_texts(self.rows), lambda row: row.key))
            return [Group(tuple(dict.fromkeys(row.scope for row in of_key)), 1) for of_key in joined]
        of_cells = self._document == "cell"
        return [Group((row.scope,), len(row.texts) if of_cells else 1) for row in _with_texts(self.rows)]

    def finish(self, drawn: Drawn) -> list[bytes]:
        """Return the bytes of the rows with their rewritten texts.

        Rows with a withheld text become rejected rows.

        Returns:
            One byte string; for a block with a text of at least ``LONG_TEXT`` characters one for each cell, since
            joining would hold the text twice more.
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
        """Reject the rows that have a withheld text, and return the texts of the others."""
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
    """Yield the lines that have arrived, with their ends, and whether they are the last.

    Args:
        chunks: Bytes as they arrive.
        most: Maximum bytes of a line; reading stops there.
        name: Name of the file in errors.

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
    """Yield the rows of a file in blocks, as they arrive.

    Args:
        layout: Splits the lines of the file into rows.
        chunks: Bytes of the file.
        selection: Defines the documents (cell, row or key) and the maximum size of a row.
        name: Name of the file in errors.

    Raises:
        TextveilError: The rest of the file cannot be read; a single rejected row is no error here.
    """
    held: list[Row] = []  # rows of a document that the next lines may continue
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
    """Remove a byte order mark from the first line, and return it as a row if present.

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
    """Split off the rows of the last document, which the next lines may continue.

    Rows of a document that appeared before, with another one between, are rejected.

    Returns:
        The rows before the last document, and the rows of the last one.
    """
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
    """Return the number of texts in each document."""
    if document == "cell":
        return [1 for row in rows for _ in row.texts]
    if document == "key":
        joined = groupby(_with_texts(rows), lambda row: row.key)
        return [sum(len(row.texts) for row in of_key) for _, of_key in joined]
    return [len(row.texts) for row in _with_texts(rows)]


def _with_texts(rows: list[Row]) -> list[Row]:
    """Return the rows with texts; blank lines do not split a document."""
    return [row for row in rows if row.texts]
