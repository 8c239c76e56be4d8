"""Convert labels and private attributes of examples to tensors."""

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from textveil_training.data import LabeledExample
from textveil_training.errors import EmptyClass, MissingLabel


def collect_labels(train: Sequence[LabeledExample], fixed: tuple[str, ...] | None) -> tuple[str, ...]:
    """Collect the labels of training examples in the order of their class ids.

    Args:
        train: Training examples.
        fixed: Labels of the format in their order. ``None`` if the format allows any label; the labels of the examples
            are then sorted.

    Raises:
        MissingLabel: An example has no label.
        EmptyClass: A class has no training example, or there is only one class.
    """
    counts = Counter(example.label for example in train)
    if "" in counts:
        raise MissingLabel("training examples have no label: choose a format or a column with labels")
    labels = tuple(sorted(counts)) if fixed is None else fixed
    for number, label in enumerate(labels, 1):
        if not counts[label]:
            raise EmptyClass(f"class {number} of {len(labels)} has no training example: add some, or remove the class")
    if len(labels) < 2:
        raise EmptyClass("the training data have only one class: at least two are needed")
    return labels


def encode_labels(examples: Sequence[LabeledExample], labels: tuple[str, ...]) -> Tensor:
    """Return the class id of the label of each example, int64 of shape ``(examples,)``.

    Args:
        examples: Labeled examples.
        labels: Labels in the order of their class ids.

    Raises:
        MissingLabel: An example has no label.
        EmptyClass: An example has a label that is not among ``labels``.
    """
    ids = {label: number for number, label in enumerate(labels)}
    encoded: list[int] = []
    for row, example in enumerate(examples, 1):
        if not example.label:
            raise MissingLabel(f"example {row} of {len(examples)} has no label")
        if example.label not in ids:
            raise EmptyClass(
                f"example {row} of {len(examples)} has a class without a training example: add some, or remove its rows"
            )
        encoded.append(ids[example.label])
    return torch.tensor(encoded)


def encode_attributes(examples: Sequence[LabeledExample], width: int) -> Tensor:
    """Convert the private attributes of examples to zeros and ones, float32 of shape ``(examples, width)``.

    Args:
        examples: Examples; an example without attributes gives a row of zeros.
        width: Number of attributes of the format.
    """
    matrix = torch.zeros(len(examples), width)
    for row, example in enumerate(examples):
        matrix[row, list(example.attributes)] = 1
    return matrix
