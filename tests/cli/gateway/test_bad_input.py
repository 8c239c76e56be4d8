"""Bad requests and bad upstreams cause one-line errors, lose nothing and leak no user text."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, KEY, RESPONSES, asked, gateway, stream, streamed_text, text_of
from serving import Server, read_all
from upstreams import Upstream

SECRET = "Zqxwvina"
TEXT = f"I am {SECRET}."
JSON = {"Content-Type": "application/json"}
USER = {"role": "user", "content": TEXT}
IMAGE = {"type": "image_url", "image_url": {"url": f"data:{SECRET}"}}


@pytest.fixture(scope="module")
def small(up: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a gateway with small limits."""
    limits = ("--max-body-bytes", 100_000, "--max-reply-bytes", 500_000, "--timeout-seconds", 3)
    with gateway(tmp_path_factory.mktemp("small"), up.url, *limits) as running:
        yield running
        assert SECRET not in running.said
        assert "Traceback" not in running.said
        assert "internal" not in running.said
        assert all(line.startswith("textveil: ") for line in running.said.splitlines())


def head_of(length: int) -> bytes:
    """Return the head of a request with a body of `length` bytes."""
    kind = "Content-Type: application/json"
    return f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: {length}\r\n\r\n".encode()


def chat(**more: Any) -> dict[str, Any]:
    return asked(CHAT, TEXT, **more)


def saying(*messages: Any) -> dict[str, Any]:
    return {"model": "echo", "messages": list(messages)}


