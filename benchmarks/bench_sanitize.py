"""Measure words per second, from text to rewritten text, on one core.

    python benchmarks/bench_sanitize.py [--all] sst2=FILE [NAME=FILE ...]

Every line of a file is a document. One row is the batch call with the staircase mechanism. The row "limit" splits the
same text into tokens and joins them again without a change. With ``--all`` there are also rows for the command on the
file, and for both with SanText+. The column of tokens counts the words that spend epsilon.

Seconds are processor time of this process and its children: the median of several rounds, in each of which every row
runs once. The last column is the median of the speed relative to the limit in the same round. It is the most reliable
figure if the machine has other load. A file needs a few thousand lines, since the clock is coarse.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measure import one_core, report

one_core()

from textveil import Sanitizer
from textveil.bundle import find_artifact
from textveil.text import split_text

ROUNDS = 5
LIMIT = "limit: cut and join"


def cpu_seconds(function: Callable[[], Any]) -> float:
    """Return the processor time of one call, children included."""
    before = sum(os.times()[:4])
    function()
    return sum(os.times()[:4]) - before


def cut_and_join(lines: list[str]) -> list[str]:
    """Split the texts into tokens, and join the tokens again without a change."""
    return ["".join(split_text(line)) for line in lines]


def main() -> None:
    """Run the benchmark on the files named on the command line."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--all"]
    everything = len(arguments) < len(sys.argv) - 1
    if not arguments:
        sys.exit(__doc__)
    sanitizer, folder = Sanitizer.load(), find_artifact("english-santext")
    tables = Sanitizer.load(folder) if everything else sanitizer
    rows = []
    for argument in arguments:
        name, _, path = argument.rpartition("=")
        text = Path(path).read_text(encoding="utf-8")
        lines = text.removesuffix("\n").split("\n")
        words = sum(len(line.split()) for line in lines)
        tokens = sum(result.tokens for result in sanitizer.sanitize_batch(lines, protect="words"))
        with tempfile.TemporaryFile() as sink:

            def command(*options: str, path: str = path, sink: Any = sink) -> None:
                options = ("-q", "--plain", *options, path)
                subprocess.run(
                    [sys.executable, "-m", "textveil", "sanitize", "--protect", "words", *options],
                    stdout=sink,
                    check=True,
                )

            ways: dict[str, Callable[[], Any]] = {
                "sanitize_batch, staircase": partial(sanitizer.sanitize_batch, lines),
            }
            if everything:
                ways["the command, staircase"] = command
                ways["sanitize_batch, santext+"] = partial(tables.sanitize_batch, lines, mechanism="santext+")
                ways["the command, santext+"] = partial(command, "-b", str(folder), "-m", "santext+")
            ways[LIMIT] = partial(cut_and_join, lines)
            rounds = [{way: cpu_seconds(function) for way, function in ways.items()} for _ in range(ROUNDS)]
            for way in ways:
                seconds = statistics.median(found[way] for found in rounds)
                share = statistics.median(found[LIMIT] / found[way] for found in rounds)
                rows.append([name or Path(path).name, way, words, tokens, seconds, words / seconds, share])
    report("sanitize", ["corpus", "way", "words", "tokens", "seconds", "words/s", "of the limit"], rows)


if __name__ == "__main__":
    main()
