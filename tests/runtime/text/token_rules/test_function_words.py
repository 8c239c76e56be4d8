"""The template: rules for single words, starts of sentences, and words that may be outputs."""

import pytest
from small_lists import RULES
from textveil.errors import BundleDamaged
from textveil.text.segmentation import LOWER, TITLE, UPPER
from textveil.text.token_rules import ClassifiedToken, TemplateRule, TokenRole, begins_sentence, parse_function_words


def said(segment: str, starts: bool = False, rule: TemplateRule = RULES["visible"]) -> list[tuple[str, int, object]]:
    """Role, case, and key or name of the kind."""
    tokens = rule.split_and_classify(segment, starts_sentence=starts)
    return [
        (
            token.role.value,
            token.case,
            token.key if token.type_index is None else rule.listed_types.entity_types[token.type_index].name,
        )
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


def test_the_pieces_of_a_word_are_the_word() -> None:
    found = RULES["visible"].classify_token("couldn't've", starts_sentence=False)
    assert [(piece, token.key) for piece, token in found] == [(piece, piece) for piece in ("could", "n't", "'ve")]


def test_a_skeleton_has_every_gap() -> None:
    rule, word = RULES["visible"], ClassifiedToken(TokenRole.SHOWN, LOWER, "we").template_entry
    assert rule.list_template([",", " "]) == [", "]
    assert rule.list_template(["(", " ", "we", ",", "we", "we"]) == ["( ", word, ",", word, word]


def test_without_visible_words() -> None:
    drawn = RULES["drawn"]
    assert said("The", False, drawn) == [("drawn", TITLE, "the")]
    assert said("John's", False, drawn) == [("replaced", TITLE, "given-name"), ("drawn", LOWER, "'s")]
    assert said("don't", False, drawn) == [("drawn", LOWER, "don't")]


@pytest.mark.slow
def test_many_clitics_are_one_string() -> None:
    """A word of 1,000 characters is a word; a longer one is one unknown string, whatever it ends with."""
    longest = "a" + "'s" * 499 + "b"
    assert len(RULES["visible"].split_and_classify(longest[:-1], starts_sentence=True)) == 500
    assert RULES["visible"].split_and_classify("a" + "'s" * 200_000, starts_sentence=True) == (
        ClassifiedToken(TokenRole.DRAWN, LOWER),
    )


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
    assert begins_sentence(gap) == starts


@pytest.mark.parametrize("symbol", ["doctor", "o'clock", "é", "straße", "u.s"])
def test_drawn_words_may_be_outputs(symbol: str) -> None:
    assert all(rule.is_output_allowed(symbol) for rule in RULES.values())


@pytest.mark.parametrize(
    "symbol", ["'s", "n't", ",", "5", "b2b", "x.com", "", "two words", "a-b", "doctor's", ":)", "中"]
)
def test_what_is_no_word_is_never_an_output(symbol: str) -> None:
    assert not any(rule.is_output_allowed(symbol) for rule in RULES.values())


def test_function_words_and_members_are_no_outputs() -> None:
    for lower in (False, True):
        assert [name for name, rule in RULES.items() if rule.is_output_allowed("the", lower=lower)] == ["drawn"]
    for member in ("john", "reading", "mon"):
        assert not any(rule.is_output_allowed(member) for rule in RULES.values())
    assert not any(RULES["visible"].is_output_allowed(word) for word in ("don't", "shouldn't"))


@pytest.mark.parametrize(
    "text", ["", "The\n", "the\nthe\n", "the\tname\n", "a b\n", "5\n", "the\t\n", "a\x1b\n", "a\n\n"]
)
def test_damaged_function_words_are_refused(text: str) -> None:
    with pytest.raises(BundleDamaged):
        parse_function_words(text)
