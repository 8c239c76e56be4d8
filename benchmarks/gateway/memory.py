"""Measure the peak memory of the mode names per byte of a text, and the gateway's memory after large requests.

    python benchmarks/gateway/memory.py [--text FILE] [--sizes 262144 4194304] [--requests 200] [--only SHAPE...]

A separate process for each text first rewrites its first 2,000 characters with a ``Conversation``, then the whole text.
Then it restores a short reply, for which it builds the mapping; with --echo the reply repeats the whole output. The
column "bytes a byte" has two figures: the peaks of resident memory after rewriting and after restoring, minus the
memory before the text, divided by the bytes of the text. Free memory of the process is filled or returned before the
text, so that it hides nothing (Linux with glibc). The gateway receives --requests requests, each with a new text of
--large bytes. The script reads the gateway's memory after the first request and after every twentieth, each time when
the gateway has had no work for a second.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from gateway.shapes import SHAPES

_PROSE = "prose"
#: Time without work of the gateway before its memory is read.
_REST_SECONDS = 1.0
_REPO = Path(__file__).parents[2]
_CHILD = """
import ctypes, re, sys
from pathlib import Path
from textveil import Conversation, Sanitizer
status = lambda name: 1024 * int(re.search(name + r":\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
sanitizer = Sanitizer.load()
text = sys.stdin.buffer.read().decode()
# What is loaded at the first texts, such as the dictionary of common words, is no part of the measured text.
len(sanitizer.names_plan(style="surrogate", facts="none").lists.common_words)
Conversation(sanitizer, style="surrogate", facts="none").outgoing_text(text[:2000])
conversation = Conversation(sanitizer, style="surrogate", facts="none")
# Free memory that loading left would hide what the text needs: the blocks of Python's allocator are filled, size by
# size, until a megabyte of them takes new memory; the C library returns its free pages.
kept = []
for size in range(48, 513, 16):
    before = -1 << 20
    while status("VmRSS") - before < 900_000:
        before = status("VmRSS")
        kept.append([bytes(size - 40) for _ in range((1 << 20) // size)])
ctypes.CDLL(None).malloc_trim(0)
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before = status("VmRSS")
sent = conversation.outgoing_text(text)
rewriting = status("VmHWM") - before
conversation.incoming(sent if "--echo" in sys.argv else "All of it is fine.")
print(rewriting / len(text.encode()), (status("VmHWM") - before) / len(text.encode()))
"""


def prose(size: int, file: Path | None) -> str:
    """Return English text of ``size`` characters, from a file, or from this repository's pages with invented names."""
    if file is not None:
        text = file.read_text("utf-8")
        return (text * (size // len(text) + 1))[:size]
    chance = random.Random(1)
    whole = "\n\n".join(path.read_text("utf-8") for path in sorted(_REPO.glob("docs/**/*.md")))
    whole = (
        re.sub(r"```.*?```|[|`*#<>\[\]()]|https?:\S+", " ", whole, flags=re.DOTALL).encode("ascii", "ignore").decode()
    )
    names = ["".join(chance.choices("abcdefghijklmnop", k=7)).title() for _ in range(2_000)]
    found: list[str] = []
    length = 0
    while length < size:
        for sentence in re.split(r"(?<=[.!?])\s+", whole):
            found.append(f"{sentence} {chance.choice(names)} {chance.choice(names)} paid {chance.randint(2, 9999)}.")
            length += len(found[-1]) + 1
    return " ".join(found)[:size]


def measure(text: str, *options: str) -> list[float]:
    """Return the memory per byte of a text, in bytes: for rewriting, and for rewriting and restoring."""
    ran = subprocess.run([sys.executable, "-c", _CHILD, *options], input=text.encode(), capture_output=True, check=True)
    return [round(float(figure), 1) for figure in ran.stdout.split()]


async def _ask_often(port: int, requests: int, texts: Iterator[str], look: Callable[[], float]) -> list[float]:
    from gateway.peers import ask, build_request

    found: list[float] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)
    for number in range(requests):
        text = build_request(port, next(texts))
        while (status := (await ask(reader, writer, text))[0]) == HTTPStatus.SERVICE_UNAVAILABLE:
            writer.close()  # the machine has other work; the server may end the connection
            await asyncio.sleep(1)
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)
        if status != HTTPStatus.OK:
            sys.exit(f"status {status}")
        if not number or number % 20 == 19:
            found.append(look())
            print(json.dumps({"requests": number + 1, "gateway MB": found[-1]}), flush=True)
    writer.close()
    return found


def measure_gateway(requests: int, size: int, file: Path | None) -> list[float]:
    """Return the gateway's resident memory in MB after the first large request and after every twentieth."""
    from gateway.peers import cpu_s, peer, rss_mb

    def read_memory(pids: list[int]) -> float:
        spent = -1.0
        while cpu_s(pids) > spent:  # until the threads that pack and free the last request are done
            spent = cpu_s(pids)
            time.sleep(_REST_SECONDS)
        return rss_mb(pids)

    text = prose(size + 1_000 * requests, file)  # before the connection, which ends if no request comes for seconds
    texts = (text[1_000 * number : 1_000 * number + size] for number in range(requests))
    with peer("textveil") as (port, pids):
        return asyncio.run(_ask_often(port, requests, texts, lambda: read_memory(pids)))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1 << 18, 1 << 22])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--large", type=int, default=1 << 20)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--echo", action="store_true")
    options = parser.parse_args()
    child_options = ["--echo"] if options.echo else []
    for name in options.only if options.only is not None else [_PROSE, *SHAPES]:
        texts = [prose(size, options.text) if name == _PROSE else SHAPES[name](size) for size in options.sizes]
        print(json.dumps({"text": name, "bytes a byte": [measure(text, *child_options) for text in texts]}), flush=True)
    if options.requests:
        found = measure_gateway(options.requests, options.large, options.text)
        print(json.dumps({"gateway MB": found, "last over first": round(found[-1] / found[0], 2)}))


if __name__ == "__main__":
    main()
