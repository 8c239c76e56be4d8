"""Compressed replies are decoded as they arrive, also in several members, and within the limit."""

import asyncio
import gzip
import zlib

import pytest
from faulty_upstreams import faulty_upstream
from textveil_cli.gateway.content_encoding import Decompressor

TEXT = b"The reply, which is long. " * 10_000
GZIP, MEMBERS = (
    gzip.compress(TEXT),
    b"".join(gzip.compress(TEXT[place : place + 999]) for place in range(0, 9_990, 999)),
)


def read(encoding: bytes, content: bytes, length: int) -> bytes:
    unpack, found = Decompressor(encoding), list[bytes]()
    for place in range(0, len(content), length):
        found += unpack.feed(content[place : place + length])
    unpack.close()
    assert all(0 < len(part) <= 1 << 16 for part in found)
    return b"".join(found)


WHOLE = {
    "gzip": (b"gzip", GZIP, TEXT),
    "x-gzip": (b"x-gzip", GZIP, TEXT),
    "deflate": (b"deflate", zlib.compress(TEXT), TEXT),
    "members": (b"gzip", MEMBERS, TEXT[:9_990]),
    "empty members": (b"gzip", gzip.compress(b"") + MEMBERS + gzip.compress(b"") * 99, TEXT[:9_990]),
    "padding": (b"gzip", gzip.compress(b"a") + bytes(100) + gzip.compress(b"b") + bytes(100), b"ab"),
    "nothing": (b"gzip", b"", b""),
    "not packed": (b"", b"abc", b"abc"),
    "a match at the end": (b"gzip", gzip.compress(bytes((1 << 16) + 257)), bytes((1 << 16) + 257)),
}


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("length", [1, 2, 7, 64, 1_000, 1 << 20])
def test_a_packed_body_however_it_is_cut(case: str, length: int) -> None:
    encoding, content, expected = WHOLE[case]
    assert read(encoding, content, length) == expected


BROKEN = {
    "cut": (b"gzip", GZIP[:-1]),
    "cut in the second": (b"gzip", gzip.compress(b"a") + GZIP[:-9]),
    "only a mark": (b"gzip", GZIP[:1]),
    "a wrong sum": (b"gzip", GZIP[:-8] + bytes(8)),
    "more after it": (b"gzip", gzip.compress(b"a") + b"more"),
    "more after padding": (b"gzip", gzip.compress(b"a") + bytes(9) + b"more"),
    "padding before it": (b"gzip", bytes(9) + GZIP),
    "two of deflate": (b"deflate", zlib.compress(b"a") * 2),
    "endless members": (b"gzip", gzip.compress(b"") * 10_000),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("length", [1, 64, 1 << 20])
def test_a_broken_body_is_none(case: str, length: int) -> None:
    encoding, content = BROKEN[case]
    with pytest.raises(zlib.error):
        read(encoding, content, length)


BODIES = {
    "members": (b"gzip", MEMBERS, TEXT[:9_990]),
    "two encodings": (b"gzip, gzip", gzip.compress(GZIP), "an encoding that was not requested"),
    "two headers": (b"identity\r\nContent-Encoding: gzip", GZIP, "an encoding that was not requested"),
    "a bomb of members": (b"gzip", gzip.compress(bytes(1 << 19)) * 3, "sent more than 1,048,576 bytes"),
    "a bomb": (b"gzip", gzip.compress(bytes(1 << 24)), "sent more than 1,048,576 bytes"),
    "much that packs nothing": (b"gzip", gzip.compress(b"") + bytes(2 << 20), "sent more than 1,048,576 bytes"),
    "cut": (b"gzip", GZIP[:-1], "cannot be decompressed"),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_packed_reply_within_the_limit(case: str) -> None:
    encoding, content, expected = BODIES[case]

    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: " + encoding + b"\r\nContent-Length: %d\r\n\r\n" % len(content)
        writer.write(head + content)

    async def check() -> None:
        async with faulty_upstream(script) as running:
            for _ in range(3):
                answer = await running.ask(0)
                assert answer == (200, expected) if isinstance(expected, bytes) else expected in answer

    asyncio.run(check())
