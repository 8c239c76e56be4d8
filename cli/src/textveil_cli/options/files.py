"""Options for inputs, columns and keys of tables, runs over many files, outputs, and views of what changed."""

import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer
from textveil.errors import InputError, OptionError, OutputError

from textveil_cli.console.text_io import name_inputs
from textveil_cli.options.ledger import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textveil import PrivacyStatement

    from textveil_cli.files import ColumnSelection

_SIZE_PATTERN = re.compile(r"(\d{1,12})([kMG]?)B?")
_SIZE_UNITS = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3}
_REPORT_ENDINGS = (".html", ".htm")


def _read_output_path(output: Path | None) -> Path | None:
    """Return the path, or ``None``, for standard output, if it is ``-``, the usual name of standard output."""
    return None if output == Path("-") else output


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
PrivateOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=_read_output_path,
        help="Write to this file, readable by its owner alone, completely or not at all.",
    ),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InputOptions:
    """Options for the input: one text, or files of texts."""

    heading: ClassVar[str] = "Input"
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Input files, or folders for sanitize; - or no file reads standard input."),
    ] = None
    text: Annotated[
        str | None, typer.Option("--text", "-t", help="Use this text as one document, instead of files.")
    ] = None

    @property
    def paths(self) -> list[str]:
        """Return the paths of the input files; ``["-"]``, for standard input, if the user named no file.

        The list is empty if the user gave ``--text``.

        Raises:
            OptionError: The user gave both ``--text`` and files.
        """
        if self.text is None:
            return self.files or ["-"]
        if self.files:
            raise OptionError("use either --text or files")
        return []


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OutputOptions:
    """Options for the output and for messages."""

    heading: ClassVar[str] = "Output"
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            callback=_read_output_path,
            help="Write to this file instead of standard output (-), completely or not at all.",
        ),
    ] = None
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write one JSON object per document with its privacy statement; for tables, print one for the run.",
        ),
    ] = False
    statement: Annotated[
        bool,
        typer.Option("--statement", help="Print the full privacy statement on standard error instead of one line."),
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no privacy statement and no messages on standard error.")
    ] = False

    def format_statement(self, statement: "PrivacyStatement") -> str:
        """Format the privacy statement (what the output reveals): in full with ``--statement``, otherwise one line."""
        return statement.summary() if self.statement else statement.format_line()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableOptions:
    """Options for the format of the input files and for the columns that contain texts."""

    heading: ClassVar[str] = "Tables"
    csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="Read files as CSV (the default for names ending in .csv); select texts with --column."
        ),
    ] = False
    tsv: Annotated[bool, typer.Option("--tsv", help="Read files as TSV.")] = False
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Read files as JSON lines; select texts with --key.")] = False
    parquet: Annotated[bool, typer.Option("--parquet", help="Read files as Parquet (needs the extra parquet).")] = False
    plain: Annotated[bool, typer.Option("--plain", help="Read files as plain text even if they look like a table.")] = (
        False
    )
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            help="Column that contains texts; repeatable with sanitize. Other columns are copied unchanged.",
        ),
    ] = None
    key: Annotated[
        list[str] | None,
        typer.Option("--key", help="With --jsonl: key of the texts, such as note or messages[].content."),
    ] = None
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            show_default=False,
            help="CSV, TSV: whether the first row contains column names (the default); with --no-header, columns "
            "are numbered from 1.",
        ),
    ] = True
    delimiter: Annotated[str | None, typer.Option(help="CSV, TSV: character between cells, such as ';'.")] = None
    encoding: Annotated[
        str,
        typer.Option(
            autocompletion=lambda: ["utf-8", "latin-1", "cp1252"],
            help="CSV, TSV: encoding of input and output: utf-8, latin-1 or cp1252.",
        ),
    ] = "utf-8"

    @property
    def format(self) -> str | None:
        """Return the format that an option such as ``--csv`` selects; ``None`` if no option selects one.

        Raises:
            OptionError: Several options select a format.
        """
        flags = {"csv": self.csv, "tsv": self.tsv, "jsonl": self.jsonl, "parquet": self.parquet, "lines": self.plain}
        selected = [name for name, flag in flags.items() if flag]
        if len(selected) > 1:
            raise OptionError("use only one of --csv, --tsv, --jsonl, --parquet and --plain")
        return selected[0] if selected else None

    def resolve_format(self, paths: "Sequence[str]") -> "TableOptions":
        """Return a copy of these options with the format that follows from the endings of the input files.

        If the user selected a format with an option, that format stays.

        Args:
            paths: Paths of the inputs. Standard input and folders have no ending, so that the options stay unchanged.

        Raises:
            InputError: A file has the ending of a spreadsheet, which no command reads.
            OptionError: The files have endings of several formats.
        """
        if self.format is not None or any(path == "-" or os.path.isdir(path) for path in paths) or not paths:
            return self
        from textveil_cli.files import get_format, is_spreadsheet

        for path, safe_name in name_inputs(paths):
            if is_spreadsheet(path):
                raise InputError(
                    f"{safe_name}: Excel files and other spreadsheets cannot be read: export the sheet as CSV, and "
                    "name that file"
                )
        formats = {get_format(path) for path in paths if os.path.exists(path)} or {get_format(path) for path in paths}
        if len(formats) > 1:
            raise OptionError("the files have different formats: pass files of one format, or use --plain")
        (format_name,) = formats
        return self if format_name == "lines" else replace(self, **{format_name: True})

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the selected columns, or the selected keys of JSON lines.

        Raises:
            OptionError: A column is selected for JSON lines, or a key for another format.
        """
        if self.format == "jsonl" and self.column:
            raise OptionError("JSON lines have keys: use --key instead of --column")
        if self.format not in (None, "jsonl", "lines") and self.key:
            raise OptionError("CSV, TSV and Parquet have columns: use --column instead of --key")
        return (*(self.column or ()), *(self.key or ()))

    def make_selection(self, rows: "RowOptions | None" = None, *, consistent: bool = False) -> "ColumnSelection":
        """Combine the options into a ``ColumnSelection``: the format, the columns and the documents of the files.

        Args:
            rows: Options for documents and rows; ``None`` for the defaults.
            consistent: Whether equal words of a document get equal replacements.

        Raises:
            OptionError: The options contradict each other.
        """
        from textveil_cli.files import ColumnSelection

        rows = RowOptions() if rows is None else rows
        format_name = self.format or "lines"
        return ColumnSelection(
            format=format_name,
            columns=self.columns,
            document=rows.get_document_unit(format_name, consistent),
            document_key=rows.document_key,
            header=self.header,
            delimiter=self.delimiter,
            encoding=self.encoding,
            allow_missing=rows.allow_missing,
            max_field=rows.parse_max_field_bytes(),
            privacy_unit_column=rows.privacy_unit_column,
            without=tuple(rows.drop_column or ()),
            only=rows.drop_other_columns,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowOptions:
    """Options for the rows of a table: which cells form a document, the privacy unit, and omitted columns.

    A *privacy unit* is the person or group for whom the privacy ledger adds up epsilon.
    """

    heading: ClassVar[str] = "Documents and privacy units"
    document: Annotated[
        Literal["line", "file", "cell", "row"] | None,
        typer.Option(
            help="Texts that form one document. Plain text: line (the default) or file; tables: cell (the default), "
            "row or file. Modes words and all: required with --consistent."
        ),
    ] = None
    document_key: Annotated[
        str | None,
        typer.Option(help="With --consistent: adjacent rows with equal values of this column or key are one document."),
    ] = None
    privacy_unit_column: Annotated[
        str | None,
        typer.Option(help="With --ledger: column or key that names the privacy unit of each row."),
    ] = None
    drop_column: Annotated[
        list[str] | None,
        typer.Option(help="Column or key to remove from the output; repeatable."),
    ] = None
    drop_other_columns: Annotated[
        bool, typer.Option("--drop-other-columns", help="Remove all columns from the output except the rewritten ones.")
    ] = False
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="JSON lines: accept rows without a selected key.")
    ] = False
    max_field_bytes: Annotated[
        str, typer.Option(help="Maximum bytes of a field, with suffix k, M or G; a row may have four times as many.")
    ] = "16M"

    def get_document_unit(self, format_name: str, consistent: bool) -> str:
        """Return which texts form one document, as a value of ``ColumnSelection.document``.

        Args:
            format_name: Format of the files, such as ``csv``.
            consistent: Whether equal words of a document get equal replacements.

        Raises:
            OptionError: ``--document`` or ``--document-key`` contradicts the other options.
        """
        if self.document_key is not None and self.document is not None:
            raise OptionError("use either --document or --document-key")
        is_joined = self.document == "row" or (self.document == "file" and format_name != "lines")
        if (self.document_key is not None or is_joined) and not consistent:
            option = "--document file" if self.document == "file" else "--document row and --document-key"
            need = "needs" if self.document == "file" else "need"
            raise OptionError(f"{option} {need} --consistent: without it every cell is randomized independently")
        if consistent and self.document is None and self.document_key is None:
            choices = "line or --document file" if format_name == "lines" else "cell, row or file, or --document-key"
            raise OptionError(f"--consistent on several texts needs --document {choices}")
        if self.document_key is not None:
            return "key"
        if format_name == "lines":
            return {None: "cell", "line": "cell", "file": "file"}.get(self.document, "")
        return self.document or "cell"

    def parse_max_field_bytes(self) -> int:
        """Return the value of ``--max-field-bytes`` as a number of bytes.

        Raises:
            OptionError: The value is not a size such as ``16M``.
        """
        match = _SIZE_PATTERN.fullmatch(self.max_field_bytes)
        if match is None or not int(match[1]):
            raise OptionError("--max-field-bytes takes a number of bytes, such as 16M")
        return int(match[1]) * _SIZE_UNITS[match[2]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FileRunOptions:
    """Options for a run over many files, such as worker processes and resuming."""

    heading: ClassVar[str] = "Runs over many files"
    rejected_rows: Annotated[
        Path | None,
        typer.Option(
            help="Write rejected rows to this file, readable by its owner alone; without this option, the"
            " first rejected row is an error."
        ),
    ] = None
    workers: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = 1
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the interrupted run of this output folder: skip finished files.")
    ] = False

    @property
    def has_any(self) -> bool:
        """Return whether the user changed any of these options from its default."""
        return self.rejected_rows is not None or self.workers > 1 or self.resume


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChangeOptions:
    """Options ``--diff``, ``--report`` and ``--overview``, which describe what changed."""

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
    overview: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write an HTML page, readable by its owner alone, with counts, options and the privacy statement of "
            "the run, and without any text, for persons who may not read the originals.",
        ),
    ] = None

    @property
    def has_any(self) -> bool:
        """Return whether the user gave ``--diff``, ``--report`` or ``--overview``."""
        return self.diff or bool(self.pages)

    @property
    def pages(self) -> dict[str, Path]:
        """The HTML files to write, by the names of their options."""
        pages = {"--report": self.report, "--overview": self.overview}
        return {name: path for name, path in pages.items() if path is not None}

    def check(self, *, as_json: bool, has_receipt: bool, has_output: bool) -> None:
        """Check, before any text is read, that no other option contradicts these options.

        Args:
            as_json: Whether the user gave ``--json``.
            has_receipt: Whether the user gave ``--receipt``.
            has_output: Whether the user gave ``--output``.

        Raises:
            OptionError: Another option contradicts these, or an HTML file has the wrong ending.
            OutputError: An HTML file cannot be written.
        """
        if self.diff and as_json and not has_output:
            raise OptionError("use either --diff or --json, or add -o FILE: both print on standard output")
        if self.diff and has_receipt and not has_output:
            raise OptionError("--diff with --receipt needs -o FILE: there is no other output to sign")
        for name, path in self.pages.items():
            if path.suffix.lower() not in _REPORT_ENDINGS:
                raise OptionError(f"{name} writes a page for a browser: name a file that ends in .html")
            check_writable(name, path)

    def refuse_inside(self, folder: Path | None) -> None:
        """Raise ``OutputError`` if one of these options would write originals or counts into the output folder.

        Users send the output folder to others.

        Args:
            folder: The output folder; ``None`` if the run has none.
        """
        from textveil.storage import is_inside

        if folder is None:
            return
        for name, path in self.pages.items():
            if is_inside(path, folder):
                raise OutputError(
                    f"{name}: the file would be in the output folder, which you send: choose another folder"
                )
        printed = _find_standard_output() if self.diff else None
        if printed is not None and is_inside(printed, folder):
            raise OutputError(
                "--diff: standard output is a file in the output folder, which you send: choose another file"
            )

    def protect_standard_output(self) -> None:
        """Restrict standard output to its owner (permissions 600) if ``--diff`` is redirected to a file."""
        if self.diff and _find_standard_output() is not None:
            os.fchmod(sys.stdout.fileno(), 0o600)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RayOptions:
    """Options for running on many machines with Ray, for commands of other packages of this project."""

    heading: ClassVar[str] = "Ray"
    ray: Annotated[bool, typer.Option("--ray", help="Run on a Ray cluster (needs the extra ray).")] = False
    ray_address: Annotated[
        str | None,
        typer.Option(help="With --ray: address of a running cluster; default: start a cluster on this machine."),
    ] = None


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
