"""A reused connection gives each request its own reply, whatever the upstream sends and whenever it closes."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from faulty_upstreams import FaultyUpstream, Script, faulty_upstream, make_reply
from gateways import CHAT, asked, gateway, text_of
from textveil_cli.gateway import upstream as upstream_module
from textveil_cli.gateway.network_stream import GuardedStream

STALE = make_reply(b"another client")
REPLY = make_reply(b"0")
SECURE = pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])


def run(
    script: Script,
    check: Callable[[FaultyUpstream], Awaitable[None]],
    certificate: tuple[Path, Path] | None = None,
    *,
    reads_bodies: bool = True,
) -> None:
    async def checked() -> None:
        paths = None if certificate is None else (str(certificate[0]), str(certificate[1]))
        async with faulty_upstream(script, paths, reads_bodies=reads_bodies) as running:
            await asyncio.wait_for(check(running), 60)

    asyncio.run(checked())


async def echo(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number))


async def write_later(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Send bytes while the connection is idle, after its client has the reply."""
    await asyncio.sleep(0.02)
    writer.write(content)
    await asyncio.sleep(0.02)


async def two_in_one(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number) + STALE)


async def two_chunked(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number, is_chunked=True) + STALE)


async def two_in_two(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number))  # over TLS these are two records of one segment
    writer.write(STALE)


async def many(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number) + STALE * 20_000)


async def timeout_after(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number) + b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")


async def one_byte_more(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number) + b"\n")


async def body_too_long(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number) + b" and more")


async def half_closed(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number))
    if writer.can_write_eof():
        writer.write_eof()
    else:
        writer.close()


async def announced_close(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
    writer.write(make_reply(number).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))


FAULTS = [
    two_in_one, two_chunked, two_in_two, many, timeout_after, one_byte_more, body_too_long, half_closed,
    announced_close,
]  # fmt: skip


@SECURE
@pytest.mark.parametrize("script", FAULTS)
def test_a_connection_with_more_on_it_is_never_used_again(
    script: Script, secure: bool, certificate: tuple[Path, Path]
) -> None:
    async def check(running: FaultyUpstream) -> None:
        assert None not in await running.ask_in_turn(6)
        assert running.connections == 6
        assert running.received == [b"%d" % number for number in range(6)]

    run(script, check, certificate if secure else None)


@pytest.mark.parametrize("length", range(1, len(STALE) + 1))
def test_no_beginning_of_a_second_reply_is_used(length: int) -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(make_reply(number) + STALE[:length])

    async def check(running: FaultyUpstream) -> None:
        assert None not in await running.ask_in_turn(3)
        assert running.connections == 3

    run(script, check)


