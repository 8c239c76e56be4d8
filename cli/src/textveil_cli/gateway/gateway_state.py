"""Class with the options and objects of a gateway that all requests share."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from textveil_cli.gateway.conversation_store import ConversationStore
from textveil_cli.gateway.exchange_review import RequestObserver
from textveil_cli.gateway.upstream import ReplyLimits, UpstreamClient
from textveil_cli.serve.limits import RequestLimits


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """Options and objects of a gateway that all requests share.

    Attributes:
        upstream: HTTP client for the server of the language model.
        conversations: Store of the conversations.
        limits: Limits of a request.
        reply_limits: Limits of a reply.
        pass_through: Content types, roles and fields that the gateway sends unchanged.
        restore_tools: Names of tools that are called with original words; all others get replaced words.
        work_bytes: Maximum memory for replacing words in a request, estimated from the bytes of the request.
        key: Key of the hashes that replace ids of users.
        report: Function that receives one log line per request, without content.
        is_field_name: Function that takes the name of an unknown field of a request, and returns whether an error may
            contain it.
        show_request: In a dry run, which sends nothing, the function that prints the rewritten request, and each
            changed word beside its original; otherwise ``None``.
        count_replaced: Function that returns how many tokens of a text are replaced or randomized.
        count_request: Function that receives the path, the status and the counts of each request.
        observer: Object that receives the texts of requests and replies, for ``--review-page``.
    """

    upstream: UpstreamClient
    conversations: ConversationStore
    limits: RequestLimits = field(default_factory=RequestLimits)
    reply_limits: ReplyLimits = field(default_factory=ReplyLimits)
    pass_through: frozenset[str] = frozenset()
    restore_tools: frozenset[str] = frozenset()
    work_bytes: int = 1 << 29
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    report: Callable[[str], None] = lambda line: None
    is_field_name: Callable[[str], bool] = lambda name: False
    show_request: Callable[[str], None] | None = None
    count_replaced: Callable[[str], int] = lambda text: 0
    count_request: Callable[[str, int, Mapping[str, int]], None] = lambda path, status, counts: None
    observer: RequestObserver = field(default_factory=RequestObserver)
