"""Find the input files of a run, derive the output paths, and read and write compressed files.

No command converts formats, so an output name with the ending of another format raises an error. Supported compressions
are gzip, and zstd if the library zstandard is installed.
"""

import gzip
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from textveil.errors import InputError, OptionError, OutputError

from textveil_cli.columns import FORMATS
from textveil_cli.console import make_printable, name_inputs, open_input
from textveil_cli.errors import ExtraMissing, FileChanged

#: Suffix of a run manifest's name after that of its folder.
MANIFEST_SUFFIX = ".textveil-manifest"
#: File names that Windows treats as a device, or of which it drops the last characters.
_INVALID_WINDOWS_NAME = re.compile(r"(con|prn|aux|nul|(com|lpt)[1-9\u00b9\u00b2\u00b3]) *(\..*)?|.*[. ]", re.I)


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """An input file with the path of its output.

    Attributes:
        path: Path of the input; ``None`` for standard input.
        name: Name of the input in errors and the run manifest: its path relative to the input folder, or its file name.
        target: Path of the output; ``None`` for standard output.
        size: Bytes of the input; 0 if unknown.
    """

    path: Path | None
    name: str
    target: Path | None
    size: int


@dataclass(frozen=True)
class SourceFiles:
    """All input files of a run, with the output folder.

    Attributes:
        files: The input files, in order.
        folder: The output folder; ``None`` if the output is one file or standard output.
        ignored_files: Number of files in input folders that have another format, or are pipes, sockets or devices.
    """

    files: tuple[SourceFile, ...]
    folder: Path | None
    ignored_files: int


def find_source_files(inputs: Sequence[str], format_name: str, output: Path | None) -> SourceFiles:
    """Find the input files of a command, and the path of each output.

    An input folder contributes all its files of the format, compressed or not, except hidden files. Symbolic links are
    followed. If an input is a folder, or there are several inputs, the output is a folder with the same structure.

    Args:
        inputs: Paths of files and folders from the command line; ``-`` is standard input.
        format_name: A key of ``FORMATS``.
        output: Path of the output; ``None`` for standard output.

    Raises:
        InputError: A file does not exist, a folder has no file of the format, or links form a cycle.
        OptionError: There are several files but no output folder, standard input is to be written into a folder, or two
            outputs have the same name.
        OutputError: The output is in an input folder, or is an existing file although a folder is needed.
    """
    paths: list[tuple[Path | None, str]] = []
    ignored_files = 0
    several = len(inputs) > 1
    for number, (argument, safe_name) in enumerate(name_inputs(inputs), 1):
        name = f"input {number} of {len(inputs)}"
        if argument == "-":
            paths.append((None, "standard input"))
            continue
        if os.path.isdir(argument):
            several = True
            _refuse_output_inside(argument, output)
            for path in _iterate_files(argument, argument, (), name):
                if _has_ending(path, format_name) and not _is_special(path):
                    paths.append((Path(path), os.path.relpath(path, argument)))
                else:
                    ignored_files += 1
        elif os.path.exists(argument):
            paths.append((Path(argument), os.path.basename(argument)))
        else:  # a missing path may be private text, so the error has only its safe name
            raise InputError(f"{safe_name}: no such file")
    if not paths and ignored_files:
        endings = " or ".join(FORMATS[format_name])
        raise InputError(
            f"no file in the folder ends in {endings}: set the format with --csv, --tsv, --jsonl or --parquet, or name "
            "the files"
        )
    folder = output if output is not None and (several or os.path.isdir(output)) else None
    _check_outputs(paths, folder, output, several)
    files = [
        SourceFile(
            path=path,
            name=make_printable(name),
            target=output if folder is None else folder / name,
            size=_get_size(path),
        )
        for path, name in paths
    ]
    return SourceFiles(tuple(files), folder, ignored_files)


def get_manifest_path(folder: Path) -> Path:
    """Return the path of the run manifest: the list of finished files, in a file beside the output folder.

    Args:
        folder: The output folder.

    Raises:
        OptionError: The folder is the root of a file system, so that no file can be beside it.
    """
    absolute = Path(os.path.abspath(folder))
    if not absolute.name:
        raise OptionError("the output folder is the root of a file system: choose a folder in it")
    return absolute.with_name(absolute.name + MANIFEST_SUFFIX)


def _is_special(path: str) -> bool:
    """Return whether a path is a pipe, a socket or a device. To read such a file might never end."""
    return os.path.exists(path) and not os.path.isfile(path)


