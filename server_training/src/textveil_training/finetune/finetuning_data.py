"""Load the data of a fine-tuning: three splits of texts or pairs, with a class or a score per row.

If the format defines no splits, the split of a row depends only on the row's number. So raw text and every sanitized
copy of it are divided identically, and results on them can be compared row by row.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from textveil_training.data import LabeledExample, ReadOptions, choose_share, get_format, list_splits, load_examples
from textveil_training.data.label_encoding import collect_labels, encode_attributes, encode_labels
from textveil_training.errors import InvalidScore, MissingLabel, MissingSplit

DEV_PERCENT = 5
"""Percentage of the training rows that selects the best epoch, for data without a separate dev split."""
THREE_SHARES = {"train": 80, "dev": 10, "test": 10}
"""Shares into which data with a single split are divided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetuningSplit:
    """One split (train, dev or test) of the data for a fine-tuning.

    Attributes:
        texts: One or two texts per row.
        targets: Class ids (int64) or scores (float32), shape ``(rows,)``.
        attributes: Private attributes, float32 of zeros and ones, shape ``(rows, attributes)``; no columns if the
            format has no attributes.
        sha256: SHA-256 of texts and targets, which identifies the data in a run record.
    """

    texts: tuple[tuple[str, ...], ...] = field(repr=False)
    targets: Tensor = field(repr=False)
    attributes: Tensor = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class FinetuningTask:
    """A data set for fine-tuning.

    Attributes:
        labels: Labels as spelled in the file, in the order of their class ids; empty if targets are scores.
        pairs: Whether a row has two texts.
        splits: Splits by name: ``train``, ``dev`` (selects the best epoch) and ``test`` (measured once, at the end).
    """

    labels: tuple[str, ...]
    pairs: bool
    splits: dict[str, FinetuningSplit]

    @property
    def has_scores(self) -> bool:
        """Whether targets are scores."""
        return not self.labels

    def describe(self, format_name: str) -> dict[str, object]:
        """Return a description of the data, without texts, for the JSON record of a run.

        The keys are ``format``, ``target`` (``score`` or ``class``) and ``splits``: for each split the number of rows,
        the SHA-256, and the number of rows of each class.
        """
        return {
            "format": format_name,
            "target": "score" if self.has_scores else "class",
            "splits": {
                name: {"examples": len(rows.texts), "sha256": rows.sha256}
                | ({} if self.has_scores else {"classes": rows.targets.bincount(minlength=len(self.labels)).tolist()})
                for name, rows in self.splits.items()
            },
        }


def load_finetuning_task(
    format_name: str,
    path: Path,
    *,
    test: Path | None = None,
    options: ReadOptions | None = None,
    labels_of_pairs: bool = False,
    train_examples: int = 0,
) -> FinetuningTask:
    """Load the data of a fine-tuning, and divide them into train, dev and test.

    - If the data have train, dev and test, they are used unchanged.
    - If the data have train and dev, the dev split becomes the test split, and ``DEV_PERCENT`` percent of train become
      dev.
    - If the data have one split, it is divided by ``THREE_SHARES``.
    - If ``test`` is given, that file is the test split.

    A division does not keep related rows together, such as the two rows of a QNLI question. If this matters, divide the
    raw file before you sanitize it.

    Args:
        format_name: A key of ``data.FORMATS``.
        path: File or folder of the data.
        test: A separate file for the test split, in the same format.
        options: Column names, for formats that need them.
        labels_of_pairs: Whether to use the class as target for pairs that have both a score and a class (``sick``).
        train_examples: Largest number of training rows; 0 for all.

    Raises:
        DataError: The data cannot be read; ``MissingLabel`` for an example without target, ``MissingSplit`` for an
            empty split.
        InvalidScore: All training scores are equal.
        EmptyClass: A class has no training example, or dev or test has a class that train does not have.
    """
    raw = _split_data(format_name, path, test, options)
    raw["train"] = _limit_examples(raw["train"], train_examples)
    first = raw["train"][0]
    scores = first.score is not None and not labels_of_pairs
    labels = () if scores else collect_labels(raw["train"], get_format(format_name).labels)
    width = len(get_format(format_name).attributes)
    splits = {name: make_finetuning_split(examples, labels, width) for name, examples in raw.items()}
    targets = splits["train"].targets
    if scores and bool((targets == targets[0]).all()):
        raise InvalidScore("all training scores are equal, so nothing can be learned: check the column of scores")
    return FinetuningTask(labels, len(first.texts) == 2, splits)


