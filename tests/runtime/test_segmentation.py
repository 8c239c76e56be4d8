"""Segments: words against the rules of UAX #29 read one boundary at a time, and what the strings must be."""

import sys
import unicodedata
from functools import cache
from itertools import pairwise

import pytest
import regex
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from textveil.text import number_groups, segmentation, strings

WHITE_SPACE = regex.compile(r"\p{White_Space}")
PICTOGRAPH = regex.compile(r"\p{Extended_Pictographic}")
_PROPERTIES = (
    "CR LF Newline Extend ZWJ Format WSegSpace Regional_Indicator Katakana Hebrew_Letter ALetter Single_Quote "
    "Double_Quote MidNumLet MidLetter MidNum Numeric ExtendNumLet Other"
)
PROPERTIES = _PROPERTIES.split()
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


texts = st.text(st.sampled_from(ALPHABET), max_size=12) | st.text(st.characters(), max_size=12)


# --- the text comes back -------------------------------------------------------------------------------------------


@settings(max_examples=500)
@given(st.text(st.characters() | st.sampled_from(ALPHABET)) | st.text(st.sampled_from(ASCII)))
@example("")
@example("\ud800\udc00")
@example("a\udfff@\ud800.b/")
def test_segments_concatenate_to_the_text(text: str) -> None:
    found = segmentation.segments(text)
    assert "".join(found) == text
    assert all(found)


@settings(max_examples=500)
@given(texts)
def test_a_gap_is_white_space_and_punctuation_exactly(text: str) -> None:
    for segment in segmentation.segments(text):
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
    for left, right in pairwise(segmentation.segments(text)):
        assert segmentation.is_gap(left) or segmentation.is_gap(right)


# --- word boundaries -----------------------------------------------------------------------------------------------

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


ascii_texts = st.text(st.sampled_from(ASCII)) | st.text(st.sampled_from("aZw09_.:,;' \r\n\t-\"@/%#?()\\+"), max_size=14)


@pytest.mark.slow
@settings(max_examples=3000)
@given(ascii_texts)
@example("a:b.c'd a;b\r\n\n\r")
@example(':) a(at)b "x y"@z a.bb /a/ %a a_b www.x :// :-D')
def test_the_ascii_patterns_are_the_general_ones(text: str) -> None:
    fast, general = strings._fast(), strings._general()
    for name in ("trigger", "emoticon", "run", "url", "segment"):
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
    if strings.is_solid(text):
        assert segmentation.segments(text) == [text]
        assert segmentation.is_string(text)
    if strings.is_letters(text):
        assert segmentation.segments(text) == [text]
        assert not segmentation.is_string(text)
        assert not segmentation.is_gap(text)


@settings(max_examples=1000)
@given(ascii_texts)
def test_ascii_text_is_cut_the_same_in_company(text: str) -> None:
    """A line and a letter from elsewhere at the end take the general way through."""
    alone, company = "|".join(segmentation.segments(text + "\nx")), "|".join(segmentation.segments(text + "\né"))
    assert company == alone[:-1] + "é"


@settings(max_examples=500)
@given(texts, texts)
def test_a_line_between_two_texts_separates_their_tokens(first: str, second: str) -> None:
    def tokens(text: str) -> list[str]:
        return [segment for segment in segmentation.segments(text) if not segmentation.is_gap(segment)]

    assert tokens(f"{first}\n{second}") == tokens(first) + tokens(second)


# --- strings -------------------------------------------------------------------------------------------------------

STRINGS = """
doctor@boston.com first.last+tag@mail.example.co.uk почта@пример.рф user%40example.com mary(at)gmail.com
https://example.com/a/b?c=d&e=f#g HTTP://EXAMPLE.COM mailto:doctor@boston.com ftp://user:word@host/path
www.example WWW.example.com/doctor boston.com boston.com/doctor boston.museum?doctor boston.com#doctor
hiv-clinic.org john-doe.github.io пример.рф/доктор @doctor @doctor_boston doctor@boston #1 +1-617-555-0123 12,345.67
1984-06-07T12:30 A4 b2b covid-19 ٣ ٢٠٢٤-٠١ १२ x² ½ ① Ⅷ Ⅳ-b １２３ doc%20tor %E2%80%99 %ff %dog 4️⃣ $5 €5,00
C:/Users/doctor1/x C:\\doctor \\\\host\\share /etc/doctor ~/doctor C++ 👍👍 👩‍🚀 中文 foo.中 カタカナ אב x😀y a​b
foo_bar end.The <3 a=b <b>doctor</b> `doctor` a+b
""".split()


@pytest.mark.parametrize("string", [*STRINGS, '"mary smith"@example.com'])
@pytest.mark.parametrize(
    "around", ["{}", "the {} the", "“{}”", "«{}»—", "a\u00a0{}\u2003b", "'{}'", "*{}*,", "_{}_", "({}) x"]
)
def test_a_string_is_one_segment(string: str, around: str) -> None:
    assert string in segmentation.segments(around.format(string))
    assert segmentation.is_string(string)


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize("around", ["[{}]…", "{{{}}}", "{};"])
def test_brackets_stay_outside(string: str, around: str) -> None:
    found = segmentation.segments(around.format(string))
    assert [segment for segment in found if not segmentation.is_gap(segment)] == [string]


