"""How well an encoder does on labeled texts, run as a device runs it: one text at a time, never padded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from textveil.text import WordPiece
from textveil_cli.collector import label_scores, layers_of

from textveil_export.encoder.checkpoint import SPECIAL_PIECES, Arrays
from textveil_export.errors import SourceError
from textveil_export.progress import Progress, ignore_progress

VectorFunction = Callable[[NDArray[np.int64]], NDArray[np.float32]]
"""From the ids of one text, shape (tokens,), to its representation before the noise, shape (k,)."""


@dataclass(frozen=True)
class LabeledTexts:
    """Labeled texts as a model reads them.

    Attributes:
        ids: Ids of each text, [CLS] and [SEP] included, at most ``max_tokens``.
        labels: Index of each text's label, shape (texts,).
        truncated: How many texts were longer than the model.
    """

    ids: tuple[NDArray[np.int64], ...]
    labels: NDArray[np.intp]
    truncated: int

    def sample_evenly(self, count: int) -> "LabeledTexts":
        """Returns at most ``count`` of the texts, evenly spread."""
        chosen = np.unique(np.linspace(0, len(self.ids) - 1, min(count, len(self.ids))).astype(int))
        return LabeledTexts(tuple(self.ids[i] for i in chosen), self.labels[chosen], self.truncated)


def read_labeled_texts(path: Path, labels: Sequence[str]) -> list[tuple[int, str]]:
    """Reads ``label<TAB>text`` lines.

    Args:
        path: A UTF-8 file without a header.
        labels: The labels there are, in the order of the classifier's outputs.

    Returns:
        Index of the label and the text, for every line.

    Raises:
        SourceError: The file cannot be read, or a line has another shape (with its number, never its text).
    """
    index = {label: number for number, label in enumerate(labels)}
    rows: list[tuple[int, str]] = []
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise SourceError(f"{path.name}: cannot be read as UTF-8 text") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            label, tab, text = line.rstrip("\r").partition("\t")
            if not tab or label not in index:
                raise SourceError(f"{path.name} line {number}: expected a known label, a tab and a text")
            rows.append((index[label], text))
    if not rows:
        raise SourceError(f"{path.name}: holds no labeled text")
    return rows


class TokenizerSettings(Protocol):
    """How texts are cut: a ``Checkpoint``, or a ``PooledModel``."""

    @property
    def lowercase(self) -> bool:
        """Whether texts are lower cased and lose their accents."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest input in pieces, [CLS] and [SEP] included."""
        ...


def encode_texts(
    rows: Sequence[tuple[int, str]], vocabulary: Sequence[str], settings: TokenizerSettings
) -> LabeledTexts:
    """Cuts texts into the pieces of a vocabulary: [CLS], at most ``max_tokens`` - 2 pieces, [SEP].

    Args:
        rows: Label index and text.
        vocabulary: Pieces by id; the model's own, or a trimmed one.
        settings: Says how long texts may be and whether they are lower cased.
    """
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    pieces = WordPiece(numbers, lowercase=settings.lowercase, special=SPECIAL_PIECES)
    first, last, room = numbers["[CLS]"], numbers["[SEP]"], settings.max_tokens - 2
    encoded = [pieces.encode(text) for _, text in rows]
    return LabeledTexts(
        tuple(np.array([first, *ids[:room], last], dtype=np.int64) for ids in encoded),
        np.array([label for label, _ in rows], dtype=np.intp),
        sum(len(ids) > room for ids in encoded),
    )


def compute_vectors(
    run: VectorFunction, texts: LabeledTexts, stage: str = "", progress: Progress = ignore_progress
) -> NDArray[np.float32]:
    """Runs a model on texts and returns representations before the noise, shape (texts, k)."""
    rows = []
    for done, ids in enumerate(texts.ids, 1):
        rows.append(run(ids))
        if stage and (done % 50 == 0 or done == len(texts.ids)):
            progress(stage, done, len(texts.ids))
    return np.stack(rows)


def classify_vectors(classifier: Arrays, released: NDArray[np.floating], epsilon: float) -> NDArray[np.intp]:
    """Returns the label that the server's classifier gives each vector, by the code that servers run.

    Args:
        classifier: Its arrays, as a checkpoint holds them.
        released: Shape (texts, k).
        epsilon: The whole-text epsilon that the vectors were released with; the classifier is told it.

    Returns:
        Label indices, shape (texts,).
    """
    scores = label_scores(layers_of(classifier), released.astype(np.float32), np.full((1, 1), np.log(epsilon)))
    return np.argmax(scores, axis=1)
