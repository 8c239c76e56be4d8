"""Segments of any text join to the text, have one kind each, and are the same on every path."""

import sys
import unicodedata
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from textveil.text import segmentation
from textveil.text.segmentation import patterns, segments
from textveil.text.segmentation.segments import split_at_strings

WHITE_SPACE = regex.compile(r"\p{White_Space}")
# At least one character of every class of UAX #29, several of the crowded ones, and what strings are made of.
ALPHABET = (
    "\r\n\x0b\x0c\x85\u2028\u0308\u0301\u20e3\U0001f3ff\u200d\u200c\xad\u2060\ufeff \u2003\u3000\U0001f1e6\U0001f1e7"
    "ア〱אב𐤀aZéжΩ'\".’:·,;1٣_\u202f‿"
    "!?-—“”«()@/%#*$+^~\\中ก😀✂❤👩🚀Ⓜ\0\x1c\t\xa0\u200b\ue000\ud800\udfff²½Ⅷ①"
)
ASCII = "".join(map(chr, range(128)))
EMOTICONS = {
    f"{eyes}{nose}{mouth}"
    for eyes in ":;"
    for nose in ("", "-", "'", "'-")
    for mouth in ("(", ")", "((", "()", "/", "*", "\\")
}

texts = st.text(st.sampled_from(ALPHABET), max_size=12) | st.text(st.characters(), max_size=12)


@settings(max_examples=500)
@given(st.text(st.characters() | st.sampled_from(ALPHABET)) | st.text(st.sampled_from(ASCII)))
@example("")
@example("\ud800\udc00")
@example("a\udfff@\ud800.b/")
def test_segments_concatenate_to_the_text(text: str) -> None:
    found = segmentation.split_text(text)
    assert "".join(found) == text
    assert all(found)
    parts = [text[start:end] for start, end, _ in split_at_strings(text)]
    assert "".join(parts) == text
    assert all(parts) or parts == [""]


@settings(max_examples=500)
@given(texts)
def test_a_gap_is_white_space_and_punctuation_exactly(text: str) -> None:
    for segment in segmentation.split_text(text):
        only = all(WHITE_SPACE.match(c) or unicodedata.category(c)[0] == "P" for c in segment)
        assert segmentation.is_gap(segment) == (only and segment not in EMOTICONS)
        assert segmentation.is_gap(segment) + segmentation.is_string(segment) < 2


#: All code points below this, where most marks are, and every so many above.
_CROWDED = 0x3100


@pytest.mark.parametrize("step", [31, pytest.param(1, marks=pytest.mark.full)])
def test_every_code_point_alone_is_a_gap_a_letter_or_a_string(step: int) -> None:
    """A gap if and only if it is White_Space or punctuation. A letter alone is a word."""
    punctuation, letter = regex.compile(r"\p{P}"), regex.compile(r"(?V1)[\p{L}&&\p{WB=ALetter}]")
    gaps = 0
    for code in (*range(_CROWDED), *range(_CROWDED, sys.maxunicode + 1, step)):
        character = chr(code)
        allowed = WHITE_SPACE.match(character) is not None or punctuation.match(character) is not None
        assert segmentation.is_gap(character) == allowed, hex(code)
        assert segmentation.is_string(character) == (not allowed and not letter.match(character)), hex(code)
        gaps += allowed
    assert gaps > (500 if step > 1 else 800)
    assert not segmentation.is_gap("")


@settings(max_examples=1000)
@given(texts)
@example("x\u200dא'")
@example('foo"bar"@x')
def test_no_two_tokens_touch(text: str) -> None:
    for left, right in pairwise(segmentation.split_text(text)):
        assert segmentation.is_gap(left) or segmentation.is_gap(right)


ascii_texts = st.text(st.sampled_from(ASCII)) | st.text(st.sampled_from("aZw09_.:,;' \r\n\t-\"@/%#?()\\+"), max_size=14)


@pytest.mark.slow
@settings(max_examples=3000)
@given(ascii_texts)
@example("a:b.c'd a;b\r\n\n\r")
@example(':) a(at)b "x y"@z a.bb /a/ %a a_b www.x :// :-D')
def test_the_ascii_patterns_are_the_general_ones(text: str) -> None:
    fast, general = patterns.compile_ascii(), patterns.compile_unicode()
    for name in ("trigger", "emoticon", "run", "url", "word_or_gap"):
        ours, theirs = getattr(fast, name), getattr(general, name)
        spans = [match.span() for match in ours.finditer(text)]
        assert spans == [match.span() for match in theirs.finditer(text)], name


@settings(max_examples=500)
@given(st.text(st.sampled_from("abwz09@/.:,+%#$_~&=?-éß日"), min_size=1, max_size=12))
@example("www.a0")
@example("a:d0")
@example("0:d")
@example("@a")
@example("a.b@c.de")
def test_what_is_known_without_a_search_is_one_segment(text: str) -> None:
    if segments.is_solid(text):
        assert segmentation.split_text(text) == [text]
        assert segmentation.is_string(text)
    if segments.is_letters(text):
        assert segmentation.split_text(text) == [text]
        assert not segmentation.is_string(text)
        assert not segmentation.is_gap(text)


@settings(max_examples=1000)
@given(ascii_texts)
def test_ascii_text_is_cut_the_same_in_company(text: str) -> None:
    """A line with a non-ASCII letter at its end takes the general path."""
    alone, company = "|".join(segmentation.split_text(text + "\nx")), "|".join(segmentation.split_text(text + "\né"))
    assert company == alone[:-1] + "é"


@settings(max_examples=500)
@given(texts, texts)
def test_a_line_between_two_texts_separates_their_tokens(first: str, second: str) -> None:
    def tokens(text: str) -> list[str]:
        return [segment for segment in segmentation.split_text(text) if not segmentation.is_gap(segment)]

    assert tokens(f"{first}\n{second}") == tokens(first) + tokens(second)


@settings(max_examples=1000)
@given(texts)
def test_no_digit_and_no_symbol_stands_in_a_plain_word(text: str) -> None:
    for segment in segmentation.split_text(text):
        if regex.search(r"[\p{N}\p{S}\p{C}\p{WB=Katakana}中]", segment) and not segmentation.is_string(segment):
            assert segmentation.is_gap(segment) or regex.fullmatch(r"[\p{L}\p{M}\p{Cf}\p{P}]+", segment)


@settings(max_examples=1000)
@given(texts)
def test_a_string_alone_is_itself(text: str) -> None:
    for segment in segmentation.split_text(text):
        if not segmentation.is_gap(segment):
            assert segmentation.split_text(segment) == [segment]
