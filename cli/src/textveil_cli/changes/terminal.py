"""Print the differences between a text and its sanitized output on a terminal, with or without color.

A text and its output are side by side on a wide terminal, otherwise one above the other.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from shutil import get_terminal_size
from typing import TextIO

from textveil.text.marked_html import KEPT_TEXT, MarkedPiece, escape_controls

#: Terminals of at least this many columns show a text and its output side by side.
_MIN_WIDE_COLUMNS = 80
#: Marks without color, as ``git diff --word-diff`` has them.
_PLAIN_MARKS = {"original": ("[-", "-]"), "output": ("{+", "+}")}
_COLORS = {"original": "red strike", "output": "bold green underline"}


@dataclass(frozen=True, kw_only=True)
class TerminalStyle:
    """Style of the printed differences: width of the terminal, and whether to use color.

    Attributes:
        columns: Width of the terminal; ``None`` for files and pipes, whose lines are never wrapped.
        uses_color: Whether changes are marked with color; otherwise they are marked with brackets.
    """

    columns: int | None = None
    uses_color: bool = False

    @classmethod
    def detect(cls, stream: TextIO | None = None) -> "TerminalStyle":
        """Detect the style of an output stream.

        The style has no color for pipes, for dumb terminals, and if the environment variable ``NO_COLOR`` is set
        (no-color.org).

        Args:
            stream: The stream; ``None`` for standard output.
        """
        stream = sys.stdout if stream is None else stream
        if stream is None or not stream.isatty():
            return cls()
        uses_color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return cls(columns=get_terminal_size().columns, uses_color=uses_color)

    @property
    def is_wide(self) -> bool:
        """Return whether the terminal is wide enough to show a text and its output side by side."""
        return self.columns is not None and self.columns >= _MIN_WIDE_COLUMNS


def format_text_diff(pieces: Sequence[MarkedPiece], style: TerminalStyle, heading: str = "") -> str:
    """Return lines that show a text and its output with marked changes.

    Args:
        pieces: The parts of the output, each paired with the original words that it replaces or repeats.
        style: Width of the terminal, and whether to use color.
        heading: First line, such as the file and the number of the row; empty for none.

    Privacy:
        The lines contain the original text. Control characters in it become visible characters.
    """
    from rich.console import Console  # lazy: importing it takes longer than sanitizing a sentence
    from rich.table import Table, box
    from rich.text import Text

    sides = {side: Text() for side in _COLORS}
    for side, content in sides.items():
        for text, is_marked in _iterate_side(pieces, side):
            before, after = ("", "") if style.uses_color or not is_marked else _PLAIN_MARKS[side]
            content.append(before + text + after, _COLORS[side] if is_marked else None)
    buffer = StringIO()
    console = Console(
        file=buffer,
        width=style.columns or max(len(sides["original"]), len(sides["output"]), len(heading)) * 2 + 8,
        force_terminal=style.uses_color,
        color_system="standard" if style.uses_color else None,
        no_color=not style.uses_color,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
    if heading:
        console.print(Text(escape_controls(heading), "dim"), overflow="fold")
    if style.is_wide:
        table = Table(box=box.MINIMAL, show_header=False, show_edge=False, expand=True, padding=(0, 1), pad_edge=False)
        for _ in sides:
            table.add_column(ratio=1, overflow="fold")
        table.add_row(sides["original"], sides["output"])
        console.print(table)
    else:
        has_changed = any(piece.treatment != KEPT_TEXT for piece in pieces)
        shown = {"- ": sides["original"], "+ ": sides["output"]} if has_changed else {"  ": sides["output"]}
        for prefix, content in shown.items():
            for line in content.split("\n", allow_blank=True):
                console.print(Text(prefix).append_text(line), overflow="fold", soft_wrap=style.columns is None)
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def _iterate_side(pieces: Iterable[MarkedPiece], side: str) -> Iterable[tuple[str, bool]]:
    """Yield the parts of the original text or of the output, each with a flag that is true for a changed part.

    Args:
        pieces: The parts of the output, each paired with the original words that it replaces or repeats.
        side: Which of the two texts to yield.
    """
    for piece in pieces:
        is_marked = piece.treatment != KEPT_TEXT
        text = piece.original if is_marked and side == "original" else piece.output
        if text:
            yield escape_controls(text), is_marked
