"""Who may ask: a program that names this host, holds the token if there is one, and is no page of another site."""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

#: The one path that is answered without a token: it says nothing but that the service is there.
HEALTH = "/health"


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
    """

    hosts: frozenset[str]
    token: str | None = field(default=None, repr=False)

    def check(self, scope: Mapping[str, Any]) -> None:
        """Checks the head of a request.

        Raises:
            Refusal: It is not to be answered.
        """
        headers = scope["headers"]
        host = _only(headers, b"host")
        if host is None or _name(host) not in self.hosts:
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, "host", "the Host header names another host")
        origin = _only(headers, b"origin")
        if _has(headers, b"origin") and origin != f"{scope['scheme']}://{host}":
            raise Refusal(HTTPStatus.FORBIDDEN, "origin", "pages of other sites are not answered")
        if _has(headers, b"sec-fetch-site") and _only(headers, b"sec-fetch-site") not in ("same-origin", "none"):
            raise Refusal(HTTPStatus.FORBIDDEN, "origin", "pages of other sites are not answered")
        if self.token is not None and scope["path"] != HEALTH:
            given = _only(headers, b"authorization") or ""
            scheme, _, token = given.partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self.token.encode()):
                raise Refusal(HTTPStatus.UNAUTHORIZED, "token", "the token is missing or wrong")


def _has(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bool:
    return any(key == name for key, _ in headers)


def _only(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str | None:
    """The value of a header; ``None`` where it is missing or there twice."""
    found = [value for key, value in headers if key == name]
    return found[0].decode("latin-1") if len(found) == 1 else None


def _name(host: str) -> str:
    """A ``Host`` header without its port, in lower case."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() and port.isascii() else host).lower()
