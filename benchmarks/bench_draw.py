"""Time per token of the draw alone, on one core.

    python benchmarks/bench_draw.py

Ours draws 200,000 tokens of 5,000 different words with SanText at its default level, all rounds included. The
baseline is SanText's reference way: one ``np.random.choice`` per token over a dense float64 row, the row given. The
limit is the operating system's entropy for one 64-bit word per token.
"""

from measure import median_seconds, one_core, report

one_core()

import numpy as np
from textveil import Sanitizer
from textveil.bundle import artifact
from textveil.mechanisms import random_uint64
from textveil.mechanisms.baselines import SanText

_TOKENS, _WORDS, _DENSE_TOKENS = 200_000, 5_000, 500


def main() -> None:
    """Runs the benchmark."""
    bundle = Sanitizer.load(artifact("english-santext")).bundle
    level = next(level for level in bundle.levels if level.name == bundle.default_level)
    santext = SanText.of(bundle.table, bundle.metric, "santext", level.parameters["santext"])
    rng = np.random.default_rng(0)  # which words are drawn for: not the draws
    inputs = rng.choice(bundle.symbols, _WORDS, replace=False)[rng.integers(0, _WORDS, _TOKENS)]

    def ours() -> None:
        santext.draw(inputs, random_uint64)

    (dense,) = santext.channel.rows(inputs[:1])

    def reference() -> None:
        for _ in range(_DENSE_TOKENS):
            np.random.choice(len(dense), p=dense)

    ours_us = median_seconds(ours) / _TOKENS * 1e6
    reference_us = median_seconds(reference) / _DENSE_TOKENS * 1e6
    limit_us = median_seconds(lambda: random_uint64(_TOKENS)) / _TOKENS * 1e6
    rows = [
        ["ours: SanText", ours_us, reference_us / ours_us],
        ["baseline: dense np.random.choice", reference_us, 1.0],
        ["limit: 8 bytes of entropy", limit_us, reference_us / limit_us],
    ]
    report("draw", ["way", "us/token", "times the baseline"], rows)


if __name__ == "__main__":
    main()
