"""A data set as a training needs it: three splits of texts, class ids and private attributes, checked."""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from torch import Tensor

from textveil_training.data import Example, ReadOptions, available_splits, format_named, load, split
from textveil_training.data.label_encoding import attribute_matrix, class_ids, class_labels
from textveil_training.data.splits import divide, group_texts
from textveil_training.dpnr.recipe import DataPart
from textveil_training.errors import MissingSplit, RecipeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One split.

    Attributes:
        texts: The texts.
        labels: Class ids, int64, shape ``(texts,)``.
        attributes: Private attributes, float32 of zeros and ones, shape ``(texts, attributes)``; no column where the
            format has none.
        sha256: SHA-256 of labels and texts, to tell in a record what was read.
    """

    texts: tuple[str, ...] = field(repr=False)
    labels: Tensor = field(repr=False)
    attributes: Tensor = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A data set with its classes.

    Attributes:
        labels: Labels as the file spells them, in the order of their class ids.
        train: Split that is trained on.
        dev: Split that decides between epochs.
        test: Split that is measured once, at the end.
    """

    labels: tuple[str, ...]
    train: Split
    dev: Split
    test: Split

    def splits(self) -> dict[str, Split]:
        """Returns the three splits by name."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    def described(self) -> dict[str, object]:
        """Returns sizes, classes and hashes, for a record; no text."""
        return {
            name: {
                "examples": len(part.texts),
                "classes": [int((part.labels == number).sum()) for number in range(len(self.labels))],
                "sha256": part.sha256,
            }
            for name, part in self.splits().items()
        }


#: How a file that is one split is divided: copies, contained texts and texts with long shared passages on one side.
SHARES = {"train": 80, "dev": 10, "test": 10}


def of_format(data: DataPart, format_name: str | None) -> DataPart:
    """Returns what a recipe says of its data, for a file in another format; as it is for None."""
    if format_name is None:
        return data
    return replace(data, format=format_name, train="train", dev="dev", test="test", dev_percent=0)


def load_task(data: DataPart, path: Path, options: ReadOptions | None = None) -> Task:
    """Reads the splits that a recipe names. A file that is one split is divided by ``SHARES``.

    Args:
        data: Part of the recipe that names the splits.
        path: File or folder of the data.
        options: Choices that the format leaves.

    Raises:
        DataError: As the readers; ``MissingLabel`` where an example has none, ``MissingSplit`` for an empty split.
        EmptyClass: A class has no training example.
        RecipeError: The format is one of pairs or of texts without classes.
    """
    if not available_splits(data.format, path):
        raw = _divided(_examples(data.format, path, None, options))
    else:
        raw = {name: _examples(data.format, path, getattr(data, name), options) for name in ("train", "test")}
        if data.dev == data.train:
            raw |= split(raw["train"], {"train": 100 - data.dev_percent, "dev": data.dev_percent})
        else:
            raw["dev"] = _examples(data.format, path, data.dev, options)
    labels = class_labels(raw["train"], format_named(data.format).labels)
    width = len(format_named(data.format).attributes)
    return Task(labels=labels, **{name: _split(raw[name], labels, width) for name in ("train", "dev", "test")})


def load_split(
    format_name: str, path: Path, name: str | None, labels: tuple[str, ...], options: ReadOptions | None = None
) -> Split:
    """Reads one split for classes that are known; of a file that is one split, a part as ``load_task`` divides it.

    Raises:
        DataError: As ``load_task``.
        EmptyClass: An example has another class.
        RecipeError: As ``load_task``.
    """
    if name in SHARES and not available_splits(format_name, path):
        found = _divided(_examples(format_name, path, None, options))[name]
    else:
        found = _examples(format_name, path, name, options)
    return _split(found, labels, len(format_named(format_name).attributes))


def _divided(examples: list[Example]) -> dict[str, list[Example]]:
    numbers = divide(group_texts([example.text for example in examples]), SHARES)
    if not all(numbers.values()):
        raise MissingSplit("too few rows to divide them, or they are copies of each other")
    return {name: [examples[number] for number in found] for name, found in numbers.items()}


def _examples(format_name: str, path: Path, name: str | None, options: ReadOptions | None) -> list[Example]:
    examples = list(load(format_name, path, name, options))
    if not examples:
        raise MissingSplit("a split is empty")
    if len(examples[0].texts) > 1 or not examples[0].label:
        raise RecipeError("data.format: a recipe needs single texts with a class")
    return examples


def _split(examples: list[Example], labels: tuple[str, ...], width: int) -> Split:
    ids, attributes = class_ids(examples, labels), attribute_matrix(examples, width)
    digest = hashlib.sha256()
    for example in examples:
        digest.update(f"{example.label}\t{example.text}\n".encode("utf-8", "surrogatepass"))
    return Split(
        texts=tuple(example.text for example in examples),
        labels=ids,
        attributes=attributes,
        sha256=digest.hexdigest(),
    )
