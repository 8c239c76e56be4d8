"""One request: rewritten, sent, and its reply restored. When its client goes, what it asks of the upstream ends.

Nothing of a request or reply is logged, stored or said in an error: an identifier of the request, its path and counts.
"""

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import ClientDisconnect, Request
from textveil import Conversation
from textveil.conversation import Went
from textveil.errors import InputError, TextveilError
from textveil.release import KeptWords

from textveil_cli.gateway.conversations import Conversations, Kept
from textveil_cli.gateway.events import DONE, Event, Events
from textveil_cli.gateway.fields import PATHS, Asked, read_request, rewritten
from textveil_cli.gateway.heads import client_of, named_in, passed_back, passed_on, target_of
from textveil_cli.gateway.replies import REPLIES, Restoring
from textveil_cli.gateway.upstream import Headers, Reply, Upstream, failed
from textveil_cli.serve.access import Refusal
from textveil_cli.serve.app import refusal_of, refused
from textveil_cli.serve.limits import Limits
from textveil_cli.serve.requests import read_json, refuse_body
from textveil_cli.serve.strict_json import parse_finite_json

_Remember = Callable[[], Awaitable[None]]
_UNKNOWN = "it goes on with a reply that is not known here, or was forgotten: begin anew, with all messages"
#: What has so many bytes is rewritten or restored in a few milliseconds.
_AT_ONCE = 1 << 12


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
        waits: Whether rewriting waits for a disk, as a ledger does.
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
    waits: bool = False


@dataclass(eq=False, kw_only=True)
class _Call:
    """One request: its answer is begun once, and what is told of it is counted."""

    gateway: Gateway
    threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor]
    request: Request
    send: Any
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    status: int = 0
    restoring: Restoring | None = None
    kept_words: KeptWords = field(default_factory=KeptWords)

    async def run(self, work: Callable[..., Any], *arguments: Any, size: int, waits: bool = False) -> Any:
        """Does some work: at once where it takes a moment, else beside other requests."""
        if size <= _AT_ONCE and not waits:
            return work(*arguments)
        threads = self.threads[size > self.gateway.limits.short_characters]
        return await asyncio.get_running_loop().run_in_executor(threads, work, *arguments)

    async def begin(self, reply: Reply, **own: str) -> None:
        headers = passed_back(reply.headers, x_textveil_request=self.name, **own)
        self.status = reply.status
        await self.send({"type": "http.response.start", "status": reply.status, "headers": headers})

    async def part(self, body: bytes, more: bool = True) -> None:
        if body or not more:
            await self.send({"type": "http.response.body", "body": body, "more_body": more})

    @property
    def reasons(self) -> str:
        """Write how many surrogates stayed for which reason of their place."""
        counts = {} if self.restoring is None else self.restoring.reasons
        return "".join(f" {reason}={count}" for reason, count in sorted(counts.items()))

    @property
    def counts(self) -> str:
        counts = {} if self.restoring is None else self.restoring.counts
        return " ".join(f"{name}={count}" for name, count in counts.items())

    @property
    def language(self) -> str:
        """Return what the log adds where few words of a request are kept; the template shows how many are."""
        share = self.kept_words.share
        return f" kept_share={share} (it may not be English)" if self.kept_words.may_be_foreign else ""


