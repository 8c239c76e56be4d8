"""Segments of texts that random ones rarely contain: very many numbers in brackets, and very long words.

The reader has each rule from the document alone and shares no code with the runtime.
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_reader import inputs, open_bundle
from reference_reader import segments as by_the_document
from textveil import Sanitizer
from textveil.text import segmentation
from textveil.text.token_rules.every_word import EveryWordRule

GOLDEN = Path(__file__).parents[2] / "docs" / "golden" / "words"
#: Texts of about so many marks. Some numbers wait in brackets that are closed, some in brackets that never are.
SHAPES = {
    "one number": lambda n: "(" * n + "1" + ")" * n,
    "two numbers": lambda n: "(" * n + "1 2" + ")" * n,
    "two numbers after a word": lambda n: "a" + "(" * n + "1 2" + ")" * n,
    "two numbers, one bracket apart": lambda n: "(" * n + "1) 2" + ")" * n,
    "a pair after brackets": lambda n: "(" * n + "1)(2)(3",
    "1( without blanks": lambda n: "1(" * (n // 2) + "(" * (n % 2) + "1)(1)",
    "1 (": lambda n: ("1 (" * n)[: n + 1] + "1 2))) 3",
    "1 ( many times": lambda n: "1 (" * n,
    "(1 ": lambda n: "(1 " * (n // 3) + "(" * (n % 3) + "1 (2) 3) 4)",
    "(1 many times": lambda n: "(1 " * n,
    "(1 closed again": lambda n: "(1 " * (n // 3) + "2" + ")" * (n // 3),
    "1 (( after three brackets": lambda n: "(((" + "1 ((" * (n // 4) + "5 (6 7)))",
    "joined numbers": lambda n: "1 " * n + "(" * n + "2 3",
    "brackets that close": lambda n: "(1) " * n + "(2",
    "brackets that close, and a number": lambda n: "(1) " * n + "2",
    "brackets that close in brackets": lambda n: "1 (" + "(1) " * n + "(2)) x",
}


def cut(text: str) -> list[tuple[str, str]]:
    """Return the segments of the runtime, each with its kind."""

    def kind(segment: str) -> str:
        return "gap" if segmentation.is_gap(segment) else "string" if segmentation.is_string(segment) else "word"

    return [(kind(segment), segment) for segment in segmentation.split_text(text)]


def assert_agreement(text: str) -> None:
    """Reader and runtime cut a text in the same way, and nothing but gaps touches."""
    found = by_the_document.find_segments(text)
    assert found == cut(text)
    assert all("gap" in (first, second) for (first, _), (second, _) in pairwise(found))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("marks", [9, 4_100])
def test_any_number_of_brackets_may_wait(marks: int, shape: Callable[[int], str]) -> None:
    assert_agreement(shape(marks))


def test_what_waits_is_no_less_one_string() -> None:
    """However deep it is, a number or several in its place are cut alike."""
    for number in ("5", "1 2", "(1) 2", "((1) 2) 3"):
        for text in ("(" * 5_000 + "{}", "(1 " * 5_000 + "({}", "(" * 5_000 + "{}" + ")" * 4_999):
            found = cut(text.format(number))
            assert ("string", number) in found
            assert len(found) == len(cut(text.format("7")))


NUMBERS = ["1", "(", ")", " ", "2 ", "(3) ", "a", ".", "_", "(a)", "[a]", ":", "/", '"', "@", "\u00a0"]


@settings(max_examples=600)
@given(st.lists(st.sampled_from(NUMBERS), max_size=24))
@example(list("1(1(1)(1)"))
@example(["1", " ", "(3) ", "_", "(3) ", "1"])
def test_numbers_in_brackets_agree(parts: list[str]) -> None:
    assert_agreement("".join(parts))


@pytest.mark.slow
@settings(max_examples=3000)
@given(st.text(st.sampled_from("aZéжΩ ̈\u00ad'.’·,;!-—“”«(/\u2003\u2028\t\r\n\x85ʼ"), max_size=12))
def test_words_between_marks_and_blanks_agree(text: str) -> None:
    assert_agreement(text)


@pytest.mark.parametrize("length", [1_000, 1_001])
@pytest.mark.parametrize("pattern", ["a", "é", "\ufdfa", "a'", "e\u0301"])
def test_a_word_is_a_string_from_the_same_length_on(pattern: str, length: int) -> None:
    word = (pattern * length)[: length - 1] + "b"
    assert_agreement(f"the {word} {word[1:]}b")
    assert {len(part) <= 1_000 for kind, part in cut(word) if kind == "word"} == ({True} if length <= 1_000 else set())


@pytest.mark.parametrize("length", [1_000, 1_001])
@pytest.mark.parametrize("pattern", ["A", "É", "E\u0301", "\ufdfa", "’"])
def test_a_long_text_is_its_own_key(pattern: str, length: int) -> None:
    text = (pattern * length)[:length]
    assert inputs.key_of(text) == segmentation.fold_word(text)
    assert (segmentation.fold_word(text) == text) == (length > 1_000)


@pytest.mark.parametrize("entry", ["\ufeffthe", "\ufeff\ufeffthe", "\ufeff", "THE", "the\ufeff", "\ufeffDON'T tell"])
def test_denied_entries_are_read_alike(entry: str) -> None:
    """A byte order mark at the start is not part of an entry."""
    bundle = Sanitizer.load(GOLDEN).bundle
    keys = EveryWordRule(bundle.symbol_ids).list_keys(entry)
    expected = [bundle.symbol_count if key is None else bundle.symbol_ids.get(key, bundle.symbol_count) for key in keys]
    assert inputs.denied_ids(open_bundle(GOLDEN), entry) == expected
