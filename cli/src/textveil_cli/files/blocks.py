"""Classes for rows of tables, for blocks of rows that are sanitized together, and for counts of a run.

A row consists of bytes to copy and cells to sanitize. A document is a cell, a line, or several of them. A block
consists of complete rows and complete documents.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from textveil.errors import DocumentTooLong, TextveilError
from textveil.text import Options, Sanitizer

from textveil_cli.errors import BadRow

if TYPE_CHECKING:
    from textveil.text.restore import Restorer

#: Texts of at least this many characters are encoded in parts of this size.
LONG_TEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class WithheldDocument:
    """Placeholder for the text of a document that must not be written to the output, e.g. for lack of budget.

    Attributes:
        reason: Why the document must not be written.
        error: Class of the error to raise if the run has no file for rejected rows.
    """

    reason: str
    error: Callable[[str], TextveilError] = BadRow


TOO_LONG = WithheldDocument("the document has more randomized words, names and numbers than --consistent-cap allows")
NO_PRIVACY_UNIT = WithheldDocument("the --privacy-unit-column is empty")


@dataclass(frozen=True, slots=True)
class RewrittenDocuments:
    """Sanitized texts of several documents, with counts for each document.

    Attributes:
        texts: New texts of all documents, one document after the other. A ``WithheldDocument`` takes the place of each
            text that must not be written to the output.
        tokens: For each document the number of randomized tokens, each of which spends epsilon; or a
            ``WithheldDocument``.
        randomized_words: In the mode 'names', how many words of each document were randomized; otherwise empty.
        replaced_words: In the mode 'names', the number of words of each document that were replaced because no public
            word list contains them.
        foreign_words: In the mode 'names', the number of unchanged words of other languages in each document.
    """

    texts: Sequence[str | WithheldDocument]
    tokens: Sequence[int | WithheldDocument]
    _: KW_ONLY
    randomized_words: Sequence[int] = ()
    replaced_words: Sequence[int] = ()
    foreign_words: Sequence[int] = ()

    @property
    def is_complete(self) -> bool:
        """Return whether every document may be written to the output, that is, whether none is withheld."""
        return not any(isinstance(tokens, WithheldDocument) for tokens in self.tokens)


#: Result of a step without documents.
NO_TEXTS = RewrittenDocuments([], [])


class DocumentGroup(NamedTuple):
    """Group of documents: the documents of one row, or of all rows with the same document key.

    If one document of a group must not be written to the output, none of them is written.

    Attributes:
        privacy_units: Names of the privacy units (persons or groups for whom the ledger adds up epsilon) of each
            document. The name is "" for an empty cell, and ``None`` if the privacy unit of the run applies.
        documents: Number of documents in the group.
    """

    privacy_units: tuple[str | None, ...]
    documents: int


class DocumentBlock(Protocol):
    """Protocol of a block of documents that are sanitized together and written in groups."""

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
        """Return the documents in groups, in order. Either all documents of a group are written, or none of them."""
        ...


@dataclass(slots=True, kw_only=True)
class TableRow:
    """A row of a table, split into parts; some parts are cells to sanitize.

    Headings and blank lines are rows without texts, with the number 0.

    Attributes:
        number: Number of the row in its file, from 1, not counting the heading.
        line: Number of the first line of the row in its file, from 1.
        parts: All bytes of the row except the line end. Joined by the ``separator`` of the ``RowLayout``, they are the
            row.
        text_positions: Indices in ``parts`` of the cells to sanitize, without empty cells and nulls.
        texts: Decoded text of each cell to sanitize.
        columns: Column or key of each cell to sanitize; empty for plain text.
        end: Bytes of the line end.
        key: Value in the column of ``--document-key``: rows with equal values form one document. ``None`` if the run
            has no such column.
        privacy_unit: Value in the column that names the person or group for whom the privacy ledger adds up epsilon; ""
            for an empty cell, ``None`` if the run has no such column.
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
    """A row that the run cannot sanitize, with its position, the reason, its bytes, and the class of the error.

    The bytes of the row are as private as the file.
    """

    number: int
    line: int
    reason: str
    raw: bytes = field(repr=False)
    error: Callable[[str], TextveilError] = BadRow


