"""Words per second, text in to text out, on one core.

    python benchmarks/bench_sanitize.py sst2=FILE [NAME=FILE ...]

Every line of a file is a document. Rows: our batch call and our command on the file, with the staircase and with
SanText+ for each tail, and as the limit the same text cut into segments and joined again with nothing replaced. Tokens
are those of SanText+; the staircase draws fewer, since function words stay.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measure import median_seconds, one_core, report

one_core()

from textveil import Sanitizer
from textveil.text import segments


def cut_and_join(lines: list[str]) -> list[str]:
    """The same text with nothing replaced."""
    return ["".join(segments(line)) for line in lines]


def main() -> None:
    """Runs the benchmark on the files named on the command line."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sanitizer = Sanitizer.load()
    rows = []
    for argument in sys.argv[1:]:
        name, _, path = argument.rpartition("=")
        text = Path(path).read_text(encoding="utf-8")
        lines = text.removesuffix("\n").split("\n")
        words = sum(len(line.split()) for line in lines)
        tokens = sum(result.tokens for result in sanitizer.sanitize_batch(lines, mechanism="santext+"))
        with tempfile.TemporaryFile() as sink:

            def command(*options: str, path: str = path, sink: Any = sink) -> None:
                options = ("-q", *options, path)
                subprocess.run([sys.executable, "-m", "textveil", "sanitize", *options], stdout=sink, check=True)

            ways: dict[str, Callable[[], Any]] = {
                "sanitize_batch, staircase": partial(sanitizer.sanitize_batch, lines),
                "the command, staircase": command,
            }
            for tail in sanitizer.bundle.tails:
                law = {"mechanism": "santext+", "tail": tail}
                ways[f"sanitize_batch, santext+, {tail} tail"] = partial(sanitizer.sanitize_batch, lines, **law)
                ways[f"the command, santext+, {tail} tail"] = partial(command, "-m", "santext+", "--tail", tail)
            ways["limit: cut and join"] = partial(cut_and_join, lines)
            for way, function in ways.items():
                seconds = median_seconds(function, 3)
                rows.append([name or Path(path).name, way, words, tokens, seconds, words / seconds])
    report("sanitize", ["corpus", "way", "words", "tokens", "seconds", "words/s"], rows)


if __name__ == "__main__":
    main()
