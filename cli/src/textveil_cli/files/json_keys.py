"""Keys of JSON lines: byte ranges of the selected strings in a line, and values of a row."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from textveil.errors import OptionError

from textveil_cli.columns import list_columns, suggest_column
from textveil_cli.files.selection import MAX_CELLS

#: A step into every item of a list.
EACH = None
Node = dict["str | None", "Node"]
_STEP = re.compile(r'"(?:[^"\\]|\\.)*"|[^."\[\]]+|\[\]')
_BLANK = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_ESCAPE_QUOTE_OR_COMMA = re.compile(r'\\.|[",]', re.DOTALL)
_NEXT = re.compile(r"[ \t\r\n]*([,\]}])[ \t\r\n]*")
#: Decoder of one value that also returns its end. Integers become floats: one of any length takes little memory.
_read = json.JSONDecoder(parse_int=float).raw_decode


def parse_key(key: str) -> tuple[str | None, ...]:
    """Return the steps of a key: ``messages[].content`` is ``("messages", EACH, "content")``.

    A name with dots or brackets must be in quotes: ``"a.b"[]``.

    Raises:
        OptionError: The key is malformed.
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


def tree_of(paths: list[tuple[str | None, ...]]) -> Node:
    """Return the tree of some keys, from their steps.

    Raises:
        OptionError: Two keys are equal, or one is a prefix of another.
    """
    tree: Node = {}
    for path in paths:
        node = tree
        for step in path:
            node = node.setdefault(step, {})
    if sum(1 for _ in _leaves(tree)) < len(paths):
        raise OptionError("--key: one is given twice, or is a part of another")
    return tree


def _refuse_many_values(text: str) -> None:
    """Raise ``Unfit`` for a line with ``MAX_CELLS`` or more values.

    Each value is an object in memory and takes many times its bytes.
    """
    if text.count(",") < MAX_CELLS:
        return
    commas, in_string = 0, False  # most commas of a text are inside strings
    for match in _ESCAPE_QUOTE_OR_COMMA.finditer(text):
        mark = match[0]
        if mark == '"':
            in_string = not in_string
        elif mark == "," and not in_string:
            commas += 1
            if commas == MAX_CELLS:
                raise Unfit(f"more than {MAX_CELLS:,} values")


class Unfit(Exception):
    """A row does not have the structure of a key; the message has no content of the row."""


class Cut:
    """Parser of one line that finds the strings at the leaves of a tree of keys.

    Args:
        text: The line.
        without: Keys of the line's object to leave out.
        only: Whether to leave out all keys except the rewritten ones.
        allow_missing: Whether keys may be missing.

    Attributes:
        strings: Start and end of each string, quotes included, and its value; ``None`` as the value of left-out
            members.
        met: Whether the line had a leaf, possibly null.

    Raises:
        Unfit: The line has too many values.
    """

    def __init__(self, text: str, without: frozenset[str], *, only: bool, allow_missing: bool) -> None:
        _refuse_many_values(text)
        self._text, self._without, self._only, self._allow_missing = text, without, only, allow_missing
        self.strings: list[tuple[int, int, str | None]] = []
        self.met = False
        #: Keys of the object that are copied.
        self.copied: list[str] = []
        self._root: Node | None = None

    def object(self, tree: Node) -> None:
        """Parse the line, which must be one value and nothing else.

        Raises:
            Unfit: The line does not have the structure of the keys.
            ValueError: The line is not JSON.
        """
        self._root = tree
        start = self._after_blank(0)
        if self._only or self._without:
            if self._text[start] != "{":
                raise Unfit("a line is not a JSON object: its keys cannot be left out")
            self._leave_out(tree, self._after_blank(start + 1))
        end = self._after_blank(self._value(tree, start))
        if end != len(self._text):
            raise Unfit("something follows the JSON object")
        self.strings.sort(key=lambda found: found[0])

    def _leave_out(self, tree: Node, at: int) -> None:
        """Record the left-out members, each with the comma after it.

        The last member takes the comma before it.
        """
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
            left = self._without - met
            raise Unfit(f"a --without-column is missing{_describe(left, [*met])}: --allow-missing passes such rows")

    def _value(self, node: Node, at: int) -> int:
        """Parse the value at a position and return its end."""
        text = self._text
        if text.startswith("null", at):
            self.met = True
            return at + 4
        if not node:
            self.met = True
            if text[at] != '"':
                raise Unfit("the value at a key is not a text")
            found, end = _read(text, at)
            self.strings.append((at, end, found))
            return end
        if text[at] == "{":
            if EACH in node:
                raise Unfit("a key has [] where there is no list")
            return self._members(node, at)
        if text[at] == "[":
            if EACH not in node:
                raise Unfit("a list stands where a key names an object: write [] after its name")
            return self._items(node[EACH], at)
        raise Unfit("a key leads into a value that is not an object or a list")

    def _members(self, node: Node, at: int) -> int:
        text, left, names = self._text, set(node), list[str]()
        at = self._after_blank(at + 1)
        while text[at] != "}":
            if text[at] != '"':
                raise ValueError
            name, at = _read(text, at)
            colon = _COLON.match(text, at)
            if colon is None:
                raise ValueError
            at = colon.end()
            names.append(name)
            if name in node:
                if name not in left:
                    raise Unfit("a key is there twice")
                left.remove(name)
                at = self._value(node[name], at)
            else:
                _, at = _read(text, at)
            at = self._next(at, "}")
        if node is self._root and not self._only:
            self.copied = [name for name in names if name not in node and name not in self._without]
        if left and not self._allow_missing:
            raise Unfit(f"a --key is missing{_describe(left, names)}: --allow-missing passes such rows")
        return at + 1

    def _items(self, node: Node, at: int) -> int:
        self.met = True
        at = self._after_blank(at + 1)
        while self._text[at] != "]":
            at = self._next(self._value(node, at), "]")
        return at + 1

    def _next(self, at: int, close: str) -> int:
        """Return the position of the next member or of the closing bracket."""
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


def _describe(missing: Iterable[str | None], names: Sequence[str]) -> str:
    """Describe the first missing key, the keys of the object, and the closest one."""
    first = min((step for step in missing if step is not None), default="")
    listed, quoted = list_columns(names), list_columns([first])
    return f" ({quoted or 'it'} is not among {listed}{suggest_column(first, names)})" if listed else ""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, or refuse duplicate keys, among which JSON parsers choose differently.

    The object names the document or the privacy unit of a row.

    Raises:
        Unfit: A key appears twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unfit("a key is there twice")
    return found


def _leaves(node: Node) -> Iterator[Node]:
    for child in node.values():
        if child:
            yield from _leaves(child)
        else:
            yield child


def _value(row: Any, path: tuple[str | None, ...]) -> Any:
    """Return the value at a key.

    Raises:
        KeyError: The row has no such value.
    """
    for step in path:
        if not isinstance(row, dict) or step not in row:
            raise KeyError
        row = row[step]
    return row


def document_key(row: Any, path: tuple[str | None, ...]) -> str:
    """Return the value of a document key as JSON, so that a number never equals a text.

    Raises:
        Unfit: The row lacks the key.
    """
    try:
        return json.dumps(_value(row, path))
    except KeyError:
        raise Unfit("--document-key is missing") from None


def scope_name(row: Any, path: tuple[str | None, ...]) -> str:
    """Return the name of a privacy unit: a text, or a number as JSON; else ""."""
    try:
        found = _value(row, path)
    except KeyError:
        return ""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return found if isinstance(found, str) else json.dumps(found)
