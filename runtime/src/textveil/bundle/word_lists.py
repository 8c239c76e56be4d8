"""Readers of word lists, one entry per line, and what all modes share of them: look-up keys, and flags of entries.

The size of lists is limited before they are parsed.

The limits count bytes as well as entries. In memory, an entry of one letter takes eighty times the bytes that it has in
the file, and one wide character makes every character of its string take four bytes.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from textveil.bundle.layout import MAX_LINE_BYTES
from textveil.bundle.parsers import is_printable
from textveil.errors import BundleDamaged, BundleTooLarge

#: Most entries of all lists of a bundle together (entries end at a line feed or a tab), and most bytes. A bundle with
#: large tables may have longer lists: one more entry per ``BYTES_PER_ENTRY`` bytes of the bundle, and one more byte
#: per ``BYTES_PER_LIST_BYTE``.
MAX_LIST_ENTRIES, MAX_LIST_BYTES = 1 << 18, 8_000_000
BYTES_PER_ENTRY, BYTES_PER_LIST_BYTE = 256, 16
#: Characters that people and devices write as an apostrophe inside a word, beside U+0027: U+2019, U+2018 and U+02BC.
APOSTROPHES = "'\u2019\u2018\u02bc"
_ASCII_APOSTROPHE = dict.fromkeys(map(ord, APOSTROPHES), "'")
#: Flags of an entry of a list of an entity type: the entry counts in Title case and ALL CAPS only; the modes ``words``
#: and ``all`` recognize the entry, but never write it.
CAPITALIZED, RECOGNIZED_ONLY = "capitalized", "member-only"
#: The flags as they are written after an entry, in all combinations, as bits.
MEMBER_FLAGS = {CAPITALIZED: 1, RECOGNIZED_ONLY: 2, f"{CAPITALIZED},{RECOGNIZED_ONLY}": 3}


def fold_apostrophes(word: str) -> str:
    """Write all apostrophes of a word as U+0027."""
    return word if word.isascii() else word.translate(_ASCII_APOSTROPHE)


def fold(entry: str) -> str:
    """Return the look-up key of a text: NFKC, lower case, and ``'`` for other apostrophes."""
    return (entry if entry.isascii() else fold_apostrophes(unicodedata.normalize("NFKC", entry))).lower()


def check_list_sizes(contents: Mapping[str, bytes], names: Iterable[str]) -> None:
    """Raise an error if the lists of a bundle would take too much memory.

    Args:
        contents: The bytes of the bundle's files.
        names: Names of the files that are lists.

    Raises:
        BundleTooLarge: The lists together exceed the bytes or entries that the size of the bundle allows.
    """
    lists, size = [contents[name] for name in names], sum(map(len, contents.values()))
    max_bytes, max_entries = MAX_LIST_BYTES + size // BYTES_PER_LIST_BYTE, MAX_LIST_ENTRIES + size // BYTES_PER_ENTRY
    if sum(map(len, lists)) > max_bytes:
        raise BundleTooLarge(f"the word lists of this bundle have more than {max_bytes:,} bytes")
    if sum(content.count(b"\n") + content.count(b"\t") for content in lists) > max_entries:
        raise BundleTooLarge(f"the word lists of this bundle have more than {max_entries:,} entries")


def decode_list(contents: Mapping[str, bytes], name: str, *, allow_tabs: bool = True) -> str:
    """Return the text of a list, one entry per line.

    Args:
        contents: The bytes of the bundle's files.
        name: Name of the file.
        allow_tabs: Whether the list may have tabs.

    Raises:
        BundleDamaged: The list is not UTF-8, or has control characters, which a terminal would execute when words are
            printed.
        BundleTooLarge: A line is longer than ``MAX_LINE_BYTES``.
    """
    try:
        for block in _iterate_blocks(contents[name], name):
            entries = block.replace("\n", "")
            if not is_printable(entries.replace("\t", "") if allow_tabs else entries):
                raise BundleDamaged(f"{name}: contains control characters")
        return contents[name].decode("utf-8")
    except UnicodeDecodeError as error:
        raise BundleDamaged(f"{name}: is not UTF-8") from error


def parse_entry_ids(contents: Mapping[str, bytes], name: str) -> dict[str, int]:
    """Return the line number, from 0, of every entry of a word list.

    Raises:
        BundleDamaged: An entry is empty or occurs twice, the last line is incomplete, or the list is empty.
        BundleTooLarge: As ``check_list_sizes`` and ``decode_list``.
    """
    check_list_sizes(contents, [name])
    lines = decode_list(contents, name, allow_tabs=False).split("\n")
    if lines.pop() != "" or not lines:
        raise BundleDamaged(f"{name}: the last line is incomplete")
    ids = dict(zip(lines, range(len(lines)), strict=True))
    if len(ids) != len(lines) or "" in ids:
        raise BundleDamaged(f"{name}: an entry is empty or occurs twice")
    return ids


def _iterate_blocks(content: bytes, name: str) -> Iterator[str]:
    """Yield the text of a list in blocks of whole lines."""
    start = 0
    while start < len(content):
        limit = start + MAX_LINE_BYTES + 1
        end = len(content) if limit > len(content) else content.rfind(b"\n", start, limit) + 1
        if not end:
            raise BundleTooLarge(f"{name}: a line has more than {MAX_LINE_BYTES:,} bytes")
        yield content[start:end].decode("utf-8")
        start = end
