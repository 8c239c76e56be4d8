"""Decompress bodies of replies in parts of bounded size."""

import zlib
from collections.abc import Iterator

_PART_BYTES = 1 << 16
#: Window bits for zlib: gzip with its header; either a zlib or a gzip header.
_WINDOW_BITS = {b"gzip": 31, b"x-gzip": 31, b"deflate": 47}
#: Limit of gzip members: each costs a copy of the data after it.
_MAX_MEMBERS = 4_096


def join_encodings(values: list[bytes]) -> bytes:
    """Join the values of all ``Content-Encoding`` headers of a reply into one value."""
    return b",".join(value.strip().lower() for value in values)


def is_known_encoding(encoding: bytes) -> bool:
    """Return whether ``Decompressor`` supports an encoding."""
    return encoding in _WINDOW_BITS or encoding in (b"", b"identity")


class Decompressor:
    """Incremental decompressor of the body of one reply.

    A body in gzip may consist of several members, each followed by padding (bytes of value 0).

    Args:
        encoding: Encoding of the body; ``is_known_encoding`` must be true for it.
    """

    def __init__(self, encoding: bytes) -> None:
        self._bits, self._members = _WINDOW_BITS.get(encoding), 0
        self._max_members = _MAX_MEMBERS if self._bits == _WINDOW_BITS[b"gzip"] else 1
        self._member: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed parts of the next bytes.

        Raises:
            zlib.error: The bytes violate the encoding.
        """
        if self._bits is None:
            yield data
            return
        while data:
            if self._member is None:
                data = data.lstrip(b"\0") if self._members else data
                if not data:
                    return
                if self._members == self._max_members:
                    raise zlib.error("bytes after the end")
                self._members += 1
                self._member = zlib.decompressobj(self._bits)
            part = b""
            while not self._member.eof and (data or len(part) == _PART_BYTES):  # a full part: more output waits
                part = self._member.decompress(data, _PART_BYTES)
                data = self._member.unconsumed_tail
                if part:
                    yield part
            if self._member.eof:
                data, self._member = self._member.unused_data, None

    def close(self) -> None:
        """Check that the compressed body has ended.

        Raises:
            zlib.error: The body ends within a gzip member.
        """
        if self._member is not None:
            raise zlib.error("ends too early")
