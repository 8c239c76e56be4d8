"""Tells tables from plain text, so that a table is not destroyed: headings and keys would be rewritten too."""

import csv
import json
from collections.abc import Callable, Sequence

from textveil.errors import LooksStructured

from textveil_cli.columns import HEADING
from textveil_cli.files.selection import FORMATS
from textveil_cli.files.streams import packed_as

#: Lines that are looked at.
LOOKED_AT = 20
#: Longer lines are not looked at as rows of a table: the cells of a row may take twenty times its bytes.
LONGEST_ROW = 1 << 16
_FLAGS = {
    "csv": "--csv --column NAME",
    "tsv": "--tsv --column NAME",
    "jsonl": "--jsonl --key NAME",
    "parquet": "--parquet --column NAME",
}


def refuse_tables_by_name(path: str, name: str, remedy: str = "") -> None:
    """Raises ``LooksStructured`` for a path that ends like that of a table.

    Args:
        path: The path.
        name: What errors call it.
        remedy: What to do, for a command without options of tables.
    """
    plain = path.lower().removesuffix(packed_as(path))
    for format_name, endings in FORMATS.items():
        if format_name != "lines" and plain.endswith(endings):
            raise _refused(name, format_name, remedy=remedy)


def refusing_tables(name: str, remedy: str = "") -> Callable[[Sequence[str]], None]:
    """Returns what looks at the lines of a text, in turn, and refuses those whose first ones look like a table.

    Very long lines are passed over: they say nothing for a table and nothing against it.

    Args:
        name: What errors call the text.
        remedy: What to do, for a command without options of tables.
    """
    seen: list[str] = []

    def look(lines: Sequence[str]) -> None:
        if len(seen) < LOOKED_AT:
            seen.extend([line for line in lines if len(line) <= LONGEST_ROW][:LOOKED_AT])
            refuse_tables(seen, name, remedy)

    return look


def refuse_tables(lines: Sequence[str], name: str, remedy: str = "") -> None:
    """Raises ``LooksStructured`` where the first lines of a text look like JSON or a delimited table.

    JSON: the first line is an object, or begins one that goes on. A table: every line has as many cells as the first,
    two at least, and those of the first look like names: short, different, and beginning with a letter, not with a
    blank as in prose after a comma.

    Args:
        lines: The first lines that have arrived.
        name: What errors call the text.
        remedy: What to do, for a command without options of tables.
    """
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("PAR1"):
        raise _refused(name, "parquet", remedy=remedy)
    if first in ("{", "[", "[{") or (first.startswith("[{") and '"' in first):
        own = f"make JSON lines of it, and say {_FLAGS['jsonl']}, or --plain"
        raise LooksStructured(f"{name}: looks like JSON: {remedy or own}")
    if first.startswith("{") and _is_object(first):
        raise _refused(name, "jsonl", remedy=remedy)
    for delimiter in ",\t;|":
        if delimiter in first and _is_table(lines[:LOOKED_AT], delimiter):
            more = "" if delimiter in ",\t" else f" --delimiter '{delimiter}'"
            raise _refused(name, "tsv" if delimiter == "\t" else "csv", more, remedy)


def _refused(name: str, format_name: str, more: str = "", remedy: str = "") -> LooksStructured:
    kind = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON lines", "parquet": "Parquet"}[format_name]
    if remedy:
        return LooksStructured(f"{name}: looks like {kind}: {remedy}")
    return LooksStructured(
        f"{name}: looks like {kind}, of which all would be rewritten: say {_FLAGS[format_name]}{more}, or --plain for "
        "plain text"
    )


def _is_object(line: str) -> bool:
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
    names = len(set(head)) == len(head) >= 2 and all(map(HEADING.fullmatch, head))
    # The last row may go on in lines that have not arrived.
    return names and all(len(row) == len(head) for row in (rows[1:-1] or rows[1:]))
