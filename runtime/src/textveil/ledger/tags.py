"""What the keys of an open ledger make: tags of scopes and requests, and outputs that nobody else can read."""

import unicodedata
from typing import Any

from textveil.errors import OptionError
from textveil.ledger import crypto
from textveil.ledger.keys import tag


class Tags:
    """The keys of one ledger.

    Args:
        key: The device key.
        memo_key: What stored outputs are encrypted with; ``None`` where none are stored.
    """

    def __init__(self, key: bytes, memo_key: bytes | None) -> None:
        self._key, self._memo = key, memo_key

    @property
    def memo(self) -> bool:
        """Whether outputs are stored."""
        return self._memo is not None

    @property
    def checks(self) -> tuple[bytes, bytes | None]:
        """What tells the keys of a ledger from others, and does not tell the keys."""
        return tag(self._key, "check"), None if self._memo is None else tag(self._memo, "check")

    def scope(self, name: Any) -> bytes:
        """Returns the tag of a scope.

        Raises:
            OptionError: The name is not a string.
        """
        if not isinstance(name, str):
            raise OptionError("the name of a scope is a string")
        return tag(self._key, "scope", unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass"))

    def request(self, scope: bytes, request: bytes) -> bytes:
        """Returns the tag of a request in a scope: equal requests of two scopes have unlike tags."""
        return tag(self._key, "request", scope, request)

    def whole(self, scope: bytes, whole: bytes) -> bytes:
        """Returns the tag of one place of a whole call."""
        return tag(self._key, "whole", scope, whole)

    def sealed(self, output: bytes, context: bytes) -> bytes | None:
        """Returns an output, encrypted; ``None`` where none are stored."""
        return None if self._memo is None else crypto.seal(self._memo, output, context)

    def opened(self, sealed: bytes, context: bytes) -> bytes | None:
        """Returns an output that was encrypted; ``None`` where none are stored."""
        return None if self._memo is None else crypto.unseal(self._memo, sealed, context)
