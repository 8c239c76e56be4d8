"""Keys of a privacy ledger: their files, and the tags and encryption that they serve.

The device key derives tags of requests and of names of privacy units: HMAC-SHA256 with one label per use.
"""

import os
import unicodedata
from pathlib import Path
from typing import Any

from textveil.errors import KeyFileError, OptionError
from textveil.storage.cryptography import compute_tag, decrypt_bytes, encrypt_bytes
from textveil.storage.keys import read_key
from textveil.storage.protected_paths import get_file_id, list_sqlite_files, make_key_path

#: Names of the keys in error messages.
DEVICE_KEY, REPLAY_CACHE_KEY = "the key of the ledger", "the key of the replay cache"


def get_key_path(ledger: Path, key: str | Path | None) -> Path:
    """Return the path of the device key: ``key``, or the default path next to the ledger.

    Example:
        >>> get_key_path(Path("spends.ledger"), None).name
        'spends.ledger.key'
        >>> get_key_path(Path("spends.ledger"), "device.key").name
        'device.key'
    """
    return make_key_path(ledger) if key is None else Path(key)


def check_distinct_files(ledger: Path, *keys: Path | None) -> None:
    """Raise an error if a key is a file of the ledger itself, or if two keys are one file.

    A key that is ``None`` is ignored.

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
        check: Hash that identifies the ledger's present key (``LedgerTags.key_checks``); ``None`` skips the comparison,
            so that any key file may be replaced.

    Raises:
        KeyFileError: The existing file is not a key, or is the key of another ledger.
    """
    if os.path.lexists(path):
        key = read_key(path, DEVICE_KEY, create=False)
        if check is not None and compute_tag(key, "check") != check:
            raise KeyFileError(
                f"{DEVICE_KEY}: this is the key of another ledger: delete it if no ledger needs it, or choose "
                "another name"
            )


class LedgerTags:
    """Hashes and encryption with the keys of one open ledger.

    Args:
        key: The device key.
        replay_cache_key: Encryption key of the replay cache; ``None`` without a replay cache.
    """

    def __init__(self, key: bytes, replay_cache_key: bytes | None) -> None:
        self._device_key, self._replay_cache_key = key, replay_cache_key

    @property
    def has_replay_cache(self) -> bool:
        """Return whether the ledger stores outputs."""
        return self._replay_cache_key is not None

    @property
    def key_checks(self) -> tuple[bytes, bytes | None]:
        """Return a hash of each key, which identifies the key without revealing it."""
        return compute_tag(self._device_key, "check"), None if self._replay_cache_key is None else compute_tag(
            self._replay_cache_key, "check"
        )

    def tag_unit(self, name: Any) -> bytes:
        """Return the keyed hash (32 bytes) of a privacy unit's name in NFC.

        Raises:
            OptionError: The name is not a string.
        """
        if not isinstance(name, str):
            raise OptionError("a privacy unit must be a string")
        return compute_tag(
            self._device_key, "privacy unit", unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass")
        )

    def tag_request(self, unit_tag: bytes, request: bytes) -> bytes:
        """Return the keyed hash of a request.

        The same request has another hash in each privacy unit.
        """
        return compute_tag(self._device_key, "request", unit_tag, request)

    def tag_cache_entry(self, unit_tag: bytes, cache_key: bytes) -> bytes:
        """Return the keyed hash under which the replay cache stores one text of one call.

        ``make_cache_keys`` makes ``cache_key``.
        """
        return compute_tag(self._device_key, "replay cache", unit_tag, cache_key)

    def encrypt_output(self, output: bytes, context: bytes) -> bytes | None:
        """Encrypt an output; return ``None`` without a replay cache."""
        return None if self._replay_cache_key is None else encrypt_bytes(self._replay_cache_key, output, context)

    def decrypt_output(self, encrypted: bytes, context: bytes) -> bytes | None:
        """Decrypt an output; return ``None`` without a replay cache.

        Raises:
            KeyFileError: The bytes are altered, or the key or ``context`` differs.
        """
        return None if self._replay_cache_key is None else decrypt_bytes(self._replay_cache_key, encrypted, context)
