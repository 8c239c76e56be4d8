"""Byte stream of one connection to the upstream (language model server), which detects unrequested bytes.

An HTTP client that reuses a connection must be certain that the server has sent nothing since the last reply. The
library httpcore2 only checks the socket. It overlooks bytes that the event loop, a queue or the TLS layer has already
read. Here, every received byte immediately enters one buffer, which can be checked.
"""

import asyncio
import select
from typing import Any

from httpcore2 import AsyncNetworkStream, ReadError, RemoteProtocolError

#: Number of buffered bytes above which reading pauses. It is larger than one read of the event loop, so that few
#: replies cause a pause.
_MAX_BUFFERED_BYTES = 1 << 19
#: Maximum bytes of the head of a reply, including preceding informational replies.
MAX_HEAD_BYTES = 1 << 16


class EarlyReplyError(RemoteProtocolError):
    """Error for bytes of a reply that arrived before its request was sent."""


class GuardedStream(AsyncNetworkStream, asyncio.Protocol):
    """Network stream for httpcore2 that refuses a reply that arrives before its request is sent.

    The stream ignores timeouts of single reads; the caller must limit the total time of a request and its reply.
    """

    def __init__(self) -> None:
        self._buffer, self._request_parts = bytearray(), list[bytes]()
        self._waiter: asyncio.Future[None] | None = None
        self._error: Exception | None = None
        self._has_ended = self._is_blocked = self._is_idle = self._was_paused = self._is_early = False
        self._is_used = False
        self._head_bytes_left: int | None = MAX_HEAD_BYTES

    # callbacks of the event loop

    def connection_made(self, transport: Any) -> None:
        """Store the transport, and configure it to call ``resume_writing`` once a request is sent."""
        self._transport: asyncio.Transport = transport
        self._socket = transport.get_extra_info("socket")
        self._is_tls = transport.get_extra_info("ssl_object") is not None
        transport.set_write_buffer_limits(high=1, low=0)  # TLS never resumes with high=0

    def data_received(self, data: bytes) -> None:
        """Add received bytes to the buffer.

        If the connection is idle, close it, since the upstream must not send anything before the next request.
        """
        self._buffer += data
        if self._is_idle:
            self.abort()
        elif len(self._buffer) > _MAX_BUFFERED_BYTES:
            self._was_paused = True
            self._transport.pause_reading()
        self._wake_reader()

    def eof_received(self) -> None:
        """Record that the upstream sends no more bytes; asyncio then closes the transport."""
        self._has_ended = True
        self._wake_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the end of the connection, and the error that broke the connection, if there is one."""
        self._has_ended, self._error = True, exc
        self._wake_reader()

    def pause_writing(self) -> None:
        """Record that the transport still has unsent bytes of the request."""
        self._is_blocked = True

    def resume_writing(self) -> None:
        """Record that the transport has sent all bytes of the request."""
        self._is_blocked = False
        self._wake_reader()

    # methods for httpcore2

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Store a part of the request; the next call of ``read`` sends all parts."""
        self._request_parts.append(buffer)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Send the stored request, if any, and return the next bytes of the reply; no bytes at the end of the reply.

        Raises:
            EarlyReplyError: Bytes arrived before the request was sent.
            RemoteProtocolError: Status line and headers of the reply are too long.
            ReadError: The connection broke.
        """
        if self._request_parts:
            await self._send_request()
        if self._head_bytes_left is not None and self._head_bytes_left <= 0:
            raise RemoteProtocolError("the head of the reply is too long")
        while not self._buffer and not self._has_ended:
            await self._wait()
        data = bytes(self._buffer[:max_bytes])
        del self._buffer[:max_bytes]
        if not data and self._error is not None:
            raise ReadError
        if self._was_paused and len(self._buffer) <= _MAX_BUFFERED_BYTES:
            self._transport.resume_reading()
        if self._head_bytes_left is not None:
            self._head_bytes_left -= len(data)
        return data

    async def aclose(self) -> None:
        """Close the connection at once."""
        self.abort()

    # methods for the connection pool

    @property
    def has_unsent_request(self) -> bool:
        """Return whether a request was not sent, because bytes had arrived on the connection before it."""
        return bool(self._request_parts)

    def is_quiet(self) -> bool:
        """Return whether a request may be sent: the connection is open, and the upstream has sent no unread bytes."""
        if self._buffer or self._has_ended or self._is_blocked or self._transport.is_closing():
            return False
        # Before the first reply over TLS, the socket may hold session tickets, which are no reply.
        return (self._is_tls and not self._is_used) or not _is_readable(self._socket)

    def accept_body(self) -> None:
        """Remove the size limit for status line and headers; call this once the headers of the reply were read."""
        self._head_bytes_left = None

    def make_idle(self) -> bool:
        """Mark the connection as idle, and return whether another request may use it.

        A connection whose reading was paused may not be used again, since the TLS layer may still hold bytes.
        """
        is_open = not self._has_ended and not self._transport.is_closing()
        is_whole = not (self._is_blocked or self._is_early or self._was_paused or self._buffer)
        self._is_idle = is_open and is_whole
        self._is_used, self._head_bytes_left = True, MAX_HEAD_BYTES
        return self._is_idle

    def end_idle(self) -> bool:
        """Mark the connection as in use, and return whether it may send a request."""
        self._is_idle = False
        return self.is_quiet()

    def abort(self) -> None:
        """Close the connection at once, even in the middle of a reply, so that the upstream stops generating."""
        self._transport.abort()

    async def _send_request(self) -> None:
        if not self.is_quiet() and not self._has_ended:
            raise EarlyReplyError("the upstream replied before a request was sent")
        request = b"".join(self._request_parts)
        self._request_parts.clear()
        self._transport.write(request)  # all of it at once, or as much as the system accepts
        while self._is_blocked and not self._buffer and not self._has_ended:
            await self._wait()
        if self._is_blocked and self._buffer:
            self._is_early = (
                True  # a server may refuse a long request after its head; then the connection is not reused
            )
            if self._is_used:
                raise EarlyReplyError("the upstream replied before the whole request was sent")

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def _wake_reader(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _is_readable(connection: Any) -> bool:
    """Return whether a socket has unread bytes, or an unread end of the stream."""
    if connection.fileno() < 0:
        return True
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([connection], [], [], 0)[0])
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
