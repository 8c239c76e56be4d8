"""Who may ask: a program that names this host, holds the token if there is one, and is not a page of another site."""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

#: The one path that is answered without a token: it says nothing but that the service is there.
HEALTH = "/health"
#: Headers that decide who is answered and what is read. Of two, a proxy and this service could each take another one.
_ONCE = {
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
    """An answer that is an error.

    Attributes:
        status: Status of the answer.
        code: A stable name.
        message: One line, without anything of the request.
    """

    status: HTTPStatus
    code: str
    message: str


@dataclass(frozen=True)
class Access:
    """The rule by which requests are answered at all.

    Attributes:
        hosts: Names that the ``Host`` header may have, in lower case. A page that points a name of its own at this
            device is stopped by it.
        token: What ``Authorization: Bearer`` must hold; ``None`` for no token.
        header: The header that has it, where ``Authorization`` is for somebody else; then without ``Bearer``.
    """

    hosts: frozenset[str]
    token: str | None = field(default=None, repr=False)
    header: str = "authorization"

    def check(self, scope: Mapping[str, Any]) -> None:
        """Checks the head of a request.

        Raises:
            Refusal: It is not to be answered.
        """
        headers = _deciding(scope["headers"], self.header.encode())
        host = headers.get(b"host")
        if host is None or _name(host) not in self.hosts:
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, "host", "the Host header names another host")
        if headers.get(b"origin") not in (None, f"{scope['scheme']}://{host}"):
            raise Refusal(HTTPStatus.FORBIDDEN, "origin", "pages of other sites are not answered")
        # Another port of this host is another origin, and the same site.
        if headers.get(b"sec-fetch-site") not in (None, "same-origin", "none"):
            raise Refusal(HTTPStatus.FORBIDDEN, "origin", "pages of other sites are not answered")
        if self.token is not None and scope["path"] != HEALTH:
            scheme, _, token = headers.get(self.header.encode(), "").rpartition(" ")
            wanted = "bearer" if self.header == "authorization" else ""
            if scheme.strip().lower() != wanted or not hmac.compare_digest(token.strip().encode(), self.token.encode()):
                raise Refusal(HTTPStatus.UNAUTHORIZED, "token", "the token is missing or wrong")


def _deciding(headers: Iterable[tuple[bytes, bytes]], token: bytes) -> dict[bytes, str]:
    """The headers that decide, each of which may be there once."""
    found: dict[bytes, str] = {}
    for name, value in headers:
        if name in found:
            raise Refusal(HTTPStatus.BAD_REQUEST, "header", "a header is there twice")
        if name in _ONCE or name == token:
            found[name] = value.decode("latin-1")
    return found


def _name(host: str) -> str:
    """A ``Host`` header without its port, in lower case."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() and port.isascii() else host).lower()
