"""Open bundles that were changed at random, as an accident or an attacker would change them.

    python tests/attacks/mutants.py --small 100000 --shipped 500

Half of the mutants are raw: a hash reveals the change. The other half have new hashes, so that the reader must detect
the change itself, or the change must do no harm. A mutant must open and keep its promises, or end in a named error:
within two seconds, within four times the bundle's size plus 100 MB, and without ending the process. The promises of a
staircase or of class labels are compared with exact rationals from the loaded integers. Models run in a process of
their own.
"""

import argparse
import datetime
import math
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))

import numpy as np  # noqa: E402
from mutations import Files, mutant  # noqa: E402
from promises import use  # noqa: E402
from textveil.errors import TextveilError  # noqa: E402

SECONDS, MEGABYTES_MORE, TIMES_MORE = 2.0, 100, 4


class TooLong(BaseException):
    """Two seconds are over."""


def _too_long(number: int, frame: Any) -> None:
    raise TooLong


def attempt(folder: Path, work: Callable[[Path], None] = use) -> str:
    """Return the result of one mutant: ``sound``, the code of an error, or a description of the failure."""
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # processor time: a busy machine is not a hang
    try:
        work(folder)
        return "sound"
    except TextveilError as error:
        text = str(error)
        return f"refused {error.code}" if "\n" not in text else "WRONG: an error of several lines"
    except TooLong:
        return "WRONG: more than two seconds"
    except AssertionError as error:
        return f"WRONG: {error}"
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _apart(folder: Path) -> str:
    """Do the same in a separate process, which a model runtime may crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, attempt(folder).encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        said = answer.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    return said if os.WIFEXITED(status) and said else f"WRONG: the process ended with {status}"


def attack(original: Path, count: int, seed: int, *, apart: bool = False) -> tuple[Counter[str], list[str]]:
    """Open mutants of a bundle; return the counts of their results, and the first failures."""
    files = {path.name: path.read_bytes() for path in sorted(original.iterdir())}
    size = sum(map(len, files.values()))
    found: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        folder = Path(place)
        _write(folder, files, {})
        use(folder)  # what is imported late is there then, also in the processes that come
        before = _peak_kilobytes()
        there = files
        for number in range(count):
            chance = random.Random(f"{seed} {number}")
            mutated, rehashed = mutant(files, chance)
            _write(folder, mutated, there)
            there = mutated
            became = _apart(folder) if apart else attempt(folder)
            grown = (_peak_kilobytes() - before) / 1000
            if grown > TIMES_MORE * size / 1e6 + MEGABYTES_MORE:
                became = f"WRONG: {grown:.0f} MB"
                before = _peak_kilobytes()
            found[f"{'re-hashed' if rehashed else 'raw'}: {became}"] += 1
            if became.startswith("WRONG") and len(wrong) < 10:
                wrong.append(f"seed {seed}, mutant {number}: {became}")
    return found, wrong


def _write(folder: Path, files: Files, there: Files) -> None:
    for name in there.keys() - files.keys():
        (folder / name).unlink()
    for name, content in files.items():
        if there.get(name) != content:
            (folder / name).write_bytes(content)


def _peak_kilobytes() -> int:
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def small_bundles(place: Path) -> dict[str, Path]:
    """Write small bundles of every kind."""
    from small_bundles import contents
    from small_encoders import write_encoder
    from small_label_bundle import write_index
    from small_staircase import small_staircase
    from textveil_export.text.write import write_bundle

    vectors = np.random.default_rng(3).integers(-127, 128, (24, 3))
    vectors[0, 0] = 127
    text = contents(vectors, k=5, exponents=("4",))
    bundles = {
        "staircase": small_staircase(place / "staircase"),
        "santext": write_bundle(text, place / "santext").path,
        "index": write_index(place / "index"),
        "vectors": write_encoder(place / "vectors"),
    }
    return bundles


def _what_this_is_of() -> list[str]:
    """Return the day, the commit and the command, with which the record of a run begins."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "runtime", "tests/attacks", "artifacts") else ""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return [today, (git("rev-parse", "HEAD") or "no commit") + changed, " ".join(["python", *sys.argv])]


def main() -> None:
    """Run the requested number of mutants, and print their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=2000, help="mutants of small bundles, all kinds together")
    parser.add_argument("--shipped", type=int, default=0, help="mutants of each bundle that ships")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(*_what_this_is_of(), sep="\n", flush=True)
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        small = small_bundles(Path(place))
        # Models run in a process of their own, which takes ten times as long: they have a tenth of the mutants.
        shares = {name: 0.1 if name == "vectors" else 0.9 / (len(small) - 1) for name in small}
        runs = [(name, path, math.ceil(shares[name] * chosen.small)) for name, path in small.items()]
        if chosen.shipped:
            artifacts = sorted(path.parent for path in (ROOT / "artifacts").glob("*/manifest.json"))
            runs += [(path.name, path, chosen.shipped) for path in artifacts]
        for name, path, count in runs:
            start = sum(os.times()[:4])
            size = sum(each.stat().st_size for each in path.iterdir())
            apart = (path / "model.onnx").exists()
            found, wrong = attack(path, count, chosen.seed, apart=apart)
            print(f"{name}: {size:,} bytes, {count:,} mutants, {sum(os.times()[:4]) - start:.0f} s of processor time")
            for became, times in sorted(found.items()):
                print(f"  {times:>7,}  {became}")
            print("".join(f"  {line}\n" for line in wrong), end="", flush=True)
            bad += sum(times for became, times in found.items() if "WRONG" in became)
    print(f"{bad} went wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
