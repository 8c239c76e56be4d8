"""Request handler: rewrites a request, sends it and restores its reply.

If the client disconnects, the upstream request is canceled. No content of a request or reply is logged, stored or
quoted in an error: log lines have an id of the request, its path and counts.
"""

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import ClientDisconnect, Request
from textveil import Conversation
from textveil.conversation import Went
from textveil.errors import ConversationChanged, InputError, KeyFileError, TextveilError
from textveil.release import KeptWords

from textveil_cli.gateway.call_audit import CallAudit
from textveil_cli.gateway.conversations import MOST_LOOKED_UP, Conversations, Kept
from textveil_cli.gateway.events import DONE, Event, Events
from textveil_cli.gateway.fields import PATHS, Asked, read_request, rewritten
from textveil_cli.gateway.heads import client_of, named_in, passed_back, passed_on, target_of
from textveil_cli.gateway.memory_estimates import refuse_heavy
from textveil_cli.gateway.replies import REPLIES, Restoring
from textveil_cli.gateway.upstream import Headers, Reply, Upstream, failed
from textveil_cli.gateway.workers import MEDIUM, Admission, Workers, busy
from textveil_cli.serve.access import Refusal
from textveil_cli.serve.app import refusal_of, refused
from textveil_cli.serve.limits import Limits
from textveil_cli.serve.requests import parse_json, read_body, refuse_body, skip_body
from textveil_cli.serve.strict_json import parse_finite_json

#: Function that returns the marks of the replies so far; function that records the marks of the next request.
_Mark = Callable[[], list[bytes]]
_Remember = Callable[[list[bytes]], Awaitable[None]]
_BEGIN_ANEW = "to begin anew send DELETE /conversation with the same X-Textveil-Conversation"
_UNKNOWN = "it goes on with a reply that is not known here, or was forgotten: begin anew, with all messages"
#: The most large requests that are parsed or rewritten at a time: each needs many times its bytes.
_MOST_LARGE = 2
#: Size of a body that is parsed on the event loop, within some tens of microseconds; and the estimated number of
#: characters per byte of a packed conversation.
_AT_ONCE, _UNPACKED = 1 << 12, 8


@dataclass(frozen=True, kw_only=True)
class ReplyLimits:
    """Limits of a reply.

    Attributes:
        bytes: The largest reply, decompressed.
        seconds: The longest time from the request to the end of its reply.
        event_bytes: The largest event of a stream.
    """

    bytes: int = 1 << 26
    seconds: float = 600
    event_bytes: int = 1 << 23


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """State and options that all requests share.

    Attributes:
        upstream: Client of the upstream API.
        conversations: Store of the conversations.
        limits: Limits of a request.
        replies: Limits of a reply.
        passes: Types, roles and fields that are sent unchanged.
        tools: Tools whose arguments are restored.
        work_bytes: The most memory for rewriting a request, estimated from its shape.
        key: Key of the hashes that replace the ids of users.
        report: Function that receives one line per request, without content.
        is_field_name: Function that returns whether an error may contain the name of a field of a request.
        show: Function that receives each rewritten request in a dry run, which sends nothing; else ``None``.
    """

    upstream: Upstream
    conversations: Conversations
    limits: Limits = field(default_factory=Limits)
    replies: ReplyLimits = field(default_factory=ReplyLimits)
    passes: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    work_bytes: int = 1 << 29
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    report: Callable[[str], None] = lambda line: None
    is_field_name: Callable[[str], bool] = lambda name: False
    show: Callable[[str], None] | None = None


