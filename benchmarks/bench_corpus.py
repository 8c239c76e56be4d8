"""Seconds for a corpus through ``textveil-train sanitize-corpus``, start to finish.

    python benchmarks/bench_corpus.py sst2 SST2/train.tsv

A format and a file of it. Rows: one worker, two workers, and as the limit the same file checked by its reader, cut into
texts and the rest, joined again and written to the disk part by part, with nothing sanitized.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import report

REPETITIONS = 3

_LIMIT = """
import sys
from pathlib import Path
from types import SimpleNamespace
from textveil import Sanitizer
from textveil_training.corpus import sanitize_corpus
unchanged = lambda self, texts, **options: [SimpleNamespace(text=text, tokens=0) for text in texts]
Sanitizer.sanitize_batch = unchanged
sanitize_corpus([Path(sys.argv[2])], Path(sys.argv[3]), sys.argv[1], options={}, workers=1)
"""


def seconds(command: Callable[[Path], list[str]]) -> list[float]:
    """Wall time of each of several runs of a command, from the start of its process to its end."""
    times = []
    for _ in range(REPETITIONS):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            subprocess.run(command(Path(folder) / "out"), check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - start)
    return times


def main() -> None:
    """Runs the benchmark on the file named on the command line."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    format_name, path = sys.argv[1:]

    def ours(workers: int) -> Callable[[Path], list[str]]:
        options = ["--format", format_name, "--workers", str(workers), "-q"]
        return lambda out: [
            sys.executable, "-m", "textveil_training", "sanitize-corpus", path, "-o", str(out), *options
        ]  # fmt: skip

    ways: dict[str, Callable[[Path], list[str]]] = {
        "1 worker": ours(1),
        "2 workers": ours(2),
        "limit: nothing sanitized": lambda out: [sys.executable, "-c", _LIMIT, format_name, path, str(out)],
    }
    lines = Path(path).read_bytes().count(b"\n")
    rows: list[list[Any]] = []
    for way, command in ways.items():
        times = sorted(seconds(command))
        rows.append([way, lines, times[len(times) // 2], times[0], times[-1], lines / times[len(times) // 2]])
    report("corpus", ["way", "lines", "median s", "fastest s", "slowest s", "lines/s"], rows)


if __name__ == "__main__":
    main()
