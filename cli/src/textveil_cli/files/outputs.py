"""Outputs of finished blocks: files, packed by their ending, or standard output.

A receipt may hash the bytes as they are written.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, cast

from textveil.errors import OptionError, OutputError
from textveil.storage import open_atomic_bytes

from textveil_cli.files.parquet import ParquetTable
from textveil_cli.files.sources import SourceFile
from textveil_cli.files.streams import get_packed_ending, open_packer


class ReceiptSink(Protocol):
    """Receiver of the output bytes and document counts of a receipt."""

    def update(self, part: bytes) -> None:
        """Add bytes of the output."""
        ...

    def add_token_counts(self, tokens: list[int]) -> None:
        """Add documents; each number is the count of tokens whose epsilon a document spends."""
        ...


@contextmanager
def open_output_file(source: SourceFile, receipt: ReceiptSink | None = None) -> Iterator[BinaryIO]:
    """Open the output of a file: standard output, or a file that appears complete or not at all.

    Args:
        source: The input file, with the path of its output.
        receipt: Receiver of the written bytes, for a receipt.

    Raises:
        OutputError: The output cannot be written.
    """
    if source.target is None:
        if sys.stdout is None:
            raise OutputError("standard output is closed")
        yield _wrap_file(cast(BinaryIO, _FlushedStandardOutput()), receipt)
        return
    try:
        source.target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError("cannot create the folder of the output") from error
    with open_atomic_bytes(source.target) as file:
        yield _wrap_file(file, receipt)


def _wrap_file(file: BinaryIO, receipt: ReceiptSink | None) -> BinaryIO:
    return file if receipt is None else cast(BinaryIO, _HashedFile(file, receipt))


class _HashedFile:
    """A binary file that passes each written block to a receipt first."""

    closed = False

    def __init__(self, file: BinaryIO, receipt: ReceiptSink) -> None:
        self._file, self._receipt = file, receipt
        self.flush, self.tell = getattr(file, "flush", lambda: None), getattr(file, "tell", lambda: 0)

    def write(self, block: bytes) -> int:
        self._receipt.update(block)
        return self._file.write(block)


class _FlushedStandardOutput:
    """Standard output, flushed after every write, so that rows leave as they arrive."""

    def write(self, block: bytes) -> int:
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        return len(block)


@contextmanager
def open_block_writer(
    file: BinaryIO, source: SourceFile, table: ParquetTable | None
) -> Iterator[Callable[[Any], object]]:
    """Yield a function that writes finished blocks in the format and packing of the output.

    Raises:
        OptionError: Parquet cannot go to standard output.
    """
    if table is not None:
        if source.target is None:
            raise OptionError("--parquet needs -o FILE: Parquet cannot be written to standard output")
        with table.open_batch_writer(file) as write:
            yield write
        return
    with open_packer(file, "" if source.target is None else get_packed_ending(source.target.name)) as packed:
        yield lambda parts: [packed.write(part) for part in parts]
