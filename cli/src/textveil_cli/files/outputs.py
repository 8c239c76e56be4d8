"""Outputs of finished blocks: files, packed by their ending, or standard output.

A receipt may hash the bytes as they are written.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, cast

from textveil.bundle import atomic_bytes
from textveil.errors import OptionError, OutputError

from textveil_cli.files.parquet import ParquetTable
from textveil_cli.files.sources import Source
from textveil_cli.files.streams import packed_as, packing


class Seal(Protocol):
    """Receiver of the output bytes and document counts of a receipt."""

    def update(self, part: bytes) -> None:
        """Add bytes of the output."""
        ...

    def count(self, tokens: list[int]) -> None:
        """Add documents; each number is the count of tokens whose epsilon a document spends."""
        ...


@contextmanager
def output_of(source: Source, seal: Seal | None = None) -> Iterator[BinaryIO]:
    """Open the output of a file: standard output, or a file that appears complete or not at all.

    Args:
        source: The input file, with the path of its output.
        seal: Receiver of the written bytes, for a receipt.

    Raises:
        OutputError: The output cannot be written.
    """
    if source.target is None:
        if sys.stdout is None:
            raise OutputError("standard output is closed")
        yield _sealed(cast(BinaryIO, _Flushed()), seal)
        return
    try:
        source.target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError("a folder of the output cannot be made") from error
    with atomic_bytes(source.target) as file:
        yield _sealed(file, seal)


def _sealed(file: BinaryIO, seal: Seal | None) -> BinaryIO:
    return file if seal is None else cast(BinaryIO, _Sealed(file, seal))


class _Sealed:
    """A binary file that passes each written block to a receipt first."""

    closed = False

    def __init__(self, file: BinaryIO, seal: Seal) -> None:
        self._file, self._seal = file, seal
        self.flush, self.tell = getattr(file, "flush", lambda: None), getattr(file, "tell", lambda: 0)

    def write(self, block: bytes) -> int:
        self._seal.update(block)
        return self._file.write(block)


class _Flushed:
    """Standard output, flushed after every write, so that rows leave as they arrive."""

    def write(self, block: bytes) -> int:
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        return len(block)


@contextmanager
def writer(file: BinaryIO, source: Source, table: ParquetTable | None) -> Iterator[Callable[[Any], object]]:
    """Yield a function that writes finished blocks in the format and packing of the output.

    Raises:
        OptionError: Parquet cannot go to standard output.
    """
    if table is not None:
        if source.target is None:
            raise OptionError("--parquet writes files: -o FILE")
        with table.writer(file) as write:
            yield write
        return
    with packing(file, "" if source.target is None else packed_as(source.target.name)) as packed:
        yield lambda parts: [packed.write(part) for part in parts]
