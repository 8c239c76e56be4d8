"""Clitics after a blank, as in tokenized text (``it 's``), are one token with all mechanisms but the staircase."""

from typing import Any

import pytest
from textveil import Sanitizer
from textveil.bundle import find_artifact
from textveil.text.token_rules.every_word import EveryWordRule

ENGLISH = find_artifact("english-santext")
TEXT = "it 's a film , they 're \u2019ll!"
MECHANISMS: list[dict[str, Any]] = [
    {"mechanism": "santext"},
    {"mechanism": "santext+"},
    {"mechanism": "random"},
    {"mechanism": "krr", "epsilon": 3},
    {"mechanism": "fbdd", "epsilon": 100},
]


@pytest.fixture(scope="module")
def english() -> Sanitizer:
    return Sanitizer.load(ENGLISH)


def list_tokens(sanitizer: Sanitizer, text: str, **options: Any) -> list[str]:
    return [piece for piece, state in sanitizer.preview(text, **options) if state != "gap"]


@pytest.mark.parametrize("options", MECHANISMS, ids=lambda options: options["mechanism"])
def test_a_clitic_after_a_blank_is_one_token(english: Sanitizer, options: dict[str, Any]) -> None:
    assert list_tokens(english, TEXT, **options) == ["it", "'s", "a", "film", "they", "'re", "\u2019ll"]
    result = english.sanitize(TEXT, **options)
    assert result.tokens == 7
    assert len(result.text.split(" ")) == len(TEXT.split(" "))


@pytest.mark.parametrize("options", MECHANISMS, ids=lambda options: options["mechanism"])
def test_a_torn_clitic_is_found(english: Sanitizer, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    """Planted fault: the apostrophe is a gap, and is kept."""
    monkeypatch.setattr(EveryWordRule, "joins_lone_clitics", False)
    sanitizer = Sanitizer(english.bundle)
    with pytest.raises(AssertionError):
        test_a_clitic_after_a_blank_is_one_token(sanitizer, options)


def test_its_distribution_is_that_of_the_clitic(english: Sanitizer) -> None:
    """With SanText+ and probability 1 of replacement nothing is kept, so an output is a draw of the clitic's row."""
    row = english.distribution("'s", mechanism="santext", epsilon=12.5)
    outputs = [english.sanitize("it 's", mechanism="santext", epsilon=12.5).text.split(" ")[1] for _ in range(300)]
    expected = row.compute_probability("'s")
    share = sum(output == "'s" for output in outputs) / len(outputs)
    assert abs(share - expected) < 0.15
    assert expected > 0.5


@pytest.mark.parametrize("entry", ["'s", "\u2019s", "it 's"])
def test_a_denied_clitic_is_always_replaced(english: Sanitizer, entry: str) -> None:
    """A common clitic is kept by SanText+ with probability 1 - p: never if it is denied."""
    options: dict[str, Any] = {"mechanism": "santext+", "epsilon": 7, "replacement_probability": "0.000001"}
    assert english.sanitize("it 's " * 20, **options).text == "it 's " * 20
    denied = english.sanitize("it 's " * 20, deny=[entry], **options).text
    assert denied.split(" ")[1::2].count("'s") < 10


def test_where_punctuation_is_sanitized_the_apostrophe_is_a_token(english: Sanitizer) -> None:
    tokens = list_tokens(english, "it 's", mechanism="santext", sanitize_punctuation=True)
    assert [token.strip() for token in tokens] == ["it", "'", "s"]


def test_a_long_text_is_cut_like_a_short_one(english: Sanitizer) -> None:
    text = "it 's " * 40_000
    assert english.sanitize(text, mechanism="random").tokens == 80_000
