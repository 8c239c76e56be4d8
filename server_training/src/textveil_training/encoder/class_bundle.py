"""Train a bundle (folder with a model) on labeled texts; devices encode a text as a randomized class label.

    textveil-train encoder my.csv --text text --label topic -o bundle

Steps of the training:

1. Divide the texts into training, calibration and test texts. Similar texts are in the same part.
2. Train an extractor, the model that converts a text to a vector.
3. Quantize it to int8. All later steps use the quantized extractor, which devices run too.
4. Fit the randomizers on the calibration texts, and convert their probabilities to integers.
5. Compute the expected accuracies on the test texts.
6. Write the bundle, with a model card and the counts of decisions on the calibration and test texts by label.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import HeldOutCounts
from textveil.errors import OptionError
from textveil.mechanisms.staircase import LabelStaircase
from textveil_export.label import LabelBundleContents, compute_realized_epsilon, make_integer_randomizer

from textveil_training.data.splits import SHARED_WORDS
from textveil_training.encoder.extractors import STATIC, train_minilm_extractor, train_static_extractor
from textveil_training.encoder.labeled_texts import LabeledTexts, count_confusion
from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.encoder.resume_cache import Arrays, ResumeCache
from textveil_training.encoder.static_extractor import StaticSettings
from textveil_training.errors import SettingError
from textveil_training.label_randomizers import (
    compute_label_probabilities,
    compute_recalls,
    fit_accuracy_randomizer,
    make_counts_randomizer,
)
from textveil_training.progress import ProgressCallback

LEVELS = ("0.5", "1", "2", "3", "4", "6", "8")
#: Largest number of classes for the randomizer ``accuracy``, whose linear program has one variable for each pair of
#: classes. With more classes a bundle has ``counts`` only.
MAX_PROGRAM_CLASSES = 64
MAX_EPSILON = 16

_LEVEL = re.compile(r"[1-9]?[0-9](\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderBundleSettings:
    """All settings that determine a trained bundle (folder with a model), besides the texts.

    Attributes:
        name: Name of the bundle.
        data: Name of the data file, for the model card.
        data_sha256: SHA-256 of the data file.
        license: License of the data or of the bundle, for the model card.
        source: Source and license of the data, for the model card.
        levels: Epsilons per text, decimal strings, ascending.
        default: Randomizer and epsilon that a device uses if the user names none.
        extractor: ``static`` or ``minilm``.
        static: Settings of a static extractor's training.
        minilm: Settings of MiniLM's tuning.
    """

    name: str
    data: str
    data_sha256: str
    license: str = "not stated"
    source: str = ""
    levels: tuple[str, ...] = LEVELS
    default: tuple[str, str] = ("counts", "4")
    extractor: str = STATIC
    static: StaticSettings = field(default_factory=StaticSettings)
    minilm: MinilmSettings = field(default_factory=MinilmSettings)

    @classmethod
    def with_seed(cls, *, seed: int, minilm: Mapping[str, Any], **settings: Any) -> "EncoderBundleSettings":
        """Create settings in which both extractors (models that convert texts to vectors) have the same seed.

        Args:
            seed: Seed of training.
            minilm: Settings that only MiniLM has; settings that are ``None`` are omitted.
            settings: Other attributes.
        """
        given = {name: value for name, value in minilm.items() if value is not None}
        return cls(static=StaticSettings(seed=seed), minilm=MinilmSettings(seed=seed, **given), **settings)

    def describe(self) -> dict[str, Any]:
        """Return all settings as values that JSON can store."""
        return asdict(self)


def parse_levels(levels: str | None, default: str) -> tuple[str, ...]:
    """Parse comma-separated epsilons per text; ``None`` gives the default ``LEVELS``.

    Args:
        levels: The epsilons, such as ``"1,2,4"``, or ``None``.
        default: Default epsilon, which must be one of them.

    Raises:
        SettingError: The levels are not ascending decimal numbers above 0 and up to 16.
        OptionError: The default is not one of the levels.
    """
    levels_given = LEVELS if levels is None else tuple(level.strip() for level in levels.split(","))
    if not all(_LEVEL.fullmatch(level) for level in levels_given):
        raise SettingError("levels must be decimal numbers separated by commas")
    exact = [Decimal(level) for level in levels_given]
    if exact != sorted(set(exact)) or not 0 < exact[0] <= exact[-1] <= MAX_EPSILON:
        raise SettingError(f"levels must ascend, from above 0 to {MAX_EPSILON}")
    if default not in levels_given:
        raise OptionError("the default level must be one of the levels")
    return levels_given


def train_class_bundle(
    task: LabeledTexts, settings: EncoderBundleSettings, report: ProgressCallback, kept: ResumeCache
) -> LabelBundleContents:
    """Train the model that assigns texts to classes, fit the randomizers of classes, and measure the accuracy.

    Args:
        task: Texts with their classes, divided into training, calibration and test texts.
        settings: Settings of the bundle.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        kept: Cache of finished parts, from which an interrupted run resumes.

    Returns:
        The bundle in memory.

    Raises:
        TextveilError: ``train_static_extractor`` or ``train_minilm_extractor`` failed.
    """
    if settings.extractor == STATIC:
        trained = train_static_extractor(task, settings.static, kept, report)
    else:
        trained = train_minilm_extractor(task, settings.minilm, kept, report)

    def decide() -> tuple[Arrays, dict[str, Any]]:
        """Compute the classes that the quantized extractor assigns to texts.

        Returns:
            Arrays of class ids under ``calibration`` and ``test``; and an empty dictionary, since ``kept`` stores no
            other value.
        """
        stages = {"calibration": "calibrating", "test": "measuring"}
        return {
            name: trained.compute_labels(getattr(task, name).texts, partial(report, f"{stage} {settings.extractor}"))
            for name, stage in stages.items()
        }, {}

    decided, _ = kept.load_or_make(f"{settings.extractor}-decisions", decide)
    calibration = count_confusion(task.calibration, decided["calibration"], len(task.labels))
    test = count_confusion(task.test, decided["test"], len(task.labels))
    randomizers = fit_randomizers(calibration, settings.levels, report)
    return LabelBundleContents(
        name=settings.name,
        labels=task.labels,
        extractor=trained.parts,
        weight=trained.weight,
        bias=trained.bias,
        randomizers=randomizers,
        default=settings.default,
        probabilities={
            f"{name}.{staircase.level.epsilon:f}": compute_label_probabilities(
                calibration, staircase.probability_matrix
            ).astype(np.float32)
            for name, levels in randomizers.items()
            for staircase in levels
        },
        held_out=HeldOutCounts(task.labels, (calibration + test).astype(np.int64)),
        license=settings.license,
        provenance={**describe_data(settings), "extractor": settings.extractor, **trained.provenance},
        measured=compute_figures(task, test, randomizers, settings.data),
    )


def describe_data(settings: EncoderBundleSettings) -> dict[str, str]:
    """Return the model card's entries about the training data of a bundle: name, hash and source."""
    return {"data": settings.data, "data_sha256": settings.data_sha256, "source": settings.source}


