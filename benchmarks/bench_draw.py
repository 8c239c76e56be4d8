"""Time per token of the draw alone, on one core.

    python benchmarks/bench_draw.py

Ours draws 200,000 tokens of 5,000 different words with ``sampling.draw``, rows prepared from the table included. The
baseline is SanText's reference way: one ``np.random.choice`` per token over a dense float64 row, the row given. The
limit is the operating system's entropy for one 64-bit word per token.
"""

from measure import median_seconds, one_core, report

one_core()

import numpy as np
from textveil import Sanitizer
from textveil.bundle import artifact
from textveil.mechanisms import CappedSanText, entropy
from textveil.mechanisms import integer_sampling as sampling

_TOKENS, _WORDS, _DENSE_TOKENS = 200_000, 5_000, 500


def main() -> None:
    """Runs the benchmark."""
    bundle = Sanitizer.load(artifact("english-santext")).bundle
    level = next(level for level in bundle.levels if level.name == bundle.default_level)
    capped = CappedSanText.of(bundle.table, "santext", level.parameters["santext", "capped"])
    rng = np.random.default_rng(0)  # which words are drawn for: not the draws
    inputs = rng.choice(bundle.symbols, _WORDS, replace=False)[rng.integers(0, _WORDS, _TOKENS)]

    def ours() -> None:
        unique, row_of = np.unique(inputs, return_inverse=True)
        sampling.draw(capped.rows(unique), row_of, entropy.random_uint64)

    dense = capped.rows(inputs[:1]).weights(0).astype(np.float64)
    dense /= dense.sum()

    def reference() -> None:
        for _ in range(_DENSE_TOKENS):
            np.random.choice(len(dense), p=dense)

    ours_us = median_seconds(ours) / _TOKENS * 1e6
    reference_us = median_seconds(reference) / _DENSE_TOKENS * 1e6
    limit_us = median_seconds(lambda: entropy.random_uint64(_TOKENS)) / _TOKENS * 1e6
    rows = [
        ["ours: sampling.draw", ours_us, reference_us / ours_us],
        ["baseline: dense np.random.choice", reference_us, 1.0],
        ["limit: 8 bytes of entropy", limit_us, reference_us / limit_us],
    ]
    report("draw", ["way", "us/token", "times the baseline"], rows)


if __name__ == "__main__":
    main()