class RowLayout(Protocol):
    """Protocol of objects that split the lines of one file into rows."""

    separator: bytes

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Yield the rows that end in the given lines.

        Args:
            lines: The next lines of the file, with their line ends.
            last: Whether these are the last lines of the file. Otherwise an incomplete row at their end is stored, and
                the next call yields the complete row.
        """
        ...

    def encode_cell(self, text: str) -> bytes:
        """Encode the text of a sanitized cell, with the quotes and escapes of the file format."""
        ...

    def set_position(self, rows: int, lines: int) -> None:
        """Set how many rows and lines precede the first one to read, for a shard (part of a file) in the middle."""
        ...


def encode_long_text(text: str, encode: Callable[[str], bytes], enclosing: bytes) -> bytes:
    """Encode a long text part by part, and return the encoded parts.

    Encoding the whole text at once would need memory for two more copies.

    Args:
        text: The text.
        encode: Encoder of a part; it must encode each character independently of the others.
        enclosing: Bytes to write before and after the whole text, such as a quote.
    """
    encoded = bytearray(enclosing)
    for start in range(0, len(text), LONG_TEXT):
        encoded += encode(text[start : start + LONG_TEXT])
    encoded += enclosing
    return cast(bytes, encoded)  # callers join and write it like bytes; a conversion would copy it


@dataclass(kw_only=True)
class TextBlock:
    """Rows of a text file that form complete documents and are sanitized together.

    Attributes:
        rows: The rows, including headings and blank lines.
        rejected: Rows that the run cannot sanitize, each with the reason.
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
        """Return the number of rows, not counting headings and blank lines."""
        return sum(1 for row in self.rows if row.number)

    @property
    def texts(self) -> list[str]:
        """Return the texts of all cells to sanitize."""
        return [text for row in self.rows for text in row.texts]

    def iterate_cells(self) -> Iterator[tuple[int, str]]:
        """Yield for each text the number of its row and its column (or key), in the order of ``texts``."""
        for row in self.rows:
            yield from ((row.number, column) for column in row.columns or [""] * len(row.texts))

    @property
    def groups(self) -> list[DocumentGroup]:
        """Return the documents in groups, in order. Either all documents of a group are written, or none of them."""
        rows = [row for row in self.rows if row.texts]
        if self._document in ("key", "file"):  # rows without a key form one document
            documents = (of_key for _, of_key in groupby(rows, lambda row: row.key))
            return [DocumentGroup(tuple(dict.fromkeys(row.privacy_unit for row in of_key)), 1) for of_key in documents]
        per_cell = self._document == "cell"
        return [DocumentGroup((row.privacy_unit,), len(row.texts) if per_cell else 1) for row in rows]

    def insert_texts(self, rewritten: RewrittenDocuments) -> list[bytes]:
        """Return the bytes of the rows, with each original text replaced by its sanitized text.

        Rows with a text that must not be written (a ``WithheldDocument``) are moved to ``rejected``.

        Returns:
            A list with one byte string, which has all rows. If a text has at least ``LONG_TEXT`` characters, the list
            has a separate byte string for each cell and separator, since joining them would need memory for two more
            copies of the text.
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
        """Move rows with a ``WithheldDocument`` (text not to be written) to ``rejected``; return the other texts."""
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
    """Counts of the output of one file, or of all files of a run.

    Attributes:
        rows: Number of rows in the output.
        documents: Number of documents (a document is a cell or line, or several of them; see ``ColumnSelection``).
        tokens: Number of randomized tokens, each of which spends epsilon.
        max_tokens: Largest number of these tokens in one document.
        rejected_rows: Number of rows that the run could not sanitize.
        randomized_words: In the mode 'names', how often a word of the option ``randomize`` was randomized.
        replaced_words: In the mode 'names', the number of words that were replaced because no public word list contains
            them.
        foreign_words: In the mode 'names', the number of unchanged words of other languages.
        mostly_replaced_documents: Number of documents with at least 12 words of which less than half are unchanged
            words of the language of the bundle.
    """

    rows: int = 0
    documents: int = 0
    tokens: int = 0
    max_tokens: int = 0
    rejected_rows: int = 0
    randomized_words: int = 0
    replaced_words: int = 0
    foreign_words: int = 0
    mostly_replaced_documents: int = 0

    def __add__(self, other: "RunCounts") -> "RunCounts":
        sums = {name: count + getattr(other, name) for name, count in asdict(self).items()}
        return RunCounts(**sums | {"max_tokens": max(self.max_tokens, other.max_tokens)})


def sanitize_block(
    sanitizer: Sanitizer,
    texts: list[str],
    sizes: list[int],
    options: Options,
    save_mapping: "Callable[[Restorer], None] | None" = None,
) -> RewrittenDocuments:
    """Sanitize several documents, each of one or more texts.

    All documents are first sanitized in one call. If one of them is too long for consistent replacement, all results of
    the call are discarded, and each document is sanitized in a separate call. A ``WithheldDocument`` takes the place of
    each document that is too long.

    Args:
        sanitizer: The sanitizer.
        texts: Texts of all documents, one document after the other.
        sizes: Number of texts in each document.
        options: Options of ``Sanitizer.sanitize``.
        save_mapping: Called with the mapping (from surrogates to originals) of each document; ``None`` to discard it.

    Privacy:
        At most one sanitized form of each document is returned, with the guarantee of ``Sanitizer.sanitize``.
    """
    if save_mapping is None and not options.get("consistent") and len(texts) == len(sizes):
        results = sanitizer.sanitize_batch(texts, **options)
        return _collect_results([[result.text] for result in results], results)
    remaining = iter(texts)
    documents = [[*islice(remaining, size)] for size in sizes]
    try:
        documents_results = sanitizer.sanitize_documents(documents, **options)
        for one in documents_results:
            if save_mapping is not None and one.mapping is not None:
                save_mapping(one.mapping)
        return _collect_results([one.texts for one in documents_results], documents_results)
    except DocumentTooLong:
        if len(documents) == 1:
            return RewrittenDocuments([TOO_LONG] * len(texts), [TOO_LONG])
    separate_results = [
        sanitize_block(sanitizer, document, [len(document)], options, save_mapping) for document in documents
    ]
    return RewrittenDocuments(
        [text for one in separate_results for text in one.texts],
        [one.tokens[0] for one in separate_results],
        randomized_words=[sum(one.randomized_words) for one in separate_results],
        replaced_words=[sum(one.replaced_words) for one in separate_results],
        foreign_words=[sum(one.foreign_words) for one in separate_results],
    )


def _collect_results(texts: Iterable[Sequence[str]], results: Sequence[Any]) -> RewrittenDocuments:
    """Return the sanitized texts of all documents, and for each document its numbers of tokens and of changed words."""
    return RewrittenDocuments(
        [text for of_one in texts for text in of_one],
        [one.tokens for one in results],
        randomized_words=[one.randomized_words for one in results],
        replaced_words=[one.replaced_words for one in results],
        foreign_words=[one.foreign_words for one in results],
    )
