"""Memory limit for rewriting a body, checked by a scan of its bytes before it is parsed."""

import re
from http import HTTPStatus

from textveil_cli.serve.access import Refusal

#: Upper bounds of the bytes for parsing and rewriting: per byte of a body, per separator of texts or JSON, and per
#: distinct longer word, which is in the mapping afterwards if it is a name (benchmarks/gateway/memory.py).
_BYTES_PER_BYTE, _BYTES_PER_SEPARATOR, _BYTES_PER_WORD = 30, 130, 500
#: Separators of words and of JSON values, quotation marks of JSON, escapes in JSON, and starts of HTML references.
_SEPARATORS = (b" ", b",", b'"', b"\\", b"&")
#: Shorter words have too few distinct values to need memory each.
_LONGER_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]{3,}")
#: Number of bytes whose distinct words are counted at once: no other thread runs during this time.
_BLOCK_BYTES = 1 << 16
#: Upper bound per byte: each byte is a separator, or a longer word has at least three bytes and a separator.
_MAX_BYTES_PER_BYTE = _BYTES_PER_BYTE + max(_BYTES_PER_SEPARATOR, _BYTES_PER_WORD // 3)
#: Lists and objects of a body. Parsing is one step, during which no other thread has the interpreter.
_BRACKETS, _MAX_BRACKETS = (b"[", b"{"), 1 << 19


def estimate_memory(body: bytes) -> int:
    """Return an upper estimate of the bytes of memory for parsing and rewriting a body."""
    separators, blocks = sum(map(body.count, _SEPARATORS)), range(0, len(body), _BLOCK_BYTES)
    words = sum(len(set(_LONGER_WORD.findall(body, start, start + _BLOCK_BYTES))) for start in blocks)
    return _BYTES_PER_BYTE * len(body) + _BYTES_PER_SEPARATOR * separators + _BYTES_PER_WORD * words


def refuse_heavy_body(body: bytes, max_bytes: int) -> None:
    """Raise an error for a body that would need too much memory.

    Raises:
        Refusal: A body of its shape may need more than ``max_bytes`` bytes, or block all other requests for too long.
    """
    if sum(map(body.count, _BRACKETS)) > _MAX_BRACKETS:
        message = f"a body may have at most {_MAX_BRACKETS:,} lists and objects: send less in one request"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", message)
    if _MAX_BYTES_PER_BYTE * len(body) > max_bytes and estimate_memory(body) > max_bytes:
        message = (
            f"rewriting a body of this shape may need more than {max_bytes:,} bytes of memory: send less in one request"
        )
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-much-memory", message)
