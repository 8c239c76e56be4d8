"""The files of a corpus: found, named, and read to the end by the reader of their format before anything is drawn."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from textveil_training.data import ReadOptions, files_of, format_named, load
from textveil_training.errors import DataOptionError, MissingSplit, UnreadableFile

RECORD = "record.json"


def find_files(inputs: Sequence[Path], format_name: str) -> list[Path]:
    """Finds the files to sanitize.

    Args:
        inputs: Files, or folders that hold files under the names their format is published under.
        format_name: The format.

    Raises:
        UnreadableFile: An input is not a regular file that can be read.
        MissingSplit: A folder holds no file of the format.
        DataOptionError: There is no input, or two files have one name, or a name that the output needs.
    """
    found = [
        path
        for number, given in enumerate(inputs, 1)
        for path in _files_of(given, format_name, f"input {number} of {len(inputs)}")
    ]
    names = [path.name.casefold() for path in found]
    if not found:
        raise DataOptionError("there is no input")
    if len(set(names)) < len(names):
        raise DataOptionError("two inputs have the same name, and the outputs would too")
    if RECORD in names:
        raise DataOptionError(f"an input is called like a file of the output folder ({RECORD})")
    return found


def check(path: Path, format_name: str, text_keys: Sequence[str], label_key: str | None) -> None:
    """Reads a file to its end with the reader of its format.

    Args:
        path: The file.
        format_name: Its format.
        text_keys: Keys or columns of the texts (``jsonl``, ``table``).
        label_key: Key or column of the label, or None for rows without (``jsonl``, ``table``).

    Raises:
        DataError: The file cannot be read or is malformed; see the readers.
    """
    keyed = format_named(format_name).keyed
    for options in [ReadOptions(key, label_key) for key in text_keys] if keyed else [None]:
        for _ in load(format_name, path, None, options):
            pass


def _files_of(path: Path, format_name: str, name: str) -> Iterator[Path]:
    try:
        if format_named(format_name).files and path.is_dir():
            found = files_of(format_name, path)
            if not found:
                raise MissingSplit(f"{name}: the folder holds no file of this format under its published name")
            yield from found
            return
        regular = path.is_file()
        with path.open("rb"):
            reason = None if regular else "not a regular file"
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
    if reason is not None:
        raise UnreadableFile(f"{name} cannot be opened ({reason})")
    yield path
