"""Words per second of FBDD beside SanText's, on one core, in one run.

    python benchmarks/bench_fbdd.py FILE [BUNDLE]

Every line of the file is a document; BUNDLE is the built-in one if left out. Rows, text in to text out: SanText
(default level), and FBDD. Then FBDD's draw alone: drawn for all tokens at once; by one call per
word; and the way a reference implementation does it, word by word with the distance of the noisy vector to every row.
The limit is the matrix product, and nothing else.
"""

import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from measure import median_seconds, one_core, report

one_core()

import numpy as np
from textveil import Sanitizer
from textveil.mechanisms import random_uint64
from textveil.mechanisms.baselines import Fbdd, laplace_noise
from textveil.text import segments

_EPSILON = 120
_BATCH, _ONE_BY_ONE, _REFERENCE, _BLOCK = 8192, 300, 60, 400


def main() -> None:
    """Runs the benchmark on the file named on the command line."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sanitizer = Sanitizer.load(*sys.argv[2:])
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    tokens = sum(result.tokens for result in sanitizer.sanitize_batch(lines, mechanism="santext"))
    rows: list[list[Any]] = []

    def measure(way: str, count: int, function: Callable[[], Any]) -> None:
        seconds = median_seconds(function, 3)
        rows.append([way, count, seconds, count / seconds, seconds / count * 1e6])

    measure("sanitize_batch, santext", tokens, lambda: sanitizer.sanitize_batch(lines, mechanism="santext"))
    measure(
        "sanitize_batch, fbdd",
        tokens,
        lambda: sanitizer.sanitize_batch(lines, mechanism="fbdd", epsilon=_EPSILON),
    )
    fbdd = Fbdd.of(sanitizer.bundle.table, sanitizer.bundle.metric, Decimal(_EPSILON))
    words = [word for line in lines for word in segments(line)]
    known = np.array([sanitizer.bundle.ids[word] for word in words if word in sanitizer.bundle.ids])
    inputs = np.resize(known, _BATCH)
    outputs = fbdd.outputs.rows
    scale = fbdd.epsilon / float(np.sqrt(fbdd.metric.median_squared))
    dimension = outputs.shape[1]

    def one_by_one() -> None:
        for token in inputs[:_ONE_BY_ONE]:
            fbdd.draw(np.array([token]), random_uint64)

    def reference() -> None:
        for token in inputs[:_REFERENCE]:
            point = fbdd.metric.rows[token] + laplace_noise(1, dimension, random_uint64)[0] / scale
            fbdd.outputs.ids[np.linalg.norm(outputs - point, axis=1).argmin()]

    block = np.ones((_BLOCK, dimension))
    measure("fbdd's draw", _BATCH, lambda: fbdd.draw(inputs, random_uint64))
    measure("fbdd's draw, one call per word", _ONE_BY_ONE, one_by_one)
    measure("baseline: fbdd word by word, all distances", _REFERENCE, reference)
    measure("limit: the matrix product", _BLOCK, lambda: block @ outputs.T)
    report("fbdd", ["way", "tokens", "seconds", "tokens/s", "us/token"], rows)


if __name__ == "__main__":
    main()
