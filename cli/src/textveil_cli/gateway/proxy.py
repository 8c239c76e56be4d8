"""Request handler of the gateway: replace names in a request, forward it, and put names back into the reply.

Requests are forwarded to the upstream (language model server). If the client disconnects, the request to the upstream
is canceled.

Privacy:
    No content of a request or reply is logged, stored or quoted in an error. A log line contains an id of the request,
    its path and counts.
"""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Any

from starlette.requests import ClientDisconnect, Request
from textveil import Conversation
from textveil.conversation import ExchangeHistory
from textveil.errors import ConversationChanged, InputError, KeyFileError, TextveilError
from textveil.formatting import format_count
from textveil.work_steps import SteppedJSONEncoder, free_in_steps

from textveil_cli.gateway.anthropic_replies import AnthropicReplyRestorer
from textveil_cli.gateway.api_replies import ApiReplyRestorer
from textveil_cli.gateway.call_audit import CallAudit
from textveil_cli.gateway.chat_replies import ChatReplyRestorer
from textveil_cli.gateway.client_request import ClientRequest
from textveil_cli.gateway.conversation_store import MAX_LOOKED_UP, StoredConversation
from textveil_cli.gateway.differences import iterate_differences, list_system_roles, list_system_texts
from textveil_cli.gateway.gateway_state import Gateway
from textveil_cli.gateway.headers import (
    build_target,
    get_conversation_name,
    hash_client,
    select_request_headers,
)
from textveil_cli.gateway.interpreter import return_free_pages
from textveil_cli.gateway.memory_estimates import refuse_heavy_body
from textveil_cli.gateway.request_fields import CheckedRequest, check_request, rewrite_request
from textveil_cli.gateway.responses_replies import ResponsesReplyRestorer
from textveil_cli.gateway.sse import DONE, EventReader, ServerSentEvent
from textveil_cli.gateway.upstream import Headers, UpstreamReply, make_dry_run_refusal, make_upstream_refusal
from textveil_cli.gateway.workers import (
    MAX_MEDIUM_CHARACTERS,
    MAX_SHORT_CHARACTERS,
    RequestAdmission,
    WorkerPool,
    make_busy_refusal,
)
from textveil_cli.serve.access import Refusal
from textveil_cli.serve.app import convert_error, make_error_response
from textveil_cli.serve.requests import parse_json, read_body, refuse_body
from textveil_cli.serve.strict_json import parse_finite_json

#: Restorer of the replies to each path. Replies to other paths pass unchanged.
RESTORERS_BY_PATH: Mapping[str, type[ApiReplyRestorer]] = {
    "/v1/chat/completions": ChatReplyRestorer,
    "/v1/responses": ResponsesReplyRestorer,
    "/v1/messages": AnthropicReplyRestorer,
}
#: Function that returns the hashes of the restored replies; function that stores the hashes for the next request.
_HashReplies = Callable[[], list[bytes]]
_StoreReplyIds = Callable[[list[bytes]], Awaitable[None]]
_NEW_CONVERSATION_HINT = "to start a new conversation, send DELETE /conversation with the same X-Textveil-Conversation"
_UNKNOWN_REPLY_MESSAGE = (
    "the request refers to a reply that the gateway does not have or no longer has: send all messages in a new "
    "conversation"
)
#: Maximum number of large requests that are parsed or rewritten at the same time, since each needs much memory.
_MAX_LARGE_REQUESTS = 2
#: Maximum bytes of a body that is parsed on the event loop, which takes some tens of microseconds; and estimated number
#: of characters per byte of a packed conversation.
_EVENT_LOOP_BYTES, _CHARACTERS_PER_PACKED_BYTE = 1 << 12, 8
#: Maximum number of consecutive garbage collections that are skipped while large requests are active.
_MAX_DELAYED_COLLECTIONS = 10
_encode_request = SteppedJSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_reply = SteppedJSONEncoder(ensure_ascii=False).encode


