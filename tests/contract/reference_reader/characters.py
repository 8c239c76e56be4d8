"""The classes of characters that text is cut by: those of the bundle that was opened last."""

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from .files import check, parse_object

NAMES = {"blank", "mark", "letter", "follower", "middle", "connector", "L", "M", "N", "Nd", "Sc"}
#: What a key has U+0027 for.
APOSTROPHES = "'\u2019\u2018\u02bc"
TO_ASCII = dict.fromkeys(map(ord, APOSTROPHES), "'")
_current: dict[str, list[int]] = {}


def use_characters(data: bytes) -> None:
    """Take the classes of `characters.json` from here on."""
    told = parse_object(data)
    check(set(told) == {"unicode", "classes"} and set(told["classes"]) == NAMES, "characters.json: keys")
    for numbers in told["classes"].values():
        check(numbers and len(numbers) % 2 == 0 and all(type(n) is int for n in numbers), "characters.json: a range")
        check(numbers[0] >= 0 and numbers[-1] <= 0x10FFFF, "characters.json: no code point")
        ends = [n + (2 if place % 2 else 0) for place, n in enumerate(numbers)]  # ranges do not touch
        check(all(a <= b for a, b in zip(ends, numbers[1:], strict=False)), "characters.json: ranges out of order")
    if told["classes"] != _current:
        _current.update(told["classes"])
        is_in.cache_clear()


@lru_cache(1 << 18)
def is_in(name: str, character: str) -> bool:
    """Whether a character is in a class; "" is in none."""
    if not character:
        return False
    numbers, place = _current[name], ord(character)
    after = bisect_right(numbers, place)
    return after % 2 == 1 or (after > 0 and numbers[after - 1] == place)


def one_of(*names: str, more: str = "") -> Callable[[str], bool]:
    """Return a test of single characters: in one of the classes, or one of those given."""
    return lambda character: any(is_in(name, character) for name in names) or (character != "" and character in more)
