"""Tags of privacy units and requests, and encryption of outputs, with the ledger's keys."""

import unicodedata
from typing import Any

from textveil.errors import OptionError
from textveil.ledger import crypto
from textveil.ledger.keys import tag


class Tags:
    """Keys of one open ledger.

    Args:
        key: The device key.
        memo_key: Encryption key of the replay cache; ``None`` without a replay cache.
    """

    def __init__(self, key: bytes, memo_key: bytes | None) -> None:
        self._key, self._memo = key, memo_key

    @property
    def memo(self) -> bool:
        """Return whether the ledger stores outputs."""
        return self._memo is not None

    @property
    def checks(self) -> tuple[bytes, bytes | None]:
        """Return the check values of both keys: each identifies its key without revealing it."""
        return tag(self._key, "check"), None if self._memo is None else tag(self._memo, "check")

    def scope(self, name: Any) -> bytes:
        """Return the tag of a privacy unit: 32 bytes, from its name in NFC.

        Raises:
            OptionError: The name is not a string.
        """
        if not isinstance(name, str):
            raise OptionError("the name of a scope is a string")
        return tag(self._key, "scope", unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass"))

    def request(self, scope: bytes, request: bytes) -> bytes:
        """Return the tag of a request in a privacy unit; it differs between privacy units."""
        return tag(self._key, "request", scope, request)

    def whole(self, scope: bytes, whole: bytes) -> bytes:
        """Return the tag of a cache entry: one position of a whole call (``whole_calls``)."""
        return tag(self._key, "whole", scope, whole)

    def sealed(self, output: bytes, context: bytes) -> bytes | None:
        """Encrypt an output; return ``None`` without a replay cache."""
        return None if self._memo is None else crypto.seal(self._memo, output, context)

    def opened(self, sealed: bytes, context: bytes) -> bytes | None:
        """Decrypt an output; return ``None`` without a replay cache.

        Raises:
            KeyFileError: The bytes are altered, or the key or ``context`` differs.
        """
        return None if self._memo is None else crypto.unseal(self._memo, sealed, context)
