"""Determine for each text whether a model classifies it correctly, with and without noise, to compare subgroups.

There are two kinds of models: representations (a checkpoint of ``textveil-train dpnr``, with the release code of
devices), and classifiers of sanitized text. For both the result is ``Answers``, which ``subgroups`` divides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairness.subgroups import CONFIDENCE, MINIMUM, SubgroupError, Subgroups, subgroups
from numpy.typing import NDArray
from textveil.vector import make_vector_statement
from textveil_training.data import get_format, read_release_terms
from textveil_training.dpnr import (
    ClassifiedSplit,
    RepresentationDescription,
    decide_released,
    load_classification_split,
    load_or_compute_features,
    make_release_parameters,
    read_checkpoint,
)
from textveil_training.engine import get_device
from textveil_training.errors import CheckpointError
from textveil_training.file_hashes import hash_file
from textveil_training.finetune import predict, read_model
from textveil_training.progress import ProgressCallback, ignore_progress
from torch import Tensor

Promise = dict[str, Any]
Predict = Callable[[tuple[str, ...]], NDArray[np.int64]]

PRIVATE, QUIET, OPEN, CLEAN = "private", "without noise", "no privacy", "clean"
#: File of a checkpoint whose hash identifies the checkpoint, and number of releases of each text.
CHECKPOINT, DRAWS = "checkpoint.json", 20


@dataclass(frozen=True)
class Answers:
    """Correctness of a model's decision on each text of a split.

    Attributes:
        kind: ``PRIVATE``, ``QUIET`` (the same model on vectors before the noise, which are never released), ``OPEN`` (a
            model whose input has no privacy guarantee) or ``CLEAN`` (an ``OPEN`` model with which others are compared).
        release: Privacy guarantee of the model's input; None without one.
        right: 1 for a right decision, else 0; float32 of shape ``(draws, texts)``, for independent releases of each
            text.
    """

    kind: str
    release: Promise | None
    right: NDArray[np.float32]


def list_attributes(format_name: str) -> tuple[str, ...]:
    """Return the private attributes of a format.

    Raises:
        SubgroupError: The format has no private attributes.
        UnknownFormat: There is no such format.
    """
    names = get_format(format_name).attributes
    if not names:
        raise SubgroupError("the format has no private attributes")
    return names


def of_checkpoint(
    folder: Path,
    data: Path,
    format_name: str,
    split: str | None,
    *,
    levels: Sequence[str] | None = None,
    draws: int = DRAWS,
    device: str = "cpu",
    report: ProgressCallback = ignore_progress,
) -> tuple[ClassifiedSplit, list[Answers]]:
    """Measure a checkpoint of ``textveil-train dpnr`` on a split, with the release code that devices run.

    If the folder has stored features of exactly these texts (``--write-features``), they are used.

    Args:
        folder: The checkpoint.
        data: File or folder.
        format_name: Format of the data.
        split: Split of the data; None for a file that is one split.
        levels: Epsilons per text; None for those of the checkpoint.
        draws: Number of releases of each text at each level.
        device: ``cpu`` or a CUDA device.
        report: Called with progress.

    Returns:
        The split, and a list of answers. A checkpoint without noise has one entry (``OPEN``); any other has two for
        each level (``PRIVATE`` and ``QUIET``).

    Raises:
        CheckpointError: The checkpoint cannot be used, or ``levels`` is given for a checkpoint without noise.
        DataError: The data cannot be read.
        EmptyClass: The data have a class that the checkpoint does not have.
        DeviceError: The device is not there.
        OptionError: An epsilon is not valid.

    Privacy:
        The function draws ``draws`` releases of each text, and uses them only in this process. Its result depends on
        the original texts and is not private.
    """
    model, description = read_checkpoint(folder)
    if levels and description.mode == "none":
        raise CheckpointError("the checkpoint was trained without privacy and has no epsilon")
    part = load_classification_split(format_name, data, split, description.labels)
    model.to(get_device(device))
    features = load_or_compute_features(folder, model, description, part, split, device=device, report=report)

    def right(decisions: list[Tensor]) -> NDArray[np.float32]:
        return torch.stack([decision == part.labels for decision in decisions]).float().numpy()

    if description.mode == "none":
        return part, [Answers(OPEN, None, right(decide_released(model, description, features, None).decisions))]
    identity = hash_file(folder / CHECKPOINT)
    answers = []
    for level in levels or description.levels:
        release = _promise(description, level, identity)
        made = decide_released(model, description, features, level, draws=draws)
        answers += [
            Answers(PRIVATE, release, right(made.decisions)),
            Answers(QUIET, release, right(made.without_noise)),
        ]
    return part, answers


def of_model(
    folder: Path,
    data: Sequence[Path],
    format_name: str,
    split: str | None,
    *,
    device: str = "cpu",
    report: ProgressCallback = ignore_progress,
) -> tuple[ClassifiedSplit, Answers]:
    """Measure a model of ``textveil-train finetune`` on raw or sanitized text.

    Args:
        folder: The model.
        data: File or folder of the texts. Pass several for independently sanitized copies of the same texts.
        format_name: Format of the data.
        split: Split of the data; None for files that are one split.
        device: ``cpu`` or a CUDA device.
        report: Called with progress.

    Returns:
        The split of the first data, and the answers. They are ``PRIVATE`` if ``sanitize-corpus`` wrote a record for the
        data, otherwise ``OPEN``.

    Raises:
        CheckpointError: The model cannot be used, or its answers are scores.
        DataError: The data cannot be read.
        EmptyClass: The data have a class that the model does not have.
        SubgroupError: The data contain different texts, come from different releases, or come from another release than
            the training texts of the model.
        DeviceError: The device is not there.
    """
    _, description, _ = read_model(folder)
    labels = description.labels
    if not labels:
        raise CheckpointError("the model predicts scores, not classes, so its predictions are not right or wrong")
    release = read_release_terms(format_name, data[0])
    if any(read_release_terms(format_name, path) != release for path in data[1:]):
        raise SubgroupError("the data are from different releases")
    if description.release != release:
        raise SubgroupError("the model was not trained on texts of this release")
    parts = [load_classification_split(format_name, path, split, labels) for path in data]

    def predict_classes(texts: tuple[str, ...]) -> NDArray[np.int64]:
        found, _ = predict(folder, [(text,) for text in texts], device=device, report=report)
        return found.argmax(-1).numpy()

    return parts[0], of_texts(parts, predict_classes, release)


def of_texts(splits: Sequence[ClassifiedSplit], predict: Predict, release: Promise | None) -> Answers:
    """Measure a classifier of texts, raw or sanitized.

    Args:
        splits: The same texts, sanitized once or several times independently.
        predict: Function that returns the class ids of texts.
        release: Privacy guarantee of the texts, or None.

    Raises:
        SubgroupError: The splits contain different texts: labels or attributes differ.
    """
    for split in splits[1:]:
        check_alike(splits[0], split)
    right = [predict(split.texts) == split.labels.numpy() for split in splits]
    return Answers(OPEN if release is None else PRIVATE, release, np.stack(right).astype(np.float32))


def check_alike(one: ClassifiedSplit, other: ClassifiedSplit) -> None:
    """Check by labels and attributes that two splits contain the same texts.

    Raises:
        SubgroupError: The splits contain different texts.
    """
    if not (torch.equal(one.labels, other.labels) and torch.equal(one.attributes, other.attributes)):
        raise SubgroupError("the compared data are not of the same texts: labels or attributes differ")


def divide_by_attribute(
    answers: Answers,
    split: ClassifiedSplit,
    names: Sequence[str],
    clean: Answers | None = None,
    *,
    minimum: int = MINIMUM,
    confidence: float = CONFIDENCE,
) -> Subgroups:
    """Compute one model's accuracy by subgroup, and the change of each gap from the clean model's.

    Raises:
        SubgroupError: For no attribute there are enough texts with and without it.
    """
    return subgroups(
        answers.right,
        split.attributes.numpy(),
        names,
        classes=split.labels.numpy(),
        other=None if clean is None else clean.right,
        minimum=minimum,
        confidence=confidence,
    )


def _promise(description: RepresentationDescription, level: str, checkpoint: str) -> Promise:
    """Return the privacy guarantee of a vector, with the same keys as for sanitized text; the epsilon is per text."""
    promised = make_vector_statement(make_release_parameters(description, level), description.word_dropout, checkpoint)
    loss = promised.whole_text
    return {
        "mechanism": f"representation-{description.mode}",
        "level": None,
        "epsilon": float(loss.epsilon),
        "epsilon_notion": "local DP of the whole text",
        "delta": float(loss.delta),
        "epsilon_0": 0.0,
        "replacement_probability": None,
        "dimension": description.dimension,
        "word_dropout": promised.word_dropout,
        "bundle": checkpoint,
    }
