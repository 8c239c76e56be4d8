"""CSV and TSV files (RFC 4180): split lines into rows, encode sanitized cells, and copy other bytes."""

import re
from collections.abc import Iterable, Iterator

from textveil.errors import InputError
from textveil.formatting import format_count

from textveil_cli.columns import MAX_CELLS, ColumnSelection, describe_column_option, list_columns, suggest_column
from textveil_cli.errors import ColumnError, FieldTooLong
from textveil_cli.files.blocks import LONG_TEXT, RejectedRow, TableRow, encode_long_text

_DELIMITERS = {"csv": ",", "tsv": "\t"}
# A quoted cell is one part in quotes or several without a blank between them. Most have one part. Cells with more than
# 50 parts would take much memory in a pattern; `_split_quoted_row` splits them.
_QUOTED_CELL = rb'(?>(?:"[^"]*+"){1,50})(?!")'
_LINE_ENDS = (b"", b"\n", b"\r\n")


class DelimitedLayout:
    """``RowLayout`` that splits the lines of a CSV or TSV file into rows.

    A cell in quotes may contain delimiters and line ends; a quote inside it is written twice. In a cell that does not
    begin with a quote, quotes are ordinary characters. Blank lines are copied.

    Args:
        selection: Columns, header, delimiter and encoding.
        name: Name of the file in errors.
    """

    def __init__(self, selection: ColumnSelection, name: str) -> None:
        delimiter = selection.delimiter or _DELIMITERS[selection.format]
        self.separator = delimiter.encode()
        self._selection, self._name, self._codec = selection, name, selection.codec
        unquoted = rb"[^%b\r\n]*+" % re.escape(self.separator)
        self._unquoted_pattern = re.compile(unquoted)
        self._cell_pattern = re.compile(rb'(%b|(?!")%b)%b' % (_QUOTED_CELL, unquoted, re.escape(self.separator)))
        self._quoting_pattern = re.compile(rf'[{re.escape(delimiter)}"\r\n]')
        self._cell_count = 0  # number of cells of a row; 0 before the first row
        self._text_columns: list[int] = []
        self._text_names: list[str] = []
        self._output_columns: list[int] | None = None
        self._key_column: int | None = None
        self._privacy_unit_column: int | None = None
        #: Names of the copied columns, set after the header.
        self.copied: list[str] = []
        self._row = self._line = 0
        self._quoted_row = _QuotedRow()

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Split the given lines into rows, and yield each row that is complete.

        Raises:
            ColumnError: A selected column is missing or appears twice, or a file with a header is empty.
            FieldTooLong: A cell is longer than the limit.
            InputError: A quote is not closed, or the header is malformed.
        """
        quoted_row = self._quoted_row
        for line in lines:
            self._line += 1
            if quoted_row.lines:
                quoted_row.add_line(line)
                if quoted_row.size > self._selection.max_row:
                    raise FieldTooLong(f"{self._name}, row {self._row + 1}: a cell exceeds --max-field-bytes")
                if quoted_row.quotes % 2:  # the last cell is still open
                    continue
            elif line in _LINE_ENDS:
                yield TableRow(number=0, line=self._line, parts=[line])
                continue
            else:
                content = line.removesuffix(b"\n").removesuffix(b"\r")
                cells = self._split_line(content)
                if cells is not None:
                    yield self._make_row(cells, line[len(content) :], line, self._line, None)
                    continue
                quoted_row.start(line, self._line)
            raw = quoted_row.join_lines()
            error = self._split_quoted_row(raw, quoted_row)
            if quoted_row.is_open:
                continue
            cells, end = quoted_row.cells, raw[quoted_row.position :]
            yield self._make_row(cells, end, raw, quoted_row.first_line, error)
            quoted_row.lines = []
        if last and quoted_row.lines:
            raise InputError(f"{self._name}, row {self._row + 1}: a quote is not closed")
        if last and not self._cell_count and self._selection.header:
            raise ColumnError(f"{self._name}: the file is empty: the header is missing")

    def set_position(self, rows: int, lines: int) -> None:
        """Set how many rows and lines precede the first one that this object reads (``RowLayout.set_position``)."""
        self._row, self._line = rows, lines

    def encode_cell(self, text: str) -> bytes:
        """Encode the text of a sanitized cell, with quotes only if the text contains special characters.

        Characters that the file's encoding lacks become ``?``.
        """
        needs_quotes = not text or self._quoting_pattern.search(text) is not None
        if len(text) >= LONG_TEXT:
            return encode_long_text(text, self._escape_quotes, b'"' if needs_quotes else b"")
        return b'"%b"' % self._escape_quotes(text) if needs_quotes else text.encode(self._codec, "replace")

    def _escape_quotes(self, text: str) -> bytes:
        """Return the bytes of a text for a cell in quotes: each quote inside the text is written twice."""
        return text.replace('"', '""').encode(self._codec, "replace")  # a character that the encoding lacks becomes "?"

    def _split_line(self, content: bytes) -> list[bytes] | None:
        """Return the cells of a line that is one well-formed row; ``None`` for every other line."""
        if (
            content.count(self.separator) >= MAX_CELLS
        ):  # too many cells to split at once, unless the delimiters are inside quotes
            return None
        if b'"' not in content:
            return None if b"\r" in content else content.split(self.separator)
        cells = self._cell_pattern.findall(content + self.separator)
        is_complete = (
            sum(map(len, cells)) + len(cells) == len(content) + 1
        )  # otherwise a part of the line matches no cell
        return cells if is_complete else None

    def _split_quoted_row(self, raw: bytes, quoted_row: "_QuotedRow") -> str | None:
        """Continue to split a row with quotes into cells, after more lines of the row have arrived.

        Args:
            raw: Bytes of the row that have arrived.
            quoted_row: The state of the row, which this method updates.

        Returns:
            A description of the error in the row; ``None`` if there is no error so far.
        """
        quoted_row.is_open = False
        position = quoted_row.position
        while True:
            end = self._find_cell_end(raw, position)
            if end < 0:
                quoted_row.is_open, quoted_row.position, quoted_row.quotes = True, position, raw.count(b'"', position)
                return None
            if len(quoted_row.cells) == MAX_CELLS:
                return f"more than {MAX_CELLS:,} cells"
            quoted_row.cells.append(raw[position:end])
            quoted_row.position = end
            if raw.startswith(self.separator, quoted_row.position):
                quoted_row.position = position = quoted_row.position + 1
            elif raw[quoted_row.position :] in _LINE_ENDS:
                return None
            else:
                return (
                    _BARE_RETURN_ERROR if raw.startswith(b"\r", quoted_row.position) else "text follows a closing quote"
                )

    def _find_cell_end(self, raw: bytes, position: int) -> int:
        """Return the end of the cell that starts at ``position``; -1 if its closing quote has not arrived."""
        if not raw.startswith(b'"', position):
            match = self._unquoted_pattern.match(raw, position)
            assert match is not None  # the pattern also matches an empty cell
            return match.end()
        while (position := raw.find(b'"', position + 1)) >= 0:
            position += 1
            if not raw.startswith(b'"', position):
                return position
        return -1

    def _make_row(
        self, cells: list[bytes], end: bytes, raw: bytes, line: int, error: str | None
    ) -> TableRow | RejectedRow:
        """Return the row that consists of ``cells``: the header, a row with texts to sanitize, or a rejected row.

        Args:
            cells: Bytes of each cell, with quotes.
            end: Bytes of the line end.
            raw: Bytes of the whole row.
            line: Number of the first line of the row.
            error: Why the row is malformed; ``None`` if it is well-formed.
        """
        if not self._cell_count:
            if error is not None and self._selection.header:
                raise InputError(f"{self._name}, the header: {error}")
            self._cell_count = len(cells)
            self._find_columns(cells)
            if self._selection.header:
                return self._drop_columns(TableRow(number=0, line=line, parts=cells, end=end))
        self._row += 1
        number = self._row
        if len(raw) > self._selection.max_field and max(map(len, cells)) > self._selection.max_field:
            raise FieldTooLong(f"{self._name}, row {number}: a cell exceeds --max-field-bytes")
        if error is None and len(cells) != self._cell_count:
            error = f"{format_count(len(cells), 'cell')}, but the first row has {self._cell_count:,}"
        if error is not None:
            return RejectedRow(number=number, line=line, reason=error, raw=raw)
        try:
            texts = [self._decode_cell(cells[place]) for place in self._text_columns]
            key = None if self._key_column is None else self._decode_cell(cells[self._key_column])
            privacy_unit = (
                None if self._privacy_unit_column is None else self._decode_cell(cells[self._privacy_unit_column])
            )
        except UnicodeDecodeError:
            return RejectedRow(number=number, line=line, reason=f"a cell is not {self._selection.encoding}", raw=raw)
        positions, names = self._text_columns, self._text_names
        if not all(texts):
            names = [name for name, text in zip(names, texts, strict=True) if text]
            positions = [place for place, text in zip(positions, texts, strict=True) if text]
            texts = [text for text in texts if text]
        return self._drop_columns(
            TableRow(
                number=number,
                line=line,
                parts=cells,
                text_positions=positions,
                texts=texts,
                columns=names,
                end=end,
                key=key,
                privacy_unit=privacy_unit,
            )
        )

    def _drop_columns(self, row: TableRow) -> TableRow:
        """Remove the cells of omitted columns from a row, and return the row."""
        if self._output_columns is not None:
            row.text_positions = [self._output_columns.index(place) for place in row.text_positions]
            row.parts = [row.parts[place] for place in self._output_columns]
            if row.parts == [b""]:
                row.parts = [b'""']  # an empty line would be a blank line, not a row
        return row

    def _find_columns(self, cells: list[bytes]) -> None:
        """Find the positions of all selected columns from the cells of the first row."""
        names = [cell.decode(self._codec, "replace") for cell in cells]
        names = [name[1:-1].replace('""', '"') if name.startswith('"') else name for name in names]
        if not self._selection.header:
            names = [str(number) for number, _ in enumerate(cells, 1)]
        total = len(self._selection.columns)
        self._text_columns = sorted(
            self._find_column(names, column, describe_column_option("--column", column, number, total))
            for number, column in enumerate(self._selection.columns, 1)
        )
        self._text_names = [names[place] for place in self._text_columns]
        left_out_names = self._selection.without
        left_out = [
            self._find_column(
                names, column, describe_column_option("--drop-column", column, number, len(left_out_names))
            )
            for number, column in enumerate(left_out_names, 1)
        ]
        self._output_columns = self._selection.list_output_columns(self._text_columns, left_out, len(names))
        output_columns = range(len(names)) if self._output_columns is None else self._output_columns
        self.copied = [names[place] for place in output_columns if place not in self._text_columns]
        if self._selection.document_key is not None:
            self._key_column = self._find_column(
                names, key := self._selection.document_key, describe_column_option("--document-key", key)
            )
        if self._selection.privacy_unit_column is not None:
            self._privacy_unit_column = self._find_column(
                names,
                unit_column := self._selection.privacy_unit_column,
                describe_column_option("--privacy-unit-column", unit_column),
            )

    def _find_column(self, names: list[str], column: str, option: str) -> int:
        positions = [place for place, name in enumerate(names) if name == column]
        if len(positions) != 1:
            searched, hint = "header" if self._selection.header else "first row", ""
            listed = list_columns(names) if self._selection.header else ""
            if not positions:
                hint = suggest_column(column, names) or "; use --no-header if the file has none"
            searched += f" ({listed})" if listed else ""
            if not listed and not positions:
                hint += "; its cells are not listed, since one may be data"
            if not self._selection.header:
                hint = f": with --no-header columns are numbers from 1 to {len(names)}"
            if not positions and len(names) == 1:
                hint = f": the first row has only one cell{_suggest_delimiter(names[0], self._selection.delimiter)}"
            raise ColumnError(
                f"{self._name}: {option} {'appears twice' if positions else 'is not'} in the {searched}{hint}"
            )
        return positions[0]

    def _decode_cell(self, cell: bytes) -> str:
        text = cell.decode(self._codec)
        return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _suggest_delimiter(row: str, delimiter: str | None) -> str:
    """Return advice about the delimiter for a file whose first row has only one cell."""
    delimiter_found = max(",;|\t", key=row.count)
    if delimiter_found not in row:
        return ": check --delimiter, --csv and --tsv"
    options = {",": "--csv", "\t": "--tsv"} if delimiter is None else {"\t": "--tsv"}
    return f"; did you mean {options.get(delimiter_found, f'--delimiter {delimiter_found!r}')}?"


_BARE_RETURN_ERROR = "a carriage return outside quotes"


class _QuotedRow:
    """State of splitting a row with quotes, which may extend over many lines.

    With this state, each byte is scanned only once.

    Attributes:
        lines: Lines of the row that have arrived; empty between two rows.
        first_line: Number of the first line of the row.
        size: Total bytes of the lines.
        cells: Complete cells.
        position: Start of the first incomplete cell; the end of the last cell if all cells are complete.
        is_open: Whether the closing quote of the last cell has not arrived.
        quotes: Number of quotes from ``position`` on. If it is odd, the cell is still open.
    """

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.cells: list[bytes] = []
        self.first_line = self.size = self.position = self.quotes = 0
        self.is_open = False

    def start(self, line: bytes, number: int) -> None:
        """Begin a new row, given its first line and the number of this line in the file."""
        self.lines, self.cells, self.first_line, self.size = [line], [], number, len(line)
        self.position = self.quotes = 0

    def add_line(self, line: bytes) -> None:
        """Add the next line to a row whose last cell has an opening quote but no closing quote yet."""
        self.lines.append(line)
        self.size += len(line)
        self.quotes += line.count(b'"')

    def join_lines(self) -> bytes:
        """Return the bytes of the incomplete row: all of its lines that have arrived so far."""
        if len(self.lines) > 1:
            self.lines = [b"".join(self.lines)]
        return self.lines[0]
