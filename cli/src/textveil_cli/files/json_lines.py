"""JSON lines: the strings at some keys are cut out of the bytes of each line; the rest stays byte for byte."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from textveil.errors import ColumnError, FieldTooLong, OptionError

from textveil_cli.files.rows import LONG_TEXT, Bad, Row, in_pieces
from textveil_cli.files.selection import MAX_CELLS, Selection

#: A step into every item of a list.
EACH = None
Node = dict["str | None", "Node"]
_STEP = re.compile(r'"(?:[^"\\]|\\.)*"|[^."\[\]]+|\[\]')
_BLANK = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_ESCAPE_QUOTE_OR_COMMA = re.compile(r'\\.|[",]', re.DOTALL)
_NEXT = re.compile(r"[ \t\r\n]*([,\]}])[ \t\r\n]*")
#: Reads the value that begins somewhere, and says where it ends. Numbers of any length are skipped, not kept.
_read = json.JSONDecoder(parse_int=float).raw_decode


#: Why a row is bad that is cut off, or something else than JSON.
_BROKEN = "not a whole JSON object"


def parse_key(key: str) -> tuple[str | None, ...]:
    """Returns the steps of a key: ``messages[].content`` is ``("messages", EACH, "content")``.

    A name with dots or brackets stands in quotes: ``"a.b"[]``.

    Raises:
        OptionError: It cannot be read.
    """
    steps: list[str | None] = []
    at = 0
    while match := _STEP.match(key, at):
        part, at = match[0], match.end()
        steps.append(EACH if part == "[]" else json.loads(part) if part.startswith('"') else part)
        if at == len(key):
            return tuple(steps)
        if key[at] == ".":
            at += 1
        elif key[at] != "[":
            break
    raise OptionError("--key is names with dots between them, and [] after the name of a list: messages[].content")


class JsonLinesLayout:
    """Cuts the lines of one file of JSON objects.

    Args:
        selection: Keys, and whether a row may lack one.
        name: What errors call the file.
    """

    glue = b""

    def __init__(self, selection: Selection, name: str) -> None:
        self._selection, self._name = selection, name
        self._paths = [parse_key(key) for key in selection.columns]
        self._tree: Node = {}
        for path in self._paths:
            node = self._tree
            for step in path:
                node = node.setdefault(step, {})
        leaves = sum(1 for _ in _leaves(self._tree))
        if leaves < len(self._paths):
            raise OptionError("--key: one is given twice, or is a part of another")
        if selection.only and any(len(path) > 1 for path in self._paths):
            raise OptionError("--only-columns takes a --key without dots: what stands beside one inside would stay")
        paths = [parse_key(key) for key in selection.without]
        parts = {EACH, *self._tree}.intersection(path[0] for path in paths) or (paths and EACH in self._tree)
        if parts or any(len(path) > 1 for path in paths):
            raise OptionError("--without-column: of JSON lines a whole key without dots, in which nothing is rewritten")
        self._without = frozenset(str(path[0]) for path in paths)
        self._document_key = None if selection.document_key is None else parse_key(selection.document_key)
        self._scope = None if selection.scope_column is None else parse_key(selection.scope_column)
        self._line = self._row = 0
        self._met = False

    def rows(self, lines: Iterable[bytes], *, last: bool) -> Iterator[Row | Bad]:
        """Yields the rows of some lines; see ``Layout``.

        Raises:
            ColumnError: No row of the file has any of the keys.
            FieldTooLong: A text is longer than the cap.
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
        """Counts on from so many rows and lines; see ``Layout``."""
        self._row, self._line = rows, lines

    def encode(self, text: str) -> bytes:
        """Returns a JSON string."""
        try:
            if len(text) >= LONG_TEXT:
                return in_pieces(text, lambda piece: json.dumps(piece, ensure_ascii=False)[1:-1].encode(), b'"')
            return json.dumps(text, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half of a pair: it is written as it can only have been written
            return json.dumps(text).encode()

    def _read(self, line: bytes) -> Row | Bad:
        try:
            text = line.decode()
            _refuse_many_values(text)
            cut = _Cut(text, self._without, only=self._selection.only, allow_missing=self._selection.allow_missing)
            cut.object(self._tree)
            keyed = json.loads(text, object_pairs_hook=_unique) if self._document_key or self._scope else None
            key = _key(keyed, self._document_key) if self._document_key else None
            scope = _scope(keyed, self._scope) if self._scope else None
        except UnicodeDecodeError:
            return Bad(number=self._row, line=self._line, reason="not UTF-8", raw=line)
        except _Unfit as unfit:
            cut_off = line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}")
            return Bad(number=self._row, line=self._line, reason=_BROKEN if cut_off else str(unfit), raw=line)
        except (ValueError, IndexError):
            return Bad(number=self._row, line=self._line, reason=_BROKEN, raw=line)
        except RecursionError:
            return Bad(number=self._row, line=self._line, reason="lists in lists, too deep", raw=line)
        self._met = self._met or cut.met
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


def _refuse_many_values(text: str) -> None:
    """Raises ``_Unfit`` for a line whose values would take many times its bytes: each is an object in memory."""
    if text.count(",") < MAX_CELLS:
        return
    commas, in_string = 0, False  # most of all commas are in strings
    for match in _ESCAPE_QUOTE_OR_COMMA.finditer(text):
        mark = match[0]
        if mark == '"':
            in_string = not in_string
        elif mark == "," and not in_string:
            commas += 1
            if commas == MAX_CELLS:
                raise _Unfit(f"more than {MAX_CELLS:,} values")


