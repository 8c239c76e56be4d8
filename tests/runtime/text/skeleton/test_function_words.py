"""The skeleton: what the rule says of single words, where sentences start, and which words may be outputs."""

from dataclasses import replace

import pytest
from small_lists import RULES
from textveil.errors import BundleDamaged, OptionError
from textveil.text.segmentation import LOWER, TITLE, UPPER
from textveil.text.skeleton import Role, SkeletonRule, Token, function_words, sentence_start
from textveil.text.skeleton.function_words import denied_keys


def said(segment: str, starts: bool = False, rule: SkeletonRule = RULES["visible"]) -> list[tuple[str, int, object]]:
    """Role, case, and key or name of the kind."""
    tokens = rule.classify(segment, starts_sentence=starts)
    return [
        (token.role.value, token.case, token.key if token.kind is None else rule.kinds.kinds[token.kind].name)
        for token in tokens
    ]


@pytest.mark.parametrize(
    ("segment", "starts", "expected"),
    [
        ("the", False, [("shown", LOWER, "the")]),
        ("The", True, [("shown", TITLE, "the")]),
        ("The", False, [("drawn", TITLE, None)]),
        ("THE", True, [("drawn", UPPER, None)]),
        ("tHE", True, [("drawn", LOWER, None)]),
        ("I", False, [("shown", TITLE, "i")]),
        ("A", False, [("drawn", TITLE, None)]),
        ("A", True, [("shown", TITLE, "a")]),
        ("us", False, [("shown", LOWER, "us")]),
        ("Us", True, [("drawn", TITLE, None)]),
        ("US", True, [("drawn", UPPER, None)]),
        ("ｔｈｅ", False, [("shown", LOWER, "the")]),
        ("will", False, [("shown", LOWER, "will")]),
        ("Will", False, [("replaced", TITLE, "given-name")]),
        ("may", False, [("shown", LOWER, "may")]),
        ("MAY", False, [("replaced", UPPER, "month")]),
        ("john", False, [("replaced", LOWER, "given-name")]),
        ("John’s", False, [("replaced", TITLE, "given-name"), ("shown", LOWER, "'s")]),
        ("JOHN'S", False, [("replaced", UPPER, "given-name"), ("shown", UPPER, "'s")]),
        ("I'm", False, [("shown", TITLE, "i"), ("shown", LOWER, "'m")]),
        ("Doctor", False, [("drawn", TITLE, "doctor")]),
        ("doctor've's", False, [("drawn", LOWER, "doctor"), ("shown", LOWER, "'ve"), ("shown", LOWER, "'s")]),
        ("don't", False, [("shown", LOWER, "do"), ("shown", LOWER, "n't")]),
        ("Can't", True, [("shown", TITLE, "ca"), ("shown", LOWER, "n't")]),
        ("couldn't've", False, [("shown", LOWER, "could"), ("shown", LOWER, "n't"), ("shown", LOWER, "'ve")]),
        ("DON'T", False, [("drawn", UPPER, None)]),
        ("Don't", False, [("drawn", TITLE, None)]),
        ("catn't", False, [("drawn", LOWER, "catn't")]),
        ("n't", False, [("shown", LOWER, "n't")]),
        ("'s", False, [("shown", LOWER, "'s")]),
        ("o'clock", False, [("drawn", LOWER, "o'clock")]),
        ("we＇d've’ll", False, [("shown", LOWER, "we"), *[("shown", LOWER, each) for each in ("'d", "'ve", "'ll")]]),
        ("reading", False, [("drawn", LOWER, "reading")]),
        ("Reading", False, [("replaced", TITLE, "city")]),
        ("A4", False, [("replaced", LOWER, "other")]),
        ("24/11/2020", False, [("replaced", LOWER, "date")]),
    ],
)
def test_what_the_rule_says(segment: str, starts: bool, expected: list[tuple[str, int, str | None]]) -> None:
    assert said(segment, starts) == expected


