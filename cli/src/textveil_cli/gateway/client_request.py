"""State of one request of a client while the gateway handles the request."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from textveil import Conversation
from textveil.text import KeptWords

from textveil_cli.gateway.api_replies import ApiReplyRestorer
from textveil_cli.gateway.headers import select_reply_headers
from textveil_cli.gateway.request_fields import FIELDS_BY_PATH
from textveil_cli.gateway.upstream import UpstreamReply


@dataclass(eq=False, kw_only=True)
class ClientRequest:
    """State of one request of a client: conversation, response, and counts for the log line.

    Attributes:
        request: The request.
        send: ASGI function that sends a message to the client.
        request_id: Identifier of the request in the log.
        status: HTTP status of the response; 0 before the response begins.
        exchange: The conversation at the time of this request; ``None`` before names in the request are replaced.
        work_size: Estimated number of characters of the request and of its conversation.
        restorer: Object that puts original words back into the reply; ``None`` before the reply arrives.
        restored_bytes: Number of bytes of a streamed reply that have arrived.
        has_sent_end: Whether the gateway has started to send the event that ends a streamed reply.
        is_complete: Whether the whole response was sent.
        kept_words: Numbers of unchanged and of replaced words in the request (``Conversation.language_words``).
    """

    request: Request
    send: Any
    request_id: str = field(default_factory=lambda: secrets.token_hex(8))
    status: int = 0
    exchange: Conversation | None = None
    work_size: int = 0
    restorer: ApiReplyRestorer | None = None
    restored_bytes: int = 0
    has_sent_end: bool = False
    is_complete: bool = False
    kept_words: KeptWords = field(default_factory=KeptWords)

    @property
    def path(self) -> str:
        """Return the path of the route, such as ``/v1/messages``, for the log; it contains no text of the client."""
        path = self.request.scope["path"]
        return path if path in FIELDS_BY_PATH else "/v1/models"

    async def begin_response(self, reply: UpstreamReply, **own: str) -> None:
        """Send the status and the headers of a reply of the upstream (language model server) to the client.

        Args:
            reply: The reply of the upstream.
            own: Headers that the gateway adds.
        """
        headers = select_reply_headers(reply.headers, x_textveil_request=self.request_id, **own)
        self.status = reply.status
        await self.send({"type": "http.response.start", "status": reply.status, "headers": headers})

    async def send_part(self, body: bytes, more: bool = True) -> None:
        """Send a part of the response body; an empty part is sent only if it is the last."""
        if body or not more:
            self.is_complete = not more
            await self.send({"type": "http.response.body", "body": body, "more_body": more})

    def free_memory(self) -> None:
        """Free large objects of the request step by step, so that other threads can run in between."""
        exchange, self.exchange, self.restorer = self.exchange, None, None
        if exchange is not None:
            exchange.free_memory()

    @property
    def formatted_reasons(self) -> str:
        """Format, for the log line, how many replaced words did not get their original back in the reply, by reason."""
        counts = {} if self.restorer is None else self.restorer.reason_counts
        return "".join(f" {reason}={count}" for reason, count in sorted(counts.items()))

    @property
    def counts(self) -> Mapping[str, int]:
        """Return counts for the log, such as how many replacements became original words again in the reply."""
        return {} if self.restorer is None else self.restorer.counts

    @property
    def formatted_counts(self) -> str:
        """Format the counts about the reply as text for the log line, such as ``restored=2``."""
        return " ".join(f"{name}={count}" for name, count in self.counts.items())

    def format_log_line(self) -> str:
        """Return the log line of a request that was answered without an error."""
        counted = f"{self.formatted_counts}{self.formatted_reasons}"
        return f"request {self.request_id}: {self.path} {self.status} {counted}".rstrip() + self.language_hint

    @property
    def language_hint(self) -> str:
        """Return a hint for the log line that the text may be in another language than the word lists; "" for no hint.

        The hint depends only on counts of words that the sent request reveals, so it may be logged.
        """
        words = self.kept_words
        foreign = f" foreign_words={words.foreign}" if words.foreign else ""
        return f" kept_share={words.share}{foreign} (it may not be English)" if words.may_be_foreign else ""
