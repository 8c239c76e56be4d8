"""Measure the gateway under load: latency during large requests, refusals, and speed compared to a bare proxy.

    python benchmarks/gateway/load.py [health] [crowd] [speed] [--only BODY...] [--text FILE] [--lenient]
                                      [--size BYTES] [--timeout-seconds S]

- health: request /health every 20 ms, while two clients send bodies of --size bytes of every shape. The gateway answers
bodies that take more than 30 seconds only with a larger --timeout-seconds.
- crowd: let --clients clients send requests for --seconds. Each reply must have status 200, or 429 or 503 with
Retry-After.
- speed: compare the gateway alternately with a proxy on the same HTTP library that changes nothing.
Without --lenient the script fails if a required figure is missed.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from gateway.memory import prose
from gateway.peers import load, peer
from gateway.shapes import SHAPES

_LARGE, _PATH = 1 << 22, "/v1/chat/completions"
_BETWEEN_S, _GIVEN_UP_S = 0.02, 300
#: Floors: milliseconds of /health at the 99th percentile and at most; the share of a bare proxy's requests a second at
#: 64 clients; milliseconds that one client waits longer than for the bare proxy, by the median.
_HEALTH_99, _HEALTH_MOST, _SHARE, _LONGER = 100, 500, 0.4, 5


def _chat(messages: list[Any]) -> bytes:
    return json.dumps({"model": "m", "messages": messages}, ensure_ascii=False).encode()


def _one(content: Any) -> bytes:
    return _chat([{"role": "user", "content": content}])


def _deep(size: int) -> bytes:
    return b'{"model": "m", "messages": ' + b"[" * (size // 2) + b"]" * (size // 2) + b"}"


def _keys(size: int) -> bytes:
    call = {"name": "f", "arguments": json.dumps({f"key_{n}": n for n in range(size // 22)})}
    calls = [{"type": "function", "id": "c", "function": call}]
    return _chat([{"role": "assistant", "content": None, "tool_calls": calls}])


def _metadata(size: int) -> bytes:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "a"}],
        "metadata": {f"key_{n}": str(n) for n in range(size // 22)},
    }
    return json.dumps(body).encode()


#: Bodies of a size: texts of every shape, and shapes of JSON.
BODIES: Mapping[str, Callable[[int], bytes]] = {
    **{name: lambda size, name=name: _one(SHAPES[name](size - 100)) for name in ("x y", "four digits", "&amp;")},
    "one long word": lambda size: _one("a" * (size - 100)),
    "prose": lambda size: _one(prose(size - 100, None)),
    "deep JSON": _deep,
    "many keys": _keys,
    "many keys of metadata": _metadata,
    "many messages": lambda size: _chat([{"role": "user", "content": f"a {n}"} for n in range(size // 45)]),
    "many parts": lambda size: _one([{"type": "text", "text": f"a {n}"} for n in range(size // 40)]),
}


async def ask_once(port: int, body: bytes, method: str = "POST", path: str = _PATH) -> tuple[int, dict[str, str]]:
    """Send a request on a new connection; return the status and headers of the reply, status 0 without one."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)
    except OSError:
        return 0, {}
    try:
        length = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer k\r\n{length}\r\n"
        writer.write(head.encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if "content-length" in headers:
            await reader.readexactly(int(headers["content-length"]))
        return int(lines[0].split(" ")[1]), headers
    except (OSError, asyncio.IncompleteReadError):
        return 0, {}
    finally:
        writer.close()


async def watch_health(port: int, body: bytes, seconds: float) -> dict[str, Any]:
    """Return the latencies of /health while two clients repeatedly send a body."""
    times: list[float] = []
    statuses: Counter[int] = Counter()
    end = time.perf_counter() + seconds

    async def send() -> None:
        while time.perf_counter() < end:
            status, headers = await asyncio.wait_for(ask_once(port, body), _GIVEN_UP_S)
            statuses[status] += 1
            if status in (429, 503):
                await asyncio.sleep(float(headers.get("retry-after", 1)))

    senders = [asyncio.ensure_future(send()) for _ in range(2)]
    while not all(sender.done() for sender in senders):
        begun = time.perf_counter()
        status, _ = await ask_once(port, b"", "GET", "/health")
        times.append(1000 * (time.perf_counter() - begun) if status == 200 else float("inf"))
        await asyncio.sleep(_BETWEEN_S)
    await asyncio.gather(*senders)
    at = statistics.quantiles(times, n=100, method="inclusive")
    return {"p50": at[49], "p99": at[98], "most": max(times), "asked": len(times), "statuses": dict(statuses)}


def measure_health(options: argparse.Namespace) -> list[str]:
    """Measure /health while clients send bodies of every shape; return the names of missed requirements."""
    missed: list[str] = []
    with peer("textveil", options=("--timeout-seconds", str(options.timeout_seconds))) as (port, _):
        for name in options.only or BODIES:
            make = BODIES[name]
            found = asyncio.run(watch_health(port, make(options.size), options.health_seconds))
            print(json.dumps({"health beside": name, **_round_figures(found)}), flush=True)
            if found["p99"] > _HEALTH_99 or found["most"] > _HEALTH_MOST or 0 in found["statuses"]:
                missed.append(f"health beside {name}")
    return missed


async def crowd_of(port: int, texts: Iterator[str], clients: int, seconds: float) -> Counter[str]:
    """Count replies by status for clients that each send one request after the other."""
    found: Counter[str] = Counter()
    end = time.perf_counter() + seconds

    async def client() -> None:
        while time.perf_counter() < end:
            body = _one(next(texts))
            try:
                status, headers = await asyncio.wait_for(ask_once(port, body), _GIVEN_UP_S)
            except TimeoutError:
                found["hung"] += 1
                continue
            refused = status in (429, 503)
            found[f"{status}{' with Retry-After' if refused and 'retry-after' in headers else ''}"] += 1
            if refused:
                await asyncio.sleep(float(headers.get("retry-after", 1)))

    await asyncio.gather(*(client() for _ in range(clients)))
    return found


def measure_crowd(options: argparse.Namespace) -> list[str]:
    """Let many clients send requests at the same time; return the names of missed requirements."""
    fine = {"200", "429 with Retry-After", "503 with Retry-After"}
    with peer("textveil") as (port, _):
        found = asyncio.run(crowd_of(port, _texts(options, 200), options.clients, options.seconds))
    print(json.dumps({"clients": options.clients, "seconds": options.seconds, **found}), flush=True)
    return [] if set(found) <= fine else ["crowd"]


def compare_speed(options: argparse.Namespace) -> list[str]:
    """Compare the gateway with a proxy that changes nothing; return the names of missed requirements."""
    missed: list[str] = []
    with peer("nothing") as (bare_port, bare_pids), peer("textveil") as (port, pids):
        for clients in (1, 64):
            texts = _texts(options, 200)
            pairs: list[tuple[dict[str, Any], dict[str, Any]]] = []
            for _ in range(options.rounds):
                bare = asyncio.run(load(bare_port, texts, clients, options.round_seconds, bare_pids))
                pairs.append((bare, asyncio.run(load(port, texts, clients, options.round_seconds, pids))))
            share = statistics.median(ours["per_s"] / bare["per_s"] for bare, ours in pairs)
            longer = statistics.median(ours["median_ms"] - bare["median_ms"] for bare, ours in pairs)
            line = {"clients": clients, "share of requests a second": share, "median ms longer": longer}
            for name, which in (("bare", 0), ("ours", 1)):
                for key in ("per_s", "median_ms", "p99_ms", "cpu_ms"):
                    line[f"{name} {key}"] = statistics.median(pair[which][key] for pair in pairs)
                line[f"{name} errors"] = sum(pair[which]["errors"] + pair[which]["unfinished"] for pair in pairs)
            print(json.dumps(_round_figures(line)), flush=True)
            missed += ["median of 1 client"] if clients == 1 and longer > _LONGER else []
            missed += ["share at 64 clients"] if clients == 64 and share < _SHARE else []
    return missed


def _texts(options: argparse.Namespace, words: int) -> Iterator[str]:
    """Yield different texts of ``words`` words each."""
    whole = prose(1 << 20, options.text).split()
    for start in itertools.cycle(range(0, len(whole) - words, 37)):
        yield " ".join(whole[start : start + words])


def _round_figures(found: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 2) if isinstance(value, float) else value for name, value in found.items()}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"health": measure_health, "crowd": measure_crowd, "speed": compare_speed}
    parser.add_argument("parts", nargs="*", help="health, crowd or speed; default: all three")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--health-seconds", type=float, default=10)
    parser.add_argument(
        "--size", type=int, default=_LARGE * 9 // 10, help="bytes of the body of each request in the part health"
    )
    parser.add_argument(
        "--timeout-seconds", type=float, default=30, help="time limit of the gateway in the part health"
    )
    parser.add_argument("--only", nargs="*", help="bodies of health")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--round-seconds", type=float, default=3)
    parser.add_argument("--lenient", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"there is no part with the name {min(unknown)}")
    print(json.dumps({"cores": os.cpu_count(), "load": os.getloadavg()}), flush=True)
    missed = [floor for part in options.parts or parts for floor in parts[part](options)]
    print(json.dumps({"missed": missed}))
    if missed and not options.lenient:
        sys.exit(1)


if __name__ == "__main__":
    main()
