"""The gateway sends only checked parts upstream: a known path, an identifier, settings, valid JSON numbers."""

import json
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, KEY, RESPONSES, asked
from serving import Server
from upstreams import Upstream

PATHS = (
    "/v1/models/../files", "/v1/models/%2e%2e/files", "/v1/models/%2E%2E/files", "/v1/models/.%2e/files",
    "/v1/models/a/../../files", "/v1/models/a/%2e%2e/%2e%2e/files", "/v1/models/.", "/v1/models/./a",
    "/v1/models//files", "/v1/models/a//b", "/v1/models/", "/v1/models/a/", "//v1/models", "/v1//models",
    "/v1/models/a%2fb", "/v1/models/..%2ffiles", "/v1/models/%2e%2e%2ffiles", "/v1/models%2f..%2ffiles",
    "/v1/models/a%252e%252e", "/v1/models/%252e%252e/files", "/v1/models/..%5cfiles", "/v1/models/a\\..\\files",
    "/v1/models/..;/files", "/v1/models/a;b=c", "/v1/models/a%3bb", "/v1/models/a%00", "/v1/models/a%0d%0aX:b",
    "/v1/models/a%20b", "/v1/models/%c0%ae%c0%ae/files", "/v1/models/%EF%BC%8E%EF%BC%8E/files", "/v1/models/a%23b",
    "/v1/models/a%3fb", "/v1/models/a%", "/v1/models/" + "a" * 600, "/v1/models/../chat/completions",
    "/v1/chat/../models", "/v1/chat%2fcompletions", "/v1/chat/completions/", "/v1/files", "/V1/models",
    "http://localhost/v1/models", "*",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_that_is_not_ours_stays_here(gate: Server, up: Upstream, method: str, path: str) -> None:
    before = len(up.asked)
    content = json.dumps(asked(CHAT, "a")).encode() if method == "POST" else b""
    kind = f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n" if content else ""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{kind}\r\n"
    raw = gate.raw(head.encode() + content)
    assert raw.split(b" ")[1] in (b"400", b"404", b"405")
    assert b'"code":"' in raw or raw.endswith(b"Invalid HTTP request received.")
    assert len(up.asked) == before


NAMES = {
    "gpt-4o": "gpt-4o", "ft:gpt-4o:org::abc": "ft:gpt-4o:org::abc", "meta/Llama-3.1-8B": "meta/Llama-3.1-8B",
    "ft%3Agpt-4o": "ft:gpt-4o", "@cf/meta/llama": "@cf/meta/llama", "a..b": "a..b", "%61": "a",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_model_goes_out_by_its_name(gate: Server, up: Upstream, name: str) -> None:
    assert gate.ask("GET", f"/v1/models/{name}?limit=2", headers=KEY)[0] == 200
    assert up.asked[-1][0] == f"/v1/models/{NAMES[name]}?limit=2"


@pytest.mark.parametrize(
    "query",
    ["limit=1&limit=2", "limit=1&LIMIT=2", "a", "limit=%0a", "limit=1;b=2", "after=../a b", "limit=" + "1" * 600],
)
def test_a_query_that_is_not_known_stays_here(gate: Server, up: Upstream, query: str) -> None:
    before = len(up.asked)
    path = f"/v1/models?{query}".replace(" ", "%20")
    status, reply, _ = gate.ask("GET", path, headers=KEY)
    assert (status, reply["error"]["code"], len(up.asked)) == (400, "query", before)


@pytest.mark.parametrize(
    "size", ["Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"]
)
def test_a_get_has_no_body(gate: Server, up: Upstream, size: str) -> None:
    before = len(up.asked)
    raw = gate.raw(f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n{size}".encode())
    assert raw.startswith(b"HTTP/1.1 400 ")
    assert b'"code":"body"' in raw
    assert len(up.asked) == before
    assert gate.ask("GET", "/v1/models", headers={"Content-Length": "0"})[0] == 200


@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC, "/v1/embeddings", "/v1/messages/count_tokens"])
@pytest.mark.parametrize("body", [b"null", b"[]", b"4", b"true", b'"a"', b"", b" ", b"NaN", b"1e999", b"-0.0"])
def test_a_body_that_is_no_object_stays_here(gate: Server, up: Upstream, path: str, body: bytes) -> None:
    before = len(up.asked)
    status, reply, _ = gate.ask("POST", path, body, {"Content-Type": "application/json", **KEY})
    assert (status, reply["error"]["code"]) in ((400, "json"), (422, "input"))
    assert len(up.asked) == before


NUMBERS = (
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "-Infinity",
    "1" + "0" * 400 + ".5",
    "1" + "0" * 40,
    "-1" + "0" * 5_000,
)
PLACES = {
    "a setting": '"temperature": %s',
    "a setting inside": '"logit_bias": {"50256": %s}',
    "a setting deep inside": '"stream_options": {"a": [{"b": %s}]}',
    "a tool": '"tools": [{"type": "function", "function": {"name": "a", "parameters": {"maximum": %s}}}]',
    "a schema": '"response_format": {"type": "json_schema", "json_schema": {"schema": {"const": [%s]}}}',
    "a field that passes": '"audio": {"a": %s}',
    "a whole field that passes": '"audio": %s',
    "an index": '"messages": [{"role": "assistant", "tool_calls": [{"type": "function", "index": %s}]}]',
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:9])
def test_numbers_that_not_every_reader_has_stay_here(passing: Server, up: Upstream, place: str, number: str) -> None:
    before = len(up.asked)
    messages = "" if '"messages"' in PLACES[place] else ', "messages": [{"role": "user", "content": "a"}]'
    body = f'{{"model": "echo", {PLACES[place] % number}{messages}}}'
    status, reply, _ = passing.ask("POST", CHAT, body.encode(), {"Content-Type": "application/json", **KEY})
    assert (status, reply["error"]["code"]) in ((400, "json"), (422, "input"))
    assert number not in reply["error"]["message"]
    assert len(up.asked) == before


