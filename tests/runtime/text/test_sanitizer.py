"""``Sanitizer`` keeps only gaps and kept words of a text, as a whole, in batches and in parts."""

from typing import Any

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strange_texts import MECHANISMS, reading, strange_texts
from textveil import Sanitizer
from textveil.errors import InputError
from textveil.text import Options, segmentation
from textveil.text.rewrite import rewriter


def tokens_of(segment: str, clitics: bool = True) -> int:
    """How many tokens a segment has in the constant bundles, which hold no clitic themselves."""
    if segmentation.is_gap(segment):
        return 0
    split = segmentation.split_clitic(segmentation.fold_word(segment))
    return 2 if split and clitics and not segmentation.is_string(segment) else 1


# --- gaps, joints and case -----------------------------------------------------------------------------------------


@reading
@given(strange_texts)
@example("")
@example(" \n\t ")
@example("a\x00b")
@example("don’t")
@example("😀😀 中文")
def test_nothing_but_gaps_survives(constant: Sanitizer, text: str) -> None:
    """White space and punctuation byte for byte; every token is redrawn; a blank where two tokens touch."""
    expected, touching = [], False
    for segment in segmentation.split_text(text):
        tokens = tokens_of(segment)
        if not tokens:
            expected.append(segment)
        for _ in range(tokens):
            expected.append(" zz" if touching else "zz")
            touching = True
        touching = tokens > 0
    result = constant.sanitize(text)
    assert result.text.lower() == "".join(expected).lower()
    assert result.tokens == result.text.lower().count("zz")


@reading
@given(strange_texts)
def test_case_patterns_are_carried(constant: Sanitizer, text: str) -> None:
    patterns = [
        segmentation.find_case_pattern(segment) for segment in segmentation.split_text(text) if tokens_of(segment) == 1
    ]
    carried = constant.sanitize(text).text
    if all(tokens_of(segment) < 2 for segment in segmentation.split_text(text)):
        words = regex.findall("(?i)zz", carried)
        assert words == [("zz", "Zz", "ZZ")[pattern] for pattern in patterns]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The DOCTOR said.", "Zz ZZ zz."),
        ("JOHN'S house", "ZZ ZZ zz"),
        ("John’s", "Zz zz"),
        ("Don't I?", "Zz zz Zz?"),
        ("A4 USB x", "ZZ ZZ zz"),
        ("WWW.EXAMPLE.COM", "ZZ"),
        ("Éclair ÉCLAIR éclair", "Zz ZZ zz"),
        ("  indented\r\n\tline ", "  zz\r\n\tzz "),
        ("a-b—c/d", "zz-zz—zz/zz"),
        ("(doctor@boston.com)", "(zz)"),
        ("$5 € ^", "zz zz zz"),
        ("x😀y", "zz"),
        ("a\u200bb", "zz"),
    ],
)
def test_examples_of_the_shape(constant: Sanitizer, text: str, expected: str) -> None:
    assert constant.sanitize(text).text == expected


def test_a_clitic_that_comes_out_stands_without_a_blank(constant_clitic: Sanitizer) -> None:
    assert constant_clitic.sanitize("x😀y the").text == "'s 's"
    assert constant_clitic.sanitize("JOHN'S").text == "'S'S"
    assert constant_clitic.sanitize("x😀y the", sanitize_punctuation=True).text == "'s 's"


@reading
@given(strange_texts)
@example(" . ")
@example("—")
def test_strict_leaves_single_blanks_only(constant: Sanitizer, text: str) -> None:
    """Punctuation is drawn too; nothing but blanks between tokens, case dropped."""
    tokens = 0
    for segment in segmentation.split_text(text):
        gap = segmentation.is_gap(segment)
        tokens += sum(not character.isspace() for character in segment) if gap else tokens_of(segment)
    result = constant.sanitize(text, sanitize_punctuation=True)
    assert result.text == " ".join(["zz"] * tokens)
    assert result.tokens == tokens


def test_strict_with_real_words(english: Sanitizer) -> None:
    text = "“My DOCTOR, in Boston…”\n\tsaid: (the biopsy)\r\nwas clean!"
    for epsilon in (7, 8, 9, 10, 11, 12.5):
        out = english.sanitize(text, sanitize_punctuation=True, mechanism="santext+", epsilon=epsilon).text
        assert out == " ".join(out.split())
        assert all(word in english.bundle.symbol_ids for word in out.split(" "))


def test_english_text_keeps_its_shape(english: Sanitizer) -> None:
    text = "  My doctor\tin BOSTON (Mass.) said:\r\n“the biopsy—was clean!”  \n"
    segments = segmentation.split_text(text)
    shape = regex.compile("".join(regex.escape(s) if segmentation.is_gap(s) else r"(\S+?)" for s in segments))
    for _ in range(50):
        result = english.sanitize(text, mechanism="santext")
        match = shape.fullmatch(result.text)
        assert match is not None
        assert all(word.lower() in english.bundle.symbol_ids for word in match.groups())
        assert result.tokens == len(match.groups()) == 10


