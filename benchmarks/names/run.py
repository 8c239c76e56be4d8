"""Measure the personal data that tools leave and the other words that they change, by data set and variant.

    python benchmarks/names/run.py [--data DIR] [--only TOOL...] [--sets SET...] [--limit N] [-o DIR]

Each tool has one record file, which is written after every figure. A later run measures only missing figures, and
figures of other data, other versions or other rules of the mode `names`. Choose rules with `--half even`; the reported
figures are those of odd rows. `--table` only prints existing records.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure

if __name__ == "__main__":
    measure.one_core()

import argparse
import json
import os
import platform
import time
from collections.abc import Iterator
from typing import Any

from names import score
from names.data import DATA_SETS, Row
from names.fetch import FETCHED
from names.tools import TOOLS, Tool, ToolError, rule, versions
from names.variants import VARIANTS
from names.words import ROOT, WORD

Record = dict[str, Any]
#: Version of the rules about which words and spans count; a new version makes old figures outdated.
SCORING = 1
COLUMNS = ("stays", "stays: without titles", "stays: person", "stays: address", "stays: firm", "stays: capitals")
COLUMNS += ("entities seen", "changed", "changed: no numbers", "changed: plain", "changed: lower")


def measure_tool(tool: Tool, rows: list[Row]) -> Record:
    """Run a tool on rows, and return the counts and the processor time of each text's first run on all threads."""
    words = sum(len(WORD.findall(row.text)) for row in rows)
    tool.find_hidden(rows[0].text)
    start = time.process_time()
    hidden = [tool.find_hidden(row.text) for row in rows]
    seconds = time.process_time() - start
    counts = [score.count_words(row, spans) for row, spans in zip(rows, hidden, strict=True)]
    speed = {"words": words, "cpu_seconds": round(seconds, 3), "words_per_second": round(words / max(seconds, 1e-9))}
    return {"rows": len(rows), **speed, "measures": score.summary(counts)}


def figures(record: Record, name: str, a: argparse.Namespace) -> Iterator[None]:
    """Measure the missing figures of a record, and yield after each one, so that the caller can write the record."""
    tool: Tool | None = None
    for data_set in a.sets:
        described = DATA_SETS[data_set]
        if not described.file(a.data, a.fetched).is_file():
            print(f"not measured: {described.path} is missing", file=sys.stderr)
            continue
        of = {"sha256": described.sha256(a.data, a.fetched), "scoring": SCORING, "half": a.half, "limit": a.limit}
        for variant in a.variants:
            rows = VARIANTS[variant](described.rows(a.data, a.fetched, a.half)[: a.limit])
            decided = of | (rule(row.text for row in rows) if name.startswith("names") else {})
            found = record["figures"].get(data_set, {}).get(variant)
            if found is not None and found["of"] == decided:
                continue
            tool = tool or TOOLS[name](a.fetched)
            record["figures"].setdefault(data_set, {})[variant] = {"of": decided, **measure_tool(tool, rows)}
            print(f"{name}, {data_set}, {variant}", file=sys.stderr, flush=True)
            yield


def run(name: str, a: argparse.Namespace) -> None:
    """Measure the missing figures of a tool's record."""
    path: Path = a.output / f"{name}.json"
    record: Record = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    try:
        about = {"tool": name, "versions": versions(name), "python": platform.python_version()}
        if record.get("versions") != about["versions"]:
            record = {"figures": {}}
        record = {**about, "figures": record["figures"]}
        for _ in figures(record, name, a):
            _write(path, record)
    except (ToolError, ImportError) as error:
        _write(path, {"tool": name, "not_run": str(error), "figures": {}})


def _write(path: Path, record: Record) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record) + "\n", encoding="utf-8")
    os.replace(part, path)


def table(folder: Path, names: list[str]) -> Iterator[str]:
    """Yield a table for each data set and variant, with shares in percent and their intervals in brackets."""
    records = [json.loads(path.read_text("utf-8")) for name in names if (path := folder / f"{name}.json").is_file()]
    for record in records:
        if "not_run" in record:
            yield f"not run: {record['tool']}: {record['not_run']}"
    for data_set in DATA_SETS:
        for variant in VARIANTS:
            found = {r["tool"]: r["figures"].get(data_set, {}).get(variant) for r in records}
            rows = [[name, *map(cell(one), COLUMNS), one["words_per_second"]] for name, one in found.items() if one]
            if rows:
                yield f"\n{data_set}, {variant}\n| tool | {' | '.join(COLUMNS)} | words/s |"
                yield "|---" * (len(COLUMNS) + 2) + "|"
                yield from (f"| {' | '.join(map(str, row))} |" for row in rows)


def cell(figure: Record) -> Any:
    """Return a function that formats one measure of a figure as a table cell."""

    def format_measure(name: str) -> str:
        if (one := figure["measures"].get(name)) is None:
            return "-"
        low, high = one["interval"]
        return f"{100 * one['share']:.1f} ({100 * low:.1f}-{100 * high:.1f})"

    return format_measure


def main() -> None:
    """Parse the command line, measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--fetched", type=Path, default=FETCHED, help="folder with the files from fetch.py")
    parser.add_argument("--only", nargs="+", choices=list(TOOLS), default=list(TOOLS), metavar="TOOL")
    parser.add_argument("--sets", nargs="+", choices=list(DATA_SETS), default=list(DATA_SETS), metavar="SET")
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--half", choices=("even", "odd", "all"), default="odd")
    parser.add_argument("--limit", type=int, help="maximum number of rows of each data set")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks" / "results" / "names")
    a = parser.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    for name in [] if a.table else a.only:
        run(name, a)
    print("\n".join(table(a.output, a.only)))


if __name__ == "__main__":
    main()
