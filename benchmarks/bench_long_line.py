"""Measure time and peak memory of the command on one line of 50 MB.

    python benchmarks/bench_long_line.py [MEGABYTES [OPTION...]]

There are several lines: English words, a single token, punctuation, and characters that need the most memory or become
longer when folded. Options such as ``--sanitize-punctuation`` are passed to the command. The column "times" is the peak
minus the peak for a line of one word, divided by the bytes of the line. The limit is the command ``cat``. This process
must not import numpy, since on Linux the measured peak of a child process is at least its parent's memory.
"""

import sys
import tempfile
import time
from pathlib import Path

from measure import one_core, peak_memory_mb, report

one_core()

_BYTES = 50_000_000
_PATTERNS = {
    "English": "My doctor in Boston said the biopsy was clean, and the nurse agreed with him. ",
    "one run of letters": "a",
    "letters and commas": "a,",
    "capitals and blanks": "A ",
    "quotation marks": '"',
    "quotation marks and blanks": '" ',
    "full stops and colons": ".:",
    "domains": "www.a.com ",
    "one URL with commas": "a.com,",
    "U+FDFA": "\ufdfa",
    "U+FDFA and blanks": "\ufdfa ",
}


def main() -> None:
    """Run the benchmark."""
    size = int(sys.argv[1]) * 1_000_000 if len(sys.argv) > 1 else _BYTES
    rows: list[list[str | float]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.txt"
        ways = {
            "textveil": [
                sys.executable,
                "-m",
                "textveil",
                "sanitize",
                "--protect",
                "words",
                "-q",
                *sys.argv[2:],
                str(path),
            ],
            "limit: cat": ["cat", str(path)],
        }
        path.write_text("word\n")
        alone = {way: peak_memory_mb(command) for way, command in ways.items()}
        for name, pattern in _PATTERNS.items():
            block = pattern.encode() * (1_000_000 // len(pattern.encode()))
            with path.open("wb") as file:
                for _ in range(size // len(block)):
                    file.write(block)
                file.write(b"\n")
            for way, command in ways.items():
                start = time.perf_counter()
                memory = peak_memory_mb(command)
                seconds = time.perf_counter() - start
                times = (memory - alone[way]) * (1 << 20) / path.stat().st_size
                rows.append([name, way, seconds, memory, max(0.0, times)])
    report("long_line", ["line", "way", "seconds", "resident MB", "times its bytes"], rows)


if __name__ == "__main__":
    main()