@dataclass(eq=False, kw_only=True)
class _Call:
    """One request: starts its response once, and has the counts for its log line."""

    request: Request
    send: Any
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    status: int = 0
    restoring: Restoring | None = None
    restored: int = 0
    is_complete: bool = False
    kept_words: KeptWords = field(default_factory=KeptWords)

    @property
    def path(self) -> str:
        """Path of the route, which contains no text of the client."""
        path = self.request.scope["path"]
        return path if path in PATHS else "/v1/models"

    async def begin(self, reply: Reply, **own: str) -> None:
        headers = passed_back(reply.headers, x_textveil_request=self.name, **own)
        self.status = reply.status
        await self.send({"type": "http.response.start", "status": reply.status, "headers": headers})

    async def part(self, body: bytes, more: bool = True) -> None:
        if body or not more:
            self.is_complete = not more
            await self.send({"type": "http.response.body", "body": body, "more_body": more})

    @property
    def reasons(self) -> str:
        """Number of remaining surrogates for each reason, in the format of the log line."""
        counts = {} if self.restoring is None else self.restoring.reasons
        return "".join(f" {reason}={count}" for reason, count in sorted(counts.items()))

    @property
    def counts(self) -> str:
        counts = {} if self.restoring is None else self.restoring.counts
        return " ".join(f"{name}={count}" for name, count in counts.items())

    @property
    def language(self) -> str:
        """Addition to the log line if the share of kept words is low.

        The template reveals this share, so the line is public.
        """
        share = self.kept_words.share
        return f" kept_share={share} (it may not be English)" if self.kept_words.may_be_foreign else ""


