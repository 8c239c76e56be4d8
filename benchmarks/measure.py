"""Functions of all benchmark scripts: use one core, repeat measurements, print a table and a JSON line."""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

REPETITIONS = 5


def one_core() -> None:
    """Pin this process and its children to one core, and linear algebra to one thread. Call before importing numpy."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def median_seconds(function: Callable[[], Any], repetitions: int = REPETITIONS) -> float:
    """Return the median wall time of several calls in seconds; a first call is not counted."""
    function()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@contextmanager
def compiled_once() -> Iterator[None]:
    """Let child processes cache compiled modules in a temporary folder, as for an installed package.

    If the environment disables this cache, every process in a checkout compiles all modules again.
    """
    with tempfile.TemporaryDirectory() as folder:
        saved = dict(os.environ)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(saved)


def peak_memory_mb(command: Sequence[str]) -> float:
    """Run a command, discard its output, and return its peak resident memory in MB.

    On Linux the measured peak is at least the memory of the calling process, so the caller must not import numpy.

    Raises:
        SystemExit: The command failed.
    """
    return _used_by(command).ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)


def processor_seconds(command: Sequence[str], repetitions: int = REPETITIONS) -> float:
    """Run a command several times, discard its output, and return its median processor time in seconds.

    Raises:
        SystemExit: The command failed.
    """
    used = [_used_by(command) for _ in range(repetitions)]
    return statistics.median(usage.ru_utime + usage.ru_stime for usage in used)


def _used_by(command: Sequence[str]) -> Any:
    """Run a command, discard its output, and return its resource usage as the operating system reports it."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the command failed with exit code {process.returncode}")
    return usage


def report(name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table and one JSON line."""
    cells = [[_cell(value) for value in row] for row in [columns, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        print("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]))
    machine = {"python": platform.python_version(), "machine": platform.machine(), "system": sys.platform}
    print(json.dumps({"benchmark": name, "columns": list(columns), "rows": [list(row) for row in rows], **machine}))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
