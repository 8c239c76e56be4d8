"""Atomic writing: the only writer of files and folders; each appears whole or not at all.

A file is written in its target folder, without a name if the system supports that and under a temporary name otherwise,
flushed to the disk, and renamed. After a killed process, the next write to the same path by the same user deletes its
temporary files.
"""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from textveil.bundle.exchange import exchange_names
from textveil.bundle.kept import check_unprotected
from textveil.bundle.leftovers import (
    create_temporary_file,
    create_temporary_folder,
    duplicate_lock,
    lock_temporary,
    make_backup_name,
    make_temporary_name,
    name_file,
    open_unnamed_file,
    remove_abandoned,
)
from textveil.errors import OutputError

#: Flags for flushing. Windows flushes only files open for writing, and changes line ends without ``O_BINARY``.
_FLUSH_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0) if sys.platform == "win32" else os.O_RDONLY


@contextmanager
def open_atomic_text(path: Path, *, private: bool = False) -> Iterator[Callable[[str], None]]:
    """Open a text file for atomic writing, with the guarantees of ``open_atomic_bytes``.

    Args:
        path: The file.
        private: Whether only the owner may read the file, whatever the permissions of an existing file are.

    Yields:
        A function that writes text as UTF-8.

    Raises:
        OutputError: The folder or the disk does not allow writing, or the path is a ledger or a key.

    Example:
        >>> with open_atomic_text(Path("sent.txt")) as write:
        ...     write("Dear Anna,")
        ...     Path("sent.txt").exists()
        False
        >>> Path("sent.txt").read_text()
        'Dear Anna,'
    """
    with open_atomic_bytes(path, private=private) as file:
        yield lambda text: _write_text(file, text)


@contextmanager
def open_atomic_bytes(
    path: Path, *, private: bool = False, allow_key: bool = False, replace: bool = True
) -> Iterator[BinaryIO]:
    """Open a file for atomic writing: into a temporary file that is flushed and then renamed.

    An existing file is replaced and keeps its permissions; a symbolic link is followed. On any error the temporary file
    is deleted, and ``path`` is unchanged. A device or a pipe cannot be replaced: bytes go directly to it. With
    ``private``, the new name survives a power failure after this context ends. A ledger or a key is never replaced.

    Args:
        path: The file.
        private: Whether only the owner may read the file, whatever the permissions of an existing file are.
        allow_key: Whether the path may be that of a key; only for writing a new key.
        replace: Whether to replace an existing file; otherwise an existing file stays, and nothing is written.

    Yields:
        The file, open for writing bytes.

    Raises:
        OutputError: The folder or the disk does not allow writing, or the path is a ledger or a key.

    Example:
        >>> with open_atomic_bytes(Path("sent.bin")) as file:
        ...     _ = file.write(b"Dear Anna,")
        >>> Path("sent.bin").read_bytes()
        b'Dear Anna,'
    """
    temporary = lock = None
    try:
        if path.exists() and not path.is_file():  # before links are followed: the resolved name of a pipe is not a path
            with path.open("wb", buffering=0) as device:
                yield device  # type: ignore[misc]
            return
        if not allow_key:
            check_unprotected(path)
        path = Path(os.path.realpath(path))
        remove_abandoned(path)
        descriptor, temporary = _open_temporary(path)
        lock = duplicate_lock(descriptor)
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            if not private and hasattr(os, "fchmod"):  # a temporary file is private to its owner
                os.fchmod(descriptor, path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_read_umask())
            os.fsync(descriptor)
            if temporary is None:
                temporary = make_temporary_name(path)
                name_file(descriptor, temporary)
        if replace:
            os.replace(temporary, path)
        else:
            with suppress(FileExistsError):
                os.link(temporary, path)
        if private:  # the caller may then write files that are useless without this one
            _flush(path.parent)
    except OSError as error:
        raise OutputError(_describe_write_error(path, error)) from error
    finally:
        _discard_temporary(temporary, lock)


