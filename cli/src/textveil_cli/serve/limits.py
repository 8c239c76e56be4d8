"""Limits of a request: slow, large and many requests do not harm others."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """The limits of a service.

    Attributes:
        body_bytes: Maximum bytes of a body.
        texts: Maximum number of texts in one request.
        seconds: Time limit for a body to arrive, again for the work, and again for the client to read the response.
        head_seconds: Time limit from the first byte of a request to the end of its head.
        idle_seconds: Time that a connection stays open without a request.
        connections: Maximum number of open connections; above it the service answers 503.
        threads: Number of short requests processed at a time; others wait. Long requests are processed one at a time
            beside them, so no short request waits for a long one.
        ledger_threads: As ``threads``, for a service with a ledger. Requests that wait for the disk at the same time
            share one write.
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
