"""Options of ``sanitize`` that show what a run changes."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from textveil.errors import OptionError, OutputError

from textveil_cli.options.ledger import check_writable

_REPORT_ENDINGS = (".html", ".htm")


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """Options that show the original text beside the output."""

    heading: ClassVar[str] = "See what changed"
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="Print the original beside the output instead of the output, for tables a sample of rows; -o "
            "writes the output as usual. Private: do not send it.",
        ),
    ] = False
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write a page for a browser, readable by its owner alone: marked texts, what is kept and why, each"
            " column. Private: do not send it.",
        ),
    ] = None

    @property
    def has_any(self) -> bool:
        """Return whether one of the options is present."""
        return self.diff or self.report is not None

    def check(self, *, as_json: bool, has_receipt: bool, has_output: bool) -> None:
        """Raise ``OptionError`` for options that contradict these, before any text is read.

        Args:
            as_json: Whether ``--json`` is present.
            has_receipt: Whether ``--receipt`` is present.
            has_output: Whether ``--output`` is present.

        Raises:
            OptionError: An option contradicts another, or the report has the wrong ending.
            OutputError: The report cannot be written.
        """
        if self.diff and as_json and not has_output:
            raise OptionError("use either --diff or --json: both print on standard output; -o writes the output")
        if self.diff and has_receipt and not has_output:
            raise OptionError("--diff with --receipt needs -o FILE: there is no other output to sign")
        if self.report is None:
            return
        if self.report.suffix.lower() not in _REPORT_ENDINGS:
            raise OptionError("--report writes a page for a browser: name a file that ends in .html")
        check_writable("--report", self.report)

    def refuse_inside(self, folder: Path | None) -> None:
        """Raise ``OutputError`` if originals would be written into the output folder, which users send.

        Args:
            folder: The output folder; ``None`` without one.
        """
        from textveil.storage import is_inside

        if folder is None:
            return
        if self.report is not None and is_inside(self.report, folder):
            raise OutputError("--report: the file would be in the output folder, which you send: choose another folder")
        printed = _find_standard_output() if self.diff else None
        if printed is not None and is_inside(printed, folder):
            raise OutputError("--diff: standard output is a file in the output folder, which you send: choose another")

    def protect_standard_output(self) -> None:
        """Make standard output readable by its owner alone if the differences go to a file."""
        if self.diff and _find_standard_output() is not None:
            os.fchmod(sys.stdout.fileno(), 0o600)


def _find_standard_output() -> Path | None:
    """Return the file that standard output is redirected to; ``None`` for all else, or if it cannot be found."""
    try:
        path = Path(os.readlink(f"/proc/self/fd/{sys.stdout.fileno()}"))
        return path if path.is_file() else None
    except (OSError, ValueError, AttributeError):  # not Linux, closed, or replaced in a test
        return None
