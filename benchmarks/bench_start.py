"""One sentence from a cold process, and opening the table, on one core.

    python benchmarks/bench_start.py

Rows: the library on one sentence, and its import alone; a process that
imports numpy and regex and nothing else (the limit); the same for the command; then, in one process, opening the table
of the default bundle and loading the whole bundle with all hashes checked. Processes are counted in processor time.
"""

import sys

from measure import compiled_once, median_seconds, one_core, peak_memory_mb, processor_seconds, report

one_core()

_SENTENCE = "My doctor in Boston said the biopsy was clean."
_PROCESSES = {
    "limit: import numpy, regex": ["-c", "import numpy, regex"],
    "import textveil": ["-c", "from textveil import Sanitizer"],
    "one sentence, built-in bundle": [
        "-c", f"from textveil import Sanitizer; Sanitizer.load().sanitize({_SENTENCE!r})",
    ],
    "limit: import numpy, regex, typer": ["-c", "import numpy, regex, typer"],
    "the command on one sentence": ["-m", "textveil", "sanitize", "-q", "--text", _SENTENCE],
}  # fmt: skip


def main() -> None:
    """Runs the benchmark."""
    processes = []
    with compiled_once():
        for name, arguments in _PROCESSES.items():
            command = [sys.executable, *arguments]
            peak_memory_mb(command)  # compiles what the others find compiled
            processes.append([name, processor_seconds(command, 15), peak_memory_mb(command)])
    from textveil import Sanitizer  # only now: children must be measured from a small parent
    from textveil.bundle import DEFAULT_BUNDLE, layout, parse_tensors

    table = DEFAULT_BUNDLE / layout.STAIRCASE

    rows = [
        *processes,
        ["open the table", median_seconds(lambda: parse_tensors(table.read_bytes(), table.name), 50), None],
        ["load the bundle, hashes checked", median_seconds(Sanitizer.load, 20), None],
    ]
    report("start", ["what", "seconds", "resident MB"], rows)


if __name__ == "__main__":
    main()
