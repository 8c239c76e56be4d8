"""Rows of tables: bytes that stay unchanged, and cells to rewrite."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple, Protocol, cast

from textveil.errors import TextveilError

from textveil_cli.errors import BadRow

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


class DocumentGroup(NamedTuple):
    """Documents of a row, or of rows with one key, that are released together or not at all.

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
        end: The line end.
        key: Value of the document key; ``None`` without one.
        privacy_unit: Value of the column of privacy units, "" where it is empty; ``None`` without such a column.
    """

    number: int
    line: int
    parts: list[bytes]
    text_positions: Sequence[int] = ()
    texts: list[str] = field(default_factory=list)
    end: bytes = b""
    key: str | None = None
    privacy_unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedRow:
    """A rejected row: its position, the reason, its bytes, and the class of its error.

    It is as private as the file.
    """

    number: int
    line: int
    reason: str
    raw: bytes = field(repr=False)
    error: Callable[[str], TextveilError] = BadRow


class RowLayout(Protocol):
    """Layout of one file, which splits its lines into rows."""

    separator: bytes

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Yield the rows of some lines, line ends included.

        A row without its last line waits for the next call, unless ``last`` is true.
        """
        ...

    def encode_cell(self, text: str) -> bytes:
        """Return the bytes of a rewritten cell."""
        ...

    def set_position(self, rows: int, lines: int) -> None:
        """Continue the counts after this many earlier rows and lines."""
        ...


def encode_long_text(text: str, encode: Callable[[str], bytes], enclosing: bytes) -> bytes:
    """Encode a long text in parts: encoding it at once would hold it twice more in memory.

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
