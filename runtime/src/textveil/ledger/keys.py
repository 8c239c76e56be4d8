"""Key files: 32 random bytes, made at first use, for their owner alone.

The device key makes tags of requests and names of scopes: HMAC-SHA256, one use each. No noise is ever drawn from a key.
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

#: What errors call keys.
DEVICE_KEY, MEMO_KEY = "the key of the ledger", "the key of the memo"
#: A pipe is refused and not waited for.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_key(path: Path, what: str, *, make: bool) -> bytes:
    """Reads a key file.

    Args:
        path: The file.
        what: What errors call it ("the device key").
        make: Whether to make it where it is missing: whole or not at all, and never in place of another.

    Raises:
        KeyFileError: It is missing, is not a key, or others than its owner may read it.
        OutputError: It cannot be made.
    """
    named, path = path, Path(os.path.realpath(path))
    if make and not path.exists():
        with atomic_bytes(path, private=True, over_a_key=True, replace=False) as file:
            file.write(os.urandom(KEY_BYTES))  # where another process was first, its key is read
    try:
        with open(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(KEY_BYTES + 1) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        there = path.exists() and called(named)  # what is not there may be a password
        raise KeyFileError(f"{what}: no readable file {there or 'there'}") from error
    if len(content) != KEY_BYTES:
        raise KeyFileError(f"{what}: a key file has {KEY_BYTES} bytes")
    if os.name == "posix" and status.st_mode & 0o077:
        raise KeyFileError(f"{what}: others than its owner may read it (chmod 600)")
    return content


def tag(key: bytes, use: str, *parts: bytes) -> bytes:
    """Returns HMAC-SHA256 of some parts under a key, another function for every use; 32 bytes.

    Every part has its length before it, so that no two lists of parts are one string.
    """
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in (use.encode(), *parts):
        mac.update(len(part).to_bytes(8, "big"))
        mac.update(part)
    return mac.digest()


def key_path_of(ledger: Path, key: str | Path | None) -> Path:
    """Returns the file of the device key: the one that is named, else the one beside the ledger."""
    return key_of(ledger) if key is None else Path(key)


def refuse_own_files(ledger: Path, *keys: Path | None) -> None:
    """Raises ``KeyFileError`` if a key is to be a file of the ledger itself, or two keys are to be one."""
    seen = {place_of(path) for path in (ledger, *beside(ledger))}
    for key in keys:
        if key is not None and place_of(key) in seen:
            raise KeyFileError("the ledger, its journal and its keys must be different files: two are the same")
        seen |= {place_of(key)} if key is not None else set()


def refuse_replacing(path: Path, check: bytes | None) -> None:
    """Raises ``KeyFileError`` if a new key would replace something that is not the key of this ledger.

    Args:
        path: Where the new key goes.
        check: What tells the ledger's key from others; ``None`` where that cannot be told.
    """
    if os.path.lexists(path):
        key = read_key(path, DEVICE_KEY, make=False)
        if check is not None and tag(key, "check") != check:
            raise KeyFileError(f"{DEVICE_KEY}: this is the key of another ledger; remove it first if nothing needs it")
