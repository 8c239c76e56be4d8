"""Reading of a text file in blocks: complete rows that form complete documents and are sanitized together."""

import codecs
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import groupby

from textveil.errors import DocumentTooLong, InputError

from textveil_cli.columns import ColumnSelection
from textveil_cli.errors import FieldTooLong
from textveil_cli.files.blocks import RejectedRow, RowLayout, TableRow, TextBlock


def split_lines(chunks: Iterable[bytes], max_bytes: int, name: str) -> Iterator[tuple[list[bytes], bool]]:
    """Yield batches of complete lines, and for each batch whether it is the last one.

    The lines keep their line ends.

    Args:
        chunks: Bytes as they arrive.
        max_bytes: Maximum bytes of a line. Reading stops as soon as a line is longer.
        name: Name of the file in errors.

    Raises:
        FieldTooLong: A line is longer than ``max_bytes``.
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
    """Yield the rows of a file in blocks, as soon as they arrive.

    Args:
        layout: Object that splits the lines of the file into rows.
        chunks: Bytes of the file.
        selection: Options that define the documents (cell, row or key) and the maximum size of a row.
        name: Name of the file in errors.

    Raises:
        TextveilError: The rest of the file cannot be read. A row that cannot be sanitized raises no error here; the row
            is in ``rejected`` of its block.
    """
    open_document: list[TableRow] = []  # rows of a document that the next lines may continue
    earlier_keys: set[int] = set()
    has_begun, size = False, 0
    for lines, last in split_lines(chunks, selection.max_row, name):
        if lines and not has_begun:
            open_document, has_begun = remove_byte_order_mark(lines, name), True
        rows, rejected = open_document, list[RejectedRow]()
        for row in layout.split_rows(lines, last=last):
            (rows if isinstance(row, TableRow) else rejected).append(row)  # type: ignore[arg-type]
        open_document = []
        if selection.document == "file":
            rows, open_document = (rows, []) if last else ([], rows)
            size += sum(map(len, lines))
            if size > selection.max_row:
                raise DocumentTooLong(
                    f"{name}: the file, as one document, exceeds four times --max-field-bytes: raise it"
                )
        elif selection.document == "key":
            rows, open_document = _split_last_document(rows, rejected, earlier_keys, layout.separator, last=last)
            if sum(map(len, (part for row in open_document for part in row.parts))) > selection.max_row:
                raise DocumentTooLong(
                    f"{name}, row {open_document[0].number}: the document exceeds --max-field-bytes: raise it"
                )
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
    """Remove a byte order mark from the first line of a file.

    Returns:
        A list with one ``TableRow`` that contains the mark, so that the output has it too; empty if there is no mark.

    Raises:
        InputError: The file is UTF-16.
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
    """Split off the rows of the last document, since the next lines of the file may continue it.

    All rows of a document, which have the same document key, must be adjacent. If rows of another document separate a
    row from earlier rows with its key, the function rejects the row.

    Args:
        rows: Rows of the file, in order.
        rejected: List to which rejected rows are added.
        earlier_keys: Hashes of the keys of completed documents; the function adds further hashes.
        separator: Bytes between the parts of a row.
        last: Whether these are the last rows of the file, so that the last document is complete.

    Returns:
        The rows before the last document, and the rows of the last document.
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
            reason = "the document has earlier rows that are not adjacent: sort the rows by --document-key"
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
    """Return the number of texts in each document; ``document`` defines documents as in ``ColumnSelection``."""
    if document == "cell":
        return [1 for row in rows for _ in row.texts]
    rows = [row for row in rows if row.texts]  # a blank line between rows does not divide a document
    if document in ("key", "file"):  # rows without a key form one document
        return [sum(len(row.texts) for row in of_key) for _, of_key in groupby(rows, lambda row: row.key)]
    return [len(row.texts) for row in rows]
