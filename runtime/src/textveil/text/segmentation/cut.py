"""Segmentation of text into gaps, words and strings.

Gaps pass through the sanitizer unchanged; words and strings never do.

A *gap* is white space or punctuation (Unicode White_Space or general category P). A *word* consists of ordinary letters
between default word boundaries of UAX #29; a *string* is a token that is more than that. No two words or strings touch,
and the segments always concatenate to the text (docs/format-staircase.md, "Segments").
"""

from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Any

from textveil.text.segmentation.characters import TextSpan
from textveil.text.segmentation.strings import find_strings, get_patterns, is_gap, is_string

__all__ = ["is_gap", "is_string", "iterate_split_text", "split_at_strings", "split_text", "split_words_and_gaps"]


def split_at_strings(text: str, *, lone_clitics: bool = False) -> Iterable[tuple[int, int, bool]]:
    """Split a text into its strings and the parts between them, the first segmentation step.

    Args:
        text: Any string.
        lone_clitics: Whether a clitic after a blank, as in ``they 're``, is one segment with its apostrophe.

    Returns:
        Start and end of each part, in order, and whether it is one segment: a string, or a lone clitic. An empty text
        has one part.
    """
    single_spans: Iterable[TextSpan] = find_strings(text)
    if lone_clitics and ("'" in text or "\u2019" in text):
        # No string contains a part of a lone clitic: around it are only blanks, and marks that begin no string.
        clitics = (match.span() for match in get_patterns(text).lone_clitic.finditer(text))
        single_spans = merge(single_spans, clitics)
    return _iterate_parts(text, single_spans) if single_spans else ((0, len(text), False),)


def _iterate_parts(text: str, strings: Iterable[TextSpan]) -> Iterator[tuple[int, int, bool]]:
    position = 0
    for start, end in strings:
        if start > position:
            yield position, start, False
        yield start, end, True
        position = end
    if position < len(text):
        yield position, len(text), False


def split_words_and_gaps(part: str, *, marks_apart: bool) -> list[str]:
    """Split a part between strings into words and gaps."""
    return _get_pattern(part, marks_apart).findall(part)


def split_text(text: str, *, marks_apart: bool = False, lone_clitics: bool = False) -> list[str]:
    """Split ``text`` into segments whose concatenation is ``text``.

    Args:
        text: Any string, including lone surrogates and control characters.
        marks_apart: Whether each mark is a segment and blanks are omitted (then the concatenation lacks the blanks).
            This is the segmentation for sanitized punctuation: the number of segments does not depend on spacing.
        lone_clitics: See ``cut``.

    Returns:
        Gaps, words and strings in order; a segment is wholly a gap (``is_gap``), or no part of it is.
    """
    words = _get_pattern(text, marks_apart).findall
    tokens_and_gaps: list[str] = []
    for start, end, is_one in split_at_strings(text, lone_clitics=lone_clitics):
        part = text[start:end]
        tokens_and_gaps += [part] if is_one else words(part)
    return tokens_and_gaps


def iterate_split_text(text: str, *, marks_apart: bool, lone_clitics: bool = False) -> Iterator[str]:
    """Yield the segments one by one, for texts whose list of segments would not fit in memory."""
    words = _get_pattern(text, marks_apart).finditer
    for start, end, is_one in split_at_strings(text, lone_clitics=lone_clitics):
        if is_one:
            yield text[start:end]
        else:
            yield from (match.group() for match in words(text, start, end))


def _get_pattern(text: str, marks_apart: bool) -> Any:
    found = get_patterns(text)
    return found.word_or_mark if marks_apart else found.word_or_gap