class Answer:
    """Handler of requests by path. It cancels the upstream request if the client disconnects."""

    def __init__(self, gateway: Gateway, workers: Workers) -> None:
        self._gateway, self._workers = gateway, workers
        self._admission, self._large = Admission(), asyncio.Semaphore(_MOST_LARGE)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, also after an error."""
        request = Request(scope, receive)
        call, limits = _Call(request=request, send=send), self._gateway.limits
        try:
            body = None
            if scope["method"] == "POST":
                async with self._let_in(request) as resize:
                    body = await read_body(request, limits)
                    resize(len(body))
                    await self._until_answered(call, body, receive)
            else:
                await self._until_answered(call, None, receive)
        except ClientDisconnect:
            self._gateway.report(f"request {call.name}: {call.path} the client went away")
        except Exception as error:
            await self._failed(call, scope, receive, refusal_of(error, limits, self._gateway.report))
        else:
            counted = f"{call.counts}{call.reasons}"
            self._gateway.report(f"request {call.name}: {call.path} {call.status} {counted}".rstrip() + call.language)

    @asynccontextmanager
    async def _let_in(self, request: Request) -> AsyncIterator[Callable[[int], None]]:
        """Count a request as active, with the announced and later the real size of its body."""
        length = request.headers.get("content-length", "")
        size = min(int(length), self._gateway.limits.body_bytes) if length.isdigit() else 0
        try:
            self._admission.enter(size)
        except Refusal:
            await skip_body(request, self._gateway.limits)
            raise

        def resize(to: int) -> None:
            nonlocal size
            self._admission.resize(size, to)
            size = to

        try:
            yield resize
        finally:
            self._admission.leave(size)

    async def _until_answered(self, call: _Call, body: bytes | None, receive: Any) -> None:
        """Answer a request, or stop when its client disconnects."""
        work, gone = asyncio.ensure_future(self._answered(call, body)), asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if call.is_complete:  # the server reports a disconnect after the response; packing goes on
                await asyncio.wait((work,))
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.wait((work, gone))
        if work.cancelled():
            raise ClientDisconnect
        work.result()

    async def _failed(self, call: _Call, scope: Any, receive: Any, refusal: Refusal) -> None:
        """Send an error to the client; within a stream as an event that client libraries handle."""
        self._gateway.report(f"request {call.name}: {call.path} {refusal.code} {refusal.status.value}")
        if not call.status:
            await refused(refusal)(scope, receive, call.send)
            return
        error = {"type": "api_error", "code": refusal.code, "message": refusal.message, "param": None}
        event = Event("error", {"type": "error", "error": error, "code": refusal.code, "message": refusal.message})
        await call.part(event.written(), more=False)

    async def _answered(self, call: _Call, body: bytes | None) -> None:
        request, path, conversations = call.request, call.request.scope["path"], self._gateway.conversations
        headers, target = passed_on(request), target_of(request)
        if body is None:
            refuse_body(request)
            async with self._asked("GET", target, headers) as reply:
                await self._as_it_is(call, reply)
            return
        client, named = client_of(conversations, request), named_in(request)
        async with AsyncExitStack() as stack:
            async with self._one_of_the_large(len(body)):
                requests, after, marks = await self._read(path, body, client)
                try:
                    kept, earlier = conversations.find(client, named, marks, after, len(body))
                    await stack.enter_async_context(conversations.request(kept, self._workers.run))
                    exchange, content = await self._rewritten(kept, earlier, requests, len(body))
                finally:
                    if requests:  # it was not rewritten
                        self._workers.free(requests)
                call.kept_words = exchange.kept_words
            del body  # a reply may take minutes
            if self._gateway.show is not None:
                self._gateway.show(f"{path} {content.decode()}")
                message = "nothing was sent: the gateway shows what would have been"
                raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "dry-run", message)
            last = marks[-1] if marks else client

            def mark_replies() -> list[bytes]:
                return conversations.marks.ends(last, restoring.said)

            async def remember(ends: list[bytes]) -> None:
                conversations.remember(kept, exchange, client=client, ends=ends, names=restoring.names)
                if kept.path is not None:
                    try:
                        async with kept.lock:
                            await self._workers.run(conversations.save, kept)
                    except TextveilError as error:  # the reply is valid all the same
                        self._gateway.report(f"request {call.name}: {error.code}: the mapping was not written")

            headers = [*headers, (b"content-type", b"application/json")]
            async with self._asked("POST", target, headers, content) as reply:
                if path not in REPLIES or reply.status != HTTPStatus.OK:
                    await self._as_it_is(call, reply)
                    return
                call.restoring = restoring = REPLIES[path](exchange, self._gateway.tools)
                is_stream = reply.header(b"content-type").startswith(b"text/event-stream")
                await (self._events if is_stream else self._whole)(call, reply, restoring, mark_replies, remember)

    @asynccontextmanager
    async def _one_of_the_large(self, size: int) -> AsyncIterator[None]:
        """Wait until fewer than ``_MOST_LARGE`` other large requests are parsed or rewritten."""
        if size <= MEDIUM:
            yield
            return
        try:
            async with asyncio.timeout(self._gateway.limits.seconds):
                await self._large.acquire()
        except TimeoutError:
            raise busy("too many large requests wait: ask again later") from None
        try:
            yield
        finally:
            self._large.release()

    async def _read(self, path: str, body: bytes, client: bytes) -> tuple[list[Asked], list[str], list[bytes]]:
        """Return the parsed request in a list, the reply ids that it refers to, and its last marks.

        Short bodies are parsed on the event loop. The rewriting function removes the request from the list in a thread,
        since freeing a large one may take long.
        """

        def read() -> tuple[list[Asked], list[str], list[bytes]]:
            refuse_heavy(body, self._gateway.work_bytes)
            asked = read_request(path, parse_json(body), self._gateway.passes, self._gateway.is_field_name)
            marks = self._gateway.conversations.marks.of(client, asked.messages)
            return [asked], asked.after, marks[-MOST_LOOKED_UP:]

        return read() if len(body) <= _AT_ONCE else await self._workers.run(read, size=len(body))

    @asynccontextmanager
    async def _asked(self, method: str, target: str, headers: Headers, content: bytes = b"") -> AsyncIterator[Reply]:
        try:
            async with asyncio.timeout(self._gateway.replies.seconds):
                async with self._gateway.upstream.ask(method, target, headers, content) as reply:
                    yield reply
        except TimeoutError:
            raise failed("did not finish in time", HTTPStatus.GATEWAY_TIMEOUT) from None

    async def _rewritten(
        self, kept: Kept, earlier: Went | None, requests: list[Asked], size: int
    ) -> tuple[Conversation, bytes]:
        """Return the conversation state and the rewritten request; one request at a time."""

        def rewrite() -> tuple[Conversation, bytes]:
            asked, conversation = requests.pop(), self._gateway.conversations.opened(kept)
            before = conversation.went if asked.after and earlier is None else earlier
            if asked.after and (before is None or not (before.tags or before.before)):
                raise InputError(_UNKNOWN)
            exchange = conversation.exchange(before)
            sent = rewritten(asked, exchange, self._gateway.key)
            self._gateway.conversations.save(kept)
            return exchange, json.dumps(sent, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")

        try:
            async with asyncio.timeout(self._gateway.limits.seconds):
                await kept.lock.acquire()
        except TimeoutError:
            raise busy("other requests of the conversation wait: ask again later") from None
        try:
            return await self._workers.run(rewrite, size=size + _UNPACKED * len(kept.packed))
        except Exception as error:
            # The file is unreadable or was replaced: the next request loads it again.
            is_unread = kept.conversation is None and kept.path is not None
            if kept.conversation is None or isinstance(error, ConversationChanged):
                self._gateway.conversations.forget(kept)
            if is_unread and isinstance(error, InputError | KeyFileError):
                error.args = (f"{error}; {_BEGIN_ANEW}",)
            raise
        finally:
            kept.lock.release()

    async def _as_it_is(self, call: _Call, reply: Reply) -> None:
        """Pass a reply without restored texts: lists of models, vectors, and errors with surrogates."""
        body = await reply.body()
        await call.begin(reply)
        await call.part(body, more=False)

    async def _whole(self, call: _Call, reply: Reply, restoring: Restoring, mark: _Mark, remember: _Remember) -> None:
        body = await reply.body()

        def restored() -> tuple[bytes, list[bytes]]:
            try:
                found = parse_finite_json(body.decode("utf-8"), constants=True)
            except ValueError:
                found = None
            if not isinstance(found, dict):
                raise failed("sent a reply that is not an object of JSON")
            audit = CallAudit(restoring.exchange)
            audit.observe(found)
            written = json.dumps(restoring.whole(restoring.claim(found)), ensure_ascii=False).encode(
                "utf-8", "backslashreplace"
            )
            audit.settle(is_end=True)
            restoring.note_unclear(audit.unclear)
            return written, mark()

        written, ends = await self._workers.run(restored, size=len(body))
        await remember(ends)
        await call.begin(reply, content_type="application/json", x_textveil_counts=call.counts)
        await call.part(written, more=False)

    async def _events(self, call: _Call, reply: Reply, restoring: Restoring, mark: _Mark, remember: _Remember) -> None:
        """Pass the restored events of a stream.

        The next part is read after the client has received the last one. The marks of the next request are recorded
        before the client receives the end, since it may send that request at once.
        """
        events, audit = Events(self._gateway.replies.event_bytes), CallAudit(restoring.exchange)

        def restored(part: bytes) -> tuple[list[bytes], list[bytes] | None, Refusal | None]:
            done: list[bytes] = []
            known = len(restoring.said)
            try:
                for event in events.feed(part):
                    audit.observe(event.data)
                    held = restoring.end() if event.data == DONE else ()
                    passed = [event]
                    if isinstance(event.data, dict):
                        passed = restoring.event(event._replace(data=restoring.claim(event.data)))
                    done += [after.written() for after in (*held, *passed)]
            except Refusal as refusal:
                return done, None, refusal
            finally:  # before the client has any of it, and may run a call
                if audit.may_settle:
                    audit.settle()
                restoring.note_unclear(audit.unclear)
            return done, mark() if len(restoring.said) > known else None, None

        def ended() -> tuple[bytes, list[bytes]]:
            rest = b"".join(event.written() for event in restoring.end())
            audit.settle(is_end=True)
            restoring.note_unclear(audit.unclear)
            return rest, mark()

        await call.begin(reply, content_type="text/event-stream; charset=utf-8")
        try:
            async for part in reply.parts():
                call.restored += len(part)
                done, ends, refusal = await self._workers.run(restored, part, size=events.measure_work(part))
                if ends is not None:
                    await remember(ends)
                await call.part(b"".join(done))
                if refusal is not None:
                    raise refusal
            events.close()
        finally:
            ends = []
            with contextlib.suppress(Exception):
                rest, ends = await self._workers.run(ended, size=call.restored)
                await call.part(rest)
        await remember(ends)
        await call.part(f": textveil {call.counts}\n\n".encode(), more=False)


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
