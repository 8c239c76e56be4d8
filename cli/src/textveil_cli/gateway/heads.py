"""Headers and targets of requests and replies: only listed ones are forwarded.

The module also identifies the client and the conversation of a request.
"""

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
#: Credentials of a client, and further headers of a request that are forwarded to the upstream.
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
#: Path of the list of models; an id may follow.
MODELS = "/v1/models"


def client_of(conversations: Conversations, request: Request) -> bytes:
    """Return the keyed hash that represents the client of a request."""
    return conversations.marks.client(key + b" " + value for key, value in request.headers.raw if key in _CREDENTIALS)


def named_in(request: Request) -> str | None:
    """Return the name of the conversation that a request gives, or ``None``.

    Raises:
        Refusal: The request has several names, or an empty or a long one.
    """
    named = request.headers.getlist(_NAMED)
    if not named:
        return None
    if len(named) > 1 or not 0 < len(named[0]) <= _MOST_OF_A_NAME:
        message = f"a conversation has one name, of 1 to {_MOST_OF_A_NAME:,} characters"
        raise Refusal(HTTPStatus.BAD_REQUEST, "header", message)
    return named[0]


def target_of(request: Request) -> str:
    """Return path and query for the upstream, built from checked parts.

    A path of ``PATHS`` is sent unchanged; after ``/v1/models`` the segments of an id may follow. Each segment is
    decoded once. A segment that then has a percent sign, a backslash or a semicolon, or is a dot segment, is refused,
    since servers disagree on the meaning of such a path.

    Raises:
        Refusal: Path or query have other parts than names and settings.
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
    """Return the headers of a request that are forwarded to the upstream.

    Raises:
        Refusal: One of them occurs twice.
    """
    headers = [(key, value) for key, value in request.headers.raw if key in _PASSED]
    if len(dict(headers)) < len(headers):
        raise Refusal(HTTPStatus.BAD_REQUEST, "header", "a header is there twice")
    return [*headers, (b"user-agent", b"textveil")]


def passed_back(headers: Headers, **own: str) -> Headers:
    """Return the headers of a reply that are forwarded to its client, and those of the gateway."""
    named = {name.replace("_", "-").encode(): value.encode() for name, value in own.items()}
    back = [(key, value) for key, value in headers if key in _BACK or key.startswith(_BACK_FAMILIES)]
    ours = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
    return [*((key, value) for key, value in back if key not in named), *ours, *named.items()]
