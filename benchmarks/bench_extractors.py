"""Measure the time in which the static extractor and int8 MiniLM compute the vector of a text, on one core.

    python benchmarks/bench_extractors.py STATIC MINILM

STATIC and MINILM are bundles of ``textveil-train encoder``. They run alternately in one process, and the script
measures processor time including tokenization. Other load on the machine affects both equally, so the ratio is the most
reliable figure.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path

from measure import one_core, report
from textveil.bundle import open_bundle

one_core()

#: Words of a text. With [CLS], [SEP] and a piece for each word, tokens are two more.
LENGTHS = (14, 28, 62, 126)
ROUNDS, REPEATS = 15, 200
WORDS = "the market said on friday that the new price of oil will be high for a year and more".split()
#: Processor features that determine the speed of int8.
_FEATURES = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "asimd", "asimddp", "i8mm")


def features() -> list[str]:
    """Return the processor's features that affect the speed of int8; none on systems other than Linux."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    flags = next(
        (line.partition(":")[2].split() for line in lines if line.lower().startswith(("flags", "features"))), []
    )
    return [name for name in _FEATURES if name in flags]


def main() -> None:
    """Measure both bundles named on the command line."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    from textveil.bundle import LabelBundle
    from textveil.vector import make_extractor

    static, minilm = (make_extractor(open_bundle(Path(folder), LabelBundle).extractor) for folder in sys.argv[1:])
    rows: list[list[object]] = [["static, ms"], ["int8 MiniLM, ms"], ["MiniLM takes longer by"]]
    for words in LENGTHS:
        text = " ".join(WORDS[number % len(WORDS)] for number in range(words))
        times: dict[str, list[float]] = {"static": [], "minilm": []}
        for turn in range(ROUNDS + 1):
            # One text takes the static extractor too short a time for the clock.
            for name, extractor, repeats in (("static", static, REPEATS), ("minilm", minilm, 1)):
                start = time.process_time_ns()
                for _ in range(repeats):
                    extractor.extract_vector(text)
                if turn:
                    times[name].append((time.process_time_ns() - start) / repeats / 1e6)
        fast, slow = (statistics.median(found) for found in times.values())
        for row, value in zip(rows, (fast, slow, slow / fast), strict=True):
            row.append(value)
    report("extractors", ["way", *(f"{words} words" for words in LENGTHS)], rows)
    sizes = [sum(path.stat().st_size for path in Path(folder).iterdir()) for folder in sys.argv[1:]]
    print(json.dumps({"bytes": sizes, "features": features(), "cores": os.cpu_count()}))


if __name__ == "__main__":
    main()
