"""Rows of tables, blocks of rows that are rewritten together, and counts of both.

A row has bytes that stay unchanged, and cells to rewrite. A block has complete rows and complete documents.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from io import BytesIO
from itertools import groupby, islice
from typing import Any, NamedTuple, Protocol, cast

from textveil.errors import DocumentTooLong, InputError, TextveilError
from textveil.text import Options, Sanitizer

from textveil_cli.columns import ColumnSelection
from textveil_cli.errors import BadRow, FieldTooLong

#: Texts of at least this many characters are encoded in parts of this size.
LONG_TEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class WithheldDocument:
    """Placeholder of a document that is not released: the reason, and the class of the error.

    The error is raised if the run has no file for rejected rows.
    """

    reason: str
    error: Callable[[str], TextveilError] = BadRow


TOO_LONG = WithheldDocument("its document has more randomized words, names and numbers than --consistent-cap")
NO_PRIVACY_UNIT = WithheldDocument("the --privacy-unit-column is empty")


@dataclass(frozen=True, slots=True)
class RewrittenDocuments:
    """Result of rewriting some documents.

    Attributes:
        texts: New texts of all documents, one document after the other; ``WithheldDocument`` for documents that are not
            released.
        tokens: Number of tokens whose epsilon each document spends; ``WithheldDocument`` for documents that are not
            released.
        randomized_words: In the mode names, the number of randomized words in each document; else empty.
        replaced_words: In the mode names, the number of words in each document that are on no list and are replaced;
            else empty.
    """

    texts: Sequence[str | WithheldDocument]
    tokens: Sequence[int | WithheldDocument]
    _: KW_ONLY
    randomized_words: Sequence[int] = ()
    replaced_words: Sequence[int] = ()

    @property
    def is_complete(self) -> bool:
        """Return whether all documents are released."""
        return not any(isinstance(tokens, WithheldDocument) for tokens in self.tokens)


#: Result of a step without documents.
NO_TEXTS = RewrittenDocuments([], [])


class DocumentGroup(NamedTuple):
    """Documents of one row, or of rows with the same document key; all are released, or none.

    Attributes:
        privacy_units: Privacy units in which each document spends epsilon: "" for a row without one, ``None`` for the
            unit of the run.
        documents: Number of documents.
    """

    privacy_units: tuple[str | None, ...]
    documents: int


class DocumentBlock(Protocol):
    """A block of documents that are rewritten together and released in groups."""

    @property
    def texts(self) -> list[str]:
        """Return the texts of all documents, one document after the other."""
        ...

    @property
    def document_sizes(self) -> list[int]:
        """Return the number of texts in each document."""
        ...

    @property
    def groups(self) -> list[DocumentGroup]:
        """Return the groups of documents that are released together, with their privacy units."""
        ...


@dataclass(slots=True, kw_only=True)
class TableRow:
    """A row, split into parts.

    Headings and blank lines are rows without texts and have the number 0.

    Attributes:
        number: Number of the row in its file, from 1, not counting the heading.
        line: Number of its first line in the file, from 1.
        parts: All bytes except the line end; the row is these parts, joined by the ``separator`` of its format.
        text_positions: Indices of the parts that are cells to rewrite; empty cells and nulls are not.
        texts: Text of each of these cells.
        columns: Column or key of each of these cells; empty for plain text.
        end: The line end.
        key: Value of the document key; ``None`` without one.
        privacy_unit: Value of the column of privacy units, "" where it is empty; ``None`` without such a column.
    """

    number: int
    line: int
    parts: list[bytes]
    text_positions: Sequence[int] = ()
    texts: list[str] = field(default_factory=list)
    columns: Sequence[str] = ()
    end: bytes = b""
    key: str | None = None
    privacy_unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedRow:
    """A rejected row: its position, the reason, its bytes, and the class of its error.

    It contains text of the file, so it is as private as the file.
    """

    number: int
    line: int
    reason: str
    raw: bytes = field(repr=False)
    error: Callable[[str], TextveilError] = BadRow


class RowLayout(Protocol):
    """Splits the lines of one file into rows."""

    separator: bytes

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Yield the rows of some lines, line ends included.

        If the last row is not complete, it is yielded by the next call, together with the next lines. With ``last``
        no further lines follow.
        """
        ...

    def encode_cell(self, text: str) -> bytes:
        """Return the bytes of a rewritten cell."""
        ...

    def set_position(self, rows: int, lines: int) -> None:
        """Continue the counts after this many earlier rows and lines."""
        ...


