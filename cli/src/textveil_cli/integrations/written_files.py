"""List of the files in a folder that a model may have written, stored across runs of the MCP server.

The model may write guesses of hidden names into a file. Suppose that the server replaced names in this file when the
model reads the file again. If a guess came back as a replacement that the model has seen before, the model would learn
that the guess is right. The name of a file does not identify the file: a client may rename a file, or save its text as
a new file with the same name. Once the model has written a file, every new or changed file may therefore contain text
of the model.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from textveil.errors import InputError, OutputError
from textveil.storage import open_atomic_bytes

#: Name of the list of these files. It is in the same folder, so that a copy of the folder contains it.
LIST_NAME = ".textveil-written"
_STATUS_FIELDS = ("st_ino", "st_size", "st_mtime_ns")


class WrittenFiles:
    """List of the files in a folder that a model may have written.

    The list is a file in the same folder. It contains the paths and inodes of all files that the model wrote.

    Args:
        root: The folder.
        accept: Whether all present files, except those whose path or inode is in the list, are files of the user.

    Attributes:
        missing_count: Number of listed files that are missing; a new file may be one of them under another name.

    Raises:
        InputError: The list cannot be read.
    """

    def __init__(self, root: Path, *, accept: bool = False) -> None:
        self._root, self._list_path, self._lock = root, root / LIST_NAME, Lock()
        self._model_text_by_name: dict[str, tuple[bytes, str]] = {}
        #: Inode, size and date by path: of written files, and of the user's own.
        self._signature_by_model_file, self._signature_by_user_file = dict[str, list[int]](), dict[str, list[int]]()
        try:
            if self._list_path.exists():
                listed = json.loads(self._list_path.read_bytes())
                self._signature_by_model_file, self._signature_by_user_file = (
                    {str(path): [*map(int, signs)] for path, signs in listed[name].items()}
                    for name in ("written", "users")
                )
                if {
                    len(signs)
                    for signs in (*self._signature_by_model_file.values(), *self._signature_by_user_file.values())
                } - {len(_STATUS_FIELDS)}:
                    raise ValueError
        except (OSError, ValueError, AttributeError, TypeError, KeyError):
            raise InputError(f"{LIST_NAME}: this file is not a list that textveil wrote: remove it") from None
        present = dict(self._iterate_files())
        all_signs = {tuple(signs) for signs in present.values()}
        # The system may reuse the inode of a deleted file, so size and date must be the same, too.
        missing_paths = [
            path
            for path, signs in self._signature_by_model_file.items()
            if present.get(path, [0])[:1] != signs[:1] and tuple(signs) not in all_signs
        ]
        self.missing_count = 0 if accept else len(missing_paths)
        if accept:
            for path in missing_paths:
                del self._signature_by_model_file[path]
        if not self.missing_count:
            self._signature_by_user_file = {
                path: signs for path, signs in present.items() if not self._is_listed(path, signs[0])
            }
            if self._list_path.exists():
                with suppress(OSError, OutputError):  # a read-only folder: no model writes there either
                    self._store_list(self._signature_by_model_file)

    def is_list(self, path: Path) -> bool:
        """Return whether a path has the file name of the list itself, which a model may neither read nor write."""
        return path.name.casefold() == LIST_NAME

    def write_file(self, path: Path, restored: bytes, text: str) -> None:
        """Add the path of a new file to the list, then write the file.

        Args:
            path: The file.
            restored: Content of the file, with original names in place of replacements.
            text: The text as the model wrote it.

        Raises:
            OSError, OutputError: The file or the list cannot be written.
        """
        name = self._get_relative_name(path)
        with self._lock:
            self._store_list(
                {**self._signature_by_model_file, name: self._signature_by_model_file.get(name, [0, 0, 0])}
            )
            with open_atomic_bytes(path, private=True, replace=False) as file:
                file.write(restored)
            self._model_text_by_name[name] = hashlib.sha256(restored).digest(), text
            self._store_list({**self._signature_by_model_file, name: _make_signature(path.stat())})

    def may_be_by_model(self, path: Path, status: os.stat_result) -> bool:
        """Return whether a model may have written a file.

        The result is true if the path or the inode of the file is recorded as written by a model. Once the model has
        written its first file, the result is also true for every other file, except unchanged files of the user that
        existed before.
        """
        with self._lock:
            name, signs = self._get_relative_name(path), _make_signature(status)
            if not self._signature_by_model_file:
                return False
            return self._is_listed(name, signs[0]) or not self._is_user_file(name, signs)

    def get_model_text(self, path: Path, content: bytes) -> str | None:
        """Return the text that the model wrote to a file; ``None`` if the file has changed since."""
        digest, text = self._model_text_by_name.get(self._get_relative_name(path), (b"", None))
        return text if digest == hashlib.sha256(content).digest() else None

    def _is_listed(self, name: str, inode: int) -> bool:
        return name in self._signature_by_model_file or (
            inode != 0 and any(inode == signs[0] for signs in self._signature_by_model_file.values())
        )

    def _is_user_file(self, name: str, signs: list[int]) -> bool:
        """Return whether a file existed before the model wrote its first file, and is unchanged since.

        A renamed file counts as unchanged.

        Args:
            name: Path of the file, relative to the folder.
            signs: Inode, size and date of the file.
        """
        return signs[1:] == self._signature_by_user_file.get(name, [])[1:] or (
            signs[0] != 0 and signs in self._signature_by_user_file.values()
        )

    def _iterate_files(self) -> Iterator[tuple[str, list[int]]]:
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = Path(folder, name)
                try:
                    status = path.stat()
                except OSError:  # a dangling link
                    continue
                if name.casefold() != LIST_NAME:
                    yield self._get_relative_name(path), _make_signature(status)

    def _get_relative_name(self, path: Path) -> str:
        return os.fspath(path.relative_to(self._root))

    def _store_list(self, paths: dict[str, list[int]]) -> None:
        content: dict[str, Any] = {"written": paths, "users": self._signature_by_user_file}
        with open_atomic_bytes(self._list_path, private=True) as file:
            file.write(json.dumps(content).encode())
        self._signature_by_model_file = paths


def _make_signature(status: os.stat_result) -> list[int]:
    return [getattr(status, name) for name in _STATUS_FIELDS]
