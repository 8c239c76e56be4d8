"""Measure the cost of an encoder bundle (folder with a model) on a device: memory, and speed relative to PyTorch.

Times depend on the processor. So the module reports ratios of times measured in one process, and ``describe_processor``
names the processor.
"""

import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from textveil_export.encoder.checkpoint import Checkpoint
from textveil_export.encoder.evaluation import VectorFunction
from textveil_export.errors import ExportError

TIMED_LENGTHS = (16, 32, 64, 128)
_CALLS = 11

# Peak memory is read from the kernel, since the rusage of a child starts at the peak of its parent.
_MEMORY_SCRIPT = """
import json, pathlib, resource, sys
from textveil import Encoder
encoder = Encoder.load(sys.argv[1], expect_id=sys.argv[3])
parts = encoder.bundle.extractor
plain = (piece for piece in parts.vocabulary if piece.isascii() and piece.isalpha() and piece.islower())
word = next(plain, "a")
for tokens in json.loads(sys.argv[2]):
    if tokens <= parts.max_tokens:
        encoder.encode(" ".join([word] * (tokens - 2)))
status = pathlib.Path("/proc/self/status")
if status.exists():
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    resident, peak = (int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))
else:
    resident = peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"resident_mb": round(resident / 1e6, 1), "peak_mb": round(peak / 1e6, 1)}))
"""


@contextmanager
def use_one_thread() -> Iterator[None]:
    """Restrict PyTorch to one thread during the ``with`` block, as on a device."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@use_one_thread()
def measure_speed(graph: VectorFunction, reference: VectorFunction, checkpoint: Checkpoint) -> dict[str, float]:
    """Measure the speed of an ONNX graph relative to PyTorch in float32, by number of tokens.

    Graph and PyTorch run alternately, and the function compares their shortest times of several calls.

    Args:
        graph: The graph with the settings of a device.
        reference: The same function in PyTorch.
        checkpoint: The encoder, for its longest input.

    Returns:
        Ratio of the times by number of tokens; 2.0 means that the graph takes half the time of PyTorch.
    """
    ratios = {}
    for tokens in TIMED_LENGTHS:
        if tokens <= checkpoint.max_tokens:
            ids = np.full(tokens, len(checkpoint.vocabulary) - 1, dtype=np.int64)
            best = [float("inf")] * 2
            for _ in range(_CALLS):
                for place, run in enumerate((graph, reference)):
                    start = time.perf_counter()
                    run(ids)
                    best[place] = min(best[place], time.perf_counter() - start)
            ratios[str(tokens)] = round(best[1] / best[0], 1)
    return ratios


def measure_memory(bundle: Path, content_hash: str) -> dict[str, Any]:
    """Measure the memory of a process that loads a bundle (data folder) and encodes texts.

    Args:
        bundle: Folder of the bundle.
        content_hash: Content hash of the bundle.

    Returns:
        ``resident_mb`` and ``peak_mb`` in megabytes (10^6 bytes), Python included.

    Raises:
        ExportError: The process failed.
    """
    command = [sys.executable, "-c", _MEMORY_SCRIPT, str(bundle), json.dumps(TIMED_LENGTHS), content_hash]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ExportError("the encoder failed in a separate process: check free memory")
    return json.loads(done.stdout)


#: Processor features that determine the speed of int8 matrix products.
PROCESSOR_FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimd", "asimddp", "i8mm")
_CPUINFO = Path("/proc/cpuinfo")


def describe_processor() -> str:
    """Return the processor's architecture, and on Linux its features among ``PROCESSOR_FEATURES``."""
    features: set[str] = set()
    try:
        for line in _CPUINFO.read_text("utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features"):
                features |= set(value.split())
    except OSError:  # not Linux
        return platform.machine()
    return " ".join([platform.machine(), *(name for name in PROCESSOR_FEATURES if name in features)])
