"""What a killed process leaves behind: unnamed files leave nothing, named ones are removed at the next start.

A temporary file or folder that is still being written is locked. One that nobody locks any more was left behind.
"""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on this system: what a killed process leaves stays
    fcntl = None

#: How the random part of the name of a temporary file or folder looks, after its prefix.
_RANDOM = re.compile(r"[a-z0-9_]{8}")


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


def claim(descriptor: int) -> None:
    """Keeps a temporary file or folder from being removed as a leftover, as long as its descriptor is open."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Cleans away temporary files and folders of this user and a prefix that no process writes any more."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(prefix) and _RANDOM.fullmatch(entry.name[len(prefix) :]):
                with suppress(OSError):
                    _remove(entry)


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