def encode_long_text(text: str, encode: Callable[[str], bytes], enclosing: bytes) -> bytes:
    """Encode a long text in parts: encoding it at once would need memory for two more copies.

    Args:
        text: The text.
        encode: Encoder of a part; it must treat each character independently.
        enclosing: Bytes before and after the whole text.
    """
    encoded = bytearray(enclosing)
    for start in range(0, len(text), LONG_TEXT):
        encoded += encode(text[start : start + LONG_TEXT])
    encoded += enclosing
    return cast(bytes, encoded)  # callers join and write it like bytes; a conversion would copy it


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

    def iterate_cells(self) -> Iterator[tuple[int, str]]:
        """Yield the number of the row and the column of each text, in the order of ``texts``."""
        for row in self.rows:
            yield from ((row.number, column) for column in row.columns or [""] * len(row.texts))

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
            One byte string. If a text has at least ``LONG_TEXT`` characters, one byte string for each cell, since
            joining them would need memory for two more copies of the text.
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


@dataclass(frozen=True, kw_only=True)
class RunCounts:
    """Counts of one file, or of all files.

    Attributes:
        rows: Rows in the output.
        documents: Documents: cells, lines, or groups of these.
        tokens: Tokens whose epsilon is spent; for the staircase mechanism, randomized words.
        max_tokens: Tokens of the longest document.
        rejected_rows: Rejected rows.
        randomized_words: In the mode names, randomized words.
        replaced_words: In the mode names, words on no list that are replaced.
        mostly_replaced_documents: Documents of 12 or more words of which under half are kept.
    """

    rows: int = 0
    documents: int = 0
    tokens: int = 0
    max_tokens: int = 0
    rejected_rows: int = 0
    randomized_words: int = 0
    replaced_words: int = 0
    mostly_replaced_documents: int = 0

    def __add__(self, other: "RunCounts") -> "RunCounts":
        return RunCounts(
            rows=self.rows + other.rows,
            documents=self.documents + other.documents,
            tokens=self.tokens + other.tokens,
            max_tokens=max(self.max_tokens, other.max_tokens),
            rejected_rows=self.rejected_rows + other.rejected_rows,
            randomized_words=self.randomized_words + other.randomized_words,
            replaced_words=self.replaced_words + other.replaced_words,
            mostly_replaced_documents=self.mostly_replaced_documents + other.mostly_replaced_documents,
        )


def sanitize_block(sanitizer: Sanitizer, texts: list[str], sizes: list[int], options: Options) -> RewrittenDocuments:
    """Sanitize documents.

    Args:
        sanitizer: The sanitizer.
        texts: Texts of all documents, one document after the other.
        sizes: Number of texts in each document.
        options: As in ``Sanitizer.sanitize``.

    Privacy:
        A release of every document. If one is too long for consistent replacement, the results of the others are
        discarded unreleased, and each document is sanitized again alone.
    """
    if not options.get("consistent") and len(texts) == len(sizes):
        results = sanitizer.sanitize_batch(texts, **options)
        return _collect_results([[result.text] for result in results], results)
    remaining = iter(texts)
    documents = [[*islice(remaining, size)] for size in sizes]
    try:
        documents_results = sanitizer.sanitize_documents(documents, **options)
        return _collect_results([one.texts for one in documents_results], documents_results)
    except DocumentTooLong:
        if len(documents) == 1:
            return RewrittenDocuments([TOO_LONG] * len(texts), [TOO_LONG])
    separate_results = [sanitize_block(sanitizer, document, [len(document)], options) for document in documents]
    return RewrittenDocuments(
        [text for one in separate_results for text in one.texts],
        [one.tokens[0] for one in separate_results],
        randomized_words=[sum(one.randomized_words) for one in separate_results],
        replaced_words=[sum(one.replaced_words) for one in separate_results],
    )


def _collect_results(texts: Iterable[Sequence[str]], results: Sequence[Any]) -> RewrittenDocuments:
    """Return texts with the counts of their results or documents."""
    randomized, replaced = [one.randomized_words for one in results], [one.replaced_words for one in results]
    return RewrittenDocuments(
        [text for of_one in texts for text in of_one],
        [one.tokens for one in results],
        randomized_words=randomized,
        replaced_words=replaced,
    )


def split_lines(chunks: Iterable[bytes], max_bytes: int, name: str) -> Iterator[tuple[list[bytes], bool]]:
    """Yield lists of complete lines with their line ends, and for each whether it is the last.

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

    Rows of a document are rejected if earlier rows of it are separated from them by another document.

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
