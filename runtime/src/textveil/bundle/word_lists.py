"""Parsers of word lists with one entry per line, and functions for lookup keys of words.

The size of the lists is checked before parsing. Both bytes and entries are limited, because Python strings need more
memory than files: an entry of one letter takes eighty times its bytes, and one wide character makes every character of
its string take four bytes.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from textveil.bundle.layout import MAX_LINE_BYTES
from textveil.bundle.parsers import is_printable
from textveil.errors import BundleDamaged, BundleTooLarge

#: Maximum total number of entries, and of bytes, of all lists of a bundle. Line feeds and tabs end an entry. A bundle
#: with large tables may have longer lists: for every ``BYTES_PER_ENTRY`` bytes of the bundle one more entry, and for
#: every ``BYTES_PER_LIST_BYTE`` bytes one more byte.
MAX_LIST_ENTRIES, MAX_LIST_BYTES = 5 << 16, 8_000_000
BYTES_PER_ENTRY, BYTES_PER_LIST_BYTE = 256, 16
#: Characters that texts use as an apostrophe inside a word: U+0027, U+2019, U+2018 and U+02BC.
APOSTROPHES = "'\u2019\u2018\u02bc"
_ASCII_APOSTROPHE = dict.fromkeys(map(ord, APOSTROPHES), "'")
#: Flags of a word in the list of an entity type. ``capitalized``: the word has the type only in Title case and ALL
#: CAPS. ``member-only``: the modes ``words`` and ``all`` recognize the word, but never use it as a surrogate
#: (replacement).
CAPITALIZED, RECOGNIZED_ONLY = "capitalized", "member-only"
#: All combinations of these flags, in the spelling of a list, with their bits.
MEMBER_FLAGS = {CAPITALIZED: 1, RECOGNIZED_ONLY: 2, f"{CAPITALIZED},{RECOGNIZED_ONLY}": 3}


def fold_apostrophes(word: str) -> str:
    """Replace all kinds of apostrophes in a word by U+0027."""
    return word if word.isascii() else word.translate(_ASCII_APOSTROPHE)


def fold(entry: str) -> str:
    """Return the form in which a word is looked up in lists: NFKC, lower case, and ``'`` for all apostrophes."""
    return (entry if entry.isascii() else fold_apostrophes(unicodedata.normalize("NFKC", entry))).lower()


def check_list_sizes(contents: Mapping[str, bytes], names: Iterable[str]) -> None:
    """Check that the word lists of a bundle (data folder) do not take too much memory.

    Args:
        contents: Dictionary from each file name of the bundle to the bytes of the file.
        names: Names of the files that are lists.

    Raises:
        BundleTooLarge: Together the lists have more bytes or entries than a bundle of this size may have.
    """
    lists, size = [contents[name] for name in names], sum(map(len, contents.values()))
    max_bytes, max_entries = MAX_LIST_BYTES + size // BYTES_PER_LIST_BYTE, MAX_LIST_ENTRIES + size // BYTES_PER_ENTRY
    if sum(map(len, lists)) > max_bytes:
        raise BundleTooLarge(f"the word lists of this bundle have more than {max_bytes:,} bytes")
    if sum(content.count(b"\n") + content.count(b"\t") for content in lists) > max_entries:
        raise BundleTooLarge(f"the word lists of this bundle have more than {max_entries:,} entries")


def decode_list(contents: Mapping[str, bytes], name: str, *, allow_tabs: bool = True) -> str:
    """Return the text of a list with one entry per line, after checking its characters.

    Args:
        contents: Dictionary from each file name of the bundle (data folder) to the bytes of the file.
        name: Name of the file.
        allow_tabs: Whether the list may have tabs.

    Raises:
        BundleDamaged: The list is not UTF-8, or has control characters, which a terminal would execute.
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
    """Parse a word list, and return the id of each entry: its line number, counted from 0.

    Raises:
        BundleDamaged: An entry is empty or occurs twice, the last line is incomplete, or the list is empty.
        BundleTooLarge: The list has too many bytes or entries, or a line is too long.
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
    """Decode a list in blocks of whole lines, and yield the text of each block."""
    start = 0
    while start < len(content):
        limit = start + MAX_LINE_BYTES + 1
        end = len(content) if limit > len(content) else content.rfind(b"\n", start, limit) + 1
        if not end:
            raise BundleTooLarge(f"{name}: a line has more than {MAX_LINE_BYTES:,} bytes")
        yield content[start:end].decode("utf-8")
        start = end
