"""Parsing of request bodies: JSON with one text or several, within the limits.

Errors contain no part of the body.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import ClientDisconnect, Request
from textveil.release import counted

from textveil_cli.serve.access import Refusal
from textveil_cli.serve.limits import Limits
from textveil_cli.serve.strict_json import JSONLimitError, parse_finite_json

#: A longer body is read to its end, up to this multiple of the limit, so that its client reads the response.
_PATIENCE = 16
_SHAPE = 'give {"text": "..."} or {"texts": ["...", "..."]} and nothing else'
_SCOPED = 'give {"text": "..."} or {"texts": ["...", "..."]}, with "scope": "..." or without'
#: Maximum number of characters in the name of a privacy unit.
_MOST_OF_A_SCOPE = 1_000


@dataclass(frozen=True)
class Asked:
    """The parsed body of a request.

    Attributes:
        texts: The texts.
        alone: Whether the body has one text under ``text`` rather than a list under ``texts``.
        scope: The privacy unit of the texts; ``None`` if the body names none.
    """

    texts: list[str] = field(repr=False)
    alone: bool
    scope: str | None = field(repr=False)


async def read_asked(request: Request, limits: Limits, *, scoped: bool) -> Asked:
    """Read and parse a request.

    Args:
        request: The request.
        limits: Its limits.
        scoped: Whether it may name a privacy unit.

    Raises:
        Refusal: The body is too long, too slow, not JSON, or has another structure.
        ClientDisconnect: The client disconnected.
    """
    body = await read_json(request, limits)
    shape = Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "body", _SCOPED if scoped else _SHAPE)
    if not isinstance(body, dict) or set(body) - ({"scope"} if scoped else set()) not in ({"text"}, {"texts"}):
        raise shape
    alone = "text" in body
    texts = [body["text"]] if alone else body["texts"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise shape
    if len(texts) > limits.texts:
        raise Refusal(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", f"at most {counted(limits.texts, 'text')} in a request"
        )
    for number, text in enumerate(texts, 1):
        if not text.isascii() and not _is_unicode(text):
            message = f"text {number} of {len(texts)} has half of a surrogate pair"
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "body", message)
    return Asked(texts, alone, _scope(body["scope"]) if "scope" in body else None)


def refuse_body(request: Request) -> None:
    """Raise ``Refusal`` if a request has a body although its method takes none."""
    headers = request.headers
    if "transfer-encoding" in headers or headers.get("content-length", "0").strip("0"):
        raise Refusal(HTTPStatus.BAD_REQUEST, "body", "a request with this method has no body")


async def read_json(request: Request, limits: Limits) -> Any:
    """Read and parse a JSON body.

    Raises:
        Refusal: The body is too long, too slow, or not JSON.
        ClientDisconnect: The client disconnected.
    """
    return parse_json(await read_body(request, limits))


async def read_body(request: Request, limits: Limits) -> bytes:
    """Read a body with the content type JSON.

    Raises:
        Refusal: The body is too long or too slow, or has another content type.
        ClientDisconnect: The client disconnected.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content-type", "the body must be application/json")
    return await _read(request, limits.body_bytes, limits.seconds)


async def skip_body(request: Request, limits: Limits) -> None:
    """Read a body to its end and discard it.

    Otherwise its client would see a reset connection instead of the response.
    """
    with suppress(Refusal, ClientDisconnect):
        await _read(request, 0, limits.seconds, _PATIENCE * limits.body_bytes)


def _scope(named: Any) -> str:
    if not isinstance(named, str) or not 0 < len(named) <= _MOST_OF_A_SCOPE or not _is_unicode(named):
        message = f"a scope is a string of 1 to {_MOST_OF_A_SCOPE:,} characters"
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "body", message)
    return named


async def _read(request: Request, most: int, seconds: float, patience: int = 0) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size <= most:
                    parts.append(part)
                else:
                    parts.clear()
                    if size > (patience or _PATIENCE * most):
                        break
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} seconds"
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "timeout", message) from None
    if size > most:
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", f"a body may have {most:,} bytes")
    return b"".join(parts)


def parse_json(body: bytes) -> Any:
    """Parse a body.

    Raises:
        Refusal: The body is not JSON in UTF-8, an object has a key twice, or a limit is exceeded.
    """
    try:
        return parse_finite_json(body.decode("utf-8"), _unique)
    except JSONLimitError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", f"the body {error}") from None
    except ValueError:
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", "the body is not JSON in UTF-8") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, or refuse duplicate keys, among which JSON parsers choose differently.

    Raises:
        Refusal: A key appears twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", "an object of the body has a key twice")
    return found


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
