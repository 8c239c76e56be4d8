"""Count test texts that also occur in train, also with another label, and measure models on these texts."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from textveil_training.data import LabeledExample, group_texts
from textveil_training.encoder import LabeledPart
from vectors import labeled
from vectors.extractors import STRENGTH, Extractors, static_extractor

Bits = NDArray[np.bool_]


def read_published(data: Path, name: str) -> tuple[tuple[LabeledExample, ...], tuple[LabeledExample, ...]]:
    """Return train and test as published. For AG News with entities, the dev split is not included."""
    if name != "ag-private":
        corpus = labeled.load(data, name)
        return corpus.train, corpus.test
    train, test = (
        tuple(
            LabeledExample(texts=row.texts, label=row.label)
            for row in labeled.read_ag_entities(data / labeled.FILES[name][0], split)
        )
        for split in ("train", "test")
    )
    return train, test


def counts(train: tuple[LabeledExample, ...], test: tuple[LabeledExample, ...]) -> tuple[dict[str, int], Bits]:
    """Count repeated texts, and mark the test texts that occur verbatim in train."""
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for row in train:
        labels[row.text][row.label] += 1
    repeated = np.array([row.text in labels for row in test])
    other = sum(row.text in labels and labels[row.text].most_common(1)[0][0] != row.label for row in test)
    groups = group_texts([row.text for row in (*test, *train)])
    near = set(groups.group_ids[len(test) :])
    found = {
        "train": len(train),
        "test": len(test),
        "train_copies": len(train) - len(labels),
        "test_copies": len(test) - len({row.text for row in test}),
        "in_train": int(repeated.sum()),
        "in_train_other_label": int(other),
        "near_train": sum(group in near for group in groups.group_ids[: len(test)]),
    }
    return found, repeated


def measure(extractors: Extractors, seed: int) -> dict[str, Any]:
    """Count repeated texts, and measure two models trained on all training texts as published."""
    train, test = read_published(extractors.data, extractors.name)
    found, repeated = counts(train, test)
    names = sorted({row.label for row in train})
    truth = np.array([names.index(row.label) for row in test])
    classes = [names.index(row.label) for row in train]
    texts, asked = tuple(row.text for row in train), tuple(row.text for row in test)
    everything = replace(extractors.task(seed), labels=tuple(names), train=LabeledPart(texts, np.array(classes)))
    trained = static_extractor(everything)
    decided = {"static, tuned": trained.compute_labels(asked, lambda *_: None)}
    model = LogisticRegression(C=STRENGTH["minilm"], max_iter=300)
    model.fit(extractors.vectors("minilm", texts), classes)
    decided["minilm, frozen"] = np.asarray(model.predict(extractors.vectors("minilm", asked)), dtype=np.int64)
    right = {name: codes == truth for name, codes in decided.items()}
    return {
        "counts": found,
        "accuracy": {
            name: {
                "all": round(float(bits.mean()), 6),
                "repeated": round(float(bits[repeated].mean()), 6) if repeated.any() else None,
                "unseen": round(float(bits[~repeated].mean()), 6),
            }
            for name, bits in right.items()
        },
    }
