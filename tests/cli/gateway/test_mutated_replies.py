"""A reply or request of any shape is restored, passed unchanged, or refused by an error code, never a crash."""

import http.client
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, KEY, RESPONSES, asked, gateway
from mutated_replies import list_paths, make_deep, make_events, make_whole, mutate
from serving import Server
from upstream_replies import said_last
from upstreams import FAULTS, Upstream

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

ORIGINAL = "Zqxwvina"
MESSAGE = f"I am {ORIGINAL} Novak."
PATHS = (CHAT, RESPONSES, ANTHROPIC)
#: Where a text of the user may stand: in which event, and under which keys.
Place = tuple[str, ...]


class Client:
    """A reused connection to the gateway."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def ask(self, path: str, body: Any) -> tuple[int, bytes]:
        """Send a body; return the status and content of the reply."""
        content = json.dumps(body).encode()
        self._connection.request("POST", path, content, {"Content-Type": "application/json", **KEY})
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def get(self, path: str, make: Callable[[str], bytes], *, stream: bool = False) -> tuple[int, bytes]:
        """Return the client's form of a reply, which is built from the upstream's input."""
        kind = "text/event-stream" if stream else "application/json"

        def answer(handler: Any) -> None:
            handler.answer(200, make(said_last(handler.upstream.last)), kind)

        FAULTS["mutant"] = answer
        return self.ask(path, asked(path, MESSAGE, model="mutant", stream=stream))


@pytest.fixture(scope="module")
def client(up: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a client of a gateway that restores the arguments of one tool."""
    with gateway(tmp_path_factory.mktemp("mutated"), up.url, "--restore-tools", "find") as running:
        yield Client(running)
        assert running.stop() == 0
        assert not any(word in running.said for word in ("internal", "Traceback", ORIGINAL))
    FAULTS.pop("mutant", None)


def list_places(value: Any, before: Place = ()) -> set[Place]:
    """Return the keys whose values contain an original; a tool's arguments and a content are one place each."""
    found: set[Place] = set()
    for path in list_paths(value):
        entry = value
        for step in path:
            entry = entry[step]
        if isinstance(entry, str) and ORIGINAL in entry:
            keys = [step for step in path if isinstance(step, str)]
            end = next((place for place, key in enumerate(keys, 1) if key in ("arguments", "input")), len(keys))
            keys = keys[:-1] if keys[-2:] in (["content", "text"], ["content", "refusal"]) else keys[:end]
            found.add((*before, *keys))
    return found


def read_events(content: bytes) -> list[dict[str, Any]]:
    lines = [line.removeprefix(b"data: ") for line in content.split(b"\n") if line.startswith(b"data: ")]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def list_event_places(events: list[dict[str, Any]]) -> set[Place]:
    """Return the same for the events of a stream."""
    kinds = [str(event.get("type", "")).removesuffix(".added").removesuffix(".done") for event in events]
    return {place for event, kind in zip(events, kinds, strict=True) for place in list_places(event, (kind,))}


