"""ASGI application of the service with its four paths (docs/serve.md).

Texts are processed in threads. No content of a request body is logged, stored or part of an error.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any

from textveil import __version__
from textveil.errors import TextveilError
from textveil.release import ReleaseStatement

from textveil_cli.errors import ExtraMissing
from textveil_cli.serve.access import HEALTH_PATH, AccessRule, Refusal
from textveil_cli.serve.limits import RequestLimits

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
except ImportError as error:
    raise ExtraMissing.from_extra("serve", "starlette and uvicorn") from error

from textveil_cli.serve.requests import read_texts_request

ReleaseFunction = Callable[..., Sequence[Any]]

#: HTTP status of a ``TextveilError`` by its code; any other code is a fault of the service.
_STATUS_BY_CODE = {
    "input": HTTPStatus.UNPROCESSABLE_ENTITY,
    "document-too-long": HTTPStatus.UNPROCESSABLE_ENTITY,
    "budget": HTTPStatus.FORBIDDEN,
    "ledger": HTTPStatus.SERVICE_UNAVAILABLE,
    "ledger-busy": HTTPStatus.SERVICE_UNAVAILABLE,
    "timeout": HTTPStatus.SERVICE_UNAVAILABLE,
}
#: Statuses after which a client may retry, and the delay in seconds.
_RETRY_STATUSES, _RETRY_SECONDS = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE), 1
RESPONSE_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, kw_only=True)
class ServedReleases:
    """Functions with which a service sanitizes and encodes texts, with all options fixed at its start.

    If the service has a privacy ledger, the functions record the spent epsilon there. If a function raises a
    ``TextveilError``, the service answers with that error and sends no sanitized text.

    Attributes:
        sanitize: Function that returns a ``Result``, or any object with ``to_dict``, for each text.
        sanitize_statement: Privacy statement of a text with one token.
        encode: Function that returns a noisy vector or class label, as an object with ``to_dict``, for each text;
            ``None`` without an encoder.
        encode_statement: Privacy statement of an encoded text.
        has_privacy_units: Whether a request may name its privacy unit (person or group for whom epsilon is added up).
            Both functions then take the name (or ``None``) as second argument.
    """

    sanitize: ReleaseFunction
    sanitize_statement: ReleaseStatement
    encode: ReleaseFunction | None = None
    encode_statement: ReleaseStatement | None = None
    has_privacy_units: bool = False


@dataclass(frozen=True, kw_only=True)
class _Service:
    releases: ServedReleases
    limits: RequestLimits
    report: Callable[[str], None]
    short_threads: ThreadPoolExecutor = field(repr=False)
    long_threads: ThreadPoolExecutor = field(repr=False)

    async def health(self, request: Request) -> dict[str, Any]:
        return {"status": "ok"}

    async def info(self, request: Request) -> dict[str, Any]:
        sanitize_statement, encode_statement = self.releases.sanitize_statement, self.releases.encode_statement
        return {
            "version": __version__,
            "sanitize": sanitize_statement.to_dict(),
            "encode": None if encode_statement is None else encode_statement.to_dict(),
            "privacy_unit_per_request": self.releases.has_privacy_units,
            "limits": {"body_bytes": self.limits.body_bytes, "texts": self.limits.texts},
        }

    async def sanitize(self, request: Request) -> dict[str, Any]:
        def to_dict(result: Any) -> dict[str, Any]:
            return result.to_dict()

        return await self._release_texts(request, self.releases.sanitize, to_dict)

    async def encode(self, request: Request) -> dict[str, Any]:
        assert self.releases.encode is not None  # else there is no such route
        return await self._release_texts(request, self.releases.encode, lambda release: release.to_dict())

    async def _release_texts(
        self, request: Request, release: ReleaseFunction, to_dict: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        parsed = await read_texts_request(request, self.limits, has_privacy_units=self.releases.has_privacy_units)
        arguments = (parsed.texts, parsed.privacy_unit) if self.releases.has_privacy_units else (parsed.texts,)
        threads = (
            self.long_threads if sum(map(len, parsed.texts)) > self.limits.short_characters else self.short_threads
        )
        async with asyncio.timeout(self.limits.seconds):
            results = await asyncio.get_running_loop().run_in_executor(
                threads, lambda: [to_dict(result) for result in release(*arguments)]
            )
        return results[0] if parsed.is_single else {"results": results}

    async def answer_request(
        self, endpoint: Callable[[Request], Awaitable[dict[str, Any]]], request: Request
    ) -> Response:
        """Return the response of an endpoint; convert any exception to an error response.

        The server would log an exception with its message, so none may reach it.
        """
        try:
            return JSONResponse(await endpoint(request), headers=RESPONSE_HEADERS)
        except ClientDisconnect:
            return Response(status_code=HTTPStatus.BAD_REQUEST)  # the client is gone
        except Exception as error:
            return make_error_response(convert_error(error, self.limits, self.report))


def convert_error(error: Exception, limits: RequestLimits, report: Callable[[str], None]) -> Refusal:
    """Convert an exception to a ``Refusal``, which is the response to the client.

    Args:
        error: The exception.
        limits: Limits of the service, for the message of a timeout.
        report: Receives the type and the source line of an unexpected exception.
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, TextveilError):
        return Refusal(_STATUS_BY_CODE.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR), error.code, str(error))
    if isinstance(error, TimeoutError):
        message = f"not finished within {limits.seconds:g} seconds"
        return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "timeout", message)
    place = traceback.extract_tb(error.__traceback__)[-1]  # its message could hold a text
    report(f"internal: {type(error).__name__} in {place.filename.rpartition('/')[2]} line {place.lineno}")
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "an internal error of the service")


