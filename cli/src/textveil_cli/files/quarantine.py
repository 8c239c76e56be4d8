"""The file of rejected rows, readable by its owner alone.

It is as private as the input files.
"""

import base64
import json
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from textveil.errors import OutputError

from textveil_cli.files.rows import Bad

_BEGIN = b'{"file": "'


class Quarantine:
    """Writer of rejected rows to a file of mode 600, one JSON object a line.

    Each object has the file, row, line, reason, and the row itself. The rows of an input file are added when that file
    is finished, so that an interrupted and resumed run has none of them twice.

    Args:
        path: The file.
        resume: Whether to add to the rows of an earlier run.

    Raises:
        OutputError: The file cannot be written, exists although the run is a new one, or is no file of rejected rows.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (0 if resume else os.O_EXCL)
        flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            self._descriptor = os.open(path, flags, 0o600)
            if not _is_ours(self._descriptor):
                os.close(self._descriptor)
                raise OutputError("--quarantine: the file there is not a quarantine: name another")
            os.fchmod(self._descriptor, 0o600) if hasattr(os, "fchmod") else None
        except FileExistsError:
            raise OutputError("--quarantine: there is a file already: name another (or --resume that run)") from None
        except OSError as error:
            raise OutputError(f"--quarantine: cannot be written: {os.strerror(error.errno or 0)}") from error
        self._path = path
        self._waiting: BinaryIO = self._empty()
        #: Number of rows in the file, and of rows that wait for the end of the current input file.
        self.rows = self.waiting = 0

    def add(self, file: str, bad: Bad) -> None:
        """Add a rejected row of the current input file."""
        about = {"file": file, "row": bad.number, "line": bad.line, "reason": bad.reason}
        try:
            raw = {"raw": bad.raw.decode()}
        except UnicodeDecodeError:
            raw = {"raw_base64": base64.b64encode(bad.raw).decode()}
        self._waiting.write(json.dumps(about | raw, ensure_ascii=False).encode() + b"\n")
        self.waiting += 1

    def keep(self) -> None:
        """Append the waiting rows to the file, after the end of their input file.

        Raises:
            OutputError: The rows cannot be written; then the file is unchanged.
        """
        if not self.waiting:
            return
        size = os.fstat(self._descriptor).st_size
        self._waiting.seek(0)
        try:
            while block := self._waiting.read(1 << 20):
                while block:
                    block = block[os.write(self._descriptor, block) :]
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, size)
            raise OutputError(f"--quarantine: cannot be written: {os.strerror(error.errno or 0)}") from error
        self.rows += self.waiting
        self.forget()

    def forget(self) -> None:
        """Discard the waiting rows of an input file that is not finished."""
        self._waiting.close()
        self._waiting, self.waiting = self._empty(), 0

    def close(self) -> None:
        """Close the file, and delete it if it is empty."""
        self._waiting.close()
        ours = os.fstat(self._descriptor)
        os.close(self._descriptor)
        with suppress(FileNotFoundError):
            if ours.st_size == 0 and os.path.samestat(ours, self._path.lstat()):
                self._path.unlink()

    def _empty(self) -> BinaryIO:
        """Return an unnamed file in the same folder, readable by its owner alone."""
        return tempfile.TemporaryFile(dir=self._path.parent)  # type: ignore[return-value]


def _is_ours(descriptor: int) -> bool:
    """Return whether a file is empty or begins like a file of rejected rows.

    The run does not append to any other file.
    """
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return False
    begin = os.read(descriptor, len(_BEGIN))
    return not begin or begin == _BEGIN
