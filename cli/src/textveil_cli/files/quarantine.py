"""Bad rows, kept for their owner alone. They are as private as the files that they come from."""

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
    """Keeps bad rows in a file of mode 600, one JSON object a line: file, row, line, reason, and the row itself.

    Rows of a file are added when the file is finished, so that none is there twice after a run that was interrupted.

    Args:
        path: The file.
        resume: Whether rows are added to those of an earlier run.

    Raises:
        OutputError: It cannot be written; there is a file and the run is a new one; or the file is not a quarantine.
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
        #: Rows that are kept, and those of the file that is being read.
        self.rows = self.waiting = 0

    def add(self, file: str, bad: Bad) -> None:
        """Adds a bad row of the file that is being read."""
        about = {"file": file, "row": bad.number, "line": bad.line, "reason": bad.reason}
        try:
            raw = {"raw": bad.raw.decode()}
        except UnicodeDecodeError:
            raw = {"raw_base64": base64.b64encode(bad.raw).decode()}
        self._waiting.write(json.dumps(about | raw, ensure_ascii=False).encode() + b"\n")
        self.waiting += 1

    def keep(self) -> None:
        """Keeps the rows of a file that is finished.

        Raises:
            OutputError: They cannot be written; then the file is as it was.
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
        """Leaves out the rows of a file that is not finished."""
        self._waiting.close()
        self._waiting, self.waiting = self._empty(), 0

    def close(self) -> None:
        """Leaves the file closed; an empty one goes."""
        self._waiting.close()
        ours = os.fstat(self._descriptor)
        os.close(self._descriptor)
        with suppress(FileNotFoundError):
            if ours.st_size == 0 and os.path.samestat(ours, self._path.lstat()):
                self._path.unlink()

    def _empty(self) -> BinaryIO:
        """A file without a name beside the quarantine, for its owner alone."""
        return tempfile.TemporaryFile(dir=self._path.parent)  # type: ignore[return-value]


def _is_ours(descriptor: int) -> bool:
    """Tells whether a file is empty or begins as a quarantine does: anything else is not added to."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return False
    begin = os.read(descriptor, len(_BEGIN))
    return not begin or begin == _BEGIN
