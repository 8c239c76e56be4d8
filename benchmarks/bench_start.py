"""One sentence from a cold process, and opening the table, on one core.

    python benchmarks/bench_start.py

Rows: the command on one sentence; a process that imports numpy, regex and typer and nothing else (the limit); opening
the mapped table of the default bundle; loading the whole bundle with all hashes checked.
"""

import subprocess
import sys

from measure import median_seconds, one_core, peak_memory_mb, report

one_core()

_SENTENCE = "My doctor in Boston said the biopsy was clean."


def main() -> None:
    """Runs the benchmark."""
    command = [sys.executable, "-m", "textveil", "sanitize", "-q", "--text", _SENTENCE]
    limit = [sys.executable, "-c", "import numpy, regex, typer"]
    processes = [
        ["the command on one sentence", median_seconds(lambda: _run(command)), peak_memory_mb(command)],
        ["limit: import numpy, regex, typer", median_seconds(lambda: _run(limit)), peak_memory_mb(limit)],
    ]
    from textveil import Sanitizer  # only now: children must be measured from a small parent
    from textveil.bundle import DEFAULT_BUNDLE, TABLE, open_tensors

    rows = [
        *processes,
        ["open the table", median_seconds(lambda: open_tensors(DEFAULT_BUNDLE / TABLE), 50), None],
        ["load the bundle, hashes checked", median_seconds(Sanitizer.load, 20), None],
    ]
    report("start", ["what", "seconds", "resident MB"], rows)


def _run(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
