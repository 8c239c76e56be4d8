"""Public class of the encoder that returns a short noisy vector for a text.

The noise protects the whole text. The package onnxruntime is imported only when an encoder is loaded.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from textveil.arguments import check_string
from textveil.bundle.files import ExpectedBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.vector_bundle import VectorBundle
from textveil.errors import OptionError
from textveil.mechanisms.noise.parameters import WordDropout
from textveil.mechanisms.noise.vector import VectorReleaser
from textveil.vector.batch import release_texts
from textveil.vector.extractor import EncodingNotes, OnnxExtractor
from textveil.vector.onnx_session import check_expected
from textveil.vector.statement import VectorStatement, make_vector_statement

MAX_THREADS = 2

_MAX_PLANS = 16


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VectorRelease:
    """A noisy vector of a text with its privacy statement.

    Attributes:
        vector: The noisy vector, float32, shape ``(dimension,)``.
        integers: The sampled vector before scaling, as integers, int64, shape ``(dimension,)``.
        statement: Privacy statement: mode, epsilons, delta, and limits of the protection.
        notes: Private remarks for the user of the device. Do not publish them.

    Example:
        >>> encoder = Encoder.load("my-encoder", expect_id=open_bundle(Path("my-encoder")).content_hash)
        >>> release = encoder.encode("The doctor said so.", epsilon=4)
        >>> release
        <VectorRelease, vector l1: epsilon 4 for the whole text (any two texts)>
        >>> sorted(release.to_dict())
        ['integers', 'statement', 'vector']
    """

    vector: NDArray[np.float32]
    integers: NDArray[np.int64]
    statement: VectorStatement
    notes: EncodingNotes

    @property
    def line(self) -> str:
        """Return the vector as one line of output: its numbers, separated by tabs."""
        return "\t".join(map(repr, self.vector.tolist()))

    def __str__(self) -> str:
        """Return the line to send, which has only the numbers of the noisy vector."""
        return self.line

    def __repr__(self) -> str:
        """Return a line with the mechanism, such as ``vector l1``, and the epsilon: no noisy vector, no notes."""
        return f"<{type(self).__name__}, {self.statement.mechanism}: {self.statement.whole_text}>"

    def to_dict(self) -> dict[str, Any]:
        """Return ``vector``, ``integers`` and ``statement`` as a dictionary for JSON, without the private notes."""
        return {
            "vector": self.vector.tolist(),
            "integers": self.integers.tolist(),
            "statement": self.statement.to_dict(),
        }


class Encoder:
    """Offline encoder that returns a noisy vector for a text, under local differential privacy.

    Several threads may share an encoder, because it has no random state. After a fork, load a new encoder.

    Args:
        bundle: An opened vector bundle (folder with a model and parameters). Its content hash or its signer must have
            been stated when it was opened, because the encoder runs the model of the bundle.
        threads: Number of threads that compute one vector, 1 or 2.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or this version may use the network.
        EncoderFailed: onnxruntime cannot run the model, or its vectors have another length than the bundle states.
        OptionError: ``threads`` is out of range.
        ModelNotExpected: Neither the content hash nor the signer was stated when the bundle was opened.

    Example:
        >>> encoder = Encoder.load("my-encoder", expect_id=open_bundle(Path("my-encoder")).content_hash)
        >>> release = encoder.encode("The doctor said so.", epsilon=4)
        >>> release.vector.shape
        (4,)
        >>> print(release.statement.whole_text)
        epsilon 4 for the whole text (any two texts)
    """

    kind: ClassVar[str] = "vector"

    def __init__(self, bundle: VectorBundle, threads: int = 1) -> None:
        if threads not in range(1, MAX_THREADS + 1):
            raise OptionError(f"threads must be from 1 to {MAX_THREADS}")
        check_expected(bundle)
        self.bundle = bundle
        self._plans: dict[object, tuple[VectorReleaser, WordDropout, VectorStatement]] = {}
        self._extractor = OnnxExtractor(bundle.extractor, threads)

    @classmethod
    def load(cls, path: str | Path, *, threads: int = 1, **pins: Unpack[ExpectedBundle]) -> "Encoder":
        """Open a vector bundle (folder with a model and parameters), check every file, and load the model.

        ``expect_id`` or ``signer`` is required, so that no model of an unknown author can run.

        Args:
            path: Folder of a vector bundle.
            threads: Number of threads that compute one vector, 1 or 2.
            pins: Requirements on the bundle (``ExpectedBundle``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge, WrongBundle, ModelRefused: The bundle is
                unusable.
            ContentHashMismatch, WrongSigner: The bundle does not have the expected content hash or signer.
            ModelNotExpected: Neither ``expect_id`` nor ``signer`` is given. The message contains the content hash.
            CryptoUnavailable: A signer is given, and the extra ``crypto`` is not installed.
            EncoderUnavailable, EncoderFailed: The model cannot run (``Encoder``).
            OptionError: ``threads`` is out of range.
        """
        return cls(open_bundle(Path(path), VectorBundle, **pins), threads)

    def encode(
        self, text: str, *, epsilon: float | str | None = None, word_dropout: float | str = "0"
    ) -> VectorRelease:
        """Return one noisy vector for one text, with its privacy statement.

        The text is split into basic tokens, that is, words and punctuation marks. With ``word_dropout``, some basic
        tokens are removed at random. The remaining basic tokens are split into WordPiece tokens. The model computes a
        vector from at most ``max_tokens`` of the WordPiece tokens, including [CLS] and [SEP]. The vector is converted
        to integers and moved into the set of vectors that the mode permits. Then independent noise is added to each
        coordinate (Lyu, He, Li 2020, but with noise for the whole text).

        Args:
            text: Any string, which may be empty.
            epsilon: Epsilon per text, which must be one of the bundle's epsilons; by default the bundle's default.
            word_dropout: Probability of removing each basic token, in ``[0, 1)``. The actual probability is at least
                this number. Word dropout reduces the epsilon per word, but not the epsilon per text.

        Returns:
            The vector with its privacy statement.

        Raises:
            UnknownLevel, OptionError: The bundle (data folder) lacks this epsilon, or ``word_dropout`` is out of range.
            InputError: ``text`` is not a string.

        Privacy:
            For any two texts and any set of outputs, the probabilities differ by a factor of at most ``exp(epsilon)``,
            plus ``delta`` in mode ``l2``. If the model fails for a text, the noise is added to the vector 0, because a
            missing output would distinguish this text from all others. Every call samples new noise. If the same text
            is encoded again, the epsilons and deltas add up.
        """
        check_string(text)
        releaser, dropout, statement = self._get_plan(epsilon, word_dropout)
        extracted = self._extractor.extract_vector(text, dropout.draw_dropped)
        integers = releaser.release_vectors(extracted.vector[None])[0]
        vector = releaser.dequantize_vectors(integers)
        return VectorRelease(vector=vector, integers=integers, statement=statement, notes=extracted.notes)

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        epsilon: float | str | None = None,
        word_dropout: float | str = "0",
        progress: Callable[[int], None] | None = None,
    ) -> list[VectorRelease]:
        """Return one noisy vector for each text, one text after the other.

        The model never runs on several texts at once, because its results would depend on the other texts of the batch.
        See ``encode`` for the errors and the privacy.

        Args:
            texts: The texts.
            epsilon: Epsilon per text (``encode``).
            word_dropout: Probability of removing each basic token (``encode``).
            progress: Function to call after each text, with the number of finished texts; or ``None``.
        """
        return release_texts(
            texts, lambda text: self.encode(text, epsilon=epsilon, word_dropout=word_dropout), progress
        )

    def statement(self, *, epsilon: float | str | None = None, word_dropout: float | str = "0") -> VectorStatement:
        """Return the privacy statement of vectors from ``encode`` with these options, without encoding a text."""
        return self._get_plan(epsilon, word_dropout)[2]

    def canonical_options(
        self, *, epsilon: float | str | None = None, word_dropout: float | str = "0"
    ) -> dict[str, Any]:
        """Return all parameters that determine the output distribution, including the bundle's content hash.

        Calls with equal parameters have the same output distribution.
        """
        return asdict(self.statement(epsilon=epsilon, word_dropout=word_dropout))

    def pack(self, release: VectorRelease) -> dict[str, Any]:
        """Convert a noisy vector to a dictionary with the keys ``integers`` and ``notes``, whose values JSON can store.

        The method ``unpack`` converts the dictionary back.
        """
        return {"integers": release.integers.tolist(), "notes": list(astuple(release.notes))}

    def unpack(
        self, packed: dict[str, Any], *, epsilon: float | str | None = None, word_dropout: float | str = "0"
    ) -> VectorRelease:
        """Convert the result of ``pack`` back to a noisy vector with its privacy statement.

        Args:
            packed: The result of ``pack``.
            epsilon: Epsilon of the call of ``encode``.
            word_dropout: Word dropout of the call of ``encode``.
        """
        releaser, _, statement = self._get_plan(epsilon, word_dropout)
        integers, notes = np.array(packed["integers"], np.int64), EncodingNotes(*packed["notes"])
        vector = releaser.dequantize_vectors(integers)
        return VectorRelease(vector=vector, integers=integers, statement=statement, notes=notes)

    def _get_plan(
        self, epsilon: float | str | None, word_dropout: float | str
    ) -> tuple[VectorReleaser, WordDropout, VectorStatement]:
        parameters, dropout = self.bundle.get_level(epsilon), WordDropout(str(word_dropout))
        key = parameters, dropout
        plan = self._plans.get(key)
        if plan is None:
            statement = make_vector_statement(parameters, dropout.mu, self.bundle.content_hash)
            plan = VectorReleaser(parameters), dropout, statement
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan
