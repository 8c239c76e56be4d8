"""Refuse a body whose rewriting would take too much memory, by a scan of a few milliseconds, before it is parsed."""

from http import HTTPStatus

from textveil_cli.serve.access import Refusal

#: Bytes that rewriting takes for each byte of a body, and for each mark at which a text or JSON is cut, at most
#: (benchmarks/gateway/memory.py).
_OF_A_BYTE, _OF_A_MARK = 12, 120
#: Between words; between values of JSON; of strings of JSON, and of what is escaped in them.
_MARKS = (b" ", b",", b'"', b"\\")
#: Lists and objects of a body: to parse it is one step, during which no other thread has the interpreter.
_BRACKETS, _MOST_BRACKETS = (b"[", b"{"), 1 << 19


def estimate_memory(body: bytes) -> int:
    """Return about how many bytes it takes at most to parse and rewrite a body."""
    return _OF_A_BYTE * len(body) + _OF_A_MARK * sum(map(body.count, _MARKS))


def refuse_heavy(body: bytes, most: int) -> None:
    """Refuse a body that would take too much.

    Raises:
        Refusal: By its shape it may take more than ``most`` bytes, or stop all other requests for too long.
    """
    if sum(map(body.count, _BRACKETS)) > _MOST_BRACKETS:
        message = f"a body may have {_MOST_BRACKETS:,} lists and objects: send less at a time"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", message)
    if estimate_memory(body) > most:
        message = f"to rewrite a body of this shape may take more than {most:,} bytes of memory: send less at a time"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-much-memory", message)
