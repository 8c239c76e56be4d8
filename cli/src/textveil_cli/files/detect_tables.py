"""Detection of tables in inputs that the user declared as plain text.

Sanitizing a table as plain text would also replace words in headings and keys.
"""

import csv
import json
from collections.abc import Callable, Sequence

from textveil_cli.columns import FORMATS, HEADING_PATTERN
from textveil_cli.errors import LooksStructured
from textveil_cli.files.sources import get_packed_ending

#: Number of lines to examine.
MAX_EXAMINED_LINES = 20
#: Skip longer lines: the cells of a row may take twenty times its bytes.
MAX_EXAMINED_CHARACTERS = 1 << 16
_FORMAT_OPTIONS = {
    "csv": "--csv --column NAME",
    "tsv": "--tsv --column NAME",
    "jsonl": "--jsonl --key NAME",
    "parquet": "--parquet --column NAME",
}


def refuse_tables_by_name(path: str, name: str, remedy: str = "") -> None:
    """Raise ``LooksStructured`` if a path has the ending of a table, such as ``.csv``.

    Args:
        path: The path.
        name: Name of the file in errors.
        remedy: Advice in the error, for a command without options for tables.
    """
    plain = path.lower().removesuffix(get_packed_ending(path))
    for format_name, endings in FORMATS.items():
        if format_name != "lines" and plain.endswith(endings):
            raise _make_error(name, format_name, remedy=remedy)


def make_table_refusal(name: str, remedy: str = "") -> Callable[[Sequence[str]], None]:
    """Return a function that checks successive lines, and raises ``LooksStructured`` for a table.

    The function examines the first ``MAX_EXAMINED_LINES`` lines. It skips lines of more than
    ``MAX_EXAMINED_CHARACTERS`` characters.

    Args:
        name: Name of the text in errors.
        remedy: Advice in the error, for a command without options for tables.
    """
    examined: list[str] = []

    def refuse_lines(lines: Sequence[str]) -> None:
        if len(examined) < MAX_EXAMINED_LINES:
            examined.extend([line for line in lines if len(line) <= MAX_EXAMINED_CHARACTERS][:MAX_EXAMINED_LINES])
            refuse_tables(examined, name, remedy)

    return refuse_lines


def refuse_tables(lines: Sequence[str], name: str, remedy: str = "") -> None:
    """Raise ``LooksStructured`` if the first lines of a text look like JSON, Parquet or a delimited table.

    The lines look like JSON if the first line is an object, or opens an object or a list of objects. They look like a
    table if every line has the same number of cells, at least two, and the cells of the first line look like column
    names: they are short and distinct, and begin with a letter. A text in which a cell begins with a blank is not a
    table, since in prose a blank follows each comma.

    Args:
        lines: The first lines of the text.
        name: Name of the text in errors.
        remedy: Advice in the error, for a command without options for tables.
    """
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("PAR1"):
        raise _make_error(name, "parquet", remedy=remedy)
    if first in ("{", "[", "[{") or (first.startswith("[{") and '"' in first):
        default_remedy = f"convert it to JSON lines and use {_FORMAT_OPTIONS['jsonl']}, or use --plain"
        raise LooksStructured(f"{name}: looks like JSON: {remedy or default_remedy}")
    if first.startswith("{") and _is_json_object(first):
        raise _make_error(name, "jsonl", remedy=remedy)
    for delimiter in ",\t;|":
        if delimiter in first and _is_table(lines[:MAX_EXAMINED_LINES], delimiter):
            more_options = "" if delimiter in ",\t" else f" --delimiter '{delimiter}'"
            raise _make_error(name, "tsv" if delimiter == "\t" else "csv", more_options, remedy)


def _make_error(name: str, format_name: str, more_options: str = "", remedy: str = "") -> LooksStructured:
    format_label = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON lines", "parquet": "Parquet"}[format_name]
    if remedy:
        return LooksStructured(f"{name}: looks like {format_label}: {remedy}")
    return LooksStructured(
        f"{name}: looks like {format_label}, and every cell would be rewritten: use "
        f"{_FORMAT_OPTIONS[format_name]}{more_options}, or --plain for "
        "plain text"
    )


def _is_json_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return False
    if len(rows) < 2:
        return False
    head = rows[0]
    names = len(set(head)) == len(head) >= 2 and all(map(HEADING_PATTERN.fullmatch, head))
    # The last row may continue in lines that have not arrived.
    return names and all(len(row) == len(head) for row in (rows[1:-1] or rows[1:]))
