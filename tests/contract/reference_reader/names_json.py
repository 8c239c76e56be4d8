"""The mode `names`: JSON inside a text (docs/names-rule.md, "JSON")."""

import re
from typing import NamedTuple

BLANKS = " \t\r\n"
SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


class Piece(NamedTuple):
    """A piece of a text: of kind `text`, `number` or `copied`, with each character and how it is written."""

    kind: str
    characters: list[tuple[str, str]]

    @property
    def text(self) -> str:
        """Its characters."""
        return "".join(character for character, _ in self.characters)


def pieces_of(text: str) -> list[Piece]:
    """Cuts a text; one piece if it has no JSON."""
    found: list[Piece] = []
    rest = place = 0
    while place < len(text):
        begin = begins(text, place)
        if not begin:
            place += 1
            continue
        block, end = block_at(text, place)
        if block:
            found += [plain("text", text[rest:place]), *block]
            rest = end
        place = max(end, begin)
    return [*found, plain("text", text[rest:])]


def plain(kind: str, text: str) -> Piece:
    """Return a piece without escapes."""
    return Piece(kind, [(character, character) for character in text])


def begins(text: str, place: int) -> int:
    """Where what begins JSON ends; 0 if it does not begin there."""
    behind = blanks_end(text, place + 1)
    if text[place] == "[" and text[behind : behind + 1] in tuple('[{"'):
        return behind
    if text[place] == "{" and (string := string_at(text, behind)):
        colon = blanks_end(text, string[1])
        return colon + 1 if text[colon : colon + 1] == ":" else 0
    return 0


def blanks_end(text: str, place: int) -> int:
    """Where blanks end."""
    while text[place : place + 1] and text[place] in BLANKS:
        place += 1
    return place


def string_at(text: str, place: int) -> tuple[list[tuple[str, str]], int] | None:
    """Return the characters of the string that begins at a place, and its end; nothing if there is none."""
    if text[place : place + 1] != '"':
        return None
    found: list[tuple[str, str]] = []
    place += 1
    while place < len(text) and text[place] not in '"\n\r':
        size, character = 1, text[place]
        if character == "\\":
            size, character = 2, SHORT.get(text[place + 1 : place + 2], "")
            if code := re.match(r"\\u([0-9a-fA-F]{4})(?:\\u([0-9a-fA-F]{4}))?", text[place : place + 12]):
                first, second = (int(half or "0", 16) for half in code.groups())
                pair = 0xD800 <= first < 0xDC00 <= second < 0xE000
                size = 12 if pair else 6
                character = chr(0x10000 + (first - 0xD800) * 0x400 + second - 0xDC00 if pair else first)
            if not character:
                return None
        found.append((character, text[place : place + size]))
        place += size
    return (found, place + 1) if text[place : place + 1] == '"' else None


def block_at(text: str, start: int) -> tuple[list[Piece], int]:
    """Return the pieces of JSON that begins at a place, if any, and the end of it or of the attempt."""
    found, copied, place, depth = list[Piece](), start, start, 0
    while place < len(text):
        if string := string_at(text, place):
            found += [plain("copied", text[copied : place + 1]), Piece("text", string[0])]
            place, copied = string[1], string[1] - 1
        elif number := number_at(text, place):
            found += [plain("copied", text[copied:place]), plain("number", number)]
            place = copied = place + len(number)
        elif size := mark_at(text, place):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(text[place], 0) if size == 1 else 0
            place += size
            if not depth:
                break
        else:
            return [], place
    return [*found, plain("copied", text[copied:place])], place


def number_at(text: str, place: int) -> str:
    """Return the number at a place, unless the text after it continues it; nothing if there is none."""
    match = NUMBER.match(text, place)
    if match is None:
        return ""
    behind = text[match.end() : match.end() + 1]
    return "" if behind and (re.match("[0-9A-Za-z_]", behind) or behind in ".+-") else match[0]


def mark_at(text: str, place: int) -> int:
    """How long blanks, a mark, a literal or a comment at a place are; 0 if there is none."""
    if text[place] in BLANKS + "{}[],:":
        return 1
    for literal in ("true", "false", "null"):
        behind = text[place + len(literal) : place + len(literal) + 1]
        if text.startswith(literal, place) and not (behind and re.match("[0-9A-Za-z_]", behind)):
            return len(literal)
    if text.startswith("//", place):
        return (text + "\n").index("\n", place) - place
    end = text.find("*/", place + 2) if text.startswith("/*", place) else -1
    return end + 2 - place if 0 <= end <= place + 1002 else 0
