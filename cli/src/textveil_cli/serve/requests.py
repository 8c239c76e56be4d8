"""Reads the body of a request: JSON with one text or several, within the limits. Errors name no part of it."""

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from textveil.release import counted

from textveil_cli.serve.access import Refusal
from textveil_cli.serve.limits import Limits
from textveil_cli.serve.strict_json import JSONLimitError, parse_finite_json

#: A longer body is read on to its end so that its client reads the answer, up to so many times the limit.
_PATIENCE = 16
_SHAPE = 'give {"text": "..."} or {"texts": ["...", "..."]} and nothing else'
_SCOPED = 'give {"text": "..."} or {"texts": ["...", "..."]}, with "scope": "..." or without'
#: Characters of the name of a scope.
_MOST_OF_A_SCOPE = 1_000


@dataclass(frozen=True)
class Asked:
    """What a request asks for.

    Attributes:
        texts: The texts.
        alone: Whether there was one under ``text`` rather than several under ``texts``.
        scope: The scope that they are charged to; ``None`` where none is named.
    """

    texts: list[str] = field(repr=False)
    alone: bool
    scope: str | None = field(repr=False)


async def read_asked(request: Request, limits: Limits, *, scoped: bool) -> Asked:
    """Reads a request.

    Args:
        request: The request.
        limits: What it may take.
        scoped: Whether it may name a scope.

    Raises:
        Refusal: The body is too long, too slow, is not JSON, or has another shape.
        ClientDisconnect: The client went away.
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
    """Refuse a request that has a body where none is read.

    Raises:
        Refusal: It has one.
    """
    headers = request.headers
    if "transfer-encoding" in headers or headers.get("content-length", "0").strip("0"):
        raise Refusal(HTTPStatus.BAD_REQUEST, "body", "a request with this method has no body")


async def read_json(request: Request, limits: Limits) -> Any:
    """Reads a body that is JSON.

    Raises:
        Refusal: It is too long, too slow, or is not JSON.
        ClientDisconnect: The client went away.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content-type", "the body must be application/json")
    return _parse(await _read(request, limits.body_bytes, limits.seconds))


def _scope(named: Any) -> str:
    if not isinstance(named, str) or not 0 < len(named) <= _MOST_OF_A_SCOPE or not _is_unicode(named):
        message = f"a scope is a string of 1 to {_MOST_OF_A_SCOPE:,} characters"
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "body", message)
    return named


async def _read(request: Request, most: int, seconds: float) -> bytes:
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
                    if size > _PATIENCE * most:
                        break
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} seconds"
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "timeout", message) from None
    if size > most:
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", f"a body may have {most:,} bytes")
    return b"".join(parts)


def _parse(body: bytes) -> Any:
    try:
        return parse_finite_json(body.decode("utf-8"), _unique)
    except JSONLimitError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", f"the body {error}") from None
    except ValueError:
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", "the body is not JSON in UTF-8") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose keys must differ: of two equal ones each reader takes another."""
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
