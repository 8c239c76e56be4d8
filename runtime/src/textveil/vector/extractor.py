"""Extractors, which compute the vector of a text before noise is added.

``StaticExtractor`` needs only numpy. ``OnnxExtractor`` runs a model with onnxruntime. Both implement the interface
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
    """Remarks on the encoding of one text. Never publish them, because they depend on the private text.

    Attributes:
        is_truncated: Whether the text exceeded the length limit, so that its end was ignored.
        is_zero_vector: Whether the extractor failed or returned a number that is not finite. If so, the vector 0 was
            randomized in place of the extractor's vector.

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
        vector: The vector, float32, shape ``(dimension,)``. If the extractor failed, some numbers are not finite.
        is_truncated: Whether the text exceeded the length limit.
    """

    vector: NDArray[np.float32] = field(repr=False)
    is_truncated: bool = field(repr=False)

    @property
    def notes(self) -> EncodingNotes:
        """Return remarks for the user of the device, such as that the text was too long. They are private."""
        return EncodingNotes(self.is_truncated, not bool(np.isfinite(self.vector).all()))


class TextExtractor(Protocol):
    """Interface of all extractors, which compute a vector from any string.

    Example:
        >>> from textveil import TextLabelEncoder
        >>> encoder = TextLabelEncoder.load()
        >>> extractor: TextExtractor = make_extractor(encoder.bundle.extractor)
        >>> extractor.extract_vector("Stocks fell on Friday.").vector.shape
        (4,)
    """

    def extract_vector(self, text: str) -> ExtractedVector:
        """Compute the vector of a text. This method raises no error for any text."""
        ...


class StaticExtractor:
    """Extractor that averages vectors of the words of a text, and of the pairs of adjacent words.

    The result is ``scales[0] * mean(word vectors) + scales[1] * mean(pair vectors)``, with vectors from tables. Sums
    are exact integers, and each mean needs one division. A text without words has the vector 0.

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
        threads: Number of threads that compute one vector, 1 or 2.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or this version may use the network.
        EncoderFailed: onnxruntime cannot run the model, or its vectors have another length than the bundle (data
            folder) states.
    """

    def __init__(self, parts: OnnxExtractorData, threads: int = 1) -> None:
        self._parts = parts
        self._wordpiece = WordPiece(
            parts.vocabulary, unknown=UNKNOWN_TOKEN, special=SPECIAL_TOKENS, lowercase=parts.lowercase
        )
        self.session: OnnxSession = OnnxSession(parts.model, threads)
        # Run the model on the longest input with the largest id, so that a model that is too small fails at loading.
        longest = [parts.vocabulary[START_TOKEN], *[len(parts.vocabulary) - 1] * (parts.max_tokens - 1)]
        if self.session.run_model(longest).shape != (1, parts.dimension):
            raise EncoderFailed(
                "the length of the model's vectors differs from the length in manifest.json: build the bundle again"
            )

    def extract_vector(
        self, text: str, draw_dropped: Callable[[int], NDArray[np.bool_]] | None = None
    ) -> ExtractedVector:
        """Compute the vector of the first ``max_tokens`` tokens of a text. If the model fails, all numbers are NaN.

        Args:
            text: Any string.
            draw_dropped: Function that takes the number of basic tokens (words and punctuation marks), and returns for
                each of them whether to remove it before encoding. ``None`` removes no token.
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
        """Compute the token ids of a text for the model.

        A basic token is a word or a punctuation mark. A removed basic token does not affect the ids of the remaining
        ones. So two texts that differ only in removed tokens have the same ids.

        Args:
            text: Any string.
            draw_dropped: Function that decides which basic tokens to remove (``extract_vector``); or ``None``.

        Returns:
            The token ids, including [CLS] and [SEP]; and whether the text was longer than ``max_tokens``.
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
    """Create the extractor (function from a text to a vector) for the data of a bundle (data folder).

    Args:
        parts: Data of a static extractor or of an ONNX extractor.

    Raises:
        EncoderUnavailable, EncoderFailed: The model cannot run (``OnnxExtractor``).

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
