"""Measure two workers on one CSV file with and without a ledger, and two processes with half of the file each.

    python benchmarks/bench_workers.py train.tsv [ROWS]

Each line of the file becomes a cell between an id and a label. The script measures wall time, including the start of
processes, so it needs two cores without other load. The runs alternate. The limit is the time of two independent
processes.
"""

import csv
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path

from measure import compiled_once, report

_REPETITIONS = 3


def write_table(lines: Sequence[str], path: Path) -> Path:
    """Write the lines as cells of a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = ((number, line, f"label {number % 7}") for number, line in enumerate(lines))
        csv.writer(file).writerows([("id", "note", "label"), *rows])
    return path


def command(table: Path, out: Path, *more: str) -> list[str]:
    """Return the command that sanitizes the column of a table."""
    start = [sys.executable, "-m", "textveil", "sanitize", "--protect", "words", "-q", "--csv", "-c", "note"]
    return [*start, str(table), "-o", str(out), *more]


def together(*commands: list[str]) -> None:
    """Run commands at the same time, and wait for all of them."""
    if any(process.wait() for process in [subprocess.Popen(each) for each in commands]):
        sys.exit("a command failed")


def main() -> None:
    """Run the benchmark."""
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 400_000
    lines = list(islice(cycle(Path(sys.argv[1]).read_text("utf-8").splitlines()), rows))
    with tempfile.TemporaryDirectory() as name, compiled_once():
        folder = Path(name)
        whole = write_table(lines, folder / "whole.csv")
        halves = [write_table(lines[half::2], folder / f"half{half}.csv") for half in (0, 1)]
        ledger = ["--ledger", str(folder / "ledger")]
        runs: dict[str, Callable[[], None]] = {
            "1 worker": lambda: together(command(whole, folder / "out")),
            "2 workers": lambda: together(command(whole, folder / "out", "--workers", "2")),
            "limit: 2 processes, half each": lambda: together(
                *(command(half, folder / f"out{number}") for number, half in enumerate(halves))
            ),
            "1 worker, ledger": lambda: together(command(whole, folder / "out", *ledger)),
            "2 workers, ledger": lambda: together(command(whole, folder / "out", *ledger, "--workers", "2")),
        }
        times: dict[str, list[float]] = {what: [] for what in runs}
        for _ in range(_REPETITIONS):
            for what, run in runs.items():
                start = time.perf_counter()
                run()
                times[what].append(time.perf_counter() - start)
    seconds = {what: statistics.median(spent) for what, spent in times.items()}
    report(
        "workers",
        ["what", "rows/s", "times 1 worker"],
        [[what, rows / spent, seconds["1 worker"] / spent] for what, spent in seconds.items()],
    )


if __name__ == "__main__":
    main()