def test_every_mechanism_prints_words_of_its_outputs(english: Sanitizer) -> None:
    text = "my doctor in boston said zzyzzx 17 😀 " * 20
    for options in (Options(mechanism="santext", epsilon=12.5), Options(mechanism="krr", epsilon=3)):
        law = english.distribution("zzyzzx", **options)
        assert set(english.sanitize(text, **options).text.split()) <= set(law.words)
    plus = set(english.distribution("zzyzzx", mechanism="santext+").words)
    kept = {"my", "doctor", "in", "boston", "said"}
    assert set(english.sanitize(text, mechanism="santext+").text.split()) <= plus | kept
    visible = {"my", "in"}
    possible = set().union(*(english.distribution(word).words for word in {*text.split()} - visible))
    assert set(english.sanitize(text, protect="words").text.split()) <= possible | visible


# --- texts at the edge ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", MECHANISMS, ids=str)
@pytest.mark.parametrize("text", ["", " ", "\n", " \t\r\n\u00a0\u2028", "...", "—“”"])
def test_without_words_nothing_changes(tiny: Sanitizer, text: str, options: dict[str, Any]) -> None:
    result = tiny.sanitize(text, **options)
    assert (result.text, result.tokens) == (text, 0)
    assert result.statement.epsilon_document == 0
    assert result.statement.to_dict()["epsilon_0_text"] == 0


@settings(reading, max_examples=300)
@given(strange_texts, st.sampled_from(MECHANISMS), st.booleans())
def test_any_text_is_sanitized(tiny: Sanitizer, text: str, options: dict[str, Any], strict: bool) -> None:
    result = tiny.sanitize(text, sanitize_punctuation=strict, **options)
    result.text.encode("utf-8")  # no surrogate comes out
    foreign = {c for c in text if not segmentation.is_gap(c)} - set("".join(tiny.bundle.vocabulary).lower())
    foreign -= set("".join(tiny.bundle.vocabulary).upper()) | {" "}
    assert not foreign & set(result.text)


@pytest.mark.parametrize("value", [None, b"the", 5, ["the"], object()])
def test_what_is_not_a_string_is_refused(tiny: Sanitizer, value: object) -> None:
    with pytest.raises(InputError, match=r"^the text must be a string: for a list of texts use sanitize_batch"):
        tiny.sanitize(value)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^text 2 of 3 must be a string$"):
        tiny.sanitize_batch(["the", value, "a"])  # type: ignore[list-item]


# --- batches and long texts ----------------------------------------------------------------------------------------


def test_a_batch_is_its_texts(tiny: Sanitizer, nearest: None) -> None:
    texts = ["the doctor", "", " ", "zzz, don't", "Boston 17", "\ud800", "the doctor"]
    assert tiny.sanitize_batch(texts) == [tiny.sanitize(text) for text in texts]
    assert tiny.sanitize_batch([]) == []
    assert tiny.sanitize_batch(tuple(texts)) == tiny.sanitize_batch(texts)


def test_texts_of_a_batch_are_drawn_apart(tiny: Sanitizer) -> None:
    results = tiny.sanitize_batch(["doctor " * 40] * 5, mechanism="random")
    assert len({result.text for result in results}) == 5


@pytest.mark.slow
@settings(reading, max_examples=300)
@given(st.lists(strange_texts, max_size=6), st.integers(1, 60), st.booleans())
def test_batches_of_any_size_give_the_same(
    tiny: Sanitizer, nearest: None, texts: list[str], limit: int, strict: bool
) -> None:
    whole = [tiny.sanitize(text, sanitize_punctuation=strict) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewriter, "MAX_BATCH_CHARACTERS", limit)
        patch.setattr(rewriter, "MAX_WHOLE_CHARACTERS", limit)
        patch.setattr(rewriter, "BLOCK_SEGMENTS", limit)
        assert tiny.sanitize_batch(texts, sanitize_punctuation=strict) == whole


#: Texts of many parts, each of so many segments; the full run has the parts that texts are really cut into.
PARTS = [1 << 15, pytest.param(1 << 19, marks=pytest.mark.full)]


@pytest.mark.slow
@pytest.mark.parametrize("segments", PARTS)
def test_a_text_of_many_parts(english: Sanitizer, segments: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rewriter.BLOCK_SEGMENTS == 1 << 15
    monkeypatch.setattr(rewriter, "BLOCK_SEGMENTS", segments)
    times = segments // 5
    result = english.sanitize("The doctor, said zzyzx7! " * times, mechanism="random")
    assert result.tokens == 4 * times
    assert result.text.count("! ") >= times  # marks may also come out of words
    assert result.text.count(", ") >= times