class Answer:
    """Answers the requests of the paths. It ends what it asks of the upstream when the client goes."""

    def __init__(self, gateway: Gateway, threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor]) -> None:
        self._gateway, self._threads = gateway, threads

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request, also where something fails."""
        request = Request(scope, receive)
        call = _Call(gateway=self._gateway, threads=self._threads, request=request, send=send)
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
            path = scope["path"] if scope["path"] in PATHS else "/v1/models"
            counted = f"{call.counts}{call.reasons}"
            self._gateway.report(f"request {call.name}: {path} {call.status} {counted}".rstrip() + call.language)

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
        request, path, conversations = call.request, call.request.scope["path"], self._gateway.conversations
        headers, target = passed_on(request), target_of(request)
        if request.method != "POST":
            refuse_body(request)
            async with self._asked("GET", target, headers) as reply:
                await self._as_it_is(call, reply)
            return
        asked = read_request(path, body, self._gateway.passes)
        client, length = client_of(conversations, request), request.headers.get("content-length")
        size = len(json.dumps(body)) if length is None else int(length)
        marks = conversations.marks.of(client, asked.messages)
        kept, earlier = conversations.find(client, named_in(request), marks, asked.after, size)
        async with conversations.request(kept, call.run):
            exchange, sent = await self._rewritten(call, kept, earlier, asked, size)
            call.kept_words = exchange.kept_words
            content = json.dumps(sent, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
            if self._gateway.show is not None:
                self._gateway.show(f"{path} {content.decode()}")
                message = "nothing was sent: the gateway shows what would have been"
                raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "dry-run", message)

            async def remember() -> None:
                said, names = restoring.said, restoring.names
                conversations.remember(kept, exchange, client=client, marks=marks, said=said, names=names)
                if kept.path is not None:
                    try:
                        async with kept.lock:
                            await call.run(conversations.save, kept, size=0, waits=True)
                    except TextveilError as error:  # its reply is there all the same
                        self._gateway.report(f"request {call.name}: {error.code}: the mapping was not written")

            async with self._asked(
                "POST", target, [*headers, (b"content-type", b"application/json")], content
            ) as reply:
                if path not in REPLIES or reply.status != HTTPStatus.OK:
                    await self._as_it_is(call, reply)
                    return
                call.restoring = restoring = REPLIES[path](exchange, self._gateway.tools)
                is_stream = reply.header(b"content-type").startswith(b"text/event-stream")
                await (self._events if is_stream else self._whole)(call, reply, restoring, remember)

    @asynccontextmanager
    async def _asked(self, method: str, target: str, headers: Headers, content: bytes = b"") -> AsyncIterator[Reply]:
        try:
            async with asyncio.timeout(self._gateway.replies.seconds):
                async with self._gateway.upstream.ask(method, target, headers, content) as reply:
                    yield reply
        except TimeoutError:
            raise failed("did not finish in time", HTTPStatus.GATEWAY_TIMEOUT) from None

    async def _rewritten(
        self, call: _Call, kept: Kept, earlier: Went | None, asked: Asked, size: int
    ) -> tuple[Conversation, dict[str, Any]]:
        """The request as it may go out. Its conversation is one request's at a time."""

        def rewrite() -> tuple[Conversation, dict[str, Any]]:
            with kept.drawing:  # one that took too long may still be at it
                conversation = self._gateway.conversations.opened(kept)
                before = conversation.went if asked.after and earlier is None else earlier
                if asked.after and before == ((), None):
                    raise InputError(_UNKNOWN)
                exchange = conversation.exchange(before)
                sent = rewritten(asked, exchange, self._gateway.key)
            self._gateway.conversations.save(kept)
            return exchange, sent

        async with asyncio.timeout(self._gateway.limits.seconds), kept.lock:
            try:
                return await call.run(rewrite, size=size, waits=self._gateway.waits or kept.path is not None)
            except Exception:
                if kept.conversation is None:  # its file cannot be read
                    self._gateway.conversations.forget(kept)
                raise

    async def _as_it_is(self, call: _Call, reply: Reply) -> None:
        """What has no text of ours: lists of models, vectors, and errors, whose surrogates stay."""
        body = await reply.body()
        await call.begin(reply)
        await call.part(body, more=False)

    async def _whole(self, call: _Call, reply: Reply, restoring: Restoring, remember: _Remember) -> None:
        body = await reply.body()

        def restored() -> bytes:
            try:
                found = parse_finite_json(body.decode("utf-8"), constants=True)
            except ValueError:
                found = None
            if not isinstance(found, dict):
                raise failed("sent a reply that is not an object of JSON")
            return json.dumps(restoring.whole(found), ensure_ascii=False).encode("utf-8", "backslashreplace")

        written = await call.run(restored, size=len(body))
        await remember()
        await call.begin(reply, content_type="application/json", x_textveil_counts=call.counts)
        await call.part(written, more=False)

    async def _events(self, call: _Call, reply: Reply, restoring: Restoring, remember: _Remember) -> None:
        """Events as they come. The next part is read when the client has taken the last one.

        What tells the next request is remembered before the client has the end: it may ask at once.
        """
        events, known = Events(self._gateway.replies.event_bytes), 0

        def restored(part: bytes) -> tuple[list[bytes], Refusal | None]:
            done: list[bytes] = []
            try:
                for event in events.feed(part):
                    held = restoring.end() if event.data == DONE else ()
                    passed = restoring.event(event) if isinstance(event.data, dict) else [event]
                    done += [after.written() for after in (*held, *passed)]
            except Refusal as refusal:
                return done, refusal
            return done, None

        await call.begin(reply, content_type="text/event-stream; charset=utf-8")
        try:
            async for part in reply.parts():
                done, refusal = await call.run(restored, part, size=events.measure_work(part))
                if len(restoring.said) > known:
                    known = len(restoring.said)
                    await remember()
                await call.part(b"".join(done))
                if refusal is not None:
                    raise refusal
            events.close()
        finally:
            rest = b"".join(event.written() for event in restoring.end())
            with contextlib.suppress(Exception):
                await call.part(rest)
        await remember()
        await call.part(f": textveil {call.counts}\n\n".encode(), more=False)


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
