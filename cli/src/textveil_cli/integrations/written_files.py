"""Record of the files of a folder that a model may have written, across runs.

A model that read its own text back under the mapping would learn which of its guesses are hidden strings. A client may
rename a file, or save it as a new file of the same name. From the first file of the model on, every new or changed file
may therefore be the model's.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from textveil.bundle import atomic_bytes
from textveil.errors import InputError, OutputError

#: The list of these files, in the folder itself, so that a copy of the folder contains it.
LIST_NAME = ".textveil-written"
_SIGNS = ("st_ino", "st_size", "st_mtime_ns")


class WrittenFiles:
    """The files of a folder that a model may have written.

    Args:
        root: The folder.
        accept: Whether all present files, except those at a listed path or inode, are the user's own.

    Attributes:
        missing: Number of missing files of the model: a new file may be one of them.

    Raises:
        InputError: The list cannot be read.
    """

    def __init__(self, root: Path, *, accept: bool = False) -> None:
        self._root, self._list, self._lock = root, root / LIST_NAME, Lock()
        self._texts: dict[str, tuple[bytes, str]] = {}
        #: Inode, size and date by path: of written files, and of the user's own.
        self._paths, self._users = dict[str, list[int]](), dict[str, list[int]]()
        try:
            if self._list.exists():
                listed = json.loads(self._list.read_bytes())
                self._paths, self._users = (
                    {str(path): [*map(int, signs)] for path, signs in listed[name].items()}
                    for name in ("written", "users")
                )
                if {len(signs) for signs in (*self._paths.values(), *self._users.values())} - {len(_SIGNS)}:
                    raise ValueError
        except (OSError, ValueError, AttributeError, TypeError, KeyError):
            raise InputError(f"{LIST_NAME}: not the list of files that a model wrote; move it away") from None
        found = dict(self._files())
        all_signs = {tuple(signs) for signs in found.values()}
        # The system may reuse the inode of a deleted file, so size and date must be the same, too.
        gone = [
            path
            for path, signs in self._paths.items()
            if found.get(path, [0])[:1] != signs[:1] and tuple(signs) not in all_signs
        ]
        self.missing = 0 if accept else len(gone)
        if accept:
            for path in gone:
                del self._paths[path]
        if not self.missing:
            self._users = {path: signs for path, signs in found.items() if not self._is_listed(path, signs[0])}
            if self._list.exists():
                with suppress(OSError, OutputError):  # a read-only folder: no model writes there either
                    self._store(self._paths)

    def is_list(self, path: Path) -> bool:
        """Return whether a path is that of the list, which no model reads or writes."""
        return path.name.casefold() == LIST_NAME

    def write(self, path: Path, restored: bytes, text: str) -> None:
        """Write a new file, after its path is in the list.

        Args:
            path: The file.
            restored: Its content.
            text: The original text of the model.

        Raises:
            OSError, OutputError: The file or the list cannot be written.
        """
        name = self._name(path)
        with self._lock:
            self._store({**self._paths, name: self._paths.get(name, [0, 0, 0])})
            with atomic_bytes(path, private=True, replace=False) as file:
                file.write(restored)
            self._texts[name] = hashlib.sha256(restored).digest(), text
            self._store({**self._paths, name: _signs(path.stat())})

    def has(self, path: Path, status: os.stat_result) -> bool:
        """Return whether a model may have written a file.

        This holds if the path or the inode of the file is in the list. After the first file of the model it also holds
        if inode, size or date differ from all earlier files.
        """
        with self._lock:
            name, signs = self._name(path), _signs(status)
            if not self._paths:
                return False
            return self._is_listed(name, signs[0]) or not self._is_users(name, signs)

    def text_of(self, path: Path, content: bytes) -> str | None:
        """Return the original text of the model, if the file still has the content restored from it."""
        digest, text = self._texts.get(self._name(path), (b"", None))
        return text if digest == hashlib.sha256(content).digest() else None

    def _is_listed(self, name: str, inode: int) -> bool:
        return name in self._paths or (inode != 0 and any(inode == signs[0] for signs in self._paths.values()))

    def _is_users(self, name: str, signs: list[int]) -> bool:
        """Return whether a file is unchanged since before the first file of the model.

        The user may have renamed it.
        """
        return signs[1:] == self._users.get(name, [])[1:] or (signs[0] != 0 and signs in self._users.values())

    def _files(self) -> Iterator[tuple[str, list[int]]]:
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = Path(folder, name)
                try:
                    status = path.stat()
                except OSError:  # a dangling link
                    continue
                if name.casefold() != LIST_NAME:
                    yield self._name(path), _signs(status)

    def _name(self, path: Path) -> str:
        return os.fspath(path.relative_to(self._root))

    def _store(self, paths: dict[str, list[int]]) -> None:
        content: dict[str, Any] = {"written": paths, "users": self._users}
        with atomic_bytes(self._list, private=True) as file:
            file.write(json.dumps(content).encode())
        self._paths = paths


def _signs(status: os.stat_result) -> list[int]:
    return [getattr(status, name) for name in _SIGNS]
