"""Server-sent events: read from bytes as they come, within limits, and written."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from textveil_cli.gateway.upstream import failed
from textveil_cli.serve.strict_json import parse_finite_json

#: A line ends in any of three ways; an event ends with an empty line. Of CR LF cut in two, LF is left for the next
#: event, where an empty line means nothing.
_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_LONGEST_END = 4
#: What OpenAI's streams end with.
DONE = "[DONE]"


class Event(NamedTuple):
    """An event.

    Attributes:
        name: Its name; nothing where it has none.
        data: What it has: an object of JSON, or ``DONE``; ``None`` where it is a comment alone, which keeps a
            connection open.
    """

    name: str
    data: Any

    def written(self) -> bytes:
        """Returns its bytes."""
        if self.data is None:
            return b":\n\n"
        data = self.data if self.data == DONE else json.dumps(self.data, ensure_ascii=False)
        return (f"event: {self.name}\n" if self.name else "").encode() + f"data: {data}\n\n".encode(
            "utf-8", "backslashreplace"
        )


class Events:
    """Reads events.

    Args:
        most: The longest event, in bytes.
    """

    def __init__(self, most: int) -> None:
        self._most, self._held, self._looked = most, bytearray(), 0

    def feed(self, part: bytes) -> Iterator[Event]:
        """Takes the next part of a stream; yields the events that end in it.

        Each byte is copied and searched a fixed number of times, however the stream is cut.

        Raises:
            Refusal: An event is too long, is not UTF-8 or not JSON.
        """
        self._held += part
        start, blocks = 0, list[bytes]()
        for end in _END.finditer(self._held, max(0, self._looked - _LONGEST_END)):
            blocks.append(bytes(self._held[start : end.start()]))
            start = end.end()
        del self._held[:start]
        self._looked = len(self._held)
        for block in blocks:
            yield from _read(block)
        if len(self._held) > self._most:
            raise failed(f"sent an event of more than {self._most:,} bytes")

    def measure_work(self, part: bytes) -> int:
        """Return how many bytes ``feed`` may have to parse with this part: none where no line ends in it."""
        return len(self._held) + len(part) if b"\n" in part or b"\r" in part else 0

    def close(self) -> None:
        """Takes the end of the stream.

        Raises:
            Refusal: It ends in the middle of an event.
        """
        if self._held.strip():
            raise failed("ended in the middle of an event")


def _read(block: bytes) -> Iterator[Event]:
    name, data = "", list[str]()
    try:
        lines = block.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    except UnicodeDecodeError:
        raise failed("sent an event that is not UTF-8") from None
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    content = "\n".join(data)
    if not content:
        if any(lines):
            yield Event("", None)
        return
    if content.strip() == DONE:
        yield Event(name, DONE)
        return
    try:
        found = parse_finite_json(content, constants=True)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise failed("sent an event that is not an object of JSON")
    yield Event(name, found)