@SECURE
@pytest.mark.parametrize(
    "late",
    [STALE, b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", b"\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"],
)
def test_what_comes_while_idle_ends_the_connection(late: bytes, secure: bool, certificate: tuple[Path, Path]) -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(make_reply(number))
        asyncio.ensure_future(write_later(writer, late))  # noqa: RUF006

    async def check(running: FaultyUpstream) -> None:
        for number in range(3):
            assert await running.ask(number) == (200, b"reply to %d" % number)
            await asyncio.wait_for(running.ended.wait(), 20)
            running.ended.clear()
        assert running.connections == 3

    run(script, check, certificate if secure else None)


@SECURE
def test_well_behaved_connections_are_used_again(secure: bool, certificate: tuple[Path, Path]) -> None:
    async def check(running: FaultyUpstream) -> None:
        assert None not in await running.ask_in_turn(20)
        assert running.connections == 1

    run(echo, check, certificate if secure else None)


def test_a_connection_is_used_again_after_an_error() -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(make_reply(number, b"500 Internal Server Error" if place % 2 else b"429 Too Many Requests"))

    async def check(running: FaultyUpstream) -> None:
        statuses = [await running.ask(number) for number in range(4)]
        assert [answer[0] for answer in statuses] == [429, 500, 429, 500]
        assert [answer[1] for answer in statuses] == [b"reply to %d" % number for number in range(4)]
        assert running.connections == 1

    run(script, check)


@pytest.mark.parametrize("content", [REPLY, make_reply(b"0", is_chunked=True)], ids=["length", "chunks"])
def test_an_upstream_that_closes_at_any_byte(content: bytes) -> None:
    async def check(running: FaultyUpstream) -> None:
        for _ in range(len(content) + 1):
            answer = await running.ask(0)
            whole = running.connections == len(content) + 1
            assert answer == (200, b"reply to 0") if whole else "ended the connection" in answer
        assert len(running.received) == running.connections == len(content) + 1

    length = iter(range(len(content) + 1))

    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(content[: next(length)])
        writer.close()

    run(script, check)


def test_a_reply_in_single_bytes() -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        for byte in make_reply(number, is_chunked=True):
            writer.write(bytes([byte]))
            await asyncio.sleep(0)

    async def check(running: FaultyUpstream) -> None:
        assert None not in await running.ask_in_turn(3)
        assert running.connections == 1

    run(script, check)


BAD_HEADS = {
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"1\r\na\r\n0\r\n\r\n",
    "another encoding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\na",
    "no HTTP": b"220 mail.example ESMTP\r\n\r\n",
    "switched protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n",
    "a long head": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 100_000 + b"\r\n",
    "an endless line": b"HTTP/1.1 200 OK\r\nA: " + b"b" * 1_000_000,
    "HTTP/2": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00",
}


@pytest.mark.parametrize("content", BAD_HEADS.values(), ids=BAD_HEADS)
def test_a_reply_that_is_not_http_is_an_error_and_ends_the_connection(content: bytes) -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(content if number == b"0" else make_reply(number))

    async def check(running: FaultyUpstream) -> None:
        assert "ended the connection before the reply was complete, or violated HTTP" in await running.ask(0)
        assert await running.ask(1) == (200, b"reply to 1")
        assert running.connections == 2

    run(script, check)


def test_informational_replies_have_an_end() -> None:
    """A few before the reply are skipped; too many cause an error."""

    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        if number == b"1":
            while not writer.is_closing():
                writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" * 100)
                await writer.drain()
                await asyncio.sleep(0)
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + make_reply(number))

    async def check(running: FaultyUpstream) -> None:
        assert await running.ask(0) == (200, b"reply to 0")
        assert "ended the connection" in await running.ask(1)
        await asyncio.wait_for(running.ended.wait(), 20)
        assert await running.ask(2) == (200, b"reply to 2")

    run(script, check)


