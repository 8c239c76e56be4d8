"""The ASGI application of the service with its four paths (docs/serve.md).

Work runs in threads. No content of a body is logged, stored or part of an error.
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
from textveil.errors import ExtraMissing, TextveilError
from textveil.release import Statement

from textveil_cli.serve.access import HEALTH, Access, Refusal
from textveil_cli.serve.limits import Limits

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
except ImportError as error:
    raise ExtraMissing.of("serve", "starlette and uvicorn") from error

from textveil_cli.serve.requests import read_asked, skip_body

Work = Callable[..., Sequence[Any]]

#: HTTP status of a ``TextveilError`` by its code; any other code is a fault of the service.
_STATUS = {
    "input": HTTPStatus.UNPROCESSABLE_ENTITY,
    "document-too-long": HTTPStatus.UNPROCESSABLE_ENTITY,
    "budget": HTTPStatus.FORBIDDEN,
    "ledger": HTTPStatus.SERVICE_UNAVAILABLE,
    "ledger-busy": HTTPStatus.SERVICE_UNAVAILABLE,
    "timeout": HTTPStatus.SERVICE_UNAVAILABLE,
}
#: Statuses after which a client may retry, and the delay in seconds.
_LATER, _RETRY_SECONDS = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE), 1
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, kw_only=True)
class Releases:
    """The release functions of a service, with all options fixed at its start.

    A caller with a ledger passes functions that spend in it. If one raises a ``TextveilError``, the service answers
    with that error and releases nothing.

    Attributes:
        sanitize: Function that returns a ``Result`` for each text, or any object with ``to_dict``.
        promise: Privacy statement of a text with one token.
        encode: Function that returns a release with ``to_dict`` for each text; ``None`` without an encoder.
        encode_promise: Privacy statement of an encoded text.
        scoped: Whether a request may name its privacy unit. Both functions then take its name, or ``None``, as their
            second argument.
    """

    sanitize: Work
    promise: Statement
    encode: Work | None = None
    encode_promise: Statement | None = None
    scoped: bool = False


@dataclass(frozen=True, kw_only=True)
class _Service:
    releases: Releases
    limits: Limits
    report: Callable[[str], None]
    short: ThreadPoolExecutor = field(repr=False)
    long: ThreadPoolExecutor = field(repr=False)

    async def health(self, request: Request) -> dict[str, Any]:
        return {"status": "ok"}

    async def info(self, request: Request) -> dict[str, Any]:
        promise, encoded = self.releases.promise, self.releases.encode_promise
        return {
            "version": __version__,
            "sanitize": promise.to_dict(),
            "encode": None if encoded is None else encoded.to_dict(),
            "scope_per_request": self.releases.scoped,
            "limits": {"body_bytes": self.limits.body_bytes, "texts": self.limits.texts},
        }

    async def sanitize(self, request: Request) -> dict[str, Any]:
        def shown(result: Any) -> dict[str, Any]:
            return result.to_dict()

        return await self._answer(request, self.releases.sanitize, shown)

    async def encode(self, request: Request) -> dict[str, Any]:
        assert self.releases.encode is not None  # else there is no such route
        return await self._answer(request, self.releases.encode, lambda release: release.to_dict())

    async def _answer(self, request: Request, work: Work, shown: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        asked = await read_asked(request, self.limits, scoped=self.releases.scoped)
        arguments = (asked.texts, asked.scope) if self.releases.scoped else (asked.texts,)
        threads = self.long if sum(map(len, asked.texts)) > self.limits.short_characters else self.short
        async with asyncio.timeout(self.limits.seconds):
            results = await asyncio.get_running_loop().run_in_executor(
                threads, lambda: [shown(result) for result in work(*arguments)]
            )
        return results[0] if asked.alone else {"results": results}

    async def answer(self, ask: Callable[[Request], Awaitable[dict[str, Any]]], request: Request) -> Response:
        """Return the response to a request, also after an error.

        No error reaches the server, which would log it.
        """
        try:
            return JSONResponse(await ask(request), headers=HEADERS)
        except ClientDisconnect:
            return Response(status_code=HTTPStatus.BAD_REQUEST)  # the client is gone
        except Exception as error:
            return refused(refusal_of(error, self.limits, self.report))


def refusal_of(error: Exception, limits: Limits, report: Callable[[str], None]) -> Refusal:
    """Convert an error to a response; report internal errors by type and source line."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, TextveilError):
        return Refusal(_STATUS.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR), error.code, str(error))
    if isinstance(error, TimeoutError):
        message = f"not finished within {limits.seconds:g} seconds"
        return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "timeout", message)
    place = traceback.extract_tb(error.__traceback__)[-1]  # its message could hold a text
    report(f"internal: {type(error).__name__} in {place.filename.rpartition('/')[2]} line {place.lineno}")
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "an error of the service")


