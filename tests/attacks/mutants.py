"""Changes bundles at random, as an accident or an attacker would, and opens them. A reader can run it by hand:

    python tests/attacks/mutants.py --small 100000 --shipped 500

Half of the mutants are raw: a hash tells. The other half have hashes made anew, so that the change itself has to be
noticed, or to do no harm. A mutant must open and keep what it states, or end in a named error: within two seconds,
within four times the bundle's size plus 100 MB, and without the end of the process. What a staircase or an index states
is compared with exact rationals from the integers that were loaded. Models run in a process of their own.
"""

import argparse
import datetime
import hashlib
import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))

import numpy as np  # noqa: E402
from textveil import Encoder, IndexEncoder, Sanitizer  # noqa: E402
from textveil.bundle import encoder_version, kind_of  # noqa: E402
from textveil.cli import show_encoder, show_index, show_text  # noqa: E402
from textveil.errors import TextveilError  # noqa: E402
from textveil.mechanisms.staircase import Staircase  # noqa: E402

SECONDS, MEGABYTES_MORE, TIMES_MORE = 2.0, 100, 4
#: Rows of a large channel that are compared; all of them up to this number.
_ROWS = 40
_TEXT = "The doctor said that Mary, 42, was not in Boston on Monday; mail her: m@example.org."
Files = dict[str, bytes]

_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 255, 65_536, 2**31, 2**62, 2**63, 10**30, 10**400, 0.5, -0.0, 1e308, 5e-324),
    *(
        "",
        "0",
        "1",
        "16",
        "17",
        "1/3",
        "9" * 40,
        "0.000000001",
        "1e9",
        "staircase",
        "santext",
        "../law.json",
        "\x1b[2J",
    ),
    *([], {}, [[]], [{}], {"": {}}, ["1", "2"], "words.txt", "manifest.json", "x" * 5000, "\ud800", "é"),
]
_NUMBERS = [0, 1, 2, 3, 127, 128, 255, 256, 32_767, 65_535, 2**31 - 1, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def mutant(original: Files, chance: random.Random) -> tuple[Files, bool]:
    """One to three changes; whether the hashes were made anew."""
    files = dict(original)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        name = chance.choice(sorted(files))
        files[name] = _changed(files[name], name, chance)
    rehashed = chance.random() < 0.5
    if rehashed:
        _rehash(files)
    return files, rehashed


def _changed(content: bytes, name: str, chance: random.Random) -> bytes:
    if name.endswith(".json") and chance.random() < 0.8:
        try:
            parsed = json.loads(content)
            _change_json(parsed, chance)
            return json.dumps(parsed).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):
            pass
    if name.endswith(".safetensors") and len(content) > 8 and chance.random() < 0.7:
        return _change_tensors(content, chance)
    return _change_bytes(content, chance)


def _change_json(parsed: Any, chance: random.Random) -> None:
    """Replaces, removes, adds or doubles something in an object or a list somewhere below."""
    while isinstance(parsed, dict | list) and parsed:
        key = chance.choice(sorted(parsed)) if isinstance(parsed, dict) else chance.randrange(len(parsed))
        if isinstance(parsed[key], dict | list) and parsed[key] and chance.random() < 0.8:
            parsed = parsed[key]
            continue
        way = chance.randrange(5)
        if way == 0:
            del parsed[key]
        elif way == 1 and isinstance(parsed, list):
            parsed.append(parsed[key])
        elif way == 2 and isinstance(parsed, dict):
            parsed[chance.choice(["later", "", "name", "levels", "epsilon", "files"])] = parsed[key]
        elif way == 3 and isinstance(parsed[key], str) and parsed[key]:
            place = chance.randrange(len(parsed[key]))
            parsed[key] = parsed[key][:place] + chance.choice("0123456789./-eé\t") + parsed[key][place + 1 :]
        else:
            parsed[key] = chance.choice(_VALUES)
        return


