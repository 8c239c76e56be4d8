"""Shared parts of the command lines.

Lazy commands, option groups, errors, plain text, messages and progress bars.
"""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.console.command import SETTINGS, Command, command_line, grouped
    from textveil_cli.console.exits import run
    from textveil_cli.console.lines import (
        Lines,
        Write,
        all_lines,
        file_name,
        inputs_of,
        lines_of,
        named,
        opened,
        output_to,
        printable,
        read_lines,
        read_words,
        say,
        say_unless,
    )
    from textveil_cli.console.progress import bytes_bar, progress_bars
    from textveil_cli.console.restore_summary import describe_report

__all__ = [
    "SETTINGS",
    "Command",
    "Lines",
    "Write",
    "all_lines",
    "bytes_bar",
    "command_line",
    "describe_report",
    "file_name",
    "grouped",
    "inputs_of",
    "lines_of",
    "named",
    "opened",
    "output_to",
    "printable",
    "progress_bars",
    "read_lines",
    "read_words",
    "run",
    "say",
    "say_unless",
]

__getattr__ = lazy_names(__name__, __all__, "lines", "exits", "command", "progress", "restore_summary")