@pytest.mark.parametrize(
    ("segment", "denied", "expected"),
    [
        ("couldn't've", "", "could=could n't=n't 've='ve"),
        ("We've's", "nurse", "We=None 've='ve 's='s"),
        ("nurse", "nurse", "nurse=None"),
        ("nurse's", "nurse", "nurse=None 's='s"),
        ("nurse's", "nurse's", "nurse's=None"),
        ("don't've", "do", "don't've=None"),
    ],
)
def test_pieces_of_a_word(segment: str, denied: str, expected: str) -> None:
    rule = replace(RULES["visible"], denied=denied_keys([denied]))
    found = rule.tokens(segment, starts_sentence=False)
    assert " ".join(f"{piece}={token.key}" for piece, token in found) == expected


def test_one_word_alone() -> None:
    assert RULES["visible"].alone("doctor") == Token(Role.DRAWN, LOWER, "doctor")
    for wrong, message in ((" ", "one word"), ("a doctor", "one word"), ("doctor's", "one word"), ("a", "it stays")):
        with pytest.raises(OptionError, match=message):
            RULES["visible"].alone(wrong)


def test_a_clitic_that_is_shown_is_glued_to_its_stem() -> None:
    for apart, written in ((False, "nurse 've's"), (True, "nurse 've 's")):
        assert RULES["visible"].joined(["nurse", "'ve", "'s"], [False, False, True], apart=apart) == written


def test_a_skeleton_has_every_gap() -> None:
    rule, word = RULES["visible"], Token(Role.SHOWN, LOWER, "we").entry
    assert rule.skeleton([",", " "]) == [", "]
    assert rule.skeleton(["(", " ", "we", ",", "we", "we"]) == ["( ", word, ",", word, word]


def test_without_visible_words() -> None:
    drawn = RULES["drawn"]
    assert said("The", False, drawn) == [("drawn", TITLE, "the")]
    assert said("John's", False, drawn) == [("replaced", TITLE, "given-name"), ("drawn", LOWER, "'s")]
    assert said("don't", False, drawn) == [("drawn", LOWER, "don't")]


@pytest.mark.slow
def test_many_clitics_are_one_string() -> None:
    """A word of 1,000 characters is a word; a longer one is one unknown string, whatever it ends with."""
    longest = "a" + "'s" * 499 + "b"
    assert len(RULES["visible"].classify(longest[:-1], starts_sentence=True)) == 500
    assert RULES["visible"].classify("a" + "'s" * 200_000, starts_sentence=True) == (Token(Role.DRAWN, LOWER),)


@pytest.mark.parametrize(
    ("gap", "starts"),
    [
        (None, True),
        ("", False),
        (" ", False),
        (". ", True),
        ('?" ', True),
        ("\n", True),
        ("\u2028", True),
        (", ", False),
    ],
)
def test_where_sentences_start(gap: str | None, starts: bool) -> None:
    assert sentence_start(gap) == starts


@pytest.mark.parametrize("symbol", ["doctor", "o'clock", "é", "straße", "u.s"])
def test_drawn_words_may_be_outputs(symbol: str) -> None:
    assert all(rule.outputs_allowed(symbol) for rule in RULES.values())


@pytest.mark.parametrize(
    "symbol", ["'s", "n't", ",", "5", "b2b", "x.com", "", "two words", "a-b", "doctor's", ":)", "中"]
)
def test_what_is_no_word_is_never_an_output(symbol: str) -> None:
    assert not any(rule.outputs_allowed(symbol) for rule in RULES.values())


def test_function_words_and_members_are_no_outputs() -> None:
    for lower in (False, True):
        assert [name for name, rule in RULES.items() if rule.outputs_allowed("the", lower=lower)] == ["drawn"]
    for member in ("john", "reading", "mon"):
        assert not any(rule.outputs_allowed(member) for rule in RULES.values())
    assert not any(RULES["visible"].outputs_allowed(word) for word in ("don't", "shouldn't"))


@pytest.mark.parametrize(
    "text", ["", "The\n", "the\nthe\n", "the\tname\n", "a b\n", "5\n", "the\t\n", "a\x1b\n", "a\n\n"]
)
def test_damaged_function_words_are_refused(text: str) -> None:
    with pytest.raises(BundleDamaged):
        function_words(text)
