"""The lookup key of a word, its clitics, and its case."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textveil.text import segmentation
from textveil.text.segmentation import LOWER, TITLE, UPPER

# --- keys, clitics, case -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "folded"), [("doctor", True), ("don't", True), ("Doctor", False), ("don’t", False), ("ﬁne", False)]
)
def test_a_text_of_keys_is_told(text: str, folded: bool) -> None:
    assert segmentation.is_folded(text) is folded


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Doctor", "doctor"),
        ("don’t", "don't"),
        ("DON'T", "don't"),
        ("ﬁne", "fine"),
        ("Ｄｏｃｔｏｒ", "doctor"),
        ("cafe\u0301", "café"),
        ("É", "é"),
        ("K", "k"),
        ("Straße", "straße"),
        ("doc\u00adtor", "doc\u00adtor"),
        ("doc\u200dtor", "doc\u200dtor"),
        ("dосtоr", "dосtоr"),
        ("\ud800A", "\ud800a"),
        ("", ""),
    ],
)
def test_keys(word: str, expected: str) -> None:
    assert segmentation.fold_word(word) == expected


@settings(max_examples=500)
@given(st.text(st.characters()))
def test_a_key_is_nfkc_lower_case_with_a_plain_apostrophe(word: str) -> None:
    assert segmentation.fold_word(word) == unicodedata.normalize("NFKC", word).lower().replace("\u2019", "'")


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("don't", ("do", "n't")),
        ("john's", ("john", "'s")),
        ("i'm", ("i", "'m")),
        ("we're", ("we", "'re")),
        ("they've", ("they", "'ve")),
        ("she'll", ("she", "'ll")),
        ("he'd", ("he", "'d")),
        ("couldn't've", ("couldn't", "'ve")),
        ("rock'n'roll", None),
        ("n't", None),
        ("'s", None),
        ("o'brien", None),
        ("dont", None),
        ("", None),
        ("a\n's", ("a\n", "'s")),
    ],
)
def test_clitics(key: str, parts: tuple[str, str] | None) -> None:
    assert segmentation.split_clitic(key) == parts


@settings(max_examples=300)
@given(st.text(st.sampled_from("nt's\u00e9drevlm")))
def test_a_clitic_and_its_stem_are_the_word(key: str) -> None:
    parts = segmentation.split_clitic(key)
    if parts is not None:
        assert "".join(parts) == key
        assert parts[0]
        assert parts[1] in segmentation.CLITICS


@pytest.mark.parametrize(
    ("word", "pattern"),
    [
        ("doctor", LOWER),
        ("Doctor", TITLE),
        ("DOCTOR", UPPER),
        ("I", TITLE),
        ("a", LOWER),
        ("McDonald", TITLE),
        ("iPhone", LOWER),
        ("USA", UPPER),
        ("don't", LOWER),
        ("DON'T", UPPER),
        ("Éa", TITLE),
        ("ÉA", UPPER),
        ("ǅa", TITLE),
        ("中", LOWER),
        ("ß", LOWER),
        ("😀", LOWER),
        ("", LOWER),
    ],
)
def test_case_patterns(word: str, pattern: int) -> None:
    assert segmentation.find_case_pattern(word) == pattern


@pytest.mark.parametrize(
    ("word", "pattern", "expected"),
    [
        ("nurse", LOWER, "nurse"),
        ("nurse", TITLE, "Nurse"),
        ("nurse", UPPER, "NURSE"),
        ("straße", UPPER, "STRASSE"),
        ("'s", TITLE, "'s"),
        (",", UPPER, ","),
    ],
)
def test_case_is_applied(word: str, pattern: int, expected: str) -> None:
    assert segmentation.apply_case(word, pattern) == expected


@given(st.sampled_from(["nurse", "straße", "n't", "été", "жук"]), st.sampled_from([LOWER, TITLE, UPPER]))
def test_case_patterns_come_back(word: str, pattern: int) -> None:
    assert segmentation.find_case_pattern(segmentation.apply_case(word, pattern)) == pattern
