"""Measure for how long one step of the gateway holds Python's interpreter lock, so that no other request runs.

    python benchmarks/gateway/holds.py [--only BODY...] [--rounds 3] [--size 3774873]

The gateway's application runs in this process, with an upstream that answers immediately. It receives one body of each
shape after the other. A watching thread repeatedly sleeps for a millisecond. While a step of another thread holds the
interpreter lock, the watching thread wakes up late. The length of the step is the processor time of the process during
the delay, on which other load of the machine has little effect. Each line has the longest step of a request (the
smallest value over the rounds), the code positions of all threads after it, the longest garbage collection, and the
processor time of the request.
"""

import argparse
import asyncio
import gc
import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from textveil import Conversation, Sanitizer
from textveil_cli.gateway import ConversationStore, Gateway, RetentionSettings, make_app, tune_interpreter
from textveil_cli.serve import AccessRule, RequestLimits

from gateway.load import BODIES

_PATH, _SLEEP_S, _SHOWN_FRAMES, _LONG_MS = "/v1/chat/completions", 0.001, 3, 15
#: Time limit of a request: other load on the machine must not end one.
_SECONDS = 600


class ShortReply:
    """Reply with one short text."""

    status = 200
    headers = ((b"content-type", b"application/json"),)

    def get_header(self, name: bytes) -> bytes:
        """Return the value of a header."""
        return dict(self.headers).get(name, b"")

    async def read_body(self) -> bytes:
        """Return the body."""
        message = {"role": "assistant", "content": "All of it is fine."}
        return json.dumps({"id": "c", "choices": [{"index": 0, "message": message}]}).encode()


class ShortUpstream:
    """Upstream in this process that answers immediately."""

    @asynccontextmanager
    async def send_request(
        self, method: str, target: str, headers: Any, body: bytes = b""
    ) -> AsyncIterator[ShortReply]:
        """Return the reply."""
        yield ShortReply()


class HoldWatcher:
    """Thread that measures steps of other threads during which it cannot run."""

    def __init__(self) -> None:
        self.holds: list[tuple[float, str]] = []
        self.collections: list[float] = []
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._collection_start = 0.0

    def __enter__(self) -> "HoldWatcher":
        gc.callbacks.append(self._time_collection)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_done.set()
        self._thread.join()
        gc.callbacks.remove(self._time_collection)

    def _time_collection(self, phase: str, info: Any) -> None:
        if phase == "start":
            self._collection_start = time.thread_time()
        else:
            self.collections.append(1000 * (time.thread_time() - self._collection_start))

    def _watch(self) -> None:
        own = threading.get_ident()
        while not self._is_done.is_set():
            before, processor = time.perf_counter(), time.process_time()
            time.sleep(_SLEEP_S)
            late = 1000 * min(time.perf_counter() - before, time.process_time() - processor)
            if late > _LONG_MS:
                places = [_name_place(frame) for name, frame in sys._current_frames().items() if name != own]
                self.holds.append((late, " | ".join(filter(None, places))))


def _name_place(frame: Any) -> str:
    entries = traceback.extract_stack(frame)[-_SHOWN_FRAMES:]
    if entries[-1].name in ("wait", "select", "_run_jobs", "join"):
        return ""
    return " < ".join(f"{Path(entry.filename).name}:{entry.lineno} {entry.name}" for entry in reversed(entries))


async def send_body(app: Any, body: bytes) -> int:
    """Send a body to the application; return the status."""
    statuses: list[int] = []
    parts = [body[start : start + (1 << 16)] for start in range(0, len(body), 1 << 16)]
    complete = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if parts:
            return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}
        await complete.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
        elif not message.get("more_body"):
            complete.set()

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"authorization", b"Bearer k")]
    scope = {
        "type": "http", "method": "POST", "path": _PATH, "raw_path": _PATH.encode(), "query_string": b"",
        "headers": [*headers, (b"content-length", b"%d" % len(body))], "scheme": "http", "http_version": "1.1",
        "root_path": "", "server": ("localhost", 80), "client": ("localhost", 1),
    }  # fmt: skip
    await app(scope, receive, send)
    return statuses[0]


def measure_body(make_service: Any, body: bytes, rounds: int) -> dict[str, Any]:
    """Return the longest step of a request, the smallest value over several rounds, with details."""
    found: list[tuple[float, str, float, float, int]] = []
    app = make_service()

    async def run() -> None:
        async with app.router.lifespan_context(app):
            for _ in range(rounds):
                processor = time.process_time()
                with HoldWatcher() as watcher:
                    status = await send_body(app, body)
                    await asyncio.sleep(0.1)  # wait until a thread has freed the request
                holds = sorted(watcher.holds, reverse=True) or [(0.0, "")]
                places = "; ".join(f"{late:.0f} {place}" for late, place in holds[:4])
                collection = max(watcher.collections, default=0.0)
                found.append((holds[0][0], places, collection, time.process_time() - processor, status))

    asyncio.run(run())
    longest = min(found)
    return {
        "longest step, ms": round(longest[0], 1),
        "longest collection, ms": round(min(row[2] for row in found), 1),
        "processor, s": round(min(row[3] for row in found), 2),
        "status": longest[4],
        "steps": longest[1],
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=(1 << 22) * 9 // 10)
    options = parser.parse_args()
    logging.disable()
    sanitizer = Sanitizer.load()

    def make_service() -> Any:
        conversations = ConversationStore(
            lambda: Conversation(sanitizer),
            lambda packed: Conversation.unpack(packed, sanitizer),
            RetentionSettings(),
            key=bytes(32),
            options={},
        )
        upstream: Any = ShortUpstream()
        limits = RequestLimits(body_bytes=1 << 22, seconds=_SECONDS, threads=1)
        gateway = Gateway(upstream=upstream, conversations=conversations, limits=limits)
        return make_app(gateway, AccessRule(frozenset(("localhost",))))

    Conversation(sanitizer).outgoing_text("Anna Novak called.")
    tune_interpreter()
    for name in options.only or BODIES:
        print(
            json.dumps({"body": name, **measure_body(make_service, BODIES[name](options.size), options.rounds)}),
            flush=True,
        )


if __name__ == "__main__":
    main()
