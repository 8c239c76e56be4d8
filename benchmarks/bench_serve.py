"""Measure the local service under load, and the same texts through the API in this process.

    python benchmarks/bench_serve.py FILE [--seconds 120]

Every line of FILE is a document. The table has these rows:
- ``Sanitizer.sanitize`` and ``sanitize_batch`` in this process;
- ``/health``, which is the limit of HTTP and the clients;
- one document per request with one client, then with 4 clients for ``--seconds``;
- 100 documents per request;
- 64 clients, without a ledger and with one in the working directory;
- single writes to the disk there, since one request with a ledger needs five of them.
The other rows take a tenth of ``--seconds``, but at most 12 seconds.

Service and clients share the processor's cores, so the service alone would be faster. Clients measure the time of a
request. The columns of memory are the memory of the service after the row, and its peak.
"""

import argparse
import http.client
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from measure import report

BATCH = 100


class Client:
    """Client with one open connection to the service."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> bytes:
        """Send a request and return the body of the reply; exit unless its status is 200."""
        content = None if body is None else json.dumps(body).encode()
        self.connection.request(method, path, content, {"Content-Type": "application/json"} if body else {})
        answer = self.connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}")
        return said


@contextmanager
def service(*options: str) -> Iterator[tuple[int, int]]:
    """Start the command on a free port, and return the port and the process."""
    command = [sys.executable, "-m", "textveil", "serve", "--port", "0", "--protect", "words", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = iter(process.stderr)  # type: ignore[arg-type]
        found = next((found for line in said if (found := re.search(r":(\d+);", line))), None)
        if found is None:
            sys.exit("the service did not start")
        yield int(found[1]), process.pid
    finally:
        process.terminate()
        if process.wait(timeout=60):
            sys.exit("the service did not stop without an error")


def repeat(call: Callable[[], Any], seconds: float) -> list[float]:
    """Call a function repeatedly for a number of seconds, and return the seconds of each call."""
    times, end = list[float](), time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        call()
        times.append(time.perf_counter() - start)
    return times


def memory_mb(process: int, what: str) -> float:
    """Return the resident memory of a process in MB.

    ``what`` is ``VmRSS`` for the present memory, or ``VmHWM`` for the peak.
    """
    found = re.search(rf"^{what}:\s*(\d+) kB$", Path(f"/proc/{process}/status").read_text(), re.M)
    return int(found[1]) / 1024 if found else 0.0


def flush(file: FileIO) -> None:
    """Write a few bytes, and wait until they are on the disk; a spend in a ledger needs five such writes."""
    file.write(bytes(4096))
    os.fsync(file.fileno())


def row(name: str, times: list[float], seconds: float, texts: int, process: int | None) -> list[Any]:
    """Return one row of the table; each call had ``texts`` texts."""
    percentiles = statistics.quantiles(times, n=100, method="inclusive")
    memory = [None, None] if process is None else [memory_mb(process, what) for what in ("VmRSS", "VmHWM")]
    speed = len(times) / seconds
    return [name, len(times), speed, texts * speed, 1000 * percentiles[49], 1000 * percentiles[98], *memory]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=120)
    options = parser.parse_args()
    lines = [line for line in options.file.read_text("utf-8").splitlines() if line]
    short, words = min(options.seconds / 10, 12), sum(len(line.split()) for line in lines) / len(lines)
    texts = itertools.cycle(lines)
    several = itertools.cycle([lines[start : start + BATCH] for start in range(0, len(lines) - BATCH + 1, BATCH)])

    def of_api() -> list[list[Any]]:
        from textveil import Sanitizer

        sanitizer = Sanitizer.load()
        one = repeat(lambda: sanitizer.sanitize(next(texts), protect="words"), short)
        many = repeat(lambda: sanitizer.sanitize_batch(next(several), protect="words"), short)
        return [
            row("API, one document a call", one, short, 1, None),
            row(f"API, {BATCH} documents a call", many, short, BATCH, None),
        ]

    def of_service(
        name: str, clients: int = 1, seconds: float = short, count: int = 1, path: str = "/sanitize"
    ) -> None:
        """Measure some clients of the running service, and add a row."""

        def ask(client: Client) -> Any:
            if not count:
                return client.ask("GET", path)
            return client.ask("POST", path, {"text": next(texts)} if count == 1 else {"texts": next(several)})

        with ThreadPoolExecutor(clients) as pool:
            found = pool.map(
                lambda client: repeat(lambda: ask(client), seconds), [Client(port) for _ in range(clients)]
            )
            times = list(itertools.chain.from_iterable(found))
        rows.append(row(name, times, seconds, count, process))

    rows = of_api()
    with service() as (port, process):
        of_service("limit: /health", count=0, path="/health")
        of_service("service, one document, 1 client")
        of_service("service, one document, 4 clients", 4, options.seconds)
        of_service(f"service, {BATCH} documents, 1 client", count=BATCH)
        of_service("service, one document, 64 clients", 64)
    with tempfile.TemporaryDirectory(dir=Path()) as folder, (Path(folder) / "flushed").open("wb", 0) as flushed:
        rows.append(row("limit: a flush of this disk", repeat(lambda: flush(flushed), short), short, 0, None))
        with service("--ledger", f"{folder}/ledger") as (port, process):
            of_service("with a ledger, 1 client")
            of_service("with a ledger, 64 clients", 64)
    print(f"{len(lines):,} documents of {words:.1f} words on average; 4 clients for {options.seconds:g} seconds")
    columns = ["what", "requests", "requests/s", "documents/s", "p50 ms", "p99 ms", "resident MB", "most MB"]
    report("serve", columns, rows)


if __name__ == "__main__":
    main()
