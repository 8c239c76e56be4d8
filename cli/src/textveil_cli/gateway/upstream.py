"""The way to the upstream: one address, HTTP/1.1 with h11, checked certificates, and replies within limits.

No redirect is followed, and nothing is sent a second time. No proxy of the environment is asked.
"""

import asyncio
import ssl
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import h11
from textveil.errors import ServeError

from textveil_cli.serve.access import Refusal

Headers = list[tuple[bytes, bytes]]

#: An idle connection is used again so long: less than servers keep one.
_IDLE_SECONDS, _MOST_IDLE = 4.0, 64
_CONNECT_SECONDS, _CONNECT_TRIES = 10.0, 2
_PART, _MOST_HEAD = 1 << 16, 1 << 16
_PACKED = {b"gzip": 47, b"x-gzip": 47, b"deflate": 47}


def failed(message: str, status: HTTPStatus = HTTPStatus.BAD_GATEWAY) -> Refusal:
    """Returns what a client is told where the upstream fails: a line of ours, without anything that it said."""
    return Refusal(status, "upstream", f"the upstream {message}")


class _Connection:
    """A connection, with one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
        self.since = 0.0

    @property
    def is_open(self) -> bool:
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def send(self, method: str, target: str, headers: Headers, body: bytes) -> None:
        request = h11.Request(method=method, target=target, headers=headers)
        parts = [self._http.send(request), self._http.send(h11.Data(body)), self._http.send(h11.EndOfMessage())]
        with suppress(ConnectionError):  # it may have answered before it has read all
            self._writer.write(b"".join(part for part in parts if part))
            await self._writer.drain()

    async def event(self) -> h11.Event:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(_PART))
        except (OSError, h11.RemoteProtocolError):
            event = h11.PAUSED
        if isinstance(event, type | h11.ConnectionClosed):
            raise failed("broke off without a whole reply, or sent what is not HTTP")
        return event

    def again(self) -> bool:
        """Whether it can be used again, and is now ready for it."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE or not self.is_open:
            return False
        self._http.start_next_cycle()
        self.since = time.monotonic()
        return True

    def drop(self) -> None:
        """Ends it at once, also in the middle of a reply: so the upstream learns that nobody reads it."""
        self._writer.transport.abort()


class Reply:
    """A reply of the upstream, whose body is still to come.

    Attributes:
        status: Its status.
        headers: Its headers, in lower case.
    """

    def __init__(self, connection: _Connection, head: h11.Response, most: int) -> None:
        self.status, self.headers = head.status_code, list(head.headers)
        self._connection, self._most = connection, most

    def header(self, name: bytes) -> bytes:
        """Returns a header; nothing where there is none."""
        return next((value for key, value in self.headers if key == name), b"")

    async def parts(self) -> AsyncIterator[bytes]:
        """Yields the body, unpacked, within the limit.

        Raises:
            Refusal: It breaks off, is longer than the limit, or packed in a way that is not known.
        """
        packed, size = self.header(b"content-encoding").strip().lower(), 0
        if packed not in _PACKED and packed not in (b"", b"identity"):
            raise failed("sent a reply that is packed in a way that was not asked for")
        unpack = zlib.decompressobj(_PACKED[packed]) if packed in _PACKED else None
        while isinstance(event := await self._connection.event(), h11.Data):
            data = bytes(event.data)
            while data:
                part = data
                if unpack is not None:
                    try:
                        part, data = unpack.decompress(data, _PART), unpack.unconsumed_tail
                    except zlib.error:
                        raise failed("sent a reply that cannot be unpacked") from None
                else:
                    data = b""
                size += len(part)
                if size > self._most:
                    raise failed(f"sent more than {self._most:,} bytes")
                if part:
                    yield part
        if unpack is not None and not unpack.eof and size:
            raise failed("sent a reply that cannot be unpacked")

    async def body(self) -> bytes:
        """Returns the whole body."""
        return b"".join([part async for part in self.parts()])


class Upstream:
    """Where requests go, and connections to it.

    Args:
        host: A name, or an IP address.
        port: The port.
        path: What stands before ``/v1``.
        context: What checks certificates; ``None`` without TLS.
        most: The longest reply, in bytes.
    """

    def __init__(self, host: str, port: int, *, path: str, context: ssl.SSLContext | None, most: int) -> None:
        self._host, self._port, self._path, self._context, self._most = host, port, path, context, most
        shown = f"[{host}]" if ":" in host else host
        self._headers = [(b"host", f"{shown}:{port}".encode()), (b"accept-encoding", b"identity")]
        self._idle: list[_Connection] = []

    @classmethod
    def of(cls, url: str, most: int, authorities: Path | None = None) -> "Upstream":
        """Reads an address.

        Args:
            url: The address, with ``/v1`` at its end or without.
            most: The longest reply, in bytes.
            authorities: File of certificates, PEM, that are trusted instead of the system's.

        Raises:
            ServeError: It is none, or is not protected.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            raise ServeError("the upstream must be an address such as https://api.example.com, without a key in it")
        if parts.query or parts.fragment or not parts.path.isascii() or not host.isascii():
            raise ServeError("the upstream's address has no query, no fragment and ASCII alone")
        if parts.scheme == "http":
            if authorities is not None:
                raise ServeError("certificates are for an upstream with https")
            if not _is_here(host):
                raise ServeError("an upstream with http must be on this device, at localhost: others see all of it")
        try:
            context = None if parts.scheme == "http" else ssl.create_default_context(cafile=authorities)
        except (OSError, ssl.SSLError):
            raise ServeError("the file of the upstream's certificates cannot be used") from None
        path = parts.path.rstrip("/").removesuffix("/v1")
        default = 443 if parts.scheme == "https" else 80
        return cls(host, port or default, path=path, context=context, most=most)

    @asynccontextmanager
    async def ask(self, method: str, target: str, headers: Headers, body: bytes = b"") -> AsyncIterator[Reply]:
        """Sends a request; gives its ``Reply``. A connection whose reply is not read to its end is dropped.

        Raises:
            Refusal: The upstream cannot be reached, answers with a redirect, or not as HTTP says.
        """
        connection = await self._connected()
        try:
            length = [] if method == "GET" else [(b"content-length", b"%d" % len(body))]
            await connection.send(method, self._path + target, [*self._headers, *length, *headers], body)
            while isinstance(head := await connection.event(), h11.InformationalResponse):
                pass
            assert isinstance(head, h11.Response)
            if 300 <= head.status_code < 400:
                raise failed("answered with a redirect, which is not followed")
            yield Reply(connection, head, self._most)
        finally:
            if len(self._idle) < _MOST_IDLE and connection.again():
                self._idle.append(connection)
            else:
                connection.drop()

    async def _connected(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and time.monotonic() - connection.since < _IDLE_SECONDS:
                return connection
            connection.drop()
        for left in reversed(range(_CONNECT_TRIES)):  # nothing is sent yet
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    return _Connection(
                        *await asyncio.open_connection(self._host, self._port, ssl=self._context, limit=_PART)
                    )
            except ssl.SSLCertVerificationError:
                raise failed("has a certificate that is not trusted") from None
            except (OSError, TimeoutError):
                if not left:
                    raise failed("cannot be reached") from None
        raise AssertionError


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
