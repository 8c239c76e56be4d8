"""One line of 50 MB through the command: time and peak memory.

    python benchmarks/bench_long_line.py

Three lines: English words with blanks; one run of letters without any blank; punctuation between single letters. The
limit is ``cat``.
"""

import sys
import tempfile
import time
from pathlib import Path

from measure import one_core, peak_memory_mb, report

one_core()

_BYTES = 50_000_000
_SENTENCE = b"My doctor in Boston said the biopsy was clean, and the nurse agreed with him. "


def main() -> None:
    """Runs the benchmark."""
    patterns = {"English": _SENTENCE, "one run of letters": b"a", "letters and commas": b"a,"}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.txt"
        for name, pattern in patterns.items():
            block = pattern * (1_000_000 // len(pattern))
            with path.open("wb") as file:
                for _ in range(_BYTES // len(block)):
                    file.write(block)
                file.write(b"\n")
            for way, command in {
                "textveil": [sys.executable, "-m", "textveil", "sanitize", "-q", str(path)],
                "limit: cat": ["cat", str(path)],
            }.items():
                start = time.perf_counter()
                memory = peak_memory_mb(command)
                rows.append([name, way, time.perf_counter() - start, memory])
    report("long_line", ["line", "way", "seconds", "resident MB"], rows)


if __name__ == "__main__":
    main()
