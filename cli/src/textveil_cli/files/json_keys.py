"""Parse the keys that a user selects in JSON lines, and find the strings at these keys in each line."""

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
    """Split a key into steps: ``messages[].content`` becomes ``("messages", EACH, "content")``.

    The step ``EACH`` means every element of a list. A name that contains dots or brackets must be in quotes:
    ``"a.b"[]``.

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
    """Merge paths of keys such as ``("messages", EACH, "content")`` into a tree of nested dictionaries.

    The keys ``("a", "b")`` and ``("a", "c")`` become ``{"a": {"b": {}, "c": {}}}``: a leaf is an empty dictionary.

    Raises:
        OptionError: Two keys are equal, or one key is a prefix of another.
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
    """Return a dictionary from the ``id()`` of each leaf of a key tree to the key that the user typed, for errors.

    Args:
        tree: Result of ``build_key_tree``.
        paths: The parsed keys; results of ``parse_key``.
        keys: The keys as typed, in the same order as ``paths``.
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

    Each parsed value takes many times its bytes in memory.
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
    """Error for a JSON line without the structure of a selected key; the message has no content of the line."""


class KeyParser:
    """Parser of one JSON line that finds the start and end of the strings at the selected keys.

    Args:
        text: The line.
        without: Top-level keys that the output omits.
        only: Whether the output omits all top-level keys except the selected ones.
        allow_missing: Whether the line may lack selected keys.

    Attributes:
        strings: Start, end and value of each string to sanitize; start and end include the quotes. For each pair of key
            and value that the output omits: start, end and ``None``.
        has_leaf: Whether the line has a value, possibly null, at one of the selected keys.

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
        """Parse the JSON line of this object, and store the strings at the selected keys in ``strings``.

        Args:
            tree: Result of ``build_key_tree`` for the selected keys.

        Raises:
            RowMismatch: The line does not have the structure of the keys, or has text after its value.
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
        """Add the pairs of key and value that the output omits to ``strings``.

        The comma after a pair is omitted too; for the last pair, it is the comma before the pair.

        Args:
            tree: Tree of the selected keys, which are never omitted.
            position: Position of the first pair of key and value in the line.
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
        """Parse the value that starts at ``position``, and return the position after the value.

        ``node`` is the part of the key tree for keys below the value.
        """
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
        raise RowMismatch("a --key continues below a value that is neither an object nor a list")

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
        """Skip a comma and return the position of the next element, or return the position of the bracket ``close``.

        ``close`` is the closing bracket of the JSON array or object.
        """
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
    """Return the end of an error message about missing keys.

    Args:
        missing: The missing keys. The message contains the first one.
        names: The keys of the object. The message lists them, and suggests the one closest to the missing key.
    """
    first = min((step for step in missing if step is not None), default="")
    listed, quoted = list_columns(names), list_columns([first])
    return f" ({quoted or 'it'} is not among {listed}{suggest_column(first, names)})" if listed else ""


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dictionary from pairs of key and value, and reject equal keys; ``object_pairs_hook`` of ``json.loads``.

    JSON parsers differ in which of two equal keys they use. With two keys ``user``, for example, the privacy ledger
    could record the spent epsilon for another user than readers of the output see.

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
    """Return the value of a parsed row at a key such as ``("user", "id")``.

    Raises:
        KeyError: The row has no such value.
    """
    for step in path:
        if not isinstance(row, dict) or step not in row:
            raise KeyError
        row = row[step]
    return row


def get_document_key(row: Any, path: tuple[str | None, ...]) -> str:
    """Return the value that names the document of a row, as JSON text: the number 1 differs from the text "1".

    Raises:
        RowMismatch: The row has no value at the key.
    """
    try:
        return json.dumps(_get_value(row, path))
    except KeyError:
        raise RowMismatch("the row lacks the key of --document-key") from None


def get_privacy_unit(row: Any, path: tuple[str | None, ...]) -> str:
    """Return the name of the person or group for whom the epsilon of a row is recorded; "" if there is none.

    The name is the text or number (as JSON) at the key ``path``.
    """
    try:
        value = _get_value(row, path)
    except KeyError:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return value if isinstance(value, str) else json.dumps(value)
