"""Parsing of request bodies: JSON with one text or a list of texts, within the limits of the service.

Errors contain no part of the body.
"""

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from textveil.formatting import format_count

from textveil_cli.serve.access import Refusal
from textveil_cli.serve.limits import RequestLimits
from textveil_cli.serve.strict_json import JSONLimitError, parse_finite_json

_SHAPE_HINT = 'the body must be {"text": "..."} or {"texts": ["...", "..."]}, without other keys'
_UNIT_SHAPE_HINT = (
    'the body must be {"text": "..."} or {"texts": ["...", "..."]}, optionally with "privacy_unit": "..."'
)
#: Maximum number of characters in the name of a privacy unit.
_MAX_UNIT_CHARACTERS = 1_000


@dataclass(frozen=True)
class TextsRequest:
    """Parsed body of a request with texts.

    Attributes:
        texts: The texts.
        is_single: Whether the body has one text in the field ``text``, rather than a list in the field ``texts``.
        privacy_unit: Person or group for whom the ledger records the epsilon of the texts; ``None`` if the body names
            none.
    """

    texts: list[str] = field(repr=False)
    is_single: bool
    privacy_unit: str | None = field(repr=False)


async def read_texts_request(request: Request, limits: RequestLimits, *, has_privacy_units: bool) -> TextsRequest:
    """Read and parse the body of a request with texts.

    Args:
        request: The request.
        limits: Limits of the service.
        has_privacy_units: Whether the body may name a privacy unit (person or group for whom epsilon is added up).

    Raises:
        Refusal: The body is too long, arrives too slowly, is not JSON, or has another structure.
        ClientDisconnect: The client disconnected.
    """
    body = await read_json(request, limits)
    shape = Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "body", _UNIT_SHAPE_HINT if has_privacy_units else _SHAPE_HINT)
    if not isinstance(body, dict) or set(body) - ({"privacy_unit"} if has_privacy_units else set()) not in (
        {"text"},
        {"texts"},
    ):
        raise shape
    is_single = "text" in body
    texts = [body["text"]] if is_single else body["texts"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise shape
    if len(texts) > limits.texts:
        raise Refusal(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too-many",
            f"a request may have at most {format_count(limits.texts, 'text')}",
        )
    for number, text in enumerate(texts, 1):
        if not text.isascii() and not _is_unicode(text):
            message = f"text {number} of {len(texts)} has half of a surrogate pair"
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "body", message)
    return TextsRequest(texts, is_single, _check_privacy_unit(body["privacy_unit"]) if "privacy_unit" in body else None)


def refuse_body(request: Request) -> None:
    """Raise ``Refusal`` if a request has a body although requests with its method must have none."""
    headers = request.headers
    if "transfer-encoding" in headers or headers.get("content-length", "0").strip("0"):
        raise Refusal(HTTPStatus.BAD_REQUEST, "body", "a request with this method must have no body")


async def read_json(request: Request, limits: RequestLimits) -> Any:
    """Read a JSON body, and return the parsed value.

    Raises:
        Refusal: The body is too long, arrives too slowly, or is not JSON.
        ClientDisconnect: The client disconnected.
    """
    return parse_json(await read_body(request, limits))


async def read_body(request: Request, limits: RequestLimits) -> bytes:
    """Read the body of a request whose content type is JSON, and return its bytes.

    Raises:
        Refusal: The body is too long, arrives too slowly, or has another content type.
        ClientDisconnect: The client disconnected.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content-type", "the body must be application/json")
    return await _read_limited(request, limits.body_bytes, limits.seconds)


def _check_privacy_unit(privacy_unit: Any) -> str:
    if (
        not isinstance(privacy_unit, str)
        or not 0 < len(privacy_unit) <= _MAX_UNIT_CHARACTERS
        or not _is_unicode(privacy_unit)
    ):
        message = f"privacy_unit is a string of 1 to {_MAX_UNIT_CHARACTERS:,} characters"
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "body", message)
    return privacy_unit


async def _read_limited(request: Request, max_bytes: int, seconds: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > max_bytes:
                    message = f"a body may have at most {max_bytes:,} bytes"
                    raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", message)
                parts.append(part)
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} seconds"
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "timeout", message) from None
    return b"".join(parts)


def parse_json(body: bytes) -> Any:
    """Parse the bytes of a JSON body.

    Raises:
        Refusal: The body is not JSON in UTF-8, an object has a duplicate key, or a limit is exceeded.
    """
    try:
        return parse_finite_json(body.decode("utf-8"), _build_unique_object)
    except JSONLimitError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", f"the body {error}") from None
    except ValueError:
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", "the body is not JSON in UTF-8") from None


def _build_unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from pairs of key and value, and refuse duplicate keys.

    JSON parsers differ in which of two equal keys they use.

    Raises:
        Refusal: A key appears twice.
    """
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise Refusal(HTTPStatus.BAD_REQUEST, "json", "an object of the body has a duplicate key")
    return entries


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
