"""Keys of a privacy ledger: key files, and the keyed hashes and encryption that use the keys.

A ledger stores keyed hashes (*tags*) of requests (an input text with the options) and of the names of privacy units
(such as persons): HMAC-SHA256 under the device key, with a different label for each purpose.
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
    """Return the path of the ledger's key for keyed hashes: ``key``, or the default path next to the ledger.

    Example:
        >>> get_key_path(Path("spends.ledger"), None).name
        'spends.ledger.key'
        >>> get_key_path(Path("spends.ledger"), "device.key").name
        'device.key'
    """
    return make_key_path(ledger) if key is None else Path(key)


def check_distinct_files(ledger: Path, *keys: Path | None) -> None:
    """Check that key files differ from each other and from the files of the privacy ledger.

    Args:
        ledger: The ledger.
        keys: Paths of keys; ``None`` is ignored.

    Raises:
        KeyFileError: Two of the paths lead to the same file.
    """
    file_ids = {get_file_id(path) for path in (ledger, *list_sqlite_files(ledger))}
    for key in keys:
        if key is not None and get_file_id(key) in file_ids:
            raise KeyFileError("the ledger, its journal and its keys must be different files, but two paths are equal")
        file_ids |= {get_file_id(key)} if key is not None else set()


def check_replaceable_key(path: Path, check: bytes | None) -> None:
    """Check that a new key may be written to a path: the path is unused, or has this ledger's current key.

    Args:
        path: Path of the new key.
        check: Hash that identifies the current key of the ledger (``LedgerTags.key_checks``). With ``None``, any key
            file may be replaced.

    Raises:
        KeyFileError: The existing file is not a key, or is the key of another ledger.
    """
    if os.path.lexists(path):
        key = read_key(path, DEVICE_KEY, create=False)
        if check is not None and compute_tag(key, "check") != check:
            raise KeyFileError(
                f"{DEVICE_KEY}: this file is the key of another ledger: delete the file if no ledger needs it, or "
                "choose another name"
            )


class LedgerTags:
    """Keyed hashes (tags) and encryption with the keys of one open privacy ledger.

    Args:
        key: The key of the ledger for keyed hashes (device key).
        replay_cache_key: Encryption key of the replay cache, which stores outputs; ``None`` if the ledger has no such
            cache.
    """

    def __init__(self, key: bytes, replay_cache_key: bytes | None) -> None:
        self._device_key, self._replay_cache_key = key, replay_cache_key

    @property
    def has_replay_cache(self) -> bool:
        """Return whether the ledger has a replay cache, which stores encrypted outputs."""
        return self._replay_cache_key is not None

    @property
    def key_checks(self) -> tuple[bytes, bytes | None]:
        """Return two hashes that identify keys without revealing them: those of the ledger and of the replay cache."""
        return compute_tag(self._device_key, "check"), None if self._replay_cache_key is None else compute_tag(
            self._replay_cache_key, "check"
        )

    def tag_unit(self, name: Any) -> bytes:
        """Return the keyed hash (32 bytes) of the name of a privacy unit, such as a person.

        Names with equal NFC forms have equal hashes.

        Raises:
            OptionError: The name is not a string.
        """
        if not isinstance(name, str):
            raise OptionError("a privacy unit must be a string")
        return compute_tag(
            self._device_key, "privacy unit", unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass")
        )

    def tag_request(self, unit_tag: bytes, request: bytes) -> bytes:
        """Return the keyed hash of a request (a text with options). It also depends on the privacy unit (a person).

        Args:
            unit_tag: Keyed hash of the name of the privacy unit (such as a person).
            request: The bytes that identify the request (``serialize_request``).
        """
        return compute_tag(self._device_key, "request", unit_tag, request)

    def tag_cache_entry(self, unit_tag: bytes, cache_key: bytes) -> bytes:
        """Return the keyed hash under which the replay cache (stored outputs) has the output for one text of one call.

        Args:
            unit_tag: Keyed hash of the name of the privacy unit (such as a person).
            cache_key: Cache key of the text (``make_cache_keys``).
        """
        return compute_tag(self._device_key, "replay cache", unit_tag, cache_key)

    def encrypt_output(self, output: bytes, context: bytes) -> bytes | None:
        """Encrypt an output to store it in the replay cache; return ``None`` if the ledger has no replay cache.

        Args:
            output: The output.
            context: Bytes that are authenticated but not encrypted. Decryption needs the same bytes.
        """
        return None if self._replay_cache_key is None else encrypt_bytes(self._replay_cache_key, output, context)

    def decrypt_output(self, encrypted: bytes, context: bytes) -> bytes | None:
        """Decrypt an output that the replay cache stored; return ``None`` if the ledger has no replay cache.

        Raises:
            KeyFileError: The bytes were altered, or the key or ``context`` differs from that of ``encrypt_output``.
        """
        return None if self._replay_cache_key is None else decrypt_bytes(self._replay_cache_key, encrypted, context)
