"""Exchange of the names of two folders in one step, so that neither name is ever unused."""

import ctypes
import os
import sys
from pathlib import Path

#: Linux: paths are relative to the working directory, and the flag for an exchange (linux/fcntl.h, linux/fs.h).
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two files or folders in one step.

    Args:
        one: A file or a folder.
        other: Another one in the same file system.

    Returns:
        Whether the exchange succeeded; ``False`` if the system or the file system does not support it, or refuses.
    """
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)  # missing in older C libraries
    if rename is None:
        return False
    return rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0
