"""Reader of ``characters.json``: the character classes that the tokenizer uses to split a text.

The bundle defines the classes. Programs with different Unicode versions therefore split a text in the same way
(``textveil.text.unicode_compat``).
"""

import re

from textveil.bundle.layout import CHARACTER_CLASSES, CHARACTERS
from textveil.bundle.parsers import parse_array, parse_integer, parse_json, parse_record, parse_text
from textveil.errors import BundleDamaged

_UNICODE_VERSION = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")


def parse_character_classes(content: bytes) -> dict[str, tuple[int, ...]]:
    """Parse ``characters.json`` into the code point ranges of each character class, such as letters or digits.

    Args:
        content: The whole file.

    Returns:
        A flat tuple of code points for each class: the first and the last code point of its first range, then those of
        its second range, and so on, in ascending order.

    Raises:
        BundleDamaged: The file is malformed, a class is missing or empty, or the ranges of a class are out of order or
            adjacent.
    """
    parsed = parse_record(parse_json(content, CHARACTERS), {"unicode", "classes"}, CHARACTERS)
    parse_text(parsed["unicode"], CHARACTERS, _UNICODE_VERSION)  # version of Unicode of the classes
    return {
        name: _parse_ranges(value)
        for name, value in parse_record(parsed["classes"], CHARACTER_CLASSES, CHARACTERS).items()
    }


def _parse_ranges(value: object) -> tuple[int, ...]:
    numbers = tuple(parse_integer(number, 0, 0x10FFFF, CHARACTERS) for number in parse_array(value, CHARACTERS))
    starts, ends = numbers[::2], numbers[1::2]
    if len(starts) != len(ends) or not numbers:
        raise BundleDamaged(f"{CHARACTERS}: a character class is empty, or has a range without an end")
    in_order = all(first <= last for first, last in zip(starts, ends, strict=True))
    if not in_order or not all(last + 1 < first for last, first in zip(ends, starts[1:], strict=False)):
        raise BundleDamaged(
            f"{CHARACTERS}: the ranges of a character class are not in ascending order, or two ranges are adjacent"
        )
    return numbers
