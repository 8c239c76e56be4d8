"""Differences fit the terminal: its width, its colors, pipes, and characters of any width."""

import io
import re

import pytest
from rich.cells import cell_len
from textveil.text.marked_html import MarkedPiece
from textveil_cli.changes import TerminalStyle, format_text_diff

PIECES = [MarkedPiece("from "), MarkedPiece("Vienna", "city", "Leeds"), MarkedPiece(" with love.\nBye.")]


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return Terminal()


def test_a_terminal_has_color_and_its_width(terminal: Terminal) -> None:
    assert TerminalStyle.detect(terminal) == TerminalStyle(columns=100, uses_color=True)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_color_on_request(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert TerminalStyle.detect(terminal) == TerminalStyle(columns=100, uses_color=False)


def test_a_pipe_has_neither_color_nor_wrapped_lines() -> None:
    assert TerminalStyle.detect(io.StringIO()) == TerminalStyle(columns=None, uses_color=False)
    long = [MarkedPiece("word " * 200), MarkedPiece("Vienna", "city", "Leeds")]
    shown = format_text_diff(long, TerminalStyle())
    assert [line[:2] for line in shown.splitlines()] == ["- ", "+ "]
    assert shown.endswith("{+Vienna+}\n")
    assert "\x1b" not in shown


def test_a_wide_terminal_has_both_side_by_side() -> None:
    shown = format_text_diff(PIECES, TerminalStyle(columns=80))
    first, second = shown.splitlines()
    assert re.fullmatch(r"from \[-Leeds-\] with love\. +│ from \{\+Vienna\+\} with love\.", first)
    assert re.fullmatch(r"Bye\. +│ Bye\.", second)


def test_a_narrow_terminal_has_one_above_the_other() -> None:
    shown = format_text_diff(PIECES, TerminalStyle(columns=79))
    assert shown == "- from [-Leeds-] with love.\n- Bye.\n+ from {+Vienna+} with love.\n+ Bye.\n"


@pytest.mark.parametrize("columns", [10, 20, 79, 80, 133])
@pytest.mark.parametrize("text", ["日本語のテキストです", "a" * 300, "👩‍👩‍👧 né e\u0301", "एक दो तीन", "\t|\t|"])
def test_no_line_is_wider_than_the_terminal(columns: int, text: str) -> None:
    pieces = [MarkedPiece(text), MarkedPiece("維也納" * 9, "city", "リーズ" * 9), MarkedPiece(text)]
    shown = format_text_diff(pieces, TerminalStyle(columns=columns), "row 7, " + "note" * 30)
    assert max(map(cell_len, shown.splitlines())) <= columns


def test_marks_have_color_and_a_style_that_is_no_color() -> None:
    shown = format_text_diff(PIECES, TerminalStyle(columns=100, uses_color=True))
    assert "\x1b[9;31mLeeds\x1b[0m" in shown  # crossed out
    assert "\x1b[1;4;32mVienna\x1b[0m" in shown  # bold and underlined


@pytest.mark.parametrize("uses_color", [True, False])
def test_controls_of_the_text_never_reach_the_terminal(uses_color: bool) -> None:
    text = "\x1b]0;title\x07\x9b31m\x1b[2J\u202e\r"
    pieces = [MarkedPiece(text), MarkedPiece(text, "city", text)]
    for columns in (None, 40, 120):
        shown = format_text_diff(pieces, TerminalStyle(columns=columns, uses_color=uses_color), text)
        styled = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", styled)
        assert "\x1b]" not in shown


def test_an_unchanged_text_is_shown_once() -> None:
    assert format_text_diff([MarkedPiece("fine")], TerminalStyle()) == "  fine\n"


def test_markup_of_the_library_is_text() -> None:
    assert "[bold]x[/bold] :smile:" in format_text_diff([MarkedPiece("[bold]x[/bold] :smile:")], TerminalStyle())
