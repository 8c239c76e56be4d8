"""Heads of requests and replies: what of them goes on, and who asks. What is on no list here stays."""

import re
from http import HTTPStatus
from urllib.parse import unquote, urlencode

from starlette.requests import Request

from textveil_cli.gateway.conversations import Conversations
from textveil_cli.gateway.fields import PATHS
from textveil_cli.gateway.upstream import Headers
from textveil_cli.serve.access import Refusal
from textveil_cli.serve.app import HEADERS

_NAMED = "x-textveil-conversation"
#: Headers of a request by which the upstream knows its client, and others that go on to it.
_CREDENTIALS = (b"authorization", b"x-api-key", b"api-key")
_PASSED = frozenset(
    (*_CREDENTIALS, *b"anthropic-version anthropic-beta openai-organization openai-project openai-beta".split())
)
_BACK = frozenset(b"content-type retry-after retry-after-ms x-should-retry request-id x-request-id".split())
_BACK_FAMILIES = (b"openai-", b"anthropic-", b"x-ratelimit-")
_QUERY = frozenset("beta limit after before after_id before_id order api-version".split())
_MOST_OF_A_NAME = 1_000
_IDENTIFIER = re.compile(r"[\w.:/@-]{0,512}", re.ASCII)
_SEGMENT = re.compile(r"[\w.:@-]{1,512}", re.ASCII)
#: Where the upstream lists its models; an identifier may follow.
MODELS = "/v1/models"


def client_of(conversations: Conversations, request: Request) -> bytes:
    """Returns what stands for the client of a request."""
    return conversations.marks.client(key + b" " + value for key, value in request.headers.raw if key in _CREDENTIALS)


def named_in(request: Request) -> str | None:
    """Returns the name of the conversation that a request belongs to, if it has one.

    Raises:
        Refusal: It has several, or a long one.
    """
    named = request.headers.getlist(_NAMED)
    if not named:
        return None
    if len(named) > 1 or not 0 < len(named[0]) <= _MOST_OF_A_NAME:
        message = f"a conversation has one name, of 1 to {_MOST_OF_A_NAME:,} characters"
        raise Refusal(HTTPStatus.BAD_REQUEST, "header", message)
    return named[0]


def target_of(request: Request) -> str:
    """Return path and query for the upstream, made of parts that were checked.

    A path of ``PATHS`` goes out as it stands there; after ``/v1/models`` follow segments of an identifier. Each is
    decoded once: what still has a percent sign, a dot segment, a backslash or a semicolon then is refused, since
    servers disagree on what such a path means.

    Raises:
        Refusal: They have more than names and settings.
    """
    asked = request.query_params.multi_items()
    if not all(name in _QUERY and _IDENTIFIER.fullmatch(value) for name, value in asked):
        raise Refusal(HTTPStatus.BAD_REQUEST, "query", "the address has a query that is not known")
    if len(dict(asked)) < len(asked):
        raise Refusal(HTTPStatus.BAD_REQUEST, "query", "the address has a name twice in its query")
    query = f"?{urlencode(asked)}" if asked else ""
    raw = request.scope["raw_path"].decode("latin-1")
    if raw in PATHS or raw == MODELS:
        return raw + query
    prefix, _, name = raw.partition(MODELS + "/")
    segments = [unquote(segment, "latin-1") for segment in name.split("/")]
    if prefix or not all(map(_SEGMENT.fullmatch, segments)) or not set(segments).isdisjoint((".", "..")):
        raise Refusal(HTTPStatus.NOT_FOUND, "path", "there is no such path, or not with this method")
    return "/".join((MODELS, *segments)) + query


def passed_on(request: Request) -> Headers:
    """Returns the headers of a request that go on.

    Raises:
        Refusal: One of them is there twice.
    """
    headers = [(key, value) for key, value in request.headers.raw if key in _PASSED]
    if len(dict(headers)) < len(headers):
        raise Refusal(HTTPStatus.BAD_REQUEST, "header", "a header is there twice")
    return [*headers, (b"user-agent", b"textveil")]


def passed_back(headers: Headers, **own: str) -> Headers:
    """Returns the headers of a reply that its client gets, and ours."""
    named = {name.replace("_", "-").encode(): value.encode() for name, value in own.items()}
    back = [(key, value) for key, value in headers if key in _BACK or key.startswith(_BACK_FAMILIES)]
    ours = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
    return [*((key, value) for key, value in back if key not in named), *ours, *named.items()]
