"""The file of a conversation: encrypted for its owner alone, under a key that lies elsewhere."""

import os
from pathlib import Path

from textveil.bundle.atomic import atomic_bytes
from textveil.bundle.kept import lies_in
from textveil.bundle.signatures import require_cryptography
from textveil.errors import InputError, KeyFileError
from textveil.ledger import crypto
from textveil.ledger.keys import read_key

#: The first line of a file, and what its content belongs to.
HEADER = b"textveil-conversation 3\n"
_OLDER = (b"textveil-conversation 1\n", b"textveil-conversation 2\n")
#: A file has no more.
_MOST_BYTES = 1 << 28
_KEY = "the key of the conversation"


def write(path: Path, key_file: str | Path, content: bytes) -> None:
    """Writes what a conversation is; see ``Conversation.save``."""
    key = _key_of(path, key_file, make=True)
    with atomic_bytes(path, private=True) as file:
        file.write(HEADER + crypto.seal(key, content, HEADER))


def read(path: Path, key_file: str | Path) -> bytes:
    """Returns what a conversation is; see ``Conversation.load``."""
    try:
        with path.open("rb") as file:
            sealed = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError("the conversation: no readable file there") from error
    if sealed.startswith(_OLDER):
        raise InputError(
            "the conversation: saved by an earlier version, which did not store where replies stood; begin a new one"
        )
    if not sealed.startswith(HEADER) or len(sealed) > _MOST_BYTES:
        raise InputError("the conversation: not one of this version that textveil has written")
    return crypto.unseal(_key_of(path, key_file, make=False), sealed[len(HEADER) :], HEADER)


def _key_of(path: Path, key_file: str | Path, *, make: bool) -> bytes:
    require_cryptography("a conversation that is saved")
    if lies_in(key_file, Path(os.path.realpath(path)).parent):
        raise KeyFileError(f"{_KEY}: not in the folder of the conversation or below: a copy of it would tell all")
    return read_key(Path(key_file), _KEY, make=make)
