"""JSON lines: rewrite the strings at selected keys, and keep all other bytes."""

import json
from collections.abc import Iterable, Iterator

from textveil.errors import ColumnError, FieldTooLong, OptionError

from textveil_cli.files.json_keys import EACH, Cut, Unfit, document_key, parse_key, scope_name, tree_of, unique
from textveil_cli.files.rows import LONG_TEXT, Bad, Row, in_pieces
from textveil_cli.files.selection import Selection

#: Reason for rejecting a row that is cut off or not JSON.
_BROKEN = "not a whole JSON object"


class JsonLinesLayout:
    """Layout of one file of JSON objects, one object a line.

    Args:
        selection: Keys, and whether a row may lack one.
        name: Name of the file in errors.

    Raises:
        OptionError: A key does not fit its option.
    """

    glue = b""

    def __init__(self, selection: Selection, name: str) -> None:
        self._selection, self._name = selection, name
        self._paths = [parse_key(key) for key in selection.columns]
        self._tree = tree_of(self._paths)
        if selection.only and any(len(path) > 1 for path in self._paths):
            raise OptionError("--only-columns takes a --key without dots: what stands beside one inside would stay")
        paths = [parse_key(key) for key in selection.without]
        parts = {EACH, *self._tree}.intersection(path[0] for path in paths) or (paths and EACH in self._tree)
        if parts or any(len(path) > 1 for path in paths):
            raise OptionError("--without-column: of JSON lines a whole key without dots, in which nothing is rewritten")
        self._without = frozenset(str(path[0]) for path in paths)
        self._document_key = None if selection.document_key is None else parse_key(selection.document_key)
        self._scope = None if selection.scope_column is None else parse_key(selection.scope_column)
        #: Keys of the first object that are copied, set after it is read.
        self.copied: list[str] = []
        self._line = self._row = 0
        self._met = False

    def rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[Row | Bad]:
        """Yield the rows of some lines; see ``Layout``.

        Raises:
            ColumnError: No row of the file has any of the keys.
            FieldTooLong: A text is longer than the limit.
        """
        for line in lines:
            self._line += 1
            if not line.strip():
                yield Row(number=0, line=self._line, parts=[line])
                continue
            self._row += 1
            yield self._read(line)
        if last and self._row and not self._met and self._selection.allow_missing:
            raise ColumnError(f"{self._name}: no row has any of the keys")

    def go_on(self, rows: int, lines: int) -> None:
        """Continue the counts of rows and lines from these numbers; see ``Layout``."""
        self._row, self._line = rows, lines

    def encode(self, text: str) -> bytes:
        """Return the bytes of a JSON string."""
        try:
            if len(text) >= LONG_TEXT:
                return in_pieces(text, lambda piece: json.dumps(piece, ensure_ascii=False)[1:-1].encode(), b'"')
            return json.dumps(text, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half of a surrogate pair: ASCII escapes, the only valid way to write it
            return json.dumps(text).encode()

    def _read(self, line: bytes) -> Row | Bad:
        try:
            text = line.decode()
            cut = Cut(text, self._without, only=self._selection.only, allow_missing=self._selection.allow_missing)
            cut.object(self._tree)
            keyed = json.loads(text, object_pairs_hook=unique) if self._document_key or self._scope else None
            key = document_key(keyed, self._document_key) if self._document_key else None
            scope = scope_name(keyed, self._scope) if self._scope else None
        except UnicodeDecodeError:
            return Bad(number=self._row, line=self._line, reason="not UTF-8", raw=line)
        except Unfit as unfit:
            cut_off = line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}")
            return Bad(number=self._row, line=self._line, reason=_BROKEN if cut_off else str(unfit), raw=line)
        except (ValueError, IndexError):
            return Bad(number=self._row, line=self._line, reason=_BROKEN, raw=line)
        except RecursionError:
            return Bad(number=self._row, line=self._line, reason="lists in lists, too deep", raw=line)
        self._met = self._met or cut.met
        self.copied = self.copied or cut.copied
        if len(line) > self._selection.max_field and any(
            len(found.encode("utf-8", "surrogatepass")) > self._selection.max_field
            for *_, found in cut.strings
            if found
        ):
            raise FieldTooLong(f"{self._name}, row {self._row}: a text is longer than --max-field allows")
        parts: list[bytes] = []
        texts: list[str] = []
        at, before = 0, ""
        for start, end, found in cut.strings:
            if found != "":
                before, at = before + text[at:start], end
            if found:
                parts += before.encode(), b""
                texts.append(found)
                before = ""
        last = (before + text[at:]).encode()
        return Row(
            number=self._row,
            line=self._line,
            parts=[*parts, last],
            places=range(1, len(parts), 2),
            texts=texts,
            end=b"",
            key=key,
            scope=scope,
        )
