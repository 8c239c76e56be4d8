"""CSV and TSV (RFC 4180): cells are cut out of the bytes, and all that is not rewritten stays byte for byte."""

import re
from collections.abc import Iterable, Iterator

from textveil.errors import ColumnError, FieldTooLong, InputError

from textveil_cli.columns import list_columns, name_option, suggest_column
from textveil_cli.files.rows import LONG_TEXT, Bad, Row, in_pieces
from textveil_cli.files.selection import MAX_CELLS, Selection

_DELIMITERS = {"csv": ",", "tsv": "\t"}
# A quoted cell is one part in quotes after the other, without a blank; most have one. Those with very many, for which
# a pattern takes memory, are cut by hand.
_QUOTED = rb'(?>(?:"[^"]*+"){1,50})(?!")'
_ENDS = (b"", b"\n", b"\r\n")


class DelimitedLayout:
    """Cuts the lines of one delimited file into rows.

    A cell in quotes may hold delimiters and line ends, and a quote in it is doubled. A quote inside a cell that does
    not begin with one is a character like any other. Blank lines are passed through.

    Args:
        selection: Columns, header, delimiter and encoding.
        name: What errors call the file.
    """

    def __init__(self, selection: Selection, name: str) -> None:
        delimiter = selection.delimiter or _DELIMITERS[selection.format]
        self.glue = delimiter.encode()
        self._selection, self._name, self._codec = selection, name, selection.codec
        plain = rb"[^%b\r\n]*+" % re.escape(self.glue)
        self._plain = re.compile(plain)
        self._cell = re.compile(rb'(%b|(?!")%b)%b' % (_QUOTED, plain, re.escape(self.glue)))
        self._to_quote = re.compile(rf'[{re.escape(delimiter)}"\r\n]')
        self._width = 0  # cells of a row; 0 until the first one is met
        self._places: list[int] = []
        self._kept: list[int] | None = None
        self._key: int | None = None
        self._scope: int | None = None
        #: Names of the columns that are copied, once the header is read.
        self.copied: list[str] = []
        self._row = self._line = 0
        self._record = _Record()

    def rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[Row | Bad]:
        """Yields the rows of some lines; see ``Layout``.

        Raises:
            ColumnError: A column that was asked for is not there, or twice.
            FieldTooLong: A cell is longer than the cap.
            InputError: A quote is not closed.
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
        """Counts on from so many rows and lines; see ``Layout``."""
        self._row, self._line = rows, lines

    def encode(self, text: str) -> bytes:
        """Returns a cell, in quotes where it needs them, whether the original had any or not."""
        quoted = not text or self._to_quote.search(text) is not None
        if len(text) >= LONG_TEXT:
            return in_pieces(text, self._inside, b'"' if quoted else b"")
        return b'"%b"' % self._inside(text) if quoted else text.encode(self._codec, "replace")

    def _inside(self, text: str) -> bytes:
        """What stands between two quotes."""
        return text.replace('"', '""').encode(self._codec, "replace")  # a word that an old encoding lacks becomes "?"

    def _split(self, content: bytes) -> list[bytes] | None:
        """Cuts a line that is one sound row; ``None`` for others."""
        if content.count(self.glue) >= MAX_CELLS:  # unless quotes hold them, too many cells to cut at once
            return None
        if b'"' not in content:
            return None if b"\r" in content else content.split(self.glue)
        cells = self._cell.findall(content + self.glue)
        sound = sum(map(len, cells)) + len(cells) == len(content) + 1  # otherwise something fits no cell
        return cells if sound else None

    def _cut(self, raw: bytes, record: "_Record") -> str | None:
        """Cuts a record with quotes into cells, from where it was left; returns what is wrong with it."""
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
        """Returns where the cell ends that begins at a place; -1 for one whose closing quote has not arrived."""
        if not raw.startswith(b'"', at):
            match = self._plain.match(raw, at)
            assert match is not None  # it may be empty
            return match.end()
        while (at := raw.find(b'"', at + 1)) >= 0:
            at += 1
            if not raw.startswith(b'"', at):
                return at
        return -1

    def _row_of(self, cells: list[bytes], end: bytes, raw: bytes, line: int, broken: str | None) -> Row | Bad:
        """The header, a row with its texts, or a bad row."""
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
        """A row without the cells that the output does not have."""
        if self._kept is not None:
            row.places = [self._kept.index(place) for place in row.places]
            row.parts = [row.parts[place] for place in self._kept]
            if row.parts == [b""]:
                row.parts = [b'""']  # else it would be a blank line
        return row

    def _find_columns(self, cells: list[bytes]) -> None:
        """Looks up the columns that were asked for in the first row."""
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
    """What a first row of one cell may be meant to be cut at."""
    mark = max(",;|\t", key=row.count)
    if mark not in row:
        return ", so look at --delimiter, --csv and --tsv"
    of_format = {",": "--csv", "\t": "--tsv"} if delimiter is None else {"\t": "--tsv"}
    return f"; did you mean {of_format.get(mark, f'--delimiter {mark!r}')}?"


_BARE_RETURN = "a carriage return outside quotes"


class _Record:
    """A row with quotes, which may go on over many lines; each byte is looked at once.

    Attributes:
        lines: Its lines so far; none between two rows.
        first_line: Number of the first of them.
        size: Bytes of them.
        cells: Its cells up to the open one.
        at: Where the open cell begins; at the end, where the row's last cell ends.
        open: Whether its last cell has no closing quote yet.
        quotes: How many quotes there are from there on: an odd number means that it is open still.
    """

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.cells: list[bytes] = []
        self.first_line = self.size = self.at = self.quotes = 0
        self.open = False

    def begin(self, line: bytes, number: int) -> None:
        """Begins a row."""
        self.lines, self.cells, self.first_line, self.size = [line], [], number, len(line)
        self.at = self.quotes = 0

    def add(self, line: bytes) -> None:
        """Adds a line to a row whose last cell is open."""
        self.lines.append(line)
        self.size += len(line)
        self.quotes += line.count(b'"')

    def join(self) -> bytes:
        """Returns the row as it stands."""
        if len(self.lines) > 1:
            self.lines = [b"".join(self.lines)]
        return self.lines[0]
