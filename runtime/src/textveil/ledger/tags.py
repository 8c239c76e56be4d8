"""Tags of privacy units and requests, and encryption of outputs, with the ledger's keys."""

import unicodedata
from typing import Any

from textveil.errors import OptionError
from textveil.ledger import crypto
from textveil.ledger.keys import compute_tag


class LedgerTags:
    """Keys of one open ledger.

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
        """Return the check values of both keys: each identifies its key without revealing it."""
        return compute_tag(self._device_key, "check"), None if self._replay_cache_key is None else compute_tag(
            self._replay_cache_key, "check"
        )

    def tag_unit(self, name: Any) -> bytes:
        """Return the tag of a privacy unit: 32 bytes, from its name in NFC.

        Raises:
            OptionError: The name is not a string.
        """
        if not isinstance(name, str):
            raise OptionError("the name of a privacy unit is a string")
        return compute_tag(
            self._device_key, "privacy unit", unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass")
        )

    def tag_request(self, unit_tag: bytes, request: bytes) -> bytes:
        """Return the tag of a request in a privacy unit; it differs between privacy units."""
        return compute_tag(self._device_key, "request", unit_tag, request)

    def tag_cache_entry(self, unit_tag: bytes, cache_key: bytes) -> bytes:
        """Return the tag of a cache entry: one position of a whole call (``make_cache_keys``)."""
        return compute_tag(self._device_key, "replay cache", unit_tag, cache_key)

    def encrypt_output(self, output: bytes, context: bytes) -> bytes | None:
        """Encrypt an output; return ``None`` without a replay cache."""
        return None if self._replay_cache_key is None else crypto.encrypt_bytes(self._replay_cache_key, output, context)

    def decrypt_output(self, encrypted: bytes, context: bytes) -> bytes | None:
        """Decrypt an output; return ``None`` without a replay cache.

        Raises:
            KeyFileError: The bytes are altered, or the key or ``context`` differs.
        """
        return (
            None if self._replay_cache_key is None else crypto.decrypt_bytes(self._replay_cache_key, encrypted, context)
        )
