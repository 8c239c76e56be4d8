"""Lock of a folder against other processes; the operating system releases it when this process ends."""

import os
import sys
from pathlib import Path

#: Name of the file to lock where a folder itself cannot be locked.
_LOCK_FILE = ".textveil.lock"


def lock_folder(folder: Path) -> int | None:
    """Lock a folder for this process.

    Args:
        folder: An existing folder.

    Returns:
        A descriptor that holds the lock while it is open; ``None`` on a file system without locks.

    Raises:
        BlockingIOError: Another process holds the lock.
    """
    if sys.platform == "win32":
        try:
            import msvcrt
        except ModuleNotFoundError:  # a Python without the functions of Windows
            return None
        descriptor = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            os.close(descriptor)
            raise BlockingIOError from None
        return descriptor
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