def write_events(events: list[Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def is_named(answer: bytes) -> bool:
    """Return whether a reply is the error for a faulty upstream."""
    error = json.loads(answer)["error"]
    return error["code"] == "upstream" and error["message"].startswith("the upstream sent ")


@pytest.mark.parametrize("path", PATHS)
def test_a_mutated_reply_is_no_fault_of_ours(client: Client, path: str) -> None:
    status, answer = client.get(path, lambda text: json.dumps(make_whole(path, text)[0]).encode())
    places = list_places(json.loads(answer))
    assert status == 200
    assert places
    seeds = iter(range(400))

    def make(text: str) -> bytes:
        (mutant,) = mutate(make_whole(path, text)[0], text, 1, next(seeds))
        return json.dumps(mutant).encode()

    refused = 0
    for number in range(400):
        status, answer = client.get(path, make)
        assert status == 200 or (status == 502 and is_named(answer)), (number, status, answer[:300])
        refused += status != 200
        if status == 200:
            assert list_places(json.loads(answer)) <= places, number
    assert refused < 100


@pytest.mark.parametrize("path", PATHS)
def test_a_mutated_stream_is_no_fault_of_ours(client: Client, path: str) -> None:
    status, answer = client.get(path, lambda text: write_events(make_events(path, text)), stream=True)
    places = list_event_places(read_events(answer))
    assert status == 200
    assert places
    seeds = iter(range(400))

    def make(text: str) -> bytes:
        seed = next(seeds)
        events: list[Any] = list(make_events(path, text))
        chance = random.Random(seed)
        way, place = chance.random(), chance.randrange(len(events))
        if way < 0.1:
            del events[place]
        elif way < 0.2:
            events.insert(chance.randrange(len(events)), events[place])
        elif way < 0.25:
            chance.shuffle(events)
        else:
            (events[place],) = mutate(events[place], text, 1, seed)
        return write_events(events)

    for number in range(400):
        status, answer = client.get(path, make, stream=True)
        assert status == 200, (number, status, answer[:300])
        events = read_events(answer)
        assert list_event_places(events) <= places, number
        errors = [event["error"] for event in events if isinstance(event.get("error"), dict)]
        assert all(error["code"] == "upstream" for error in errors), (number, errors)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [False, True])
def test_deep_nesting_in_a_reply_is_named(client: Client, path: str, stream: bool) -> None:
    deep = [make_deep(900), make_deep(900, "content"), {"choices": make_deep(900)}, {"content": make_deep(900, "type")}]
    for value in deep:
        content = json.dumps(value).encode()
        content = b"data: " + content + b"\n\n" if stream else content
        status, answer = client.get(path, lambda text, content=content: content, stream=stream)
        assert status == (200 if stream else 502)
        assert b"not a JSON object" in answer


REQUESTS = {
    CHAT: {
        "model": "echo", "temperature": 0.5, "stop": ["a"], "user": "u", "metadata": {"a": "b"},
        "tools": [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": MESSAGE}], "name": "anna"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"who": "Novak"}'}}]},
            {"role": "tool", "tool_call_id": "c", "content": '{"found": [1, "Novak"]}'},
            {"role": "user", "content": MESSAGE},
        ],
    },
    RESPONSES: {
        "model": "echo", "instructions": "Be kind.", "reasoning": {"effort": "low"},
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": MESSAGE}]},
            {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"who": "Novak"}'},
            {"type": "function_call_output", "call_id": "c", "output": '{"found": [1, "Novak"]}'},
            {"role": "user", "content": MESSAGE},
        ],
    },
    ANTHROPIC: {
        "model": "echo", "max_tokens": 9, "system": [{"type": "text", "text": "Be kind."}],
        "messages": [
            {"role": "user", "content": MESSAGE},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {"who": "N"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "found"}]},
            {"role": "user", "content": [{"type": "text", "text": MESSAGE, "cache_control": {"type": "ephemeral"}}]},
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_mutated_request_is_no_fault_of_ours(client: Client, up: Upstream, path: str) -> None:
    FAULTS["mutant"] = lambda handler: handler.answer(200, b"{}")
    body = {**REQUESTS[path], "model": "mutant"}
    assert client.ask(path, body)[0] == 200
    for number, mutant in enumerate(mutate(body, MESSAGE, 400, 41)):
        before = len(up.asked)
        status, answer = client.ask(path, mutant)
        # With another model our upstream echoes, and breaks off where it cannot.
        assert status == 200 or 400 <= status < 500 or b'"upstream"' in answer, (number, status, answer[:300])
        if ORIGINAL not in json.dumps(mutant.get("tools")):  # schemas are the developer's
            assert ORIGINAL not in json.dumps(up.asked[before:]), number
        if 400 <= status < 500:
            assert len(up.asked) == before
            assert ORIGINAL.encode() not in answer


def test_a_gateway_of_the_rung_words_takes_mutated_replies(up: Upstream, tmp_path: Path) -> None:
    """The mode ``words`` restores nothing, but parses replies as well."""
    with gateway(tmp_path, up.url, "--protect", "words") as server:
        client = Client(server)
        seeds = iter(range(60))
        for _ in range(60):
            status, answer = client.get(
                CHAT, lambda text: json.dumps(next(mutate(make_whole(CHAT, text)[0], text, 1, next(seeds)))).encode()
            )
            assert status == 200 or is_named(answer)
        assert "internal" not in server.said
