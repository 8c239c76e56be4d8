"""Measure the words per second of the modes ``names`` and ``words``, Presidio and Rampart on the same texts.

    python benchmarks/names/speed.py [--data DIR] [--rows N] [-o RECORD]

The time is the processor time of all threads on one core. It includes the whole rewriting; for the detectors Presidio
and Rampart it includes only finding the spans, since replacing them takes almost no time. *cold*: one call for each
text. *in one call*: one call for all texts, which caches chunks. Everything runs once before it is timed, but no cache
of texts is shared between calls. The detectors are timed once; the modes are timed three times, and the median is
reported.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure

if __name__ == "__main__":
    measure.one_core()

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from textveil import Sanitizer

from names import utility
from names.data import DATA_SETS
from names.fetch import FETCHED
from names.tools import TOOLS, rule, versions
from names.words import ROOT, WORD

ROUNDS = 3
Way = Callable[[list[str]], object]


def ways() -> dict[str, Way]:
    """Return the functions to time, by name."""
    sanitizer = Sanitizer.load()
    return {
        "names, in one call": lambda texts: sanitizer.sanitize_batch(texts, protect="names", facts="none"),
        "names, tags, in one call": lambda texts: sanitizer.sanitize_batch(
            texts, protect="names", facts="none", style="tag"
        ),
        "words, in one call": lambda texts: sanitizer.sanitize_batch(texts, protect="words"),
        "names, cold": lambda texts: [sanitizer.sanitize(text, protect="names", facts="none") for text in texts],
        "words, cold": lambda texts: [sanitizer.sanitize(text, protect="words") for text in texts],
    }


def seconds(way: Way, texts: list[str]) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    way(texts)
    return time.process_time() - start


def _each(hidden: Callable[[str], object], texts: list[str]) -> None:
    for text in texts:
        hidden(text)


def measure_ways(texts: list[str]) -> dict[str, Any]:
    """Time every function on the same texts."""
    words = sum(len(WORD.findall(text)) for text in texts)
    found: dict[str, Any] = {"texts": len(texts), "words": words, "words_per_second": {}}
    ours = ways()
    for way in ours.values():
        way(texts[:5])
    times = {name: [] for name in ours}
    for _ in range(ROUNDS):
        for name, way in ours.items():
            times[name].append(seconds(way, texts))
    for name, each in times.items():
        found["words_per_second"][name] = round(words / statistics.median(each))
    for name in ("presidio", "rampart"):
        hidden = TOOLS[name](FETCHED).find_hidden
        hidden(texts[0])
        found["words_per_second"][name] = round(words / seconds(partial(_each, hidden), texts))
    return found


def main() -> None:
    """Parse the command line and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--rows", type=int, default=300, help="number of texts from each corpus")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/names/speed.json")
    a = parser.parse_args()
    corpora = {
        "news": utility.TASKS["ag"](a.data).test[: a.rows],
        "posts": [row.text for row in DATA_SETS["posts"].rows(a.data, FETCHED, "odd")][: a.rows],
    }
    record = {"versions": versions("presidio") | versions("rampart") | rule(chain(*corpora.values())), "corpora": {}}
    for name, texts in corpora.items():
        record["corpora"][name] = measure_ways(texts)
        a.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(json.dumps({name: record["corpora"][name]}), flush=True)


if __name__ == "__main__":
    main()
