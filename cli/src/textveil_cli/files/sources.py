"""Input files of a run, from arguments and folders, each with the path of its output."""

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import InputError, OptionError, OutputError

from textveil_cli.console import make_printable, name_inputs
from textveil_cli.files.column_selection import FORMATS
from textveil_cli.files.streams import PACKED_ENDINGS

#: Suffix of a run manifest's name after that of its folder.
MANIFEST_SUFFIX = ".textveil-manifest"
#: File names that Windows reads as a device, or whose last characters it drops.
_INVALID_WINDOWS_NAME = re.compile(r"(con|prn|aux|nul|(com|lpt)[1-9\u00b9\u00b2\u00b3]) *(\..*)?|.*[. ]", re.I)


@dataclass(frozen=True, kw_only=True)
class SourceFile:
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
class SourceFiles:
    """The files of a run.

    Attributes:
        files: The files, in order.
        folder: The output folder; ``None`` if the output is one file or standard output.
        ignored_files: Number of files in folders that do not have the format, or are pipes, sockets or devices.
    """

    files: tuple[SourceFile, ...]
    folder: Path | None
    ignored_files: int


def find_source_files(inputs: Sequence[str], format_name: str, output: Path | None) -> SourceFiles:
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
        else:  # a missing path may be private text, so the error has only what `named` allows
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
    """Return the path of the run manifest: beside the output folder, which users send.

    Args:
        folder: The output folder.

    Raises:
        OptionError: The folder is the root of a file system.
    """
    absolute = Path(os.path.abspath(folder))
    if not absolute.name:
        raise OptionError("the output folder is the root of a file system: choose a folder in it")
    return absolute.with_name(absolute.name + MANIFEST_SUFFIX)


def _is_special(path: str) -> bool:
    """Return whether a path is a pipe, a socket or a device, which might never end."""
    return os.path.exists(path) and not os.path.isfile(path)


def is_windows_name(name: str) -> bool:
    """Return whether Windows can create a file of exactly that name."""
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
        raise OptionError("two inputs have the same name, so their outputs would collide")


def _iterate_files(folder: str, top: str, parents: tuple[tuple[int, int], ...], name: str) -> Iterator[str]:
    """Yield the files below a folder, sorted, without hidden ones.

    ``parents`` has device and inode of the folders on the path, to detect cycles of links.

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
    """Return the format of a file name's ending; "lines" for all others."""
    return next((name for name in FORMATS if _has_ending(path, name)), "lines")


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
