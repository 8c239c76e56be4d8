"""Slow, silent and many clients: each is disconnected after its time, and others are answered meanwhile."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from canaries import SECRET
from serving import Server, read_all, toy

pytest.importorskip("starlette", reason="needs the extra serve: make integrations")
pytest.importorskip("uvicorn", reason="needs the extra serve: make integrations")

HEAD = b"POST /sanitize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with toy(tmp_path_factory.mktemp("serve")) as running:
        yield running
        assert running.ask("GET", "/health")[0] == 200
        assert "Zorblax" not in running.said
        assert "Traceback" not in running.said


def trickle(server: Server, first: bytes, more: bytes, most: float = 15) -> bytes:
    """Send some bytes and then a few at a time, until the service closes; return its reply."""
    end = time.monotonic() + most
    with server.connect() as connection, suppress(ConnectionError):
        connection.sendall(first)
        connection.settimeout(0.2)
        while time.monotonic() < end:
            with suppress(TimeoutError):
                return connection.recv(1 << 16)
            connection.sendall(more)
        raise AssertionError("the service waits for ever")
    return b""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "more", "back"),
    [
        pytest.param(HEAD, b"X-A: Zorblaxia\r\n", b"", id="a head"),
        pytest.param(b"", b"", b"", id="nothing"),
        pytest.param(
            HEAD + b'Content-Length: 5000\r\n\r\n{"text": "Zorblaxia', b" Zorblaxia", b"HTTP/1.1 408", id="a body"
        ),
    ],
)
def test_what_does_not_end_is_let_go(server: Server, first: bytes, more: bytes, back: bytes) -> None:
    said = trickle(server, first, more)
    assert said[:12] == back
    assert b"orblaxia" not in said


@pytest.mark.slow
def test_a_second_head_that_does_not_end(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nHost: loc")
        assert read_all(connection).count(b"HTTP/1.1") == 1


@pytest.mark.slow
def test_an_idle_connection_is_closed(server: Server) -> None:
    assert server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_half_a_body_and_gone(server: Server) -> None:
    for _ in range(20):
        with server.connect() as connection:
            connection.sendall(HEAD + b'Content-Length: 5000\r\n\r\n{"text": "Zorblaxia')
    assert server.ask("POST", "/sanitize", {"text": "a"})[0] == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_huge_body(server: Server, chunked: bool) -> None:
    """The service neither stores nor waits for it: the client gets an error, or is disconnected."""
    part = b"Zorblaxia " * 6_000
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 3000000000"
    with server.connect() as connection:
        connection.sendall(HEAD + length + b"\r\n\r\n")
        try:
            for _ in range(2_000):
                connection.sendall(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
            raise AssertionError("the service takes whatever it is given")
        except ConnectionError:
            pass
    assert server.ask("POST", "/sanitize", {"text": "a"})[0] == 200


REFUSED_HEADS = {
    "another host": HEAD.replace(b"localhost", b"zorblaxia.example"),
    "no JSON": HEAD.replace(b"json", b"zorblaxia"),
    "no such path": HEAD.replace(b"/sanitize", b"/zorblaxia"),
    "a long body": HEAD.replace(b"\r\n", b"\r\nX-A: 1\r\n", 1),
}


def send_in_parts(server: Server, head: bytes) -> bytes:
    """Send a head, and a body of 200,000 bytes later in two parts; return the reply, or nothing after a reset."""
    with server.connect() as connection:
        connection.sendall(head + b"Content-Length: 200000\r\n\r\n")
        time.sleep(0.2)
        try:
            for _ in range(2):
                connection.sendall(b"Zorblaxia " * 10_000)
                time.sleep(0.05)
        except ConnectionError:
            return b""
        return read_all(connection)


@pytest.mark.parametrize("head", REFUSED_HEADS.values(), ids=REFUSED_HEADS)
def test_a_client_that_sends_on_gets_its_error(server: Server, head: bytes) -> None:
    """The service has answered before the body arrives, and a reset would hide its answer."""
    assert send_in_parts(server, head).startswith(b"HTTP/1.1 4")


def test_the_rest_of_a_request_is_discarded_within_its_time(server: Server) -> None:
    said = trickle(server, REFUSED_HEADS["another host"] + b"Content-Length: 5000\r\n\r\n", b"Zorblaxia")
    assert said.startswith(b"HTTP/1.1 421")
    with server.connect() as connection:
        connection.sendall(REFUSED_HEADS["another host"] + b"Content-Length: 5000\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 421")  # the service sends no more
        with pytest.raises(ConnectionError):
            send_slowly(connection)


def send_slowly(connection: socket.socket) -> None:
    """Send a byte now and then, for much longer than the limit of a second."""
    for _ in range(100):
        connection.sendall(b"Z")
        time.sleep(0.2)


@pytest.mark.parametrize(
    "sent",
    [
        b"Zorblaxia\r\n\r\n",
        b"\x16\x03\x01\x02\x00Zorblaxia\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"Zorblaxia" * 100_000 + b"\r\n\r\n",
        HEAD + b"Content-Length: -5\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nZorblaxia\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nZorblaxia\r\n",
    ],
)
def test_malformed_requests(server: Server, sent: bytes) -> None:
    back = server.raw(sent)
    assert back == b"" or back.startswith(b"HTTP/1.1 4")
    assert b"orblaxia" not in back


@pytest.mark.slow
@pytest.mark.parametrize("requests", [1, 2])
def test_an_answer_that_nobody_reads_is_given_up(server: Server, requests: int) -> None:
    """Otherwise its connection and memory would be held for ever, also while the next request waits for its turn."""
    size = 30_000_000
    body = b'{"text": "big %d"}' % size
    for patience in (2.5, 10, 40):  # a busy machine answers late
        with server.connect() as connection:
            connection.sendall((HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)) * requests)
            time.sleep(patience)
            if len(read_all(connection)) < size:
                break
    else:
        pytest.fail("the answer is held for ever")
    assert server.ask("POST", "/sanitize", {"text": "a"})[0] == 200


def test_a_connection_that_is_to_close_ends_in_time() -> None:
    """What is left of an answer may be too small for the transport to say that it waits."""
    from textveil_cli.serve.server import _LimitedProtocol

    protocol: Any = object.__new__(_LimitedProtocol)
    waits = []
    protocol.transport, protocol.loop, protocol.cycle, protocol.timeout_keep_alive_task = Mock(), Mock(), None, Mock()
    protocol.transport.is_closing.return_value = True
    protocol.loop.call_later.side_effect = lambda seconds, call: waits.append((seconds, call))
    protocol._update_timer()
    assert waits == [(_LimitedProtocol.limits.seconds, protocol.transport.abort)]


def test_a_hundred_connections_at_once(server: Server) -> None:
    with ThreadPoolExecutor(100) as clients:
        answers = list(clients.map(lambda n: server.ask("POST", "/sanitize", {"text": f"a {n}"}), range(100)))
    assert [(status, said["text"]) for status, said, _ in answers] == [(200, f"A {n}") for n in range(100)]


@pytest.mark.slow
def test_no_short_request_waits_for_long_ones(tmp_path: Path) -> None:
    """Also where they are more than threads, and where what they asked for goes on after they were let go."""
    long = {"text": "sleep 8 " + "x" * 20_000}
    with toy(tmp_path) as server, ThreadPoolExecutor(4) as clients:
        given_up = clients.map(lambda body: server.ask("POST", "/sanitize", body)[0], [long] * 4)
        assert list(given_up) == [503] * 4
        assert server.ask("POST", "/sanitize", {"text": "a"})[0] == 200


@pytest.mark.slow
def test_more_silent_connections_than_there_is_room_for(server: Server) -> None:
    silent = [server.connect() for _ in range(160)]
    try:
        end = time.monotonic() + 15
        while server_is_full(server):
            assert time.monotonic() < end, "silent clients keep others out"
            time.sleep(0.2)
    finally:
        for connection in silent:
            connection.close()


def server_is_full(server: Server) -> bool:
    back = server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    return not back.startswith(b"HTTP/1.1 200")


@pytest.mark.slow
def test_a_planted_fault_is_seen(tmp_path: Path) -> None:
    """Uvicorn alone waits forever for the end of a head."""
    before = "textveil_cli.serve.server._LimitedProtocol._update_timer = lambda self: None"
    with toy(tmp_path, before=before) as faulty, pytest.raises(AssertionError, match="for ever"):
        trickle(faulty, HEAD, b"X-A: b\r\n", most=3)


@pytest.mark.slow
def test_a_reset_is_seen(tmp_path: Path) -> None:
    """With uvicorn's own transport the answer is lost."""
    before = "textveil_cli.serve.server._LimitedProtocol._is_request_incomplete = lambda self: False"
    with toy(tmp_path, before=before) as faulty:
        assert send_in_parts(faulty, REFUSED_HEADS["another host"]) == b""


@pytest.mark.slow
def test_what_is_being_answered_is_finished_before_the_end(tmp_path: Path) -> None:
    with toy(tmp_path, limits="seconds=10") as server, ThreadPoolExecutor(1) as client:
        asked = client.submit(server.ask, "POST", "/sanitize", {"text": "sleep 1"})
        time.sleep(0.5)
        assert server.stop() == 0
        status, said, _ = asked.result()
        assert (status, said["text"]) == (200, "SLEEP 1")
        with pytest.raises(ConnectionError):
            server.connect()


@pytest.mark.slow
def test_what_takes_too_long_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    with toy(tmp_path) as server, server.connect() as slow:
        slow.sendall(HEAD + b'Content-Length: 5000\r\n\r\n{"text": "' + SECRET.encode())
        time.sleep(0.3)
        assert server.stop() == 0
        assert "Zorblax" not in server.said
