"""Measure how often the corrected count of texts with a label is within two standard errors of the true count.

    python benchmarks/vectors/counts.py [--data DIR] [--tasks trec ag sst2 ag-16-codes] [--held-out SHARE] [-o RECORDS]

Each of five models is trained on half of the data. The other half, with one text of each group of near duplicates, is
sampled anew for every release: first held-out texts, then from the rest texts of each label, in shares from a flat
Dirichlet distribution and only while there are enough texts. Held-out and released texts are disjoint, and the model
was not trained on them. The noise is sampled by the randomizer of a bundle. For comparison the record has an estimate
without held-out decisions, which treats the model's decisions as true labels and includes only the error of the noise.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import HeldOutCounts
from textveil.mechanisms.staircase import LabelStaircase
from textveil_cli.aggregation import CountEstimate, CountEstimates, count_class_labels, count_true_labels
from textveil_export.label import compute_realized_epsilon, make_integer_randomizer
from textveil_training.data import group_texts, split_groups
from textveil_training.encoder import (
    NO_TEACHER,
    LabeledPart,
    LabeledTexts,
    MinilmSettings,
    StaticSettings,
    deduplicate_texts,
    train_static_codebook,
    train_static_extractor,
)
from textveil_training.label_randomizers import make_counts_randomizer
from vectors import labeled

ROOT = Path(__file__).resolve().parents[2]
TASKS = ("trec", "ag", "sst2", "ag-16-codes")
EPSILONS = ("2", "4", "8")
#: Number of texts of a release; fewer if a label has too few texts.
TEXTS = {"trec": 600, "ag": 1500, "sst2": 1500, "ag-16-codes": 1500}
MODELS, MOST_TEXTS = 5, 12_000
#: A label with fewer texts counts in the average, but not in the lowest share.
FEW = 20
Ids = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Texts that a model was not trained on: their true labels, and the model's decisions."""

    labels: tuple[str, ...]
    classes: Ids
    codes: Ids
    count: int


def pools(data: Path, task: str) -> list[Pool]:
    """Train the models of a task, and compute each model's decisions on the texts that it was not trained on."""
    name, _, codes = task.partition("-")
    corpus = labeled.load(data, name)
    rows = [*corpus.train, *corpus.test]
    labels = tuple(sorted({row.label for row in rows}))
    ids = {label: number for number, label in enumerate(labels)}
    groups = group_texts([row.text for row in rows])

    def part(numbers: list[int]) -> LabeledPart:
        chosen = [rows[numbers[int(at)]] for at in np.linspace(0, len(numbers) - 1, min(len(numbers), MOST_TEXTS))]
        return LabeledPart(tuple(row.text for row in chosen), np.array([ids[row.label] for row in chosen]))

    found = []
    for seed in range(MODELS):
        sides = split_groups(groups, {"train": 1, "pool": 1}, seed)
        train, pool = part(sides["train"]), part(list({groups.group_ids[n]: n for n in sides["pool"]}.values()))
        if codes:
            texts = deduplicate_texts(train.texts, int(codes.split("-")[0]))
            settings = StaticSettings(seed=seed), MinilmSettings(encoder=NO_TEACHER)
            trained = train_static_codebook(texts, int(codes.split("-")[0]), *settings, None, _silent)
        else:
            trained = train_static_extractor(
                LabeledTexts(labels=labels, train=train, calibration=pool, test=pool, groups=groups, left_out=0),
                StaticSettings(),
                None,
                _silent,
            )
        decided = trained.compute_labels(pool.texts, lambda *_: None)
        found.append(Pool(labels=labels, classes=pool.classes, codes=decided, count=len(trained.bias)))
    return found


