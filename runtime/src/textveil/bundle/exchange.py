"""Lets two folders change places in one step, so that at no moment one of the names stands for nothing."""

import ctypes
import os
import sys
from pathlib import Path

#: Of Linux: names are relative to the working folder, and both stay (linux/fcntl.h, linux/fs.h).
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def exchange(one: Path, other: Path) -> bool:
    """Gives each of two things the name of the other, in one step.

    Args:
        one: A file or a folder.
        other: Another one in the same file system.

    Returns:
        Whether it was done; ``False`` where the system or the file system cannot do it, or refuses.
    """
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)  # an older C library has none
    if rename is None:
        return False
    return rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0
