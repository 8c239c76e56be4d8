"""Events are parsed equally for any division of their bytes, in time linear in their length."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from textveil_cli.gateway import sse as events_module
from textveil_cli.gateway.sse import DONE, EventReader, ServerSentEvent
from textveil_cli.serve.access import Refusal


def read_cut(content: bytes, length: int) -> list[ServerSentEvent]:
    reader, found = EventReader(1 << 24), list[ServerSentEvent]()
    for place in range(0, len(content), length):
        found += reader.feed(content[place : place + length])
    reader.close()
    return found


class Counting:
    """A pattern that counts the bytes that it reads."""

    def __init__(self, pattern: "re.Pattern[bytes]") -> None:
        self.pattern, self.bytes = pattern, 0

    def finditer(self, content: bytearray, start: int) -> "Iterator[re.Match[bytes]]":
        self.bytes += len(content) - start
        return self.pattern.finditer(content, start)


@pytest.mark.full
def test_a_long_event_in_single_bytes_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(events_module._EVENT_END)
    monkeypatch.setattr(events_module, "_EVENT_END", counting)
    content = b'data: {"a": "' + b"x" * (1 << 20) + b'"}\n\n'
    reader, found = EventReader(1 << 24), list[ServerSentEvent]()
    held = reader._buffer
    for place in range(len(content)):
        part = content[place : place + 1]
        assert reader.measure_work(part) == (place + 1 if part == b"\n" else 0)
        found += reader.feed(part)
        assert reader._buffer is held  # it grows in place, and is not copied
    assert found == [ServerSentEvent("", {"a": "x" * (1 << 20)})]
    assert counting.bytes < 6 * len(content)
    assert not held


LINES = {"LF": b"\n", "CR LF": b"\r\n", "CR": b"\r"}
STREAM = (
    'event: a\ndata: {"a":\ndata: 1}\n\n: a comment\n\nretry: 9\n\nid: 4\ndata: {"b": "ä\\n"}\n\n\n\ndata\n\n'
    "data: [DONE]\n\n"
)
EXPECTED = [
    ServerSentEvent("a", {"a": 1}), ServerSentEvent("", None), ServerSentEvent("", None),
    ServerSentEvent("", {"b": "ä\n"}),
    ServerSentEvent("", None), ServerSentEvent("", DONE),
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
def test_events_with_any_line_ends_cut_anywhere(line: str, mark: bytes) -> None:
    content = mark + STREAM.encode().replace(b"\n", LINES[line])
    for length in range(1, len(content) + 1):
        assert read_cut(content, length) == EXPECTED, length
    for place in range(1, len(content)):
        reader = EventReader(1 << 20)
        assert [*reader.feed(content[:place]), *reader.feed(content[place:])] == EXPECTED, place


@pytest.mark.parametrize("end", [a + b for a in LINES.values() for b in LINES.values() if a + b != b"\r\n"])
def test_line_ends_may_differ_in_one_event(end: bytes) -> None:
    content = b'data: {"a": 1}' + end + b'data: {"b": 2}' + end
    for length in range(1, len(content) + 1):
        assert read_cut(content, length) == [ServerSentEvent("", {"a": 1}), ServerSentEvent("", {"b": 2})]


def test_an_event_may_have_its_length_and_no_more() -> None:
    reader = EventReader(20)
    assert list(reader.feed(b"data: {}\n")) == []
    with pytest.raises(Refusal, match="more than 20 bytes"):
        list(reader.feed(b"x" * 20))


@pytest.mark.parametrize("data", ["[]", "1", '{"a": 1e999}', "[" * 900 + "]" * 900, '{"a": ' * 900 + "1" + "}" * 900])
def test_data_that_is_no_object_is_named(data: str) -> None:
    with pytest.raises(Refusal, match="not a JSON object"):
        read_cut(f"data: {data}\n\n".encode(), 7)


def test_numbers_that_only_some_servers_write_stay() -> None:
    found: Any = read_cut(b'data: {"logprob": -Infinity}\n\n', 5)
    assert found[0].encode() == b'data: {"logprob": -Infinity}\n\n'
    assert json.loads(found[0].encode()[6:]) == {"logprob": float("-inf")}
