"""From a text to a vector, before anything is drawn: one face for two kinds of extractor.

``StaticExtractor`` needs numpy alone, ``OnnxExtractor`` runs a model with onnxruntime.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.index import OnnxParts, StaticParts
from textveil.bundle.vectors import FIRST, LAST, SPECIAL, UNKNOWN
from textveil.errors import EncoderFailed
from textveil.text.wordpiece import WordPiece
from textveil.vector.onnx_session import OnnxSession
from textveil.vector.static import pair_buckets, words_of


@dataclass(frozen=True, eq=False)
class Extracted:
    """The vector of one text. All of it is secret.

    Attributes:
        vector: float32, shape ``(dimension,)``; not finite where the extractor failed.
        truncated: Whether the text was longer than the extractor takes.
    """

    vector: NDArray[np.float32] = field(repr=False)
    truncated: bool = field(repr=False)


class Extractor(Protocol):
    """Turns any string into a vector."""

    def extract(self, text: str) -> Extracted:
        """Returns the vector of a text. Nothing that a text says makes it raise."""
        ...


class StaticExtractor:
    """Adds the mean row of a text's words to the mean row of its pairs of neighbors: integers, then one division.

    A text without words has the vector 0.
    """

    def __init__(self, parts: StaticParts) -> None:
        self._parts = parts

    def extract(self, text: str) -> Extracted:
        """Returns the vector of a text, cut after ``max_characters``."""
        parts = self._parts
        ids = words_of(text[: parts.max_characters], parts.words)
        vector = _mean(parts.word_rows, ids) * parts.scales[0]
        if len(parts.pair_rows):
            vector += _mean(parts.pair_rows, pair_buckets(ids, len(parts.pair_rows))) * parts.scales[1]
        return Extracted(vector, len(text) > parts.max_characters)


class OnnxExtractor:
    """Runs a model on the pieces of a text.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or not known to stay offline.
        EncoderFailed: onnxruntime does not run the model.
    """

    def __init__(self, parts: OnnxParts) -> None:
        self._parts = parts
        self._pieces = WordPiece(parts.vocabulary, unknown=UNKNOWN, special=SPECIAL, lowercase=parts.lowercase)
        self._session = OnnxSession(parts.model, 1)
        # The longest input, of the last piece there is: a model too small for either fails now and not on some text.
        longest = [parts.vocabulary[FIRST], *[len(parts.vocabulary) - 1] * (parts.max_tokens - 1)]
        if self._session.run(longest).shape != (1, parts.dimension):
            raise EncoderFailed("the model gives vectors of another length than its bundle says")

    def extract(self, text: str) -> Extracted:
        """Returns the vector of a text, cut after ``max_tokens`` pieces; NaN where the model fails."""
        parts = self._parts
        room = parts.max_tokens - 2
        pieces: list[int] = []
        for word in self._pieces.encode_words(self._pieces.basic_tokens(text)):
            pieces += word
            if len(pieces) > room:
                break
        try:
            vectors = self._session.run([parts.vocabulary[FIRST], *pieces[:room], parts.vocabulary[LAST]])
        except EncoderFailed:
            vectors = np.empty((0, 0), dtype=np.float32)
        failed = vectors.shape != (1, parts.dimension)
        vector = np.full(parts.dimension, np.nan, dtype=np.float32) if failed else vectors[0]
        return Extracted(vector, len(pieces) > room)


def extractor_of(parts: StaticParts | OnnxParts) -> Extractor:
    """Returns the extractor of a bundle.

    Raises:
        EncoderUnavailable, EncoderFailed: See ``OnnxExtractor``.
    """
    return StaticExtractor(parts) if isinstance(parts, StaticParts) else OnnxExtractor(parts)


def _mean(rows: NDArray[np.int8], ids: NDArray[np.int64]) -> NDArray[np.float32]:
    sums = np.add.reduce(rows.take(ids, axis=0), axis=0, dtype=np.int64)
    return (sums / max(1, len(ids))).astype(np.float32)
