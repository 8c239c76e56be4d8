"""Shared parts of the command lines.

Commands that are imported on first use, option groups, errors, text streams, messages and progress bars.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_cli.console.command import TYPER_SETTINGS, GroupedCommand, expand_option_groups, make_command_line
    from textveil_cli.console.errors import run
    from textveil_cli.console.language_warnings import KeptWordsTally, UnknownWordsWarning, warn_about_language
    from textveil_cli.console.restore_summary import describe_restore_report
    from textveil_cli.console.text_io import (
        LineBatch,
        TextWriter,
        get_safe_file_name,
        iterate_lines,
        make_printable,
        merge_line_batches,
        name_inputs,
        open_input,
        open_output,
        print_message,
        print_unless_quiet,
        read_inputs,
        read_lines,
        read_word_list,
        show_byte_progress,
        show_progress_bars,
    )

__all__ = [
    "TYPER_SETTINGS",
    "GroupedCommand",
    "KeptWordsTally",
    "LineBatch",
    "TextWriter",
    "UnknownWordsWarning",
    "describe_restore_report",
    "expand_option_groups",
    "get_safe_file_name",
    "iterate_lines",
    "make_command_line",
    "make_printable",
    "merge_line_batches",
    "name_inputs",
    "open_input",
    "open_output",
    "print_message",
    "print_unless_quiet",
    "read_inputs",
    "read_lines",
    "read_word_list",
    "run",
    "show_byte_progress",
    "show_progress_bars",
    "warn_about_language",
]

__getattr__ = make_lazy_getattr(
    __name__, __all__, "text_io", "errors", "command", "restore_summary", "language_warnings"
)
