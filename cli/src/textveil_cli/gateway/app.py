"""ASGI application with the paths of OpenAI and Anthropic, and two paths of its own."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from textveil.errors import ExtraMissing

from textveil_cli.serve.access import HEALTH, Access, Refusal
from textveil_cli.serve.app import HEADERS, Guard, no_route, refusal_of, refused

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from textveil_cli.gateway.calls import Answer, Gateway
    from textveil_cli.gateway.heads import MODELS, client_of, named_in
    from textveil_cli.gateway.workers import Workers, busy
except ImportError as error:
    raise ExtraMissing.of("gateway", "starlette, uvicorn and httpcore2") from error

from textveil_cli.gateway.fields import PATHS

_TOKEN, _DELETE, _SWEEP_SECONDS = "x-textveil-token", "/conversation", 60
_UNNAMED = "no conversation is named: give its name in the header X-Textveil-Conversation"
_BASE = ": the base address of a client ends in /v1, of one of Anthropic in the port"


def make_app(gateway: Gateway, access: Access) -> Starlette:
    """Return the ASGI application.

    Args:
        gateway: State and options of the gateway.
        access: Rules for admitted clients. The token has a header of its own: ``Authorization`` is for the upstream.
    """
    workers = Workers(gateway.limits.seconds, gateway.limits.threads)
    answer = Answer(gateway, workers)

    async def clean_up() -> None:
        gateway.conversations.expire()
        await asyncio.to_thread(gateway.conversations.delete_expired)  # there may be thousands of files

    async def sweep() -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            await clean_up()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        workers.start()
        sweeping = asyncio.ensure_future(sweep())
        await clean_up()
        yield
        sweeping.cancel()
        workers.stop()

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"}, headers=HEADERS)

    async def delete(request: Request) -> Response:
        name = secrets.token_hex(8)
        try:
            named = named_in(request)
            if named is None:
                raise Refusal(HTTPStatus.BAD_REQUEST, "header", _UNNAMED)
            client = client_of(gateway.conversations, request)
            async with asyncio.timeout(gateway.limits.seconds):
                deleted = await gateway.conversations.delete(client, named, workers.run)
        except TimeoutError:
            refusal = busy("requests of the conversation are under way: ask again later")
        except OSError:
            refusal = Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "output", "the file of the mapping cannot be deleted")
        except Exception as error:
            refusal = refusal_of(error, gateway.limits, gateway.report)
        else:
            gateway.report(f"request {name}: {_DELETE} 200 deleted={int(deleted)}")
            return JSONResponse({"deleted": deleted}, headers=HEADERS)
        gateway.report(f"request {name}: {_DELETE} {refusal.code} {refusal.status.value}")
        return refused(refusal)

    routes = [Route(path, answer, methods=["POST"]) for path in PATHS]
    routes += [Route(path, answer, methods=["GET"]) for path in (MODELS, MODELS + "/{name:path}")]
    routes += [Route(HEALTH, health, methods=["GET"]), Route(_DELETE, delete, methods=["DELETE"])]
    no_path = partial(no_route, more=_BASE, report=gateway.report)
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: no_path})
    app.router.redirect_slashes = False
    app.add_middleware(Guard, access=replace(access, header=_TOKEN), report=gateway.report)
    return app
