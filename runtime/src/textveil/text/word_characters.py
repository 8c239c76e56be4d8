"""Tables of letters, combining marks, digits and symbols that are the same on every platform.

The tables contain the categories L, M and Nd of Unicode 14, without invisible characters such as variation selectors
and fillers, and without newer characters. So every version of Python and JavaScript makes the same decision on a chunk
of a reply.
"""

from bisect import bisect_right

from textveil.lazy import CHARACTERS, decode_table, load_data

_TABLES = load_data(CHARACTERS)["tables"]
#: Boundaries of ranges of code points, alternating: the first one of a range, and the first one after it. One table has
#: letters, combining marks and digits. The other has symbols and digit-like signs that no program treats as a part of
#: an address (arrows, signs, dingbats, emoji).
BOUNDARIES, SYMBOL_BOUNDARIES = decode_table(_TABLES["word_characters"]), decode_table(_TABLES["symbols"])


def is_word_character(character: str) -> bool:
    """Return whether a character is a letter, a combining mark or a decimal digit of Unicode 14."""
    return bisect_right(BOUNDARIES, ord(character)) % 2 == 1


def is_symbol(character: str) -> bool:
    """Return whether a character is a symbol that, like a letter, may be next to words."""
    return character > "\x7f" and bisect_right(SYMBOL_BOUNDARIES, ord(character)) % 2 == 1
