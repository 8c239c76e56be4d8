"""The template: rules for single words, starts of sentences, and words that may be outputs."""

import pytest
from small_lists import RULES
from textveil.errors import BundleDamaged
from textveil.text.segmentation import LOWER, TITLE, UPPER, begins_sentence
from textveil.text.token_rules import ClassifiedToken, TemplateRule, TokenRole, parse_function_words


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
        ("the", False, [("kept", LOWER, "the")]),
        ("The", True, [("kept", TITLE, "the")]),
        ("The", False, [("randomized", TITLE, None)]),
        ("THE", True, [("randomized", UPPER, None)]),
        ("tHE", True, [("randomized", LOWER, None)]),
        ("I", False, [("kept", TITLE, "i")]),
        ("A", False, [("randomized", TITLE, None)]),
        ("A", True, [("kept", TITLE, "a")]),
        ("us", False, [("kept", LOWER, "us")]),
        ("Us", True, [("randomized", TITLE, None)]),
        ("US", True, [("randomized", UPPER, None)]),
        ("ｔｈｅ", False, [("kept", LOWER, "the")]),
        ("will", False, [("kept", LOWER, "will")]),
        ("Will", False, [("replaced", TITLE, "given-name")]),
        ("may", False, [("kept", LOWER, "may")]),
        ("MAY", False, [("replaced", UPPER, "month")]),
        ("john", False, [("replaced", LOWER, "given-name")]),
        ("John’s", False, [("replaced", TITLE, "given-name"), ("kept", LOWER, "'s")]),
        ("JOHN'S", False, [("replaced", UPPER, "given-name"), ("kept", UPPER, "'s")]),
        ("I'm", False, [("kept", TITLE, "i"), ("kept", LOWER, "'m")]),
        ("Doctor", False, [("randomized", TITLE, "doctor")]),
        ("doctor've's", False, [("randomized", LOWER, "doctor"), ("kept", LOWER, "'ve"), ("kept", LOWER, "'s")]),
        ("don't", False, [("kept", LOWER, "do"), ("kept", LOWER, "n't")]),
        ("Can't", True, [("kept", TITLE, "ca"), ("kept", LOWER, "n't")]),
        ("couldn't've", False, [("kept", LOWER, "could"), ("kept", LOWER, "n't"), ("kept", LOWER, "'ve")]),
        ("DON'T", False, [("randomized", UPPER, None)]),
        ("Don't", False, [("randomized", TITLE, None)]),
        ("catn't", False, [("randomized", LOWER, "catn't")]),
        ("n't", False, [("kept", LOWER, "n't")]),
        ("'s", False, [("kept", LOWER, "'s")]),
        ("o'clock", False, [("randomized", LOWER, "o'clock")]),
        ("we＇d've’ll", False, [("kept", LOWER, "we"), *[("kept", LOWER, each) for each in ("'d", "'ve", "'ll")]]),
        ("reading", False, [("randomized", LOWER, "reading")]),
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
    rule, word = RULES["visible"], ClassifiedToken(TokenRole.KEPT, LOWER, "we").template_entry
    assert rule.list_template([",", " "]) == [", "]
    assert rule.list_template(["(", " ", "we", ",", "we", "we"]) == ["( ", word, ",", word, word]


def test_without_visible_words() -> None:
    drawn = RULES["randomized"]
    assert said("The", False, drawn) == [("randomized", TITLE, "the")]
    assert said("John's", False, drawn) == [("replaced", TITLE, "given-name"), ("randomized", LOWER, "'s")]
    assert said("don't", False, drawn) == [("randomized", LOWER, "don't")]


@pytest.mark.slow
def test_many_clitics_are_one_string() -> None:
    """A word of 1,000 characters is a word; a longer one is one unknown string, whatever it ends with."""
    longest = "a" + "'s" * 499 + "b"
    assert len(RULES["visible"].split_and_classify(longest[:-1], starts_sentence=True)) == 500
    assert RULES["visible"].split_and_classify("a" + "'s" * 200_000, starts_sentence=True) == (
        ClassifiedToken(TokenRole.RANDOMIZED, LOWER),
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
        assert [name for name, rule in RULES.items() if rule.is_output_allowed("the", lower=lower)] == ["randomized"]
    for member in ("john", "reading", "mon"):
        assert not any(rule.is_output_allowed(member) for rule in RULES.values())
    assert not any(RULES["visible"].is_output_allowed(word) for word in ("don't", "shouldn't"))


@pytest.mark.parametrize(
    "text", ["", "The\n", "the\nthe\n", "the\tname\n", "a b\n", "5\n", "the\t\n", "a\x1b\n", "a\n\n"]
)
def test_damaged_function_words_are_refused(text: str) -> None:
    with pytest.raises(BundleDamaged):
        parse_function_words(text)
