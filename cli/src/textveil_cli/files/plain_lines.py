"""Plain text: each line is a row with one text, or the whole file is one row."""

from collections.abc import Iterable, Iterator

from textveil.errors import FieldTooLong

from textveil_cli.files.rows import Bad, Row
from textveil_cli.files.selection import Selection


class LinesLayout:
    """Layout of one file of plain text: each line, or the whole file, is a row.

    Args:
        selection: Whether a document is a line or the file.
        name: Name of the file in errors.
    """

    glue = b""

    def __init__(self, selection: Selection, name: str) -> None:
        self._selection, self._name = selection, name
        self._line = self._size = 0
        self._whole: list[bytes] = []

    def rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[Row | Bad]:
        """Yield the rows of some lines; see ``Layout``.

        Raises:
            FieldTooLong: A line, or a file that is one document, is longer than the limit.
        """
        for line in lines:
            self._line += 1
            if self._selection.document == "file":
                self._whole.append(line)
                self._size += len(line)
                self._refuse_long(self._size)
                continue
            self._refuse_long(len(line))
            yield self._read(line, self._line)
        if last and self._whole:
            yield self._read(b"".join(self._whole), 1)

    def go_on(self, rows: int, lines: int) -> None:
        """Continue the count of lines from this number; see ``Layout``."""
        self._line = lines

    def encode(self, text: str) -> bytes:
        """Return a text as UTF-8."""
        return text.encode()

    def _refuse_long(self, size: int) -> None:
        if size > self._selection.max_field:
            raise FieldTooLong(f"{self._name}, line {self._line}: a document is longer than --max-field allows")

    def _read(self, raw: bytes, line: int) -> Row | Bad:
        content = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return Bad(number=line, line=line, reason="not UTF-8", raw=raw)
        places, texts = ([0], [text]) if text else ([], [])
        return Row(number=line, line=line, parts=[content], places=places, texts=texts, end=raw[len(content) :])
