"""Estimate the memory for replacing words in a request body, before parsing the body, and refuse too large ones."""

import re
from http import HTTPStatus

from textveil_cli.serve.access import Refusal

#: Upper bounds of the bytes of memory for parsing, rewriting and the mapping: per byte of a body, per separator of
#: texts or JSON, per number (each mention has its own surrogate), and per distinct longer word. They hold also
#: for a reply that mentions all surrogates. Measured by benchmarks/gateway/memory.py.
_BYTES_PER_BYTE, _BYTES_PER_SEPARATOR, _BYTES_PER_NUMBER, _BYTES_PER_WORD = 34, 130, 250, 700
#: Separators of words and of JSON values, quotation marks of JSON, escapes in JSON, and starts of HTML references.
_SEPARATORS = (b" ", b",", b'"', b"\\", b"&")
#: Words of fewer than three bytes are not counted, since few distinct ones exist.
_LONGER_WORD, _NUMBER = re.compile(rb"[0-9A-Za-z\x80-\xff]{3,}"), re.compile(rb"[0-9]+")
#: Number of bytes that are searched at once, since no other thread runs during the search.
_BLOCK_BYTES = 1 << 16
#: Upper bound of the memory per byte of a body. The worst bodies alternate separators and digits, or consist of
#: distinct words of three bytes.
_MAX_BYTES_PER_BYTE = _BYTES_PER_BYTE + max(_BYTES_PER_SEPARATOR + _BYTES_PER_NUMBER // 2, _BYTES_PER_WORD // 3)
#: Opening brackets of lists and objects, and their maximum number: no other thread runs while a body is parsed.
_BRACKETS, _MAX_BRACKETS = (b"[", b"{"), 1 << 19


def estimate_memory(body: bytes, max_bytes: int | None = None) -> int:
    """Return an upper bound on the memory, in bytes, for processing a request body and the reply to it.

    Args:
        body: The request body, not parsed.
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
