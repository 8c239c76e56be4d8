"""The event loop never reads, rewrites or restores a text itself, for any path and size of a request."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, RESPONSES, asked
from textveil import Conversation, Sanitizer
from textveil.conversation import exchange_state
from textveil.text import form_table
from textveil.text.form_index import FormIndex
from textveil.text.names import conversation_state
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.read import NamesReader
from textveil.text.reply_matcher import StreamRestorer
from textveil.work_steps import free_in_steps
from textveil_cli.gateway import ConversationStore, Gateway, RetentionSettings, make_app, request_fields
from textveil_cli.gateway.memory_estimates import refuse_heavy_body
from textveil_cli.gateway.proxy import GatewayRequestHandler
from textveil_cli.gateway.workers import WorkerPool
from textveil_cli.serve import AccessRule
from textveil_cli.serve.access import Refusal

TEXT = "I am Zqxwvina Novak of Boston, order 88213."
_HEADERS = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"authorization", b"Bearer k")]


class EchoReply:
    """A reply that repeats the last message."""

    status = 200

    def __init__(self, path: str, body: bytes, stream: bool) -> None:
        self.headers = [(b"content-type", b"text/event-stream" if stream else b"application/json")]
        sent = json.loads(body)
        content = sent["input" if path == RESPONSES else "messages"][-1]["content"]
        if path == CHAT:
            message = {"role": "assistant", "content": content}
            self._body = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
        elif path == ANTHROPIC:
            self._body = json.dumps({"type": "message", "content": [{"type": "text", "text": content}]}).encode()
        else:
            item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": content}]}
            self._body = json.dumps({"id": "resp_1", "output": [item]}).encode()
        if stream:
            chunks = [{"choices": [{"index": 0, "delta": {"content": f"{part} "}}]} for part in content.split()]
            chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
            self._body = f"{events}data: [DONE]\n\n".encode()

    def get_header(self, name: bytes) -> bytes:
        return dict(self.headers).get(name, b"")

    async def iterate_parts(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._body), 64):
            yield self._body[start : start + 64]

    async def read_body(self) -> bytes:
        return self._body


class EchoUpstream:
    """An upstream in this process."""

    @asynccontextmanager
    async def send_request(self, method: str, target: str, headers: Any, body: bytes = b"") -> AsyncIterator[EchoReply]:
        yield EchoReply(target, body, json.loads(body).get("stream", False))


async def ask(app: Any, path: str, body: dict[str, Any], last: bytes | None = None) -> tuple[int, bytes]:
    """Send a request to the application directly. The client disconnects after a part with the bytes ``last``."""
    sent, left = list[dict[str, Any]](), [json.dumps(body).encode()]

    complete = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        await complete.wait()  # as uvicorn does, also while the client is there
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        is_body = message["type"] == "http.response.body"
        if is_body and (not message.get("more_body") or (last is not None and last in message["body"])):
            complete.set()

    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [*_HEADERS, (b"content-length", b"%d" % len(left[0]))], "scheme": "http", "http_version": "1.1",
        "root_path": "", "server": ("localhost", 80), "client": ("localhost", 1),
    }  # fmt: skip
    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def made(sanitizer: Sanitizer, report: Any = lambda line: None, upstream: Any = None) -> tuple[Any, ConversationStore]:
    """Return an application, and its conversations."""
    conversations = ConversationStore(
        lambda: Conversation(sanitizer), lambda _: Conversation(sanitizer),
        RetentionSettings(), key=bytes(32), options={},
    )  # fmt: skip
    upstream = EchoUpstream() if upstream is None else upstream
    gateway = Gateway(upstream=upstream, conversations=conversations, report=report)  # type: ignore[arg-type]
    return make_app(gateway, AccessRule(frozenset(("localhost",)))), conversations


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record calls, and whether the calling thread runs an event loop."""
    seen: list[str] = []
    for owner, name in (
        (NamesReader, "stream_text"),
        (ConversationDraws, "rewrite_stream"),
        (StreamRestorer, "_release_decided"),
    ):
        kept = getattr(owner, name)

        def watch(*given: Any, kept: Any = kept, name: str = f"{owner.__name__}.{name}", **more: Any) -> Any:
            seen.append(f"{name} {'on the loop' if asyncio._get_running_loop() else 'in a thread'}")
            return kept(*given, **more)

        monkeypatch.setattr(owner, name, watch)
    yield seen
    monkeypatch.undo()