def is_windows_name(name: str) -> bool:
    """Return whether Windows can create a file with exactly this name."""
    return not any(_INVALID_WINDOWS_NAME.fullmatch(part) for part in re.split(r"[/\\]", name))


def _check_outputs(
    paths: list[tuple[Path | None, str]], folder: Path | None, output: Path | None, several: bool
) -> None:
    if several and output is None:
        raise OptionError("folders and several files need -o FOLDER")
    if folder is None:
        return
    if any(path is None for path, _ in paths):
        raise OptionError("standard input needs -o FILE: it has no file name")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{make_printable(folder.name)} is a file: several outputs need a folder with -o")
    for _, name in paths:
        if sys.platform == "win32" and not is_windows_name(name):
            raise OutputError(f"{make_printable(name)}: not a valid file name on Windows")
    names = [name.casefold() for _, name in paths]  # the folder may be copied to a system that ignores case
    if len(set(names)) < len(names):
        raise OptionError(
            "two inputs have the same file name (ignoring case), so their outputs would collide: rename one, or use "
            "two runs"
        )


def _iterate_files(folder: str, top: str, parents: tuple[tuple[int, int], ...], name: str) -> Iterator[str]:
    """Yield the paths of all files below a folder, sorted, without hidden files.

    Args:
        folder: The folder.
        top: The input folder of the command line that contains it.
        parents: Device and inode of each folder from ``top`` to ``folder``, to detect cycles of links.
        name: Name of the input folder in errors.

    Raises:
        InputError: A link leads back into its own folder, or a folder cannot be read.
    """
    try:
        status = os.stat(folder)
        folder_id = (status.st_dev, status.st_ino)
        if folder_id in parents:
            raise InputError(f"{name}, {make_printable(os.path.relpath(folder, top))}: a link forms a cycle")
        entries = sorted(entry for entry in os.listdir(folder) if not entry.startswith("."))
    except OSError as error:
        raise InputError(f"{name}: cannot read a subfolder") from error
    for entry in entries:
        path = os.path.join(folder, entry)
        if os.path.isdir(path):
            yield from _iterate_files(path, top, (*parents, folder_id), name)
        else:
            yield path


def get_format(path: str) -> str:
    """Return the format that belongs to the ending of a file name; ``"lines"`` for an unknown ending."""
    return next((name for name in FORMATS if _has_ending(path, name)), "lines")


def is_spreadsheet(path: str) -> bool:
    """Return whether the name of a file ends like that of a spreadsheet, such as ``.xlsx``."""
    return _read_ending(path)[0] == "excel"


def _has_ending(path: str, format_name: str) -> bool:
    lower = path.lower()
    for packed in PACKED_ENDINGS if format_name != "parquet" else ():
        lower = lower.removesuffix(packed)
    return lower.endswith(FORMATS[format_name])


def _refuse_output_inside(folder: str, output: Path | None) -> None:
    if output is not None:
        output_path, folder_path = os.path.realpath(output), os.path.realpath(folder)
        if os.path.commonpath([output_path, folder_path]) == folder_path:
            raise OutputError("the output folder is inside an input folder: choose another with -o")


def _get_size(path: Path | None) -> int:
    try:
        status = None if path is None else path.stat()
    except OSError:
        return 0
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else 0


