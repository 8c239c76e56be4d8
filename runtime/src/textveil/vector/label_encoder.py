"""Public class of the encoder that returns one randomized class label for a text.

For a bundle with a static extractor, the encoder needs only numpy.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np

from textveil.arguments import check_string
from textveil.bundle.defaults import DEFAULT_ENCODER_ID, find_default_encoder
from textveil.bundle.files import ExpectedBundle
from textveil.bundle.label_bundle import LabelBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.vector_bundle import OnnxExtractorData
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.distribution import OutputDistribution
from textveil.mechanisms.entropy import draw_uniform_below
from textveil.mechanisms.staircase import make_staircase_randomizer
from textveil.vector.batch import release_texts
from textveil.vector.extractor import EncodingNotes, make_extractor
from textveil.vector.label_statement import LabelStatement
from textveil.vector.onnx_session import check_expected

#: Number of digits of the bundle's content hash in a released line.
HASH_DIGITS = 12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LabelRelease:
    """A randomized class label of a text with its privacy statement.

    Attributes:
        label_id: Index of the randomized class label or cluster label, from 0.
        statement: Privacy statement: epsilon per text, and limits of the protection.
        notes: Private remarks for the user of the device. Do not publish them.
        sentence: Public sentence to send in place of the label; ``None`` if the label itself is to be sent.

    Example:
        >>> release = TextLabelEncoder.load().encode("Stocks fell on Friday.", epsilon=4)
        >>> release
        <LabelRelease, class label (counts): epsilon 4 for the whole text (any two texts)>
        >>> label_id, bundle, epsilon, randomizer = release.line.split()
        >>> epsilon, randomizer
        ('4', 'counts')
    """

    label_id: int
    statement: LabelStatement
    notes: EncodingNotes
    sentence: str | None = None

    @property
    def line(self) -> str:
        """Return the line to send: label or sentence, bundle, epsilon and randomizer, separated by tabs.

        A label is written as its index, and the bundle (data folder) as the first ``HASH_DIGITS`` digits of its content
        hash. The randomizer is the name of the output distribution, such as ``counts``. A line without a sentence has
        at most 60 bytes.
        """
        said = self.statement
        released = self.label_id if self.sentence is None else self.sentence
        return f"{released}\t{said.bundle[:HASH_DIGITS]}\t{said.epsilon}\t{said.randomizer}"

    def __str__(self) -> str:
        """Return the line to send (``line``): label or sentence, hash of the bundle, epsilon and randomizer."""
        return self.line

    def __repr__(self) -> str:
        """Return a line with the mechanism and the epsilon, but without the class label and the notes."""
        return f"<{type(self).__name__}, {self.statement.mechanism}: {self.statement.whole_text}>"

    def to_dict(self) -> dict[str, Any]:
        """Return ``label_id``, ``line`` and ``statement`` as a dictionary for JSON, without the private notes."""
        sentence = {} if self.sentence is None else {"sentence": self.sentence}
        return {"label_id": self.label_id, **sentence, "line": self.line, "statement": self.statement.to_dict()}


class TextLabelEncoder:
    """Offline encoder that returns a randomized class label for a text, under local differential privacy.

    Several threads may share an encoder, because it has no random state. After a fork, load a new encoder.

    Args:
        bundle: An opened label bundle (folder with parameters and perhaps a model). If it has a model, its content hash
            or its signer must have been stated when it was opened, because the encoder runs the model.

    Raises:
        EncoderUnavailable, EncoderFailed: The bundle has a model that cannot run on this device.
        ModelNotExpected: The bundle has a model, but neither its content hash nor its signer was stated.

    Example:
        >>> encoder = TextLabelEncoder.load()
        >>> encoder.bundle.labels
        ('Business', 'Sci/Tech', 'Sports', 'World')
        >>> release = encoder.encode("Stocks fell on Friday.", epsilon=4)
        >>> release.label_id in range(4)
        True
        >>> print(release.statement.whole_text)
        epsilon 4 for the whole text (any two texts)
    """

    kind: ClassVar[str] = "labels"

    def __init__(self, bundle: LabelBundle) -> None:
        if isinstance(bundle.extractor, OnnxExtractorData):
            check_expected(bundle)
        self.bundle = bundle
        self._extractor = make_extractor(bundle.extractor)

    @classmethod
    def load(cls, path: str | Path | None = None, **pins: Unpack[ExpectedBundle]) -> "TextLabelEncoder":
        """Open a label bundle (folder with parameters), and check every file and every output distribution.

        ``expect_id`` or ``signer`` is required for a bundle with an ONNX model, but not for one with a static
        extractor, which is a table of word vectors.

        Args:
            path: Folder of the bundle; by default the default encoder of the repository, with its content hash.
            pins: Requirements on the bundle (``ExpectedBundle``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge, WrongBundle, ModelRefused: The bundle is
                unusable.
            ContentHashMismatch, WrongSigner: The bundle does not have the expected content hash or signer.
            ModelNotExpected: The bundle has a model, but neither ``expect_id`` nor ``signer`` is given. The message
                contains the content hash.
            CryptoUnavailable: A signer is given, and the extra ``crypto`` is not installed.
            EncoderUnavailable, EncoderFailed: The bundle has a model that cannot run on this device.
        """
        if path is None and pins.get("expect_id") is None:
            pins = {**pins, "expect_id": DEFAULT_ENCODER_ID}
        bundle = open_bundle(find_default_encoder() if path is None else Path(path), LabelBundle, **pins)
        return cls(bundle)

    def encode(
        self, text: str, *, epsilon: float | str | None = None, randomizer: str | None = None, as_text: bool = False
    ) -> LabelRelease:
        """Return one randomized class label for one text, with its privacy statement.

        The extractor computes a vector of the text. The linear classifier of the bundle (data folder) computes a score
        of each class label from the vector. The label with the largest score is the true label of the text. The
        returned label is sampled from the output distribution of the randomizer (random replacement of labels) for this
        true label.

        Args:
            text: Any string, which may be empty.
            epsilon: Epsilon per text, which must be one of the randomizer's epsilons; by default the bundle's default.
            randomizer: Name of the randomizer, ``counts`` or ``accuracy``; by default the bundle's default.
            as_text: Whether to return, in place of the class label, one of its public sentences, sampled uniformly.

        Returns:
            The class label with its privacy statement.

        Raises:
            UnknownLevel: The bundle lacks this randomizer or epsilon.
            OptionError: ``as_text`` is true, and the bundle has no sentences.
            InputError: ``text`` is not a string.

        Privacy:
            For any two texts, the probabilities of every class label differ by a factor of at most ``exp(epsilon)``.
            Empty texts, too long texts, and texts for which the extractor fails also get a class label, because a
            missing output would distinguish them from all other texts. Every call samples a new label, and the epsilons
            of several calls add up. A sentence depends only on the randomized label and on new randomness, so the same
            epsilon holds for sentences.
        """
        check_string(text)
        statement = self.statement(epsilon=epsilon, randomizer=randomizer, as_text=as_text)
        code, notes = self._compute_label(text)
        index = int(statement.staircase.draw_symbols(np.array([code]), entropy.random_uint64)[0])
        return LabelRelease(
            label_id=index, statement=statement, notes=notes, sentence=self._draw_sentence(index) if as_text else None
        )

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        epsilon: float | str | None = None,
        randomizer: str | None = None,
        as_text: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> list[LabelRelease]:
        """Return one randomized class label for each text. See ``encode`` for the errors and the privacy.

        Args:
            texts: The texts.
            epsilon: Epsilon per text (``encode``).
            randomizer: Name of the randomizer (``encode``).
            as_text: Whether to return a sentence in place of the class label (``encode``).
            progress: Function to call after each text, with the number of finished texts; or ``None``.
        """
        options: dict[str, Any] = {"epsilon": epsilon, "randomizer": randomizer, "as_text": as_text}
        return release_texts(texts, lambda text: self.encode(text, **options), progress)

    def statement(
        self, *, epsilon: float | str | None = None, randomizer: str | None = None, as_text: bool = False
    ) -> LabelStatement:
        """Return the privacy statement of labels that ``encode`` returns with these options, without encoding a text.

        Raises:
            UnknownLevel: The bundle (data folder) lacks this randomizer or epsilon.
            OptionError: ``as_text`` is true, and the bundle has no sentences.
        """
        level, sentences = self.bundle.get_randomizer(randomizer, epsilon), sum(map(len, self.bundle.sentences))
        if as_text and not sentences:
            raise OptionError("this bundle has no sentences: add them with textveil-export sentences")
        return LabelStatement(level, self.bundle.content_hash, sentences if as_text else 0)

    def canonical_options(self, *, as_text: bool = False, **options: Any) -> dict[str, Any]:
        """Return all parameters of the output distribution, including the content hash of the bundle (data folder).

        Calls with equal parameters have the same output distribution.
        """
        statement = self.statement(as_text=as_text, **options)
        text = {"as_text": True} if as_text else {}
        return {"randomizer": statement.randomizer, "epsilon": statement.epsilon, "bundle": statement.bundle, **text}

    def distribution(
        self, label: str, *, epsilon: float | str | None = None, randomizer: str | None = None
    ) -> OutputDistribution:
        """Return the exact output distribution for texts with a given true class label.

        Args:
            label: Name of the true class label.
            epsilon: Epsilon per text (``encode``).
            randomizer: Name of the randomizer (``encode``).

        Raises:
            OptionError: The bundle (data folder) has no class label of this name.
            UnknownLevel: The bundle lacks this randomizer or epsilon.
        """
        labels = self.bundle.labels
        if label not in labels:
            raise OptionError("the bundle has no label of this name: choose one of its attribute `labels`")
        staircase = self.bundle.get_randomizer(randomizer, epsilon)
        return OutputDistribution.from_randomizer(labels, make_staircase_randomizer(staircase), labels.index(label))

    def pack(self, release: LabelRelease) -> dict[str, Any]:
        """Convert a randomized label to a dictionary with the keys ``label_id``, ``notes`` and ``sentence``, for JSON.

        The method ``unpack`` converts the dictionary back.
        """
        return {"label_id": release.label_id, "notes": list(astuple(release.notes)), "sentence": release.sentence}

    def unpack(self, packed: dict[str, Any], **options: Any) -> LabelRelease:
        """Convert the result of ``pack`` back to a randomized label with its privacy statement.

        Args:
            packed: The result of ``pack``.
            options: The options of the call of ``encode``.
        """
        notes = EncodingNotes(*packed["notes"])
        return LabelRelease(
            label_id=packed["label_id"],
            statement=self.statement(**options),
            notes=notes,
            sentence=packed.get("sentence"),
        )

    def compute_true_label(self, text: str) -> int:
        """Compute the class label of a text, without randomizing it. Use this only for measurements on public text.

        Raises:
            InputError: ``text`` is not a string.

        Privacy:
            The result has no protection.
        """
        check_string(text)
        return self._compute_label(text)[0]

    def _draw_sentence(self, index: int) -> str:
        """Sample one of the public sentences of a randomized class label, independently of the text."""
        sentences = self.bundle.sentences[index]
        return sentences[int(draw_uniform_below(np.array([len(sentences)]), entropy.random_uint64)[0])]

    def _compute_label(self, text: str) -> tuple[int, EncodingNotes]:
        with np.errstate(all="ignore"):  # a warning would reveal information about the text
            extracted = self._extractor.extract_vector(text)
            notes = extracted.notes
            vector = np.zeros_like(extracted.vector) if notes.is_zero_vector else extracted.vector
            scores = self.bundle.weight @ vector + self.bundle.bias
        return int(np.argmax(scores)), notes