@pytest.mark.parametrize("words", [10, 3_000])
@pytest.mark.parametrize(("path", "stream"), [(CHAT, False), (CHAT, True), (RESPONSES, False), (ANTHROPIC, False)])
def test_no_text_is_read_drawn_or_restored_on_the_loop(
    sanitizer: Sanitizer, path: str, stream: bool, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = made(sanitizer)
    text = f"{TEXT} " * (words // 8 + 1)
    body = asked(path, text, model="echo", stream=stream)

    async def main() -> tuple[int, bytes]:
        async with app.router.lifespan_context(app):
            return await asyncio.wait_for(ask(app, path, body), 60)

    with watched(monkeypatch) as seen:
        status, reply = asyncio.run(main())
    assert status == 200
    assert b"Zqxwvina" in reply
    assert {name.split(" ", 1)[0] for name in seen} == {
        "NamesReader.stream_text",
        "ConversationDraws.rewrite_stream",
        "StreamRestorer._release_decided",
    }
    assert not [name for name in seen if name.endswith("on the loop")]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("words", [10, 6_000])
def test_surrogates_are_indexed_while_the_upstream_works(
    sanitizer: Sanitizer, words: int, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply waits for nothing else, and a short reply to a long request occupies no thread for short texts."""
    indexing, restoring, indexed = list[str](), list[str](), threading.Event()
    kept_init, kept_release = FormIndex.__init__, StreamRestorer._release_decided

    def index(*given: Any) -> None:
        indexing.append(threading.current_thread().name)
        kept_init(*given)
        indexed.set()

    def release(*given: Any) -> str:
        restoring.append(threading.current_thread().name)
        return kept_release(*given)

    monkeypatch.setattr(FormIndex, "__init__", index)
    monkeypatch.setattr(StreamRestorer, "_release_decided", release)

    class SlowUpstream:
        @asynccontextmanager
        async def send_request(
            self, method: str, target: str, headers: Any, body: bytes = b""
        ) -> AsyncIterator[EchoReply]:
            sent = json.loads(body)
            assert await asyncio.to_thread(indexed.wait, 30)
            sent["messages"][-1]["content"] = sent["messages"][-1]["content"][:100]
            yield EchoReply(target, json.dumps(sent).encode(), stream)

    app, _ = made(sanitizer, upstream=SlowUpstream())
    body = asked(CHAT, f"{TEXT} " * (words // 8 + 1), model="echo", stream=stream)

    async def main() -> tuple[int, bytes]:
        async with app.router.lifespan_context(app):
            return await asyncio.wait_for(ask(app, CHAT, body), 60)

    status, reply = asyncio.run(main())
    assert status == 200
    assert b"Zqxwvina" in reply
    assert indexing == ["textveil-short" if words == 10 else "textveil-medium"]
    assert set(restoring) == {"textveil-short"}


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_is_packed_once_its_reply_has_gone(
    sanitizer: Sanitizer, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server reports the client as disconnected once the reply is complete; the remaining work still runs."""
    monkeypatch.setattr("textveil_cli.gateway.conversation_store._MAX_IDLE_BYTES", 1)
    lines: list[str] = []
    app, conversations = made(sanitizer, lines.append)
    body = asked(CHAT, TEXT, model="echo", stream=stream)

    async def main() -> None:
        async with app.router.lifespan_context(app):
            for _ in range(3):
                assert (await asyncio.wait_for(ask(app, CHAT, body), 60))[0] == 200

    asyncio.run(main())
    assert [kept.conversation is None and bool(kept.packed) for kept in conversations._stored.values()] == [True] * 3
    assert len(lines) == 3
    assert all(f"{CHAT} 200" in line for line in lines)


@pytest.mark.parametrize(
    ("path", "end"),
    [
        (CHAT, "[DONE]"),
        (RESPONSES, '{"type": "response.completed", "response": {"id": "resp_1", "output": []}}'),
        (ANTHROPIC, '{"type": "message_stop"}'),
        (CHAT, ""),
    ],
)
def test_a_client_may_close_the_connection_after_the_last_event(sanitizer: Sanitizer, path: str, end: str) -> None:
    """The log has its reply as complete, though the upstream keeps the stream open; before that event it does not."""

    class OpenReply(EchoReply):
        async def iterate_parts(self) -> AsyncIterator[bytes]:
            yield b": a comment\n\n"
            yield f"data: {end}\n\n".encode() if end else b""
            await asyncio.sleep(60)

    class OpenUpstream:
        @asynccontextmanager
        async def send_request(
            self, method: str, target: str, headers: Any, body: bytes = b""
        ) -> AsyncIterator[EchoReply]:
            yield OpenReply(target, body, stream=True)

    lines: list[str] = []
    app, _ = made(sanitizer, lines.append, upstream=OpenUpstream())
    body = asked(path, TEXT, model="echo", stream=True)

    async def main() -> None:
        async with app.router.lifespan_context(app):
            await asyncio.wait_for(ask(app, path, body, end.encode() or b":"), 60)

    asyncio.run(main())
    assert [f"{path} 200" in line for line in lines] == [bool(end)]
    assert ["the client disconnected" in line for line in lines] == [not end]


def test_a_request_is_freed_off_the_loop(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused request is freed in a thread too: many small values take long."""
    freed: list[bool] = []

    class Watched(dict[str, Any]):
        def __del__(self) -> None:
            freed.append(asyncio._get_running_loop() is not None)

    kept = Watched  # what is parsed
    monkeypatch.setattr("textveil_cli.gateway.proxy.parse_json", lambda body: kept(json.loads(body)))
    app, _ = made(sanitizer)
    fine = asked(CHAT, f"{TEXT} " * 500)

    async def main() -> list[int]:
        async with app.router.lifespan_context(app):
            bodies = fine, {**fine, "unknown": 1}, asked(CHAT, [{"role": "user", "content": "a" * 5_000, "b": 1}])
            return [(await asyncio.wait_for(ask(app, CHAT, body), 60))[0] for body in bodies]

    assert asyncio.run(main()) == [200, 422, 422]
    assert freed == [False] * 3


def test_a_request_names_a_bounded_number_of_replies(sanitizer: Sanitizer) -> None:
    many = [{"type": "item_reference", "id": f"msg_{number}"} for number in range(2_001)]
    for items, code in ((many, b"more than 2,000 items"), (many[1:] * 2, b"a reply that the gateway does not have")):

        async def main(items: Any = items) -> tuple[int, bytes]:
            app, _ = made(sanitizer)
            async with app.router.lifespan_context(app):
                return await ask(app, RESPONSES, {"model": "m", "input": items})

        status, said = asyncio.run(main())
        assert status == 422
        assert code in said


@pytest.mark.parametrize("nested", ["[]", "{}", "[[[[[[]]]]]]"])
def test_a_body_of_too_many_lists_is_not_parsed(nested: str) -> None:
    body = f"[{','.join([nested] * (600_000 // nested.count(nested[0])))}]".encode()
    with pytest.raises(Refusal, match="524,288 lists and objects"):
        refuse_heavy_body(body, 1 << 40)
    refuse_heavy_body(body[: len(body) // 2], 1 << 40)


@pytest.mark.slow
def test_the_mapping_of_a_large_request_is_freed_off_the_loop(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Freeing the index of a long mapping is one long step, which would delay all other requests."""
    freed: list[bool] = []
    monkeypatch.setattr(
        FormIndex, "__del__", lambda index: freed.append(asyncio._get_running_loop() is not None), raising=False
    )
    app, _ = made(sanitizer)

    async def main() -> list[int]:
        async with app.router.lifespan_context(app):
            return [(await asyncio.wait_for(ask(app, CHAT, asked(CHAT, f"{TEXT} " * 3_000, model="echo")), 60))[0]]

    assert asyncio.run(main()) == [200]
    assert freed
    assert not any(freed)


def test_a_full_garbage_collection_waits_for_large_requests_but_not_forever(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[int] = []
    monkeypatch.setattr("textveil_cli.gateway.proxy.gc.collect", lambda: collected.append(1))
    workers = WorkerPool(1)
    handler = GatewayRequestHandler(Gateway(upstream=EchoUpstream(), conversations=None), workers)  # type: ignore[arg-type]
    handler.collect_garbage()
    assert len(collected) == 1
    handler._admission.admit_request(1 << 20)
    for _ in range(10):
        handler.collect_garbage()
    assert len(collected) == 1
    handler.collect_garbage()
    assert len(collected) == 2
    handler._admission.release_request(1 << 20)
    handler.collect_garbage()
    assert len(collected) == 3
    workers._queues[-1].put(None)  # something large waits to be packed or freed
    assert workers.is_processing_long
    handler.collect_garbage()
    assert len(collected) == 3


@pytest.mark.slow
def test_what_a_large_request_left_is_freed_in_steps_in_a_thread(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python frees a mapping, a parsed body or a packed conversation in one step, while all else waits."""
    freed: set[tuple[str, str]] = set()
    done, owners = threading.Event(), (form_table, conversation_state, exchange_state, request_fields)
    for owner in owners:

        def free(*containers: Any, name: str = owner.__name__) -> None:
            freed.update((name, threading.current_thread().name) for container in containers if container)
            free_in_steps(*containers)
            if len(freed) == len(owners):
                done.set()

        monkeypatch.setattr(owner, "free_in_steps", free)
    monkeypatch.setattr("textveil_cli.gateway.conversation_store._MAX_IDLE_BYTES", 1)
    app, conversations = made(sanitizer)
    body = asked(CHAT, f"{TEXT} " * 7_000, model="echo")

    async def main() -> int:
        async with app.router.lifespan_context(app):
            status, _ = await asyncio.wait_for(ask(app, CHAT, body), 120)
            await asyncio.to_thread(done.wait, 30)
            return status

    assert asyncio.run(main()) == 200
    assert freed == {(owner.__name__, "textveil-long") for owner in owners}
    assert [stored.conversation for stored in conversations._stored.values()] == [None]
