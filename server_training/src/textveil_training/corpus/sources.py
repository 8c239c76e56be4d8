"""The files of a corpus: found, named, and read to the end by the reader of their format before anything is drawn."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from textveil_training.corpus.shards import Source
from textveil_training.corpus.workspace import RECORD, UNFINISHED
from textveil_training.data.formats import ReadOptions, format_named, load
from textveil_training.errors import DataOptionError, MissingSplit, UnreadableFile

KEYED = ("jsonl", "table")
"""Formats whose texts and labels the caller names."""


def find_sources(inputs: Sequence[Path], format_name: str) -> tuple[Source, ...]:
    """Finds the files to sanitize.

    Args:
        inputs: Files, or folders that hold files under the names their format is published under.
        format_name: The format.

    Raises:
        UnreadableFile: An input is no regular file that can be read.
        MissingSplit: A folder holds no file of the format.
        DataOptionError: There is no input, or two files have one name, or a name that the output needs.
    """
    paths = [
        path
        for number, given in enumerate(inputs, 1)
        for path in _files_of(given, format_name, f"input {number} of {len(inputs)}")
    ]
    names = [path.name for path in paths]
    if not paths:
        raise DataOptionError("there is no input")
    if len({name.casefold() for name in names}) < len(names):
        raise DataOptionError("two inputs have the same name, and the outputs would too")
    if not {name.casefold() for name in names}.isdisjoint({RECORD, UNFINISHED}):
        raise DataOptionError(f"an input is called like a file of the output folder ({RECORD}, {UNFINISHED})")
    return tuple(Source(path, path.name) for path in paths)


def check(source: Source, format_name: str, text_keys: Sequence[str], label_key: str | None) -> None:
    """Reads a file to its end with the reader of its format.

    Args:
        source: The file.
        format_name: Its format.
        text_keys: Keys or columns of the texts (``jsonl``, ``table``).
        label_key: Key or column of the label, or None for rows without (``jsonl``, ``table``).

    Raises:
        DataError: The file cannot be read or is malformed; see the readers.
    """
    if format_name not in KEYED:
        for _ in load(format_name, source.path):
            pass
        return
    for text_key in text_keys:
        for _ in load(format_name, source.path, None, ReadOptions(text_key=text_key, label_key=label_key)):
            pass


def _files_of(path: Path, format_name: str, name: str) -> Iterator[Path]:
    published = format_named(format_name).files
    try:
        if published and path.is_dir():
            candidates = [[path / file for file in names] for names in published.values()]
            files = [found for files in candidates if (found := next(filter(Path.is_file, files), None)) is not None]
            if not files:
                raise MissingSplit(f"{name}: the folder holds no file of this format under its published name")
            yield from files
            return
        regular = path.is_file()
        with path.open("rb"):
            reason = None if regular else "not a regular file"
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
    if reason is not None:
        raise UnreadableFile(f"{name} cannot be opened ({reason})")
    yield path
