"""Replacement of characters that Python and the bundle classify differently.

The text code uses the character classes of Python and of the library ``regex``, which are fast; ``characters.json`` of
the bundle is authoritative. They differ on characters newer than one side's Unicode version. For these a call reads
other characters of the bundle's classes, and the output gets the original characters again.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import regex

from textveil.bundle.characters import read_characters
from textveil.bundle.layout import CHARACTER_CLASSES
from textveil.errors import EngineFailed
from textveil.lazy import LatePattern

#: All other characters have the same classes in every Unicode version and every bundle (docs/format.md). Most texts
#: contain no others.
_MAY_DIFFER = re.compile("[^\0-\u036f\u0400-\u052f\u2000-\u2064\u20ac\u2212\ufe0f\ufe6b\ufeff\uff20]")
_PATTERNS = {name: LatePattern(regex.compile, found, regex.V1) for name, found in CHARACTER_CLASSES.items()}
#: The last ideograph of Unicode 15, and the last private-use character, which has no classes.
_LAST, _LAST_PRIVATE = 0x2EBE0, 0xFFFFD


class Swap:
    """Reversible exchange of characters for one call.

    Args:
        there: Replacement of each character.
    """

    def __init__(self, there: Mapping[str, str]) -> None:
        self._there, self._back = str.maketrans(dict(there)), str.maketrans({new: old for old, new in there.items()})

    def there(self, text: str) -> str:
        """Return a text with each such character replaced."""
        return text.translate(self._there) if self._there else text

    def back(self, text: str) -> str:
        """Return a text with the original characters."""
        return text.translate(self._back) if self._back else text

    def options(self, options: Mapping[str, Any]) -> Any:
        """Return the options with replaced characters in their lists of words."""
        lists = {name: [*map(self.there, options[name])] for name in ("deny", "allow") if options.get(name) is not None}
        return {**options, **lists}

    def rows(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a rewriter with the original characters in texts and mappings."""
        for texts, tokens, mapping, *counts in rows:
            yield [*map(self.back, texts)], tokens, mapping and mapping.with_originals(self.back), *counts


NO_SWAP = Swap({})


def swap_of(classes: bytes, texts: Iterable[str]) -> Swap | None:
    """Return the exchange of characters that a call needs, or ``None``.

    Args:
        classes: Content of the bundle's ``characters.json``.
        texts: All texts and words of the call. A replacement is a character that occurs in none of them.

    Raises:
        EngineFailed: This Python has no free character of the classes that the bundle has for a character.
    """
    met: set[str] = set()
    for text in texts:
        if not text.isascii() and _MAY_DIFFER.search(text):
            met.update(filter(_MAY_DIFFER.match, set(text)))  # a list of all matches may be as long as the text
    there: dict[str, str] = {}
    free: dict[frozenset[str], Iterator[str]] = {}
    for character in sorted(met):
        if _differs(classes, character):
            found = _of_bundle(classes, character)
            others = free.setdefault(found, _free(classes, found))
            there[character] = next((other for other in others if other not in met), "")
            if not there[character]:
                raise EngineFailed("this Python has no character of the classes that the bundle has for one of a text")
    return Swap(there) if there else None


def require_settled(classes: bytes) -> None:
    """Check that bundle and Python agree on all characters whose classes may not differ.

    Raises:
        EngineFailed: They differ.
    """
    if any(_differs(classes, chr(place)) for place in range(0xFFFF) if not _MAY_DIFFER.match(chr(place))):
        raise EngineFailed("the bundle's classes of characters that every Unicode has are not those of this Python")


def _free(classes: bytes, found: frozenset[str]) -> Iterator[str]:
    """Yield caseless, non-combining characters of these classes, in bundle and engines alike."""
    ranges = next((v for name, v in _ranges(classes).items() if name in found), (_LAST + 1, _LAST_PRIVATE))
    for first, last in zip(ranges[-2::-2], ranges[::-2], strict=True):
        for place in range(min(last, _LAST if found else _LAST_PRIVATE), first - 1, -1):
            other = chr(place)
            if _of_bundle(classes, other) == found == _of_engines(other) and _MAY_DIFFER.match(other):
                same = {other.lower(), other.upper(), other.title(), unicodedata.normalize("NFKC", other)} == {other}
                if same and not unicodedata.combining(other):
                    yield other


@lru_cache(1 << 16)
def _differs(classes: bytes, character: str) -> bool:
    return _of_engines(character) != _of_bundle(classes, character)


@lru_cache(8)
def _ranges(classes: bytes) -> dict[str, tuple[int, ...]]:
    return read_characters(classes)


def _of_bundle(classes: bytes, character: str) -> frozenset[str]:
    places = ((name, ranges, bisect_left(ranges, ord(character))) for name, ranges in _ranges(classes).items())
    return frozenset(name for name, ranges, at in places if at % 2 or ranges[at : at + 1] == (ord(character),))


@lru_cache(1 << 16)
def _of_engines(character: str) -> frozenset[str] | None:
    """Return the classes of a character by ``regex``; ``None`` where Python disagrees."""
    found = frozenset(name for name, pattern in _PATTERNS.items() if pattern.match(character))
    told = character.isalpha(), character.isdecimal(), character.isalnum()
    return found if told == ("L" in found, "Nd" in found, not found.isdisjoint("LN")) else None
