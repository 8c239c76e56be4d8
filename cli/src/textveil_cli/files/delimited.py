"""CSV and TSV (RFC 4180): rewrite selected cells, and keep all other bytes."""

import re
from collections.abc import Iterable, Iterator

from textveil.errors import ColumnError, FieldTooLong, InputError

from textveil_cli.columns import list_columns, name_option, suggest_column
from textveil_cli.files.rows import LONG_TEXT, Bad, Row, in_pieces
from textveil_cli.files.selection import MAX_CELLS, Selection

_DELIMITERS = {"csv": ",", "tsv": "\t"}
# A quoted cell is one part in quotes or several without a blank between them. Most have one part. Cells with more than
# 50 parts would take much memory in a pattern; `_cut` splits them.
_QUOTED = rb'(?>(?:"[^"]*+"){1,50})(?!")'
_ENDS = (b"", b"\n", b"\r\n")


class DelimitedLayout:
    """Layout of one delimited file, which splits its lines into rows.

    A cell in quotes may hold delimiters and line ends, and a quote in it is doubled. A quote inside a cell that does
    not begin with one is an ordinary character. Blank lines are copied.

    Args:
        selection: Columns, header, delimiter and encoding.
        name: Name of the file in errors.
    """

    def __init__(self, selection: Selection, name: str) -> None:
        delimiter = selection.delimiter or _DELIMITERS[selection.format]
        self.glue = delimiter.encode()
        self._selection, self._name, self._codec = selection, name, selection.codec
        plain = rb"[^%b\r\n]*+" % re.escape(self.glue)
        self._plain = re.compile(plain)
        self._cell = re.compile(rb'(%b|(?!")%b)%b' % (_QUOTED, plain, re.escape(self.glue)))
        self._to_quote = re.compile(rf'[{re.escape(delimiter)}"\r\n]')
        self._width = 0  # number of cells of a row; 0 before the first row
        self._places: list[int] = []
        self._kept: list[int] | None = None
        self._key: int | None = None
        self._scope: int | None = None
        #: Names of the copied columns, set after the header.
        self.copied: list[str] = []
        self._row = self._line = 0
        self._record = _Record()

    def rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[Row | Bad]:
        """Yield the rows of some lines; see ``Layout``.

        Raises:
            ColumnError: A selected column is missing or appears twice, or a file with a header is empty.
            FieldTooLong: A cell is longer than the limit.
            InputError: A quote is not closed, or the header is malformed.
        """
        record = self._record
        for line in lines:
            self._line += 1
            if record.lines:
                record.add(line)
                if record.size > self._selection.max_row:
                    raise FieldTooLong(f"{self._name}, row {self._row + 1}: a cell is longer than --max-field allows")
                if record.quotes % 2:  # the open cell stays open
                    continue
            elif line in _ENDS:
                yield Row(number=0, line=self._line, parts=[line])
                continue
            else:
                content = line.removesuffix(b"\n").removesuffix(b"\r")
                cells = self._split(content)
                if cells is not None:
                    yield self._row_of(cells, line[len(content) :], line, self._line, None)
                    continue
                record.begin(line, self._line)
            raw = record.join()
            broken = self._cut(raw, record)
            if record.open:
                continue
            cells, end = record.cells, raw[record.at :]
            yield self._row_of(cells, end, raw, record.first_line, broken)
            record.lines = []
        if last and record.lines:
            raise InputError(f"{self._name}, row {self._row + 1}: a quote is not closed")
        if last and not self._width and self._selection.header:
            raise ColumnError(f"{self._name}: the file is empty, and has no header")

    def go_on(self, rows: int, lines: int) -> None:
        """Continue the counts of rows and lines from these numbers; see ``Layout``."""
        self._row, self._line = rows, lines

    def encode(self, text: str) -> bytes:
        """Return the bytes of a cell, in quotes only if its new text needs them.

        Text that the file's encoding lacks becomes ``?``.
        """
        quoted = not text or self._to_quote.search(text) is not None
        if len(text) >= LONG_TEXT:
            return in_pieces(text, self._inside, b'"' if quoted else b"")
        return b'"%b"' % self._inside(text) if quoted else text.encode(self._codec, "replace")

    def _inside(self, text: str) -> bytes:
        """Return the bytes between the two quotes of a cell."""
        return text.replace('"', '""').encode(self._codec, "replace")  # a word that an old encoding lacks becomes "?"

    def _split(self, content: bytes) -> list[bytes] | None:
        """Split a line that is one well-formed row; return ``None`` for other lines."""
        if content.count(self.glue) >= MAX_CELLS:  # unless quotes hold them, too many cells to split at once
            return None
        if b'"' not in content:
            return None if b"\r" in content else content.split(self.glue)
        cells = self._cell.findall(content + self.glue)
        sound = sum(map(len, cells)) + len(cells) == len(content) + 1  # otherwise a part of the line matches no cell
        return cells if sound else None

    def _cut(self, raw: bytes, record: "_Record") -> str | None:
        """Split a record with quotes into cells, from its last position.

        Returns:
            A description of the error in the record, or ``None``.
        """
        record.open = False
        at = record.at
        while True:
            end = self._end_of_cell(raw, at)
            if end < 0:
                record.open, record.at, record.quotes = True, at, raw.count(b'"', at)
                return None
            if len(record.cells) == MAX_CELLS:
                return f"more than {MAX_CELLS:,} cells"
            record.cells.append(raw[at:end])
            record.at = end
            if raw.startswith(self.glue, record.at):
                record.at = at = record.at + 1
            elif raw[record.at :] in _ENDS:
                return None
            else:
                return _BARE_RETURN if raw.startswith(b"\r", record.at) else "something follows a closing quote"

    def _end_of_cell(self, raw: bytes, at: int) -> int:
        """Return the end of the cell at a position; -1 if its closing quote has not arrived."""
        if not raw.startswith(b'"', at):
            match = self._plain.match(raw, at)
            assert match is not None  # the pattern also matches an empty cell
            return match.end()
        while (at := raw.find(b'"', at + 1)) >= 0:
            at += 1
            if not raw.startswith(b'"', at):
                return at
        return -1

    def _row_of(self, cells: list[bytes], end: bytes, raw: bytes, line: int, broken: str | None) -> Row | Bad:
        """Return the header, a row with its texts, or a rejected row."""
        if not self._width:
            if broken is not None and self._selection.header:
                raise InputError(f"{self._name}, the header: {broken}")
            self._width = len(cells)
            self._find_columns(cells)
            if self._selection.header:
                return self._leaving(Row(number=0, line=line, parts=cells, end=end))
        self._row += 1
        number = self._row
        if len(raw) > self._selection.max_field and max(map(len, cells)) > self._selection.max_field:
            raise FieldTooLong(f"{self._name}, row {number}: a cell is longer than --max-field allows")
        if broken is None and len(cells) != self._width:
            broken = f"{len(cells):,} cells, where the first row has {self._width:,}"
        if broken is not None:
            return Bad(number=number, line=line, reason=broken, raw=raw)
        try:
            texts = [self._text(cells[place]) for place in self._places]
            key = None if self._key is None else self._text(cells[self._key])
            scope = None if self._scope is None else self._text(cells[self._scope])
        except UnicodeDecodeError:
            return Bad(number=number, line=line, reason=f"a cell is not {self._selection.encoding}", raw=raw)
        places = self._places
        if not all(texts):
            places = [place for place, text in zip(places, texts, strict=True) if text]
            texts = [text for text in texts if text]
        return self._leaving(
            Row(number=number, line=line, parts=cells, places=places, texts=texts, end=end, key=key, scope=scope)
        )

    def _leaving(self, row: Row) -> Row:
        """Return a row without the cells that the output leaves out."""
        if self._kept is not None:
            row.places = [self._kept.index(place) for place in row.places]
            row.parts = [row.parts[place] for place in self._kept]
            if row.parts == [b""]:
                row.parts = [b'""']  # an empty line would be a blank line, not a row
        return row

    def _find_columns(self, cells: list[bytes]) -> None:
        """Look up the selected columns in the first row."""
        names = [cell.decode(self._codec, "replace") for cell in cells]
        names = [name[1:-1].replace('""', '"') if name.startswith('"') else name for name in names]
        if not self._selection.header:
            names = [str(number) for number, _ in enumerate(cells, 1)]
        given = len(self._selection.columns)
        self._places = sorted(
            self._place(names, column, name_option("--column", column, number, given))
            for number, column in enumerate(self._selection.columns, 1)
        )
        named = self._selection.without
        without = [
            self._place(names, column, name_option("--without-column", column, number, len(named)))
            for number, column in enumerate(named, 1)
        ]
        self._kept = self._selection.kept(self._places, without, len(names))
        kept = range(len(names)) if self._kept is None else self._kept
        self.copied = [names[place] for place in kept if place not in self._places]
        if self._selection.document_key is not None:
            self._key = self._place(names, key := self._selection.document_key, name_option("--document-key", key))
        if self._selection.scope_column is not None:
            self._scope = self._place(
                names, scope := self._selection.scope_column, name_option("--scope-column", scope)
            )

    def _place(self, names: list[str], column: str, option: str) -> int:
        found = [place for place, name in enumerate(names) if name == column]
        if len(found) != 1:
            where, hint = "header" if self._selection.header else "first row", ""
            listed = list_columns(names) if self._selection.header else ""
            if not found:
                hint = suggest_column(column, names) or "; --no-header if there is none"
            if listed:
                where += f" ({listed})"
            if not self._selection.header:
                hint = f": with --no-header it is a number from 1 to {len(names)}"
            if not found and len(names) == 1:
                hint = f": the first row is one cell{_meant(names[0], self._selection.delimiter)}"
            raise ColumnError(f"{self._name}: {option} is {'twice' if found else 'not'} in the {where}{hint}")
        return found[0]

    def _text(self, cell: bytes) -> str:
        text = cell.decode(self._codec)
        return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _meant(row: str, delimiter: str | None) -> str:
    """Suggest the delimiter of a first row that has only one cell."""
    mark = max(",;|\t", key=row.count)
    if mark not in row:
        return ", so look at --delimiter, --csv and --tsv"
    of_format = {",": "--csv", "\t": "--tsv"} if delimiter is None else {"\t": "--tsv"}
    return f"; did you mean {of_format.get(mark, f'--delimiter {mark!r}')}?"


_BARE_RETURN = "a carriage return outside quotes"


class _Record:
    """A row with quotes, possibly over many lines; the code scans each byte once.

    Attributes:
        lines: Lines so far; empty between two rows.
        first_line: Number of the first line.
        size: Bytes of the lines.
        cells: Cells before the open one.
        at: Start of the open cell; after the last cell, its end.
        open: Whether the last cell has no closing quote yet.
        quotes: Number of quotes from ``at`` on; an odd number means that the cell is still open.
    """

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.cells: list[bytes] = []
        self.first_line = self.size = self.at = self.quotes = 0
        self.open = False

    def begin(self, line: bytes, number: int) -> None:
        """Begin a row with its first line."""
        self.lines, self.cells, self.first_line, self.size = [line], [], number, len(line)
        self.at = self.quotes = 0

    def add(self, line: bytes) -> None:
        """Add a line to a row whose last cell is open."""
        self.lines.append(line)
        self.size += len(line)
        self.quotes += line.count(b'"')

    def join(self) -> bytes:
        """Return the bytes of the row so far."""
        if len(self.lines) > 1:
            self.lines = [b"".join(self.lines)]
        return self.lines[0]
