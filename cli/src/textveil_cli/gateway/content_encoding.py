"""Decompress bodies as they come, in parts of bounded size."""

import zlib
from collections.abc import Iterator

_PART = 1 << 16
#: Bits for zlib: gzip with its header; zlib's own header or gzip's.
_BITS = {b"gzip": 31, b"x-gzip": 31, b"deflate": 47}
#: Each member costs a copy of what follows it.
_MOST_MEMBERS = 4_096


def join_encodings(values: list[bytes]) -> bytes:
    """Return the encoding that all ``Content-Encoding`` headers of a reply name together."""
    return b",".join(value.strip().lower() for value in values)


def is_known_encoding(encoding: bytes) -> bool:
    """Return whether a body with this encoding can be read."""
    return encoding in _BITS or encoding in (b"", b"identity")


class Decompressor:
    """Decompress one body. A body in gzip may have several members, with zero bytes after each.

    Args:
        encoding: Encoding of the body, one for which ``is_known_encoding`` holds.
    """

    def __init__(self, encoding: bytes) -> None:
        self._bits, self._members = _BITS.get(encoding), 0
        self._most = _MOST_MEMBERS if self._bits == _BITS[b"gzip"] else 1
        self._member: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the next bytes become.

        Raises:
            zlib.error: They are not what the encoding demands.
        """
        if self._bits is None:
            yield data
            return
        while data:
            if self._member is None:
                data = data.lstrip(b"\0") if self._members else data
                if not data:
                    return
                if self._members == self._most:
                    raise zlib.error("bytes after the end")
                self._members += 1
                self._member = zlib.decompressobj(self._bits)
            part = b""
            while not self._member.eof and (data or len(part) == _PART):  # a full part: more of the output waits
                part = self._member.decompress(data, _PART)
                data = self._member.unconsumed_tail
                if part:
                    yield part
            if self._member.eof:
                data, self._member = self._member.unused_data, None

    def close(self) -> None:
        """Check that the body is whole.

        Raises:
            zlib.error: It ends in the middle of a member.
        """
        if self._member is not None:
            raise zlib.error("ends too early")
