"""Replies written by authors who did not know the restorer come back through a gateway with its default options."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, RESPONSES, asked, gateway, stream, streamed_text, text_of
from serving import Server
from tagged_replies import make_tagged_reply
from textveil import Sanitizer
from upstreams import Upstream
from written_replies import FILE

PATHS = CHAT, RESPONSES, ANTHROPIC


@pytest.fixture(scope="module")
def tagging(up: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a gateway without options."""
    with gateway(tmp_path_factory.mktemp("tagging"), up.url) as running:
        yield running
        assert running.stop() == 0


@pytest.fixture
def answering(up: Upstream) -> Iterator[Upstream]:
    cut = up.cut
    yield up
    up.cut, up.reply = cut, lambda text: text


@pytest.mark.parametrize("path", PATHS)
def test_invented_tags_are_counted_whole_and_streamed(tagging: Server, answering: Upstream, path: str) -> None:
    answering.cut, answering.reply = list, lambda text: f"{text} Ask [person 98] or [person 99], [person 98]."
    body: Any = asked(path, "Anna Novak called.", "hostile")
    counts = "skipped=0 unknown_tags=2"
    status, reply, headers = tagging.ask("POST", path, body)
    assert (status, text_of(path, reply)) == (200, "Anna Novak called. Ask [person 98] or [person 99], [person 98].")
    assert headers["x-textveil-counts"].endswith(counts)
    assert f"{counts}\n" in stream(tagging, path, body)


@pytest.mark.slow
@pytest.mark.skipif(not FILE.exists(), reason="no replies here")
@pytest.mark.parametrize("path", PATHS)
def test_replies_with_tags_come_back_whole_and_streamed(
    tagging: Server, answering: Upstream, sanitizer: Sanitizer, path: str
) -> None:
    lines = [json.loads(line) for line in FILE.read_text().splitlines()][PATHS.index(path) :: 12]
    restored = 0
    for number, line in enumerate(lines):
        tagged = make_tagged_reply(sanitizer, line)
        wanted = tagged.conversation.incoming(tagged.reply, record=False).reply
        restored += wanted != tagged.reply
        size = number % 5 + 1

        def cut(text: str, size: int = size) -> list[str]:
            return [text[place : place + size] for place in range(0, len(text), size)]

        def answer(last: str, reply: str = tagged.reply) -> str:
            return reply

        answering.cut, answering.reply = cut, answer
        body: Any = asked(path, tagged.message, "hostile")
        status, reply, _ = tagging.ask("POST", path, body)
        assert (status, text_of(path, reply)) == (200, wanted)
        assert streamed_text(path, stream(tagging, path, body)) == wanted
    assert restored > len(lines) // 2
