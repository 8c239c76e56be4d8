"""Lines of bytes in, documents out: each line is one."""

import codecs
import os
from collections.abc import Iterator
from typing import Unpack

from textveil.errors import InputError
from textveil.plan import Options
from textveil.sanitizer import Result, Sanitizer

#: Most bytes taken at a time; a terminal or a pipe hands over fewer, so lines are answered as they come.
_READ_BYTES = 1 << 20


def sanitize_lines(
    sanitizer: Sanitizer, descriptor: int, name: str, **options: Unpack[Options]
) -> Iterator[tuple[list[Result], bool, int]]:
    """Sanitises everything that can be read from a file descriptor, line by line.

    Args:
        sanitizer: The sanitizer.
        descriptor: An open file descriptor; read until its end, not closed.
        name: What errors call the input ("input 1").
        options: As in ``Sanitizer.sanitize``.

    Yields:
        Results of the lines that had arrived, whether the last of them ended with a line feed, and bytes consumed.

    Raises:
        InputError: As ``read_lines``.
    """
    for lines, ended, consumed in read_lines(descriptor, name):
        yield sanitizer.sanitize_batch(lines, **options), ended, consumed


def read_lines(descriptor: int, name: str) -> Iterator[tuple[list[str], bool, int]]:
    """Reads lines as they arrive.

    Lines end with a line feed; a carriage return before it is white space and passes through. A byte order mark at
    the start is dropped.

    Args:
        descriptor: An open file descriptor; read until its end, not closed.
        name: What errors call the input ("input 1").

    Yields:
        Lines that had arrived, whether the last of them ended with a line feed, and bytes consumed.

    Raises:
        InputError: Bytes that are not UTF-8, with their offset, after all lines before.
    """
    offset = 0  # of the first byte of `pending`
    pending: list[bytes] = []
    while True:
        try:
            chunk = os.read(descriptor, _READ_BYTES)
        except OSError as error:
            raise InputError(f"{name}: cannot be read") from error
        end = len(chunk) if not chunk else chunk.rfind(b"\n") + 1
        if chunk and not end:
            pending.append(chunk)
            continue
        pending.append(chunk[:end])
        block = b"".join(pending)
        if block:
            bad = None
            try:
                text = block.decode("utf-8")
            except UnicodeDecodeError as error:
                bad = error.start
                text = block[: block.rfind(b"\n", 0, bad) + 1].decode("utf-8")
            if offset == 0 and block.startswith(codecs.BOM_UTF8):
                text = text[1:]
            ended = text.endswith("\n")
            lines = text.removesuffix("\n").split("\n") if text else []
            if lines:
                yield lines, ended, offset + len(block)
            if bad is not None:
                raise InputError(f"{name}: not UTF-8 at byte {offset + bad}")
            offset += len(block)
        if not chunk:
            return
        pending = [chunk[end:]]
