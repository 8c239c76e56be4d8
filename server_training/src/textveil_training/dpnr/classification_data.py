"""Load the data of a training run: three splits of texts with class ids and private attributes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from torch import Tensor

from textveil_training.data import LabeledExample, ReadOptions, get_format, list_splits, load_examples, split_examples
from textveil_training.data.label_encoding import collect_labels, encode_attributes, encode_labels
from textveil_training.data.splits import group_texts, split_groups
from textveil_training.dpnr.recipe import DataSection
from textveil_training.errors import MissingSplit, RecipeError


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedSplit:
    """One split (train, dev or test) of the data, with class ids and private attributes.

    Attributes:
        texts: The texts.
        labels: Class ids, int64, shape ``(texts,)``.
        attributes: Private attributes, float32 of zeros and ones, shape ``(texts, attributes)``; no columns if the
            format has no attributes.
        sha256: SHA-256 of labels and texts, which identifies the data in a run record.
    """

    texts: tuple[str, ...] = field(repr=False)
    labels: Tensor = field(repr=False)
    attributes: Tensor = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationTask:
    """A data set of texts with class labels, in the splits train, dev and test.

    Attributes:
        labels: Labels as spelled in the file, in the order of their class ids.
        train: Training split.
        dev: Split whose accuracy selects the best epoch.
        test: Split that is measured once, at the end.
    """

    labels: tuple[str, ...]
    train: ClassifiedSplit
    dev: ClassifiedSplit
    test: ClassifiedSplit

    def get_splits(self) -> dict[str, ClassifiedSplit]:
        """Return the three splits under the names ``train``, ``dev`` and ``test``."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    def describe(self) -> dict[str, object]:
        """Return a description of the data, without texts, for the JSON record of a run.

        For each split, by name, the result has ``examples`` (number of texts), ``classes`` (number of texts of each
        class) and ``sha256``.
        """
        return {
            name: {
                "examples": len(part.texts),
                "classes": [int((part.labels == number).sum()) for number in range(len(self.labels))],
                "sha256": part.sha256,
            }
            for name, part in self.get_splits().items()
        }


#: Percentages by which a file without splits is divided. Copies, contained texts and texts that share long passages get
#: into the same split.
SHARES = {"train": 80, "dev": 10, "test": 10}


def override_format(data: DataSection, format_name: str | None) -> DataSection:
    """Return a copy of a recipe's data section with another format and the splits train, dev and test.

    If ``format_name`` is ``None``, return the section unchanged.
    """
    if format_name is None:
        return data
    return replace(data, format=format_name, train="train", dev="dev", test="test", dev_percent=0)


def load_classification_task(data: DataSection, path: Path, options: ReadOptions | None = None) -> ClassificationTask:
    """Load train, dev and test texts; a single file without splits is divided in the proportions ``SHARES``.

    Args:
        data: Section of the recipe (file of training settings) that names the format and the splits.
        path: File or folder of the data.
        options: Column names, for formats that need them.

    Raises:
        DataError: The data cannot be read; ``MissingLabel`` for an example without a label, ``MissingSplit`` for an
            empty split.
        EmptyClass: A class has no training example.
        RecipeError: The format has pairs of texts, or texts without classes.
    """
    if not list_splits(data.format, path):
        raw = _split_examples(_load_examples(data.format, path, None, options))
    else:
        raw = {name: _load_examples(data.format, path, getattr(data, name), options) for name in ("train", "test")}
        if data.dev == data.train:
            raw |= split_examples(raw["train"], {"train": 100 - data.dev_percent, "dev": data.dev_percent})
        else:
            raw["dev"] = _load_examples(data.format, path, data.dev, options)
    labels = collect_labels(raw["train"], get_format(data.format).labels)
    width = len(get_format(data.format).attributes)
    return ClassificationTask(
        labels=labels, **{name: make_split(raw[name], labels, width) for name in ("train", "dev", "test")}
    )


def load_classification_split(
    format_name: str, path: Path, name: str | None, labels: tuple[str, ...], options: ReadOptions | None = None
) -> ClassifiedSplit:
    """Load one split of data, with class ids for given labels.

    ``load_classification_task`` divides a file without splits into train, dev and test; this function divides it in the
    same way, and returns the part ``name``.

    Args:
        format_name: Format of the data.
        path: File or folder of the data.
        name: Name of the split; ``None`` for the whole file.
        labels: Labels in the order of their class ids.
        options: Column names, for formats that need them.

    Raises:
        DataError: The data cannot be read, an example has no label, or the split is empty.
        EmptyClass: An example has a label that is not in ``labels``.
        RecipeError: The format has pairs of texts, or texts without classes.
    """
    if name in SHARES and not list_splits(format_name, path):
        examples = _split_examples(_load_examples(format_name, path, None, options))[name]
    else:
        examples = _load_examples(format_name, path, name, options)
    return make_split(examples, labels, len(get_format(format_name).attributes))


def _split_examples(examples: list[LabeledExample]) -> dict[str, list[LabeledExample]]:
    numbers = split_groups(group_texts([example.text for example in examples]), SHARES)
    if not all(numbers.values()):
        raise MissingSplit("too few different rows for train, dev and test: pass more data")
    return {name: [examples[number] for number in found] for name, found in numbers.items()}


def _load_examples(format_name: str, path: Path, name: str | None, options: ReadOptions | None) -> list[LabeledExample]:
    examples = list(load_examples(format_name, path, name, options))
    if not examples:
        raise MissingSplit(f"the split {name} is empty: it needs at least one row" if name else "the file has no row")
    if len(examples[0].texts) > 1 or not examples[0].label:
        raise RecipeError(
            "data.format: this format has pairs of texts or no classes: choose one with a text and a class per row"
        )
    return examples


def make_split(examples: Sequence[LabeledExample], labels: tuple[str, ...], width: int) -> ClassifiedSplit:
    """Build a split (texts with class ids and private attributes) from examples.

    Args:
        examples: Labeled examples.
        labels: Labels in the order of their class ids.
        width: Number of private attributes.

    Raises:
        MissingLabel: An example has no label.
        EmptyClass: An example has a label that is not in ``labels``.
    """
    ids, attributes = encode_labels(examples, labels), encode_attributes(examples, width)
    digest = hashlib.sha256()
    for example in examples:
        digest.update(f"{example.label}\t{example.text}\n".encode("utf-8", "surrogatepass"))
    return ClassifiedSplit(
        texts=tuple(example.text for example in examples),
        labels=ids,
        attributes=attributes,
        sha256=digest.hexdigest(),
    )
