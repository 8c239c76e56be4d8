"""Writes a bundle so that it is there whole or not at all."""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors.numpy import save as save_tensors
from textveil.bundle import LAW, Bundle
from textveil.bundle_files import MANIFEST

from textveil_export.errors import WriteError
from textveil_export.text.build import Contents, to_json
from textveil_export.text.card import CARD, card


def write_bundle(contents: Contents, folder: Path, *, force: bool = False) -> Bundle:
    """Writes, checks and publishes a bundle.

    Args:
        contents: The bundle in memory.
        folder: Where it goes. Its parent must exist.
        force: Replace a bundle that is already there.

    Returns:
        The bundle, opened from its place.

    Raises:
        WriteError: The target exists, or the disk is full or not writable. Nothing is left behind.
    """
    with whole_folder(folder, force=force) as partial:
        _write_files(contents, partial)
        Bundle(partial)
    return Bundle(folder)


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


def add_file(folder: Path, name: str, data: bytes) -> dict[str, object]:
    """Writes a new file and flushes it to the disk; gives its entry in the manifest: ``sha256`` and ``bytes``."""
    with (folder / name).open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _write_files(contents: Contents, folder: Path) -> None:
    entries: dict[str, dict[str, object]] = {}
    for name, tensors in contents.tensors.items():
        entries[name] = add_file(folder, name, save_tensors(tensors))
    for name, text in contents.texts.items():
        entries[name] = add_file(folder, name, text.encode())
    law = {**contents.law, "files": {name: entry["sha256"] for name, entry in entries.items()}}
    entries[LAW] = add_file(folder, LAW, to_json(law).encode())
    table_bytes = int(str(entries["table.safetensors"]["bytes"]))
    entries[CARD] = add_file(folder, CARD, card(contents, str(entries[LAW]["sha256"]), table_bytes).encode())
    add_file(folder, MANIFEST, to_json({**contents.manifest, "files": entries}).encode())


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
