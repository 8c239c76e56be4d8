"""Byte streams of files: unpack while reading, and pack while writing.

The formats are gzip, and zstd if zstandard is installed.
"""

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from textveil.errors import InputError

from textveil_cli.console import open_input
from textveil_cli.errors import ExtraMissing, FileChanged

#: Endings of packed files.
PACKED_ENDINGS = (".gz", ".zst")
_READ_BYTES = 1 << 20
#: A few bytes of zstd can expand to a hundred thousand; small reads bound the memory.
_ZSTD_BYTES = 2048


class InputStream:
    """One open input file.

    Args:
        descriptor: Its descriptor.
        name: Name of the file in errors.
        packed: The ending of a packed file, or "".
    """

    def __init__(self, descriptor: int, name: str, packed: str) -> None:
        self.descriptor, self._name, self._packed = descriptor, name, packed
        self.opened_status = os.fstat(descriptor)
        #: Bytes read from the file, before unpacking.
        self.bytes_read = 0

    def read_chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the file, unpacked, as they arrive.

        Raises:
            InputError: The file cannot be read, or is damaged.
            ExtraMissing: zstandard is not installed.
        """
        if self._packed == ".gz":
            yield from self._unpack_gzip()
        elif self._packed == ".zst":
            yield from _join_chunks(self._unpack_zstd())
        else:
            while chunk := self._read(_READ_BYTES):
                yield chunk

    def read_window(self, head: int, start: int, stop: int) -> Iterator[bytes]:
        """Yield the first ``head`` bytes of an unpacked file, then the bytes ``start`` to ``stop``.

        Raises:
            InputError: The file cannot be read.
        """
        for begin, end in ((0, head), (start, stop)):
            os.lseek(self.descriptor, begin, os.SEEK_SET)
            while begin < end and (chunk := self._read(min(_READ_BYTES, end - begin))):
                begin += len(chunk)
                yield chunk

    def require_unchanged(self) -> None:
        """Raise ``FileChanged`` if the file has changed since it was opened."""
        now = os.fstat(self.descriptor)
        if stat.S_ISREG(now.st_mode) and get_file_version(now) != get_file_version(self.opened_status):
            raise FileChanged(f"{self._name}: the file changed while it was read")

    def _read(self, size: int) -> bytes:
        try:
            chunk = os.read(self.descriptor, size)
        except OSError as error:
            raise InputError(f"{self._name}: cannot read the file") from error
        self.bytes_read += len(chunk)
        return chunk

    def _unpack_gzip(self) -> Iterator[bytes]:
        with gzip.GzipFile(fileobj=_RawReader(self._read), mode="rb") as file:  # type: ignore[arg-type]
            while True:
                try:
                    chunk = file.read(_READ_BYTES)
                except (EOFError, zlib.error, gzip.BadGzipFile):
                    raise InputError(
                        f"{self._name}: not a gzip file, or damaged: compress it again or remove .gz from its name"
                    ) from None
                if not chunk:
                    return
                yield chunk

    def _unpack_zstd(self) -> Iterator[bytes]:
        zstandard = _import_zstandard()
        unpacker = None
        while chunk := self._read(_ZSTD_BYTES):
            while chunk:
                unpacker = unpacker or zstandard.ZstdDecompressor().decompressobj()
                try:
                    unpacked = unpacker.decompress(chunk)
                except zstandard.ZstdError:
                    raise InputError(f"{self._name}: not a zstd file, or damaged") from None
                if unpacked:
                    yield unpacked
                chunk = unpacker.unused_data
                unpacker = None if unpacker.eof else unpacker
        if unpacker is not None:
            raise InputError(f"{self._name}: not a zstd file, or damaged")


def _join_chunks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Join small parts to about 1 MiB: rewriting large blocks is faster."""
    gathered: list[bytes] = []
    size = 0
    for chunk in chunks:
        gathered.append(chunk)
        size += len(chunk)
        if size >= _READ_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


class _RawReader:
    """Minimal file object for ``GzipFile``."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.read = read

    def seekable(self) -> bool:
        return False


def get_file_version(status: os.stat_result) -> list[int]:
    """Return the size and modification time of a file, to detect changes."""
    return [status.st_size, status.st_mtime_ns]


def get_packed_ending(path: str) -> str:
    """Return the ending of a packed file, "" for others."""
    return next((ending for ending in PACKED_ENDINGS if path.lower().endswith(ending)), "")


@contextmanager
def open_stream(path: Path | None, name: str) -> Iterator[InputStream]:
    """Open an input file and close it on exit; ``None`` is standard input.

    Raises:
        InputError: The file cannot be opened, or is a folder.
        ExtraMissing: zstandard is not installed.
    """
    packed = "" if path is None else get_packed_ending(path.name)
    if packed == ".zst":
        _import_zstandard()
    with open_input("-" if path is None else str(path), name) as (descriptor, _):
        yield InputStream(descriptor, name, packed)


@contextmanager
def open_packer(file: BinaryIO, packed: str) -> Iterator[BinaryIO]:
    """Yield a file that packs all written bytes into ``file``.

    The packed file contains neither its own name nor the time.

    Raises:
        ExtraMissing: zstandard is not installed.
    """
    if packed == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=4, mtime=0) as writer:
            yield writer  # type: ignore[misc]
    elif packed == ".zst":
        with _import_zstandard().ZstdCompressor().stream_writer(file, closefd=False) as writer:
            yield writer
    else:
        yield file


def _import_zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise ExtraMissing(".zst needs zstandard: pip install 'textveil-cli[zstd]'") from None
    return zstandard
