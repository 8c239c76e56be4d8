r"""Split a text with JSON into parts that are sanitized independently of each other.

A JSON string is read without its escapes: ``line\nnext`` is two lines, and ``Kov\u00e1cs`` is one name. The text of a
comment is read like a string.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

#: Kinds of ``JsonPart``: text outside of JSON, a JSON string without its quotes, or a comment without its marks; a
#: number; copied text.
TEXT, NUMBER, COPIED = range(3)
_STRING = r'"[^"\\\n\r]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\n\r]*+)*"'
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<number>-?[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?(?![0-9A-Za-z_.+-]))"
    r"|(?P<comment>//[^\n]*+|/\*(?:[^*]|\*(?!/)){0,1000}\*/)"
    r"|(?P<copied>[ \t\r\n]++|[{}\[\],:]|(?:true|false|null)(?![0-9A-Za-z_]))"
)
#: Possible beginnings of JSON: an object with a key, an empty or nested list, or a list of strings.
JSON_START = re.compile(rf"\{{[ \t\r\n]*+{_STRING}[ \t\r\n]*+:|\[[ \t\r\n]*+(?=[\[{{\"])")
#: A code point above U+FFFF is a pair of two escapes.
_ESCAPE = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class JsonPart(NamedTuple):
    """A part of a text with JSON, such as one string, which is sanitized independently of the other parts.

    Attributes:
        kind: ``TEXT``, ``NUMBER`` or ``COPIED``.
        text: The part. For a JSON string, its content without escapes.
        escapes: For a JSON string, the position of each escape in ``text`` and its original spelling.
    """

    kind: int
    text: str
    escapes: tuple[tuple[int, str], ...] = ()


def split_json(text: str) -> Iterator[JsonPart]:
    r"""Split a text into its JSON values and the text around them. A text without JSON is one part.

    JSON begins at ``{`` before a key, or at ``[`` before a string or bracket. JSON ends where its brackets balance, or
    at the end of the text. Comments, trailing commas and duplicate keys are supported.

    Example:
        >>> [part.text for part in split_json(r'See {"a": "b\nc", "n": 12}')]
        ['See ', '{"', 'a', '": "', 'b\nc', '", "', 'n', '": ', '12', '}', '']
    """
    position = at = 0
    while (start := JSON_START.search(text, at)) is not None:
        is_json, end = _find_end(text, start.start())
        if is_json:
            yield JsonPart(TEXT, text[position : start.start()])
            yield from _read_block(text, start.start(), end)
            position = end
        at = max(end, start.end())
    yield JsonPart(TEXT, text[position:])


def count_open_brackets(copied: str, depth: int) -> int:
    """Return how many brackets are open behind a key after some copied text, or -1 after the end of the key's object.

    Args:
        copied: Copied text: brackets, commas, colons, blanks and quotation marks.
        depth: Number of brackets open behind the key before this text.

    Example:
        >>> count_open_brackets('": ["', 0), count_open_brackets('"]}, "', 1)
        (1, -1)
    """
    for mark in copied:
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
        if depth < 0:
            return -1
    return depth


def _find_end(text: str, start: int) -> tuple[bool, int]:
    """Return whether a JSON value begins at ``start``, and the index at which its end, or an error, was found."""
    depth, at = 0, start
    while match := _TOKEN.match(text, at):
        at = match.end()
        if match["copied"] is not None and match[0] in "{}[]":
            depth += 1 if match[0] in "{[" else -1
            if not depth:
                break
    return not depth or at == len(text), at


def _read_block(text: str, start: int, end: int) -> Iterator[JsonPart]:
    """Yield the parts of a JSON value, which is ``text[start:end]``."""
    copied = start
    for match in _TOKEN.finditer(text, start, end):
        if match["comment"] is not None:
            first, last = match.start() + 2, match.end() - 2 * match[0].endswith("*/") * match[0].startswith("/*")
            yield JsonPart(COPIED, text[copied:first])
            yield JsonPart(TEXT, text[first:last])
            copied = last
        elif match["copied"] is None:
            quote = match["string"] is not None
            yield JsonPart(COPIED, text[copied : match.start() + quote])
            yield _read_string(match[0][1:-1]) if quote else JsonPart(NUMBER, match[0])
            copied = match.end() - quote
    yield JsonPart(COPIED, text[copied:end])


def _read_string(written: str) -> JsonPart:
    """Return a JSON string, given without its quotes, as a part of the text (``JsonPart``) with decoded escapes."""
    if "\\" not in written:
        return JsonPart(TEXT, written)
    pieces: list[str] = []
    escapes: list[tuple[int, str]] = []
    length = position = 0
    for match in _ESCAPE.finditer(written):
        plain = written[position : match.start()]
        character = _decode_escape(match[1]) if match[1] else _ESCAPED.get(match[2], match[2])
        length += len(plain)
        escapes.append((length, match[0]))
        pieces += (plain, character)
        length, position = length + 1, match.end()
    return JsonPart(TEXT, "".join([*pieces, written[position:]]), tuple(escapes))


def _decode_escape(code: str) -> str:
    """Return the character of a JSON escape, given its hexadecimal digits (8 digits for a UTF-16 surrogate pair)."""
    if len(code) == 4:
        return chr(int(code, 16))
    return chr(0x10000 + ((int(code[:4], 16) & 0x3FF) << 10) + (int(code[-4:], 16) & 0x3FF))


def write_escapes(text: str, escapes: tuple[tuple[int, str], ...], start: int) -> str:
    r"""Return a part of a JSON string with its original escapes, such as ``\u00e9``.

    Args:
        text: The part, without escapes.
        escapes: Position of each escape in the whole string, and its original spelling.
        start: Position of the part in the whole string.
    """
    pieces, position, end = list[str](), start, start + len(text)
    for at, written in escapes:
        if start <= at < end:
            pieces += (text[position - start : at - start], written)
            position = at + 1
    return "".join([*pieces, text[position - start :]]) if pieces else text
