"""Clitics after a blank, as in tokenized text (``they 're``), are kept in the mode ``words``."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import regex
from small_lists import RULES
from small_staircase import small_staircase
from textveil import Sanitizer
from textveil.text.segmentation import segments, split_text
from textveil.text.segmentation.patterns import ASCII_CLASSES
from textveil.text.token_rules import TokenRole

#: Texts with the clitics that are kept in them.
KEPT = [
    ("they 're here , it 's !", ["'re", "'s"]),
    ("they \u2019ve\n'll. I  'd", ["\u2019ve", "'ll", "'d"]),
    ("he 'm?\") a", ["'m"]),
    ("the '5 's :)", ["'s"]),
    ("say 'm' or 's-b or 'd:e or 's.x", []),
    ("'s it ('s 'S 'RE 't 'res it's", []),
    ('\'s."5" \'s."five"', []),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    return Sanitizer.load(small_staircase(tmp_path_factory.mktemp("small")))


@pytest.mark.parametrize(("text", "kept"), KEPT)
def test_a_clitic_behind_a_blank_is_a_segment(text: str, kept: list[str]) -> None:
    cut = split_text(text, lone_clitics=True)
    assert "".join(cut) == text
    assert [segment for segment in cut if segment[0] in "'\u2019" and segment[1:].isalpha()] == kept
    assert all(
        RULES["visible"].split_and_classify(one, starts_sentence=False)[0].role is TokenRole.KEPT for one in kept
    )


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"protect": "words"}, ["the", "'re", "the", "'s"]),
        ({"protect": "words", "deny": ["'re"]}, ["the", "the", "'s"]),
        ({"protect": "words", "sanitize_punctuation": True}, ["the", "the"]),
        ({"protect": "all"}, []),
    ],
)
def test_where_clitics_are_kept(small: Sanitizer, options: dict[str, Any], kept: list[str]) -> None:
    found = [word for word, what in small.preview("the 're the 's", **options) if what == "kept"]
    assert found == kept


def test_a_kept_clitic_is_charged_and_written_as_a_joined_one(small: Sanitizer) -> None:
    lone, joined = (small.sanitize(text, protect="words", epsilon=8.5) for text in ("the 's the 've", "the's the've"))
    assert (lone.text, joined.text) == ("the 's the 've", "the's the've")
    assert lone.statement.tokens == joined.statement.tokens == 0


#: What may stand where a hidden word stands: no clitic without its apostrophe, which are the words that are excluded.
HIDDEN = ["cat", "ere", "sm", "dd", "res", "x"]
AROUND = [("he '", " {}"), ("he '", "{}"), ("he 's {}", ""), ("{} 's", ""), ("he 's.\"{}", ""), ("he 're {}", " 'm")]


def _differing() -> Iterator[tuple[str, str]]:
    """Yield pairs of texts of one pattern that have different templates."""
    rule = RULES["visible"]
    for before, after in AROUND:
        texts = [(before + after).format(word) for word in HIDDEN]
        for one, other in product(texts, texts):
            if rule.list_template(split_text(one, lone_clitics=True)) != rule.list_template(
                split_text(other, lone_clitics=True)
            ):
                yield one, other


def test_no_hidden_word_decides_whether_a_clitic_is_kept() -> None:
    assert not [*_differing()]


@pytest.mark.parametrize(
    "behind",
    [
        r"(?=[.,;:!?\")]*+(?:[ \t-\r]|[a-d]|\Z))",  # the word behind the marks is read
        "",  # a word that begins as a clitic does is torn
    ],
)
def test_a_rule_that_reads_what_is_behind_is_found(monkeypatch: pytest.MonkeyPatch, behind: str) -> None:
    fault = regex.compile(rf"(?<=[{ASCII_CLASSES.blank}])'(?:s|m|d|re|ve|ll){behind}")
    monkeypatch.setattr(segments.get_patterns("a"), "lone_clitic", fault)
    assert [*_differing()]
