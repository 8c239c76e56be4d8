"""Train a bundle (folder with a model for devices) on texts without labels.

A device with the bundle encodes a text as the randomized label of a cluster of similar texts.

    textveil-train encoder my.csv --text text --clusters 16 -o bundle

Steps of the training:

1. Divide the texts into training and test texts. Similar texts are in the same part.
2. Compute the vectors of the texts by word vectors, fitted to MiniLM if it is installed, or by MiniLM itself.
3. Learn the clusters.
4. Round the model to int8.
5. Compute k-ary randomized response over the cluster labels.
6. If the texts have labels, compute how well a server infers them from randomized cluster labels. The server knows the
   label and the cluster of every training text.
7. Write the bundle.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import HeldOutCounts, layout
from textveil.mechanisms.staircase import LabelStaircase
from textveil_export.label import LabelBundleContents, compute_realized_epsilon, make_integer_randomizer

from textveil_training.encoder.class_bundle import (
    EncoderBundleSettings,
    compute_randomizer_figures,
    describe_data,
    describe_split,
)
from textveil_training.encoder.codebook import deduplicate_texts, train_minilm_codebook, train_static_codebook
from textveil_training.encoder.extractors import MINILM
from textveil_training.encoder.labeled_texts import LabeledTexts, count_confusion
from textveil_training.encoder.resume_cache import Arrays, ResumeCache
from textveil_training.label_randomizers import compute_label_probabilities, make_counts_randomizer
from textveil_training.progress import ProgressCallback


def train_codebook_bundle(
    task: LabeledTexts,
    clusters: int,
    settings: EncoderBundleSettings,
    report: ProgressCallback,
    teacher: str,
    kept: ResumeCache,
) -> LabelBundleContents:
    """Learn clusters of texts, and build the bundle with which devices compute randomized cluster labels.

    Args:
        task: The texts. Their labels, if any, are used only to compute figures.
        clusters: Number of clusters to learn.
        settings: Settings of the bundle. Of ``static`` only ``max_characters``, ``min_texts``, ``pairs`` and ``seed``
            are used; of ``minilm`` only ``max_tokens``, and ``encoder`` if the extractor is ``minilm``.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        teacher: Model to whose vectors the word embeddings are fitted: ``minilm``, a folder or a hub id of a BERT
            model, or ``none``.
        kept: Cache of finished parts, from which an interrupted run resumes.

    Returns:
        The bundle in memory.

    Raises:
        InvalidClasses: There are too few texts for this number of clusters, or the texts are too similar.
        TextveilError: ``train_static_codebook`` or ``train_minilm_codebook`` failed.
    """
    texts = deduplicate_texts(task.train.texts, clusters)
    if settings.extractor == MINILM:
        trained = train_minilm_codebook(
            texts, clusters, replace(settings.minilm, seed=settings.static.seed), kept, report
        )
    else:
        taught_by = replace(settings.minilm, encoder=teacher)
        trained = train_static_codebook(texts, clusters, settings.static, taught_by, kept, report)
    count = len(trained.bias)

    def decide() -> tuple[Arrays, dict[str, Any]]:
        names = ("calibration", "train", "test") if task.labels else ("calibration",)
        return {name: trained.compute_labels(getattr(task, name).texts, partial(report, name)) for name in names}, {}

    decided, _ = kept.load_or_make(f"{settings.extractor}-decisions", decide)

    def count_parts(name: str) -> NDArray[np.float64]:
        """Count the texts of a part of the data by class (row) and cluster (column)."""
        return count_confusion(getattr(task, name), decided[name], max(1, len(task.labels)), count)

    levels = tuple(
        make_integer_randomizer("counts", make_counts_randomizer(count, compute_realized_epsilon(e)), e)
        for e in settings.levels
    )
    calibration = count_parts("calibration")
    shares = np.diag(calibration.sum(axis=0))
    labels = tuple(str(cluster) for cluster in range(count))
    return LabelBundleContents(
        name=settings.name,
        labels=labels,
        extractor=trained.parts,
        weight=trained.weight,
        bias=trained.bias,
        randomizers={"counts": levels},
        default=settings.default,
        kind=layout.CLUSTER_LABELS,
        probabilities={
            f"counts.{level.level.epsilon:f}": compute_label_probabilities(shares, level.probability_matrix).astype(
                np.float32
            )
            for level in levels
        },
        held_out=HeldOutCounts(task.labels, (calibration + count_parts("test")).astype(np.int64))
        if len(task.labels) > 1
        else None,
        license=settings.license,
        provenance={
            **describe_data(settings),
            "extractor": settings.extractor,
            **trained.provenance,
            "seed": settings.static.seed,
        },
        measured={
            **describe_split(task, settings.data),
            **(
                compute_label_figures(task.labels, count_parts("train"), count_parts("test"), levels)
                if task.labels
                else {}
            ),
        },
    )


def compute_label_figures(
    labels: tuple[str, ...],
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    levels: tuple[LabelStaircase, ...],
) -> dict[str, Any]:
    """Compute how often a server infers the right class label from a randomized cluster label.

    Let ``Q(y|x)`` be the probability that the device sends the label of cluster ``y`` for a text of cluster ``x``, and
    ``train[label, x]`` the number of training texts of cluster ``x`` with a class label. For ``y`` the server infers
    the class label that maximizes ``sum over x of train[label, x] Q(y|x)``. The figures are exact expectations for the
    test texts, without sampling.

    Args:
        labels: Names of the classes.
        train: Counts of the training texts by class (row) and cluster (column).
        test: Counts of the test texts by class (row) and cluster (column).
        levels: Randomized response, once for each epsilon.

    Returns:
        The result of ``compute_randomizer_figures`` for randomized response.
    """

    def choose_labels(randomizer: NDArray[np.float64]) -> NDArray[np.int64]:
        return (train @ randomizer).argmax(axis=0)

    def recall(randomizer: NDArray[np.float64]) -> NDArray[np.float64]:
        released, told = test @ randomizer, choose_labels(randomizer)
        return np.array([counts[told == label].sum() for label, counts in enumerate(released)]) / test.sum(axis=1)

    def list_abandoned(level: LabelStaircase) -> list[str]:
        return [label for number, label in enumerate(labels) if number not in choose_labels(level.probability_matrix)]

    return compute_randomizer_figures(labels, test, {"counts": levels}, recall, list_abandoned)