#: Endings by format, also of formats that no command writes, but that a reader expects behind such a name.
_ENDINGS_BY_FORMAT = {
    **FORMATS,
    "json": (".json",),
    "excel": (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"),
    "document": (".docx", ".doc", ".odt", ".pdf"),
    "data frame": (".feather", ".arrow", ".orc", ".avro", ".pkl", ".pickle", ".h5", ".hdf5", ".sqlite", ".db"),
    "zip": (".zip", ".7z", ".bz2", ".xz", ".tar", ".tgz", ".rar"),
    "markup": (".html", ".htm", ".rtf", ".xml", ".yaml", ".yml"),
}
_FORMAT_LABELS = {
    "lines": "plain text",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "json": "JSON",
    "parquet": "Parquet",
    "excel": "a spreadsheet",
    "document": "a document",
    "data frame": "a binary table",
    "zip": "an archive",
    "markup": "text with markup",
}


def check_output_ending(
    output: Path | None,
    formats: Sequence[str],
    inputs: Sequence[str] = (),
    *,
    can_pack: bool = False,
    into_folder: bool = False,
) -> None:
    """Raise an error if the output has a misleading name: the ending of another format, such as ``.csv`` for JSON.

    A name without a known ending is allowed. So is a name with the same ending as the inputs.

    Args:
        output: Path of the output; ``None`` for standard output.
        formats: Formats of the output, each with an allowed ending; errors recommend the ending of the first one.
        inputs: Paths of the inputs. If all inputs have the ending of the output, the name is allowed.
        can_pack: Whether the command compresses the output if its name has the ending of a compressed file.
        into_folder: Whether the output is a folder of files.

    Raises:
        OptionError: The name has the ending of another format, or that of a compressed file although ``can_pack`` is
            false, or a new folder is named like a file.
    """
    if output is None:
        return
    format_name, packed = _read_ending(output.name)
    name = make_printable(output.name)
    if into_folder:
        if (format_name is not None or packed) and not output.is_dir():
            raise OptionError(
                f"--output {name}: the output is a folder: choose a name without {os.path.splitext(name)[1]}"
            )
        return
    if packed and not can_pack:
        raise OptionError(f"--output {name}: the output is not compressed: choose a name without {packed}")
    if format_name is None or format_name in formats or (format_name == "markup" and "lines" in formats):
        return
    if inputs and all(_read_ending(path)[0] == format_name for path in inputs):
        return
    advice = "" if formats[0] not in _ENDINGS_BY_FORMAT else f": use {_ENDINGS_BY_FORMAT[formats[0]][0]}"
    raise OptionError(
        f"--output {name}: the name ends like {_FORMAT_LABELS[format_name]}, but the output is "
        f"{_FORMAT_LABELS[formats[0]]}{advice}"
    )


def _read_ending(path: str) -> tuple[str | None, str]:
    """Split the ending of a path into format and compression.

    Returns:
        The format (``None`` if unknown), and the ending of a compressed file such as ``.gz`` (otherwise "").
    """
    packed = get_packed_ending(path)
    plain = path.lower().removesuffix(packed)
    return next((name for name, endings in _ENDINGS_BY_FORMAT.items() if plain.endswith(endings)), None), packed


#: Endings of packed files.
PACKED_ENDINGS = (".gz", ".zst")
_READ_BYTES = 1 << 20
#: Bytes of one read of zstd. A few bytes can expand to a hundred thousand, so small reads limit the memory.
_ZSTD_BYTES = 2048


class InputStream:
    """One open input file, decompressed while it is read.

    Args:
        descriptor: Its file descriptor.
        name: Name of the file in errors.
        packed: Ending of a compressed file, such as ``.gz``; "" for an uncompressed file.
    """

    def __init__(self, descriptor: int, name: str, packed: str) -> None:
        self.descriptor, self._name, self._packed = descriptor, name, packed
        self.opened_status = os.fstat(descriptor)
        #: Bytes read from the file, before unpacking.
        self.bytes_read = 0

    def read_chunks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes of the file as they arrive.

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
        """Yield the first ``head`` bytes of an uncompressed file, then the bytes ``start`` to ``stop``.

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
                    raise InputError(
                        f"{self._name}: not a zstd file, or damaged: compress it again or remove .zst from its name"
                    ) from None
                if unpacked:
                    yield unpacked
                chunk = unpacker.unused_data
                unpacker = None if unpacker.eof else unpacker
        if unpacker is not None:
            raise InputError(
                f"{self._name}: not a zstd file, or damaged: compress it again or remove .zst from its name"
            )


def _join_chunks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Join small byte strings to byte strings of about 1 MiB, which are processed faster."""
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
    """Minimal file object that ``GzipFile`` can read from."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.read = read

    def seekable(self) -> bool:
        return False


def get_file_version(status: os.stat_result) -> list[int]:
    """Return the size and the modification time of a file; if they differ later, the file was changed."""
    return [status.st_size, status.st_mtime_ns]


def get_packed_ending(path: str) -> str:
    """Return the ending of a path that names a compressed file (``.gz`` or ``.zst``); "" for other paths."""
    return next((ending for ending in PACKED_ENDINGS if path.lower().endswith(ending)), "")


@contextmanager
def open_stream(path: Path | None, name: str) -> Iterator[InputStream]:
    """Open an input file, and close it on exit.

    Args:
        path: Path of the file; ``None`` for standard input.
        name: Name of the file in errors.

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
    """Yield a file object that compresses all written bytes into ``file``.

    The compressed file contains neither its own name nor the time.

    Args:
        file: The file to write to.
        packed: Ending of the compression, such as ``.gz``; "" for none.

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
