"""The files and folders this wheel writes, by the runtime's atomic writer and with this wheel's errors."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textveil.bundle import atomic_folder, atomic_output, layout
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
def stage_bundle_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
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
    if folder.exists() and not (force and (folder / layout.MANIFEST).is_file()):
        raise WriteError(
            "the output folder exists and is not a bundle" if force else "the output folder exists (use --force)"
        )
    try:
        with atomic_folder(folder, replace=force) as partial:
            yield partial
    except OutputError as error:
        raise WriteError(str(error)) from error


def add_bundle_file(folder: Path, name: str, data: bytes) -> dict[str, object]:
    """Writes a new file of ``stage_bundle_folder``; returns its entry in the manifest: ``sha256`` and ``bytes``."""
    with (folder / name).open("xb") as file:
        file.write(data)
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def format_json(content: dict[str, Any]) -> str:
    """Returns JSON as it is written to bundles: readable, stable, UTF-8, newline at the end."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
