"""The cost of a bundle on a device: time and memory of ``textveil.Encoder`` in a process of its own, on one core."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from textveil_export.errors import ExportError

LENGTHS = (16, 32, 64, 128)
_CALLS = 21

# Peak memory is read from the kernel: the rusage of a child begins at what its parent had.
_CHILD = """
import json, os, pathlib, resource, statistics, sys, time
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from textveil import Encoder
encoder = Encoder.load(sys.argv[1])
plain = (piece for piece in encoder.bundle.vocabulary if piece.isascii() and piece.isalpha() and piece.islower())
word, latency = next(plain, "a"), {}
for tokens in json.loads(sys.argv[2]):
    if tokens <= encoder.bundle.max_tokens:
        text, seconds = " ".join([word] * (tokens - 2)), []
        encoder.encode(text)
        for _ in range(int(sys.argv[3])):
            start = time.perf_counter()
            encoder.encode(text)
            seconds.append(time.perf_counter() - start)
        latency[str(tokens)] = round(1000 * statistics.median(seconds), 2)
status = pathlib.Path("/proc/self/status")
if status.exists():
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    resident, peak = (int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))
else:
    resident = peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"latency_ms": latency, "resident_mb": round(resident / 1e6, 1), "peak_mb": round(peak / 1e6, 1)}))
"""


def footprint(bundle: Path) -> dict[str, Any]:
    """Measures a bundle that lies on the disk.

    Args:
        bundle: Its folder.

    Returns:
        ``latency_ms``: median time of ``Encoder.encode`` by number of tokens, tokenization and noise included;
        ``resident_mb`` and ``peak_mb``: memory of that process in megabytes (10^6 bytes), Python included.

    Raises:
        ExportError: The process failed.
    """
    command = [sys.executable, "-c", _CHILD, str(bundle), json.dumps(LENGTHS), str(_CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ExportError("the encoder could not be run in a process of its own")
    return json.loads(done.stdout)
