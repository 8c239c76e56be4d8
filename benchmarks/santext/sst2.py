"""Measure the accuracy on SST-2 after SanText, SanText+ and FBDD and on raw text, and write records.

    python benchmarks/santext/sst2.py [--data DIR] [--glove BUNDLE] [--seeds 3] [-o RECORDS]

The task, the classifier and the settings are the same as in ``benchmarks/frontier``: ``sst2-whole``, the rows of train
that are not part of another row, with a linear model on words and word pairs. Training and test texts are randomized
with fresh noise for each seed. ``--glove`` is a bundle from ``textveil-export table --vectors glove.6B.50d.txt
--epsilon 1,2,3``. Each record is written as soon as it is measured.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from frontier import classify, corpora
from textveil import Sanitizer
from textveil.bundle import DEFAULT_BUNDLE
from textveil.text import make_plan, split_text, summarize_levels
from textveil_training.attacks.words import WordIds, make_raw_release, make_word_release


class Classifier:
    """The linear model of the frontier benchmark."""

    def __init__(self) -> None:
        self.words = WordIds()
        bundle = Sanitizer.load(DEFAULT_BUNDLE).bundle
        plan: Any = make_plan(bundle, mechanism="staircase", protect="words", epsilon="10")
        self.release = make_raw_release(make_word_release(self.words, plan))

    def measure(self, train: list[str], labels: Any, test: list[str], gold: Any) -> float:
        """Return the accuracy on the test texts."""
        one, other = (self.release.read([split_text(text) for text in texts]) for texts in (train, test))
        return classify.accuracy(one, one.word, labels, other, other.word, gold)


def list_rows(glove: Sanitizer | None, *, with_fbdd: bool) -> list[tuple[str, Sanitizer, dict[str, Any]]]:
    """Return the label, the sanitizer and the options of each row."""
    english = Sanitizer.load(ROOT / "artifacts" / "english-santext")
    rows: list[tuple[str, Sanitizer, dict[str, Any]]] = [
        (f"{mechanism}, MiniLM, certified {epsilon}", english, {"mechanism": mechanism, "epsilon": epsilon})
        for mechanism in ("santext", "santext+")
        for epsilon in (10, 12.5)
    ]
    if glove is not None:
        for mechanism in ("santext", "santext+"):
            rows += [
                (f"{mechanism}, GloVe, paper's {level.name}", glove, {"mechanism": mechanism, "epsilon": found.epsilon})
                for level, found in zip(
                    glove.bundle.santext_levels, summarize_levels(glove.bundle, mechanism), strict=True
                )
            ]
        for epsilon in (3, 8, 12) if with_fbdd else ():
            unit = float(glove.bundle.manifest["provenance"]["median_distance"])
            options = {"mechanism": "fbdd", "epsilon": round(epsilon * unit, 4)}
            rows.append((f"fbdd, GloVe, paper's {epsilon}", glove, options))
    return rows


def count_unchanged(before: list[str], after: list[str]) -> float:
    """Return the share of unchanged chunks, which are separated by spaces."""
    same = total = 0
    for one, other in zip(before, after, strict=True):
        first, second = one.split(), other.split()
        total += len(first)
        same += sum(a == b for a, b in zip(first, second, strict=False))
    return same / total


def main() -> None:
    """Measure every row."""
    parser = argparse.ArgumentParser(description="Measure the accuracy on SST-2.")
    parser.add_argument("--data", type=Path, required=True, help="folder with sst2/train.tsv and sst2/dev.tsv of GLUE")
    parser.add_argument("--glove", type=Path, help="bundle of GloVe vectors")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument(
        "--no-fbdd", action="store_true", help="leave out the rows of fbdd, which take most of the time"
    )
    parser.add_argument("--code", default="", help="name of the code for the records, such as a commit")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/santext_sst2.jsonl")
    options = parser.parse_args()
    parts = corpora.load(options.data, "sst2-whole", quick=False)
    train, test = (list(map("".join, parts[name].cut)) for name in ("train", "test"))
    labels, gold = parts["train"].labels, parts["test"].labels
    classifier = Classifier()

    def write(row: str, seed: int, texts: tuple[list[str], list[str]]) -> None:
        record = {
            "code": options.code,
            "row": row,
            "seed": seed,
            "accuracy": classifier.measure(texts[0], labels, texts[1], gold),
            "unchanged": count_unchanged(test, texts[1]),
            "train": len(train),
            "test": len(test),
        }
        with options.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)

    write("raw", 0, (train, test))
    write("majority", 0, (["the"] * len(train), ["the"] * len(test)))
    glove = None if options.glove is None else Sanitizer.load(options.glove)
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for row, sanitizer, settings in list_rows(glove, with_fbdd=not options.no_fbdd):
            one, other = ([r.text for r in sanitizer.sanitize_batch(texts, **settings)] for texts in (train, test))
            write(row, seed, (one, other))


if __name__ == "__main__":
    main()
