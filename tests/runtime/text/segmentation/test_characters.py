"""Segments that are words: against the rules of UAX #29, read one boundary at a time."""

from functools import cache
from itertools import pairwise

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from textveil.text import segmentation

PICTOGRAPH = regex.compile(r"\p{Extended_Pictographic}")
_PROPERTIES = (
    "CR LF Newline Extend ZWJ Format WSegSpace Regional_Indicator Katakana Hebrew_Letter ALetter Single_Quote "
    "Double_Quote MidNumLet MidLetter MidNum Numeric ExtendNumLet Other"
)
PROPERTIES = _PROPERTIES.split()
LETTERS = {"ALetter", "Hebrew_Letter"}
IGNORED = {"Extend", "Format", "ZWJ"}
NEWLINES = {"CR", "LF", "Newline"}
MID_LETTER = {"MidLetter", "MidNumLet", "Single_Quote"}
MID_NUMBER = {"MidNum", "MidNumLet", "Single_Quote"}


@cache
def word_break(character: str) -> str:
    return next(name for name in PROPERTIES if regex.match(rf"\p{{WB={name}}}", character))


def by_the_rules(text: str) -> list[str]:
    """UAX #29, revision 41 and later: every boundary decided by the rules WB3 to WB999, in their order."""
    kinds = [word_break(character) for character in text]

    def before(place: int) -> int | None:
        """Place of the character that a boundary or a character sees before it, by WB4."""
        place -= 1
        while place >= 0 and kinds[place] in IGNORED and place > 0 and kinds[place - 1] not in NEWLINES:
            place -= 1
        return place if place >= 0 else None

    def after(place: int) -> int | None:
        place += 1
        while place < len(text) and kinds[place] in IGNORED:
            place += 1
        return place if place < len(text) else None

    def kind(place: int | None) -> str:
        return "" if place is None else kinds[place]

    def joined(place: int) -> bool:
        left, right = kinds[place - 1], kinds[place]
        if left == "CR" and right == "LF":  # WB3
            return True
        if left in NEWLINES or right in NEWLINES:  # WB3a, WB3b
            return False
        if left == "ZWJ" and PICTOGRAPH.match(text[place]):  # WB3c
            return True
        if left == right == "WSegSpace":  # WB3d
            return True
        if right in IGNORED:  # WB4
            return True
        seen = before(place)
        left, further_left, further_right = kind(seen), kind(before(seen or 0)), kind(after(place))
        if left in LETTERS and right in LETTERS:  # WB5
            return True
        if left in LETTERS and right in MID_LETTER and further_right in LETTERS:  # WB6
            return True
        if further_left in LETTERS and left in MID_LETTER and right in LETTERS:  # WB7
            return True
        if left == "Hebrew_Letter" and right == "Single_Quote":  # WB7a
            return True
        if left == "Hebrew_Letter" and right == "Double_Quote" and further_right == "Hebrew_Letter":  # WB7b
            return True
        if further_left == "Hebrew_Letter" and left == "Double_Quote" and right == "Hebrew_Letter":  # WB7c
            return True
        if left in LETTERS | {"Numeric"} and right in LETTERS | {"Numeric"}:  # WB8, WB9, WB10
            return True
        if further_left == "Numeric" and left in MID_NUMBER and right == "Numeric":  # WB11
            return True
        if left == "Numeric" and right in MID_NUMBER and further_right == "Numeric":  # WB12
            return True
        if left == right == "Katakana":  # WB13
            return True
        if left in LETTERS | {"Numeric", "Katakana", "ExtendNumLet"} and right == "ExtendNumLet":  # WB13a
            return True
        if left == "ExtendNumLet" and right in LETTERS | {"Numeric", "Katakana"}:  # WB13b
            return True
        if left == right == "Regional_Indicator":  # WB15, WB16
            run = 0
            while kind(seen) == "Regional_Indicator":
                run, seen = run + 1, before(seen or 0)
            return run % 2 == 1
        return False  # WB999

    cuts = [0, *(place for place in range(1, len(text)) if not joined(place)), len(text)]
    return [text[start:end] for start, end in pairwise(cuts) if start < end]


# "|" stands between segments.
BOUNDARIES = [
    "straße| |жук| |Ωμέγα",
    "aб",
    "a\u0308\u200db",
    "e\u0301\u00adt\u2060e",
    "can't",
    "can’t",
    "l'aîné",
    "a:b·c",
    "a|'",
    "a|..|b",
    "'|a|'",
    "a|, |b",
    "a|-|b",
    "a|_",
    "_|a",
    "a|-_|b",
    "a|\u202f|b",
    "a|\r\n|b",
    "a|\x0b|b|\x0c|c|\u2028|d",
    "U.S|. |Ph.D",
    "a|:|)|b",
]


@pytest.mark.parametrize("expected", BOUNDARIES)
def test_boundaries_by_hand(expected: str) -> None:
    assert segmentation.segments(expected.replace("|", "")) == expected.split("|")


ordinary = st.text(st.sampled_from("aZéжΩ ̈\u00ad'.’·,;!-—“”«(/\u2003\u2028\t\r\n\x85ʼ"), max_size=12)


@pytest.mark.slow
@settings(max_examples=3000)
@given(ordinary)
def test_words_are_those_of_the_rules(text: str) -> None:
    """Of letters, marks and blanks, the words are the segments of UAX #29 that have a letter."""
    found = segmentation.segments(text)
    assume(not any(segmentation.is_string(segment) for segment in found))
    expected = [part for part in by_the_rules(text) if regex.search(r"\p{L}", part)]
    assert [segment for segment in found if not segmentation.is_gap(segment)] == expected
