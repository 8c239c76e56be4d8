"""Platform-independent tables of letters, combining marks, decimal digits and symbols.

The tables contain the categories L, M and Nd of Unicode 14, without invisible characters such as variation selectors
and fillers. They contain no newer characters. So every version of Python and JavaScript checks a chunk of a reply
alike.
"""

from bisect import bisect_right

from textveil.lazy import CHARACTERS, decode_table, load_data

_TABLES = load_data(CHARACTERS)["tables"]
#: First code point of each range and first one after it, alternating: letters, marks and digits; and symbols and
#: digit-like signs that no reader treats as a part of an address (arrows, signs, dingbats, emoji).
BOUNDARIES, SYMBOL_BOUNDARIES = decode_table(_TABLES["word_characters"]), decode_table(_TABLES["symbols"])


def is_word_character(character: str) -> bool:
    """Return whether a character is a letter, a combining mark or a decimal digit of Unicode 14."""
    return bisect_right(BOUNDARIES, ord(character)) % 2 == 1


def is_symbol(character: str) -> bool:
    """Return whether a character is a symbol that, like a letter, may be next to words."""
    return character > "\x7f" and bisect_right(SYMBOL_BOUNDARIES, ord(character)) % 2 == 1
