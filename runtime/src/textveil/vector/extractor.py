"""From a text to a vector, before anything is drawn: one face for two kinds of extractor.

``StaticExtractor`` needs numpy alone, ``OnnxExtractor`` runs a model with onnxruntime.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import compress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.index import StaticParts
from textveil.bundle.vectors import FIRST, LAST, SPECIAL, UNKNOWN, OnnxParts
from textveil.errors import EncoderFailed
from textveil.text.wordpiece import WordPiece
from textveil.vector.onnx_session import OnnxSession
from textveil.vector.static import pair_buckets, words_of


@dataclass(frozen=True)
class Notes:
    """Remarks on how one text was encoded on the device. They depend on the secret text: never publish them.

    Attributes:
        truncated: Whether the text was longer than the extractor takes, and its end was left out.
        fixed_point: Whether the extractor failed on this text, or gave a number that is not finite, so that what is
            released is drawn as for the vector 0.
    """

    truncated: bool
    fixed_point: bool


@dataclass(frozen=True, eq=False)
class Extracted:
    """The vector of one text. All of it is secret.

    Attributes:
        vector: float32, shape ``(dimension,)``; not finite where the extractor failed.
        truncated: Whether the text was longer than the extractor takes.
    """

    vector: NDArray[np.float32] = field(repr=False)
    truncated: bool = field(repr=False)

    @property
    def notes(self) -> Notes:
        """What the device may know of it."""
        return Notes(self.truncated, not bool(np.isfinite(self.vector).all()))


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

    Args:
        parts: Checked bytes of a model, and how text is cut for it.
        threads: How many threads compute one vector.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or not known to stay offline.
        EncoderFailed: onnxruntime does not run the model.
    """

    def __init__(self, parts: OnnxParts, threads: int = 1) -> None:
        self._parts = parts
        self._pieces = WordPiece(parts.vocabulary, unknown=UNKNOWN, special=SPECIAL, lowercase=parts.lowercase)
        self.session: OnnxSession = OnnxSession(parts.model, threads)
        # The longest input, of the last piece there is: a model too small for either fails now and not on some text.
        longest = [parts.vocabulary[FIRST], *[len(parts.vocabulary) - 1] * (parts.max_tokens - 1)]
        if self.session.run(longest).shape != (1, parts.dimension):
            raise EncoderFailed("the model gives vectors of another length than its bundle says")

    def extract(self, text: str, dropped: Callable[[int], NDArray[np.bool_]] | None = None) -> Extracted:
        """Returns the vector of a text, cut after ``max_tokens`` pieces; NaN where the model fails.

        Args:
            text: Any string.
            dropped: Which of so many words are left out before; none without it.
        """
        ids, truncated = self.ids(text, dropped)
        try:
            vectors = self.session.run(ids)
        except EncoderFailed:
            vectors = np.empty((0, 0), dtype=np.float32)
        dimension = self._parts.dimension
        failed = vectors.shape != (1, dimension)
        return Extracted(np.full(dimension, np.nan, dtype=np.float32) if failed else vectors[0], truncated)

    def ids(self, text: str, dropped: Callable[[int], NDArray[np.bool_]] | None = None) -> tuple[list[int], bool]:
        """Returns the ids that the model is given, and whether something was cut off: ``extract``.

        A dropped word is removed with all of its pieces, and what follows moves up: no position, no attention and no
        mean knows of it, so two texts that differ in that word alone become the same ids.
        """
        vocabulary, room = self._parts.vocabulary, self._parts.max_tokens - 2
        words = self._pieces.basic_tokens(text)
        if dropped is not None:
            words = list(compress(words, ~dropped(len(words))))
        pieces: list[int] = []
        for word in self._pieces.encode_words(words):
            pieces += word
            if len(pieces) > room:
                break
        return [vocabulary[FIRST], *pieces[:room], vocabulary[LAST]], len(pieces) > room


def extractor_of(parts: StaticParts | OnnxParts) -> Extractor:
    """Returns the extractor of a bundle.

    Raises:
        EncoderUnavailable, EncoderFailed: See ``OnnxExtractor``.
    """
    return StaticExtractor(parts) if isinstance(parts, StaticParts) else OnnxExtractor(parts)


def _mean(rows: NDArray[np.int8], ids: NDArray[np.int64]) -> NDArray[np.float32]:
    sums = np.add.reduce(rows.take(ids, axis=0), axis=0, dtype=np.int64)
    return (sums / max(1, len(ids))).astype(np.float32)
