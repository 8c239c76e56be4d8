"""Type checks for values of parsed JSON; a value of another type is an error of the bundle.

With these functions a reader need not catch ``TypeError`` or ``KeyError``, which would also hide its own defects.
"""

import re
from collections.abc import Collection
from typing import Any

from textveil.errors import BundleDamaged

MAX_ENTRIES = 1 << 16


def record(value: object, keys: Collection[str], where: str) -> dict[str, Any]:
    """Return an object with exactly the keys ``keys``.

    Args:
        value: Parsed JSON.
        keys: The keys.
        where: Place of the value in error messages, normally a file name.

    Raises:
        BundleDamaged: The value is something else, as in all functions of this module.
    """
    found = an_object(value, where)
    if found.keys() != set(keys):
        raise BundleDamaged(f"{where}: unknown or missing keys")
    return found


def an_object(value: object, where: str) -> dict[str, Any]:
    """Return an object with any keys."""
    if not isinstance(value, dict):
        raise BundleDamaged(f"{where}: something is not an object")
    return value


def an_array(value: object, where: str, most: int = MAX_ENTRIES) -> list[Any]:
    """Return an array of at most ``most`` values."""
    if not isinstance(value, list):
        raise BundleDamaged(f"{where}: something is not an array")
    if len(value) > most:
        raise BundleDamaged(f"{where}: an array has more than {most:,} values")
    return value


def integer(value: object, least: int, most: int, where: str) -> int:
    """Return an integer from ``least`` to ``most``; a boolean is not an integer."""
    if type(value) is not int or not least <= value <= most:
        raise BundleDamaged(f"{where}: a number is not an integer, or out of range")
    return value


def boolean(value: object, where: str) -> bool:
    """Return a boolean."""
    if type(value) is not bool:
        raise BundleDamaged(f"{where}: something is neither true nor false")
    return value


def text(value: object, where: str, pattern: re.Pattern[str] | None = None) -> str:
    """Return a string; with ``pattern``, the whole string must match it."""
    if not isinstance(value, str) or (pattern is not None and pattern.fullmatch(value) is None):
        raise BundleDamaged(f"{where}: something is not a text of the kind that belongs there")
    return value


def one_of(value: object, allowed: Collection[str], where: str) -> str:
    """Return a string that is one of ``allowed``."""
    found = text(value, where)
    if found not in allowed:
        raise BundleDamaged(f"{where}: a value is not supported")
    return found


def different_texts(value: object, where: str) -> tuple[str, ...]:
    """Return an array of distinct strings."""
    found = tuple(text(entry, where) for entry in an_array(value, where))
    if len(set(found)) != len(found):
        raise BundleDamaged(f"{where}: a text is there twice")
    return found
