"""Keys of JSON lines: byte ranges of the selected strings in a line, and values of a row."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from textveil.errors import OptionError

from textveil_cli.columns import MAX_CELLS, list_columns, suggest_column

#: A step into every item of a list.
EACH_ITEM = None
KeyTree = dict["str | None", "KeyTree"]
_STEP = re.compile(r'"(?:[^"\\]|\\.)*"|[^."\[\]]+|\[\]')
_BLANKS = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_ESCAPE_QUOTE_OR_COMMA = re.compile(r'\\.|[",]', re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\r\n]*([,\]}])[ \t\r\n]*")
#: Decoder of one value that also returns its end. Integers become floats: one of any length takes little memory.
_decode_value = json.JSONDecoder(parse_int=float).raw_decode


def parse_key(key: str) -> tuple[str | None, ...]:
    """Return the steps of a key: ``messages[].content`` is ``("messages", EACH, "content")``.

    A name with dots or brackets must be in quotes: ``"a.b"[]``.

    Raises:
        OptionError: The key is malformed.
    """
    steps: list[str | None] = []
    position = 0
    while match := _STEP.match(key, position):
        part, position = match[0], match.end()
        steps.append(EACH_ITEM if part == "[]" else json.loads(part) if part.startswith('"') else part)
        if position == len(key):
            return tuple(steps)
        if key[position] == ".":
            position += 1
        elif key[position] != "[":
            break
    raise OptionError(
        "--key takes names separated by dots, with [] after the name of a list, such as messages[].content"
    )


def build_key_tree(paths: list[tuple[str | None, ...]]) -> KeyTree:
    """Return the tree of some keys, from their steps.

    Raises:
        OptionError: Two keys are equal, or one is a prefix of another.
    """
    tree: KeyTree = {}
    for path in paths:
        node = tree
        for step in path:
            node = node.setdefault(step, {})
    if sum(1 for _ in _iterate_leaves(tree)) < len(paths):
        raise OptionError("--key: a key appears twice or is a prefix of another")
    return tree


def name_leaves(tree: KeyTree, paths: Sequence[tuple[str | None, ...]], keys: Sequence[str]) -> dict[int, str]:
    """Return for each leaf of a tree of keys, by Python's ``id()`` of the leaf, the key as the user typed it.

    Args:
        tree: The tree of the keys.
        paths: For each key its steps from the root to a leaf.
        keys: The keys as typed, in the same order.
    """
    names = dict[int, str]()
    for path, key in zip(paths, keys, strict=True):
        node = tree
        for step in path:
            node = node[step]
        names[id(node)] = key
    return names


def _refuse_many_values(text: str) -> None:
    """Raise ``RowMismatch`` for a line with ``MAX_CELLS`` or more values.

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
                raise RowMismatch(f"more than {MAX_CELLS:,} values")


class RowMismatch(Exception):
    """A row does not have the structure of a key; the message has no content of the row."""


