"""Makes a bundle of a file of texts without labels: its devices release the index of a code.

    textveil-train encoder my.csv --text text --codes 16 -o bundle

1. Divide the texts, close ones on one side. 2. Make rows of words, taught by MiniLM if it is there. 3. Learn the
codes. 4. Round to int8. 5. k-ary randomized response over the codes. 6. If there are labels, compute how well a server
tells them from the indices alone: it has seen the label and the code of every training text. 7. Write the bundle.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import CODEBOOK
from textveil.mechanisms import IndexStaircase
from textveil_export.index import IndexContents, drawn_epsilon, integer_channel, static_parts

from textveil_training.bounds.decisions import counts_channel, label_probabilities
from textveil_training.encoder.codebook import different_texts, learn_codebook
from textveil_training.encoder.extractors import codes_of, words_provenance
from textveil_training.encoder.kept_parts import Arrays, KeptParts
from textveil_training.encoder.static import public_words
from textveil_training.encoder.task import Task
from textveil_training.encoder.teacher import NO_TEACHER, asked, teacher_vectors
from textveil_training.encoder.word_rows import RARE_NUMBERS, TAUGHT_NUMBERS, rare_rows, taught_rows, word_ids
from textveil_training.tasks.encoder import EncoderSettings, accuracies, divided_figures, provenance

Report = Callable[[str, int, int], None]


def train_codebook(
    task: Task,
    codes: int,
    settings: EncoderSettings,
    report: Report,
    teacher: str = NO_TEACHER,
    kept: KeptParts | None = None,
) -> IndexContents:
    """Finds codes, quantizes and measures.

    Args:
        task: The texts. Classes are used for figures alone, if there are labels.
        codes: How many codes are wanted.
        settings: What the bundle is to be; ``static`` decides of ``max_characters``, ``min_texts``, ``pairs`` and
            ``seed``, ``minilm`` of the teacher's ``max_tokens``.
        report: Told the stage, the steps done and the steps in all.
        teacher: ``minilm``, a folder or a hub id of a BERT model, or ``none``.
        kept: Where the teacher's vectors are kept, so that an interrupted run can go on; None to keep none.

    Returns:
        The bundle in memory.

    Raises:
        ClassError: There are too few texts for so many codes, or they are too much alike.
        CheckpointError: The teacher cannot be loaded.
        ResumeError, OutputError: See ``KeptParts``.
    """
    static = settings.static
    taught = teacher != NO_TEACHER
    public = public_words(replace(static, dimension=TAUGHT_NUMBERS if taught else RARE_NUMBERS, seed=0, members=1))
    texts = different_texts(task.train.texts, codes)
    ids = word_ids(texts, public, static.max_characters)
    made: Mapping[str, Any] = {"min_texts": static.min_texts}
    if taught:
        minilm = replace(settings.minilm, encoder=teacher, tuned=False)
        chosen = asked(len(texts))

        def ask() -> tuple[Arrays, Mapping[str, Any]]:
            return {"vectors": teacher_vectors([texts[at] for at in chosen], minilm, report)}, {}

        vectors = (kept.part("teacher", ask) if kept is not None else ask())[0]["vectors"]
        rows = taught_rows([ids[at] for at in chosen], vectors, public, static.min_texts, static.pairs)
        described = {name: value for name, value in minilm.described(len(texts)).items() if name != "tuned"}
        made = {**made, "pairs": static.pairs, "taught_by": {**described, "texts": len(chosen)}}
    else:
        rows = rare_rows(ids, public, static.min_texts)
    book = learn_codebook(ids, rows, codes, static.seed, report)
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
            **made,
            "dimension": rows.words.shape[1],
            "max_characters": static.max_characters,
            "seed": static.seed,
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