def test_a_reply_before_the_request_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such bytes arrive on a new connection, or between the choice of a connection and its use."""
    choose = upstream_module.UpstreamClient._open_connection

    async def choose_and_wait(client: upstream_module.UpstreamClient) -> object:
        connection = await choose(client)
        connection.network._buffer += STALE
        return connection

    async def check(running: FaultyUpstream) -> None:
        for number in range(2):
            assert await running.ask(number) == (200, b"reply to %d" % number)
        with monkeypatch.context() as patched:
            patched.setattr(upstream_module.UpstreamClient, "_open_connection", choose_and_wait)
            for number in range(2, 4):  # on the kept connection, then on a new one
                assert await running.ask(number) == "the upstream sent a reply before it received the request"
        assert running.received == [b"0", b"1"]
        assert await running.ask(4) == (200, b"reply to 4")

    run(echo, check)


def test_a_reply_to_the_head_of_a_long_request() -> None:
    """On a new connection the reply belongs to this request; on a reused one it may belong to another client."""

    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(make_reply(b"a head", b"413 Content Too Large"))
        await asyncio.sleep(5)

    async def check(running: FaultyUpstream) -> None:
        assert await running.ask(0, 1 << 26) == (413, b"reply to a head")
        assert await running.ask(1, 1 << 26) == (413, b"reply to a head")
        assert running.connections == 2
        connection = await running.client._open_connection()
        connection.network.make_idle()
        running.client._idle.append(connection)
        connection.idle_since = asyncio.get_running_loop().time()
        assert await running.ask(2, 1 << 26) == "the upstream sent a reply before it received the request"

    run(script, check, reads_bodies=False)


@pytest.mark.parametrize("begun", [b"", REPLY[:10], REPLY[:-3]], ids=["nothing", "head", "body"])
def test_the_connection_ends_at_once_when_nobody_waits(begun: bytes) -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(begun)
        waiting.set()

    async def check(running: FaultyUpstream) -> None:
        asked = asyncio.ensure_future(running.ask(0))
        await waiting.wait()
        await asyncio.sleep(0.01)
        asked.cancel()
        await asyncio.wait((asked,))
        assert asked.cancelled()
        await asyncio.wait_for(running.ended.wait(), 20)
        assert not running.client._idle

    waiting = asyncio.Event()
    run(script, check)


def test_nothing_of_a_request_is_logged_at_any_level(caplog: pytest.LogCaptureFixture) -> None:
    async def check(running: FaultyUpstream) -> None:
        assert None not in await running.ask_in_turn(3)

    caplog.set_level(logging.DEBUG)
    run(two_in_one, check)
    assert [record.name for record in caplog.records if record.name != "asyncio"] == []


def test_other_requests_have_turns_during_a_reply_in_single_bytes() -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n")

    async def check(running: FaultyUpstream) -> None:
        async def count() -> None:
            while True:
                turns.append(None)
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        assert await running.ask(0) == (200, b"x" * 20_000)
        counting.cancel()
        assert len(turns) > 100

    turns: list[None] = []
    run(script, check)


def test_many_requests_at_once_get_their_own_replies() -> None:
    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.001 * (int(number) % 7))
        content = make_reply(number, is_chunked=bool(int(number) % 2))
        writer.write(content + STALE if int(number) % 5 == 0 else content)

    async def check(running: FaultyUpstream) -> None:
        for start in range(0, 300, 60):
            numbers = range(start, start + 60)
            answers = await asyncio.gather(*map(running.ask, numbers))
            assert answers == [(200, b"reply to %d" % number) for number in numbers]

    run(script, check)


@pytest.mark.slow
def test_no_client_of_the_gateway_gets_the_reply_to_another(tmp_path: Path) -> None:
    """Two clients have different keys, and the upstream answers each request twice."""

    async def script(number: bytes, place: int, writer: asyncio.StreamWriter) -> None:
        said = json.loads(running[0].body)["messages"][-1]["content"]
        message = {"role": "assistant", "content": f"You wrote: {said}"}
        content = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        writer.write((b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content) * 2)

    def ask_in_turn(url: str) -> None:
        with gateway(tmp_path, url) as server:
            for number, name in enumerate(["Zqxwvina", "Mara", "Tobias"] * 4):
                key = {"Authorization": f"Bearer key-{number % 2}"}
                status, reply, _ = server.ask("POST", CHAT, asked(CHAT, f"I am {name}."), key)
                assert (status, text_of(CHAT, reply)) == (200, f"You wrote: I am {name}.")

    async def check(up: FaultyUpstream) -> None:
        running.append(up)
        await asyncio.to_thread(ask_in_turn, f"http://127.0.0.1:{up.port}")
        assert up.connections == len(up.received) == 12

    running: list[FaultyUpstream] = []
    run(script, check)


def test_without_the_guard_the_parser_gives_a_stale_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """httpcore2 returns a connection to its pool without checking buffered bytes, so the guard is needed."""

    async def check(running: FaultyUpstream) -> None:
        assert await running.ask(0) == (200, b"reply to 0")
        monkeypatch.setattr(GuardedStream, "has_unsent_request", False)
        assert await running.ask(1) == (200, b"reply to another client")

    monkeypatch.setattr(upstream_module._HTTPConnection, "has_unread_bytes", lambda connection: False)
    run(two_in_one, check)


def test_a_stale_reply_in_the_parser_is_seen_even_without_a_look_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(running: FaultyUpstream) -> None:
        assert await running.ask(0) == (200, b"reply to 0")
        assert await running.ask(1) == "the upstream sent a reply before it received the request"
        assert running.received == [b"0"]

    monkeypatch.setattr(upstream_module._HTTPConnection, "has_unread_bytes", lambda connection: False)
    run(two_in_one, check)


def test_where_the_parser_is_not_found_no_connection_is_used_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a later httpcore2 lacks the private attribute, requests are only slower."""

    async def check(running: FaultyUpstream) -> None:
        assert None not in await running.ask_in_turn(3)
        assert running.connections == 3

    def hide(connection: upstream_module._HTTPConnection) -> bool:
        parser = connection._h11_state
        del connection._h11_state
        try:
            return found(connection)
        finally:
            connection._h11_state = parser

    found = upstream_module._HTTPConnection.has_unread_bytes
    monkeypatch.setattr(upstream_module._HTTPConnection, "has_unread_bytes", hide)
    run(echo, check)