@pytest.mark.parametrize(
    "number", ["+1 (555) 123-4567", "555 123 4567", "(555) 123", "12 555 123 4567", "(1) (2)", "1 000"]
)
def test_groups_of_digits_are_one_segment(number: str) -> None:
    assert segmentation.segments(f"call {number}, or") == ["call", " ", number, ", ", "or"]
    assert segmentation.segments(f"({number}) x")[1] == number


#: A bracket right after a word, or right before one, is no bracket of a group: the group would touch the word.
TOUCHING = [(-1, "cat(1) 2"), (-1, "cat.(1) 2"), (1, "1 (2)cat"), (1, "1 (2).cat")]


@pytest.mark.parametrize("text", [text for _, text in TOUCHING])
def test_a_bracket_that_touches_a_word_joins_no_numbers(text: str) -> None:
    tokens = [part for part in segmentation.segments(text) if not segmentation.is_gap(part)]
    assert sorted(tokens) == ["1", "2", "cat"]


@pytest.mark.parametrize(("direction", "text"), TOUCHING)
def test_brackets_that_join_what_touches_a_word_are_seen(
    direction: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted fault: only one side of a bracket is looked at."""
    real = number_groups._touched
    monkeypatch.setattr(number_groups, "_touched", lambda *place: place[2] != direction and real(*place))
    with pytest.raises(AssertionError):
        test_a_bracket_that_touches_a_word_joins_no_numbers(text)


@pytest.mark.parametrize("emoticon", [":)", ";)", ":-)", ":D", ":-/", ":'(", ":cat", ";-P", ":smile:"])
def test_emoticons_between_blanks_are_strings(emoticon: str) -> None:
    for text in (emoticon, f"nice {emoticon}", f"nice {emoticon}!\n"):
        assert emoticon in segmentation.segments(text)
    assert segmentation.is_string(emoticon)
    assert not segmentation.is_gap(emoticon)
    assert emoticon not in segmentation.segments(f"a{emoticon}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mail doctor@boston.com.", ["Mail", " ", "doctor@boston.com", "."]),
        ("'@doctor'", ["'", "@doctor", "'"]),
        ("*@doctor*,", ["*", "@doctor", "*,"]),
        ("_1_", ["_", "1", "_"]),
        ("...7!?", ["...", "7", "!?"]),
        ("‘5’", ["‘", "5", "’"]),
        ("see www.example.com, then", ["see", " ", "www.example.com", ", ", "then"]),
        ("go to boston.com/a.b/.", ["go", " ", "to", " ", "boston.com/a.b/", "."]),
        ("@", ["@"]),
        ("@@@", ["@@@"]),
        ("a @ b", ["a", " @ ", "b"]),
        ("://", [":", "//"]),
        ("www.", ["www", "."]),
        ("100%", ["100%"]),
        ("%", ["%"]),
        ("%zz", ["%zz"]),
        ('say "7"', ["say", ' "', "7", '"']),
        ("1 2 3, 4", ["1 2 3", ", ", "4"]),
        ("1\n2", ["1", "\n", "2"]),
        ("a1—b2", ["a1", "—", "b2"]),
        ("a1;b2", ["a1", ";", "b2"]),
        ("http://a.b/(c)d", ["http://a.b/(c)d"]),
        ("(http://a.b)", ["(", "http://a.b", ")"]),
        ("x<http://a.b>y", ["x<http://a.b>y"]),
        ("Dr. Who", ["Dr", ". ", "Who"]),
        ("e.g. this", ["e.g", ". ", "this"]),
        ("either/or", ["either", "/", "or"]),
        ("boston.com", ["boston.com"]),
        ("don't", ["don't"]),
        ("Jean-Luc", ["Jean", "-", "Luc"]),
        ("word(s) and (AP)", ["word", "(", "s", ") ", "and", " (", "AP", ")"]),
        ("5 (6 x", ["5", " (", "6", " ", "x"]),
        ("((5) 6)) 7", ["(", "(5) 6", ")) ", "7"]),
        ("note:) x", ["note", ":", ") ", "x"]),
    ],
)
def test_where_strings_begin_and_end(text: str, expected: list[str]) -> None:
    assert segmentation.segments(text) == expected


@settings(max_examples=1000)
@given(texts)
def test_no_digit_and_no_symbol_stands_in_a_plain_word(text: str) -> None:
    for segment in segmentation.segments(text):
        if regex.search(r"[\p{N}\p{S}\p{C}\p{WB=Katakana}中]", segment) and not segmentation.is_string(segment):
            assert segmentation.is_gap(segment) or regex.fullmatch(r"[\p{L}\p{M}\p{Cf}\p{P}]+", segment)


@settings(max_examples=1000)
@given(texts)
def test_a_string_alone_is_itself(text: str) -> None:
    for segment in segmentation.segments(text):
        if not segmentation.is_gap(segment):
            assert segmentation.segments(segment) == [segment]
