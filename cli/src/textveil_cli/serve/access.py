"""Access rule of the service, which checks the host name, origin and token of a request.

The service answers a program that calls it by an allowed host name and sends the token, if one is set. It refuses
requests that a browser sends for a page of another site.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

#: The one path without a token: its response only reveals that the service runs.
HEALTH_PATH = "/health"
#: Headers that decide about access and parsing. If one occurs twice, a proxy and this service could read another one.
_UNIQUE_HEADERS = {
    b"host",
    b"origin",
    b"sec-fetch-site",
    b"authorization",
    b"content-type",
    b"content-length",
    b"transfer-encoding",
}


@dataclass(eq=False)
class Refusal(Exception):
    """Error response to a request that the service refuses.

    Attributes:
        status: HTTP status of the response.
        code: Name of the error, which does not change between versions.
        message: One line, without any content of the request.
    """

    status: HTTPStatus
    code: str
    message: str


@dataclass(frozen=True)
class AccessRule:
    """Rule that decides whether the service answers a request.

    Attributes:
        hosts: Allowed names in the ``Host`` header, in lower case. This check stops a page of another site that
            resolves its own domain to this device (DNS rebinding).
        token: Required value after ``Authorization: Bearer``; ``None`` for no token.
        header: Name of the header with the token. In a header other than ``Authorization``, the value has no
            ``Bearer``.
    """

    hosts: frozenset[str]
    token: str | None = field(default=None, repr=False)
    header: str = "authorization"

    def check_request(self, scope: Mapping[str, Any]) -> None:
        """Check the headers of a request.

        Raises:
            Refusal: The service must not answer the request.
        """
        headers = _select_headers(scope["headers"], self.header.encode())
        host = headers.get(b"host")
        if host is None or _strip_port(host) not in self.hosts:
            raise Refusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                "host",
                "the Host header names an unknown host: start the service with --name for this host",
            )
        if headers.get(b"origin") not in (None, f"{scope['scheme']}://{host}"):
            raise Refusal(HTTPStatus.FORBIDDEN, "origin", "requests from pages of other sites are refused")
        # Another port of this host is another origin, but the same site.
        if headers.get(b"sec-fetch-site") not in (None, "same-origin", "none"):
            raise Refusal(HTTPStatus.FORBIDDEN, "origin", "requests from pages of other sites are refused")
        if self.token is not None and scope["path"] != HEALTH_PATH:
            scheme, _, token = headers.get(self.header.encode(), "").rpartition(" ")
            expected_scheme = "bearer" if self.header == "authorization" else ""
            if scheme.strip().lower() != expected_scheme or not hmac.compare_digest(
                token.strip().encode(), self.token.encode()
            ):
                raise Refusal(HTTPStatus.UNAUTHORIZED, "token", "the token is missing or wrong")


def _select_headers(headers: Iterable[tuple[bytes, bytes]], token_header: bytes) -> dict[bytes, str]:
    """Return the values of the headers that the access rule checks, as a dictionary from header name to value.

    Raises:
        Refusal: One of these headers occurs twice.
    """
    selected: dict[bytes, str] = {}
    for name, value in headers:
        if name in selected:
            raise Refusal(HTTPStatus.BAD_REQUEST, "header", "the request has a duplicate header")
        if name in _UNIQUE_HEADERS or name == token_header:
            selected[name] = value.decode("latin-1")
    return selected


def _strip_port(host: str) -> str:
    """Return the host name in a ``Host`` header, in lower case and without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() and port.isascii() else host).lower()