def fit_randomizers(
    calibration: NDArray[np.float64], levels: tuple[str, ...], report: ProgressCallback
) -> dict[str, tuple[LabelStaircase, ...]]:
    """Compute the tables of integers with which devices replace class labels at random, for each epsilon.

    The table ``counts`` is randomized response. The table ``accuracy`` is fitted to the decisions on the calibration
    texts, so that the expected accuracy is largest.

    Args:
        calibration: Counts by true class (row) and decision (column).
        levels: Epsilons per text, ascending.
        report: Called with the number of finished epsilons.

    Returns:
        By name, one table for each epsilon; without ``accuracy`` if there are more than
        ``MAX_PROGRAM_CLASSES`` classes.
    """
    classes = len(calibration)
    counts = [
        make_integer_randomizer("counts", make_counts_randomizer(classes, compute_realized_epsilon(level)), level)
        for level in levels
    ]
    if classes > MAX_PROGRAM_CLASSES:
        return {"counts": tuple(counts)}
    accuracy = []
    for done, level in enumerate(levels, 1):
        # np.eye adds one right decision of each class. Without it, a class that happens to have no right decision
        # among few calibration texts would never be released.
        best = fit_accuracy_randomizer(calibration + np.eye(classes), compute_realized_epsilon(level))
        accuracy.append(make_integer_randomizer("accuracy", best, level))
        report("randomizers", done, len(levels))
    return {"counts": tuple(counts), "accuracy": tuple(accuracy)}


