"""What a request may take. Slow, large and many requests meet a limit and do no harm to others."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a service.

    Attributes:
        body_bytes: The longest body of a request.
        texts: The most texts in one request.
        seconds: For a body to arrive, again for the work, and again for an answer to be read.
        head_seconds: From the first byte of a request to the end of its head.
        idle_seconds: How long a connection stays open without a request.
        connections: Open connections; above it the answer is 503.
        threads: How many short requests are worked on at a time; the others wait. Long ones are worked on one at a time
            beside them, so no short request waits for a long one. Where a ledger is kept, those that wait for the disk
            share its flushes: there ``charged_threads``.
        short_characters: A request with more characters of text is a long one.
    """

    body_bytes: int = 1 << 20
    texts: int = 1_000
    seconds: float = 30
    head_seconds: float = 10
    idle_seconds: float = 10
    connections: int = 256
    threads: int = 2
    charged_threads: int = 64
    short_characters: int = 1 << 14
