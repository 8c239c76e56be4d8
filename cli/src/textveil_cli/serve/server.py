"""HTTP server of the local service: uvicorn with access protection, time limits and a clean shutdown."""

import asyncio
import errno
import logging
import os
import secrets
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import Any, ClassVar, cast

from textveil.storage import open_atomic_text

from textveil_cli.errors import ExtraMissing, ServeError
from textveil_cli.serve.access import AccessRule
from textveil_cli.serve.app import answer_busy
from textveil_cli.serve.draining_transport import DrainingTransport
from textveil_cli.serve.limits import RequestLimits

try:
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise ExtraMissing.from_extra("serve", "starlette and uvicorn") from error

_TOKEN_CHARACTERS = 32
_BACKLOG = 512
#: Maximum seconds from the last response to the end of the process.
_END_SECONDS = 5
#: The rest of a refused request is discarded up to this multiple of the limit of a body, so that its client reads the
#: response.
_MAX_DISCARDED_FACTOR = 16


@dataclass(frozen=True, kw_only=True)
class ServiceAddress:
    """Address of a service, with its token and TLS files.

    Attributes:
        host: An IP address, or ``localhost``.
        port: A port; 0 for any free one.
        names: Host names by which clients call the service; required if the address is not the loopback address.
        token_file: File of the token, readable by its owner alone; created if it does not exist.
        certificate: File of a TLS certificate chain, PEM.
        key: File of the certificate's private key, PEM, without a passphrase.
    """

    host: str = "127.0.0.1"
    port: int = 0
    names: tuple[str, ...] = ()
    token_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def make_access_rule(self) -> AccessRule:
        """Return the rule that decides which requests to this address are answered.

        Raises:
            ServeError: The address is not the loopback address, and a token, TLS or a name is missing; or the token
                cannot be used.
        """
        address = self.ip
        if (self.certificate is None) != (self.key is None):
            raise ServeError("--tls-certificate and --tls-key must be used together")
        if not address.is_loopback:
            if self.token_file is None or self.certificate is None:
                raise ServeError(
                    "other devices can reach this --host: use --token-file, --tls-certificate and --tls-key"
                )
            if address.is_unspecified and not self.names:
                raise ServeError("--name is missing: the host name that clients use for this address")
        loopback_names = {"localhost", "127.0.0.1", "[::1]"} if address.is_loopback else set[str]()
        address_names = {f"[{address}]" if address.version == 6 else str(address)}
        hosts = frozenset(name.lower() for name in loopback_names | address_names | set(self.names))
        return AccessRule(hosts, None if self.token_file is None else _load_token(self.token_file))

    @property
    def ip(self) -> IPv4Address | IPv6Address:
        """Return ``host`` as an IP address.

        Raises:
            ServeError: ``host`` is neither an IP address nor ``localhost``.
        """
        try:
            return ip_address("127.0.0.1" if self.host == "localhost" else self.host)
        except ValueError:
            raise ServeError("--host must be an IP address or localhost") from None

    def open_socket(self) -> socket.socket:
        """Return a socket that listens on this address.

        Raises:
            ServeError: The port is in use, the user may not use it, or this device does not have the address.
        """
        family = socket.AF_INET6 if self.ip.version == 6 else socket.AF_INET
        # asyncio disables Nagle's delay only for sockets with an explicit protocol; else small responses wait up to 40
        # ms.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((str(self.ip), self.port))
            bound.listen(_BACKLOG)
        except (OSError, OverflowError) as error:
            bound.close()
            if isinstance(error, OverflowError):
                raise ServeError("--port must be from 0 to 65535") from None
            if error.errno == errno.EADDRINUSE:
                hint = "stop the program that uses it, or choose another --port (0 selects a free one)"
                raise ServeError(f"port {self.port} is in use: {hint}") from None
            if error.errno == errno.EACCES:
                raise ServeError(
                    f"port {self.port} requires administrator rights: choose a --port above 1023"
                ) from None
            raise ServeError(
                "--host is not an address of this device: use 127.0.0.1, or an address that it has"
            ) from None
        return bound

    def make_tls_context(self) -> ssl.SSLContext | None:
        """Return the TLS context; ``None`` without a certificate.

        Raises:
            ServeError: The certificate or its key cannot be used.
        """
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password=lambda: b"")  # else it prompts on the terminal
        except (OSError, ssl.SSLError):
            raise ServeError(
                "the TLS certificate or its key cannot be used: check --tls-certificate and --tls-key"
            ) from None
        return context