class GatewayRequestHandler:
    """ASGI handler that replaces names in requests, and puts the original names back into replies.

    If the client disconnects, the handler cancels the request to the upstream (language model server).
    """

    def __init__(self, gateway: Gateway, workers: WorkerPool) -> None:
        self._gateway, self._workers = gateway, workers
        self._has_reported_system_prompt = self._has_reported_language = False
        self._delayed_collections = 0
        self._admission, self._large = RequestAdmission(), asyncio.Semaphore(_MAX_LARGE_REQUESTS)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle a request and send its response; convert any exception to an error response."""
        request = Request(scope, receive)
        call, limits = ClientRequest(request=request, send=send), self._gateway.limits
        try:
            body = None
            if scope["method"] == "POST":
                async with self._admit_request(request) as resize:
                    body = await read_body(request, limits)
                    resize(len(body))
                    await self._answer_while_connected(call, body, receive)
            else:
                await self._answer_while_connected(call, None, receive)
        except ClientDisconnect:
            self._gateway.report(f"request {call.request_id}: {call.path} the client disconnected")
        except Exception as error:
            await self._send_error(call, scope, receive, convert_error(error, limits, self._gateway.report))
        else:
            self._gateway.report(call.format_log_line())
        self._gateway.count_request(call.path, call.status, call.counts)
        self._gateway.observer.end_request(call.request_id, call.status)
        if call.work_size > MAX_SHORT_CHARACTERS:  # freeing a large mapping takes long
            self._workers.free_in_thread(call.free_memory)
        if call.work_size > MAX_MEDIUM_CHARACTERS:
            self._workers.free_in_thread(return_free_pages)

    def collect_garbage(self) -> None:
        """Run the garbage collector, unless objects of a large request exist, since collection then takes long.

        The collection is skipped only a limited number of times in a row.
        """
        self._delayed_collections += 1
        has_large = self._admission.active_bytes > MAX_MEDIUM_CHARACTERS or self._workers.is_processing_long
        if not has_large or self._delayed_collections > _MAX_DELAYED_COLLECTIONS:
            self._delayed_collections = 0
            gc.collect()

    @asynccontextmanager
    async def _admit_request(self, request: Request) -> AsyncIterator[Callable[[int], None]]:
        """Count a request as active inside the ``async with`` block, or refuse it if too many are active.

        The request first counts with the size in its ``Content-Length`` header. The yielded function corrects this size
        after the body was read.
        """
        length = request.headers.get("content-length", "")
        size = min(int(length), self._gateway.limits.body_bytes) if length.isdigit() else 0
        self._admission.admit_request(size)

        def resize(to: int) -> None:
            nonlocal size
            self._admission.correct_size(size, to)
            size = to

        try:
            yield resize
        finally:
            self._admission.release_request(size)

    async def _answer_while_connected(self, call: ClientRequest, body: bytes | None, receive: Any) -> None:
        """Handle a request; if the client disconnects meanwhile, raise ``ClientDisconnect`` at once."""
        work, disconnect = (
            asyncio.ensure_future(self._answer(call, body)),
            asyncio.ensure_future(_wait_for_disconnect(receive)),
        )
        try:
            await asyncio.wait((work, disconnect), return_when=asyncio.FIRST_COMPLETED)
            if call.is_complete:  # the server reports a disconnect after the response; packing continues
                await asyncio.wait((work,))
        finally:
            for task in (work, disconnect):
                task.cancel()
            await asyncio.wait((work, disconnect))
        if not work.cancelled():
            work.result()
        elif not call.has_sent_end:  # clients may close the connection after the last event
            raise ClientDisconnect

    async def _send_error(self, call: ClientRequest, scope: Any, receive: Any, refusal: Refusal) -> None:
        """Send an error to the client.

        If a stream has begun, the error is an event that client libraries recognize.
        """
        self._gateway.report(f"request {call.request_id}: {call.path} {refusal.code} {refusal.status.value}")
        if not call.status:
            call.status = refusal.status.value
            await make_error_response(refusal)(scope, receive, call.send)
            return
        error = {"type": "api_error", "code": refusal.code, "message": refusal.message, "param": None}
        event = ServerSentEvent(
            "error", {"type": "error", "error": error, "code": refusal.code, "message": refusal.message}
        )
        await call.send_part(event.encode(), more=False)

    async def _answer(self, call: ClientRequest, body: bytes | None) -> None:
        request, path, conversations = call.request, call.request.scope["path"], self._gateway.conversations
        headers, target = select_request_headers(request), build_target(request)
        if body is None:
            refuse_body(request)
            if self._gateway.show_request is not None:
                raise make_dry_run_refusal()
            async with self._request_upstream("GET", target, headers) as reply:
                await self._pass_reply(call, reply)
            return
        client, conversation_name = hash_client(conversations, request), get_conversation_name(request)
        async with AsyncExitStack() as stack:
            async with self._limit_large_requests(len(body)):
                requests, reply_ids, message_hashes = await self._read_request(path, body, client)
                try:
                    stored, earlier = conversations.find_conversation(
                        client, conversation_name, message_hashes, reply_ids, len(body)
                    )
                    await stack.enter_async_context(conversations.track_request(stored, self._workers.run_job))
                    exchange, content, changes = await self._rewrite_request(stored, earlier, requests, len(body), call)
                finally:
                    if requests:  # the request was not rewritten
                        self._workers.free_in_thread(requests.pop().free_memory)
                call.exchange, call.kept_words = exchange, exchange.language_words
                self._report_language(call)
                call.work_size = _estimate_work(len(body), stored)
            del body  # a reply may take minutes
            if self._gateway.show_request is not None:
                for line in (f"{path} {content.decode()}", *changes):
                    self._gateway.show_request(line)
                raise make_dry_run_refusal()
            last_hash = message_hashes[-1] if message_hashes else client

            def hash_replies() -> list[bytes]:
                return conversations.hasher.hash_replies(last_hash, restorer.restored_messages)

            async def store_reply_ids(reply_hashes: list[bytes]) -> None:
                conversations.store_reply_ids(
                    stored, exchange, client=client, reply_hashes=reply_hashes, reply_ids=restorer.reply_ids
                )
                if stored.name_hash is not None:
                    try:
                        async with stored.lock:
                            await self._workers.run_job(conversations.save_conversation, stored)
                    except TextveilError as error:  # the reply is valid nevertheless
                        self._gateway.report(f"request {call.request_id}: {error.code}: the mapping was not written")

            headers = [*headers, (b"content-type", b"application/json")]
            is_restored = path in RESTORERS_BY_PATH
            prepared = is_restored and await stack.enter_async_context(self._prepare_restoring(exchange, len(content)))
            async with self._request_upstream("POST", target, headers, content) as reply:
                if not prepared or reply.status != HTTPStatus.OK:
                    await self._pass_reply(call, reply)
                    return
                if len(content) > MAX_SHORT_CHARACTERS:  # otherwise the thread for short texts would do this work
                    await prepared
                call.restorer = restorer = RESTORERS_BY_PATH[path](exchange, self._gateway.restore_tools)
                is_stream = reply.get_header(b"content-type").startswith(b"text/event-stream")
                await (self._restore_event_stream if is_stream else self._restore_whole_reply)(
                    call, reply, restorer, hash_replies, store_reply_ids
                )

    @asynccontextmanager
    async def _limit_large_requests(self, size: int) -> AsyncIterator[None]:
        """Wait until fewer than ``_MAX_LARGE_REQUESTS`` other large requests are being processed."""
        if size <= MAX_MEDIUM_CHARACTERS:
            yield
            return
        try:
            async with asyncio.timeout(self._gateway.limits.seconds):
                await self._large.acquire()
        except TimeoutError:
            raise make_busy_refusal("too many large requests are waiting: retry later") from None
        try:
            yield
        finally:
            self._large.release()

    async def _read_request(
        self, path: str, body: bytes, client: bytes
    ) -> tuple[list[CheckedRequest], list[str], list[bytes]]:
        """Parse and check the body of a request.

        Short bodies are parsed on the event loop, others in a worker thread.

        Returns:
            A list with the checked request, the ids of earlier replies in it, and the hashes of its last messages. The
            request is in a list so that a worker thread can remove it from the list and free its memory, which takes
            long for a large request.
        """

        def read_body() -> tuple[list[CheckedRequest], list[str], list[bytes]]:
            refuse_heavy_body(body, self._gateway.work_bytes)
            request = check_request(path, parse_json(body), self._gateway.pass_through, self._gateway.is_field_name)
            hashes = self._gateway.conversations.hasher.hash_messages(client, request.messages)
            return [request], request.reply_ids, hashes[-MAX_LOOKED_UP:]

        return read_body() if len(body) <= _EVENT_LOOP_BYTES else await self._workers.run_job(read_body, size=len(body))

    @asynccontextmanager
    async def _prepare_restoring(self, exchange: Conversation, size: int) -> AsyncIterator[asyncio.Task[None]]:
        """Call ``Conversation.prepare_reply`` in a worker thread while the caller waits for the language model.

        Yields:
            The asyncio task of the call. At the end of the ``async with`` block, the task has ended or is canceled.
        """
        task = asyncio.ensure_future(self._workers.run_job(exchange.prepare_reply, size=size))
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait((task,))
            if not task.cancelled():
                task.exception()  # the restoring job raises the same error

    @asynccontextmanager
    async def _request_upstream(
        self, method: str, target: str, headers: Headers, content: bytes = b""
    ) -> AsyncIterator[UpstreamReply]:
        try:
            async with asyncio.timeout(self._gateway.reply_limits.seconds):
                async with self._gateway.upstream.send_request(method, target, headers, content) as reply:
                    yield reply
        except TimeoutError:
            raise make_upstream_refusal("did not finish in time", HTTPStatus.GATEWAY_TIMEOUT) from None

    def _report_system_prompt(self, original: Mapping[str, Any], rewritten: Mapping[str, Any], request_id: str) -> None:
        """Log that the gateway replaced words in a system prompt, and how many; log this only once.

        The model then gets other instructions than the user wrote. The number may be logged, since the request that is
        sent reveals it.
        """
        texts = list_system_texts(original)
        if self._has_reported_system_prompt or texts == list_system_texts(rewritten):
            return
        self._has_reported_system_prompt = True
        count = sum(map(self._gateway.count_replaced, texts))
        roles = " --pass-through ".join(list_system_roles(original))
        self._gateway.report(
            f"request {request_id}: the system prompt changed in {format_count(count, 'place')}, which --dry-run "
            f"prints; --pass-through {roles} sends it unchanged (reported once)"
        )

    def _report_language(self, call: ClientRequest) -> None:
        """Log, once, that a request may be in another language than the word lists, and which option to set."""
        if self._has_reported_language or call.exchange is None or not call.kept_words.may_be_foreign:
            return
        self._has_reported_language = True
        is_english = call.exchange.sanitizer.bundle.is_builtin
        hint = call.kept_words.describe_language(is_english=is_english, option="--language, such as de,")
        self._gateway.report(f"request {call.request_id}: {hint} (reported once)")

    async def _rewrite_request(
        self,
        stored: StoredConversation,
        earlier: ExchangeHistory | None,
        requests: list[CheckedRequest],
        size: int,
        call: ClientRequest,
    ) -> tuple[Conversation, bytes, list[str]]:
        """Replace names in a request, in a worker thread.

        Returns:
            The conversation at the time of this request; the body to send; and lines that show the owner of the
            device what changed; empty unless this is a dry run.
        """

        def rewrite() -> tuple[Conversation, bytes, list[str]]:
            with requests.pop().free_afterward() as request:
                conversation, history = self._gateway.conversations.open_conversation(stored), earlier
                if request.reply_ids and (
                    earlier is None or not conversation.history.tags
                ):  # another gateway deleted it
                    history = conversation.history
                if request.reply_ids and (history is None or not (history.tags or history.previous)):
                    raise InputError(_UNKNOWN_REPLY_MESSAGE)
                exchange = conversation.start_exchange(history)
                sent = rewrite_request(request, exchange, self._gateway.key)
                self._gateway.conversations.save_conversation(stored)
                self._report_system_prompt(request.body, sent, call.request_id)
                self._gateway.observer.add_request(call.request_id, call.path, request.body, sent)
                changes = [*iterate_differences(request.body, sent)] if self._gateway.show_request else []
                encoded = _encode_request(sent).encode("utf-8", "replace")
                free_in_steps(sent)
                return exchange, encoded, changes

        try:
            async with asyncio.timeout(self._gateway.limits.seconds):
                await stored.lock.acquire()
        except TimeoutError:
            raise make_busy_refusal("other requests of this conversation are waiting: retry later") from None
        try:
            return await self._workers.run_job(rewrite, size=_estimate_work(size, stored))
        except Exception as error:
            # The mapping is unreadable or was replaced: the next request reads it again.
            is_unloaded = stored.conversation is None and stored.name_hash is not None
            if stored.conversation is None or isinstance(error, ConversationChanged):
                self._gateway.conversations.forget_conversation(stored)
            if is_unloaded and isinstance(error, InputError | KeyFileError):
                error.args = (f"{error}; {_NEW_CONVERSATION_HINT}",)
            raise
        finally:
            stored.lock.release()

    async def _pass_reply(self, call: ClientRequest, reply: UpstreamReply) -> None:
        """Send a reply that has no text of the model (models, embeddings or an error) unchanged to the client."""
        body = await reply.read_body()
        await call.begin_response(reply)
        await call.send_part(body, more=False)

    async def _restore_whole_reply(
        self,
        call: ClientRequest,
        reply: UpstreamReply,
        restorer: ApiReplyRestorer,
        hash_replies: _HashReplies,
        store_reply_ids: _StoreReplyIds,
    ) -> None:
        body, steps = await reply.read_body(), self._gateway.observer.observe_reply(call.request_id, restorer)

        def restore() -> tuple[bytes, list[bytes]]:
            try:
                parsed = parse_finite_json(body.decode("utf-8"), allow_constants=True)
            except ValueError:
                parsed = None
            if not isinstance(parsed, dict):
                raise make_upstream_refusal("sent a reply that is not a JSON object")
            audit = CallAudit(restorer.exchange)
            audit.observe(parsed)
            restored = steps.restore_whole(restorer.claim_reply(parsed))
            written = _encode_reply(restored).encode("utf-8", "backslashreplace")
            audit.count_unrecorded(is_end=True)
            restorer.note_unclear(audit.unclear_count)
            return written, hash_replies()

        written, reply_hashes = await self._workers.run_job(restore, size=len(body))
        await store_reply_ids(reply_hashes)
        await call.begin_response(reply, content_type="application/json", x_textveil_counts=call.formatted_counts)
        await call.send_part(written, more=False)

    async def _restore_event_stream(
        self,
        call: ClientRequest,
        reply: UpstreamReply,
        restorer: ApiReplyRestorer,
        hash_replies: _HashReplies,
        store_reply_ids: _StoreReplyIds,
    ) -> None:
        """Put original words back into the events of a streamed reply, and send the events to the client.

        The next part of the reply is read only after the client has received the previous part. The client may send its
        next request as soon as it receives the end of the stream. The hashes by which that request finds the
        conversation are therefore stored before the end is sent.
        """
        events, audit = EventReader(self._gateway.reply_limits.event_bytes), CallAudit(restorer.exchange)
        steps = self._gateway.observer.observe_reply(call.request_id, restorer)

        def restore_part(part: bytes) -> tuple[list[bytes], list[bytes] | None, Refusal | None]:
            done: list[bytes] = []
            known_count = len(restorer.restored_messages)
            try:
                for event in events.feed(part):
                    audit.observe(event.data)
                    call.has_sent_end |= event.ends_reply
                    held: Iterable[ServerSentEvent] = steps.end_stream() if event.data == DONE else ()
                    passed: Iterable[ServerSentEvent] = [event]
                    if isinstance(event.data, dict):
                        passed = steps.restore_event(event._replace(data=restorer.claim_reply(event.data)))
                    done += [after.encode() for after in (*held, *passed)]
            except Refusal as refusal:
                return done, None, refusal
            finally:  # before the client receives a call that it may run
                if audit.has_ended_part:
                    audit.count_unrecorded()
                restorer.note_unclear(audit.unclear_count)
            return done, hash_replies() if len(restorer.restored_messages) > known_count else None, None

        def finish() -> tuple[bytes, list[bytes]]:
            rest = b"".join(event.encode() for event in steps.end_stream())
            audit.count_unrecorded(is_end=True)
            restorer.note_unclear(audit.unclear_count)
            return rest, hash_replies()

        await call.begin_response(reply, content_type="text/event-stream; charset=utf-8")
        try:
            async for part in reply.iterate_parts():
                call.restored_bytes += len(part)
                done, reply_hashes, refusal = await self._workers.run_job(
                    restore_part, part, size=events.measure_work(part)
                )
                if reply_hashes is not None:
                    await store_reply_ids(reply_hashes)
                await call.send_part(b"".join(done))
                if refusal is not None:
                    raise refusal
            events.close()
        finally:
            reply_hashes = []
            with contextlib.suppress(Exception):
                rest, reply_hashes = await self._workers.run_job(finish, size=call.restored_bytes)
                await call.send_part(rest)
        await store_reply_ids(reply_hashes)
        await call.send_part(f": textveil {call.formatted_counts}\n\n".encode(), more=False)


def _estimate_work(size: int, stored: StoredConversation) -> int:
    """Return the estimated number of characters of a request of ``size`` bytes and of its conversation."""
    return size + _CHARACTERS_PER_PACKED_BYTE * len(stored.packed)


async def _wait_for_disconnect(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
