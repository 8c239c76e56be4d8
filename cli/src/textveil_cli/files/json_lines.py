"""JSON lines files: split into rows, encode the sanitized strings, and copy other bytes."""

import json
from collections.abc import Iterable, Iterator

from textveil.errors import OptionError

from textveil_cli.columns import ColumnSelection
from textveil_cli.errors import ColumnError, FieldTooLong
from textveil_cli.files.blocks import LONG_TEXT, RejectedRow, TableRow, encode_long_text
from textveil_cli.files.json_keys import (
    EACH_ITEM,
    KeyParser,
    RowMismatch,
    build_key_tree,
    get_document_key,
    get_privacy_unit,
    name_leaves,
    parse_key,
    reject_duplicate_keys,
)

#: Reason for rejecting a row that is cut off or not JSON.
_NOT_JSON_REASON = "not a complete JSON object"


class JsonLinesLayout:
    """``RowLayout`` that splits a JSON lines file (one JSON object per line) into rows.

    Args:
        selection: Selected keys, and whether a row may lack some of them.
        name: Name of the file in errors.

    Raises:
        OptionError: A key is malformed, or two options contradict each other about a key.
    """

    separator = b""

    def __init__(self, selection: ColumnSelection, name: str) -> None:
        self._selection, self._name = selection, name
        self._key_paths = [parse_key(key) for key in selection.columns]
        self._key_tree = build_key_tree(self._key_paths)
        self._keys_by_leaf = name_leaves(self._key_tree, self._key_paths, selection.columns)
        if selection.only and any(len(path) > 1 for path in self._key_paths):
            raise OptionError(
                "--drop-other-columns needs keys without dots: other keys of an inner object would remain"
            )
        left_out_paths = [parse_key(key) for key in selection.without]
        overlaps = {EACH_ITEM, *self._key_tree}.intersection(path[0] for path in left_out_paths) or (
            left_out_paths and EACH_ITEM in self._key_tree
        )
        if overlaps or any(len(path) > 1 for path in left_out_paths):
            raise OptionError(
                "--drop-column takes a top-level key; no --key may select it or a part of it: choose another key"
            )
        self._left_out_keys = frozenset(str(path[0]) for path in left_out_paths)
        self._document_key_path = None if selection.document_key is None else parse_key(selection.document_key)
        self._privacy_unit_path = (
            None if selection.privacy_unit_column is None else parse_key(selection.privacy_unit_column)
        )
        #: Keys of the first object that are copied, set after it is read.
        self.copied: list[str] = []
        self._line = self._row = 0
        self._has_leaf = False

    def split_rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[TableRow | RejectedRow]:
        """Split the given lines into rows, and yield each row that is complete.

        Raises:
            ColumnError: No row of the file has any of the keys.
            FieldTooLong: A text is longer than the limit.
        """
        for line in lines:
            self._line += 1
            if not line.strip():
                yield TableRow(number=0, line=self._line, parts=[line])
                continue
            self._row += 1
            yield self._parse_line(line)
        if last and self._row and not self._has_leaf and self._selection.allow_missing:
            raise ColumnError(f"{self._name}: no row has any of the keys: check --key")

    def set_position(self, rows: int, lines: int) -> None:
        """Set how many rows and lines precede the first one that this object reads (``RowLayout.set_position``)."""
        self._row, self._line = rows, lines

    def encode_cell(self, text: str) -> bytes:
        """Encode a text as a JSON string, with quotes."""
        try:
            if len(text) >= LONG_TEXT:
                return encode_long_text(text, lambda piece: json.dumps(piece, ensure_ascii=False)[1:-1].encode(), b'"')
            return json.dumps(text, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half of a surrogate pair: ASCII escapes, the only valid way to write it
            return json.dumps(text).encode()

    def _parse_line(self, line: bytes) -> TableRow | RejectedRow:
        try:
            text = line.decode()
            parser = KeyParser(
                text, self._left_out_keys, only=self._selection.only, allow_missing=self._selection.allow_missing
            )
            parser.parse_line(self._key_tree)
            row_object = (
                json.loads(text, object_pairs_hook=reject_duplicate_keys)
                if self._document_key_path or self._privacy_unit_path
                else None
            )
            key = get_document_key(row_object, self._document_key_path) if self._document_key_path else None
            privacy_unit = get_privacy_unit(row_object, self._privacy_unit_path) if self._privacy_unit_path else None
        except UnicodeDecodeError:
            return RejectedRow(number=self._row, line=self._line, reason="not UTF-8", raw=line)
        except RowMismatch as unfit:
            is_cut_off = line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}")
            return RejectedRow(
                number=self._row, line=self._line, reason=_NOT_JSON_REASON if is_cut_off else str(unfit), raw=line
            )
        except (ValueError, IndexError):
            return RejectedRow(number=self._row, line=self._line, reason=_NOT_JSON_REASON, raw=line)
        except RecursionError:
            return RejectedRow(number=self._row, line=self._line, reason="too deeply nested", raw=line)
        self._has_leaf = self._has_leaf or parser.has_leaf
        self.copied = self.copied or parser.copied
        if len(line) > self._selection.max_field and any(
            len(found.encode("utf-8", "surrogatepass")) > self._selection.max_field
            for *_, found in parser.strings
            if found
        ):
            raise FieldTooLong(f"{self._name}, row {self._row}: a text exceeds --max-field-bytes")
        parts: list[bytes] = []
        texts, names = list[str](), list[str]()
        position, before = 0, ""
        for start, end, found in parser.strings:
            if found != "":
                before, position = before + text[position:start], end
            if found:
                parts += before.encode(), b""
                texts.append(found)
                names.append(self._keys_by_leaf[id(parser.leaves[start])])
                before = ""
        last = (before + text[position:]).encode()
        return TableRow(
            number=self._row,
            line=self._line,
            parts=[*parts, last],
            text_positions=range(1, len(parts), 2),
            texts=texts,
            columns=names,
            end=b"",
            key=key,
            privacy_unit=privacy_unit,
        )