class _LimitedProtocol(H11Protocol):
    """HTTP/1.1 protocol of uvicorn with time limits for clients.

    uvicorn itself waits without limit for the end of the headers, and for a client that does not read its response.
    This class also makes sure that a response reaches a client that is still sending its request.
    """

    limits: ClassVar[RequestLimits] = RequestLimits()
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        max_bytes = _MAX_DISCARDED_FACTOR * self.limits.body_bytes
        self._draining = DrainingTransport(transport, self._is_request_incomplete, max_bytes)
        super().connection_made(cast(asyncio.Transport, self._draining))
        if len(self.connections) > self.limits.connections:  # uvicorn's own response has no Retry-After
            self.app = answer_busy
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        if self._draining.is_draining:
            self._draining.discard(data)  # within the time that the timer limits already
            return
        super().data_received(data)
        self._update_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)  # it resumes writing
        self._cancel_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._update_timer()

    def shutdown(self) -> None:
        self._draining.closes_at_once = True
        super().shutdown()

    def _is_request_incomplete(self) -> bool:
        """Return whether the client may still be sending: a body has not ended, or the request is not HTTP."""
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    def _update_timer(self) -> None:
        """Start or stop the timer that aborts the connection.

        The timer runs while the headers of a request arrive, and after the connection began to close.
        """
        is_working = self.cycle is not None and not self.cycle.response_complete
        is_idle = self.timeout_keep_alive_task is not None
        if self.transport.is_closing():
            self._cancel_timer()
            self._head_timer = self.loop.call_later(self.limits.seconds, self.transport.abort)
        elif is_working or is_idle:
            self._cancel_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.limits.head_seconds, self.transport.abort)

    def _cancel_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class _QuietServer(uvicorn.Server):
    """uvicorn server that shuts down cleanly after a signal, and does not raise the signal again.

    The server waits for open requests at most until their time limit and a few seconds more; then the process exits. A
    second signal ends this wait. Every file is then either completely written or unchanged.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit, self.should_exit = self.should_exit, True
        wait = 0 if self.force_exit else self.config.timeout_graceful_shutdown or 0
        timer = Timer(wait + _END_SECONDS, os._exit, (0,))
        timer.daemon = True
        timer.start()


class _ReportHandler(logging.Handler):
    """Log handler that reports log messages of libraries without content of requests.

    Messages of uvicorn itself contain nothing of a request and are reported in full. Of other messages, only logger,
    module and line are reported.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        is_own_message = record.name == "uvicorn.error" and record.exc_info is None
        self._report(record.getMessage() if is_own_message else f"{record.name}: {record.module} line {record.lineno}")


def serve(
    make_application: Callable[[AccessRule], Any],
    address: ServiceAddress,
    limits: RequestLimits,
    report: Callable[[str], None],
    own_path: str = "",
) -> None:
    """Run the service until the process receives a signal to stop, and then complete the open responses.

    Args:
        make_application: Function that returns the ASGI application, given the access rule.
        address: The address to listen on.
        limits: Limits on requests.
        report: Receives the address of the service, and errors; its lines have no content of requests.
        own_path: Path of a page of the service that is reported with the address; empty for none.

    Raises:
        ServeError: The service cannot listen on the address, or the address needs protection that is missing.
    """
    access, context = address.make_access_rule(), address.make_tls_context()
    config = uvicorn.Config(
        make_application(access),
        http=type("Protocol", (_LimitedProtocol,), {"limits": limits}),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=int(limits.idle_seconds),
        timeout_graceful_shutdown=int(limits.seconds) + 1,
    )
    config.load()
    config.ssl = context
    bound = address.open_socket()
    logging.getLogger().addHandler(_ReportHandler(report))
    host, port = bound.getsockname()[:2]
    host_text = f"[{host}]" if ":" in host else host
    url = f"{'http' if context is None else 'https'}://{host_text}:{port}"
    report(f"serving on {url}; Ctrl-C ends")
    if own_path:
        report(f"a private page for your browser: {url}{own_path}")
    _QuietServer(config).run(sockets=[bound])


def _load_token(path: Path) -> str:
    """Return the token in a file; if the file does not exist, create it with a new token.

    Raises:
        ServeError: The file cannot be read, other users can read it, or it contains no token.
    """
    try:
        if not path.exists():
            with open_atomic_text(path, private=True) as write:
                write(secrets.token_urlsafe(32) + "\n")
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ServeError("other users can read the token file: run chmod 600 on it")
        token = path.read_text("ascii").strip()
    except (OSError, ValueError):
        raise ServeError("the token file cannot be read: check its path and permissions") from None
    if len(token) < _TOKEN_CHARACTERS or not token.isprintable() or " " in token:
        raise ServeError(f"the token file must hold one token of at least {_TOKEN_CHARACTERS} characters")
    return token
