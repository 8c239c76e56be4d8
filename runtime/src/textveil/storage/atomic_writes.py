"""Atomic writing of files and folders: each appears completely or not at all.

All modules use these functions to write files. A new file is written to a temporary file in the target folder, flushed
to the disk, and renamed. The temporary file has no name if the system supports unnamed files.

If a process is killed, its unnamed files vanish. Its named temporary files remain until the same user writes to the
same path again; then they are deleted. A named temporary file is locked from its creation until it is renamed, so an
unlocked file belongs to a killed process. Only temporary files have names of this pattern, so no other file is deleted.
"""

import errno
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from textveil.errors import OutputError
from textveil.storage.protected_paths import check_unprotected

try:
    import fcntl
except ImportError:  # missing on Windows: temporary files of killed processes stay
    fcntl = None

#: Flags for opening a file to flush it. Windows flushes only files that are open for writing, and needs ``O_BINARY`` to
#: keep line ends unchanged.
_FLUSH_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0) if sys.platform == "win32" else os.O_RDONLY
#: Constants of Linux for ``renameat2``: paths are relative to the working directory, and two names are swapped
#: (linux/fcntl.h, linux/fs.h).
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_TEMPORARY_NAME = re.compile(r"\.textveil-(?P<target>[0-9a-f]{16})-[0-9a-f]{16}\.partial")


@contextmanager
def open_atomic_text(path: Path, *, private: bool = False) -> Iterator[Callable[[str], None]]:
    """Open a text file for atomic writing, with the guarantees of ``open_atomic_bytes``.

    Args:
        path: The file.
        private: Whether only the owner may read the new file, even if other users may read an existing file.

    Yields:
        A function that writes a text as UTF-8.

    Raises:
        OutputError: The folder or the disk does not allow writing, or the path is a privacy ledger or a key.

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

    The new file replaces an existing file and keeps its permissions. Symbolic links are followed. If an error occurs,
    the temporary file is deleted, and the file at ``path`` is unchanged. Bytes for a device or a pipe, which cannot be
    replaced, are written directly. Without ``allow_key``, a privacy ledger or a key is never replaced.

    Args:
        path: The file.
        private: Whether only the owner may read the new file, even if other users may read an existing file. If so, the
            folder is also flushed, so that the new file exists after a power failure.
        allow_key: Whether ``path`` may be the path of a key. Use it only for writing a new key.
        replace: Whether to replace an existing file. If not and the file exists, nothing is written.

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
    """Return the error message for a path that cannot be written. It contains only the last part of the path."""
    is_folder_missing = error.errno == errno.ENOENT and not path.parent.exists()
    reason = "its folder does not exist: make it first" if is_folder_missing else os.strerror(error.errno or 0)
    reason = "it is a folder: name a file in it" if path.is_dir() else reason
    return f"{path.name or str(path)!r} cannot be written: {reason}"


def _open_temporary(path: Path) -> tuple[int, Path | None]:
    """Create and lock a temporary file that only its owner can read.

    Returns:
        The file descriptor; and the name of the file, or ``None`` if the system supports unnamed files.
    """
    descriptor = open_unnamed_file(path.parent)
    if descriptor is None:
        return create_temporary_file(path)
    lock_temporary(descriptor)
    return descriptor, None


def _discard_temporary(temporary: Path | None, lock: int | None) -> None:
    """Delete a temporary file that was not renamed, and unlock it."""
    if temporary is not None:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    if lock is not None:
        os.close(lock)


@contextmanager
def open_atomic_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Create a folder atomically: fill a temporary folder, flush its files and rename it.

    With ``replace``, the existing and the new folder swap their names in one step on Linux. Other systems do not
    support this. There, the old folder is first renamed to a temporary name, and renamed back if the second rename
    fails. Between the two renames, and after a power failure in this moment, there is no folder at ``path``. An error
    never causes this.

    Args:
        path: The folder to create. Its parent must exist.
        replace: Whether to replace an existing folder. If not and the folder exists, an error is raised.

    Yields:
        The temporary folder, for the caller to fill.

    Raises:
        OutputError: The folder exists and ``replace`` is false; the existing folder contains a ledger or a key; or the
            disk does not allow writing.

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
    """Rename a finished temporary folder to its final name, and then delete the replaced folder."""
    if not path.exists():
        try:
            os.rename(temporary, path)
            return
        except OSError:
            if not (replace and path.is_dir()):  # another process may have created it
                raise
    if swap_names(temporary, path):
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


def swap_names(first: Path, second: Path) -> bool:
    """Swap the names of two files or folders in one step, so that both names always exist.

    Args:
        first: A file or a folder.
        second: Another file or folder in the same file system.

    Returns:
        Whether the swap succeeded; ``False`` if the system or the file system does not support or allow the swap.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes  # only for folders: files are replaced without it

    rename = getattr(ctypes.CDLL(None), "renameat2", None)  # missing in older C libraries
    if rename is None:
        return False
    return rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0