class AccessMiddleware:
    """ASGI middleware that applies ``AccessRule`` before any other code reads a request."""

    def __init__(self, app: Any, access: AccessRule, report: Callable[[str], None] = lambda line: None) -> None:
        self.app, self.access, self.report = app, access, report

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request with an error if ``AccessRule`` refuses it; otherwise pass it to the application."""
        if scope["type"] == "http":
            try:
                self.access.check_request(scope)
            except Refusal as refusal:
                self.report(f"refused before it was read: {refusal.code} {refusal.status.value}")
                await make_error_response(refusal)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def make_app(
    releases: ServedReleases,
    access: AccessRule,
    limits: RequestLimits | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Starlette:
    """Return the ASGI application of the service.

    Args:
        releases: Functions that sanitize and encode texts.
        access: Rule that decides which requests are answered.
        limits: Limits of a request; ``None`` for the defaults.
        report: Function that receives one line for each internal error, without any content of a request.
    """
    limits = RequestLimits() if limits is None else limits
    short, long = ThreadPoolExecutor(limits.threads, "textveil"), ThreadPoolExecutor(1, "textveil-long")
    service = _Service(releases=releases, limits=limits, report=report, short_threads=short, long_threads=long)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for threads in (short, long):
            threads.shutdown(wait=True, cancel_futures=True)

    endpoints: list[tuple[str, str, Callable[[Request], Awaitable[dict[str, Any]]]]] = [
        ("GET", HEALTH_PATH, service.health),
        ("GET", "/info", service.info),
        ("POST", "/sanitize", service.sanitize),
    ]
    if releases.encode is not None:
        endpoints.append(("POST", "/encode", service.encode))
    routes = [Route(path, partial(service.answer_request, ask), methods=[method]) for method, path, ask in endpoints]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: answer_unknown_path})
    app.router.redirect_slashes = False  # a redirect would repeat the requested path
    app.add_middleware(AccessMiddleware, access=access)
    return app


async def answer_unknown_path(
    request: Request, error: Exception, hint: str = "", report: Callable[[str], None] = lambda line: None
) -> Response:
    """Return the error response for an unknown path.

    Args:
        request: The request.
        error: The exception of the router, which determines the HTTP status.
        hint: Text to append to the message.
        report: Function that receives one line without the path, since a client may have put private text into the
            path.
    """
    status = HTTPStatus(error.status_code) if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
    report(f"refused: unknown path or method {status.value}")
    return make_error_response(
        Refusal(status, "path", f"the path does not exist, or does not support this method{hint}")
    )


async def answer_busy(scope: Any, receive: Any, send: Any) -> None:
    """Refuse a request on a connection above the maximum number of connections; the client may retry."""
    refusal = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "too many connections are open: retry soon")
    await make_error_response(refusal)(scope, receive, send)


def make_error_response(refusal: Refusal) -> Response:
    """Return a JSON response with the error code and the message of a ``Refusal``.

    Its header ``connection: close`` makes the server close the connection after the response. So the server need not
    read the rest of the request body, and discards it.
    """
    headers: Mapping[str, str] = {**RESPONSE_HEADERS, "connection": "close"}
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        headers = {**headers, "www-authenticate": "Bearer"}
    elif refusal.status in _RETRY_STATUSES:
        headers = {**headers, "retry-after": str(_RETRY_SECONDS)}
    content = {"error": {"code": refusal.code, "message": refusal.message}}
    return JSONResponse(content, refusal.status, headers=headers)
