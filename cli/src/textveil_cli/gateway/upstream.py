"""HTTP client for the upstream, which is the server of the language model.

The client connects to one address by HTTP/1.1 with httpcore2, verifies certificates, and limits the size of replies. It
follows no redirect, never repeats a request, and ignores proxy settings of the environment.
"""

import asyncio
import logging
import ssl
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from httpcore2 import URL, AsyncHTTP11Connection, NetworkError, Origin, ProtocolError, Request, Response

from textveil_cli.errors import ServeError
from textveil_cli.gateway.content_encoding import Decompressor, is_known_encoding, join_encodings
from textveil_cli.gateway.network_stream import MAX_HEAD_BYTES, EarlyReplyError, GuardedStream
from textveil_cli.serve.access import Refusal

Headers = list[tuple[bytes, bytes]]

#: Time for which an idle connection is reused, shorter than on usual servers; maximum number of idle connections.
_IDLE_SECONDS, _MAX_IDLE = 4.0, 64
_CONNECT_SECONDS, _CONNECT_TRIES = 10.0, 2
#: Number of parts after which other requests may run, since a reply may consist of chunks of one byte.
_PARTS_PER_TURN = 200
# Its debug messages would contain headers, with the key of the client.
logging.getLogger("httpcore2").setLevel(logging.WARNING)
_EARLY_REPLY = "sent a reply before it received the request"
_BROKEN_REPLY = "ended the connection before the reply was complete, or violated HTTP"


def make_upstream_refusal(message: str, status: HTTPStatus = HTTPStatus.BAD_GATEWAY) -> Refusal:
    """Return a ``Refusal`` whose message states that the upstream failed.

    Args:
        message: Action of the upstream, such as ``sent an event that is not UTF-8``. It must not contain any content
            that the upstream sent.
        status: HTTP status of the response to the client.
    """
    return Refusal(status, "upstream", f"the upstream {message}")


def make_dry_run_refusal() -> Refusal:
    """Create the answer to every request in a dry run: the gateway sends none of them to the upstream."""
    message = "nothing was sent: in a dry run the gateway only prints the rewritten request"
    return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "dry-run", message)


class _HTTPConnection(AsyncHTTP11Connection):
    """HTTP/1.1 connection that carries one request at a time."""

    MAX_INCOMPLETE_EVENT_SIZE = MAX_HEAD_BYTES

    def __init__(self, origin: Origin, stream: GuardedStream) -> None:
        super().__init__(origin, stream)
        self.network, self.idle_since = stream, 0.0

    def has_unread_bytes(self) -> bool:
        """Return whether the HTTP parser has unread bytes, which it would parse as the next reply.

        httpcore2 does not check this, and has no public attribute for it. If its parser cannot be found, the result is
        true, so that no connection is used twice.
        """
        trailing = getattr(getattr(self, "_h11_state", None), "trailing_data", (b"unknown", True))
        return trailing != (b"", False)


@dataclass(frozen=True, kw_only=True)
class ReplyLimits:
    """Limits on the size and time of a reply of the upstream (language model server).

    Attributes:
        bytes: Maximum bytes of a reply, after decompression.
        seconds: Maximum time from the request to the end of the reply.
        event_bytes: Maximum bytes of one event of a stream.
    """

    bytes: int = 1 << 26
    seconds: float = 600
    event_bytes: int = 1 << 23


class UpstreamReply:
    """Reply of the upstream (language model server), whose body is read on demand.

    Attributes:
        status: HTTP status.
        headers: Headers, with names in lower case.
    """

    def __init__(self, response: Response, max_bytes: int) -> None:
        self.status, self.headers = response.status, [(name.lower(), value) for name, value in response.headers]
        self._response, self._max_bytes = response, max_bytes

    def get_header(self, name: bytes) -> bytes:
        """Return the value of a header; empty if the reply does not have it."""
        return next(iter(self._list_values(name)), b"")

    async def iterate_parts(self) -> AsyncIterator[bytes]:
        """Yield the decompressed body in parts.

        Raises:
            Refusal: The body is incomplete, is longer than the limit, or has an unknown encoding.
        """
        encoding = join_encodings(self._list_values(b"content-encoding"))
        if not is_known_encoding(encoding):
            raise make_upstream_refusal("sent a reply with an encoding that was not requested")
        decompressor, received_bytes, size, turns = Decompressor(encoding), 0, 0, 0
        try:
            async with aclosing(self._response.aiter_stream()) as body:  # pyright: ignore
                async for data in body:
                    received_bytes += len(data)
                    for part in chain((b"",), decompressor.feed(data)):
                        size, turns = size + len(part), turns + 1
                        if max(size, received_bytes) > self._max_bytes:
                            raise make_upstream_refusal(f"sent more than {self._max_bytes:,} bytes")
                        if turns % _PARTS_PER_TURN == 0:  # reading buffered data does not yield to other tasks
                            await asyncio.sleep(0)
                        if part:
                            yield part
            decompressor.close()
        except zlib.error:
            raise make_upstream_refusal("sent a reply that cannot be decompressed") from None
        except (NetworkError, ProtocolError):
            raise make_upstream_refusal(_BROKEN_REPLY) from None

    async def read_body(self) -> bytes:
        """Read the body of the reply to its end, and return it decompressed."""
        return b"".join([part async for part in self.iterate_parts()])

    async def release_connection(self) -> None:
        """Make the connection available for the next request, or close it if the reply was not read completely."""
        await self._response.aclose()

    def _list_values(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key == name]


