"""Replacement of characters that this Python's Unicode tables classify differently than the product's tables.

The tokenizers use the character classes of Python and of the library ``regex``, because they are fast. But the classes
in ``characters.json`` of the bundle (the folder of word lists and settings) are binding. The two differ for characters
that are too new for one of the Unicode versions. Before a text is read, such characters are replaced by characters that
Python and the bundle classify alike. In the output the original characters are put back.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import regex

from textveil.bundle.character_classes import parse_character_classes
from textveil.bundle.layout import CHARACTER_CLASSES
from textveil.errors import EngineFailed
from textveil.lazy import LazyPattern
from textveil.text.word_characters import is_word_character

if TYPE_CHECKING:
    from textveil.text.restore import Restorer
    from textveil.text.statement import RewrittenDocument

#: Characters whose classes may differ. All others have the same classes in every Unicode version and every bundle
#: (docs/format.md). Most texts consist of these characters.
_MAY_DIFFER = re.compile("[^\0-\u036f\u0400-\u052f\u2000-\u2064\u20ac\u2212\ufe0f\ufe6b\ufeff\uff20]")
_PATTERNS = {name: LazyPattern(regex.compile, found, regex.V1) for name, found in CHARACTER_CLASSES.items()}
#: The last ideograph of Unicode 15, and the last private-use character, which has no classes.
_LAST_IDEOGRAPH, _LAST_PRIVATE = 0x2EBE0, 0xFFFFD
#: Number of characters of equal classes among which one is searched that is also equal as a word character.
_MAX_SIMILAR = 2_000


class CharacterSwap:
    """Replaces characters that Python and the bundle (data folder) classify differently; restores them in the results.

    Args:
        replacements: For each such character in the texts and options of a call, the character that replaces it.
    """

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._replacements, self._originals = (
            str.maketrans(dict(replacements)),
            str.maketrans({new: old for old, new in replacements.items()}),
        )

    def replace_characters(self, text: str) -> str:
        """Replace the characters of a text that Python and the bundle (data folder) classify differently."""
        return text.translate(self._replacements) if self._replacements else text

    def restore_characters(self, text: str) -> str:
        """Return a text with the original characters in place of those that ``replace_characters`` inserted."""
        return text.translate(self._originals) if self._originals else text

    def replace_in_options(self, options: Mapping[str, Any]) -> Any:
        """Return a copy of the options of a call, with ``replace_characters`` applied to the listed words."""
        lists = {
            name: [*map(self.replace_characters, options[name])]
            for name in ("deny", "allow", "known")
            if options.get(name) is not None
        }
        return {**options, **lists}

    def restore_documents(self, documents: "Iterable[RewrittenDocument]") -> "Iterator[RewrittenDocument]":
        """Yield documents with their original characters in place of those that ``replace_characters`` inserted.

        Words that were hidden stay hidden. The characters change in the texts, and in the data with which replies are
        restored. Each replacement is one character, so positions stay the same.
        """
        for document in documents:
            yield document._replace(
                texts=[*map(self.restore_characters, document.texts)],
                get_mapping=document.get_mapping and cache(partial(self._restore_mapping, document.get_mapping)),
                outlines=[one and one.map_originals(self.restore_characters) for one in document.outlines],
            )

    def _restore_mapping(self, get_mapping: "Callable[[], Restorer]") -> "Restorer":
        return get_mapping().map_originals(self.restore_characters)


def find_swap(classes: bytes, texts: Iterable[str]) -> CharacterSwap | None:
    """Choose replacements for characters that Python classifies differently than the bundle; ``None`` without any.

    Args:
        classes: Content of ``characters.json`` in the bundle (folder of word lists and settings).
        texts: All texts and words of the call. A character that occurs in them is never a replacement.

    Raises:
        EngineFailed: A character of the texts has no possible replacement: no unused character has its classes in the
            bundle and in this Python.
    """
    disputed: set[str] = set()
    for text in texts:
        if not text.isascii() and _MAY_DIFFER.search(text):
            disputed.update(filter(_MAY_DIFFER.match, set(text)))  # a list of all matches may be as long as the text
    replacements: dict[str, str] = {}
    free: dict[tuple[frozenset[str], bool], Iterator[str]] = {}
    used = set(disputed)
    for character in sorted(disputed):
        if _differs(classes, character):
            kind = _get_bundle_classes(classes, character), is_word_character(character)
            others = free.setdefault(kind, _iterate_similar(classes, *kind))
            replacements[character] = next((other for other in others if other not in used), "")
            used.add(replacements[character])
            if not replacements[character]:
                raise EngineFailed(
                    "the Unicode tables of this Python are too old for a character of the text: use a newer Python"
                )
    return CharacterSwap(replacements) if replacements else None


def check_settled_characters(classes: bytes) -> None:
    """Check that Python classifies all characters of old Unicode versions like the bundle does.

    Such characters are never replaced, so a difference would be an error.

    Args:
        classes: Content of ``characters.json`` in the bundle (folder of word lists and settings).

    Raises:
        EngineFailed: The classes of a character differ.
    """
    if any(_differs(classes, chr(place)) for place in range(0xFFFF) if not _MAY_DIFFER.match(chr(place))):
        raise EngineFailed(
            "the character classes of the bundle differ from those of this Python: use a supported Python"
        )


def _iterate_free(classes: bytes, wanted_classes: frozenset[str]) -> Iterator[str]:
    """Yield characters that can replace a character of the classes ``wanted_classes``, such as letters.

    Each yielded character has these classes both in the bundle (data folder) and in Python, has no case, and does not
    combine with others.

    Args:
        classes: Content of ``characters.json`` in the bundle.
        wanted_classes: Names of the classes.
    """
    ranges = next(
        (v for name, v in _read_ranges(classes).items() if name in wanted_classes), (_LAST_IDEOGRAPH + 1, _LAST_PRIVATE)
    )
    for first, last in zip(ranges[-2::-2], ranges[::-2], strict=True):
        for index in range(min(last, _LAST_IDEOGRAPH if wanted_classes else _LAST_PRIVATE), first - 1, -1):
            other = chr(index)
            if _get_bundle_classes(classes, other) == wanted_classes == _get_engine_classes(
                other
            ) and _MAY_DIFFER.match(other):
                same = {other.lower(), other.upper(), other.title(), unicodedata.normalize("NFKC", other)} == {other}
                if same and not unicodedata.combining(other):
                    yield other


def _iterate_similar(classes: bytes, wanted_classes: frozenset[str], is_word: bool) -> Iterator[str]:
    """Yield the characters of ``_iterate_free``, most suitable first.

    The first ones have the same result of ``is_word_character`` as the character to replace, which is ``is_word``. With
    another result, the end of a name of the option ``known`` could not be found in the text.
    """
    first = islice(_iterate_free(classes, wanted_classes), _MAX_SIMILAR)
    yield from (other for other in first if is_word_character(other) == is_word)
    yield from _iterate_free(classes, wanted_classes)


@lru_cache(1 << 16)
def _differs(classes: bytes, character: str) -> bool:
    return _get_engine_classes(character) != _get_bundle_classes(classes, character)


@lru_cache(8)
def _read_ranges(classes: bytes) -> dict[str, tuple[int, ...]]:
    return parse_character_classes(classes)


def _get_bundle_classes(classes: bytes, character: str) -> frozenset[str]:
    places = ((name, ranges, bisect_left(ranges, ord(character))) for name, ranges in _read_ranges(classes).items())
    return frozenset(name for name, ranges, at in places if at % 2 or ranges[at : at + 1] == (ord(character),))


@lru_cache(1 << 16)
def _get_engine_classes(character: str) -> frozenset[str] | None:
    """Return the Unicode classes of a character in the library ``regex``; ``None`` if Python itself has other ones."""
    engine_classes = frozenset(name for name, pattern in _PATTERNS.items() if pattern.match(character))
    python_classes = character.isalpha(), character.isdecimal(), character.isalnum()
    return (
        engine_classes
        if python_classes == ("L" in engine_classes, "Nd" in engine_classes, not engine_classes.isdisjoint("LN"))
        else None
    )
