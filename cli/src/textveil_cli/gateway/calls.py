"""One request: rewritten, sent, and its reply restored. When its client goes, what it asks of the upstream ends.

Nothing of a request or reply is logged, stored or said in an error: an identifier of the request, its path and counts.
"""

import asyncio
import contextlib
import json
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from starlette.requests import ClientDisconnect, Request
from textveil import Conversation

from textveil_cli.gateway.conversations import Conversations, Kept
from textveil_cli.gateway.events import DONE, Event, Events
from textveil_cli.gateway.fields import PATHS, Asked, read_request, rewritten
from textveil_cli.gateway.replies import REPLIES, Restoring
from textveil_cli.gateway.upstream import Headers, Reply, Upstream, failed
from textveil_cli.serve.access import Refusal
from textveil_cli.serve.app import HEADERS, refusal_of, refused
from textveil_cli.serve.limits import Limits
from textveil_cli.serve.requests import read_json

MODELS, NAMED = "/v1/models", "x-textveil-conversation"
#: Headers of a request by which the upstream knows its client, and others that go on to it.
_CREDENTIALS = (b"authorization", b"x-api-key", b"api-key")
_PASSED = frozenset(
    (*_CREDENTIALS, *b"anthropic-version anthropic-beta openai-organization openai-project openai-beta".split())
)
_BACK = frozenset("content-type retry-after retry-after-ms x-should-retry request-id x-request-id".split())
_BACK_FAMILIES = ("openai-", "anthropic-", "x-ratelimit-")
_QUERY = frozenset("beta limit after before after_id before_id order api-version".split())
_MOST_OF_A_NAME = 1_000
_IDENTIFIER = re.compile(r"[\w.:/@-]*", re.ASCII)
_JSON = b"application/json"


@dataclass(frozen=True, kw_only=True)
class ReplyLimits:
    """What a reply may take.

    Attributes:
        bytes: The longest reply, unpacked.
        seconds: From the request to the end of its reply.
        event_bytes: The longest event of a stream.
    """

    bytes: int = 1 << 26
    seconds: float = 600
    event_bytes: int = 1 << 23


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """What all requests share.

    Attributes:
        upstream: Where they go.
        conversations: Their mappings.
        limits: What a request may take.
        replies: What a reply may take.
        passes: Types, roles and fields that go out as they are.
        tools: Tools whose arguments are restored.
        key: Hides what names a user.
        report: Told one line for each request, without anything of it.
        show: Told what would have been sent, where nothing is to be sent.
    """

    upstream: Upstream
    conversations: Conversations
    limits: Limits = field(default_factory=Limits)
    replies: ReplyLimits = field(default_factory=ReplyLimits)
    passes: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    report: Callable[[str], None] = lambda line: None
    show: Callable[[str], None] | None = None


@dataclass(eq=False)
class _Call:
    """One request: its answer is begun once, and what is told of it is counted."""

    gateway: Gateway
    threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor]
    request: Request
    send: Any
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    status: int = 0
    restoring: Restoring | None = None

    async def run(self, work: Callable[..., Any], *arguments: Any, size: int) -> Any:
        threads = self.threads[size > self.gateway.limits.short_characters]
        return await asyncio.get_running_loop().run_in_executor(threads, work, *arguments)

    async def begin(self, reply: Reply, kind: str | None = None) -> None:
        headers = [(key, value) for key, value in reply.headers if _goes_back(key.decode("latin-1"))]
        if kind is not None:
            headers = [(key, value) for key, value in headers if key != b"content-type"]
            headers.append((b"content-type", kind.encode()))
        own = {**HEADERS, "x-textveil-request": self.name}
        headers += [(key.encode(), value.encode()) for key, value in own.items()]
        if self.restoring is not None and kind == "application/json":
            headers.append((b"x-textveil-counts", self.counts.encode()))
        self.status = reply.status
        await self.send({"type": "http.response.start", "status": reply.status, "headers": headers})

    async def part(self, body: bytes, more: bool = True) -> None:
        if body or not more:
            await self.send({"type": "http.response.body", "body": body, "more_body": more})

    @property
    def counts(self) -> str:
        counts = {} if self.restoring is None else self.restoring.counts
        return " ".join(f"{name}={count}" for name, count in counts.items())