class UpstreamClient:
    """HTTP client for the upstream (language model server), with a pool of open connections.

    Args:
        host: A host name or an IP address.
        port: The port.
        path: Path of the API before ``/v1``.
        context: TLS context that verifies certificates; ``None`` without TLS.
        max_bytes: Maximum bytes of a reply.
    """

    def __init__(self, host: str, port: int, *, path: str, context: ssl.SSLContext | None, max_bytes: int) -> None:
        self._host, self._port, self._path, self._context, self._max_bytes = host, port, path, context, max_bytes
        host_text = f"[{host}]" if ":" in host else host
        self._headers = [(b"host", f"{host_text}:{port}".encode()), (b"accept-encoding", b"identity")]
        self._origin = Origin(b"http" if context is None else b"https", host.encode(), port)
        self._idle: list[_HTTPConnection] = []

    @classmethod
    def from_url(cls, url: str, max_bytes: int, authorities: Path | None = None) -> "UpstreamClient":
        """Make the client for the upstream (language model server) at a URL.

        Args:
            url: The URL, with or without ``/v1`` at its end.
            max_bytes: Maximum bytes of a reply.
            authorities: PEM file with trusted certificates; ``None`` for those of the operating system.

        Raises:
            ServeError: The URL is invalid, or the connection would not be encrypted.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            raise ServeError(
                "the upstream must be an address such as https://api.example.com, without an API key in it"
            )
        if parts.query or parts.fragment or not parts.path.isascii() or not host.isascii():
            raise ServeError("the upstream's address must be ASCII, without a query and a fragment")
        if parts.scheme == "http":
            if authorities is not None:
                raise ServeError("--upstream-certificates needs an upstream with https")
            if not _is_loopback(host):
                raise ServeError("an upstream with http must be on this device, at localhost: http is not encrypted")
        try:
            context = None if parts.scheme == "http" else ssl.create_default_context(cafile=authorities)
        except (OSError, ssl.SSLError):
            raise ServeError("--upstream-certificates: the file has no usable certificates in PEM format") from None
        path = parts.path.rstrip("/").removesuffix("/v1")
        default = 443 if parts.scheme == "https" else 80
        return cls(host, port or default, path=path, context=context, max_bytes=max_bytes)

    @asynccontextmanager
    async def send_request(
        self, method: str, target: str, headers: Headers, body: bytes = b""
    ) -> AsyncIterator[UpstreamReply]:
        """Send a request, and yield the ``UpstreamReply`` inside the ``async with`` block.

        A connection whose reply is not read completely is closed.

        Raises:
            Refusal: The upstream cannot be reached, answers with a redirect, or violates HTTP.
        """
        length = [] if method == "GET" else [(b"content-length", b"%d" % len(body))]
        scheme, host, port = self._origin.scheme, self._origin.host, self._origin.port
        url = URL(scheme=scheme, host=host, port=port, target=(self._path + target).encode("ascii"))
        request = Request(method, url, headers=[*self._headers, *length, *headers], content=body)
        connection, reply = await self._open_connection(), None
        try:
            reply = UpstreamReply(await _send_request(connection, request), self._max_bytes)
            yield reply
        finally:
            try:
                if reply is not None:
                    await reply.release_connection()
            finally:
                self._release_connection(connection)

    def _release_connection(self, connection: _HTTPConnection) -> None:
        """Keep a connection open for the next request, or close it.

        The connection is closed if its reply is incomplete, if unread bytes remain, or if enough connections are idle.
        """
        is_clean = connection.is_idle() and not connection.has_unread_bytes() and connection.network.make_idle()
        if is_clean and len(self._idle) < _MAX_IDLE:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.network.abort()

    async def _open_connection(self) -> _HTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            if time.monotonic() - connection.idle_since < _IDLE_SECONDS and connection.network.end_idle():
                return connection
            connection.network.abort()
        for left in reversed(range(_CONNECT_TRIES)):  # nothing is sent yet
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    loop = asyncio.get_running_loop()
                    _, stream = await loop.create_connection(GuardedStream, self._host, self._port, ssl=self._context)
                    return _HTTPConnection(self._origin, stream)
            except ssl.SSLCertVerificationError:
                raise make_upstream_refusal(
                    "has a certificate that is not trusted: trust it with --upstream-certificates"
                ) from None
            except (OSError, TimeoutError):
                if not left:
                    raise make_upstream_refusal("cannot be reached") from None
        raise AssertionError


async def _send_request(connection: _HTTPConnection, request: Request) -> Response:
    """Send a request to the language model server, and return the reply before its body is read.

    Raises:
        Refusal: No reply arrived; or the reply arrived before the request was sent, is a redirect, or declares two
            lengths.
    """
    try:
        response = await connection.handle_async_request(request)
    except EarlyReplyError:
        raise make_upstream_refusal(_EARLY_REPLY) from None
    except (NetworkError, ProtocolError):
        raise make_upstream_refusal(_BROKEN_REPLY) from None
    if connection.network.has_unsent_request:
        raise make_upstream_refusal(_EARLY_REPLY)
    connection.network.accept_body()
    if 300 <= response.status < 400:
        raise make_upstream_refusal(
            "answered with a redirect, which is not followed: start the gateway with the new URL"
        )
    names = {name.lower() for name, _ in response.headers}
    if response.status < 200 or {b"content-length", b"transfer-encoding"} <= names:
        raise make_upstream_refusal(_BROKEN_REPLY)
    return response


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
