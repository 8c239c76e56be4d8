"""Options of files with columns, typed once."""

import re
from pathlib import Path
from typing import Annotated

import typer
from textveil.errors import OptionError

from textveil_cli.files import MAX_FIELD

_SIZE = re.compile(r"(\d{1,12})([kMG]?)B?")
_UNITS = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3}

CsvOption = Annotated[bool, typer.Option("--csv", help="The files are CSV; --column says which texts.")]
TsvOption = Annotated[bool, typer.Option("--tsv", help="The files are TSV.")]
JsonLinesOption = Annotated[bool, typer.Option("--jsonl", help="The files are JSON lines; --key says which texts.")]
ParquetOption = Annotated[bool, typer.Option("--parquet", help="The files are Parquet (extra parquet).")]
PlainOption = Annotated[
    bool,
    typer.Option("--plain", help="It is plain text, though it looks like a table."),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column", "-c", help="Name of a column to rewrite; give it again for more. Others are copied as they are."
    ),
]
KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key", help="With --jsonl: what to rewrite, such as note or messages[].content; give it again for more."
    ),
]
EncodedColumnOption = Annotated[
    str | None, typer.Option("--column", "-c", help="Of a table: name of the column of which each row gives a line.")
]
EncodedKeyOption = Annotated[str | None, typer.Option("--key", help="With --jsonl: the key in place of a column.")]
DocumentKeyOption = Annotated[
    str | None,
    typer.Option(help="With --consistent: rows with one value there, one after the other, are one document."),
]
ScopeColumnOption = Annotated[
    str | None,
    typer.Option(help="With --ledger: the column or key whose value names the scope that a row is charged to."),
]
HeaderOption = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="CSV, TSV: the first row has the names (the default), or columns are numbers from 1.",
    ),
]
DelimiterOption = Annotated[str | None, typer.Option(help="CSV, TSV: what is between cells, such as ';'.")]
EncodingOption = Annotated[str, typer.Option(help="CSV, TSV: utf-8, latin-1 or cp1252; the output has it too.")]
AllowMissingOption = Annotated[bool, typer.Option("--allow-missing", help="JSON lines: a row may lack a key.")]
MaxFieldOption = Annotated[
    str,
    typer.Option(help="Longest field in bytes, with k, M or G; a row may have four times as many."),
]
QuarantineOption = Annotated[
    Path | None,
    typer.Option(
        help="Bad rows go there, for their owner alone, and not to the output; without it the first is an error."
    ),
]
WorkersOption = Annotated[int, typer.Option(min=1, help="Processes that draw.")]
ResumeOption = Annotated[
    bool,
    typer.Option("--resume", help="Go on with an output folder: skip the files that are finished."),
]


def size_of(given: str) -> int:
    """Returns the bytes that a size such as ``16M`` stands for.

    Raises:
        OptionError: It is no size.
    """
    match = _SIZE.fullmatch(given)
    if match is None or not int(match[1]):
        raise OptionError(f"--max-field is a number of bytes, such as {MAX_FIELD // 1000**2}M")
    return int(match[1]) * _UNITS[match[2]]
