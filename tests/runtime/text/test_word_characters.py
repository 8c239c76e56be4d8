"""The table of letters, marks and digits is that of Unicode 14 for any Unicode version of Python."""

import itertools
import sys
import unicodedata

import pytest
from textveil.lazy import CHARACTERS, decode_table, load_data
from textveil.text.word_characters import BOUNDARIES, SYMBOL_BOUNDARIES, is_symbol, is_word_character

#: Characters of the categories L and M that are not seen.
INVISIBLE = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}
INVISIBLE |= {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}


def test_the_ranges_are_in_order() -> None:
    assert all(first < second for first, second in itertools.pairwise(BOUNDARIES))


def test_each_is_a_letter_a_mark_or_a_digit() -> None:
    for first, end in zip(BOUNDARIES[::2], BOUNDARIES[1::2], strict=True):
        for place in range(first, end):
            category = unicodedata.category(chr(place))
            assert category[0] in "LM" or category == "Nd", hex(place)
            assert place not in INVISIBLE


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="another Unicode")
def test_the_table_has_all_of_unicode_14() -> None:
    for place in range(0x110000):
        category = unicodedata.category(chr(place))
        expected = (category[0] in "LM" or category == "Nd") and place not in INVISIBLE
        assert is_word_character(chr(place)) == expected, hex(place)


def test_no_symbol_is_a_letter_or_stands_for_a_mark_of_addresses() -> None:
    """No symbol is, or is decomposed to, a character that addresses are made of, but letters and digits."""
    assert all(first < second for first, second in itertools.pairwise(SYMBOL_BOUNDARIES))
    assert is_symbol("\u2192")
    assert is_symbol("\U0001f600")
    assert not any(map(is_symbol, "<=>~^|+\u2044\u2215\u2216\u2236\uff0f\u2488\u2100\ufe0f\u200d"))
    for first, end in zip(SYMBOL_BOUNDARIES[::2], SYMBOL_BOUNDARIES[1::2], strict=True):
        for place in range(first, end):
            assert not is_word_character(chr(place)), hex(place)
            plain = unicodedata.normalize("NFKC", chr(place))
            assert plain == chr(place) or not set(plain) & set("./:@\\%?#&"), hex(place)


def test_digits_that_are_no_decimals() -> None:
    bounds = decode_table(load_data(CHARACTERS)["tables"]["digits"])
    table = {point for start, end in zip(bounds[::2], bounds[1::2], strict=True) for point in range(start, end)}
    found = {
        point
        for point in range(sys.maxunicode + 1)
        if unicodedata.digit(chr(point), None) is not None and not chr(point).isdecimal()
    }
    assert table <= found
    assert unicodedata.unidata_version != "14.0.0" or table == found
