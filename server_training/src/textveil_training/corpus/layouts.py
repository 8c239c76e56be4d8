"""Find the texts in the files of each data format, for ``textveil_cli.files``.

Only texts are sanitized: labels, scores, numbers, attributes and all other columns are copied unchanged.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil_cli.files import ColumnSelection, LayoutFactory, RejectedRow, RowLayout, TableRow

from textveil_training.data import get_format
from textveil_training.data.published import SEPARATOR
from textveil_training.data.tables import ENDINGS, JSON_ENDINGS, find_columns
from textveil_training.errors import DataOptionError

_HEADING = re.compile(rb"(\s*(?:=\s+)+)(.*?)((?:\s+=)+\s*)", re.DOTALL)


@dataclass(frozen=True)
class TabColumns:
    """Columns of a file in which tabs separate columns and nothing is quoted, as in published data sets.

    Attributes:
        texts: Positions of the text columns, ascending, from 0.
        width: Number of columns.
        header: Whether the first line has column names.
    """

    texts: tuple[int, ...]
    width: int
    header: bool

    def __call__(self, selection: ColumnSelection, name: str) -> RowLayout:
        """Create the object that splits one tab-separated file into rows and columns."""
        return TabbedLayout(self)

    @property
    def selection(self) -> ColumnSelection:
        """Return the text columns as a ``ColumnSelection``, in which columns are numbered from 1."""
        return ColumnSelection(format="tsv", columns=tuple(str(place + 1) for place in self.texts), header=self.header)


@dataclass(frozen=True)
class RewritePlan:
    """Description of how to find the texts in a file: the text columns, and the parser of rows.

    Attributes:
        selection: Format and text columns of the file.
        layout: Function that makes the ``RowLayout``, which splits the file into rows; ``None`` if
            ``textveil_cli.files`` already has a parser for the format.
    """

    selection: ColumnSelection
    layout: LayoutFactory | None = None


def plan_rewrite(format_name: str, path: Path, text_keys: Sequence[str]) -> RewritePlan:
    """Find the text columns of a file, and choose the parser that splits the file into rows.

    Args:
        format_name: A key of ``data.FORMATS``.
        path: The file. For the format ``table`` the result depends on the first row of the file and on the ending of
            its name.
        text_keys: Keys or columns of the texts (formats ``jsonl`` and ``table``).

    Raises:
        UnknownFormat: There is no format of that name.
        DataOptionError: The file is not a table.
        DataError: The columns of a table are not found; see ``tables.find_columns``.
    """
    columns = get_format(format_name).columns
    if columns is not None:
        return _plan_tabs(TabColumns(columns.texts, columns.width, bool(columns.names)))
    if format_name not in ("jsonl", "table"):
        return RewritePlan(ColumnSelection(format="lines"), make_wikitext_layout if format_name == "wikitext" else None)
    ending = ".jsonl" if format_name == "jsonl" else path.suffix.lower()
    if ending not in ENDINGS:
        raise DataOptionError(
            f"the file name must end in {', '.join(ENDINGS)}: rename the file, or choose another --format"
        )
    if ending in JSON_ENDINGS:  # json.dumps quotes a key, so that dots in it do not separate nested keys
        return RewritePlan(ColumnSelection(format="jsonl", columns=tuple(map(json.dumps, text_keys))))
    if ending == ".parquet":
        return RewritePlan(ColumnSelection(format="parquet", columns=tuple(text_keys)))
    places, width, header = find_columns(path, list(text_keys))
    if ending == ".csv":
        return RewritePlan(ColumnSelection(format="csv", columns=tuple(text_keys), header=header))
    return _plan_tabs(TabColumns(tuple(sorted(places)), width, header))


def _plan_tabs(tabs: TabColumns) -> RewritePlan:
    return RewritePlan(tabs.selection, tabs)


def make_wikitext_layout(selection: ColumnSelection, name: str) -> RowLayout:
    """Make the object that splits one WikiText file into rows."""
    return WikitextLayout()


class WikitextLayout:
    """``RowLayout`` that splits a WikiText file into lines, and copies the equals signs of headings.

    A heading is a line such as `` = = Life = = ``; only its text ``Life`` is sanitized.
    """

    separator = b""

    def __init__(self) -> None:
        self._line = 0

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Split consecutive lines of the file into rows, and yield the rows.

        Args:
            lines: Consecutive lines of the file, with line ends.
            last: Not used, since each line is a row.
        """
        for line in lines:
            self._line += 1
            heading = _HEADING.fullmatch(line)
            parts = [b"", line, b""] if heading is None or _is_uneven(heading) else list(heading.groups())
            try:
                text = parts[1].decode()
            except UnicodeDecodeError:
                yield RejectedRow(number=self._line, line=self._line, reason="not UTF-8", raw=line)
                continue
            end = text[len(text.rstrip("\r\n")) :].encode()
            content = text.removesuffix(end.decode())
            parts[1] = content.encode()
            places, texts = ([1], [content]) if content.strip() else ([], [])
            yield TableRow(number=self._line, line=self._line, parts=parts, text_positions=places, texts=texts, end=end)

    def encode_cell(self, text: str) -> bytes:
        """Encode a text as UTF-8."""
        return text.encode()

    def set_position(self, rows: int, lines: int) -> None:
        """Set the number of lines read so far, so that error messages count lines from the file's start."""
        self._line = lines


def _is_uneven(heading: re.Match[bytes]) -> bool:
    return heading[1].count(b"=") != heading[3].count(b"=")


class TabbedLayout:
    """``RowLayout`` that splits lines at tabs.

    Blank lines, the header, and the separators between train, dev and test rows are copied.

    Args:
        tabs: The columns.
    """

    separator = b"\t"

    def __init__(self, tabs: TabColumns) -> None:
        self._tabs = tabs
        self._row = self._line = 0

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Split consecutive lines of the file into rows, and yield the rows."""
        for line in lines:
            self._line += 1
            content = line.removesuffix(b"\n").removesuffix(b"\r")
            end = line[len(content) :]
            if (self._tabs.header and self._line == 1) or content.strip() in (b"", SEPARATOR.encode()):
                yield TableRow(number=0, line=self._line, parts=[content], end=end)
                continue
            self._row += 1
            cells = content.split(self.separator)
            if len(cells) != self._tabs.width:
                broken = f"{len(cells):,} cells instead of {self._tabs.width:,}"
                yield RejectedRow(number=self._row, line=self._line, reason=broken, raw=line)
                continue
            try:
                texts = [cells[place].decode() for place in self._tabs.texts]
            except UnicodeDecodeError:
                yield RejectedRow(number=self._row, line=self._line, reason="a cell is not utf-8", raw=line)
                continue
            yield TableRow(
                number=self._row, line=self._line, parts=cells, text_positions=self._tabs.texts, texts=texts, end=end
            )

    def encode_cell(self, text: str) -> bytes:
        """Encode a text as UTF-8."""
        return text.encode()

    def set_position(self, rows: int, lines: int) -> None:
        """Set the numbers of rows and lines read so far, so that errors count from the file's start."""
        self._row, self._line = rows, lines
