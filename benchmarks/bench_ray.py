"""Rows per second of CSV on a Ray cluster of one and two workers, beside one and two plain processes, in one run.

    python benchmarks/bench_ray.py [ROWS]

The plain way is ``textveil sanitize --csv --workers N``, the other ``textveil-train sanitize-corpus --ray --workers
N``. The cluster, the bundle and all else that is done once is taken out: each way sanitizes a file and one three times
as long, and what the longer takes more is what its rows cost. On all cores; nothing else should run.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import report

ROWS = 100_000
TIMES = 3
TEXT = "My doctor in Boston said the biopsy was clean, and nobody will pay the invoice before {} comes home on Monday."
NAMES = ("Anna", "Peter", "Maria", "John", "Olga")


def write(path: Path, rows: int) -> None:
    """Writes a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "note"])
        writer.writerows((number, TEXT.format(NAMES[number % len(NAMES)])) for number in range(rows))


def seconds(command: list[str]) -> float:
    """Wall time of a command."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def plain(table: Path, out: Path, workers: int) -> list[str]:
    """The library's command."""
    options = ["--csv", "--column", "note", "-o", str(out), "--workers", str(workers), "-q"]
    return [sys.executable, "-m", "textveil", "sanitize", str(table), *options]


def on_ray(table: Path, out: Path, workers: int) -> list[str]:
    """The server's command, with parts so small that both workers have enough of them."""
    part_bytes = max(100_000, table.stat().st_size // 24)
    code = (
        "import textveil_training.corpus.on_ray as m; from textveil_training.cli import main; "
        f"m.sanitize_corpus_on_ray.__kwdefaults__['part_bytes'] = {part_bytes}; main()"
    )
    options = ["--format", "csv", "--text", "note", "-o", str(out), "--ray", "--workers", str(workers), "-q"]
    return [sys.executable, "-c", code, "sanitize-corpus", str(table), *options]


def main() -> None:
    """Runs the benchmark."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    speeds: dict[tuple[str, int], float] = {}
    table: list[list[object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        short, long = folder / "short.csv", folder / "long.csv"
        write(short, rows)
        write(long, TIMES * rows)
        for workers in (1, 2):
            for way, command in (("plain", plain), ("Ray", on_ray)):
                one = seconds(command(short, folder / f"{way}-{workers}-short", workers))
                more = seconds(command(long, folder / f"{way}-{workers}-long", workers))
                speeds[way, workers] = (TIMES - 1) * rows / (more - one)
                once = one - rows / speeds[way, workers]
                table.append([f"{way}, {workers}", speeds[way, workers], once, more])
    report("ray", ["way, workers", "rows/s", "once, s", "long file, s"], table)
    scaling = {way: speeds[way, 2] / speeds[way, 1] for way in ("plain", "Ray")}
    share = scaling["Ray"] / scaling["plain"]
    print(f"from 1 to 2: plain {scaling['plain']:.2f}, Ray {scaling['Ray']:.2f}; share {share:.2f}")
    print(json.dumps({"benchmark": "ray_scaling", **scaling, "cores": os.cpu_count()}))


if __name__ == "__main__":
    main()
