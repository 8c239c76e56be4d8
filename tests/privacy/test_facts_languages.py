"""Languages at ``plain`` in the mode ``names``: which requests keep them, and where they stay hidden."""

import pytest
from textveil import Sanitizer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please translate this text into German.", "Please translate this text into German."),
        ("Answer in English in at most 3 sentences.", "Answer in English in at most 3 sentences."),
        ("Translate into Spanish, German and French: hi", "Translate into Spanish, German and French: hi"),
        ("She is Polish and speaks German.", "She is [group 1] and speaks [group 2]."),
        ("I am German. Translate this.", "I am [group 1]. Translate this."),
        ("Translate this:\nwe live in German", "Translate this:\nwe live in [group 1]"),
        ("Translate it for German Garcia", "Translate it for [group 1] [person 1]"),
    ],
)
def test_plain_keeps_the_language_of_a_request(text: str, expected: str) -> None:
    assert Sanitizer.load().sanitize(text, facts="plain", style="tag").text == expected


@pytest.mark.parametrize("options", [{"style": "surrogate"}, {"style": "tag", "facts": "none"}, {"deny": ["german"]}])
def test_a_language_is_hidden_where_surrogates_are_languages(options: dict[str, object]) -> None:
    chosen = {"facts": "plain", "style": "tag", **options}
    preview = Sanitizer.load().preview("Please translate this text into German.", **chosen)
    assert ("German", "kept") not in preview
