"""Reader and writer of the encrypted file of a conversation. Only the owner of the file can read it.

The file is encrypted with a key from a key file, which must be outside the folder of the encrypted file.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from textveil.errors import ConversationChanged, InputError, KeyFileError
from textveil.storage.atomic_writes import open_atomic_bytes
from textveil.storage.cryptography import NONCE_BYTES, check_cryptography, decrypt_bytes, encrypt_bytes
from textveil.storage.keys import read_key
from textveil.storage.protected_paths import is_inside
from textveil.work_steps import SteppedJSONEncoder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

#: The first line of a file. The encryption authenticates it together with the content.
HEADER = b"textveil-conversation 5\n"
_OLD_HEADERS = tuple(f"textveil-conversation {version}\n".encode() for version in (1, 2, 3, 4))
#: Maximum size of a file in bytes.
_MAX_BYTES = 1 << 28
#: Maximum size, in characters, of a conversation that is encoded in one step.
_STEP_CHARACTERS = 1 << 16
_encode_stepped = SteppedJSONEncoder().encode
_STAMP_BYTES = len(HEADER) + NONCE_BYTES
#: With these flags, opening a pipe at the path of the file does not block the process.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KEY_NAME = "the key of the conversation"


def encode_content(content: Mapping[str, Any], size: int | None = None) -> bytes:
    """Encode the state of a conversation as JSON bytes, in steps, so that other threads can run in between.

    Args:
        content: The state, as values that JSON can represent.
        size: Approximate number of characters, if the caller knows it. A short state is encoded in one step.
    """
    is_short = size is not None and size <= _STEP_CHARACTERS
    return (json.dumps(content) if is_short else _encode_stepped(content)).encode()


def write_conversation(path: Path, key_file: str | Path, content: bytes, stamp: bytes | None) -> bytes:
    """Encrypt the state of a conversation and write it to its file (``Conversation.save``).

    Args:
        path: The file.
        key_file: The key. The function locks this file, so that no other process writes the conversation meanwhile.
        content: The encoded state.
        stamp: First bytes of the file when this conversation last read or wrote the file; ``None`` if it never did.

    Returns:
        The stamp of the new file: its first bytes, which differ after each write.

    Raises:
        ConversationChanged: The file at ``path`` now begins with other bytes, so replacing the file would lose a
            conversation; or ``path`` is not a plain file but, for example, a pipe.
    """
    key = _read_conversation_key(path, key_file, make=True)
    with _lock_key_file(key_file):
        _refuse_special_file(path)
        current_stamp = _read_stamp(path)
        if current_stamp is not None and current_stamp != stamp:
            raise ConversationChanged(
                "another process or conversation has written the file: load the file to continue from it, or save to "
                "another file"
            )
        sealed = HEADER + encrypt_bytes(key, content, HEADER)
        with open_atomic_bytes(path, private=True) as file:
            file.write(sealed)
    return sealed[:_STAMP_BYTES]


def _refuse_special_file(path: Path) -> None:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ConversationChanged(
            "the path of the conversation is not a plain file: delete the file, or save to another path"
        )


def _read_stamp(path: Path) -> bytes | None:
    """Return the first bytes of a conversation file: the header, and a random nonce that differs after each write.

    Callers compare these bytes to detect that another process has written the file. The result is ``None`` if the path
    has no readable plain file.
    """
    try:
        with open(os.open(path, _OPEN_FLAGS), "rb") as file:
            return file.read(_STAMP_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


@contextmanager
def _lock_key_file(key_file: str | Path) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    with open(os.open(key_file, _OPEN_FLAGS), "rb") as file:
        with suppress(OSError):  # ignore file systems without locks
            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield


def read_conversation(path: Path, key_file: str | Path) -> tuple[bytes, bytes]:
    """Decrypt the file of a conversation (``Conversation.load``).

    Returns:
        The encoded state of the conversation, and the first bytes of the file (the argument ``stamp`` of
        ``write_conversation``).

    Raises:
        InputError: The file is missing, unreadable, or not a conversation of this version.
        KeyFileError: The file was written with another key, or was changed.
    """
    try:
        with open(os.open(path, _OPEN_FLAGS), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(
                    "the conversation: the path is not a plain file: delete the file, or save to another path"
                )
            sealed = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise InputError("the conversation: the file is missing or cannot be read") from error
    if sealed.startswith(_OLD_HEADERS):
        raise InputError(
            "the conversation was saved by an earlier version of textveil in another format: start a new conversation"
        )
    if not sealed.startswith(HEADER) or len(sealed) > _MAX_BYTES:
        raise InputError("the conversation: the file was not written by this version of textveil")
    key = _read_conversation_key(path, key_file, make=False)
    return decrypt_bytes(key, sealed[len(HEADER) :], HEADER, "the file of the conversation"), sealed[:_STAMP_BYTES]


def conversation_matches_key(path: Path, key_file: str | Path) -> bool:
    """Return whether a conversation file was written with a key and has not been changed since.

    >>> from textveil import Conversation
    >>> from textveil.conversation import conversation_matches_key
    >>> path, key = folder / "data" / "conversation", folder / "keys" / "key"  # folder is a pathlib.Path
    >>> path.parent.mkdir()
    >>> key.parent.mkdir()
    >>> Conversation().save(path, key)
    >>> conversation_matches_key(path, key)
    True

    Raises:
        InputError: The file is not a conversation of this version.
        CryptoUnavailable: The package ``cryptography`` is not installed.
    """
    try:
        read_conversation(path, key_file)
    except KeyFileError:
        return False
    return True


def _read_conversation_key(path: Path, key_file: str | Path, *, make: bool) -> bytes:
    check_cryptography("a conversation that is saved")
    if is_inside(key_file, Path(os.path.realpath(path)).parent):
        raise KeyFileError(
            f"{_KEY_NAME}: must be outside the folder of the conversation: otherwise a copy of the folder would "
            "contain the data and the key"
        )
    return read_key(Path(key_file), _KEY_NAME, create=make)
