"""Key files: 32 random bytes, created at first use, private to their owner.

No key is a source of the random numbers of a mechanism.
"""

import os
import stat
from pathlib import Path

from textveil.errors import KeyFileError
from textveil.formatting import format_path_name
from textveil.storage.atomic_writes import open_atomic_bytes
from textveil.storage.protected_paths import KEY_BYTES

#: Opening a pipe does not block; ``read_key`` then refuses it.
_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_key(path: Path, name: str, *, create: bool) -> bytes:
    """Read a key file; create it first if ``create`` is true and the file is missing.

    Args:
        path: The file.
        name: Name of the key in error messages ("the device key").
        create: Whether to create a missing file. Creation is atomic and never replaces an existing file.

    Raises:
        KeyFileError: The file is missing, is not a key, or can be read by other users than its owner.
        OutputError: The file cannot be created.

    Example:
        >>> key = read_key(Path("device.key"), "the device key", create=True)
        >>> len(key), read_key(Path("device.key"), "the device key", create=False) == key
        (32, True)
    """
    given_path, path = path, Path(os.path.realpath(path))
    if create and not path.exists():
        with open_atomic_bytes(path, private=True, allow_key=True, replace=False) as file:
            file.write(os.urandom(KEY_BYTES))  # an existing key of another process stays and is read below
    try:
        with open(os.open(path, os.O_RDONLY | _OPEN_FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(KEY_BYTES + 1) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        printed_name = path.exists() and format_path_name(
            given_path
        )  # a path without a file may be a mistyped password
        raise KeyFileError(f"{name}: {printed_name or 'the file'} is missing or cannot be read") from error
    if len(content) != KEY_BYTES:
        raise KeyFileError(f"{name}: a key file must have {KEY_BYTES} bytes")
    if os.name == "posix" and status.st_mode & 0o077:
        raise KeyFileError(f"{name}: other users can read it: run chmod 600 on it")
    return content
