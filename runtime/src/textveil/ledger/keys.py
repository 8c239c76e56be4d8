"""Key files of a privacy ledger: 32 random bytes, made at first use, private to the owner.

The device key derives tags of requests and of names of privacy units: HMAC-SHA256 with one label per use. No key is a
source of the random numbers of a mechanism.
"""

import hashlib
import hmac
import os
import stat
from pathlib import Path

from textveil.bundle.atomic import atomic_bytes
from textveil.bundle.kept import KEY_BYTES, beside, key_of, place_of
from textveil.errors import KeyFileError
from textveil.lazy import called

#: Names of the keys in error messages.
DEVICE_KEY, MEMO_KEY = "the key of the ledger", "the key of the memo"
#: Opening a pipe does not block; ``read_key`` then refuses it.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_key(path: Path, what: str, *, make: bool) -> bytes:
    """Read a key file; create it first if ``make`` is true and the file is missing.

    Args:
        path: The file.
        what: Name of the key in error messages ("the device key").
        make: Whether to create a missing file. Creation is atomic and never replaces an existing file.

    Raises:
        KeyFileError: The file is missing, is not a key, or has permissions for others than its owner.
        OutputError: The file cannot be created.
    """
    named, path = path, Path(os.path.realpath(path))
    if make and not path.exists():
        with atomic_bytes(path, private=True, over_a_key=True, replace=False) as file:
            file.write(os.urandom(KEY_BYTES))  # an existing key of another process stays and is read below
    try:
        with open(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(KEY_BYTES + 1) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        there = path.exists() and called(named)  # a path without a file may be a mistyped password
        raise KeyFileError(f"{what}: no readable file {there or 'there'}") from error
    if len(content) != KEY_BYTES:
        raise KeyFileError(f"{what}: a key file has {KEY_BYTES} bytes")
    if os.name == "posix" and status.st_mode & 0o077:
        raise KeyFileError(f"{what}: others than its owner may read it (chmod 600)")
    return content


def tag(key: bytes, use: str, *parts: bytes) -> bytes:
    """Return the HMAC-SHA256 (32 bytes) of ``parts``; each ``use`` is a separate function.

    The length of each part precedes it, so that different lists of parts never have equal bytes.
    """
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in (use.encode(), *parts):
        mac.update(len(part).to_bytes(8, "big"))
        mac.update(part)
    return mac.digest()


def key_path_of(ledger: Path, key: str | Path | None) -> Path:
    """Return the path of the device key: ``key``, or the default path beside the ledger."""
    return key_of(ledger) if key is None else Path(key)


def refuse_own_files(ledger: Path, *keys: Path | None) -> None:
    """Raise an error if a key is a file of the ledger itself, or if two keys are one file.

    Raises:
        KeyFileError: Two of the paths are one file.
    """
    seen = {place_of(path) for path in (ledger, *beside(ledger))}
    for key in keys:
        if key is not None and place_of(key) in seen:
            raise KeyFileError("the ledger, its journal and its keys must be different files: two are the same")
        seen |= {place_of(key)} if key is not None else set()


def refuse_replacing(path: Path, check: bytes | None) -> None:
    """Raise an error if a new key would replace a file that is not the key of this ledger.

    Args:
        path: Path of the new key.
        check: Check value of the ledger's key (``Tags.checks``); ``None`` skips the comparison, so that any key file
            may be replaced.

    Raises:
        KeyFileError: The existing file is not a key, or is the key of another ledger.
    """
    if os.path.lexists(path):
        key = read_key(path, DEVICE_KEY, make=False)
        if check is not None and tag(key, "check") != check:
            raise KeyFileError(f"{DEVICE_KEY}: this is the key of another ledger; remove it first if nothing needs it")
