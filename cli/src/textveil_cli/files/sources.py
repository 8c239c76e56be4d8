"""Input files of a run, from arguments and folders, each with the path of its output."""

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import InputError, OptionError, OutputError

from textveil_cli.console import named, printable
from textveil_cli.files.selection import FORMATS
from textveil_cli.files.streams import PACKED

#: Suffix of a run manifest's name after that of its folder, and the manifest's name inside the folder before 0.2.
RECORD_ENDING, RECORD_INSIDE = ".textveil-record", "textveil.record"
#: File names that Windows reads as a device, or whose last characters it drops.
_NOT_WINDOWS = re.compile(r"(con|prn|aux|nul|(com|lpt)[1-9\u00b9\u00b2\u00b3]) *(\..*)?|.*[. ]", re.I)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file to sanitize.

    Attributes:
        path: Its path; ``None`` for standard input.
        name: Its name in errors and the run manifest: the path relative to the input folder, else the file name.
        target: Path of its output; ``None`` for standard output.
        size: Its bytes, 0 if unknown.
    """

    path: Path | None
    name: str
    target: Path | None
    size: int


@dataclass(frozen=True)
class Sources:
    """The files of a run.

    Attributes:
        files: The files, in order.
        folder: The output folder; ``None`` if the output is one file or standard output.
        left_out: Number of files in folders that do not have the format, or are pipes, sockets or devices.
    """

    files: tuple[Source, ...]
    folder: Path | None
    left_out: int


def find_sources(inputs: Sequence[str], format_name: str, output: Path | None) -> Sources:
    """Find the files of a command line.

    Arguments are files and folders. A folder contributes all its files of the format, packed or not, except hidden
    ones. Links are followed. The output of a folder, or of several files, is a folder of the same structure.

    Args:
        inputs: Paths of the command line; ``-`` is standard input.
        format_name: A key of ``FORMATS``.
        output: Path of the output.

    Raises:
        InputError: A file does not exist, a folder has no file of the format, or links form a cycle.
        OptionError: Several files have no output folder, standard input has no name in one, or two outputs have the
            same name.
        OutputError: The output is in an input folder, or exists as a file where a folder is needed.
    """
    found: list[tuple[Path | None, str]] = []
    left_out = 0
    several = len(inputs) > 1
    for number, (given, shown) in enumerate(named(inputs), 1):
        name = f"input {number} of {len(inputs)}"
        if given == "-":
            found.append((None, "standard input"))
            continue
        if os.path.isdir(given):
            several = True
            _refuse_inside(given, output)
            for path in _walk(given, given, (), name):
                if _ends(path, format_name) and not _is_special(path):
                    found.append((Path(path), os.path.relpath(path, given)))
                else:
                    left_out += 1
        elif os.path.exists(given):
            found.append((Path(given), os.path.basename(given)))
        else:  # a missing path may be private text, so the error has only what `named` allows
            raise InputError(f"{shown}: no such file")
    if not found and left_out:
        endings = " or ".join(FORMATS[format_name])
        raise InputError(f"no file there ends in {endings}: say --csv, --tsv, --jsonl or --parquet, or name the files")
    folder = output if output is not None and (several or os.path.isdir(output)) else None
    _check(found, folder, output, several)
    files = [
        Source(path=path, name=printable(name), target=output if folder is None else folder / name, size=_size(path))
        for path, name in found
    ]
    return Sources(tuple(files), folder, left_out)


def record_path(folder: Path) -> Path:
    """Return the path of the run manifest: beside the output folder, which users send.

    Args:
        folder: The output folder.

    Raises:
        OptionError: The folder is the root of a file system.
    """
    absolute = Path(os.path.abspath(folder))
    if not absolute.name:
        raise OptionError("the output folder is the top of a file system: name a folder in it with -o")
    return absolute.with_name(absolute.name + RECORD_ENDING)


def _is_special(path: str) -> bool:
    """Return whether a path is a pipe, a socket or a device, which might never end."""
    return os.path.exists(path) and not os.path.isfile(path)


def fits_windows(name: str) -> bool:
    """Return whether Windows can create a file of exactly that name."""
    return not any(_NOT_WINDOWS.fullmatch(part) for part in re.split(r"[/\\]", name))


def _check(found: list[tuple[Path | None, str]], folder: Path | None, output: Path | None, several: bool) -> None:
    if several and output is None:
        raise OptionError("a folder, or several files, need -o FOLDER for their outputs")
    if folder is None:
        return
    if any(path is None for path, _ in found):
        raise OptionError("standard input has no name in a folder: give -o FILE")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{printable(folder.name)}: a file; several outputs need -o FOLDER")
    for _, name in found:
        if sys.platform == "win32" and not fits_windows(name):
            raise OutputError(f"{printable(name)}: Windows has no files of that name: give it another")
    names = [name.casefold() for _, name in found]  # the folder may be copied to a system that ignores case
    if len(set(names)) < len(names):
        raise OptionError("two inputs have the same name, and the outputs would too")


def _walk(folder: str, top: str, above: tuple[tuple[int, int], ...], name: str) -> Iterator[str]:
    """Yield the files below a folder, sorted, without hidden ones.

    ``above`` has device and inode of the folders on the path, to detect cycles of links.

    Raises:
        InputError: A link leads back into its own folder, or a folder cannot be read.
    """
    try:
        status = os.stat(folder)
        here = (status.st_dev, status.st_ino)
        if here in above:
            raise InputError(
                f"{name}, {printable(os.path.relpath(folder, top))}: a link leads back into its own folder"
            )
        entries = sorted(entry for entry in os.listdir(folder) if not entry.startswith("."))
    except OSError as error:
        raise InputError(f"{name}: a folder in it cannot be read") from error
    for entry in entries:
        path = os.path.join(folder, entry)
        if os.path.isdir(path):
            yield from _walk(path, top, (*above, here), name)
        else:
            yield path


def format_of(path: str) -> str:
    """Return the format of a file name's ending; "lines" for all others."""
    return next((name for name in FORMATS if _ends(path, name)), "lines")


def _ends(path: str, format_name: str) -> bool:
    lower = path.lower()
    for packed in PACKED if format_name != "parquet" else ():
        lower = lower.removesuffix(packed)
    return lower.endswith(FORMATS[format_name])


def _refuse_inside(given: str, output: Path | None) -> None:
    if output is not None:
        inside, outside = os.path.realpath(output), os.path.realpath(given)
        if os.path.commonpath([inside, outside]) == outside:
            raise OutputError("the output folder is in an input folder, or is that folder: name another with -o")


def _size(path: Path | None) -> int:
    try:
        status = None if path is None else path.stat()
    except OSError:
        return 0
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else 0
