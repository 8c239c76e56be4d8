"""Select the headers and check the paths that the gateway forwards; all others are removed or refused.

The module also identifies the client and the conversation of a request.
"""

import re
from http import HTTPStatus
from urllib.parse import unquote, urlencode

from starlette.requests import Request

from textveil_cli.gateway.conversation_store import ConversationStore
from textveil_cli.gateway.request_fields import FIELDS_BY_PATH
from textveil_cli.gateway.upstream import Headers
from textveil_cli.serve.access import Refusal
from textveil_cli.serve.app import RESPONSE_HEADERS

_CONVERSATION_HEADER = "x-textveil-conversation"
#: Credentials of a client, and further headers of a request that are forwarded to the upstream.
_CREDENTIAL_HEADERS = (b"authorization", b"x-api-key", b"api-key")
_REQUEST_HEADERS = frozenset(
    (*_CREDENTIAL_HEADERS, *b"anthropic-version anthropic-beta openai-organization openai-project openai-beta".split())
)
_REPLY_HEADERS = frozenset(b"content-type retry-after retry-after-ms x-should-retry request-id x-request-id".split())
_REPLY_HEADER_PREFIXES = (b"openai-", b"anthropic-", b"x-ratelimit-")
_QUERY_PARAMETERS = frozenset("beta limit after before after_id before_id order api-version".split())
_MAX_NAME_CHARACTERS = 1_000
_IDENTIFIER = re.compile(r"[\w.:/@-]{0,512}", re.ASCII)
_SEGMENT = re.compile(r"[\w.:@-]{1,512}", re.ASCII)
#: Path of the list of models; an id may follow.
MODELS_PATH = "/v1/models"


def hash_client(conversations: ConversationStore, request: Request) -> bytes:
    """Return the keyed hash that identifies the client that sent a request."""
    return conversations.hasher.hash_client(
        key + b" " + value for key, value in request.headers.raw if key in _CREDENTIAL_HEADERS
    )


def get_conversation_name(request: Request) -> str | None:
    """Return the name of the conversation from the header of a request; ``None`` without the header.

    Raises:
        Refusal: The request has several names, or a name that is empty or too long.
    """
    names = request.headers.getlist(_CONVERSATION_HEADER)
    if not names:
        return None
    if len(names) > 1 or not 0 < len(names[0]) <= _MAX_NAME_CHARACTERS:
        message = f"{_CONVERSATION_HEADER} must occur once and have 1 to {_MAX_NAME_CHARACTERS:,} characters"
        raise Refusal(HTTPStatus.BAD_REQUEST, "header", message)
    return names[0]


def build_target(request: Request) -> str:
    """Build the path and query for the request to the upstream (language model server) from checked parts.

    A known path, such as ``/v1/messages``, is sent unchanged. After ``/v1/models`` the segments of a model id may
    follow; each segment is decoded once. A segment is refused if it then contains a percent sign, a backslash or a
    semicolon, or is ``.`` or ``..``. Servers disagree on the meaning of such a segment.

    Raises:
        Refusal: The path or the query has unsupported parts.
    """
    parameters = request.query_params.multi_items()
    if not all(name in _QUERY_PARAMETERS and _IDENTIFIER.fullmatch(value) for name, value in parameters):
        raise Refusal(HTTPStatus.BAD_REQUEST, "query", "the query of the address has an unknown parameter")
    if len(dict(parameters)) < len(parameters):
        raise Refusal(HTTPStatus.BAD_REQUEST, "query", "the query of the address has a duplicate parameter")
    query = f"?{urlencode(parameters)}" if parameters else ""
    raw = request.scope["raw_path"].decode("latin-1")
    if raw in FIELDS_BY_PATH or raw == MODELS_PATH:
        return raw + query
    prefix, _, name = raw.partition(MODELS_PATH + "/")
    segments = [unquote(segment, "latin-1") for segment in name.split("/")]
    if prefix or not all(map(_SEGMENT.fullmatch, segments)) or not set(segments).isdisjoint((".", "..")):
        raise Refusal(HTTPStatus.NOT_FOUND, "path", "the path does not exist, or does not support this method")
    return "/".join((MODELS_PATH, *segments)) + query


def select_request_headers(request: Request) -> Headers:
    """Return the headers of a request that are forwarded to the upstream (language model server).

    Raises:
        Refusal: One of these headers occurs twice.
    """
    headers = [(key, value) for key, value in request.headers.raw if key in _REQUEST_HEADERS]
    if len(dict(headers)) < len(headers):
        raise Refusal(HTTPStatus.BAD_REQUEST, "header", "the request has a duplicate header")
    return [*headers, (b"user-agent", b"textveil")]


def select_reply_headers(headers: Headers, **own: str) -> Headers:
    """Return the headers to send to the client: the allowed headers of the upstream's reply, and ``own``.

    Args:
        headers: Headers of the reply of the upstream (language model server).
        own: Headers that the gateway adds.
    """
    own_headers = {name.replace("_", "-").encode(): value.encode() for name, value in own.items()}
    forwarded = [
        (key, value) for key, value in headers if key in _REPLY_HEADERS or key.startswith(_REPLY_HEADER_PREFIXES)
    ]
    fixed_headers = [(key.encode(), value.encode()) for key, value in RESPONSE_HEADERS.items()]
    return [*((key, value) for key, value in forwarded if key not in own_headers), *fixed_headers, *own_headers.items()]
