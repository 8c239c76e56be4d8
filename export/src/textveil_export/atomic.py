"""Files and folders that appear whole or not at all: the only place of this wheel that knows how."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from textveil.atomic import atomic_output
from textveil.bundle_files import MANIFEST
from textveil.errors import OutputError

from textveil_export.errors import WriteError


def replace_file(path: Path, text: str) -> None:
    """Writes a text file by way of a temporary one beside it; an existing file is replaced.

    Args:
        path: Where the file goes. Its folder must exist.
        text: Its content, written as UTF-8.

    Raises:
        WriteError: The disk is full or not writable. What was there stays.
    """
    try:
        with atomic_output(path) as write:
            write(text)
    except OutputError as error:
        raise WriteError(f"{path.name}: {error}") from error


@contextmanager
def whole_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Gives a hidden folder beside the target, to be filled, checked, and at the end renamed into place.

    Args:
        folder: Where it goes. Its parent must exist.
        force: Replace a bundle that is already there.

    Yields:
        The hidden folder; after any error it is gone, and the target is as it was.

    Raises:
        WriteError: The target exists, or the disk is full or not writable.
    """
    folder = Path(os.path.abspath(folder))
    if folder.exists() and not (force and (folder / MANIFEST).is_file()):
        raise WriteError(
            "the output folder exists and is not a bundle" if force else "the output folder exists (use --force)"
        )
    token = secrets.token_hex(4)
    partial = folder.with_name(f".{folder.name}.partial-{token}")
    try:
        try:
            partial.mkdir()
            yield partial
            _sync_folder(partial)
            _publish(partial, folder, token)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise WriteError(f"the bundle cannot be written: {os.strerror(error.errno or 0)}") from error


def _publish(partial: Path, folder: Path, token: str) -> None:
    old = folder.with_name(f".{folder.name}.old-{token}")
    if folder.exists():
        folder.rename(old)
    try:
        partial.rename(folder)
    except BaseException:  # Ctrl-C between the two as well
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system lets a folder be flushed
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
