"""Limits on requests, so that slow, large or many requests do not block other clients."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """Limits of a service on requests and connections.

    Attributes:
        body_bytes: Maximum bytes of a request body.
        texts: Maximum number of texts in one request.
        seconds: Time limit for a body to arrive. The same limit applies to processing the request, and to the client
            reading the response.
        head_seconds: Time limit from the first byte of a request to the end of its headers.
        idle_seconds: Time after which a connection without a request is closed.
        connections: Maximum number of open connections; the service answers 503 on further ones.
        threads: Number of short requests that are processed at the same time; others wait. Long requests are processed
            one at a time in a separate thread, so that no short request waits for a long one.
        ledger_threads: Value of ``threads`` for a service with a privacy ledger. The value is larger, since requests
            that wait for the disk at the same time share one write.
        short_characters: Maximum number of characters of text in a short request.
    """

    body_bytes: int = 1 << 20
    texts: int = 1_000
    seconds: float = 30
    head_seconds: float = 10
    idle_seconds: float = 10
    connections: int = 256
    threads: int = 2
    ledger_threads: int = 64
    short_characters: int = 1 << 14
