"""Checks that the outputs of a command do not overwrite privacy ledgers, keys, inputs or each other.

Two paths are equal if they lead to the same file. The comparison takes into account hard and symbolic links, folders
that ignore case, and files that do not exist yet.
"""

import os
import stat
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import OutputError
from textveil.formatting import format_path_name

#: SQLite application id of a ledger, the ASCII codes of "TVLG".
LEDGER_APPLICATION_ID = 0x54564C47
#: Size of a key file in bytes. It contains only random bytes.
KEY_BYTES = 32
#: Suffixes of a ledger's key and of the files that SQLite creates beside a ledger.
_KEY_SUFFIX, _SQLITE_SUFFIXES = ".key", ("-journal", "-wal", "-shm")

#: The name of a file in error messages, such as an option; and the path of the file, or ``None``.
NamedPath = tuple[str, str | Path | None]


def make_key_path(ledger: Path) -> Path:
    """Return the default path of a privacy ledger's key, next to the ledger."""
    return ledger.with_name(ledger.name + _KEY_SUFFIX)


def list_sqlite_files(ledger: Path) -> list[Path]:
    """Return the paths of the additional files that SQLite may create next to a privacy ledger (its database)."""
    real = Path(os.path.realpath(ledger))
    return [real.with_name(real.name + suffix) for suffix in _SQLITE_SUFFIXES]


def check_unprotected(path: Path, name: str = "the output") -> None:
    """Check that an output path is not a privacy ledger, the SQLite journal of a ledger, or a key.

    Args:
        path: The file, which may be missing.
        name: Name of the output in error messages.

    Raises:
        OutputError: The path is a ledger, a file of a ledger, or a key.
    """
    path = Path(os.path.realpath(path))
    if _is_ledger(path):
        raise OutputError(f"{name}: this file is a ledger: choose another file; nothing was written")
    for suffix in (_KEY_SUFFIX, *_SQLITE_SUFFIXES):
        if path.name.lower().endswith(suffix) and _is_ledger(path.with_name(path.name[: -len(suffix)])):
            raise OutputError(
                f"{name}: this file is the key or the journal of a ledger: choose another file; nothing was written"
            )
    if _is_key(path):
        raise OutputError(f"{name}: this file may be a key (32 random bytes): choose another file; nothing was written")


@dataclass(frozen=True, kw_only=True)
class ProtectedPaths:
    """Files and folders of a command that its outputs must not overwrite.

    Attributes:
        inputs: Input files. ``-`` stands for standard input.
        keys: Key files, each with the name of its option. They must be different files, and none of them may be a file
            of the privacy ledger.
        ledger: The privacy ledger. Its key and its SQLite journal are also protected.
        ledger_key: The key of the ledger, if it is not at its default path.
        bundle: Folder of the bundle. No output may be inside this folder.

    Example:
        >>> protected = ProtectedPaths(ledger=Path("spends.ledger"))
        >>> protected.check_outputs(("--output", "sent.csv"))
        >>> protected.check_outputs(("--output", "spends.ledger"))
        Traceback (most recent call last):
        textveil.errors.OutputError: --output is also --ledger ('spends.ledger'): name another file; nothing was written
    """

    inputs: Sequence[str | Path] = ()
    keys: Sequence[NamedPath] = ()
    ledger: Path | None = None
    ledger_key: Path | None = None
    bundle: Path | None = None

    def check_outputs(self, *outputs: NamedPath) -> None:
        """Check that no output is a protected file or the same file as another output.

        Args:
            outputs: The outputs, each with the name of its option. A path ``None`` is ignored.

        Raises:
            OutputError: An output is a protected file, the same file as another output, an existing ledger or key, or
                inside the folder of the bundle; or a key is the same file as an input or a file of the ledger.
        """
        seen = {_get_input_id(path): "an input" for path in self.inputs}
        for role, path in (*_list_ledger_files(self.ledger, self.ledger_key), *self.keys, *outputs):
            if path is not None:
                file_id = get_file_id(path)
                if _is_null_device(path):
                    continue  # writing to /dev/null overwrites nothing
                if file_id in seen:
                    name = format_path_name(path) and f" ({format_path_name(path)})"
                    raise OutputError(f"{role} is also {seen[file_id]}{name}: name another file; nothing was written")
                seen[file_id] = role
        for role, path in outputs:
            if path is not None:
                check_unprotected(Path(path), role)
                if self.bundle is not None and is_inside(path, self.bundle):
                    raise OutputError(
                        f"{role} is inside the folder of the bundle: choose another folder; nothing was written"
                    )


def get_file_id(path: str | Path) -> object:
    """Return an identifier of a file. It is equal for all paths that lead to the same file.

    For missing files, paths that differ only in case have the same identifier, because they may become the same file.
    """
    real = os.path.realpath(path)
    with suppress(OSError, ValueError):
        status = os.stat(real)
        return (status.st_dev, status.st_ino) if _has_content(status) else real
    folder, name = os.path.split(real)
    with suppress(OSError, ValueError):
        status = os.stat(folder)
        return status.st_dev, status.st_ino, unicodedata.normalize("NFC", name).casefold()
    return real


def is_inside(path: str | Path, folder: str | Path) -> bool:
    """Return whether a path leads to the given folder, or to a file or folder inside it. The path need not exist."""
    real = Path(os.path.realpath(path))
    with suppress(OSError, ValueError):
        folder_status = os.stat(folder)
        for ancestor in (real, *real.parents):
            with suppress(OSError, ValueError):  # a missing path is not the folder
                if os.path.samestat(os.stat(ancestor), folder_status):
                    return True
    return False


def _list_ledger_files(ledger: Path | None, key: Path | None) -> Iterator[NamedPath]:
    """Yield the paths of a privacy ledger, its key and its SQLite journal, each with a name for error messages.

    The files need not exist.
    """
    if ledger is None:
        return
    yield "--ledger", ledger
    yield (
        ("the key of the ledger", make_key_path(Path(os.path.realpath(ledger))))
        if key is None
        else ("--ledger-key", key)
    )
    for path in list_sqlite_files(ledger):
        yield "the journal of the ledger", path


def _get_input_id(path: str | Path) -> object:
    with suppress(OSError, ValueError, AttributeError):  # a missing or closed input is not the output
        status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        if stat.S_ISREG(status.st_mode):
            return status.st_dev, status.st_ino
    return None


def _is_null_device(path: str | Path) -> bool:
    """Return whether a path leads to the null device (such as ``/dev/null``), which discards all output."""
    with suppress(OSError, ValueError):
        return os.path.samefile(path, os.devnull)
    return False


def _has_content(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def _is_ledger(path: Path) -> bool:
    """Return whether a file begins with the header of an SQLite database that is a privacy ledger."""
    start = _read_start(path, 72)
    return start.startswith(b"SQLite format 3\0") and start[68:72] == LEDGER_APPLICATION_ID.to_bytes(4, "big")


def _is_key(path: Path) -> bool:
    """Return whether a file is probably a key: it has 32 bytes, which are not valid UTF-8.

    A text of 32 bytes is valid UTF-8. Of a hundred million random keys, about one is valid UTF-8.
    """
    start = _read_start(path, KEY_BYTES + 1)
    if len(start) != KEY_BYTES:
        return False
    try:
        start.decode()
    except UnicodeDecodeError:
        return True
    return False


def _read_start(path: Path, size: int) -> bytes:
    """Return the first ``size`` bytes of a regular file; no bytes if the path leads to anything else."""
    with suppress(OSError, ValueError):
        if stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "rb") as file:
                return file.read(size)
    return b""
