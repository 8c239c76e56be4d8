"""Check a user's labeled texts, and divide them for training, calibration of randomizers, and test."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from textveil.formatting import format_count
from textveil.mechanisms.staircase import MAX_LABELS

from textveil_training.data import LabeledExample
from textveil_training.data.splits import TextGroups, group_texts, split_groups
from textveil_training.errors import InvalidClasses

#: Smallest number of texts in a class. With fewer texts it cannot be learned, calibrated and measured.
MIN_CLASS_TEXTS = 20
SHARES = {"train": 75, "calibration": 10, "test": 15}


@dataclass(frozen=True, slots=True)
class LabeledPart:
    """The texts of one part (training, calibration or test), with their class ids, int64 of shape ``(texts,)``."""

    texts: tuple[str, ...] = field(repr=False)
    classes: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledTexts:
    """Labeled texts, divided into parts for training, calibration and test.

    Attributes:
        labels: Names of the classes, sorted, in the spelling of the file.
        train: Texts on which the extractor (model that converts a text to a vector) is trained.
        calibration: Texts to which the randomizers are fitted.
        test: Texts on which the figures are measured.
        groups: Groups of similar texts, over all texts.
        left_out: Number of texts that are not used because they are too similar to a given test file.
    """

    labels: tuple[str, ...]
    train: LabeledPart
    calibration: LabeledPart
    test: LabeledPart
    groups: TextGroups
    left_out: int

    def compute_sha256(self) -> str:
        """Compute a SHA-256 of all texts with their classes and parts, to recognize an unfinished run on them."""
        digest = hashlib.sha256("\t".join(self.labels).encode("utf-8", "surrogatepass"))
        for part in (self.train, self.calibration, self.test):
            digest.update(f"\n{len(part.texts)}\n".encode())
            for text, label in zip(part.texts, part.classes.tolist(), strict=True):
                digest.update(f"{label} {len(text)}\n{text}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def count_confusion(
    part: LabeledPart, labels: NDArray[np.int64], classes: int, count: int | None = None
) -> NDArray[np.float64]:
    """Count the texts of a part by true class (row) and the model's decision without noise (column).

    Args:
        part: The part.
        labels: The model's decision on each text.
        classes: Number of classes.
        count: Number of possible decisions; ``None`` for the number of classes.
    """
    width = count or classes
    pairs = np.bincount(part.classes * width + labels, minlength=classes * width)
    return pairs.reshape(classes, width).astype(float)


def _strip_labels(rows: Sequence[LabeledExample]) -> list[LabeledExample]:
    """Strip blanks around labels, which are common in hand-made tables."""
    return [replace(row, label=row.label.strip()) for row in rows]


def split_labeled_texts(
    rows: Sequence[LabeledExample], test: Sequence[LabeledExample] | None = None, seed: int = 0
) -> LabeledTexts:
    """Check labels, and divide texts into training, calibration and test; similar texts get into the same part.

    Args:
        rows: Labeled texts. Blanks around a label are removed.
        test: Texts of the test part; ``None`` to take a part of ``rows``. Texts in ``rows`` that are too similar to one
            of these texts are omitted.
        seed: Seed of the division.

    Raises:
        InvalidClasses: There is only one class, or more than 256; or a class has too few texts, has no text in one of
            the parts, or occurs in the test file only. A message about one class contains its position in the sorted
            labels, from 1, but not the label.
    """
    rows, test = _strip_labels(rows), None if test is None else _strip_labels(test)
    labels = tuple(sorted({row.label for row in rows}))
    if not 2 <= len(labels) <= MAX_LABELS:
        raise InvalidClasses(
            f"the column has {len(labels)} different labels, but 2 to {MAX_LABELS} are supported: check --label"
        )
    sizes = Counter(row.label for row in rows)
    for number, label in enumerate(labels, 1):
        if sizes[label] < MIN_CLASS_TEXTS:
            raise InvalidClasses(
                f"class {number} of {len(labels)} (in alphabetical order) has {format_count(sizes[label], 'text')}, "
                f"but {MIN_CLASS_TEXTS} are needed: join this label to another, or remove its rows"
            )
    if test is not None and (only := {row.label for row in test} - set(labels)):
        raise InvalidClasses(f"{len(only)} labels of the test file do not occur in the training file: correct them")
    everything = [*(test or []), *rows]
    groups = group_texts([row.text for row in everything])
    numbers = _split_numbers(groups, len(test or []), seed)
    left_out = len(everything) - sum(map(len, numbers.values()))
    ids = {label: number for number, label in enumerate(labels)}
    parts: dict[str, LabeledPart] = {}
    for name, found in numbers.items():
        classes = np.array([ids[everything[n].label] for n in found], dtype=np.int64)
        missing = np.flatnonzero(np.bincount(classes, minlength=len(labels)) == 0)
        if len(missing):
            raise InvalidClasses(
                f"class {missing[0] + 1} of {len(labels)} has no text in the part for {name}: add different texts of "
                "this class"
            )
        parts[name] = LabeledPart(tuple(everything[n].text for n in found), classes)
    return LabeledTexts(
        labels=labels,
        train=parts["train"],
        calibration=parts["calibration"],
        test=parts["test"],
        groups=groups,
        left_out=left_out,
    )


def split_unlabeled_texts(rows: Sequence[LabeledExample], seed: int = 0) -> LabeledTexts:
    """Divide texts without labels into training, calibration and test texts; every text has class 0.

    Args:
        rows: Texts; their labels are ignored.
        seed: Seed of the division.

    Raises:
        InvalidClasses: One of the parts would have no text.
    """
    texts = [row.text for row in rows]
    groups = group_texts(texts)
    sides = _split_numbers(groups, 0, seed)
    if not all(sides.values()):
        raise InvalidClasses(
            "there are too few different texts for a training, a development and a test part: add texts"
        )
    parts = {
        name: LabeledPart(tuple(texts[n] for n in found), np.zeros(len(found), np.int64))
        for name, found in sides.items()
    }
    return LabeledTexts(
        labels=(), train=parts["train"], calibration=parts["calibration"], test=parts["test"], groups=groups, left_out=0
    )


def _split_numbers(groups: TextGroups, given: int, seed: int) -> dict[str, list[int]]:
    """Return the indices of the texts in each part (training, calibration and test), by name of the part.

    Args:
        groups: Groups of similar texts, which get into the same part.
        given: Number of texts of a given test file, which come first and are the test part. Texts similar to one of
            them are omitted from the other parts. 0 to choose a test part.
        seed: Seed of the division.
    """
    if not given:
        return split_groups(groups, SHARES, seed)
    near = set(groups.group_ids[:given])
    numbers = split_groups(groups, {name: SHARES[name] for name in ("train", "calibration")}, seed)
    numbers = {name: [n for n in found if groups.group_ids[n] not in near] for name, found in numbers.items()}
    return {**numbers, "test": list(range(given))}
