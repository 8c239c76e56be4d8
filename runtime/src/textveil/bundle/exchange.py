"""Exchange of the names of two folders in one step, so that neither name is ever unused."""

import ctypes
import os
import sys
from pathlib import Path

#: Linux: paths are relative to the working directory, and the flag for an exchange (linux/fcntl.h, linux/fs.h).
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def exchange_names(first: Path, second: Path) -> bool:
    """Exchange the names of two files or folders in one step.

    Args:
        first: A file or a folder.
        second: Another one in the same file system.

    Returns:
        Whether the exchange succeeded; ``False`` if the system or the file system does not support it, or refuses.
    """
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)  # missing in older C libraries
    if rename is None:
        return False
    return rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0
