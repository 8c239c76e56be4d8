"""Reader of one column of a table, for commands that write one line per row."""

from collections.abc import Iterator

from textveil.errors import BadRow, OptionError

from textveil_cli.console import Lines
from textveil_cli.files.blocks import blocks
from textveil_cli.files.parquet import ParquetTable
from textveil_cli.files.rows import Row
from textveil_cli.files.run import LAYOUTS
from textveil_cli.files.selection import Selection
from textveil_cli.files.streams import Reading


def read_cells(file: Reading, selection: Selection, name: str) -> Iterator[Lines]:
    """Yield the texts of a column as they arrive, in the form of ``read_lines``.

    An empty cell is an empty text.

    Args:
        file: The file.
        selection: Its format, and the one column or key.
        name: Name of the file in errors.

    Raises:
        OptionError: The selection has several columns.
        BadRow: A row is malformed, or has several texts at the key.
        TextveilError: The file cannot be read.
    """
    if len(selection.columns) != 1:
        raise OptionError("give one --column or --key: each row gives one line")
    if selection.format == "parquet":
        with open(file.descriptor, "rb", closefd=False) as whole:
            for block in ParquetTable(whole, name, selection).blocks():
                yield [text or "" for text in block.cells[0]], True, 0
        return
    for block in blocks(LAYOUTS[selection.format](selection, name), file.chunks(), selection, name):
        if block.bad:
            bad = block.bad[0]
            raise BadRow(f"{name}, row {bad.number:,} (line {bad.line:,}): {bad.reason}")
        yield [_only(row, name) for row in block.rows if row.number], True, file.consumed


def _only(row: Row, name: str) -> str:
    if len(row.texts) > 1:
        raise BadRow(f"{name}, row {row.number:,} (line {row.line:,}): several texts, where a row gives one line")
    return row.texts[0] if row.texts else ""
