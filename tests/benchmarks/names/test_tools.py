"""Baselines hide the documented words, and the pieces of a tool must add up to the text."""

from pathlib import Path

import pytest
from names.tools import TOOLS, Beside, Pieces, ToolError, Words, versions

NOWHERE = Path("nowhere")


def words(name: str, text: str) -> list[str]:
    return [text[start:end] for start, end in TOOLS[name](NOWHERE).find_hidden(text)]


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("nothing", []),
        ("everything", ["Anna", "lives", "Oslo", "1999", "xyzzq"]),
        ("capitals", ["Anna", "Oslo", "1999"]),
        ("patch", ["Anna", "Oslo", "1999", "xyzzq"]),
    ],
)
def test_baselines(name: str, hidden: list[str]) -> None:
    assert words(name, "Anna lives in Oslo since 1999, xyzzq") == hidden


def test_pieces_that_are_not_shown_are_hidden() -> None:
    tool = Pieces("ours", lambda _: [("my", "kept"), (" ", "gap"), ("Oslo", "city"), ("!", "gap")])
    assert tool.find_hidden("my Oslo!") == [(3, 7)]


def test_a_detector_beside_hides_more_of_what_the_text_and_the_output_share() -> None:
    tool = Beside("ours", Words("rain", lambda word: word == "rain"))
    assert sorted(tool.find_hidden("The rain fell, said Anna.")) == [(4, 8), (20, 24)]


@pytest.mark.parametrize("pieces", [[("my", "kept")], [("my", "kept"), ("oslo", "city")], [("my Oslo!!", "x")]])
def test_pieces_that_are_not_the_text_are_refused(pieces: list[tuple[str, str]]) -> None:
    with pytest.raises(ToolError, match=r"the pieces (differ|do not cover)") as caught:
        Pieces("ours", lambda _: pieces).find_hidden("my Oslo!")
    assert "Oslo" not in str(caught.value)


def test_a_tool_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("names.tools").tools.PACKAGES, "patch", ("no-such-package-here",))
    with pytest.raises(ToolError, match="no-such-package-here is not installed"):
        versions("patch")
