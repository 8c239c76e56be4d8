"""Compare the rows per second of table formats with those of the same cells as plain text, in one run.

    python benchmarks/bench_files.py sst2.txt [BUNDLE]

Each line of the file becomes a cell between an id and a label. The script measures the processor time of one process,
including reading and writing. The row "limit" is the time to read and write the table with unchanged texts.
"""

import csv
import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from measure import REPETITIONS, one_core, report

one_core()

from textveil import Sanitizer
from textveil.storage import open_atomic_text
from textveil_cli.console import read_lines
from textveil_cli.files import BlockSanitizer, ColumnSelection, find_source_files, sanitize_files

Run = Callable[[], object]


def write_tables(lines: list[str], folder: Path) -> dict[str, tuple[str, Path]]:
    """Write the same cells as tables in all formats, and return format and path of each table by its name."""
    rows = [(number, line, f"label {number % 7}") for number, line in enumerate(lines)]
    tables = {"CSV": ("csv", folder / "t.csv"), "CSV, all cells in quotes": ("csv", folder / "quoted.csv")}
    for (_, path), quoting in zip(tables.values(), (csv.QUOTE_MINIMAL, csv.QUOTE_ALL), strict=True):
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=quoting).writerows([("id", "note", "label"), *rows])
    tables["CSV, gzip"] = ("csv", folder / "t.csv.gz")
    tables["CSV, gzip"][1].write_bytes(gzip.compress(tables["CSV"][1].read_bytes()))
    tables["JSON lines"] = ("jsonl", folder / "t.jsonl")
    with tables["JSON lines"][1].open("w", encoding="utf-8") as file:
        for number, note, label in rows:
            file.write(json.dumps({"id": number, "note": note, "label": label}, ensure_ascii=False) + "\n")
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return tables
    tables["Parquet"] = ("parquet", folder / "t.parquet")
    ids, notes, labels = zip(*rows, strict=True)
    parquet.write_table(pyarrow.table({"id": ids, "note": notes, "label": labels}), tables["Parquet"][1])
    return tables


class Unchanged(Sanitizer):
    """Sanitizer that returns every text unchanged, to measure the limit."""

    def sanitize_batch(self, texts: Iterable[str], **options: Any) -> Any:
        """Return results that contain the unchanged texts."""
        return [
            SimpleNamespace(text=text, tokens=0, randomized_words=0, replaced_words=0, foreign_words=0)
            for text in texts
        ]


def main() -> None:
    """Run the benchmark."""
    source, bundle = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    lines = source.read_text("utf-8").splitlines()
    sanitizer = Sanitizer.load(bundle)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = folder / "plain.txt"
        plain.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        runs: dict[str, Run] = {"plain text": lambda: sanitize_plain(sanitizer, plain, folder / "out")}
        for what, (format_name, path) in write_tables(lines, folder).items():
            columns = ColumnSelection(format=format_name, columns=("note",))
            sources = find_source_files([str(path)], format_name, folder / f"out-{path.name}")
            for of, way in ((sanitizer, what), (Unchanged.load(bundle), f"limit: {what}, nothing drawn")):
                drawing = BlockSanitizer(of, bundle, {}, 1)
                runs[way] = lambda sources=sources, columns=columns, drawing=drawing: sanitize_files(
                    sources, columns, drawing
                )
        seconds = processor_times(runs)
    rows = [[what, len(lines) / spent, seconds["plain text"] / spent] for what, spent in seconds.items()]
    report("files", ["what", "rows/s", "share of plain text"], rows)


def sanitize_plain(sanitizer: Sanitizer, path: Path, out: Path) -> None:
    """Sanitize lines as ``textveil sanitize FILE -o OUT`` does."""
    descriptor = os.open(path, os.O_RDONLY)
    with open_atomic_text(out) as write:
        for lines, ended, _ in read_lines(descriptor, "input 1"):
            write(
                "\n".join([result.text for result in sanitizer.sanitize_batch(lines, protect="words")])
                + ("\n" if ended else "")
            )
    os.close(descriptor)


def processor_times(runs: dict[str, Run]) -> dict[str, float]:
    """Return the median processor seconds of each run; the runs alternate, so that other load affects all of them."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for repetition in range(REPETITIONS + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            if repetition:  # the first is not counted
                times[name].append(time.process_time() - start)
    return {name: statistics.median(spent) for name, spent in times.items()}


if __name__ == "__main__":
    main()