def compute_figures(
    task: LabeledTexts, confusion: NDArray[np.float64], randomizers: dict[str, tuple[LabelStaircase, ...]], data: str
) -> dict[str, Any]:
    """Compute the numbers of the model card: sizes of the data, and expected accuracies on the test texts.

    The expectations over the randomizers are exact, without sampling.

    Args:
        task: Texts with their classes, divided into training, calibration and test texts.
        confusion: Counts of the test texts by true class (row) and decision without noise (column).
        randomizers: Tables with which labels are replaced at random: by name, one table for each epsilon.
        data: Name of the data file.

    Returns:
        The keys of ``describe_split`` and of ``compute_randomizer_figures``.
    """

    def recall(randomizer: NDArray[np.float64]) -> NDArray[np.float64]:
        return compute_recalls(confusion, randomizer)

    def list_abandoned(level: LabelStaircase) -> list[str]:
        return [label for label, base in zip(task.labels, level.base, strict=True) if not base]

    return {
        **describe_split(task, data),
        **compute_randomizer_figures(task.labels, confusion, randomizers, recall, list_abandoned),
    }


def compute_randomizer_figures(
    labels: tuple[str, ...],
    test: NDArray[np.float64],
    randomizers: Mapping[str, tuple[LabelStaircase, ...]],
    recall: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    abandoned: Callable[[LabelStaircase], list[str]],
) -> dict[str, Any]:
    """Compute the expected accuracies with each randomizer, and the accuracies without noise.

    Args:
        labels: Names of the classes.
        test: Counts of the test texts by true class (row) and decision or cluster without noise (column).
        randomizers: Tables with which labels are replaced at random: by name, one table for each epsilon.
        recall: Function that returns, for a randomizer's matrix, the share of each class's texts that get the right
            label, shape ``(classes,)``.
        abandoned: Function that returns, for the table of one epsilon, the classes that are never an output.

    Returns:
        ``shares`` (share of each class among the texts), ``majority`` (the largest share), ``clean`` (the result of
        ``summarize_recalls`` without noise) and ``randomizers`` (the same for each randomizer and epsilon, with
        ``abandoned``, the classes that are never an output).
    """
    shares = test.sum(axis=1) / test.sum()
    clean = summarize_recalls(labels, shares, recall(np.eye(test.shape[1])))
    clean["standard_error"] = _round_number(sqrt(clean["accuracy"] * (1 - clean["accuracy"]) / test.sum()))
    return {
        "shares": {label: _round_number(share) for label, share in zip(labels, shares, strict=True)},
        "majority": _round_number(shares.max()),
        "clean": clean,
        "randomizers": {
            name: {
                f"{level.level.epsilon:f}": {
                    **summarize_recalls(labels, shares, recall(level.probability_matrix)),
                    "abandoned": abandoned(level),
                }
                for level in levels
            }
            for name, levels in randomizers.items()
        },
    }


def describe_split(task: LabeledTexts, data: str) -> dict[str, Any]:
    """Return the description of the data for the model card: the number of texts in each part, and similar figures.

    ``left_out`` is the number of omitted texts, ``duplicates`` that of repeated texts, and ``largest_group`` the size
    of the largest group of similar texts.
    """
    return {
        "data": data,
        "texts": {name: len(getattr(task, name).texts) for name in ("train", "calibration", "test")},
        "left_out": task.left_out,
        "duplicates": task.groups.duplicates,
        "largest_group": task.groups.largest_size,
        "shared_words": SHARED_WORDS,
    }


def summarize_recalls(
    labels: tuple[str, ...], shares: NDArray[np.float64], recall: NDArray[np.float64]
) -> dict[str, Any]:
    """Return ``accuracy``, ``balanced_accuracy``, ``worst_recall``, and ``recall`` of each label, as a dictionary.

    Args:
        labels: Names of the classes.
        shares: Share of each class among the texts, shape ``(classes,)``.
        recall: Share of each class's texts that get the right label, shape ``(classes,)``.
    """
    return {
        "accuracy": _round_number(float(shares @ recall)),
        "balanced_accuracy": _round_number(float(recall.mean())),
        "worst_recall": _round_number(float(recall.min())),
        "recall": {label: _round_number(float(share)) for label, share in zip(labels, recall, strict=True)},
    }


def _round_number(number: float) -> float:
    return round(float(number), 6)