def _split_data(
    format_name: str, path: Path, test: Path | None, options: ReadOptions | None
) -> dict[str, list[LabeledExample]]:
    there = list_splits(format_name, path)
    if test is not None:
        train = _load_examples(format_name, path, "train" if "train" in there else None, options)
        raw = _split_by_row(train, {"train": 100 - DEV_PERCENT, "dev": DEV_PERCENT})
        return raw | {"test": _load_examples(format_name, test, None, options)}
    if "train" not in there:
        if len(there) > 1:
            raise MissingSplit(
                "the folder has no training split: pass a folder with a training file, or one file, which is then "
                "divided"
            )
        return _split_by_row(_load_examples(format_name, path, None, options), THREE_SHARES)
    if set(there) == {"train"}:
        return _split_by_row(_load_examples(format_name, path, "train", options), THREE_SHARES)
    if "test" in there and "dev" in there:
        return {name: _load_examples(format_name, path, name, options) for name in THREE_SHARES}
    raw = _split_by_row(
        _load_examples(format_name, path, "train", options), {"train": 100 - DEV_PERCENT, "dev": DEV_PERCENT}
    )
    return raw | {"test": _load_examples(format_name, path, "test" if "test" in there else "dev", options)}


def _split_by_row(examples: list[LabeledExample], shares: dict[str, int]) -> dict[str, list[LabeledExample]]:
    divided: dict[str, list[LabeledExample]] = {name: [] for name in shares}
    for row, example in enumerate(examples):
        divided[choose_share(str(row), shares)].append(example)
    if not all(divided.values()):
        raise MissingSplit("too few rows for train, dev and test: add rows, or pass data with splits of their own")
    return divided


def _limit_examples(examples: list[LabeledExample], most: int) -> list[LabeledExample]:
    if not most or len(examples) <= most:
        return examples
    order = sorted(range(len(examples)), key=lambda row: hashlib.sha256(f"subset\n{row}".encode()).digest())
    return [examples[row] for row in sorted(order[:most])]


def _load_examples(
    format_name: str, path: Path, split: str | None, options: ReadOptions | None
) -> list[LabeledExample]:
    examples = list(load_examples(format_name, path, split, options))
    if not examples:
        raise MissingSplit("a split is empty: each needs at least one row")
    return examples


def make_finetuning_split(examples: Sequence[LabeledExample], labels: tuple[str, ...], width: int) -> FinetuningSplit:
    """Build a split with class ids as targets, or with scores if ``labels`` is empty.

    Args:
        examples: Rows of the split.
        labels: Labels in the order of their class ids.
        width: Number of private attributes.
    """
    targets = encode_labels(examples, labels) if labels else _encode_scores(examples)
    digest = hashlib.sha256()
    for example in examples:
        target = example.label if labels else example.score
        digest.update("\t".join((str(target), *example.texts, "\n")).encode("utf-8", "surrogatepass"))
    texts = tuple(tuple(example.texts) for example in examples)
    return FinetuningSplit(
        texts=texts, targets=targets, attributes=encode_attributes(examples, width), sha256=digest.hexdigest()
    )


def _encode_scores(examples: Sequence[LabeledExample]) -> Tensor:
    scores = [example.score for example in examples]
    if None in scores:
        raise MissingLabel(f"example {scores.index(None) + 1} of {len(examples)} has no score: every row needs one")
    return torch.tensor(scores, dtype=torch.float32)
