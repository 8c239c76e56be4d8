"""Makes a bundle of a file of labeled texts: its devices release the index of a class.

    textveil-train encoder my.csv --text text --label topic -o bundle

1. Divide the texts, close ones on one side. 2. Train a static extractor. 3. Round it to int8: from here on everything
is measured on what ships. 4. Fit the channels on the calibration texts, and make integers of them. 5. Compute the
figures on the test texts, exactly. 6. Write the bundle, with a card.
"""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import StaticParts
from textveil.mechanisms import IndexStaircase
from textveil.vector import StaticExtractor
from textveil_export.index import IndexContents, drawn_epsilon, integer_channel, static_parts

from textveil_training.bounds.decisions import accuracy_channel, counts_channel, label_probabilities, recalls
from textveil_training.encoder.grouped_split import SHARED_WORDS
from textveil_training.encoder.static import PublicWords, StaticSettings, public_words, train_static
from textveil_training.encoder.task import Part, Task
from textveil_training.errors import SettingError

Report = Callable[[str, int, int], None]
LEVELS = ("0.5", "1", "2", "3", "4", "6", "8")
#: The program of ``accuracy`` has this many classes squared variables: beyond it a bundle has ``counts`` alone.
MAX_PROGRAM_CLASSES = 64
MAX_EPSILON = 16

