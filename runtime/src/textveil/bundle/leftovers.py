"""Temporary files and folders: names, locks, and deletion after a process was killed.

An unnamed file vanishes with its process. A named one is locked from its creation until its rename, so an unlocked one
belongs to a killed process; the next write of the same user to the same path deletes it. Only temporary files have
names of this pattern, so nothing else is ever deleted.
"""

import hashlib
import os
import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # missing on Windows: leftovers stay
    fcntl = None

_TEMPORARY_NAME = re.compile(r"\.textveil-(?P<place>[0-9a-f]{16})-[0-9a-f]{16}\.partial")


def make_temporary_name(path: Path) -> Path:
    """Return an unused name in the folder of the target ``path``."""
    return path.with_name(f".textveil-{_hash_file_name(path)}-{os.urandom(8).hex()}.partial")


def make_backup_name(path: Path) -> Path:
    """Return an unused name for a file or folder that is moved away from ``path``.

    It never counts as a leftover, because it may be the only copy.
    """
    return path.with_name(f".textveil-{_hash_file_name(path)}-{os.urandom(8).hex()}.old")


def open_unnamed_file(folder: Path) -> int | None:
    """Open an unnamed file, private to the owner, which vanishes with its process.

    Returns:
        The descriptor, or ``None`` if the system or the file system does not support unnamed files.
    """
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not os.path.isdir("/proc/self/fd"):
        return None
    with suppress(OSError):  # some file systems do not support unnamed files
        return os.open(folder, flag | os.O_RDWR | os.O_CLOEXEC, 0o600)
    return None


def name_file(descriptor: int, path: Path) -> None:
    """Give an unnamed file a name.

    Raises:
        FileExistsError: The name is in use.
    """
    # Python follows the link in /proc (linkat) only if a folder descriptor is given.
    os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)


def create_temporary_file(path: Path) -> tuple[int, Path]:
    """Create and claim a temporary file beside the target ``path``, private to the owner.

    Returns:
        The descriptor and the name.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    while True:
        name = make_temporary_name(path)
        descriptor = os.open(name, flags, 0o600)
        if lock_temporary(descriptor, name):
            return descriptor, name
        os.close(descriptor)


def create_temporary_folder(path: Path) -> tuple[int | None, Path]:
    """Create and claim a temporary folder beside the target ``path``, private to the owner.

    Returns:
        An open descriptor that holds the claim (``None`` on Windows), and the name.
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
    """Lock a temporary file or folder against deletion while its descriptor is open.

    Args:
        descriptor: Descriptor of the file or folder.
        name: Its name; ``None`` for an unnamed file.

    Returns:
        Whether the name still leads to the file. Another process may have deleted it before it was locked.
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
    """Return a duplicate descriptor that holds the claim after the first one is closed.

    A file is renamed after it is closed, and must not count as a leftover in between.

    Returns:
        The descriptor, or ``None`` if the system has no file locks.
    """
    return None if fcntl is None else os.dup(descriptor)


def remove_abandoned(path: Path) -> None:
    """Delete temporary files and folders of this user's killed processes for ``path``."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in os.scandir(path.parent):
            match = _TEMPORARY_NAME.fullmatch(entry.name)
            if match is not None and match["place"] == _hash_file_name(path):
                with suppress(OSError):
                    _remove_entry(entry)


def _hash_file_name(path: Path) -> str:
    """Return a hash of a file's name; the name itself may be too long for a suffix."""
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
