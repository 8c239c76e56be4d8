"""Train small models on rewritten texts, test them on rewritten texts, and compare them with models of the raw texts.

    python benchmarks/names/utility.py [--data DIR] [--rewrite MODULE:FUNCTION --name NAME] [--repeats N] [-o RECORD]

FUNCTION takes a list of texts and returns the rewritten texts. Every repeat calls it again with the training and test
texts, so the figures include the randomness of the function, such as a key. For data with classes, the model is
logistic regression on TF-IDF of words and word pairs, and the figure is the accuracy. For SICK, the model is a small
regressor of sentence similarity, and the figure is Pearson's r times 100; the two sentences of a pair are separate
texts. The difference to raw texts has a 95 % interval from a bootstrap over test texts.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure

if __name__ == "__main__":
    measure.one_core()

import argparse
import csv
import importlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from names.tools import rule
from names.words import ROOT

Texts = Sequence[str]
Rewrite = Callable[[list[str]], list[str]]
Floats = NDArray[Any]
DRAWS, SEED = 2000, 20170


@dataclass(frozen=True)
class Task:
    """Training and test texts of a data set. In SICK the second sentence of a pair directly follows the first."""

    train: list[str]
    train_labels: Floats
    test: list[str]
    test_labels: Floats


def maximal(phrases: Sequence[str]) -> list[int]:
    """Return the row numbers of phrases that are not part of another phrase.

    GLUE's train has the phrases of every sentence. A phrase is searched only in longer phrases that contain the rarest
    word of the phrase. Of equal phrases the first counts.
    """
    padded = [f" {' '.join(phrase.split())} " for phrase in phrases]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    order = sorted(range(len(phrases)), key=lambda row: (-len(padded[row]), row))
    kept = []
    for row in order:
        words = padded[row].split()
        rarest = min((holders[word] for word in words), key=len, default=[])
        if not any(padded[row] in padded[other] for other in rarest):
            kept.append(row)
            for word in set(words):
                holders[word].append(row)
    return sorted(kept)


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _sst2(data: Path) -> Task:
    train, test = _table(data / "sst2/train.tsv"), _table(data / "sst2/dev.tsv")
    train = [train[row] for row in maximal([row["sentence"] for row in train])]
    texts = [[row["sentence"].strip() for row in part] for part in (train, test)]
    labels = [np.array([int(row["label"]) for row in part]) for part in (train, test)]
    return Task(texts[0], labels[0], texts[1], labels[1])


def _ag(data: Path) -> Task:
    parts = []
    for name in ("ag_news/train.tsv", "ag_news/test.tsv"):
        rows = [line.rpartition("\t") for line in (data / name).read_text("utf-8").strip().split("\n")]
        parts += [[text for text, _, _ in rows], np.array([label for _, _, label in rows])]
    return Task(*parts)


def _trec(data: Path) -> Task:
    parts = []
    for name in ("trec/train.txt", "trec/test.txt"):
        rows = [line.split(" ", 1) for line in (data / name).read_text("latin-1").strip().split("\n")]
        parts += [[text for _, text in rows], np.array([label for label, _ in rows])]
    return Task(*parts)


def _sick(data: Path) -> Task:
    parts = []
    for name in ("sick/SICK_train.txt", "sick/SICK_test_annotated.txt"):
        rows = _table(data / name)
        parts += [[row[side] for row in rows for side in ("sentence_A", "sentence_B")]]
        parts += [np.array([float(row["relatedness_score"]) for row in rows])]
    return Task(*parts)


TASKS: dict[str, Callable[[Path], Task]] = {"ag": _ag, "sst2": _sst2, "trec": _trec, "sick": _sick}


def check_predictions(task: Task) -> Floats:
    """Return for each test text whether its class is predicted correctly."""
    vectors = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\[[\w -]+\]|\w+|[?!]")
    model = LogisticRegression(C=10, max_iter=1000).fit(vectors.fit_transform(task.train), task.train_labels)
    return (model.predict(vectors.transform(task.test)) == task.test_labels).astype(float)


def predict_similarity(task: Task) -> Floats:
    """Return the predicted similarity of each test pair."""
    vectorizers = (
        TfidfVectorizer(token_pattern=r"\S+"),
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+"),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)),
    )
    for vectorizer in vectorizers:
        vectorizer.fit(task.train)

    def features(texts: list[str]) -> Floats:
        first, second = texts[::2], texts[1::2]
        pairs = ((csr_array(v.transform(first)), csr_array(v.transform(second))) for v in vectorizers)
        columns = [(a * b).sum(axis=1) for a, b in pairs]  # of unit vectors: cosines
        words = [(set(a.lower().split()), set(b.lower().split())) for a, b in zip(first, second, strict=True)]
        columns.append(np.array([len(a & b) / max(1, len(a | b)) for a, b in words]))
        columns.append(np.array([len(a & b) / max(1, min(len(a), len(b))) for a, b in words]))
        columns.append(np.array([abs(len(a) - len(b)) for a, b in words]))
        columns.append(np.array([bool({"no", "not", "nobody"} & (a ^ b)) for a, b in words]))
        return np.stack(columns, axis=1)

    model = GradientBoostingRegressor(n_estimators=200, max_depth=3, learning_rate=0.05, random_state=SEED)
    return model.fit(features(task.train), task.train_labels).predict(features(task.test))


def _scores(name: str, found: Floats, labels: Floats, rows: NDArray[Any]) -> Floats:
    """Return a score, x 100, for each selection of test rows."""
    if name != "sick":
        return 100 * found[rows].mean(axis=1)
    x, y = found[rows], labels[rows]
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    return 100 * (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))


def _figure(draws: Floats, whole: float) -> dict[str, Any]:
    return {"score": round(whole, 2), "interval": [round(float(q), 2) for q in np.percentile(draws, (2.5, 97.5))]}


def measure_rewrite(name: str, task: Task, rewrite: Rewrite | None, repeats: int) -> dict[str, Any]:
    """Return the scores of raw and of rewritten texts and their difference, as means over the repeats."""
    learn = predict_similarity if name == "sick" else check_predictions
    count = len(task.test_labels)
    rows = np.random.default_rng(SEED).integers(count, size=(DRAWS, count))
    every = np.arange(count)[None]
    raw = learn(task)
    drawn, whole = _scores(name, raw, task.test_labels, rows), float(_scores(name, raw, task.test_labels, every)[0])
    record: dict[str, Any] = {"train": len(task.train_labels), "test": count, "raw": _figure(drawn, whole)}
    if rewrite is not None:
        runs, trained = [], len(task.train)
        for _ in range(repeats):
            texts = rewrite([*task.train, *task.test])  # in one call, with a new key or other choice
            runs.append(learn(Task(texts[:trained], task.train_labels, texts[trained:], task.test_labels)))
        scores = [float(_scores(name, run, task.test_labels, every)[0]) for run in runs]
        after = np.mean([_scores(name, run, task.test_labels, rows) for run in runs], axis=0)
        mean = float(np.mean(scores))
        record["rewritten"] = _figure(after, mean) | {"repeats": [round(score, 2) for score in scores]}
        record["difference"] = _figure(after - drawn, mean - whole)
    return record


def import_function(name: str) -> Rewrite:
    """Import a function by its name ``MODULE:FUNCTION``."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def main() -> None:
    """Parse the command line, measure each task and write the record after each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument(
        "--rewrite", type=import_function, help="MODULE:FUNCTION of a function from a list of texts to a list of texts"
    )
    parser.add_argument("--name", default="raw", help="name of the function in the record")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/names/utility.json")
    a = parser.parse_args()
    record = json.loads(a.output.read_text("utf-8")) if a.output.is_file() else {}
    for task in a.tasks:
        found = measure_rewrite(task, TASKS[task](a.data), a.rewrite, a.repeats) | (
            {"of": rule(TASKS[task](a.data).test)} if a.rewrite else {}
        )
        record.setdefault(a.name, {})[task] = found
        a.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(json.dumps({task: found}), flush=True)


if __name__ == "__main__":
    main()
