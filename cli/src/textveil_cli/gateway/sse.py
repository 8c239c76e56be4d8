"""Parser and writer of server-sent events, with limits on their size."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from textveil_cli.gateway.upstream import make_upstream_refusal
from textveil_cli.serve.strict_json import parse_finite_json

#: A line has one of three endings, and an empty line ends an event. If a part of the stream ends between CR and LF,
#: the LF remains for the next event, where an empty line has no effect.
_EVENT_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_MAX_END_BYTES = 4
#: Data of the last event of OpenAI's streams.
DONE = "[DONE]"
#: Types of the last events of other streams.
END_EVENTS = frozenset(("message_stop", "response.completed", "response.incomplete", "response.failed"))


class ServerSentEvent(NamedTuple):
    """A server-sent event, which carries a part of a streamed reply.

    Attributes:
        name: Name of the event; empty if it has none.
        data: A JSON object, or the string ``DONE``; ``None`` for a comment, which only keeps the connection open.
    """

    name: str
    data: Any

    @property
    def ends_reply(self) -> bool:
        """Return whether this event is the last one of a reply; clients of the API ignore all later events."""
        event_type = self.data.get("type") if isinstance(self.data, dict) else None
        return self.data == DONE or (isinstance(event_type, str) and event_type in END_EVENTS)

    def encode(self) -> bytes:
        """Return the event as bytes, in the format of a stream of server-sent events."""
        if self.data is None:
            return b":\n\n"
        data = self.data if self.data == DONE else json.dumps(self.data, ensure_ascii=False)
        return (f"event: {self.name}\n" if self.name else "").encode() + f"data: {data}\n\n".encode(
            "utf-8", "backslashreplace"
        )


class EventReader:
    """Incremental parser of a stream of server-sent events.

    Args:
        max_bytes: Maximum bytes of an event.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._buffer, self._searched_bytes = max_bytes, bytearray(), 0

    def feed(self, part: bytes) -> Iterator[ServerSentEvent]:
        """Parse the next part of a stream, and yield the events that this part completes.

        Each byte is copied and searched only a fixed number of times, even if the stream arrives in many small parts.

        Raises:
            Refusal: An event is too long, is not UTF-8, or is not a JSON object.
        """
        self._buffer += part
        start, blocks = 0, list[bytes]()
        for end in _EVENT_END.finditer(self._buffer, max(0, self._searched_bytes - _MAX_END_BYTES)):
            blocks.append(bytes(self._buffer[start : end.start()]))
            start = end.end()
        del self._buffer[:start]
        self._searched_bytes = len(self._buffer)
        for block in blocks:
            yield from _parse_event(block)
        if len(self._buffer) > self._max_bytes:
            raise make_upstream_refusal(f"sent an event of more than {self._max_bytes:,} bytes")

    def measure_work(self, part: bytes) -> int:
        """Return how many bytes a call of ``feed`` with this part would parse; 0 if the part completes no line."""
        return len(self._buffer) + len(part) if b"\n" in part or b"\r" in part else 0

    def close(self) -> None:
        """Raise an error if the stream ended within an event. Call this method at the end of the stream.

        Raises:
            Refusal: The stream ended within an event.
        """
        if self._buffer.strip():
            raise make_upstream_refusal("ended within an event")


def _parse_event(block: bytes) -> Iterator[ServerSentEvent]:
    name, data = "", list[str]()
    try:
        lines = block.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    except UnicodeDecodeError:
        raise make_upstream_refusal("sent an event that is not UTF-8") from None
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
            yield ServerSentEvent("", None)
        return
    if content.strip() == DONE:
        yield ServerSentEvent(name, DONE)
        return
    try:
        parsed = parse_finite_json(content, allow_constants=True)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise make_upstream_refusal("sent an event that is not a JSON object")
    yield ServerSentEvent(name, parsed)
