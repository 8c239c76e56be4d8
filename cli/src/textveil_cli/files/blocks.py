"""Blocks of text tables: complete lines and documents, and their rewritten bytes."""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby, islice
from typing import cast

from textveil.errors import DocumentTooLong, InputError

from textveil_cli.errors import FieldTooLong
from textveil_cli.files.column_selection import ColumnSelection
from textveil_cli.files.rows import (
    LONG_TEXT,
    DocumentGroup,
    RejectedRow,
    RewrittenDocuments,
    RowLayout,
    TableRow,
    WithheldDocument,
)


@dataclass(kw_only=True)
class TextBlock:
    """Rows of complete documents that are rewritten together.

    Attributes:
        rows: The rows.
        rejected: Rejected rows.
        document_sizes: Number of texts in each document, in the order of ``texts``.
    """

    rows: list[TableRow]
    rejected: list[RejectedRow]
    document_sizes: list[int]
    _document: str
    _separator: bytes
    _encode_cell: Callable[[str], bytes]

    @property
    def row_count(self) -> int:
        """Return the number of rows without headings and blank lines."""
        return sum(1 for row in self.rows if row.number)

    @property
    def texts(self) -> list[str]:
        """Return the texts of all rows."""
        return [text for row in self.rows for text in row.texts]

    @property
    def groups(self) -> list[DocumentGroup]:
        """Return the groups of documents that are released together, in order."""
        if self._document == "key":
            documents = (of_key for _, of_key in groupby(_select_rows_with_texts(self.rows), lambda row: row.key))
            return [DocumentGroup(tuple(dict.fromkeys(row.privacy_unit for row in of_key)), 1) for of_key in documents]
        per_cell = self._document == "cell"
        return [
            DocumentGroup((row.privacy_unit,), len(row.texts) if per_cell else 1)
            for row in _select_rows_with_texts(self.rows)
        ]

    def insert_texts(self, rewritten: RewrittenDocuments) -> list[bytes]:
        """Return the bytes of the rows with their rewritten texts.

        Rows with a withheld text become rejected rows.

        Returns:
            One byte string; for a block with a text of at least ``LONG_TEXT`` characters one for each cell, since
            joining would hold the text twice more.
        """
        texts = cast(
            list[str], rewritten.texts if rewritten.is_complete else self._reject_withheld_rows(rewritten.texts)
        )
        cells = map(self._encode_cell, texts)
        output: list[bytes] = []
        has_long_text = max(map(len, texts), default=0) >= LONG_TEXT
        for row in self.rows:
            parts = row.parts
            for position in row.text_positions:
                parts[position] = next(cells)
            if has_long_text:
                output += [part for cell in parts for part in (cell, self._separator)]
                output[-1] = row.end
            else:
                output.append(self._separator.join(parts) + row.end)
        return output if has_long_text else [b"".join(output)]

    def _reject_withheld_rows(self, texts: Sequence[str | WithheldDocument]) -> list[str]:
        """Reject the rows that have a withheld text, and return the texts of the others."""
        remaining, released, released_rows = iter(texts), list[str](), list[TableRow]()
        for row in self.rows:
            row_texts = [*islice(remaining, len(row.text_positions))]
            withheld = next((text for text in row_texts if isinstance(text, WithheldDocument)), None)
            if withheld is None:
                released_rows.append(row)
                released += cast(list[str], row_texts)
            else:
                raw = self._separator.join(row.parts) + row.end
                self.rejected.append(
                    RejectedRow(number=row.number, line=row.line, reason=withheld.reason, raw=raw, error=withheld.error)
                )
        self.rows = released_rows
        return released


