"""Evaluate an encoder on labeled texts, one text at a time and unpadded, as on a device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from textveil.vector import WordPiece
from textveil_cli.aggregation import compute_label_scores, extract_layers

from textveil_export.encoder.checkpoint import SPECIAL_PIECES, Arrays
from textveil_export.errors import SourceError
from textveil_export.progress import Progress, ignore_progress

VectorFunction = Callable[[NDArray[np.int64]], NDArray[np.float32]]
"""Function from the ids of one text, shape (tokens,), to its vector before the noise, shape (k,)."""


@dataclass(frozen=True)
class TokenizedTexts:
    """Labeled texts as token ids.

    Attributes:
        ids: Token ids of each text, [CLS] and [SEP] included, at most ``max_tokens``.
        labels: Index of each text's label, shape (texts,).
        truncated: Number of texts that were cut because they exceed the model's longest input.
    """

    ids: tuple[NDArray[np.int64], ...]
    labels: NDArray[np.intp]
    truncated: int

    def sample_evenly(self, count: int) -> "TokenizedTexts":
        """Return at most ``count`` of the texts, at equal intervals."""
        chosen = np.unique(np.linspace(0, len(self.ids) - 1, min(count, len(self.ids))).astype(int))
        return TokenizedTexts(tuple(self.ids[i] for i in chosen), self.labels[chosen], self.truncated)


def read_labeled_texts(path: Path, labels: Sequence[str]) -> list[tuple[int, str]]:
    """Read labeled texts from a file with lines ``label<TAB>text``.

    Args:
        path: UTF-8 file without a header.
        labels: Known labels, in the order of the classifier's outputs.

    Returns:
        Index of the label, and text, of each line.

    Raises:
        SourceError: The file cannot be read, or a line has another format. The message contains the line number, never
            the text.
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
        raise SourceError(f"{path.name}: contains no labeled text: write label<TAB>text lines")
    return rows


class TokenizerSettings(Protocol):
    """Interface of the models ``Checkpoint`` and ``PooledModel``, which define how to tokenize texts."""

    @property
    def lowercase(self) -> bool:
        """Whether the tokenizer lower-cases texts and strips accents."""
        ...

    @property
    def max_tokens(self) -> int:
        """Maximum number of WordPieces (parts of words) of an input, [CLS] and [SEP] included."""
        ...


def encode_texts(
    rows: Sequence[tuple[int, str]], vocabulary: Sequence[str], settings: TokenizerSettings
) -> TokenizedTexts:
    """Tokenize texts: [CLS], at most ``max_tokens`` - 2 WordPieces, [SEP].

    Args:
        rows: Index of the label, and text.
        vocabulary: WordPieces by id, all of the model's or some of them.
        settings: Model whose ``lowercase`` and ``max_tokens`` apply.
    """
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    pieces = WordPiece(numbers, lowercase=settings.lowercase, special=SPECIAL_PIECES)
    first, last, room = numbers["[CLS]"], numbers["[SEP]"], settings.max_tokens - 2
    encoded = [pieces.encode(text) for _, text in rows]
    return TokenizedTexts(
        tuple(np.array([first, *ids[:room], last], dtype=np.int64) for ids in encoded),
        np.array([label for label, _ in rows], dtype=np.intp),
        sum(len(ids) > room for ids in encoded),
    )


def compute_vectors(
    run: VectorFunction, texts: TokenizedTexts, stage: str = "", progress: Progress = ignore_progress
) -> NDArray[np.float32]:
    """Run a model on texts and return their vectors before the noise, shape (texts, k).

    Args:
        run: Function that computes the vector of one text from its token ids.
        texts: The texts.
        stage: Name of this work in progress reports.
        progress: Called with the number of finished texts.
    """
    rows = []
    for done, ids in enumerate(texts.ids, 1):
        rows.append(run(ids))
        if stage and (done % 50 == 0 or done == len(texts.ids)):
            progress(stage, done, len(texts.ids))
    return np.stack(rows)


def classify_vectors(classifier: Arrays, released: NDArray[np.floating], epsilon: float) -> NDArray[np.intp]:
    """Classify noisy vectors with the same code as servers, and return a label for each.

    Args:
        classifier: Arrays of the classifier, as in a checkpoint.
        released: Noisy vectors, shape (texts, k).
        epsilon: Epsilon per text, an input of the classifier.

    Returns:
        Index of each text's predicted label, shape (texts,).
    """
    scores = compute_label_scores(
        extract_layers(classifier), released.astype(np.float32), np.full((1, 1), np.log(epsilon))
    )
    return np.argmax(scores, axis=1)
