"""Temporary files and folders: their names, who writes them, and what a killed process leaves of them.

An unnamed file leaves nothing. A named one is locked from before anybody can take it for a leftover until it has its
place: what nobody locks was left behind, and is removed when the same user writes there again. Nothing else is: no
other file has such a name.
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
except ImportError:  # not on this system: what a killed process leaves stays
    fcntl = None

_NAME = re.compile(r"\.textveil-(?P<place>[0-9a-f]{16})-[0-9a-f]{16}\.partial")


def temporary_name(path: Path) -> Path:
    """Returns a name that nothing has, beside the place that a file or a folder is to have."""
    return path.with_name(f".textveil-{_place(path)}-{os.urandom(8).hex()}.partial")


def aside_name(path: Path) -> Path:
    """Returns a name for what steps aside from a place. It is never removed as a leftover: it may be the only copy."""
    return path.with_name(f".textveil-{_place(path)}-{os.urandom(8).hex()}.old")


def unnamed_file(folder: Path) -> int | None:
    """Opens a file without a name in a folder, which vanishes with its process; ``None`` where there is no such thing.

    It is its owner's alone.
    """
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not os.path.isdir("/proc/self/fd"):
        return None
    with suppress(OSError):  # not every file system has them
        return os.open(folder, flag | os.O_RDWR | os.O_CLOEXEC, 0o600)
    return None


def name_file(descriptor: int, path: Path) -> None:
    """Gives an unnamed file a name, which must be free."""
    # With a folder given, and only then, Python follows the link that stands for the descriptor (linkat).
    os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)


def named_file(path: Path) -> tuple[int, Path]:
    """Opens a temporary file beside the place that it is to have, for its owner alone; returns its name too."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    while True:
        name = temporary_name(path)
        descriptor = os.open(name, flags, 0o600)
        if claim(descriptor, name):
            return descriptor, name
        os.close(descriptor)


def named_folder(path: Path) -> tuple[int | None, Path]:
    """Makes a temporary folder beside the place that it is to have, for its owner alone.

    Returns:
        What keeps it from being removed as long as it is open, ``None`` where there is no such thing; and its name.
    """
    while True:
        name = temporary_name(path)
        os.mkdir(name, 0o700)
        if sys.platform == "win32":
            return None, name
        with suppress(FileNotFoundError):  # removed since
            descriptor = os.open(name, os.O_RDONLY)
            if claim(descriptor, name):
                return descriptor, name
            os.close(descriptor)


def claim(descriptor: int, name: Path | None = None) -> bool:
    """Keeps a temporary file or folder from being removed as a leftover, as long as its descriptor is open.

    Returns:
        Whether it is still there. Somebody may have seen its name before it was locked, and have removed it.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # it is being removed
        return False
    except OSError:  # no locks on this file system: nobody can lock it, so nobody removes it
        return True
    with suppress(FileNotFoundError):
        return name is None or os.path.samestat(os.fstat(descriptor), os.lstat(name))
    return False


def keep_claim(descriptor: int) -> int | None:
    """Returns a second descriptor, which keeps the claim when the first is closed; ``None`` where claims are not kept.

    A file is renamed after it was closed, and must not be taken for a leftover in between.
    """
    return None if fcntl is None else os.dup(descriptor)


def remove_leftovers(path: Path) -> None:
    """Cleans away what this user's processes have left of a file or a folder beside its place."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in os.scandir(path.parent):
            found = _NAME.fullmatch(entry.name)
            if found is not None and found["place"] == _place(path):
                with suppress(OSError):
                    _remove(entry)


def _place(path: Path) -> str:
    """Stands for a file's name: the name itself may be too long to have anything added."""
    return hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]


def _remove(entry: "os.DirEntry[str]") -> None:
    assert fcntl is not None
    if entry.is_symlink() or entry.stat(follow_symlinks=False).st_uid != os.getuid():
        return
    descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while somebody writes it
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    finally:
        os.close(descriptor)
