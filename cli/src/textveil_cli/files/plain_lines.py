"""Plain text files: each line is a row with one text, or the whole file is one row."""

from collections.abc import Iterable, Iterator

from textveil_cli.columns import ColumnSelection
from textveil_cli.errors import FieldTooLong
from textveil_cli.files.blocks import RejectedRow, TableRow


class LinesLayout:
    """``RowLayout`` of a plain text file: each line is a row, or the whole file is one row.

    Args:
        selection: Whether a document is a line or the file.
        name: Name of the file in errors.
    """

    separator = b""

    def __init__(self, selection: ColumnSelection, name: str) -> None:
        self._selection, self._name = selection, name
        self._line = self._size = 0
        self._file_lines: list[bytes] = []

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Split the given lines into rows, and yield each row that is complete.

        Raises:
            FieldTooLong: A line, or a file that is one document, is longer than the limit.
        """
        for line in lines:
            self._line += 1
            if self._selection.document == "file":
                self._file_lines.append(line)
                self._size += len(line)
                self._refuse_long(self._size)
                continue
            self._refuse_long(len(line))
            yield self._make_row(line, self._line)
        if last and self._file_lines:
            yield self._make_row(b"".join(self._file_lines), 1)

    def set_position(self, rows: int, lines: int) -> None:
        """Set how many lines of the file precede the first line that this object reads (``RowLayout.set_position``)."""
        self._line = lines

    def encode_cell(self, text: str) -> bytes:
        """Encode a text as UTF-8, without quotes or escapes."""
        return text.encode()

    def _refuse_long(self, size: int) -> None:
        if size > self._selection.max_field:
            raise FieldTooLong(f"{self._name}, line {self._line}: a document exceeds --max-field-bytes")

    def _make_row(self, raw: bytes, line: int) -> TableRow | RejectedRow:
        content = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return RejectedRow(number=line, line=line, reason="not UTF-8", raw=raw)
        positions, texts = ([0], [text]) if text else ([], [])
        return TableRow(
            number=line, line=line, parts=[content], text_positions=positions, texts=texts, end=raw[len(content) :]
        )