_LEVEL = re.compile(r"[1-9]?[0-9](\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What a bundle is to be.

    Attributes:
        name: Its name.
        data: Name of the file, for the card.
        data_sha256: Its hash.
        license: License of the data or of the bundle, for the card.
        levels: Whole-text epsilons, decimal strings, ascending.
        default: Channel and level that are meant where a user names none.
        static: How the extractor is trained.
    """

    name: str
    data: str
    data_sha256: str
    license: str = "not stated"
    levels: tuple[str, ...] = LEVELS
    default: tuple[str, str] = ("counts", "4")
    static: StaticSettings = field(default_factory=StaticSettings)


def checked_levels(levels: str) -> tuple[str, ...]:
    """Reads comma-separated epsilons.

    Raises:
        SettingError: They are not ascending decimal numbers above 0 and up to 16.
    """
    found = tuple(level.strip() for level in levels.split(","))
    if not all(_LEVEL.fullmatch(level) for level in found):
        raise SettingError("levels are decimal numbers with commas between")
    exact = [Decimal(level) for level in found]
    if exact != sorted(set(exact)) or not 0 < exact[0] <= exact[-1] <= MAX_EPSILON:
        raise SettingError(f"levels ascend, from above 0 to {MAX_EPSILON}")
    return found


def train_encoder(task: Task, settings: EncoderSettings, report: Report) -> IndexContents:
    """Trains, quantizes, fits and measures.

    Args:
        task: The texts.
        settings: What the bundle is to be.
        report: Told the stage, the steps done and the steps in all.

    Returns:
        The bundle in memory.
    """
    public = public_words(settings.static)
    classes = len(task.labels)
    weights = train_static(task.train.texts, task.train.classes.tolist(), classes, public, settings.static, report)
    parts = static_parts(public.words, weights.word_rows, weights.pair_rows, settings.static.max_characters)

    def decisions(part: Part, stage: str) -> NDArray[np.float64]:
        """Counts by true class (row) and decision (column)."""
        texts = part.texts
        codes = codes_of(texts, parts, weights.weight, weights.bias, lambda done: report(stage, done, len(texts)))
        return np.bincount(part.classes * classes + codes, minlength=classes**2).reshape(classes, classes).astype(float)

    calibration = decisions(task.calibration, "calibrating")
    channels = fit_channels(calibration, settings.levels, report)
    confusion = decisions(task.test, "measuring")
    return IndexContents(
        name=settings.name,
        labels=task.labels,
        extractor=parts,
        weight=weights.weight,
        bias=weights.bias,
        channels=channels,
        default=settings.default,
        probabilities={
            f"{name}.{staircase.level.epsilon:f}": label_probabilities(calibration, staircase.matrix).astype(np.float32)
            for name, levels in channels.items()
            for staircase in levels
        },
        license=settings.license,
        provenance={
            **provenance(settings, public),
            **asdict(settings.static),
        },
        measured=figures(task, confusion, channels, settings.data),
    )


def provenance(settings: EncoderSettings, public: PublicWords) -> dict[str, str]:
    """Returns what a bundle says of its data and of its words."""
    return {
        "data": settings.data,
        "data_sha256": settings.data_sha256,
        "words": f"the built-in English bundle {public.identity[:12]} ({public.license})",
        "words_attribution": public.attribution,
    }


def codes_of(
    texts: tuple[str, ...],
    parts: StaticParts,
    weight: NDArray[np.float32],
    bias: NDArray[np.float32],
    progress: Callable[[int], None],
) -> NDArray[np.int64]:
    """Returns the code of each text, with the code that devices run. Shape ``(texts,)``."""
    extractor = StaticExtractor(parts)
    codes = np.zeros(len(texts), dtype=np.int64)
    for number, text in enumerate(texts):
        codes[number] = np.argmax(weight @ extractor.extract(text).vector + bias)
        progress(number + 1)
    return codes


def fit_channels(
    calibration: NDArray[np.float64], levels: tuple[str, ...], report: Report
) -> dict[str, tuple[IndexStaircase, ...]]:
    """Makes the integers of ``counts``, and of ``accuracy``, which is fitted to decisions on the calibration texts.

    Args:
        calibration: Counts by true class (row) and decision (column).
        levels: Whole-text epsilons, ascending.
        report: Told how many levels are done.
    """
    classes = len(calibration)
    counts = [integer_channel("counts", counts_channel(classes, drawn_epsilon(level)), level) for level in levels]
    if classes > MAX_PROGRAM_CLASSES:
        return {"counts": tuple(counts)}
    accuracy = []
    for done, level in enumerate(levels, 1):
        # One right decision of each class is added: a class without any among few texts is not worthless.
        best = accuracy_channel(calibration + np.eye(classes), drawn_epsilon(level))
        accuracy.append(integer_channel("accuracy", best, level))
        report("channels", done, len(levels))
    return {"counts": tuple(counts), "accuracy": tuple(accuracy)}


def figures(
    task: Task, confusion: NDArray[np.float64], channels: dict[str, tuple[IndexStaircase, ...]], data: str
) -> dict[str, Any]:
    """Computes what the card says: exact expectations over the draw, of the test texts.

    Args:
        task: The texts.
        confusion: Counts of the test texts by true class (row) and decision without noise (column).
        channels: The channels.
        data: Name of the file.
    """
    shares = confusion.sum(axis=1) / confusion.sum()
    clean = accuracies(task.labels, shares, recalls(confusion, np.eye(len(shares))))
    texts = int(confusion.sum())
    clean["standard_error"] = _rounded(sqrt(clean["accuracy"] * (1 - clean["accuracy"]) / texts))
    return {
        **divided_figures(task, data),
        "shares": {label: _rounded(share) for label, share in zip(task.labels, shares, strict=True)},
        "majority": _rounded(shares.max()),
        "clean": clean,
        "channels": {
            name: {
                f"{staircase.level.epsilon:f}": {
                    **accuracies(task.labels, shares, recalls(confusion, staircase.matrix)),
                    "abandoned": [label for label, base in zip(task.labels, staircase.base, strict=True) if not base],
                }
                for staircase in levels
            }
            for name, levels in channels.items()
        },
    }


def divided_figures(task: Task, data: str) -> dict[str, Any]:
    """Returns what the card says of the division of a file."""
    return {
        "data": data,
        "texts": {name: len(getattr(task, name).texts) for name in ("train", "calibration", "test")},
        "left_out": task.left_out,
        "duplicates": task.groups.duplicates,
        "largest_group": task.groups.largest,
        "shared_words": SHARED_WORDS,
    }


def accuracies(labels: tuple[str, ...], shares: NDArray[np.float64], recall: NDArray[np.float64]) -> dict[str, Any]:
    """Returns accuracy, balanced accuracy, the worst recall, and the recall of each label.

    Args:
        labels: Names of the classes.
        shares: Share of each among the texts, shape ``(classes,)``.
        recall: How often a text of each is told right, shape ``(classes,)``.
    """
    return {
        "accuracy": _rounded(float(shares @ recall)),
        "balanced_accuracy": _rounded(float(recall.mean())),
        "worst_recall": _rounded(float(recall.min())),
        "recall": {label: _rounded(float(share)) for label, share in zip(labels, recall, strict=True)},
    }


def _rounded(number: float) -> float:
    return round(float(number), 6)
