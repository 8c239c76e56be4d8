"""Values of parsed JSON, each taken as what it has to be: anything else is refused as damaged data.

So no reader has to catch the errors of its own code, which are not the bundle's.
"""

import re
from collections.abc import Collection
from typing import Any

from textveil.errors import BundleDamaged

MAX_ENTRIES = 1 << 16


def record(value: object, keys: Collection[str], where: str) -> dict[str, Any]:
    """Returns an object with exactly these keys.

    Args:
        value: Parsed JSON.
        keys: The keys.
        where: What errors call the place: a file, and more if it helps.

    Raises:
        BundleDamaged: It is something else, as in all functions here.
    """
    found = an_object(value, where)
    if found.keys() != set(keys):
        raise BundleDamaged(f"{where}: unknown or missing keys")
    return found


def an_object(value: object, where: str) -> dict[str, Any]:
    """Returns an object, whatever its keys are."""
    if not isinstance(value, dict):
        raise BundleDamaged(f"{where}: something is not an object")
    return value


def an_array(value: object, where: str, most: int = MAX_ENTRIES) -> list[Any]:
    """Returns an array of at most so many values."""
    if not isinstance(value, list):
        raise BundleDamaged(f"{where}: something is not an array")
    if len(value) > most:
        raise BundleDamaged(f"{where}: an array has more than {most:,} values")
    return value


def integer(value: object, least: int, most: int, where: str) -> int:
    """Returns an integer from ``least`` to ``most``; ``true`` is none."""
    if type(value) is not int or not least <= value <= most:
        raise BundleDamaged(f"{where}: a number is not an integer, or out of range")
    return value


def boolean(value: object, where: str) -> bool:
    """Returns a truth value."""
    if type(value) is not bool:
        raise BundleDamaged(f"{where}: something is neither true nor false")
    return value


def text(value: object, where: str, pattern: re.Pattern[str] | None = None) -> str:
    """Returns a text; all of it fits the pattern, if there is one."""
    if not isinstance(value, str) or (pattern is not None and pattern.fullmatch(value) is None):
        raise BundleDamaged(f"{where}: something is not a text of the kind that belongs there")
    return value


def one_of(value: object, allowed: Collection[str], where: str) -> str:
    """Returns a text that is one of those allowed."""
    found = text(value, where)
    if found not in allowed:
        raise BundleDamaged(f"{where}: a value is not supported")
    return found


def different_texts(value: object, where: str) -> tuple[str, ...]:
    """Returns an array of texts of which none is there twice."""
    found = tuple(text(entry, where) for entry in an_array(value, where))
    if len(set(found)) != len(found):
        raise BundleDamaged(f"{where}: a text is there twice")
    return found
