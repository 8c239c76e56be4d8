"""Train a text classifier on the outputs of ``textveil encode --as-text``, and attack the sentences.

    python benchmarks/vectors/sentences.py TASK BUNDLE [--data DIR] [--draws N]

Every text is released anew in each draw. One server fits logistic regression on TF-IDF to the released training texts
and their labels. The other server assigns to each released class label the most frequent true label in the same draw.
An attacker matches each sentence to one of 800 test texts, by TF-IDF or by the class label of each text; ties are
broken at random.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from textveil.bundle import LabelBundle, open_bundle
from textveil.mechanisms import random_uint64
from textveil.vector import TextLabelEncoder
from vectors import labeled

SAMPLE = 800


def measure_hits(scores: np.ndarray) -> float:
    """Return the share of rows in which the diagonal entry has the largest score; ties are broken at random."""
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    return float((np.diag(best) / best.sum(axis=1)).mean())


def main() -> None:
    """Print a line of means, with standard deviations over the draws, for each epsilon."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("task", choices=labeled.FILES)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "data")
    parser.add_argument("--draws", type=int, default=5)
    a = parser.parse_args()
    encoder = TextLabelEncoder.load(a.bundle, expect_id=open_bundle(a.bundle, LabelBundle).content_hash)
    task = labeled.task(a.data, a.task, 0)
    known, test = (
        (part.classes, np.array(list(map(encoder.compute_true_label, part.texts)))) for part in (task.train, task.test)
    )
    words = cast(Any, TfidfVectorizer(stop_words="english").fit(task.test.texts))  # its matrices have many types
    at = np.random.default_rng(0).choice(len(test[0]), min(SAMPLE, len(test[0])), replace=False)
    originals = words.transform(task.test.texts)
    majority, kind = np.bincount(test[0]).max() / len(test[0]), encoder.statement(as_text=True).sentence_description
    print(f"{a.task}: majority {100 * majority:.1f} %; {kind}")
    print("epsilon  by text  by index  words of the original  found by words  found by code, %")
    for epsilon in ("4", "6", "8"):
        level, rows = encoder.bundle.get_randomizer("counts", epsilon), []
        for _ in range(a.draws):
            indices = [level.draw_symbols(codes, random_uint64) for _, codes in (known, test)]
            said = [[encoder._draw_sentence(int(index)) for index in part] for part in indices]
            server = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000)).fit(said[0], known[0])
            commonest = np.array(
                [np.bincount(known[0][indices[0] == i], minlength=1).argmax() for i in range(level.label_count)]
            )
            released = words.transform(said[1])
            shared = (originals > 0).multiply(released > 0).sum(axis=1) / np.maximum(1, (originals > 0).sum(axis=1))
            by_words = (released[at] @ originals[at].T).toarray()
            by_code = (indices[1][at][:, None] == test[1][at]).astype(float)
            right = [server.predict(said[1]) == test[0], commonest[indices[1]] == test[0]]
            rows.append([*(one.mean() for one in right), shared.mean(), measure_hits(by_words), measure_hits(by_code)])
        told = (
            f"{100 * m:.1f} ± {100 * s:.1f}" for m, s in zip(np.mean(rows, 0), np.std(rows, 0, ddof=1), strict=True)
        )
        print(f"{epsilon}  {'  '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
