"""Divides text into segments: gaps, which pass through unchanged, and words and strings, which never do.

A *gap* is white space or punctuation (Unicode White_Space or general category P). A *word* is of ordinary letters,
cut at the default word boundaries of UAX #29; whatever is more than that is a *string*. No two words or strings touch,
and segments always concatenate to the text (docs/format-staircase.md, "Segments").
"""

from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Any

from textveil.text.segmentation.characters import Span
from textveil.text.segmentation.strings import find_strings, is_gap, is_string, patterns

__all__ = ["cut", "is_gap", "is_string", "iterate_segments", "segments", "words_and_gaps"]


def cut(text: str, *, lone_clitics: bool = False) -> Iterable[tuple[int, int, bool]]:
    """Cuts a text into its strings, and what is between them: whatever reads a text to draw its words begins here.

    Args:
        text: Any string.
        lone_clitics: Whether a clitic behind a blank, as in ``they 're``, is one segment with its apostrophe.

    Returns:
        Start and end of each part, in order, and whether it is one segment: a string, or a lone clitic. An empty text
        has one part.
    """
    whole: Iterable[Span] = find_strings(text)
    if lone_clitics and ("'" in text or "\u2019" in text):
        # No string has a part of a lone clitic: only blanks, and marks that no string begins with, are around it.
        clitics = (match.span() for match in patterns(text).lone_clitic.finditer(text))
        whole = merge(whole, clitics)
    return _parts(text, whole) if whole else ((0, len(text), False),)


def _parts(text: str, strings: Iterable[Span]) -> Iterator[tuple[int, int, bool]]:
    position = 0
    for start, end in strings:
        if start > position:
            yield position, start, False
        yield start, end, True
        position = end
    if position < len(text):
        yield position, len(text), False


def words_and_gaps(part: str, *, marks_apart: bool) -> list[str]:
    """Cuts what is between strings into words and gaps."""
    return _pattern(part, marks_apart).findall(part)


def segments(text: str, *, marks_apart: bool = False, lone_clitics: bool = False) -> list[str]:
    """Cuts ``text`` into segments whose concatenation is ``text``.

    Args:
        text: Any string, lone surrogates and control characters included.
        marks_apart: Whether each mark is a segment, and blanks are in none. So a text is cut where punctuation is
            sanitized: as many segments as there are words and marks, however it is spaced.
        lone_clitics: As ``cut``.

    Returns:
        Gaps, words and strings in order; a segment is wholly a gap (``is_gap``), or no part of it is.
    """
    words = _pattern(text, marks_apart).findall
    found: list[str] = []
    for start, end, is_one in cut(text, lone_clitics=lone_clitics):
        part = text[start:end]
        found += [part] if is_one else words(part)
    return found


def iterate_segments(text: str, *, marks_apart: bool, lone_clitics: bool = False) -> Iterator[str]:
    """Yields the segments one by one, for texts so long that a list of them all would not fit in memory."""
    words = _pattern(text, marks_apart).finditer
    for start, end, is_one in cut(text, lone_clitics=lone_clitics):
        if is_one:
            yield text[start:end]
        else:
            yield from (match.group() for match in words(text, start, end))


def _pattern(text: str, marks_apart: bool) -> Any:
    found = patterns(text)
    return found.word_or_mark if marks_apart else found.segment