HALF = b'{"model": "echo", "user": "\\ud800", "messages": [{"role": "user", "content": "a \\ud800 b"}]}'
BAD: dict[str, tuple[str, Any, dict[str, str], int, str]] = {
    "not JSON": (CHAT, b'{"model": Zqxwvina}', JSON, 400, "json"),
    "a key twice": (CHAT, b'{"model": "a", "messages": [], "messages": [{"Zqxwvina": 1}]}', JSON, 400, "json"),
    "a key twice inside": (CHAT, b'{"messages": [{"role": "user", "role": "Zqxwvina"}]}', JSON, 400, "json"),
    "no UTF-8": (CHAT, '{"model": "Zqxwvinä"}'.encode("latin-1"), JSON, 400, "json"),
    "nothing": (CHAT, b"", JSON, 400, "json"),
    "deep": (CHAT, b"[" * 50_000, JSON, 400, "json"),
    "a form": (CHAT, b"a=Zqxwvina", {"Content-Type": "text/plain"}, 415, "content-type"),
    "a list": (CHAT, [USER], {}, 422, "input"),
    "too large": (CHAT, saying({"role": "user", "content": SECRET * 20_000}), {}, 413, "too-large"),
    "an unknown field": (CHAT, chat(zqxwvina=SECRET), {}, 422, "input"),
    "an unknown field of a message": (CHAT, saying({**USER, "zqxwvina": SECRET}), {}, 422, "input"),
    "an unknown role": (CHAT, saying({"role": SECRET, "content": TEXT}), {}, 422, "input"),
    "an unknown type": (CHAT, saying({"role": "user", "content": [{"type": SECRET}]}), {}, 422, "input"),
    "messages of another type": (CHAT, {"model": "a", "messages": {"a": SECRET}}, {}, 422, "input"),
    "a message of another type": (CHAT, saying(SECRET), {}, 422, "input"),
    "a model that is a text": (CHAT, {**chat(), "model": TEXT}, {}, 422, "input"),
    "a setting that is a text": (CHAT, chat(tool_choice={"type": TEXT}), {}, 422, "input"),
    "a user that is a number": (CHAT, chat(user=4711), {}, 422, "input"),
    "an image": (CHAT, saying({"role": "user", "content": [IMAGE]}), {}, 422, "input"),
    "an image of Anthropic": (ANTHROPIC, saying({"role": "user", "content": [{"type": "image"}]}), {}, 422, "input"),
    "a file": (RESPONSES, {"model": "a", "input": [{"role": "user", "content": [{"type": "input_file"}]}]}, {}, 422,
               "input"),
    "audio": (CHAT, chat(audio={"voice": SECRET}), {}, 422, "input"),
    "in the background": (RESPONSES, {"model": "a", "input": TEXT, "background": True}, {}, 422, "input"),
    "a stored prompt": (RESPONSES, {"model": "a", "input": TEXT, "prompt": {"id": SECRET}}, {}, 422, "input"),
    "tokens": ("/v1/embeddings", {"model": "a", "input": [1, 2]}, {}, 422, "input"),
    "keys that are texts": (CHAT, saying({"role": "tool", "tool_call_id": "a", "content": '{"my Zqxwvina": 1}'}), {},
                            200, ""),
    "a tier that is a name": (CHAT, chat(service_tier="Zqxwvina"), {}, 422, "input"),
    "an effort that is a name": (CHAT, chat(reasoning_effort="Zqxwvina"), {}, 422, "input"),
    "a key twice in a result": (CHAT, saying({"role": "tool", "tool_call_id": "a", "content": '{"a": 1, "a": 2}'}), {},
                                422, "input"),
    "half of a pair": (CHAT, HALF, JSON, 200, ""),
    "a path": ("/v1/files", chat(), {}, 404, "path"),
    "a query": (CHAT + "?for=Zqxwvina", chat(), {}, 400, "query"),
    "two keys": (CHAT, chat(), {"X-Api-Key": "a", "x-api-key": "b"}, 400, "header"),
    "a long name": (CHAT, chat(), {"X-Textveil-Conversation": "Z" * 1001}, 400, "header"),
    "another host": (CHAT, chat(), {"Host": "zqxwvina.example"}, 421, "host"),
    "another site": (CHAT, chat(), {"Origin": "https://zqxwvina.example"}, 403, "origin"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_request_is_refused_in_one_line(small: Server, up: Upstream, case: str) -> None:
    path, body, headers, status, code = BAD[case]
    before = len(up.asked)
    got, said, _ = small.ask("POST", path, body, headers)
    assert got == status
    if code:
        assert said["error"]["code"] == code
        assert len(up.asked) == before
        assert "\n" not in said["error"]["message"]
        assert "zqxw" not in json.dumps(said).lower()
    assert "zqxw" not in json.dumps(up.asked[before:]).lower()


@pytest.mark.parametrize("path", ["/v1/models/a%20Zqxwvina", "/v1/models?name=Zqxwvina"])
def test_an_address_has_no_texts(small: Server, up: Upstream, path: str) -> None:
    before = len(up.asked)
    assert small.ask("GET", path)[0] in (400, 404)
    assert len(up.asked) == before


BROKEN = {
    "bomb": "sent more than 500,000 bytes", "not-gzip": "cannot be decompressed", "brotli": "was not requested",
    "redirect": "redirect, which is not followed", "closed": "ended the connection", "not-json": "not a JSON object",
    "not-utf-8": "not a JSON object",
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_reply_is_an_error_of_ours(small: Server, fault: str) -> None:
    status, said, _ = small.ask("POST", CHAT, chat(model=fault), KEY)
    assert (status, said["error"]["code"]) == (502, "upstream")
    assert BROKEN[fault] in said["error"]["message"]


STREAMS = {
    "half": "ended the connection", "half-event": "ended within an event", "bytes": "not UTF-8",
    "text": "not a JSON object", "list": "not a JSON object", "deep": "not a JSON object",
    "endless": "sent more than 500,000 bytes", "long": "sent more than 500,000 bytes",
}  # fmt: skip


@pytest.mark.parametrize("fault", STREAMS)
def test_a_broken_stream_has_what_came_and_ends_with_an_error(small: Server, fault: str) -> None:
    content = stream(small, CHAT, chat(model=fault))
    *before, error = [line for line in content.split("\n\n") if line.strip()]
    said = json.loads(error.split("data: ")[1])
    assert error.startswith("event: error\n")
    assert STREAMS[fault] in said["error"]["message"]
    assert "before " in content or "more and more" in content or fault in ("endless", "long")
    assert before or fault == "long"
    assert streamed_text(CHAT, "\n\n".join(before)) in content.replace('"', "") or fault == "endless"


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_an_error_of_the_upstream_stays_as_it_is(small: Server, up: Upstream, status: int) -> None:
    """An error that quotes surrogates is not restored, because errors are often logged."""
    for streamed in (False, True):
        got, said, headers = small.ask("POST", CHAT, chat(model=f"error-{status}", stream=streamed), KEY)
        quoted = up.last["messages"][0]["content"]
        assert (got, said["error"]["code"]) == (status, "its-own")
        assert said["error"]["message"] == f"nothing for {quoted}"
        assert headers["retry-after"] == "7"
        assert "set-cookie" not in headers
    assert SECRET not in quoted


def test_an_error_in_a_stream_stays_as_it_is(small: Server) -> None:
    content = stream(small, CHAT, chat(model="error-stream"))
    assert '{"error": {"message": "theirs", "code": "its-own"}}' in content.replace(', "choices": []', "")


def test_a_body_of_a_gibibyte(small: Server) -> None:
    """The gateway reads at most 16 times the limit."""
    sent = 0
    with small.connect() as connection:
        connection.sendall(head_of(1 << 30))
        try:
            while sent < 1 << 30:
                connection.sendall(b" " * (1 << 20))
                sent += 1 << 20
        except OSError:
            pass
    assert sent < 1 << 27
    assert small.ask("GET", "/health")[0] == 200


def test_a_client_that_sends_slowly_is_let_go(small: Server) -> None:
    assert b" 408 " in small.raw(head_of(10) + b"[").partition(b"\r\n")[0]


@pytest.mark.slow
def test_a_reply_that_takes_too_long(up: Upstream, tmp_path: Path) -> None:
    with gateway(tmp_path, up.url, "--reply-timeout-seconds", 1) as server:
        up.gone.clear()
        content = stream(server, CHAT, chat(model="silent"))
        assert "did not finish in time" in content
        assert '"one"' in content
        assert up.gone.wait(30)


def test_when_the_client_goes_the_upstream_learns_of_it(gate: Server, up: Upstream) -> None:
    for model in ("silent", "endless"):
        up.gone.clear()
        content = json.dumps(chat(model=model, stream=True)).encode()
        with gate.connect() as connection:
            connection.sendall(head_of(len(content)) + content)
            assert connection.recv(100)
        assert up.gone.wait(30)


@pytest.mark.parametrize("missing", [0, 10, 10**9], ids=["nothing", "a part of the body", "a part of the head"])
def test_a_client_that_closes_its_side_gets_nothing_and_stops_nobody(gate: Server, up: Upstream, missing: int) -> None:
    content = json.dumps(chat(model="echo")).encode()
    request = head_of(len(content)) + content
    with gate.connect() as connection:
        connection.sendall(request[: max(20, len(request) - missing)])
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == b""
    assert gate.ask("POST", CHAT, chat(model="echo"))[0] == 200


@pytest.mark.full
@pytest.mark.slow
def test_a_client_that_does_not_read_holds_the_upstream_back(up: Upstream, tmp_path: Path) -> None:
    """The gateway finally closes the connection."""
    with gateway(tmp_path, up.url, "--timeout-seconds", 1) as server:
        up.gone.clear()
        content = json.dumps(chat(model="endless", stream=True)).encode()
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(head_of(len(content)) + content)
            assert up.gone.wait(60)
            connection.settimeout(20)
            assert len(read_all(connection)) < 1 << 24
        assert server.ask("GET", "/health")[0] == 200


@pytest.mark.slow
def test_an_upstream_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with gateway(tmp_path, f"http://127.0.0.1:{port}/v1/") as server:
        status, said, _ = server.ask("POST", CHAT, chat())
    assert (status, said["error"]["message"]) == (502, "the upstream cannot be reached")


@pytest.mark.slow
def test_nothing_is_sent_twice(small: Server, up: Upstream) -> None:
    before = len(up.asked)
    small.ask("POST", CHAT, chat(model="closed"))
    assert len(up.asked) == before + 1


@pytest.mark.slow
def test_what_is_passed_through_is_named(up: Upstream, tmp_path: Path) -> None:
    options = ("--pass-through", "image_url", "--pass-through", "system", "--pass-through", "audio")
    with gateway(tmp_path, up.url, *options) as server:
        messages = [
            {"role": "system", "content": TEXT},
            {"role": "user", "content": [IMAGE, {"type": "text", "text": TEXT}]},
        ]
        status, reply, _ = server.ask("POST", CHAT, {**saying(*messages), "audio": {"voice": SECRET}})
    assert (status, text_of(CHAT, reply)) == (200, TEXT)
    assert up.last["messages"][0] == messages[0]
    assert up.last["messages"][1]["content"][0] == IMAGE
    assert up.last["audio"] == {"voice": SECRET}
    assert SECRET not in up.last["messages"][1]["content"][1]["text"]