class Guard:
    """ASGI middleware that checks ``Access`` before any other code reads a request."""

    def __init__(self, app: Any, access: Access, report: Callable[[str], None] = lambda line: None) -> None:
        self.app, self.access, self.report = app, access, report

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that ``Access`` refuses, and pass on any other."""
        if scope["type"] == "http":
            try:
                self.access.check(scope)
            except Refusal as refusal:
                self.report(f"refused before it was read: {refusal.code} {refusal.status.value}")
                await refused(refusal)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def make_app(
    releases: Releases, access: Access, limits: Limits | None = None, report: Callable[[str], None] = lambda line: None
) -> Starlette:
    """Return the ASGI application.

    Args:
        releases: Its release functions.
        access: Its access rule.
        limits: Limits of a request.
        report: Receives errors inside the service, in one line without any content of a request.
    """
    limits = Limits() if limits is None else limits
    short, long = ThreadPoolExecutor(limits.threads, "textveil"), ThreadPoolExecutor(1, "textveil-long")
    service = _Service(releases=releases, limits=limits, report=report, short=short, long=long)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for threads in (short, long):
            threads.shutdown(wait=True, cancel_futures=True)

    asked: list[tuple[str, str, Callable[[Request], Awaitable[dict[str, Any]]]]] = [
        ("GET", HEALTH, service.health),
        ("GET", "/info", service.info),
        ("POST", "/sanitize", service.sanitize),
    ]
    if releases.encode is not None:
        asked.append(("POST", "/encode", service.encode))
    routes = [Route(path, partial(service.answer, ask), methods=[method]) for method, path, ask in asked]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: no_route})
    app.router.redirect_slashes = False  # a redirect would repeat the requested path
    app.add_middleware(Guard, access=access)
    return app


async def no_route(
    request: Request, error: Exception, more: str = "", report: Callable[[str], None] = lambda line: None
) -> Response:
    """Return the response for an unknown path; ``more`` is appended to its message.

    The report leaves out the path, as a client may put a text there.
    """
    status = HTTPStatus(error.status_code) if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
    report(f"refused: no such path, or not with this method {status.value}")
    return refused(Refusal(status, "path", f"there is no such path, or not with this method{more}"))


async def answer_busy(limits: Limits, scope: Any, receive: Any, send: Any) -> None:
    """Answer a request on a connection above the limit: its client may retry."""
    await skip_body(Request(scope, receive), limits)
    refusal = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "too many connections are open: ask again soon")
    await refused(refusal)(scope, receive, send)


def refused(refusal: Refusal) -> Response:
    """Return an error as JSON, and close the connection.

    The service does not wait for the rest of the body.
    """
    headers: Mapping[str, str] = {**HEADERS, "connection": "close"}
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        headers = {**headers, "www-authenticate": "Bearer"}
    elif refusal.status in _LATER:
        headers = {**headers, "retry-after": str(_RETRY_SECONDS)}
    content = {"error": {"code": refusal.code, "message": refusal.message}}
    return JSONResponse(content, refusal.status, headers=headers)