def split_lines(chunks: Iterable[bytes], max_bytes: int, name: str) -> Iterator[tuple[list[bytes], bool]]:
    """Yield the lines that have arrived, with their ends, and whether they are the last.

    Args:
        chunks: Bytes as they arrive.
        max_bytes: Maximum bytes of a line; reading stops there.
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
            if size > max_bytes:
                raise FieldTooLong(f"{name}: a line exceeds --max-field-bytes")
            continue
        lines = BytesIO(b"".join([*pending, chunk[:end]])).readlines()
        pending, size = [chunk[end:]], len(chunk) - end
        yield lines, False
    last_line = b"".join(pending)
    yield [last_line] if last_line else [], True


def read_blocks(
    layout: RowLayout, chunks: Iterable[bytes], selection: ColumnSelection, name: str
) -> Iterator[TextBlock]:
    """Yield the rows of a file in blocks, as they arrive.

    Args:
        layout: Splits the lines of the file into rows.
        chunks: Bytes of the file.
        selection: Defines the documents (cell, row or key) and the maximum size of a row.
        name: Name of the file in errors.

    Raises:
        TextveilError: The rest of the file cannot be read; a single rejected row is no error here.
    """
    open_document: list[TableRow] = []  # rows of a document that the next lines may continue
    earlier_keys: set[int] = set()
    has_begun = False
    for lines, last in split_lines(chunks, selection.max_row, name):
        if lines and not has_begun:
            open_document, has_begun = remove_byte_order_mark(lines, name), True
        rows, rejected = open_document, list[RejectedRow]()
        for row in layout.split_rows(lines, last=last):
            (rows if isinstance(row, TableRow) else rejected).append(row)  # type: ignore[arg-type]
        open_document = []
        if selection.document == "key":
            rows, open_document = _split_last_document(rows, rejected, earlier_keys, layout.separator, last=last)
            if sum(map(len, (part for row in open_document for part in row.parts))) > selection.max_row:
                raise DocumentTooLong(f"{name}, row {open_document[0].number}: its document exceeds --max-field-bytes")
        if rows or rejected or last:
            document_sizes = _count_texts(rows, selection.document)
            yield TextBlock(
                rows=rows,
                rejected=rejected,
                document_sizes=document_sizes,
                _document=selection.document,
                _separator=layout.separator,
                _encode_cell=layout.encode_cell,
            )


def remove_byte_order_mark(lines: list[bytes], name: str) -> list[TableRow]:
    """Remove a byte order mark from the first line, and return it as a row if present.

    Raises:
        InputError: The lines are UTF-16.
    """
    first = lines[0]
    if b"\0" in first[:2] or first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{name}: not UTF-8 at byte 0: the file is UTF-16 or not text; save it as UTF-8")
    if not first.startswith(codecs.BOM_UTF8):
        return []
    lines[0] = first.removeprefix(codecs.BOM_UTF8)
    return [TableRow(number=0, line=1, parts=[codecs.BOM_UTF8])]


def _split_last_document(
    rows: list[TableRow], rejected: list[RejectedRow], earlier_keys: set[int], separator: bytes, *, last: bool
) -> tuple[list[TableRow], list[TableRow]]:
    """Split off the rows of the last document, which the next lines may continue.

    Rows of a document that appeared before, with another one between, are rejected.

    Returns:
        The rows before the last document, and the rows of the last one.
    """
    accepted: list[TableRow] = []
    key, is_repeated = None, False
    for row in rows:
        if row.number and row.key != key:
            if key is not None:
                earlier_keys.add(hash(key))
            key, is_repeated = row.key, hash(row.key) in earlier_keys
        if is_repeated and row.number:
            raw = separator.join(row.parts) + row.end
            reason = "its document has earlier rows that are not adjacent: sort the rows by --document-key"
            rejected.append(RejectedRow(number=row.number, line=row.line, reason=reason, raw=raw))
        else:
            accepted.append(row)
    if last or key is None:
        return accepted, []
    start = (
        next(number for number, row in enumerate(accepted) if row.number and row.key == key)
        if not is_repeated
        else len(accepted)
    )
    return accepted[:start], accepted[start:]


def _count_texts(rows: list[TableRow], document: str) -> list[int]:
    """Return the number of texts in each document."""
    if document == "cell":
        return [1 for row in rows for _ in row.texts]
    if document == "key":
        documents = groupby(_select_rows_with_texts(rows), lambda row: row.key)
        return [sum(len(row.texts) for row in of_key) for _, of_key in documents]
    return [len(row.texts) for row in _select_rows_with_texts(rows)]


def _select_rows_with_texts(rows: list[TableRow]) -> list[TableRow]:
    """Return the rows with texts; blank lines do not split a document."""
    return [row for row in rows if row.texts]