def _change_tensors(content: bytes, chance: random.Random) -> bytes:
    """Changes a number of an array, or the header, whose length stays right."""
    size = int.from_bytes(content[:8], "little")
    header, data = content[8 : 8 + size], bytearray(content[8 + size :])
    if data and chance.random() < 0.7:
        for _ in range(chance.choice((1, 1, 10))):
            width = chance.choice((1, 2, 4, 8))
            place = chance.randrange(max(1, len(data) // width)) * width
            number = chance.choice(_NUMBERS) % 2 ** (8 * width)
            data[place : place + width] = number.to_bytes(width, "little")[: len(data) - place]
        return content[: 8 + size] + bytes(data)
    try:
        parsed = json.loads(header)
        _change_json(parsed, chance)
        header = json.dumps(parsed).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        header = _change_bytes(header, chance)
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + bytes(data)


def _change_bytes(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    way = chance.randrange(6)
    if way == 0:
        return content[:place]
    if way == 1:
        return content[:place] + chance.randbytes(chance.choice((1, 8, 1000))) + content[place:]
    if way == 2:
        return content[:place] + content[place + chance.choice((1, 2, 8, 100)) :]
    if way == 3:
        other = chance.randrange(len(content) + 1)
        return content[:place] + content[other : other + chance.choice((4, 64, 1000))] + content[place:]
    if place == len(content):
        return content + b"\0"
    flipped = content[place] ^ 1 << chance.randrange(8) if way == 4 else chance.choice((0, 1, 10, 34, 127, 128, 255))
    return content[:place] + bytes([flipped]) + content[place + 1 :]


def _rehash(files: Files) -> None:
    """Makes hashes and sizes fit again, in whatever still can be read."""

    def digest(name: str) -> str:
        return hashlib.sha256(files[name]).hexdigest()

    for law in ("law.json", "release.json", "certificate.json", "statistics.json", "manifest.json"):
        try:
            told = json.loads(files.get(law, b""))
            if law in ("certificate.json", "statistics.json"):
                told["identity"] = digest("law.json")
            entries = told.get("files", {})
            for name in entries:
                if name in files:
                    fresh = {"sha256": digest(name), "bytes": len(files[name])}
                    entries[name] = fresh if law == "manifest.json" else fresh["sha256"]
            files[law] = json.dumps(told).encode("utf-8", "surrogatepass")
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            continue


# --- what a mutant must do -------------------------------------------------------------------------------------------


def use(folder: Path) -> None:
    """Opens a bundle, describes it, draws from it, and compares what it states with what it loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind_of(folder) == "textveil-encoder":
            _use_encoder(folder)
        else:
            _use_text(folder)


def _use_text(folder: Path) -> None:
    sanitizer = Sanitizer.load(folder)
    bundle = sanitizer.bundle
    _printable(show_text.information(bundle))
    for mechanism in bundle.mechanisms:
        _printable(sanitizer.sanitize(_TEXT, mechanism=mechanism).statement.summary())
    if bundle.staircase is not None:
        terms = sanitizer.terms(mechanism="staircase")
        level = next(level for level in bundle.staircase_levels if level.name == terms.level)
        check_staircase(Staircase.of(bundle.staircase, level, bundle.staircase.base > 0), terms.epsilon)


def _use_encoder(folder: Path) -> None:
    if encoder_version(folder) == 2:
        index = IndexEncoder.load(folder)
        _printable(show_index.information(index.bundle))
        release = index.encode(_TEXT)
        _printable(release.line)
        for levels in index.bundle.channels.values():
            for staircase in levels:
                check_staircase(staircase, staircase.level.epsilon)
        return
    encoder = Encoder.load(folder)
    _printable(show_encoder.information(encoder.bundle))
    encoder.encode(_TEXT)


def check_staircase(staircase: Any, promised: Decimal) -> None:
    """Compares the largest ratio of two probabilities, in exact rationals, with ``exp`` of what is promised."""
    symbols = len(staircase.base)
    inputs = range(symbols) if symbols <= _ROWS else [*range(0, symbols, symbols // _ROWS), symbols - 1]
    rows = [staircase.exact_row(row) for row in inputs]
    totals = [sum(row) for row in rows]
    worst = Fraction(0)
    for column in zip(*rows, strict=True) if symbols <= _ROWS else _some(rows):
        shares = [Fraction(weight, total) for weight, total in zip(column, totals, strict=True)]
        if max(shares):
            if not min(shares):
                raise AssertionError("an output is possible for one input alone")
            worst = max(worst, max(shares) / min(shares))
    with localcontext(prec=60):
        if Decimal(worst.numerator) > promised.exp() * (1 + Decimal(10) ** -50) * worst.denominator:
            raise AssertionError("loses more than is promised")


def _some(rows: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Columns in which some row is much larger than another one: those of its likeliest outputs."""
    array = np.array([np.array(row, dtype=object) / sum(row) for row in rows], dtype=np.float64)
    for column in np.argsort(array.max(axis=0) / np.maximum(array.min(axis=0), 1e-300))[-20:]:
        yield tuple(row[int(column)] for row in rows)


def _printable(text: str) -> None:
    if any((ord(mark) < 32 and mark != "\n" and mark != "\t") or 127 <= ord(mark) < 160 for mark in text):
        raise AssertionError("control characters would reach a terminal")


class TooLong(BaseException):
    """Two seconds are over."""


def _too_long(number: int, frame: Any) -> None:
    raise TooLong


def attempt(folder: Path, work: Callable[[Path], None] = use) -> str:
    """Returns what became of one mutant: ``sound``, the code of an error, or what is wrong with it."""
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # processor time: a busy machine is no hang
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
    """The same in a process of its own: a runtime for models can end the whole of it."""
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
    """Opens mutants of a bundle; what became of them, and the first of those that went wrong."""
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
    """Writes small bundles of every kind."""
    from small_bundles import contents
    from small_context import random_context
    from small_encoders import write_encoder
    from small_index import write_index
    from small_staircase import small_staircase
    from textveil_export.text.write import write_bundle

    vectors = np.random.default_rng(3).integers(-127, 128, (24, 3))
    vectors[0, 0] = 127
    text = contents(vectors, k=5, exponents=("4",), tails=("exact",))
    bundles = {
        "staircase": small_staircase(place / "staircase"),
        "staircase that follows the text": small_staircase(place / "fluent", context=random_context(1)),
        "santext": write_bundle(text, place / "santext").path,
        "index": write_index(place / "index"),
        "vectors": write_encoder(place / "vectors"),
    }
    return bundles


def _what_this_is_of() -> list[str]:
    """The day, the commit that is checked out, and the command: what a record of a run begins with."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "runtime", "tests/attacks", "artifacts") else ""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return [today, (git("rev-parse", "HEAD") or "no commit") + changed, " ".join(["python", *sys.argv])]


def main() -> None:
    """Runs as many mutants as are asked for, and says what became of them."""
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
