"""Load labeled texts, divided as for a bundle, with the second attribute if the data have one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from textveil_training import data as published
from textveil_training.data import LabeledExample, read_table
from textveil_training.encoder import LabeledPart, LabeledTexts, split_labeled_texts

#: Train and test file of each task below the data folder.
FILES = {
    "ag": ("ag_news/train.tsv", "ag_news/test.tsv"),
    "trec": ("trec/train.txt", "trec/test.txt"),
    "ag-private": ("ag_private/ag_data.txt", "ag_private/ag_data.txt"),
    "sst2": ("sst2/train.tsv", "sst2/dev.tsv"),
}
Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Corpus:
    """The rows of a task as published.

    Attributes:
        train: Training rows.
        test: Test rows, from which the figures are computed.
        attributes: By text, a bit for each person that shows whether the text names the person; empty for data without
            a second attribute.
    """

    train: tuple[LabeledExample, ...]
    test: tuple[LabeledExample, ...]
    attributes: dict[str, Bits]

    def texts(self) -> list[str]:
        """Return every distinct text, in the order of the files."""
        return list(dict.fromkeys(row.text for row in (*self.train, *self.test)))

    def attributes_of(self, part: LabeledPart) -> Bits:
        """Return the attributes of the texts of a part, shape ``(texts, attributes)``."""
        return np.stack([self.attributes[text] for text in part.texts])


def read_ag_entities(path: Path, split: str) -> list[LabeledExample]:
    """Read a split of AG News with entities."""
    return list(published.load_examples("ag-entities", path, split))


@lru_cache(maxsize=1)
def load(data: Path, name: str) -> Corpus:
    """Read train and test of a task."""
    train, test = (data / path for path in FILES[name])
    if name == "ag-private":
        splits = [read_ag_entities(train, split) for split in ("train", "dev", "test")]
        width = len(published.FORMATS["ag-entities"].attributes)
        attributes = {row.text: np.isin(np.arange(width), row.attributes) for split in splits for row in split}
        return Corpus((*splits[0], *splits[1]), tuple(splits[2]), attributes)
    reader = _READERS[name]
    return Corpus(reader(train), reader(test), {})


@lru_cache(maxsize=1)
def task(data: Path, name: str, seed: int) -> LabeledTexts:
    """Divide the training rows without near duplicates of test texts. See ``encoder.task``."""
    corpus = load(data, name)
    return split_labeled_texts(corpus.train, corpus.test, seed)


def find_missing_files(data: Path, name: str) -> list[str]:
    """Return the missing files of a task."""
    return [path for path in FILES[name] if not (data / path).is_file()]


def _trec(path: Path) -> tuple[LabeledExample, ...]:
    lines = path.read_text("latin-1").strip().split("\n")
    return tuple(
        LabeledExample(texts=(text,), label=label) for label, _, text in (line.partition(" ") for line in lines)
    )


_READERS: dict[str, Callable[[Path], tuple[LabeledExample, ...]]] = {
    "ag": lambda path: tuple(read_table(path, "1", "2")),
    "trec": _trec,
    "sst2": lambda path: tuple(read_table(path, "sentence", "label")),
}
