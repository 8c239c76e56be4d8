"""Turn texts into class labels by two extractors: frozen with a linear classifier, or fine-tuned on the labels."""

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from textveil.vector import find_word_rows
from textveil_training.encoder import (
    RARE_NUMBERS,
    LabeledPart,
    LabeledTexts,
    PublicWords,
    StaticSettings,
    TrainedExtractor,
    load_public_words,
    train_static_extractor,
)
from vectors import labeled, minilm

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
#: Inverse strength of the classifier's weight decay: the best of .1, 1 and 10 on calibration texts of AG News.
STRENGTH = {"static": 1.0, "minilm": 0.1}
#: Number of passes over the texts in which MiniLM is tuned.
PASSES = {"ag": 1, "trec": 3, "ag-private": 1, "sst2": 1}


@dataclass(frozen=True)
class Decided:
    """Classes that a model assigns to the calibration, test and training texts."""

    calibration: Ids
    test: Ids
    train: Ids | None = None


class Extractors:
    """The vectors and decisions of two extractors for one task.

    Args:
        data: Folder of the data.
        name: The task.
        cache: Folder of the frozen vectors.
    """

    def __init__(self, data: Path, name: str, cache: Path) -> None:
        self.data, self.name, self._cache = data, name, cache
        self.corpus = labeled.load(data, name)

    def task(self, seed: int) -> LabeledTexts:
        """Divide the training rows into training, calibration and test texts."""
        return labeled.task(self.data, self.name, seed)

    @cached_property
    def _texts(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.corpus.texts())}

    @cached_property
    def _minilm(self) -> Floats:
        return minilm.frozen_vectors(list(self._texts), self._cache)

    @cached_property
    def _static(self) -> Floats:
        words = load_public_words(RARE_NUMBERS)  # with as many coordinates as in the codebook of a bundle
        return np.stack([mean_row(text, words) for text in self._texts])

    def vectors(self, extractor: str, texts: tuple[str, ...] | list[str]) -> Floats:
        """Return the frozen vectors of texts: by MiniLM, or the mean of the words' public vectors."""
        table = self._minilm if extractor == "minilm" else self._static
        return table[[self._texts[text] for text in texts]]

    def decide(self, extractor: str, tuned: bool, seed: int) -> Decided:
        """Train on the training part, and return decisions on the others; for data with attributes, on all parts."""
        if not (tuned and extractor == "minilm"):
            return self._decide(extractor, tuned, seed)
        # Minutes of training: the decisions are kept.
        about = json.dumps([self.name, seed, self.corpus.texts(), settings(self.name, extractor, tuned)])
        path = self._cache / f"tuned-{hashlib.sha256(about.encode()).hexdigest()[:16]}.npz"
        if not path.exists():
            found = self._decide(extractor, tuned, seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(path, **{name: ids for name, ids in asdict(found).items() if ids is not None})
        return Decided(**np.load(path))

    def _decide(self, extractor: str, tuned: bool, seed: int) -> Decided:
        task = self.task(seed)
        decide = self._tune(extractor, task, seed) if tuned else self._frozen(extractor, task)
        train = decide(task.train) if self.corpus.attributes else None
        return Decided(decide(task.calibration), decide(task.test), train)

    def _frozen(self, extractor: str, task: LabeledTexts) -> Callable[[LabeledPart], Ids]:
        model = LogisticRegression(C=STRENGTH[extractor], max_iter=300)
        model.fit(self.vectors(extractor, task.train.texts), task.train.classes)
        return lambda part: np.asarray(model.predict(self.vectors(extractor, part.texts)), dtype=np.int64)

    def _tune(self, extractor: str, task: LabeledTexts, seed: int) -> Callable[[LabeledPart], Ids]:
        classes = len(task.labels)
        if extractor == "minilm":
            encoder = minilm.MiniLM(minilm.DROPOUT)
            encoder.tune(task.train, classes, PASSES[self.name], seed)
            return lambda part: encoder.decisions(part.texts)
        trained = static_extractor(task)
        return lambda part: trained.compute_labels(part.texts, lambda *_: None)


def static_extractor(task: LabeledTexts) -> TrainedExtractor:
    """Train the extractor that ``textveil-train encoder`` puts into a bundle."""
    return train_static_extractor(task, StaticSettings(), None, silent)


def mean_row(text: str, words: PublicWords) -> Floats:
    """Return the mean of the public vectors of a text's words; zeros for a text without known words."""
    rows = words.rows[find_word_rows(text, words.words)]
    return rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], np.float32)


def settings(name: str, extractor: str, tuned: bool) -> dict[str, Any]:
    """Return the training settings that a record's source includes; the precision is in the record itself."""
    if not tuned:
        return {"strength": STRENGTH[extractor]}
    if extractor == "static":
        return StaticSettings().describe()
    return {
        "passes": PASSES[name],
        "most": None,  # of so many texts: of all
        "rates": [minilm.LEARNING_RATE, minilm.HEAD_LEARNING_RATE, minilm.WEIGHT_DECAY, minilm.WARMUP],
        "frozen_layers": minilm.FROZEN_LAYERS,
        "batch": minilm.TUNED_BATCH,
    }


def silent(stage: str, steps: int, total: int) -> None:
    """Print the progress if the output is a terminal."""
    if sys.stderr.isatty():
        print(f"\r{stage} {steps}/{total}", end="", file=sys.stderr)
