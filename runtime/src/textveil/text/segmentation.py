"""Divides text into segments: gaps, which pass through unchanged, and words, which never do.

A *gap* is white space or punctuation (Unicode White_Space or general category P). Everything else belongs to a
word. E-mail addresses, URLs, handles and strings with digits are found first and are one segment each, inner
punctuation included; the rest is cut at the default word boundaries of UAX #29. Segments always concatenate to
the text (docs/format.md, "Segments").
"""

import re
import unicodedata
from collections.abc import Iterator

import regex

# What makes the run of characters around it one string.
_TRIGGER = regex.compile(r"[\p{N}@＠﹫]|://|(?i:www\.)|%[0-9A-Fa-f]{2}|\.\p{L}{2,24}[/?#:]")
_ASCII_TRIGGER = re.compile(r"[0-9@]|://|[wW]{3}\.|%[0-9A-Fa-f]{2}|\.[A-Za-z]{2,24}[/?#:]")
# A string ends at these; one that looks like a URL only at the second set.
_BREAKS = r"\p{White_Space}\"“”„«»‹›()\[\]{}<>;—…"
_RUN_START = regex.compile(rf"(?r)[{_BREAKS}]")
_RUN_END = regex.compile(rf"[{_BREAKS}]")
_URL_END = regex.compile(r"[\p{White_Space}\"“”„«»<>]")
_STRING_TRIM = ".,:!?'‘’*_"

# UAX #29, default word boundaries, as one pattern per segment. X is what attaches to the character before it (WB4).
_ATTACHED = r"\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}"
_X = rf"[{_ATTACHED}]*+"
_LETTER, _HEBREW, _NUMBER = r"\p{WB=Hebrew_Letter}\p{WB=ALetter}", r"\p{WB=Hebrew_Letter}", r"\p{WB=Numeric}"
_RUN = rf"[{_LETTER}{_NUMBER}{_ATTACHED}]*+"  # WB5, WB8, WB9, WB10
_WORD = (
    rf"(?:[{_LETTER}{_NUMBER}]{_RUN}(?:"
    rf"(?<=[{_LETTER}][{_ATTACHED}]*)[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}']{_X}(?=[{_LETTER}]){_RUN}"  # WB6, WB7
    rf"|(?<=[{_HEBREW}][{_ATTACHED}]*)\"{_X}(?=[{_HEBREW}]){_RUN}"  # WB7b, WB7c
    rf"|(?<=[{_NUMBER}][{_ATTACHED}]*)[\p{{WB=MidNum}}\p{{WB=MidNumLet}}']{_X}(?=[{_NUMBER}]){_RUN}"  # WB11, WB12
    rf")*+|\p{{WB=Katakana}}[\p{{WB=Katakana}}{_ATTACHED}]*+)"  # WB13
)
_AFTER_HEBREW = rf"(?<=[{_HEBREW}][{_ATTACHED}]*)"
_CONNECTOR = rf"(?:\p{{WB=ExtendNumLet}}{_X})"
_CONNECTED = rf"{_CONNECTOR}*+{_WORD}(?:{_CONNECTOR}++{_WORD})*+(?:{_AFTER_HEBREW}'{_X}|{_CONNECTOR}*+)"  # WB7a, 13a, b
_SEGMENT = regex.compile(
    r"\r\n|[\r\n\p{WB=Newline}]|(?:"  # WB3, WB3a, WB3b
    rf"{_CONNECTED}|{_CONNECTOR}++"
    rf"|\p{{WB=WSegSpace}}++{_X}"  # WB3d
    rf"|(?:\p{{WB=Regional_Indicator}}{_X}){{2}}"  # WB15, WB16
    rf"|(?s:.){_X}"  # WB999
    # WB3c; a few pictographs are letters too, and go on as words.
    rf")(?:(?<=\u200d)(?=\p{{Extended_Pictographic}})(?:{_CONNECTED}|.{_X}))*+",
    regex.V1,
)
# The same for ASCII, where it is short enough for the faster engine.
_ASCII_SEGMENT = re.compile(
    r"(?:[A-Za-z0-9_]+|(?<=[A-Za-z])[.:'](?=[A-Za-z])|(?<=[0-9])[.,;'](?=[0-9]))+|\r\n|[ ]+|.", re.DOTALL
)
_GAP = regex.compile(r"[\p{White_Space}\p{P}]+")
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|m|d|re|ve|ll))", re.DOTALL)

#: Clitics: parts of words that stand without a blank after the word they belong to.
CLITICS = frozenset({"n't", "'s", "'m", "'d", "'re", "'ve", "'ll"})

LOWER, TITLE, UPPER = range(3)


def segments(text: str) -> list[str]:
    """Cuts ``text`` into segments whose concatenation is ``text``.

    Args:
        text: Any string, lone surrogates and control characters included.

    Returns:
        Gaps, words and strings in order; a segment is wholly a gap (``is_gap``), or no part of it is.
    """
    words = (_ASCII_SEGMENT if text.isascii() else _SEGMENT).findall
    found: list[str] = []
    for start, end, string in _stretches(text):
        stretch = text[start:end] if string or end - start < len(text) else text
        found += [stretch] if string else words(stretch)
    return found


def iterate_segments(text: str) -> Iterator[str]:
    """Yields the segments one by one, for texts so long that a list of them all would not fit in memory."""
    words = (_ASCII_SEGMENT if text.isascii() else _SEGMENT).finditer
    for start, end, string in _stretches(text):
        if string:
            yield text[start:end]
        else:
            yield from (match.group() for match in words(text[start:end]))


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of strings, and of what lies between them."""
    trigger = _ASCII_TRIGGER if text.isascii() else _TRIGGER
    position = 0
    match = trigger.search(text)
    while match is not None:
        start, end = _string_around(text, position, match.start(), match.group())
        if start > position:
            yield position, start, False
        yield start, end, True
        position = end
        match = trigger.search(text, end)
    if position < len(text):
        yield position, len(text), False


def _string_around(text: str, position: int, trigger: int, kind: str) -> tuple[int, int]:
    """Start and end of the string around a trigger; never before ``position``, never empty."""
    before = _RUN_START.search(text, position, trigger)
    start = position if before is None else before.end()
    looks_like_url = len(kind) > 1 and kind[0] != "%"
    after = (_URL_END if looks_like_url else _RUN_END).search(text, trigger)
    end = len(text) if after is None else after.start()
    while start < trigger and text[start] in _STRING_TRIM:
        start += 1
    while end > trigger + len(kind) and text[end - 1] in _STRING_TRIM:
        end -= 1
    return start, max(end, trigger + 1)


def is_string(segment: str) -> bool:
    """Tells whether a segment is an e-mail address, a URL, a handle or has a digit: always an unknown word."""
    return _TRIGGER.search(segment) is not None and not is_gap(segment)


def is_gap(segment: str) -> bool:
    """Tells whether a segment is white space and punctuation only."""
    return _GAP.fullmatch(segment) is not None


def key(word: str) -> str:
    """Returns the look-up key of a word: NFKC, lower case, U+2019 as an apostrophe."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word).lower().replace("\u2019", "'")


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
