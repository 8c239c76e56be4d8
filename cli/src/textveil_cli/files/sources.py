"""The files of a run: named or found in folders, each with the place of its output."""

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

#: What the name of an output folder is followed by in that of its record, and the record's name inside it before 0.2.
RECORD_ENDING, RECORD_INSIDE = ".textveil-record", "textveil.record"
#: What Windows takes for a device, or leaves an end of out.
_NOT_WINDOWS = re.compile(r"(con|prn|aux|nul|(com|lpt)[1-9\u00b9\u00b2\u00b3]) *(\..*)?|.*[. ]", re.I)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file to sanitize.

    Attributes:
        path: Where it is; ``None`` for standard input.
        name: What errors and the record call it: its path in the folder it was found in.
        target: Where its output goes; ``None`` for standard output.
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
        folder: The output folder; ``None`` where the output is one file or standard output.
        left_out: Files in folders that are not of the format, or are pipes, sockets or devices.
    """

    files: tuple[Source, ...]
    folder: Path | None
    left_out: int


def find_sources(inputs: Sequence[str], format_name: str, output: Path | None) -> Sources:
    """Finds the files that a command line names.

    Files and folders. In a folder these are all files of the format, packed or not, but hidden ones. Links are
    followed. The output of a folder, or of several files, is a folder of the same shape.

    Args:
        inputs: What the command line names; ``-`` is standard input.
        format_name: A key of ``FORMATS``.
        output: Where the output goes.

    Raises:
        InputError: There is no such file, or links lead in a circle.
        OptionError: Several files have nowhere to go, or one output.
        OutputError: The output is in an input folder.
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
        else:  # what is not there may be a text where a path belongs, and is not named
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
    """Return where the record of an output folder is: beside it, since the folder is what is sent.

    Args:
        folder: The output folder.

    Raises:
        OptionError: Nothing is beside it: it is the top of a file system.
    """
    absolute = Path(os.path.abspath(folder))
    if not absolute.name:
        raise OptionError("the output folder is the top of a file system: name a folder in it with -o")
    return absolute.with_name(absolute.name + RECORD_ENDING)


def _is_special(path: str) -> bool:
    """Return whether there is a pipe, a socket or a device: to read one found in a folder might never end."""
    return os.path.exists(path) and not os.path.isfile(path)


def fits_windows(name: str) -> bool:
    """Tells whether Windows writes a file of that name where it is told to."""
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
    names = [name.casefold() for _, name in found]  # also where a folder tells them apart: it may be copied
    if len(set(names)) < len(names):
        raise OptionError("two inputs have the same name, and the outputs would too")


def _walk(folder: str, top: str, above: tuple[tuple[int, int], ...], name: str) -> Iterator[str]:
    """Yields the files below a folder, sorted, hidden ones left out; ``above`` are the folders on the way there."""
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
    """Returns the format that the name of a file ends with; lines for all else."""
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
