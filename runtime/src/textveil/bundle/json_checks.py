"""Type checks for values of parsed JSON; a value of another type is an error of the bundle.

With these functions a reader need not catch ``TypeError`` or ``KeyError``, which would also hide its own defects.
"""

import re
from collections.abc import Collection
from typing import Any

from textveil.errors import BundleDamaged

MAX_ARRAY_VALUES = 1 << 16


def parse_record(value: object, keys: Collection[str], where: str) -> dict[str, Any]:
    """Return an object with exactly the keys ``keys``.

    Args:
        value: Parsed JSON.
        keys: The keys.
        where: Place of the value in error messages, normally a file name.

    Raises:
        BundleDamaged: The value is something else, as in all functions of this module.
    """
    parsed = parse_object(value, where)
    if parsed.keys() != set(keys):
        raise BundleDamaged(f"{where}: unknown or missing keys")
    return parsed


def parse_object(value: object, where: str) -> dict[str, Any]:
    """Return an object with any keys."""
    if not isinstance(value, dict):
        raise BundleDamaged(f"{where}: a value is not an object")
    return value


def parse_array(value: object, where: str, max_values: int = MAX_ARRAY_VALUES) -> list[Any]:
    """Return an array of at most ``max_values`` values."""
    if not isinstance(value, list):
        raise BundleDamaged(f"{where}: a value is not an array")
    if len(value) > max_values:
        raise BundleDamaged(f"{where}: an array has more than {max_values:,} values")
    return value


def parse_integer(value: object, minimum: int, maximum: int, where: str) -> int:
    """Return an integer from ``minimum`` to ``maximum``; a boolean is not an integer."""
    if type(value) is not int or not minimum <= value <= maximum:
        raise BundleDamaged(f"{where}: a number is not an integer, or out of range")
    return value


def parse_boolean(value: object, where: str) -> bool:
    """Return a boolean."""
    if type(value) is not bool:
        raise BundleDamaged(f"{where}: a value is not a boolean")
    return value


def parse_text(value: object, where: str, pattern: re.Pattern[str] | None = None) -> str:
    """Return a string; with ``pattern``, the whole string must match it."""
    if not isinstance(value, str) or (pattern is not None and pattern.fullmatch(value) is None):
        raise BundleDamaged(f"{where}: a value is not a string, or has the wrong form")
    return value


def parse_choice(value: object, allowed: Collection[str], where: str) -> str:
    """Return a string that is one of ``allowed``."""
    choice = parse_text(value, where)
    if choice not in allowed:
        raise BundleDamaged(f"{where}: a value is not supported")
    return choice


def parse_distinct_texts(value: object, where: str) -> tuple[str, ...]:
    """Return an array of distinct strings."""
    texts = tuple(parse_text(entry, where) for entry in parse_array(value, where))
    if len(set(texts)) != len(texts):
        raise BundleDamaged(f"{where}: the same text occurs twice")
    return texts
