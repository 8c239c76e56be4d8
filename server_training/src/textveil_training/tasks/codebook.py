"""Makes a bundle of a file of texts without labels: its devices release the index of a code.

    textveil-train encoder my.csv --text text --codes 16 -o bundle

1. Divide the texts, close ones on one side. 2. Learn the codes. 3. Round to int8. 4. k-ary randomized response over
the codes. 5. If there are labels, compute how well a server tells them from the indices alone: it has seen the label
and the code of every training text. 6. Write the bundle, with a card.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import CODEBOOK
from textveil.mechanisms import IndexStaircase
from textveil_export.index import IndexContents, drawn_epsilon, integer_channel, static_parts

from textveil_training.bounds.decisions import counts_channel, label_probabilities
from textveil_training.encoder.codebook import DIMENSION, learn_codebook
from textveil_training.encoder.extractors import codes_of, words_provenance
from textveil_training.encoder.static import public_words
from textveil_training.encoder.task import Task
from textveil_training.tasks.encoder import EncoderSettings, accuracies, divided_figures, provenance

Report = Callable[[str, int, int], None]


def train_codebook(task: Task, codes: int, settings: EncoderSettings, report: Report) -> IndexContents:
    """Finds codes, quantizes and measures.

    Args:
        task: The texts. Classes are used for figures alone, if there are labels.
        codes: How many codes are wanted.
        settings: What the bundle is to be; ``static`` decides of ``max_characters``, ``min_texts`` and ``seed``.
        report: Told the stage, the steps done and the steps in all.

    Returns:
        The bundle in memory.

    Raises:
        ClassError: There are too few texts for so many codes.
    """
    static = replace(settings.static, dimension=DIMENSION, pairs=0, members=1)
    public = public_words(static)
    book = learn_codebook(task.train.texts, codes, public, static, report)
    weights, count = book.weights, len(book.sizes)
    parts = static_parts(public.words, weights.word_rows, weights.pair_rows, static.max_characters)

    def found(name: str) -> NDArray[np.float64]:
        """Counts by class (row) and code (column) of one part."""
        part = getattr(task, name)
        at = codes_of(part.texts, parts, weights.weight, weights.bias, partial(report, name))
        classes = max(1, len(task.labels))
        return np.bincount(part.classes * count + at, minlength=classes * count).reshape(classes, count).astype(float)

    levels = tuple(integer_channel("counts", counts_channel(count, drawn_epsilon(e)), e) for e in settings.levels)
    calibration = found("calibration")
    shares = np.diag(calibration.sum(axis=0))
    labels = tuple(str(code) for code in range(count))
    return IndexContents(
        name=settings.name,
        labels=labels,
        extractor=parts,
        weight=weights.weight,
        bias=weights.bias,
        channels={"counts": levels},
        default=settings.default,
        kind=CODEBOOK,
        probabilities={
            f"counts.{level.level.epsilon:f}": label_probabilities(shares, level.matrix).astype(np.float32)
            for level in levels
        },
        license=settings.license,
        provenance={
            **provenance(settings),
            **words_provenance(public),
            "min_texts_of_a_code": min(book.sizes),
            **{key: asdict(static)[key] for key in ("dimension", "min_texts", "max_characters", "seed")},
        },
        measured={
            **divided_figures(task, settings.data),
            **(label_figures(task.labels, found("train"), found("test"), levels) if task.labels else {}),
        },
    )


def label_figures(
    labels: tuple[str, ...],
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    levels: tuple[IndexStaircase, ...],
) -> dict[str, Any]:
    """Computes how well labels are told from indices: exact expectations over the draw, of the test texts.

    For each index the server takes ``argmax over labels of sum_x train[label, x] Q(index|x)``.

    Args:
        labels: Names of the classes.
        train: Counts of the training texts by class (row) and code (column).
        test: The same of the test texts.
        levels: The levels of the channel.
    """
    shares = test.sum(axis=1) / test.sum()

    def told(channel: NDArray[np.float64]) -> dict[str, Any]:
        chosen = (train @ channel).argmax(axis=0)
        recall = np.array([(test[label] @ channel)[chosen == label].sum() for label in range(len(labels))])
        abandoned = [label for number, label in enumerate(labels) if number not in chosen]
        return {**accuracies(labels, shares, recall / test.sum(axis=1)), "abandoned": abandoned}

    clean = told(np.eye(train.shape[1]))
    clean["standard_error"] = round(float(np.sqrt(clean["accuracy"] * (1 - clean["accuracy"]) / test.sum())), 6)
    return {
        "shares": {label: round(float(share), 6) for label, share in zip(labels, shares, strict=True)},
        "majority": round(float(shares.max()), 6),
        "clean": clean,
        "channels": {"counts": {f"{level.level.epsilon:f}": told(level.matrix) for level in levels}},
    }
