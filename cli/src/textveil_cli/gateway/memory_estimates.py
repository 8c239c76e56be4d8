"""Refuse a body whose rewriting would take too much memory, by a scan of its bytes, before it is parsed."""

import re
from http import HTTPStatus

from textveil_cli.serve.access import Refusal

#: Bytes that parsing and rewriting take at most: for each byte of a body, for each mark at which a text or JSON is cut,
#: and for each different longer word: if it is a name, it is in the mapping from then on
#: (benchmarks/gateway/memory.py).
_OF_A_BYTE, _OF_A_MARK, _OF_A_WORD = 30, 130, 500
#: Between words; between values of JSON; of strings of JSON, and of what is escaped in them; of HTML.
_MARKS = (b" ", b",", b'"', b"\\", b"&")
#: Shorter words are of too few sorts to take memory each.
_LONGER_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]{3,}")
#: Bytes of which different words are counted together: no other thread runs meanwhile.
_BLOCK = 1 << 16
#: No byte counts more: each is of a mark, or there are three and something between words to each longer word.
_MOST_OF_A_BYTE = _OF_A_BYTE + max(_OF_A_MARK, _OF_A_WORD // 3)
#: Lists and objects of a body: to parse it is one step, during which no other thread has the interpreter.
_BRACKETS, _MOST_BRACKETS = (b"[", b"{"), 1 << 19


def estimate_memory(body: bytes) -> int:
    """Return about how many bytes it takes at most to parse and rewrite a body."""
    marks, blocks = sum(map(body.count, _MARKS)), range(0, len(body), _BLOCK)
    words = sum(len(set(_LONGER_WORD.findall(body, start, start + _BLOCK))) for start in blocks)
    return _OF_A_BYTE * len(body) + _OF_A_MARK * marks + _OF_A_WORD * words


def refuse_heavy(body: bytes, most: int) -> None:
    """Refuse a body that would take too much.

    Raises:
        Refusal: By its shape it may take more than ``most`` bytes, or stop all other requests for too long.
    """
    if sum(map(body.count, _BRACKETS)) > _MOST_BRACKETS:
        message = f"a body may have {_MOST_BRACKETS:,} lists and objects: send less at a time"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", message)
    if _MOST_OF_A_BYTE * len(body) > most and estimate_memory(body) > most:
        message = f"to rewrite a body of this shape may take more than {most:,} bytes of memory: send less at a time"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-much-memory", message)