def _describe_write_error(path: Path, error: OSError) -> str:
    """Return the error message for a path that cannot be written, with the path's last part."""
    is_folder_missing = error.errno == errno.ENOENT and not path.parent.exists()
    reason = "its folder does not exist: make it first" if is_folder_missing else os.strerror(error.errno or 0)
    reason = "it is a folder: name a file in it" if path.is_dir() else reason
    return f"{path.name or str(path)!r} cannot be written: {reason}"


def _open_temporary(path: Path) -> tuple[int, Path | None]:
    """Open and claim a temporary file, private to the owner; unnamed if the system allows.

    Returns:
        The descriptor, and the name or ``None``.
    """
    descriptor = open_unnamed_file(path.parent)
    if descriptor is None:
        return create_temporary_file(path)
    lock_temporary(descriptor)
    return descriptor, None


def _discard_temporary(temporary: Path | None, lock: int | None) -> None:
    """Delete a temporary file that was not renamed, and release its claim."""
    if temporary is not None:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    if lock is not None:
        os.close(lock)


@contextmanager
def open_atomic_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Create a folder atomically: in a temporary folder, flushed file by file and then renamed.

    With ``replace``, an existing folder and the new one exchange their names in one step. Only Linux supports that.
    Elsewhere the old folder is renamed to a temporary name first, and renamed back if the second rename fails. An error
    therefore never leaves the path empty, but between the two renames it is empty, also after a power failure.

    Args:
        path: The folder to create. Its parent must exist.
        replace: Whether to replace an existing folder; otherwise an existing folder is an error.

    Yields:
        The temporary folder, for the caller to fill.

    Raises:
        OutputError: The folder exists and ``replace`` is false, it contains a ledger or a key, or the disk does not
            allow writing.

    Example:
        >>> with open_atomic_folder(Path("my-bundle")) as folder:
        ...     _ = (folder / "README.md").write_text("# My bundle")
        >>> [file.name for file in Path("my-bundle").iterdir()]
        ['README.md']
    """
    try:
        _check_replaceable(path, replace)
        path = Path(os.path.realpath(path))
        remove_abandoned(path)
        lock, temporary = create_temporary_folder(path)
        try:
            yield temporary
            _flush_tree(temporary)
            os.chmod(temporary, 0o777 & ~_read_umask())
            _check_replaceable(path, replace)  # another process may have created it in the meantime
            _move_folder(temporary, path, replace)
            _flush(path.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            if lock is not None:
                os.close(lock)
    except OSError as error:
        raise OutputError(_describe_write_error(path, error)) from error


def _check_replaceable(path: Path, replace: bool) -> None:
    if path.exists() and not (replace and path.is_dir()):
        raise OutputError("the output folder exists already: choose another name, or replace it (--force)")
    for folder, _, names in os.walk(path):
        for name in names:
            check_unprotected(Path(folder, name), "in the folder that is replaced")


def _move_folder(temporary: Path, path: Path, replace: bool) -> None:
    """Rename a finished folder to its final name; delete the replaced folder last."""
    if not path.exists():
        try:
            os.rename(temporary, path)
            return
        except OSError:
            if not (replace and path.is_dir()):  # another process may have created it
                raise
    if exchange_names(temporary, path):
        return  # the old folder has the temporary name; the caller deletes it
    aside = make_backup_name(path)
    os.rename(path, aside)
    try:
        os.rename(temporary, path)
    except BaseException:
        os.rename(aside, path)  # if this rename fails too, the old folder keeps its temporary name
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _flush_tree(folder: Path) -> None:
    for subfolder, _, names in os.walk(folder):
        for name in names:
            _flush(Path(subfolder, name))
        _flush(Path(subfolder))


def _flush(path: Path) -> None:
    with suppress(OSError) if path.is_dir() else nullcontext():  # some file systems cannot flush a folder
        descriptor = os.open(path, _FLUSH_FLAGS)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_text(file: BinaryIO, text: str) -> None:
    file.write(text.encode("utf-8"))


def _read_umask() -> int:
    mask = os.umask(0o077)  # reading the umask requires setting it: files of other threads are too private for a moment
    os.umask(mask)
    return mask