def make_temporary_name(path: Path) -> Path:
    """Return a path for a temporary file or folder, in the folder of ``path``. No file has this path yet."""
    return path.with_name(f".textveil-{_hash_file_name(path)}-{os.urandom(8).hex()}.partial")


def make_backup_name(path: Path) -> Path:
    """Return an unused path to which a file or folder at ``path`` can be moved.

    A file with such a name is never deleted as a temporary file, because it may be the only copy.
    """
    return path.with_name(f".textveil-{_hash_file_name(path)}-{os.urandom(8).hex()}.old")


def open_unnamed_file(folder: Path) -> int | None:
    """Open a file without a name, which vanishes when its process ends. Only its owner can read it.

    Returns:
        The file descriptor, or ``None`` if the system or the file system does not support unnamed files.
    """
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not os.path.isdir("/proc/self/fd"):
        return None
    with suppress(OSError):  # some file systems do not support unnamed files
        return os.open(folder, flag | os.O_RDWR | os.O_CLOEXEC, 0o600)
    return None


def name_file(descriptor: int, path: Path) -> None:
    """Link an unnamed file to a path, so that the file exists under this name.

    Raises:
        FileExistsError: The name is in use.
    """
    # Python follows the link in /proc only if a folder descriptor is passed to linkat.
    os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)


def create_temporary_file(path: Path) -> tuple[int, Path]:
    """Create and lock a temporary file in the folder of ``path``. Only its owner can read it.

    Returns:
        The file descriptor, and the path of the file.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    while True:
        name = make_temporary_name(path)
        descriptor = os.open(name, flags, 0o600)
        if lock_temporary(descriptor, name):
            return descriptor, name
        os.close(descriptor)


def create_temporary_folder(path: Path) -> tuple[int | None, Path]:
    """Create and lock a temporary folder in the folder of ``path``. Only its owner can read it.

    Returns:
        An open descriptor that holds the lock (``None`` on Windows), and the path of the temporary folder.
    """
    while True:
        name = make_temporary_name(path)
        os.mkdir(name, 0o700)
        if sys.platform == "win32":
            return None, name
        with suppress(FileNotFoundError):  # another process deleted it
            descriptor = os.open(name, os.O_RDONLY)
            if lock_temporary(descriptor, name):
                return descriptor, name
            os.close(descriptor)


def lock_temporary(descriptor: int, name: Path | None = None) -> bool:
    """Lock a temporary file or folder while its descriptor is open, so that no other process deletes it.

    Args:
        descriptor: Descriptor of the file or folder.
        name: Path of the file or folder; ``None`` for an unnamed file.

    Returns:
        Whether the file or folder still exists at ``name``. Another process may have deleted it before the lock.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # another process is deleting it
        return False
    except OSError:  # no locks on this file system: no process can lock it, so none deletes it
        return True
    with suppress(FileNotFoundError):
        return name is None or os.path.samestat(os.fstat(descriptor), os.lstat(name))
    return False


def duplicate_lock(descriptor: int) -> int | None:
    """Duplicate a descriptor, so that the lock of its file continues after the first descriptor is closed.

    The lock must continue because the caller closes a temporary file before renaming the file.

    Returns:
        The new descriptor, or ``None`` if the system has no file locks.
    """
    return None if fcntl is None else os.dup(descriptor)


def remove_abandoned(path: Path) -> None:
    """Delete temporary files and folders for ``path`` whose processes were killed."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in os.scandir(path.parent):
            match = _TEMPORARY_NAME.fullmatch(entry.name)
            if match is not None and match["target"] == _hash_file_name(path):
                with suppress(OSError):
                    _remove_entry(entry)


def _hash_file_name(path: Path) -> str:
    """Return a hash of a file's name. Temporary names contain the hash, because the name itself may be too long."""
    return hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]


def _remove_entry(entry: "os.DirEntry[str]") -> None:
    assert fcntl is not None
    if entry.is_symlink() or entry.stat(follow_symlinks=False).st_uid != os.getuid():
        return
    descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer holds the lock
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    finally:
        os.close(descriptor)
