"""Reader of the texts of one column, for commands that write one output line per row."""

from collections.abc import Iterator

from textveil.errors import OptionError

from textveil_cli.columns import ColumnSelection
from textveil_cli.console import LineBatch
from textveil_cli.errors import BadRow
from textveil_cli.files.block_reader import read_blocks
from textveil_cli.files.blocks import TableRow
from textveil_cli.files.parquet import ParquetTable
from textveil_cli.files.pipeline import LAYOUTS
from textveil_cli.files.sources import InputStream


def read_cells(file: InputStream, selection: ColumnSelection, name: str) -> Iterator[LineBatch]:
    """Yield the texts of a column in batches, as soon as they arrive; see ``read_lines`` for the form of a batch.

    An empty cell becomes an empty text.

    Args:
        file: The open file.
        selection: Format of the file, and the one column or key to read.
        name: Name of the file in errors.

    Raises:
        OptionError: The selection has several columns.
        BadRow: A row is malformed, or has several texts at the key.
        TextveilError: The file cannot be read.
    """
    if len(selection.columns) != 1:
        raise OptionError("this command writes one line per row: use only one --column or --key")
    if selection.format == "parquet":
        with open(file.descriptor, "rb", closefd=False) as binary_file:
            for block in ParquetTable(binary_file, name, selection).read_blocks():
                yield [text or "" for text in block.cells[0]], True, 0
        return
    for block in read_blocks(LAYOUTS[selection.format](selection, name), file.read_chunks(), selection, name):
        if block.rejected:
            rejected = block.rejected[0]
            raise BadRow(f"{name}, row {rejected.number:,} (line {rejected.line:,}): {rejected.reason}")
        yield [_get_only_text(row, name) for row in block.rows if row.number], True, file.bytes_read


def _get_only_text(row: TableRow, name: str) -> str:
    if len(row.texts) > 1:
        raise BadRow(
            f"{name}, row {row.number:,} (line {row.line:,}): the key has several texts, but this command "
            "writes one line per row"
        )
    return row.texts[0] if row.texts else ""
