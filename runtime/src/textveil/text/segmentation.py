"""Divides text into segments: gaps, which pass through unchanged, and words and strings, which never do.

A *gap* is white space or punctuation (Unicode White_Space or general category P). A *word* is of ordinary letters,
cut at the default word boundaries of UAX #29; whatever is more than that is a *string*. No two words or strings touch,
and segments always concatenate to the text (docs/format.md, "Segments").
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from textveil.text.strings import LONGEST_WORD, find_strings, is_gap, is_string, patterns

__all__ = [
    "AUXILIARIES",
    "BYTE_ORDER_MARK",
    "CLITICS",
    "LONGEST_WORD",
    "LOWER",
    "NOT",
    "TITLE",
    "UPPER",
    "apply_case",
    "case_pattern",
    "is_gap",
    "is_string",
    "iterate_segments",
    "key",
    "segments",
    "split_clitic",
    "words_and_gaps",
]

_CLITIC = re.compile(r"(.+?)(n't|'(?:s|m|d|re|ve|ll))", re.DOTALL)

#: Clitics: parts of words that stand without a blank after the word they belong to.
CLITICS = frozenset({"n't", "'s", "'m", "'d", "'re", "'ve", "'ll"})

#: The clitic that reads well after an auxiliary only, and the stems that it stands after.
NOT = "n't"
AUXILIARIES = frozenset(
    "do does did is are was were am ai has have had wo ca sha could would should must might may need dare ought".split()
)

LOWER, TITLE, UPPER = range(3)

#: Some editors write it before the first line of a file; a list that is read by its lines then has it in a word.
BYTE_ORDER_MARK = "\ufeff"


def segments(text: str, *, marks_apart: bool = False) -> list[str]:
    """Cuts ``text`` into segments whose concatenation is ``text``.

    Args:
        text: Any string, lone surrogates and control characters included.
        marks_apart: Whether each mark is a segment, and blanks are in none. So a text is cut where punctuation is
            sanitized: as many segments as there are words and marks, however it is spaced.

    Returns:
        Gaps, words and strings in order; a segment is wholly a gap (``is_gap``), or no part of it is.
    """
    words = _pattern(text, marks_apart).findall
    found: list[str] = []
    position = 0
    for start, end in find_strings(text):
        if start > position:
            found += words(text[position:start])
        found.append(text[start:end])
        position = end
    return found + words(text[position:] if position else text)


def words_and_gaps(text: str, *, marks_apart: bool = False) -> list[str]:
    """Cuts a text that has no string in it into segments."""
    return _pattern(text, marks_apart).findall(text)


def iterate_segments(text: str, *, marks_apart: bool = False) -> Iterator[str]:
    """Yields the segments one by one, for texts so long that a list of them all would not fit in memory."""
    words = _pattern(text, marks_apart).finditer
    position = 0
    for start, end in find_strings(text):
        yield from (match.group() for match in words(text, position, start))
        yield text[start:end]
        position = end
    yield from (match.group() for match in words(text, position))


def _pattern(text: str, marks_apart: bool) -> Any:
    found = patterns(text)
    return found.word_or_mark if marks_apart else found.segment


def key(word: str) -> str:
    """Returns the look-up key of a word: NFKC, lower case, U+2019 as an apostrophe; a word that is too long itself."""
    if len(word) > LONGEST_WORD:
        return word
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word).lower().replace("\u2019", "'")


def is_folded(text: str) -> bool:
    """Tells whether every word of a text is its own key."""
    return text.lower() == text and "\u2019" not in text and unicodedata.is_normalized("NFKC", text)


def split_clitic(key: str) -> tuple[str, str] | None:
    """Splits ``"don't"`` into ``("do", "n't")`` and ``"john's"`` into ``("john", "'s")``; ``None`` without a clitic."""
    match = _CLITIC.fullmatch(key)
    return None if match is None else (match[1], match[2])


def case_pattern(word: str) -> int:
    """Returns ``UPPER`` if every letter of two or more is upper case, ``TITLE`` if the first is, else ``LOWER``."""
    if word.islower():
        return LOWER
    if len(word) > 1 and word.isupper():
        return UPPER
    first = word[:1]
    return TITLE if first.isupper() or first.istitle() else LOWER


def apply_case(word: str, pattern: int) -> str:
    """Writes a lower-case word in a case pattern."""
    if pattern == LOWER:
        return word
    return word.upper() if pattern == UPPER else word[:1].upper() + word[1:]
