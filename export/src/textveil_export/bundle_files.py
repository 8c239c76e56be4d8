"""Write files and folders of bundles (data folders) atomically: after a crash they are complete or absent.

The atomic writers are those of the runtime, ``open_atomic_text`` and ``open_atomic_folder`` of ``textveil.storage``.
This module converts their errors to ``WriteError``.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textveil.bundle import layout
from textveil.errors import OutputError
from textveil.storage import open_atomic_folder, open_atomic_text

from textveil_export.errors import WriteError


def replace_file(path: Path, text: str) -> None:
    """Replace a text file atomically.

    The function writes a temporary file in the same folder, syncs it to disk, and renames it to ``path``.

    Args:
        path: Target file. Its folder must exist.
        text: Content, written as UTF-8.

    Raises:
        WriteError: The disk is full or not writable. The old file is unchanged.
    """
    try:
        with open_atomic_text(path) as write:
            write(text)
    except OutputError as error:
        raise WriteError(f"{path.name}: {error}") from error


@contextmanager
def stage_bundle_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Create a hidden folder for a new bundle (data folder), and rename it when the ``with`` block succeeds.

    Args:
        folder: The target folder. Its parent must exist.
        force: Whether to replace an existing bundle.

    Yields:
        The hidden folder, in the same parent folder as the target. If the block raises an error, the hidden folder is
        deleted and the target stays unchanged.

    Raises:
        WriteError: The target exists, or the disk is full or not writable.
    """
    folder = Path(os.path.abspath(folder))
    if folder.exists() and not (force and (folder / layout.MANIFEST).is_file()):
        raise WriteError(
            "the output folder exists and is not a bundle: choose another -o"
            if force
            else "the output folder exists: choose another -o, or use --force"
        )
    try:
        with open_atomic_folder(folder, replace=force) as partial:
            yield partial
    except OutputError as error:
        raise WriteError(str(error)) from error


def add_bundle_file(folder: Path, name: str, data: bytes) -> dict[str, object]:
    """Write a new file into the hidden folder of a new bundle, and return the file's entry for the manifest.

    Args:
        folder: Folder from ``stage_bundle_folder``.
        name: Name of the file. It must not exist.
        data: Content.

    Returns:
        ``sha256`` (hexadecimal) and ``bytes`` (size).
    """
    with (folder / name).open("xb") as file:
        file.write(data)
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def format_json(content: dict[str, Any]) -> str:
    """Format a JSON object for a file of a bundle (data folder): indented, UTF-8, newline at the end."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
