"""asyncio transport that reads and discards the rest of a request before closing the connection.

If a socket with unread bytes is closed, the operating system resets the connection. A client that is still sending its
body may then see the reset instead of the response, such as the error for a wrong token.
"""

import asyncio
from collections.abc import Callable
from typing import Any


class DrainingTransport:
    """Wrapper around an asyncio transport whose ``close`` first ends only the writing direction.

    After ``close``, the client may still send the rest of its request. The protocol must pass these bytes to
    ``discard``, and must limit the time. The connection ends when the client closes it, at the limit of bytes, or at a
    second ``close``.

    Args:
        transport: The transport of the connection.
        is_request_incomplete: Function that returns whether a part of the request has not arrived.
        max_bytes: Maximum number of bytes to discard.

    Attributes:
        is_draining: Whether all bytes that arrive must be passed to ``discard``.
        closes_at_once: Whether ``close`` closes the connection immediately, because the service ends.
    """

    def __init__(self, transport: asyncio.Transport, is_request_incomplete: Callable[[], bool], max_bytes: int) -> None:
        self._transport, self._is_request_incomplete, self._bytes_left = transport, is_request_incomplete, max_bytes
        self.is_draining = self.closes_at_once = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Return whether the connection is closed or about to close."""
        return self.is_draining or self._transport.is_closing()

    def close(self) -> None:
        """Send the pending data, discard the rest of an incomplete request, and then close the connection."""
        if self.is_closing() or self.closes_at_once or not self._is_request_incomplete():
            self._transport.close()
            return
        self.is_draining = True
        if self._transport.can_write_eof():  # TLS has no such end: its client knows the length of the response
            self._transport.write_eof()
        self._transport.resume_reading()

    def discard(self, data: bytes) -> None:
        """Discard received bytes; close the connection if there are more than ``max_bytes`` in total."""
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            self._transport.abort()
