"""Extractors, which compute the vector of a text before randomization.

``StaticExtractor`` needs only numpy; ``OnnxExtractor`` runs a model with onnxruntime. Both have one interface,
``Extractor``.
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
    """Remarks on the encoding of one text. They depend on the private text: never publish them.

    Attributes:
        truncated: Whether the text exceeded the length limit, so that its end was ignored.
        fixed_point: Whether the extractor failed or returned a number that is not finite, so that the vector 0 replaces
            its result before randomization.
    """

    truncated: bool
    fixed_point: bool


@dataclass(frozen=True, eq=False)
class Extracted:
    """Vector of one text before randomization. All fields are private.

    Attributes:
        vector: float32, shape ``(dimension,)``; not finite if the extractor failed.
        truncated: Whether the text exceeded the length limit.
    """

    vector: NDArray[np.float32] = field(repr=False)
    truncated: bool = field(repr=False)

    @property
    def notes(self) -> Notes:
        """Return the remarks for the device."""
        return Notes(self.truncated, not bool(np.isfinite(self.vector).all()))


class Extractor(Protocol):
    """Interface of all extractors: from any string to a vector."""

    def extract(self, text: str) -> Extracted:
        """Compute the vector of a text; no content of a text raises an error."""
        ...


class StaticExtractor:
    """Extractor that averages table rows of the words and of the pairs of adjacent words.

    ``vector = scales[0] * mean(word rows) + scales[1] * mean(pair rows)``. The sums are integers; each mean divides
    once. A text without words has the vector 0.
    """

    def __init__(self, parts: StaticParts) -> None:
        self._parts = parts

    def extract(self, text: str) -> Extracted:
        """Compute the vector of the first ``max_characters`` characters of a text."""
        parts = self._parts
        ids = words_of(text[: parts.max_characters], parts.words)
        vector = _mean(parts.word_rows, ids) * parts.scales[0]
        if len(parts.pair_rows):
            vector += _mean(parts.pair_rows, pair_buckets(ids, len(parts.pair_rows))) * parts.scales[1]
        return Extracted(vector, len(text) > parts.max_characters)


class OnnxExtractor:
    """Extractor that runs a model on the WordPiece tokens of a text.

    Args:
        parts: Checked bytes of the model, and the settings of the tokenizer.
        threads: Number of threads that compute one vector.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or this version may use the network.
        EncoderFailed: onnxruntime cannot run the model, or its vectors have another length than the bundle states.
    """

    def __init__(self, parts: OnnxParts, threads: int = 1) -> None:
        self._parts = parts
        self._pieces = WordPiece(parts.vocabulary, unknown=UNKNOWN, special=SPECIAL, lowercase=parts.lowercase)
        self.session: OnnxSession = OnnxSession(parts.model, threads)
        # A test with the longest input and the largest id: a model that is too small for either fails at loading.
        longest = [parts.vocabulary[FIRST], *[len(parts.vocabulary) - 1] * (parts.max_tokens - 1)]
        if self.session.run(longest).shape != (1, parts.dimension):
            raise EncoderFailed("the model gives vectors of another length than its bundle says")

    def extract(self, text: str, dropped: Callable[[int], NDArray[np.bool_]] | None = None) -> Extracted:
        """Compute the vector of a text, cut at ``max_tokens`` tokens; NaN if the model fails.

        Args:
            text: Any string.
            dropped: From a number of words to a mask of the words to remove first; ``None`` removes none.
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
        """Return the token ids of the model's input, and whether tokens were cut off.

        A dropped word is removed with all of its tokens, and the following tokens move up. Positions, attention and
        means do not depend on it: two texts that differ only in dropped words have the same ids.

        Args:
            text: Any string.
            dropped: As in ``extract``.
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
    """Return the extractor for the parts of a bundle.

    Raises:
        EncoderUnavailable, EncoderFailed: See ``OnnxExtractor``.
    """
    return StaticExtractor(parts) if isinstance(parts, StaticParts) else OnnxExtractor(parts)


def _mean(rows: NDArray[np.int8], ids: NDArray[np.int64]) -> NDArray[np.float32]:
    sums = np.add.reduce(rows.take(ids, axis=0), axis=0, dtype=np.int64)
    return (sums / max(1, len(ids))).astype(np.float32)