def test_numbers_that_every_reader_has_go_out(passing: Server, up: Upstream) -> None:
    bias: dict[str, Any] = {"1": -100, "2": 1e-300, "3": 0.1}
    body = asked(CHAT, "a", seed=2**63, temperature=1e-400, logit_bias=bias, audio={"a": 1e300})
    assert passing.ask("POST", CHAT, body, KEY)[0] == 200
    assert up.last["logit_bias"] == bias
    assert (up.last["seed"], up.last["audio"]) == (2**63, {"a": 1e300})


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "a", "model": "b", "messages": []}',
        b'{"model": "a", "messages": [], "audio": {"a": 1, "a": 2}}',
        b'{"model": "a", "messages": [], "tools": [{"a": [{"b": 1, "b": 1}]}]}',
    ],
)
def test_a_key_twice_stays_here(passing: Server, up: Upstream, body: bytes) -> None:
    before = len(up.asked)
    status, reply, _ = passing.ask("POST", CHAT, body, {"Content-Type": "application/json", **KEY})
    assert (status, reply["error"]["code"], len(up.asked)) == (400, "json", before)


@pytest.mark.parametrize("place", ["audio", "tools", "messages", "metadata", "temperature", "stop"])
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
def test_deep_nesting_is_named(passing: Server, up: Upstream, place: str, brackets: tuple[str, str]) -> None:
    before = len(up.asked)
    value = brackets[0] * 900 + "1" + brackets[1] * 900
    body = f'{{"model": "a", "{place}": {value}}}'
    status, reply, _ = passing.ask("POST", CHAT, body.encode(), {"Content-Type": "application/json", **KEY})
    assert (status, reply["error"]["code"], len(up.asked)) == (400, "json", before)
    assert "nested" in reply["error"]["message"]


@pytest.mark.full
@pytest.mark.parametrize("depth", [90, 900, 100_000])
def test_deep_json_in_a_text_is_no_fault(gate: Server, depth: int) -> None:
    """Results and arguments of tools are texts that contain JSON."""
    for brackets in (("[", "]"), ('{"a":', "}")):
        text = brackets[0] * depth + "1" + brackets[1] * depth
        call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": text}}
        messages = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": text},
        ]
        status, reply, _ = gate.ask("POST", CHAT, asked(CHAT, messages), KEY, patience=120)
        assert status == 200 or (status, reply["error"]["code"]) == (422, "input")
