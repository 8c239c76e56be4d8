"""Tags of markup that have no effect on the text after them, by their names."""

import pytest
from textveil.text.harmless_tags import begins_block, consumes_text, is_bare_tag, is_harmless_tag


@pytest.mark.parametrize("tag", ["b", "/b", "br/", "br /", "BR", "think", "name", "first name", "details open", "h7"])
def test_a_name_with_words_is_harmless(tag: str) -> None:
    assert is_harmless_tag(tag)
    assert is_bare_tag(tag) == (" " not in tag)


@pytest.mark.parametrize(
    "tag",
    ["script", "/script", "SVG", "style x", "a", "img", "code", "my-tag", "x=y", "x y=z", "", "/", "!x", "x.y", "x\ny",
     "tool_call", "web_search", "function", "x" * 65, "na\u017fcript"],
)  # fmt: skip
def test_what_may_act_is_not_harmless(tag: str) -> None:
    assert not is_harmless_tag(tag)
    assert not is_bare_tag(tag)


def test_blocks_and_text_of_their_own() -> None:
    assert begins_block("P")
    assert begins_block("/table")
    assert begins_block("x=y")
    assert not begins_block("br")
    assert consumes_text("/Title")
    assert not consumes_text("div")
