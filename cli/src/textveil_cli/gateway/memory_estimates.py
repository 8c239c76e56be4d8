"""Limit on the memory for rewriting a body, estimated from its bytes before the body is parsed."""

import re
from http import HTTPStatus

from textveil_cli.serve.access import Refusal

#: Upper bounds of the bytes for parsing and rewriting, and for the mapping of the reply: per byte of a body, per
#: separator of texts or JSON, per number, which has a surrogate at each mention, and per distinct longer word, whose
#: surrogate has an entry for each of its forms in the mapping if it is a name (benchmarks/gateway/memory.py).
_BYTES_PER_BYTE, _BYTES_PER_SEPARATOR, _BYTES_PER_NUMBER, _BYTES_PER_WORD = 34, 130, 250, 2_200
#: Separators of words and of JSON values, quotation marks of JSON, escapes in JSON, and starts of HTML references.
_SEPARATORS = (b" ", b",", b'"', b"\\", b"&")
#: Shorter words have too few distinct values to need memory each.
_LONGER_WORD, _NUMBER = re.compile(rb"[0-9A-Za-z\x80-\xff]{3,}"), re.compile(rb"[0-9]+")
#: Number of bytes whose words are read at once: no other thread runs during this time.
_BLOCK_BYTES = 1 << 16
#: Upper bound per byte: each byte is a separator or a number between two, or a longer word has at least three bytes and
#: a separator.
_MAX_BYTES_PER_BYTE = _BYTES_PER_BYTE + max(_BYTES_PER_SEPARATOR + _BYTES_PER_NUMBER // 2, _BYTES_PER_WORD // 3)
#: Lists and objects of a body. Parsing is one step, during which no other thread has the interpreter.
_BRACKETS, _MAX_BRACKETS = (b"[", b"{"), 1 << 19


def estimate_memory(body: bytes, max_bytes: int | None = None) -> int:
    """Return an upper bound on the bytes of memory that a body and its reply need.

    Args:
        body: The body.
        max_bytes: Stop as soon as the estimate is larger than this number; ``None`` for no limit.
    """
    estimate = _BYTES_PER_BYTE * len(body) + _BYTES_PER_SEPARATOR * sum(map(body.count, _SEPARATORS))
    words: set[bytes] = set()
    for start in range(0, len(body), _BLOCK_BYTES):
        words.update(_LONGER_WORD.findall(body, start, start + _BLOCK_BYTES))
        estimate += _BYTES_PER_NUMBER * len(_NUMBER.findall(body, start, start + _BLOCK_BYTES))
        if max_bytes is not None and estimate + _BYTES_PER_WORD * len(words) > max_bytes:
            break
    return estimate + _BYTES_PER_WORD * len(words)


def refuse_heavy_body(body: bytes, max_bytes: int) -> None:
    """Raise an error for a body that would need too much memory or time.

    Raises:
        Refusal: The body may need more than ``max_bytes`` bytes, or may block all other requests for too long.
    """
    if sum(map(body.count, _BRACKETS)) > _MAX_BRACKETS:
        message = f"a body may have at most {_MAX_BRACKETS:,} lists and objects: send less in one request"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", message)
    if _MAX_BYTES_PER_BYTE * len(body) > max_bytes and estimate_memory(body, max_bytes) > max_bytes:
        message = (
            f"rewriting a body of this shape may need more than {max_bytes:,} bytes of memory: send less in one request"
        )
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-much-memory", message)