class Answer:
    """Answers the requests of the paths. It ends what it asks of the upstream when the client goes."""

    def __init__(self, gateway: Gateway, threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor]) -> None:
        self._gateway, self._threads = gateway, threads

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request, also where something fails."""
        request = Request(scope, receive)
        call = _Call(self._gateway, self._threads, request, send)
        try:
            body = await read_json(request, self._gateway.limits) if scope["method"] == "POST" else None
            work, gone = asyncio.ensure_future(self._answered(call, body)), asyncio.ensure_future(_until_gone(receive))
            try:
                await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (work, gone):
                    task.cancel()
                await asyncio.wait((work, gone))
            if work.cancelled():
                raise ClientDisconnect
            work.result()
        except ClientDisconnect:
            self._gateway.report(f"request {call.name}: the client went away")
        except Exception as error:
            await self._failed(call, scope, receive, refusal_of(error, self._gateway.limits, self._gateway.report))
        else:
            path = scope["path"] if scope["path"] in PATHS else MODELS
            self._gateway.report(f"request {call.name}: {path} {call.status} {call.counts}".rstrip())

    async def _failed(self, call: _Call, scope: Any, receive: Any, refusal: Refusal) -> None:
        """Tells a client of an error; in a stream, by an event that its library knows."""
        self._gateway.report(f"request {call.name}: {refusal.code} {refusal.status.value}")
        if not call.status:
            await refused(refusal)(scope, receive, call.send)
            return
        error = {"type": "api_error", "code": refusal.code, "message": refusal.message, "param": None}
        event = Event("error", {"type": "error", "error": error, "code": refusal.code, "message": refusal.message})
        await call.part(event.written(), more=False)

    async def _answered(self, call: _Call, body: Any) -> None:
        path, conversations = call.request.scope["path"], self._gateway.conversations
        headers = [(key, value) for key, value in call.request.headers.raw if key in _PASSED]
        if len(dict(headers)) < len(headers):
            raise Refusal(HTTPStatus.BAD_REQUEST, "header", "a header is there twice")
        headers.append((b"user-agent", b"textveil"))
        target = path + _query(call.request)
        if body is None:
            async with self._asked("GET", target, headers) as reply:
                await self._as_it_is(call, reply)
            return
        asked = read_request(path, body, self._gateway.passes)
        client = client_of(conversations, call.request)
        length = call.request.headers.get("content-length")
        size = len(json.dumps(body)) if length is None else int(length)
        after = body.get("previous_response_id")
        kept, earlier = conversations.find(client, named_in(call.request), asked.messages, after, size)
        exchange, sent = await self._rewritten(call, kept, earlier, asked, size)
        content = json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace")
        if self._gateway.show is not None:
            self._gateway.show(f"{path} {content.decode()}")
            message = "nothing was sent: the gateway shows what would have been"
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "dry-run", message)
        try:
            async with self._asked("POST", target, [*headers, (b"content-type", _JSON)], content) as reply:
                if path not in REPLIES or reply.status != HTTPStatus.OK:
                    await self._as_it_is(call, reply)
                    return
                call.restoring = REPLIES[path](exchange, self._gateway.tools)
                is_stream = reply.header(b"content-type").startswith(b"text/event-stream")
                await (self._events if is_stream else self._whole)(call, reply, call.restoring)
        finally:
            if call.restoring is not None:
                said, names = call.restoring.said, call.restoring.names
                conversations.remember(kept, exchange, client=client, messages=asked.messages, said=said, names=names)
        if kept.path is not None:
            async with kept.lock:
                await call.run(conversations.save, kept, size=0)

    @asynccontextmanager
    async def _asked(self, method: str, target: str, headers: Headers, content: bytes = b"") -> AsyncIterator[Reply]:
        try:
            async with asyncio.timeout(self._gateway.replies.seconds):
                async with self._gateway.upstream.ask(method, target, headers, content) as reply:
                    yield reply
        except TimeoutError:
            raise failed("did not finish in time", HTTPStatus.GATEWAY_TIMEOUT) from None

    async def _rewritten(
        self, call: _Call, kept: Kept, earlier: Conversation | None, asked: Asked, size: int
    ) -> tuple[Conversation, dict[str, Any]]:
        """The request as it may go out. Its conversation is one request's at a time."""

        def rewrite() -> tuple[Conversation, dict[str, Any]]:
            with kept.drawing:  # one that took too long may still be at it
                exchange = self._gateway.conversations.opened(kept).exchange(earlier)
                sent = rewritten(asked, exchange, self._gateway.key)
            self._gateway.conversations.save(kept)
            return exchange, sent

        async with asyncio.timeout(self._gateway.limits.seconds), kept.lock:
            try:
                return await call.run(rewrite, size=size)
            except Exception:
                if kept.conversation is None:  # its file cannot be read
                    self._gateway.conversations.forget(kept)
                raise

    async def _as_it_is(self, call: _Call, reply: Reply) -> None:
        """What has no text of ours: lists of models, vectors, and errors, whose surrogates stay."""
        body = await reply.body()
        await call.begin(reply)
        await call.part(body, more=False)

    async def _whole(self, call: _Call, reply: Reply, restoring: Restoring) -> None:
        body = await reply.body()

        def restored() -> bytes:
            try:
                found = json.loads(body.decode("utf-8"))
            except (ValueError, RecursionError):
                found = None
            if not isinstance(found, dict):
                raise failed("sent a reply that is not an object of JSON")
            return json.dumps(restoring.whole(found), ensure_ascii=False).encode("utf-8", "replace")

        written = await call.run(restored, size=len(body))
        await call.begin(reply, "application/json")
        await call.part(written, more=False)

    async def _events(self, call: _Call, reply: Reply, restoring: Restoring) -> None:
        """Events as they come. The next part is read when the client has taken the last one."""
        events = Events(self._gateway.replies.event_bytes)

        def restored(part: bytes) -> Iterator[bytes]:
            for event in events.feed(part):
                if event.data == DONE:
                    yield from (held.written() for held in restoring.end())
                passed = restoring.event(event) if isinstance(event.data, dict) else [event]
                yield from (after.written() for after in passed)

        await call.begin(reply, "text/event-stream; charset=utf-8")
        try:
            async for part in reply.parts():
                for written in (
                    await call.run(list, restored(part), size=len(part))
                    if len(part) > self._gateway.limits.short_characters
                    else restored(part)
                ):
                    await call.part(written)
            events.close()
        finally:
            rest = b"".join(event.written() for event in restoring.end())
            with contextlib.suppress(Exception):
                await call.part(rest)
        await call.part(f": textveil {call.counts}\n\n".encode(), more=False)


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def client_of(conversations: Conversations, request: Request) -> bytes:
    """Returns what stands for the client of a request."""
    return conversations.client(key + b" " + value for key, value in request.headers.raw if key in _CREDENTIALS)


def named_in(request: Request) -> str | None:
    """Returns the name of the conversation that a request belongs to, if it has one.

    Raises:
        Refusal: It has several, or a long one.
    """
    named = request.headers.getlist(NAMED)
    if not named:
        return None
    if len(named) > 1 or not 0 < len(named[0]) <= _MOST_OF_A_NAME:
        message = f"a conversation has one name, of 1 to {_MOST_OF_A_NAME:,} characters"
        raise Refusal(HTTPStatus.BAD_REQUEST, "header", message)
    return named[0]


def _query(request: Request) -> str:
    """The query of a request, of settings alone; and its path is one."""
    asked = request.query_params.multi_items()
    if not all(name in _QUERY and _IDENTIFIER.fullmatch(value) for name, value in asked):
        raise Refusal(HTTPStatus.BAD_REQUEST, "query", "the address has a query that is not known")
    if not _IDENTIFIER.fullmatch(request.scope["path"]):
        raise Refusal(HTTPStatus.NOT_FOUND, "path", "there is no such path, or not with this method")
    return f"?{urlencode(asked)}" if asked else ""


def _goes_back(header: str) -> bool:
    return header in _BACK or header.startswith(_BACK_FAMILIES)