class _Unfit(Exception):
    """A row does not have what a key says; the message has nothing of the row."""


class _Cut:
    """Walks through one line and finds the strings at the leaves of a tree of keys.

    Args:
        text: The line.
        without: Keys of the line's object that are left out.
        only: Whether all are but those that are rewritten.
        allow_missing: Whether keys may be missing.

    Attributes:
        strings: Where each string begins and ends, its quotes included, and what it says; ``None`` for members that are
            left out.
        met: Whether a leaf was there, be it a null.
    """

    def __init__(self, text: str, without: frozenset[str], *, only: bool, allow_missing: bool) -> None:
        self._text, self._without, self._only, self._allow_missing = text, without, only, allow_missing
        self.strings: list[tuple[int, int, str | None]] = []
        self.met = False

    def object(self, tree: Node) -> None:
        """Walks through the line, which must be one value and nothing else."""
        start = self._after_blank(0)
        if self._only or self._without:
            if self._text[start] != "{":
                raise _Unfit("a line is not a JSON object: its keys cannot be left out")
            self._leave_out(tree, self._after_blank(start + 1))
        end = self._after_blank(self._value(tree, start))
        if end != len(self._text):
            raise _Unfit("something follows the JSON object")
        self.strings.sort(key=lambda found: found[0])

    def _leave_out(self, tree: Node, at: int) -> None:
        """Notes the members that are left out, each with the comma after it, or before it where no other follows."""
        met, kept_end = set[str](), at
        while self._text[at] != "}":
            start, (name, end) = at, _read(self._text, at)
            colon = _COLON.match(self._text, end)
            if colon is None or not isinstance(name, str):
                raise ValueError
            met.add(name)
            _, end = _read(self._text, colon.end())
            at = self._next(end, "}")
            if name in tree or not (self._only or name in self._without):
                kept_end = end
            elif self._text[at] == "}":
                while self.strings and self.strings[-1][0] >= kept_end:
                    self.strings.pop()
                self.strings.append((kept_end, end, None))
            else:
                self.strings.append((start, at, None))
        if not (met >= self._without or self._allow_missing):
            raise _Unfit("a --without-column is missing: --allow-missing passes such rows")

    def _value(self, node: Node, at: int) -> int:
        """Walks through the value that begins somewhere; returns where it ends."""
        text = self._text
        if text.startswith("null", at):
            self.met = True
            return at + 4
        if not node:
            self.met = True
            if text[at] != '"':
                raise _Unfit("the value at a key is not a text")
            found, end = _read(text, at)
            self.strings.append((at, end, found))
            return end
        if text[at] == "{":
            if EACH in node:
                raise _Unfit("a key has [] where there is no list")
            return self._members(node, at)
        if text[at] == "[":
            if EACH not in node:
                raise _Unfit("a list stands where a key names an object: write [] after its name")
            return self._items(node[EACH], at)
        raise _Unfit("a key leads into a value that is not an object or a list")

    def _members(self, node: Node, at: int) -> int:
        text, left = self._text, set(node)
        at = self._after_blank(at + 1)
        while text[at] != "}":
            if text[at] != '"':
                raise ValueError
            name, at = _read(text, at)
            colon = _COLON.match(text, at)
            if colon is None:
                raise ValueError
            at = colon.end()
            if name in node:
                if name not in left:
                    raise _Unfit("a key is there twice")
                left.remove(name)
                at = self._value(node[name], at)
            else:
                _, at = _read(text, at)
            at = self._next(at, "}")
        if left and not self._allow_missing:
            raise _Unfit("a --key is missing: --allow-missing passes such rows")
        return at + 1

    def _items(self, node: Node, at: int) -> int:
        self.met = True
        at = self._after_blank(at + 1)
        while self._text[at] != "]":
            at = self._next(self._value(node, at), "]")
        return at + 1

    def _next(self, at: int, close: str) -> int:
        """Where the next member begins, or the bracket that closes."""
        match = _NEXT.match(self._text, at)
        if match is None:
            raise ValueError
        if match[1] != ",":
            return match.start(1)
        if self._text[match.end()] == close:
            raise ValueError
        return match.end()

    def _after_blank(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        assert match is not None
        return match.end()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a row that names its document or its scope: of two equal keys each reader takes another."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unfit("a key is there twice")
    return found


def _leaves(node: Node) -> Iterator[Node]:
    for child in node.values():
        if child:
            yield from _leaves(child)
        else:
            yield child


def _value(row: Any, path: tuple[str | None, ...]) -> Any:
    """The value at a key.

    Raises:
        KeyError: There is none.
    """
    for step in path:
        if not isinstance(row, dict) or step not in row:
            raise KeyError
        row = row[step]
    return row


def _key(row: Any, path: tuple[str | None, ...]) -> str:
    """The value of a document key, as JSON: a number is never equal to a text."""
    try:
        return json.dumps(_value(row, path))
    except KeyError:
        raise _Unfit("--document-key is missing") from None


def _scope(row: Any, path: tuple[str | None, ...]) -> str:
    """The name of a scope: a text, or a number as JSON writes it; empty where there is neither."""
    try:
        found = _value(row, path)
    except KeyError:
        return ""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return found if isinstance(found, str) else json.dumps(found)
