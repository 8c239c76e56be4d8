"""Options of ``sanitize`` that show the changes of a run to the owner of the device."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from textveil.errors import OptionError, OutputError

from textveil_cli.options.ledger import check_writable

_REPORT_ENDINGS = (".html", ".htm")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChangeOptions:
    """Options ``--diff`` and ``--report``, which show original texts beside the output."""

    heading: ClassVar[str] = "See what changed"
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="Print each original text with its output, for tables a sample of rows; -o also writes the "
            "output. Private: do not send it.",
        ),
    ] = False
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write an HTML report, readable by its owner alone: texts with marked changes, kept words with "
            "reasons, and counts for each column. Private: do not send it.",
        ),
    ] = None

    @property
    def has_any(self) -> bool:
        """Return whether the user gave ``--diff`` or ``--report``."""
        return self.diff or self.report is not None

    def check(self, *, as_json: bool, has_receipt: bool, has_output: bool) -> None:
        """Check, before any text is read, that no other option contradicts ``--diff`` or ``--report``.

        Args:
            as_json: Whether the user gave ``--json``.
            has_receipt: Whether the user gave ``--receipt``.
            has_output: Whether the user gave ``--output``.

        Raises:
            OptionError: Another option contradicts these, or the report has the wrong ending.
            OutputError: The report cannot be written.
        """
        if self.diff and as_json and not has_output:
            raise OptionError("use either --diff or --json, or add -o FILE: both print on standard output")
        if self.diff and has_receipt and not has_output:
            raise OptionError("--diff with --receipt needs -o FILE: there is no other output to sign")
        if self.report is None:
            return
        if self.report.suffix.lower() not in _REPORT_ENDINGS:
            raise OptionError("--report writes a page for a browser: name a file that ends in .html")
        check_writable("--report", self.report)

    def refuse_inside(self, folder: Path | None) -> None:
        """Raise ``OutputError`` if ``--diff`` or ``--report`` would write originals into the output folder.

        Users send the output folder to others.

        Args:
            folder: The output folder; ``None`` if the run has none.
        """
        from textveil.storage import is_inside

        if folder is None:
            return
        if self.report is not None and is_inside(self.report, folder):
            raise OutputError("--report: the file would be in the output folder, which you send: choose another folder")
        printed = _find_standard_output() if self.diff else None
        if printed is not None and is_inside(printed, folder):
            raise OutputError(
                "--diff: standard output is a file in the output folder, which you send: choose another file"
            )

    def protect_standard_output(self) -> None:
        """Restrict standard output to its owner (permissions 600) if ``--diff`` is redirected to a file."""
        if self.diff and _find_standard_output() is not None:
            os.fchmod(sys.stdout.fileno(), 0o600)


def _find_standard_output() -> Path | None:
    """Return the file to which standard output is redirected.

    The result is ``None`` if standard output is not a file, or if the operating system does not report which file it
    is.
    """
    try:
        path = Path(os.readlink(f"/proc/self/fd/{sys.stdout.fileno()}"))
        return path if path.is_file() else None
    except (OSError, ValueError, AttributeError):  # not Linux, closed, or replaced in a test
        return None
