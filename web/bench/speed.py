"""Print words per second and load times of Python and Node, measured in turn in one run.

    python web/bench/speed.py

Texts are rewritten in one call, and one by one.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from textveil import Sanitizer

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "artifacts" / "english-v4"
DATA = ROOT.parent / "shared" / "data" / "ag_news" / "test.tsv"
DATA = DATA if DATA.is_file() else ROOT / "shared" / "data" / "ag_news" / "test.tsv"
ROUNDS, TEXTS, ALONE = 5, 4000, 400


def texts() -> list[str]:
    """Return news if the data is there, else lines of the documentation."""
    source = DATA if DATA.is_file() else ROOT / "docs" / "privacy.md"
    lines = [max(line.split("\t"), key=len) for line in source.read_text(encoding="utf-8").split("\n") if line.strip()]
    return (lines * (1 + TEXTS // len(lines)))[:TEXTS]


def of_python(given: list[str]) -> dict[str, float]:
    """Return words per second of processor time in Python by mode and way of calling, and load times in seconds."""
    start = time.process_time()
    sanitizer = Sanitizer.load(BUNDLE)
    found = {"load (s)": time.process_time() - start}
    for protect in ("names", "words"):
        start = time.process_time()
        sanitizer.sanitize("Anna saw the doctor.", protect=protect)
        found[f"{protect}, first text (s)"] = time.process_time() - start
        start = time.process_time()
        sanitizer.sanitize_batch(given, protect=protect)
        found[f"{protect}, together"] = words(given) / (time.process_time() - start)
        start = time.process_time()
        for text in given[:ALONE]:
            sanitizer.sanitize(text, protect=protect)
        found[f"{protect}, one by one"] = words(given[:ALONE]) / (time.process_time() - start)
    return found


def words(given: list[str]) -> int:
    """Return the number of words in all texts."""
    return sum(len(text.split()) for text in given)


def of_node(given: list[str]) -> dict[str, float]:
    """Return the same figures for Node."""
    script = str(Path(__file__).with_suffix(".mjs"))
    asked = json.dumps({"bundle": str(BUNDLE), "texts": given, "alone": ALONE})
    run = subprocess.run(["node", script], input=asked, capture_output=True, check=True, text=True)
    return json.loads(run.stdout)


def main() -> None:
    """Print the best figures of all rounds."""
    if sys.argv[1:2] == ["--python"]:
        print(json.dumps(of_python(texts())))
        return
    given, best = texts(), [dict[str, float](), dict[str, float]()]
    for _ in range(ROUNDS):
        python = [sys.executable, __file__, "--python"]
        found: list[dict[str, float]] = [
            json.loads(subprocess.run(python, capture_output=True, check=True).stdout),
            of_node(given),
        ]
        for known, new in zip(best, found, strict=True):
            for name, value in new.items():
                before = known.get(name, value)
                known[name] = min(before, value) if "(s)" in name else max(before, value)
    print(f"{TEXTS} texts, {words(given):,} words; processor time; best of {ROUNDS} rounds in turn")
    for name, value in best[1].items():
        python = best[0].get(name)
        if "(s)" in name:
            print(f"{name:24} Node {value:.3f}" + ("" if python is None else f"   Python {python:.3f}"))
        else:
            assert python is not None
            print(f"{name:24} Node {value:>11,.0f}   Python {python:>11,.0f}   share {value / python:.2f}")


if __name__ == "__main__":
    main()
