"""Refuse a body whose rewriting would take too much memory, by a scan of a few milliseconds, before it is parsed."""

from http import HTTPStatus

from textveil_cli.serve.access import Refusal

#: Bytes that rewriting takes for each byte of a body, and for each mark at which a text or JSON is cut, at most
#: (benchmarks/gateway/memory.py).
_OF_A_BYTE, _OF_A_MARK = 12, 120
#: Between words; between values of JSON; of strings of JSON, and of what is escaped in them.
_MARKS = (b" ", b",", b'"', b"\\")


def estimate_memory(body: bytes) -> int:
    """Return about how many bytes it takes at most to parse and rewrite a body."""
    return _OF_A_BYTE * len(body) + _OF_A_MARK * sum(map(body.count, _MARKS))


def refuse_heavy(body: bytes, most: int) -> None:
    """Refuse a body that would take too much.

    Raises:
        Refusal: By its shape it may take more than ``most`` bytes.
    """
    if estimate_memory(body) > most:
        message = f"to rewrite a body of this shape may take more than {most:,} bytes of memory: send less at a time"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-much-memory", message)
