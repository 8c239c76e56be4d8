"""Tables of letters, combining marks, digits and symbols that are the same on every platform.

The tables contain the categories L, M and Nd of Unicode 14, without invisible characters such as variation selectors
and fillers. Python and JavaScript have newer Unicode versions, and differ. These tables give the same decision on a
chunk of a reply everywhere.
"""

from bisect import bisect_right

from textveil.lazy import CHARACTERS, decode_table, load_data

_TABLES = load_data(CHARACTERS)["tables"]
#: Ranges of code points in ascending order, as two numbers each: the first code point of the range, and the first one
#: after it. One table has letters, combining marks and digits. The other has symbols and digit-like signs that no
#: program treats as a part of an address (arrows, signs, dingbats, emoji).
BOUNDARIES, SYMBOL_BOUNDARIES = decode_table(_TABLES["word_characters"]), decode_table(_TABLES["symbols"])


def is_word_character(character: str) -> bool:
    """Return whether a character is a letter, a combining mark or a decimal digit of Unicode 14."""
    return bisect_right(BOUNDARIES, ord(character)) % 2 == 1


def is_symbol(character: str) -> bool:
    """Return whether a character is a symbol, such as an arrow or an emoji, that is harmless next to words.

    No program treats such a symbol as a part of an address.
    """
    return character > "\x7f" and bisect_right(SYMBOL_BOUNDARIES, ord(character)) % 2 == 1
