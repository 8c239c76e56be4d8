"""Key files of a privacy ledger: 32 random bytes, made at first use, private to the owner.

The device key derives tags of requests and of names of privacy units: HMAC-SHA256 with one label per use. No key is a
source of the random numbers of a mechanism.
"""

import hashlib
import hmac
import os
import stat
from pathlib import Path

from textveil.bundle.atomic import open_atomic_bytes
from textveil.bundle.kept import KEY_BYTES, get_file_id, list_sqlite_files, make_key_path
from textveil.errors import KeyFileError
from textveil.lazy import format_path_name

#: Names of the keys in error messages.
DEVICE_KEY, REPLAY_CACHE_KEY = "the key of the ledger", "the key of the replay cache"
#: Opening a pipe does not block; ``read_key`` then refuses it.
_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_key(path: Path, name: str, *, create: bool) -> bytes:
    """Read a key file; create it first if ``create`` is true and the file is missing.

    Args:
        path: The file.
        name: Name of the key in error messages ("the device key").
        create: Whether to create a missing file. Creation is atomic and never replaces an existing file.

    Raises:
        KeyFileError: The file is missing, is not a key, or has permissions for others than its owner.
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
        raise KeyFileError(f"{name}: no readable file {printed_name or 'there'}") from error
    if len(content) != KEY_BYTES:
        raise KeyFileError(f"{name}: a key file has {KEY_BYTES} bytes")
    if os.name == "posix" and status.st_mode & 0o077:
        raise KeyFileError(f"{name}: others than its owner may read it (chmod 600)")
    return content


def compute_tag(key: bytes, use: str, *parts: bytes) -> bytes:
    """Return the HMAC-SHA256 (32 bytes) of ``parts``; each ``use`` is a separate function.

    The length of each part precedes it, so that different lists of parts never have equal bytes.
    """
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in (use.encode(), *parts):
        mac.update(len(part).to_bytes(8, "big"))
        mac.update(part)
    return mac.digest()


def get_key_path(ledger: Path, key: str | Path | None) -> Path:
    """Return the path of the device key: ``key``, or the default path beside the ledger.

    Example:
        >>> get_key_path(Path("spends.ledger"), None).name
        'spends.ledger.key'
        >>> get_key_path(Path("spends.ledger"), "device.key").name
        'device.key'
    """
    return make_key_path(ledger) if key is None else Path(key)


def check_distinct_files(ledger: Path, *keys: Path | None) -> None:
    """Raise an error if a key is a file of the ledger itself, or if two keys are one file.

    Raises:
        KeyFileError: Two of the paths are one file.
    """
    file_ids = {get_file_id(path) for path in (ledger, *list_sqlite_files(ledger))}
    for key in keys:
        if key is not None and get_file_id(key) in file_ids:
            raise KeyFileError("the ledger, its journal and its keys must be different files: two are the same")
        file_ids |= {get_file_id(key)} if key is not None else set()


def check_replaceable_key(path: Path, check: bytes | None) -> None:
    """Raise an error if a new key would replace a file that is not the key of this ledger.

    Args:
        path: Path of the new key.
        check: Check value of the ledger's key (``LedgerTags.key_checks``); ``None`` skips the comparison, so that any
            key file may be replaced.

    Raises:
        KeyFileError: The existing file is not a key, or is the key of another ledger.
    """
    if os.path.lexists(path):
        key = read_key(path, DEVICE_KEY, create=False)
        if check is not None and compute_tag(key, "check") != check:
            raise KeyFileError(f"{DEVICE_KEY}: this is the key of another ledger; remove it first if nothing needs it")
