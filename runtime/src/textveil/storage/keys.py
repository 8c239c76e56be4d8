"""Key files with 32 random bytes, which are created at the first use. Only their owner can read them.

Mechanisms never derive random numbers from a key.
"""

import os
import stat
from pathlib import Path

from textveil.errors import KeyFileError
from textveil.formatting import format_path_name
from textveil.storage.atomic_writes import open_atomic_bytes
from textveil.storage.protected_paths import KEY_BYTES

#: Flags for opening a key file. Opening a pipe does not block; ``read_key`` then raises an error.
_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_key(path: Path, name: str, *, create: bool) -> bytes:
    """Read a key file. If the file is missing and ``create`` is true, create it with a new random key.

    Args:
        path: The file.
        name: Description of the key for error messages, such as "the device key".
        create: Whether to create a missing file. Creation is atomic and never replaces an existing file.

    Returns:
        The key, 32 bytes.

    Raises:
        KeyFileError: The file is missing or is not a key, or other users can read it.
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
