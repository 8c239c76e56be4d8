"""Processor time and memory of a command with all of its processes, as the system counts them (Linux)."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Spent:
    """What a command took so far.

    Attributes:
        wall_s: Seconds by the clock.
        cpu_s: Processor seconds of all its processes.
        peak_mb: Most memory at any time that was looked at; what several processes share counts once.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float


def watch(command: Sequence[str], told: Callable[[Spent], None] = lambda spent: None, every_s: float = 3) -> Spent:
    """Runs a command without output and looks at its processes every few seconds: what the last of them took is missed.

    Raises:
        SystemExit: The command failed.
    """
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    seen: dict[int, float] = {}
    peak = 0.0
    while process.poll() is None:
        tree = _tree(process.pid)
        seen |= {pid: _cpu_seconds(pid) for pid in tree}
        peak = max(peak, sum(map(_memory_mb, tree)))
        told(Spent(time.perf_counter() - start, sum(seen.values()), peak))
        time.sleep(every_s)
    if process.returncode:
        raise SystemExit(f"the command failed with exit code {process.returncode}")
    return Spent(time.perf_counter() - start, sum(seen.values()), peak)


def _tree(root: int) -> list[int]:
    found, children = [], {pid: int(fields[1]) for pid in _all() if (fields := _fields(pid))}
    waiting = [root]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += [pid for pid, parent in children.items() if parent == one]
    return found


def _all() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _fields(pid: int) -> list[str]:
    """What ``/proc/PID/stat`` has after the name, none of a process that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu_seconds(pid: int) -> float:
    fields = _fields(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def _memory_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
