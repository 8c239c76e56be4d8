"""Words per second, text in to text out, on one core.

    python benchmarks/bench_sanitize.py sst2=FILE [NAME=FILE ...]

Every line of a file is a document. Rows: our batch call, our command on the file, and as the limit
the same text cut into segments and joined again with nothing replaced.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from measure import median_seconds, one_core, report

one_core()

from textveil import Sanitizer, segmentation  # noqa: E402  (after the pinning)


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
        tokens = sum(result.tokens for result in sanitizer.sanitize_batch(lines))
        command = [sys.executable, "-m", "textveil", "sanitize", "-q", path]
        with tempfile.TemporaryFile() as sink:
            ways = {
                "sanitize_batch": lambda lines=lines: sanitizer.sanitize_batch(lines),
                "the command on the file": lambda command=command, sink=sink: subprocess.run(
                    command, stdout=sink, check=True
                ),
                "limit: cut and join": lambda lines=lines: ["".join(segmentation.segments(line)) for line in lines],
            }
            for way, function in ways.items():
                seconds = median_seconds(function, 3)
                rows.append([name or Path(path).name, way, words, tokens, seconds, words / seconds])
    report("sanitize", ["corpus", "way", "words", "tokens", "seconds", "words/s"], rows)


if __name__ == "__main__":
    main()
