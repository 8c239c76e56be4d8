"""What the README's first command takes beyond installing numpy, regex and typer.

    python benchmarks/bench_install.py [ROUNDS]

Two environments are made in each round and thrown away: in one pip installs numpy, regex and typer, in the other
``./runtime ./cli``, which need the same, and a sentence is rewritten. pip keeps what it has downloaded, so the first
round is not counted. Seconds by the clock.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import report

_ROOT = Path(__file__).resolve().parents[1]
_SENTENCE = "My doctor in Boston said the biopsy was clean."


def main() -> None:
    """Runs the benchmark."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    found: dict[str, list[float]] = {"limit: numpy, regex, typer": [], "./runtime ./cli": [], "and a sentence": []}
    for number in range(rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            needs = _installed(Path(folder, "needs"), "numpy", "regex", "typer")
            ours = _installed(Path(folder, "ours"), "./runtime", "./cli")
            begun = time.perf_counter()
            _run(Path(folder, "ours", "bin", "textveil"), "sanitize", "-q", "--text", _SENTENCE)
            for name, seconds in zip(found, (needs, ours, time.perf_counter() - begun), strict=True):
                found[name] += [seconds] if number else []
    beyond = [ours + said - needs for needs, ours, said in zip(*found.values(), strict=True)]
    rows = [[name, median(seconds)] for name, seconds in found.items()]
    report("install", ["what", "seconds"], [*rows, ["beyond the limit", median(beyond)]])


def _installed(folder: Path, *wanted: str) -> float:
    """Makes an environment; returns how long pip takes to install something there."""
    _run(Path(sys.executable), "-m", "venv", str(folder))
    begun = time.perf_counter()
    _run(folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", *wanted)
    return time.perf_counter() - begun


def _run(program: Path, *arguments: str) -> None:
    subprocess.run([program, *arguments], cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
