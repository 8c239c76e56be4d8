"""What of a file is rewritten: its format, the columns or keys, and which cells are one document."""

import codecs
from collections.abc import Collection
from dataclasses import dataclass

from textveil.errors import OptionError

#: Formats with the endings of their files, compressed or not.
FORMATS = {
    "lines": (".txt",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
#: Bytes of these encodings that are ASCII characters are nothing else, so cells can be cut without decoding them.
_ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "cp1252": "cp1252"}
MAX_FIELD = 16_000_000
#: Most cells of a row, and values of a JSON line: each is an object in memory.
MAX_CELLS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What of every file of a run is rewritten.

    Attributes:
        format: A key of ``FORMATS``.
        columns: Names of columns, or keys of JSON lines as ``messages[].content``; none for lines.
        document: Which texts are one document, that consistent draws rewrite together: ``"cell"`` each, those of a
            ``"row"``, those of rows with one ``"key"``; for lines ``"cell"`` is a line, and ``"file"`` all of a file.
        document_key: The column or key whose value rows of one document share; they follow each other.
        header: Whether the first row of a delimited file has the names; otherwise columns are numbers from 1.
        delimiter: What is between cells; that of the format if left out.
        encoding: Encoding of a delimited file: ``utf-8``, ``latin-1`` or ``cp1252``.
        allow_missing: Whether a row of JSON lines may lack a key.
        max_field: Most bytes of a field; a row has at most four times as many.
        scope_column: The column or key whose value names the ledger's scope of a row.
        without: Columns that the output does not have.
        only: Whether it has none but those that are rewritten.

    Raises:
        OptionError: The values do not go together.
    """

    format: str
    columns: tuple[str, ...] = ()
    document: str = "cell"
    document_key: str | None = None
    header: bool = True
    delimiter: str | None = None
    encoding: str = "utf-8"
    allow_missing: bool = False
    max_field: int = MAX_FIELD
    scope_column: str | None = None
    without: tuple[str, ...] = ()
    only: bool = False

    def __post_init__(self) -> None:
        what = "--key" if self.format == "jsonl" else "--column"
        if self.format == "lines" and self.columns:
            raise OptionError("--column and --key are for tables: say --csv, --tsv, --jsonl or --parquet")
        if self.format != "lines" and not self.columns:
            raise OptionError(f"a table needs {what} NAME: where the texts are (--plain if it is plain text)")
        if len(set(self.columns)) < len(self.columns):
            raise OptionError(f"{what}: a name is given twice")
        if self.document not in (("cell", "file") if self.format == "lines" else ("cell", "row", "key")):
            raise OptionError("--document is line or file for plain text, cell or row for tables")
        if (self.without or self.only) and self.format == "lines":
            raise OptionError(
                "--without-column and --only-columns are for tables: say --csv, --tsv, --jsonl or --parquet"
            )
        if self.without and self.only:
            raise OptionError("--without-column and --only-columns exclude each other")
        if set(self.without) & set(self.columns) or len(set(self.without)) < len(self.without):
            raise OptionError("--without-column: one is rewritten too, or given twice: name it once")
        if self.format == "lines" and self.scope_column is not None:
            raise OptionError("--scope-column is for tables")
        if self.format == "parquet" and self.document == "key":
            raise OptionError("--document-key is for CSV, TSV and JSON lines")
        if self.format not in ("csv", "tsv") and not (self.header and self.delimiter is None):
            raise OptionError("--no-header and --delimiter are for --csv and --tsv")
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii()
        ):
            raise OptionError("--delimiter is one ASCII character: not a quote, not a line end (--tsv is for tabs)")
        if self.format not in ("csv", "tsv") and self.encoding != "utf-8":
            raise OptionError("--encoding is for --csv and --tsv")
        if self.allow_missing and self.format != "jsonl":
            raise OptionError("--allow-missing is for --jsonl")
        self.codec  # noqa: B018 - it is known now whether there is such an encoding

    @property
    def codec(self) -> str:
        """The encoding as Python calls it."""
        try:
            return _ENCODINGS[codecs.lookup(self.encoding).name]
        except (LookupError, ValueError):
            raise OptionError("--encoding is utf-8, latin-1 or cp1252") from None

    def kept(self, rewritten: Collection[int], without: Collection[int], count: int) -> list[int] | None:
        """Returns the places of those columns that the output has; ``None`` where it has all."""
        left = [place for place in range(count) if place in rewritten or not (self.only or place in without)]
        return None if len(left) == count else left

    @property
    def max_row(self) -> int:
        """Most bytes of a row."""
        return 4 * self.max_field

    @property
    def described(self) -> dict[str, object] | None:
        """What a receipt says of a table: all else is copied; ``None`` for plain text."""
        return None if self.format == "lines" else {"format": self.format, "rewritten": list(self.columns)}
