"""The application: the paths of OpenAI and Anthropic that the gateway answers, and two of its own."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from textveil.errors import ExtraMissing

from textveil_cli.serve.access import HEALTH, Access, Refusal
from textveil_cli.serve.app import HEADERS, Guard, no_route, refused

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from textveil_cli.gateway.calls import Answer, Gateway
    from textveil_cli.gateway.heads import MODELS, client_of, named_in
except ImportError as error:
    raise ExtraMissing.of("gateway", "starlette, uvicorn and httpcore2") from error

from textveil_cli.gateway.fields import PATHS

_TOKEN, _DELETE, _SWEEP_SECONDS = "x-textveil-token", "/conversation", 60
_BASE = ": the base address of a client ends in /v1, of one of Anthropic in the port"


def make_app(gateway: Gateway, access: Access) -> Starlette:
    """Returns the ASGI application.

    Args:
        gateway: What it is.
        access: Who is answered. A token is in a header of its own: ``Authorization`` is for the upstream.
    """
    threads = ThreadPoolExecutor(gateway.limits.threads, "textveil"), ThreadPoolExecutor(1, "textveil-long")
    answer = Answer(gateway, threads)

    async def sweep() -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            gateway.conversations.sweep()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.ensure_future(sweep())
        gateway.conversations.sweep()
        yield
        sweeping.cancel()
        for pool in threads:
            pool.shutdown(wait=True, cancel_futures=True)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"}, headers=HEADERS)

    async def delete(request: Request) -> Response:
        try:
            named = named_in(request)
        except Refusal as refusal:
            return refused(refusal)
        if named is None:
            return refused(Refusal(HTTPStatus.BAD_REQUEST, "header", "no conversation is named"))
        deleted = gateway.conversations.delete(client_of(gateway.conversations, request), named)
        return JSONResponse({"deleted": deleted}, headers=HEADERS)

    routes = [Route(path, answer, methods=["POST"]) for path in PATHS]
    routes += [Route(path, answer, methods=["GET"]) for path in (MODELS, MODELS + "/{name:path}")]
    routes += [Route(HEALTH, health, methods=["GET"]), Route(_DELETE, delete, methods=["DELETE"])]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: partial(no_route, more=_BASE)})
    app.router.redirect_slashes = False
    app.add_middleware(Guard, access=replace(access, header=_TOKEN))
    return app
