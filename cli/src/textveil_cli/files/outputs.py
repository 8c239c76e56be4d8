"""Where the finished blocks of a file go: its output, packed as its name says, with a receipt looking on."""

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
    """What a receipt is made of."""

    def update(self, part: bytes) -> None:
        """Adds bytes of the output."""
        ...

    def count(self, tokens: list[int]) -> None:
        """Adds documents, by the tokens that each is charged."""
        ...


@contextmanager
def output_of(source: Source, seal: Seal | None = None) -> Iterator[BinaryIO]:
    """Opens what the output of a file goes to: a file that appears whole or not at all, or standard output.

    Args:
        source: The file that is read, and the place of its output.
        seal: Looks on at what is written, for a receipt.

    Raises:
        OutputError: It cannot be written.
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
    """A file that is written, with a receipt looking on."""

    closed = False

    def __init__(self, file: BinaryIO, seal: Seal) -> None:
        self._file, self._seal = file, seal
        self.flush, self.tell = getattr(file, "flush", lambda: None), getattr(file, "tell", lambda: 0)

    def write(self, block: bytes) -> int:
        self._seal.update(block)
        return self._file.write(block)


class _Flushed:
    """Standard output, flushed after every write: what arrives is answered."""

    def write(self, block: bytes) -> int:
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        return len(block)


@contextmanager
def writer(file: BinaryIO, source: Source, table: ParquetTable | None) -> Iterator[Callable[[Any], object]]:
    """Gives what takes the finished blocks of a file, in the format and packing of its output.

    Raises:
        OptionError: The format has no output but a file.
    """
    if table is not None:
        if source.target is None:
            raise OptionError("--parquet writes files: -o FILE")
        with table.writer(file) as write:
            yield write
        return
    with packing(file, "" if source.target is None else packed_as(source.target.name)) as packed:
        yield lambda parts: [packed.write(part) for part in parts]