def releases(
    pool: Pool, staircase: LabelStaircase, texts: int, share: float, count: int, generator: np.random.Generator
) -> Iterator[tuple[HeldOutCounts, Ids, Ids, Ids]]:
    """Sample held-out texts and releases. Yield held-out decisions, received labels, true labels, and decisions."""
    labels, size = len(pool.labels), len(pool.classes)
    for _ in range(count):
        order = generator.permutation(size)
        held, rest = order[: round(share * size)], order[size // 2 :]
        pairs = pool.classes[held] * pool.count + pool.codes[held]
        table = np.bincount(pairs, minlength=labels * pool.count).reshape(labels, pool.count)
        wanted = np.rint(texts * generator.dirichlet(np.ones(labels))).astype(int)
        taken = np.concatenate([rest[pool.classes[rest] == label][:most] for label, most in enumerate(wanted)])
        truth = np.bincount(pool.classes[taken], minlength=labels)
        codes = np.bincount(pool.codes[taken], minlength=pool.count)
        arrived = np.sum(
            [generator.multinomial(n, row) for n, row in zip(codes, staircase.probability_matrix, strict=True)], axis=0
        )
        yield HeldOutCounts(pool.labels, table), arrived, truth, codes


def measure(task: str, found: list[Pool], epsilon: str, share: float, count: int) -> dict[str, Any]:
    """Compute the shares of one task and epsilon."""
    generator = np.random.default_rng(7)
    inside: dict[str, list[list[float]]] = {"of_labels": [], "before": [], "decided": []}
    truths, widths, none, refused = [], [], 0, 0
    for pool in found:
        staircase = make_integer_randomizer(
            "counts", make_counts_randomizer(pool.count, compute_realized_epsilon(epsilon)), epsilon
        )
        for held_out, arrived, truth, codes in releases(
            pool, staircase, TEXTS[task], share, count // len(found), generator
        ):
            decided = count_class_labels([str(code) for code in range(pool.count)], [(staircase, arrived)])
            of_labels = count_true_labels(held_out, [(staircase, arrived)])
            truths.append(truth.tolist())
            inside["decided"].append(_inside(decided, codes))
            if pool.count == len(pool.labels):
                inside["before"].append(_inside(decided, truth))
            refused += of_labels.refusal is not None
            inside["of_labels"].append(_inside(of_labels, truth))
            widths += [2 * one.standard_error for one in of_labels.counts if one.interval]
            none += sum(one.interval is None for one in of_labels.counts)
    large = np.array(truths) >= FEW
    return {
        "task": task,
        "epsilon": epsilon,
        "releases": len(truths),
        "held_out": round(share * len(found[0].classes)),
        "texts": int(np.median(np.sum(truths, axis=1))),
        "refused": refused,
        "no_number": none,
        "two_errors": round(float(np.median(widths)), 1) if widths else None,
        "labels": list(found[0].labels),
        **{name: _shares(inside[name], large) for name in ("of_labels", "before") if inside[name]},
        "decided": round(float(np.nanmean(inside["decided"])), 4),
    }


def _inside(estimate: CountEstimates, truth: Ids) -> list[float]:
    """Return for each label 1 if the true count is within two standard errors, 0 if not, NaN without an estimate."""

    def rate_estimate(count: CountEstimate, true: int) -> float:
        return float("nan") if count.interval is None else float(abs(count.count - true) <= 2 * count.standard_error)

    if estimate.refusal:
        return [float("nan")] * len(truth)
    return [rate_estimate(count, true) for count, true in zip(estimate.counts, truth.tolist(), strict=True)]


def _shares(rows: list[list[float]], large: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the average over all estimates, and over the estimates of each label that has enough texts."""
    inside = np.array(rows)
    by_label = np.nanmean(np.where(large, inside, np.nan), axis=0)
    return {
        "average": round(float(np.nanmean(inside)), 4),
        "lowest": round(float(by_label.min()), 4),
        "by_label": [round(float(one), 4) for one in by_label],
    }


def _silent(*_: object) -> None:
    pass


def main() -> None:
    """Measure, print, and write a record of each task and epsilon."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=TASKS)
    parser.add_argument("--held-out", type=float, default=0.5, help="share of the unseen texts to hold out")
    parser.add_argument("--releases", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks" / "results" / "counts.jsonl")
    a = parser.parse_args()
    print(f"{'':12} {'eps':>3} {'held out':>8}  {'average':>7}  {'lowest':>6}  before: average, lowest  by label")
    with a.output.open("w", encoding="utf-8") as file:
        for task in a.tasks:
            found = pools(a.data, task)
            for epsilon in EPSILONS:
                record = measure(task, found, epsilon, a.held_out, a.releases)
                ours, before = record["of_labels"], record.get("before", {"average": "", "lowest": ""})
                print(
                    f"{task:12} {epsilon:>3} {record['held_out']:>8}  {ours['average']:>7}  {ours['lowest']:>6}  "
                    f"{before['average']:>15}  {before['lowest']:>6}  {ours['by_label']}",
                    flush=True,
                )
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
