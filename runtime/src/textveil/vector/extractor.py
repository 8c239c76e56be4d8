"""Extractors, which compute the vector of a text before randomization.

``StaticExtractor`` needs only numpy; ``OnnxExtractor`` runs a model with onnxruntime. Both have one interface,
``TextExtractor``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import compress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.label_bundle import StaticExtractorData
from textveil.bundle.vector_bundle import END_TOKEN, SPECIAL_TOKENS, START_TOKEN, UNKNOWN_TOKEN, OnnxExtractorData
from textveil.errors import EncoderFailed
from textveil.vector.onnx_session import OnnxSession
from textveil.vector.static_tokenizer import compute_pair_buckets, find_word_rows
from textveil.vector.wordpiece import WordPiece


@dataclass(frozen=True)
class EncodingNotes:
    """Remarks on the encoding of one text. They depend on the private text: never publish them.

    Attributes:
        is_truncated: Whether the text exceeded the length limit, so that its end was ignored.
        is_zero_vector: Whether the extractor failed or returned a number that is not finite. Its vector is then
            replaced by the vector 0 before randomization.

    Example:
        >>> from textveil import TextLabelEncoder
        >>> encoder = TextLabelEncoder.load()
        >>> encoder.encode("A very long report. " * 10_000).notes
        EncodingNotes(is_truncated=True, is_zero_vector=False)
    """

    is_truncated: bool
    is_zero_vector: bool


@dataclass(frozen=True, eq=False)
class ExtractedVector:
    """Vector of one text before randomization. All fields are private.

    Attributes:
        vector: float32, shape ``(dimension,)``. Some numbers are not finite if the extractor failed.
        is_truncated: Whether the text exceeded the length limit.
    """

    vector: NDArray[np.float32] = field(repr=False)
    is_truncated: bool = field(repr=False)

    @property
    def notes(self) -> EncodingNotes:
        """Return the remarks for the device."""
        return EncodingNotes(self.is_truncated, not bool(np.isfinite(self.vector).all()))


class TextExtractor(Protocol):
    """Interface of all extractors: from any string to a vector.

    Example:
        >>> from textveil import TextLabelEncoder
        >>> encoder = TextLabelEncoder.load()
        >>> extractor: TextExtractor = make_extractor(encoder.bundle.extractor)
        >>> extractor.extract_vector("Stocks fell on Friday.").vector.shape
        (4,)
    """

    def extract_vector(self, text: str) -> ExtractedVector:
        """Compute the vector of a text. Whatever the text contains, no error is raised."""
        ...


class StaticExtractor:
    """Extractor that averages the vectors of the words and of the pairs of adjacent words.

    Both come from tables: ``vector = scales[0] * mean(word vectors) + scales[1] * mean(pair vectors)``. Each sum is an
    integer, divided once for the mean. A text without words has the vector 0.

    Example:
        >>> words = StaticExtractorData(
        ...     words={"good": 0}, word_rows=np.array([[2], [0], [1]], np.int8), pair_rows=np.zeros((0, 1), np.int8),
        ...     scales=np.ones(2, np.float32), max_characters=100,
        ... )
        >>> StaticExtractor(words).extract_vector("Good film").vector.tolist()
        [1.5]
    """

    def __init__(self, parts: StaticExtractorData) -> None:
        self._parts = parts

    def extract_vector(self, text: str) -> ExtractedVector:
        """Compute the vector of the first ``max_characters`` characters of a text."""
        parts = self._parts
        ids = find_word_rows(text[: parts.max_characters], parts.words)
        vector = _compute_mean(parts.word_rows, ids) * parts.scales[0]
        if len(parts.pair_rows):
            vector += _compute_mean(parts.pair_rows, compute_pair_buckets(ids, len(parts.pair_rows))) * parts.scales[1]
        return ExtractedVector(vector, len(text) > parts.max_characters)


class OnnxExtractor:
    """Extractor that runs a model on the WordPiece tokens of a text.

    Args:
        parts: The bytes of a checked model, and the settings of the tokenizer.
        threads: Number of threads that compute one vector.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or this version may use the network.
        EncoderFailed: onnxruntime cannot run the model, or its vectors have another length than the bundle states.
    """

    def __init__(self, parts: OnnxExtractorData, threads: int = 1) -> None:
        self._parts = parts
        self._wordpiece = WordPiece(
            parts.vocabulary, unknown=UNKNOWN_TOKEN, special=SPECIAL_TOKENS, lowercase=parts.lowercase
        )
        self.session: OnnxSession = OnnxSession(parts.model, threads)
        # A test with the longest input and the largest id: a model that is too small for either fails at loading.
        longest = [parts.vocabulary[START_TOKEN], *[len(parts.vocabulary) - 1] * (parts.max_tokens - 1)]
        if self.session.run_model(longest).shape != (1, parts.dimension):
            raise EncoderFailed(
                "the model returns vectors of a length that differs from manifest.json: build the bundle again"
            )

    def extract_vector(
        self, text: str, draw_dropped: Callable[[int], NDArray[np.bool_]] | None = None
    ) -> ExtractedVector:
        """Compute the vector of a text, cut at ``max_tokens`` tokens; all NaN if the model fails.

        Args:
            text: Any string.
            draw_dropped: Takes the number of basic tokens and returns a mask, true for those to remove first; ``None``
                removes none.
        """
        ids, truncated = self.compute_ids(text, draw_dropped)
        try:
            vectors = self.session.run_model(ids)
        except EncoderFailed:
            vectors = np.empty((0, 0), dtype=np.float32)
        dimension = self._parts.dimension
        failed = vectors.shape != (1, dimension)
        return ExtractedVector(np.full(dimension, np.nan, dtype=np.float32) if failed else vectors[0], truncated)

    def compute_ids(
        self, text: str, draw_dropped: Callable[[int], NDArray[np.bool_]] | None = None
    ) -> tuple[list[int], bool]:
        """Return the token ids of the model's input, and whether tokens were cut off.

        A dropped basic token is removed with all of its WordPiece tokens, and the following ones move up. No trace of
        it is left: two texts that differ only in dropped tokens have the same ids.

        Args:
            text: Any string.
            draw_dropped: As in ``extract_vector``.
        """
        vocabulary, room = self._parts.vocabulary, self._parts.max_tokens - 2
        words = self._wordpiece.split_basic_tokens(text)
        if draw_dropped is not None:
            words = list(compress(words, ~draw_dropped(len(words))))
        pieces: list[int] = []
        for word in self._wordpiece.encode_words(words):
            pieces += word
            if len(pieces) > room:
                break
        return [vocabulary[START_TOKEN], *pieces[:room], vocabulary[END_TOKEN]], len(pieces) > room


def make_extractor(parts: StaticExtractorData | OnnxExtractorData) -> TextExtractor:
    """Return the extractor for the parts of a bundle.

    Raises:
        EncoderUnavailable, EncoderFailed: See ``OnnxExtractor``.

    Example:
        >>> from textveil import TextLabelEncoder
        >>> encoder = TextLabelEncoder.load()
        >>> type(make_extractor(encoder.bundle.extractor)).__name__
        'StaticExtractor'
    """
    return StaticExtractor(parts) if isinstance(parts, StaticExtractorData) else OnnxExtractor(parts)


def _compute_mean(rows: NDArray[np.int8], ids: NDArray[np.int64]) -> NDArray[np.float32]:
    sums = np.add.reduce(rows.take(ids, axis=0), axis=0, dtype=np.int64)
    return (sums / max(1, len(ids))).astype(np.float32)
