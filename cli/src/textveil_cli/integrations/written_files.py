"""Remembers which files of a folder a model wrote, also for the next run.

A model that reads back what it wrote under the mapping would learn which of its guesses are hidden strings.
"""

import hashlib
import json
import os
from pathlib import Path
from threading import Lock

from textveil.bundle import atomic_bytes
from textveil.errors import InputError

#: The list of these files, in the folder itself, so that a copy of the folder has it too.
LIST_NAME = ".textveil-written"


class WrittenFiles:
    """The files of a folder that a model wrote, by path and by inode.

    Args:
        root: The folder.

    Raises:
        InputError: Its list cannot be read.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._list, self._lock = root, root / LIST_NAME, Lock()
        self._texts: dict[str, tuple[bytes, str]] = {}
        try:
            listed = json.loads(self._list.read_bytes()) if self._list.exists() else {}
            self._paths = {str(path): int(inode) for path, inode in listed.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            raise InputError(f"{LIST_NAME}: not the list of files that a model wrote; move it away") from None

    def is_list(self, path: Path) -> bool:
        """Return whether a path is that of the list, which no model reads or writes."""
        return path.name.casefold() == LIST_NAME

    def write(self, path: Path, restored: bytes, text: str) -> None:
        """Write a new file, after its path is in the list.

        Args:
            path: The file.
            restored: Its content.
            text: What the model wrote.

        Raises:
            OSError, OutputError: The file or the list cannot be written.
        """
        name = self._name(path)
        with self._lock:
            self._store({**self._paths, name: self._paths.get(name, 0)})
            with atomic_bytes(path, private=True, replace=False) as file:
                file.write(restored)
            self._texts[name] = hashlib.sha256(restored).digest(), text
            self._store({**self._paths, name: path.stat().st_ino})

    def has(self, path: Path, inode: int) -> bool:
        """Return whether a model wrote a file, or one that stood at its path, whoever changed or renamed it."""
        with self._lock:
            return self._name(path) in self._paths or (inode != 0 and inode in self._paths.values())

    def text_of(self, path: Path, content: bytes) -> str | None:
        """Return what the model wrote, where the file is exactly what it was restored to."""
        digest, text = self._texts.get(self._name(path), (b"", None))
        return text if digest == hashlib.sha256(content).digest() else None

    def _name(self, path: Path) -> str:
        return os.fspath(path.relative_to(self._root))

    def _store(self, paths: dict[str, int]) -> None:
        with atomic_bytes(self._list, private=True) as file:
            file.write(json.dumps(paths).encode())
        self._paths = paths
