"""Write rows that a run cannot sanitize to a file (option ``--rejected-rows``).

The file is as private as the input files, so only its owner may read it.
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

from textveil_cli.files.blocks import RejectedRow

_FIRST_BYTES = b'{"file": "'


class RejectedRowsFile:
    """Writer of rows that a run cannot sanitize, to a file with permissions 600, one JSON object per line.

    Each object has the input file, the numbers of row and line, the reason, and the row itself. The rows of an input
    file are written when that file is finished, so that a run that is interrupted and resumed writes each row only
    once.

    Args:
        path: The file.
        resume: Whether to append to the rows of an earlier run.

    Raises:
        OutputError: The file cannot be written, is not a file of rejected rows, or exists although ``resume`` is false.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (0 if resume else os.O_EXCL)
        flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            self._descriptor = os.open(path, flags, 0o600)
            if not _is_rejected_rows_file(self._descriptor):
                os.close(self._descriptor)
                raise OutputError(
                    "--rejected-rows: the existing file is not a file of rejected rows: choose another name"
                )
            os.fchmod(self._descriptor, 0o600) if hasattr(os, "fchmod") else None
        except FileExistsError:
            raise OutputError(
                "--rejected-rows: the file exists: delete it, or choose another name "
                "(--resume continues a run with -o FOLDER)"
            ) from None
        except OSError as error:
            raise OutputError(f"--rejected-rows: cannot write the file: {os.strerror(error.errno or 0)}") from error
        self._path = path
        self._waiting_file: BinaryIO = self._make_temporary_file()
        #: Number of rows in the file, and of rows that wait for the end of the current input file.
        self.saved_rows = self.waiting_rows = 0

    def add_row(self, file: str, rejected: RejectedRow) -> None:
        """Store a row in a temporary file. ``save_waiting_rows`` writes it when the whole input file has been read.

        Args:
            file: Name of the input file.
            rejected: The row.
        """
        position = {"file": file, "row": rejected.number, "line": rejected.line, "reason": rejected.reason}
        try:
            raw = {"raw": rejected.raw.decode()}
        except UnicodeDecodeError:
            raw = {"raw_base64": base64.b64encode(rejected.raw).decode()}
        self._waiting_file.write(json.dumps(position | raw, ensure_ascii=False).encode() + b"\n")
        self.waiting_rows += 1

    def save_waiting_rows(self) -> None:
        """Write the rows that ``add_row`` has stored; call this method when the current input file is finished.

        Raises:
            OutputError: The rows cannot be written. The file is then unchanged.
        """
        if not self.waiting_rows:
            return
        size = os.fstat(self._descriptor).st_size
        self._waiting_file.seek(0)
        try:
            while block := self._waiting_file.read(1 << 20):
                while block:
                    block = block[os.write(self._descriptor, block) :]
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, size)
            raise OutputError(f"--rejected-rows: cannot write the file: {os.strerror(error.errno or 0)}") from error
        self.saved_rows += self.waiting_rows
        self.discard_waiting_rows()

    def discard_waiting_rows(self) -> None:
        """Discard the rows that ``add_row`` has stored, after an error in the current input file."""
        self._waiting_file.close()
        self._waiting_file, self.waiting_rows = self._make_temporary_file(), 0

    def close(self) -> None:
        """Close the file, and delete the file if it is empty."""
        self._waiting_file.close()
        status = os.fstat(self._descriptor)
        os.close(self._descriptor)
        with suppress(FileNotFoundError):
            if status.st_size == 0 and os.path.samestat(status, self._path.lstat()):
                self._path.unlink()

    def _make_temporary_file(self) -> BinaryIO:
        """Return an unnamed temporary file in the same folder, readable by its owner alone."""
        return tempfile.TemporaryFile(dir=self._path.parent)  # type: ignore[return-value]


def _is_rejected_rows_file(descriptor: int) -> bool:
    """Return whether a file is empty or begins like a file of rejected rows, so that rows may be appended."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return False
    begin = os.read(descriptor, len(_FIRST_BYTES))
    return not begin or begin == _FIRST_BYTES
