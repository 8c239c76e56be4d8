"""ASGI application of the gateway, with the paths of OpenAI and Anthropic and two paths of its own."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from textveil_cli.errors import ExtraMissing
from textveil_cli.serve.access import HEALTH_PATH, AccessRule, Refusal
from textveil_cli.serve.app import (
    RESPONSE_HEADERS,
    AccessMiddleware,
    answer_unknown_path,
    convert_error,
    make_error_response,
)

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from textveil_cli.gateway.gateway_state import Gateway
    from textveil_cli.gateway.headers import MODELS_PATH, get_conversation_name, hash_client
    from textveil_cli.gateway.proxy import GatewayRequestHandler
    from textveil_cli.gateway.review_page import ReviewPage, ReviewPageMiddleware
    from textveil_cli.gateway.workers import WorkerPool, make_busy_refusal
except ImportError as error:
    raise ExtraMissing.from_extra("gateway", "starlette, uvicorn and httpcore2") from error

from textveil_cli.gateway.request_fields import FIELDS_BY_PATH

_TOKEN_HEADER, _DELETE_PATH, _SWEEP_SECONDS = "x-textveil-token", "/conversation", 60
_NO_NAME_MESSAGE = "the header X-Textveil-Conversation with the name of the conversation is missing"
_BASE_ADDRESS_HINT = ": the base address ends in /v1 for clients of OpenAI, and in the port for clients of Anthropic"


def make_app(gateway: Gateway, access: AccessRule, review_page: ReviewPage | None = None) -> Starlette:
    """Return the ASGI application of the gateway.

    Args:
        gateway: State and options of the gateway.
        access: Access rule. The token of the gateway has its own header, since ``Authorization`` is for the upstream.
        review_page: Page that shows the last requests and replies, with its own access rule; ``None`` for none.
    """
    workers = WorkerPool(gateway.limits.seconds, gateway.limits.threads)
    handler = GatewayRequestHandler(gateway, workers)

    async def clean_up() -> None:
        gateway.conversations.expire_conversations()
        await asyncio.to_thread(gateway.conversations.delete_expired_mappings)

    async def sweep() -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            await clean_up()
            handler.collect_garbage()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        workers.start()
        sweeping = asyncio.ensure_future(sweep())
        await clean_up()
        yield
        sweeping.cancel()
        workers.stop()

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"}, headers=RESPONSE_HEADERS)

    async def delete(request: Request) -> Response:
        request_id = secrets.token_hex(8)
        try:
            conversation_name = get_conversation_name(request)
            if conversation_name is None:
                raise Refusal(HTTPStatus.BAD_REQUEST, "header", _NO_NAME_MESSAGE)
            client = hash_client(gateway.conversations, request)
            async with asyncio.timeout(gateway.limits.seconds):
                deleted = await gateway.conversations.delete_conversation(client, conversation_name, workers.run_job)
        except TimeoutError:
            refusal = make_busy_refusal("requests of this conversation are active: retry later")
        except Exception as error:
            refusal = convert_error(error, gateway.limits, gateway.report)
        else:
            gateway.report(f"request {request_id}: {_DELETE_PATH} 200 deleted={int(deleted)}")
            return JSONResponse({"deleted": deleted}, headers=RESPONSE_HEADERS)
        gateway.report(f"request {request_id}: {_DELETE_PATH} {refusal.code} {refusal.status.value}")
        return make_error_response(refusal)

    routes = [Route(path, handler, methods=["POST"]) for path in FIELDS_BY_PATH]
    routes += [Route(path, handler, methods=["GET"]) for path in (MODELS_PATH, MODELS_PATH + "/{name:path}")]
    routes += [Route(HEALTH_PATH, health, methods=["GET"]), Route(_DELETE_PATH, delete, methods=["DELETE"])]
    no_path = partial(answer_unknown_path, hint=_BASE_ADDRESS_HINT, report=gateway.report)
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: no_path})
    app.router.redirect_slashes = False
    app.add_middleware(AccessMiddleware, access=replace(access, header=_TOKEN_HEADER), report=gateway.report)
    if review_page is not None:
        app.add_middleware(ReviewPageMiddleware, page=review_page, report=gateway.report)
    return app