class KeyParser:
    """Parser of one line that finds the strings at the leaves of a tree of keys.

    Args:
        text: The line.
        without: Keys of the line's object to leave out.
        only: Whether to leave out all keys except the rewritten ones.
        allow_missing: Whether keys may be missing.

    Attributes:
        strings: Start and end of each string, quotes included, and its value; ``None`` as the value of left-out
            members.
        has_leaf: Whether the line had a leaf, possibly null.

    Raises:
        RowMismatch: The line has too many values.
    """

    def __init__(self, text: str, without: frozenset[str], *, only: bool, allow_missing: bool) -> None:
        _refuse_many_values(text)
        self._text, self._without, self._only, self._allow_missing = text, without, only, allow_missing
        self.strings: list[tuple[int, int, str | None]] = []
        #: Leaf of the tree of keys for each string, by its start.
        self.leaves: dict[int, KeyTree] = {}
        self.has_leaf = False
        #: Keys of the object that are copied.
        self.copied: list[str] = []
        self._root: KeyTree | None = None

    def parse_line(self, tree: KeyTree) -> None:
        """Parse the line, which must be one value and nothing else.

        Raises:
            RowMismatch: The line does not have the structure of the keys.
            ValueError: The line is not JSON.
        """
        self._root = tree
        start = self._skip_blanks(0)
        if self._only or self._without:
            if self._text[start] != "{":
                raise RowMismatch("the line is not a JSON object: no keys can be removed")
            self._mark_left_out(tree, self._skip_blanks(start + 1))
        end = self._skip_blanks(self._parse_value(tree, start))
        if end != len(self._text):
            raise RowMismatch("text follows the JSON object")
        self.strings.sort(key=lambda found: found[0])

    def _mark_left_out(self, tree: KeyTree, position: int) -> None:
        """Record the left-out members, each with the comma after it.

        The last member takes the comma before it.
        """
        names, kept_end = set[str](), position
        while self._text[position] != "}":
            start, (name, end) = position, _decode_value(self._text, position)
            colon = _COLON.match(self._text, end)
            if colon is None or not isinstance(name, str):
                raise ValueError
            names.add(name)
            _, end = _decode_value(self._text, colon.end())
            position = self._skip_separator(end, "}")
            if name in tree or not (self._only or name in self._without):
                kept_end = end
            elif self._text[position] == "}":
                while self.strings and self.strings[-1][0] >= kept_end:
                    self.strings.pop()
                self.strings.append((kept_end, end, None))
            else:
                self.strings.append((start, position, None))
        if not (names >= self._without or self._allow_missing):
            missing = self._without - names
            raise RowMismatch(
                f"a --drop-column is missing{_describe_missing(missing, [*names])}: --allow-missing accepts such rows"
            )

    def _parse_value(self, node: KeyTree, position: int) -> int:
        """Parse the value at a position and return its end."""
        text = self._text
        if text.startswith("null", position):
            self.has_leaf = True
            return position + 4
        if not node:
            self.has_leaf = True
            if text[position] != '"':
                raise RowMismatch("the value of a key is not a string")
            value, end = _decode_value(text, position)
            self.strings.append((position, end, value))
            self.leaves[position] = node
            return end
        if text[position] == "{":
            if EACH_ITEM in node:
                raise RowMismatch("a key has [] but the value is not a list")
            return self._parse_object(node, position)
        if text[position] == "[":
            if EACH_ITEM not in node:
                raise RowMismatch("the value of a key is a list: write [] after its name")
            return self._parse_list(node[EACH_ITEM], position)
        raise RowMismatch("a key leads to a value that is neither object nor list")

    def _parse_object(self, node: KeyTree, position: int) -> int:
        text, missing, names = self._text, set(node), list[str]()
        position = self._skip_blanks(position + 1)
        while text[position] != "}":
            if text[position] != '"':
                raise ValueError
            name, position = _decode_value(text, position)
            colon = _COLON.match(text, position)
            if colon is None:
                raise ValueError
            position = colon.end()
            names.append(name)
            if name in node:
                if name not in missing:
                    raise RowMismatch("a key appears twice")
                missing.remove(name)
                position = self._parse_value(node[name], position)
            else:
                _, position = _decode_value(text, position)
            position = self._skip_separator(position, "}")
        if node is self._root and not self._only:
            self.copied = [name for name in names if name not in node and name not in self._without]
        if missing and not self._allow_missing:
            raise RowMismatch(
                f"a --key is missing{_describe_missing(missing, names)}: --allow-missing accepts such rows"
            )
        return position + 1

    def _parse_list(self, node: KeyTree, position: int) -> int:
        self.has_leaf = True
        position = self._skip_blanks(position + 1)
        while self._text[position] != "]":
            position = self._skip_separator(self._parse_value(node, position), "]")
        return position + 1

    def _skip_separator(self, position: int, close: str) -> int:
        """Return the position of the next member or of the closing bracket."""
        match = _SEPARATOR.match(self._text, position)
        if match is None:
            raise ValueError
        if match[1] != ",":
            return match.start(1)
        if self._text[match.end()] == close:
            raise ValueError
        return match.end()

    def _skip_blanks(self, position: int) -> int:
        match = _BLANKS.match(self._text, position)
        assert match is not None
        return match.end()


def _describe_missing(missing: Iterable[str | None], names: Sequence[str]) -> str:
    """Describe the first missing key, the keys of the object, and the closest one."""
    first = min((step for step in missing if step is not None), default="")
    listed, quoted = list_columns(names), list_columns([first])
    return f" ({quoted or 'it'} is not among {listed}{suggest_column(first, names)})" if listed else ""


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its keys and values, and refuse duplicate keys, among which JSON parsers choose differently.

    The document key and the privacy unit of a row are read from the object.

    Raises:
        RowMismatch: A key appears twice.
    """
    unique_pairs = dict(pairs)
    if len(unique_pairs) < len(pairs):
        raise RowMismatch("a key appears twice")
    return unique_pairs


def _iterate_leaves(node: KeyTree) -> Iterator[KeyTree]:
    for child in node.values():
        if child:
            yield from _iterate_leaves(child)
        else:
            yield child


def _get_value(row: Any, path: tuple[str | None, ...]) -> Any:
    """Return the value at a key.

    Raises:
        KeyError: The row has no such value.
    """
    for step in path:
        if not isinstance(row, dict) or step not in row:
            raise KeyError
        row = row[step]
    return row


def get_document_key(row: Any, path: tuple[str | None, ...]) -> str:
    """Return the value of a document key as JSON, so that a number never equals a text.

    Raises:
        RowMismatch: The row lacks the key.
    """
    try:
        return json.dumps(_get_value(row, path))
    except KeyError:
        raise RowMismatch("the row lacks the key of --document-key") from None


def get_privacy_unit(row: Any, path: tuple[str | None, ...]) -> str:
    """Return the name of a privacy unit: a text, or a number as JSON; else ""."""
    try:
        value = _get_value(row, path)
    except KeyError:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return value if isinstance(value, str) else json.dumps(value)
