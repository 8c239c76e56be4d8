"""Measure the time of the README's first command, without that of installing numpy, regex and typer.

    python benchmarks/bench_install.py [ROUNDS]

Each round creates and deletes two environments. In the first one, pip installs numpy, regex and typer. In the second
one, it installs ``./runtime ./cli``, which depend on these, and textveil rewrites a sentence. pip caches its downloads,
so the first round is not counted. The table has wall time and processor time; other programs disturb the latter less.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import report

_ROOT = Path(__file__).resolve().parents[1]
_SENTENCE = "My doctor in Boston said the biopsy was clean."


#: Wall time and processor time, in seconds.
Seconds = tuple[float, float]


def main() -> None:
    """Run the benchmark."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    found: dict[str, list[Seconds]] = {"limit: numpy, regex, typer": [], "./runtime ./cli": [], "and a sentence": []}
    for number in range(rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            needs = _time_installation(Path(folder, "needs"), "numpy", "regex", "typer")
            ours = _time_installation(Path(folder, "ours"), "./runtime", "./cli")
            said = _seconds(
                Path(folder, "ours", "bin", "textveil"), "sanitize", "--protect", "words", "-q", "--text", _SENTENCE
            )
            for times, seconds in zip(found.values(), (needs, ours, said), strict=True):
                times += [seconds] if number else []
    rows = [[name, *(median(kind) for kind in zip(*times, strict=True))] for name, times in found.items()]
    every = zip(*found.values(), strict=True)
    beyond = [[ours[kind] + said[kind] - needs[kind] for kind in (0, 1)] for needs, ours, said in every]
    rows.append(["beyond the limit", *(median(kind) for kind in zip(*beyond, strict=True))])
    report("install", ["what", "seconds", "processor"], rows)


def _time_installation(folder: Path, *wanted: str) -> Seconds:
    """Create an environment, and return the time that pip takes to install some packages there."""
    _seconds(Path(sys.executable), "-m", "venv", str(folder))
    return _seconds(folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", *wanted)


def _seconds(program: Path, *arguments: str) -> Seconds:
    before, begun = _processor(), time.perf_counter()
    subprocess.run([program, *arguments], cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun, _processor() - before


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
