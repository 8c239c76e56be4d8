"""The public class ``IndexEncoder``, which turns a text into one randomized class label.

A bundle with a static extractor needs only numpy.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np

from textveil.bundle.defaults import DEFAULT_ENCODER_ID, default_encoder
from textveil.bundle.index import IndexBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.opened import Pins
from textveil.bundle.vectors import OnnxParts
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.distribution import Distribution
from textveil.mechanisms.integer_sampling import uniform_below
from textveil.mechanisms.staircase import staircase_channel
from textveil.sequences import require_string
from textveil.vector.batch import release_each
from textveil.vector.extractor import Notes, extractor_of
from textveil.vector.index_statement import IndexStatement
from textveil.vector.onnx_session import require_pin

#: Digits of the bundle's content hash in a released line.
IDENTITY_DIGITS = 12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class IndexRelease:
    """A released class label with its privacy statement.

    Attributes:
        index: The randomized class label or cluster label, from 0.
        statement: Epsilon per text, and limits of the protection.
        notes: Remarks for the device alone; never part of the release.
        sentence: The public sentence to release in place of the index; ``None`` to release the index itself.
    """

    index: int
    statement: IndexStatement
    notes: Notes
    sentence: str | None = None

    @property
    def line(self) -> str:
        """Return the line to send: index or sentence, bundle, epsilon and randomizer, with tabs.

        The bundle is given by the first ``IDENTITY_DIGITS`` digits of its content hash. With an index the line has at
        most 60 bytes.
        """
        said = self.statement
        released = self.index if self.sentence is None else self.sentence
        return f"{released}\t{said.bundle[:IDENTITY_DIGITS]}\t{said.epsilon}\t{said.channel}"

    def __str__(self) -> str:
        """Return the line to send."""
        return self.line

    def __repr__(self) -> str:
        """Return mechanism and epsilon on one line, without the released index and the notes."""
        return f"<{type(self).__name__}, {self.statement.mechanism}: {self.statement.whole_text}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the notes are left out."""
        sentence = {} if self.sentence is None else {"sentence": self.sentence}
        return {"index": self.index, **sentence, "line": self.line, "statement": self.statement.to_dict()}


class IndexEncoder:
    """Offline encoder of text as class labels under local differential privacy.

    Instances hold no random state and are safe to share between threads. After a fork, load a new one.

    Args:
        bundle: An opened bundle of an index. A bundle with a model must be pinned, since the encoder runs the model.

    Raises:
        EncoderUnavailable, EncoderFailed: The bundle has a model that cannot run here.
        ModelNotPinned: The bundle has a model, and the caller pinned neither its content hash nor its signer.
    """

    kind: ClassVar[str] = "index"

    def __init__(self, bundle: IndexBundle) -> None:
        if isinstance(bundle.extractor, OnnxParts):
            require_pin(bundle)
        self.bundle = bundle
        self._extractor = extractor_of(bundle.extractor)

    @classmethod
    def load(cls, path: str | Path | None = None, **pins: Unpack[Pins]) -> "IndexEncoder":
        """Open a bundle of an index; check every file and every randomizer.

        A bundle with a model requires a pin: ``expect_id`` or ``maker``. A bundle with a static extractor does not.

        Args:
            path: Folder of the bundle; by default the repository's default encoder, whose content hash is pinned.
            pins: Requirements on the bundle (``Pins``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge, WrongBundle, ModelRefused: The bundle is
                unusable.
            IdentityMismatch, NotTheMaker: The bundle does not meet a pin.
            ModelNotPinned: The bundle has a model, and neither ``expect_id`` nor ``maker`` is given; the message has
                the content hash.
            CryptoUnavailable: A signer is given, and the extra ``crypto`` is not installed.
            EncoderUnavailable, EncoderFailed: See the class.
        """
        if path is None and pins.get("expect_id") is None:
            pins = {**pins, "expect_id": DEFAULT_ENCODER_ID}
        bundle = open_bundle(default_encoder() if path is None else Path(path), IndexBundle, **pins)
        return cls(bundle)

    def encode(
        self, text: str, *, epsilon: float | str | None = None, channel: str | None = None, as_text: bool = False
    ) -> IndexRelease:
        """Release one randomized class label for one text.

        The extractor computes a vector ``v``; the text's class label is the position of the largest entry of ``W v +
        c``. The index is drawn from the row of that label in the randomizer's matrix.

        Args:
            text: Any string; may be empty.
            epsilon: Epsilon per text, exactly one of the randomizer's; by default the bundle's default.
            channel: Randomizer, ``counts`` or ``accuracy``; by default the bundle's default.
            as_text: Whether to release a uniformly drawn public sentence of the index in its place.

        Returns:
            The index with its privacy statement.

        Raises:
            UnknownLevel: The bundle lacks this randomizer or epsilon.
            OptionError: ``as_text`` is true, and the bundle has no sentences.
            InputError: ``text`` is not a string.

        Privacy:
            For any two texts, the probabilities of every index differ by a factor of at most ``exp(epsilon)``. Empty
            and too long texts, and texts on which the extractor fails, also have a class label and a release, because a
            missing release would distinguish them from all others. Every call draws anew, and epsilons add up. A
            sentence is a function of the index and of new randomness: the same epsilon holds for the choice among all
            sentences.
        """
        require_string(text)
        statement = self.statement(epsilon=epsilon, channel=channel, as_text=as_text)
        code, notes = self._code(text)
        index = int(statement.staircase.draw(np.array([code]), entropy.random_uint64)[0])
        return IndexRelease(
            index=index, statement=statement, notes=notes, sentence=self._sentence(index) if as_text else None
        )

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        epsilon: float | str | None = None,
        channel: str | None = None,
        as_text: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> list[IndexRelease]:
        """Release one index per text; other arguments, errors and privacy are those of ``encode``.

        Args:
            texts: The texts.
            epsilon: As in ``encode``.
            channel: As in ``encode``.
            as_text: As in ``encode``.
            progress: Called after each text with the number of finished texts.
        """
        options: dict[str, Any] = {"epsilon": epsilon, "channel": channel, "as_text": as_text}
        return release_each(texts, lambda text: self.encode(text, **options), progress)

    def statement(
        self, *, epsilon: float | str | None = None, channel: str | None = None, as_text: bool = False
    ) -> IndexStatement:
        """Return the privacy statement of a call with these options, without drawing.

        Raises:
            UnknownLevel: The bundle lacks this randomizer or epsilon.
            OptionError: ``as_text`` is true, and the bundle has no sentences.
        """
        level, sentences = self.bundle.level(channel, epsilon), sum(map(len, self.bundle.sentences))
        if as_text and not sentences:
            raise OptionError("this bundle has no sentences: textveil-export sentences makes one that has")
        return IndexStatement(level, self.bundle.identity, sentences if as_text else 0)

    def canonical_options(self, *, as_text: bool = False, **options: Any) -> dict[str, Any]:
        """Return all parameters of the output distribution, with the bundle's content hash."""
        said = self.statement(as_text=as_text, **options)
        text = {"as_text": True} if as_text else {}
        return {"channel": said.channel, "epsilon": said.epsilon, "bundle": said.bundle, **text}

    def distribution(
        self, label: str, *, epsilon: float | str | None = None, channel: str | None = None
    ) -> Distribution:
        """Return the exact output distribution of texts with one class label, without drawing.

        Args:
            label: Name of the class label.
            epsilon: As in ``encode``.
            channel: As in ``encode``.

        Raises:
            OptionError: The bundle has no class label of this name.
            UnknownLevel: The bundle lacks this randomizer or epsilon.
        """
        labels = self.bundle.labels
        if label not in labels:
            raise OptionError("no code has that label")
        staircase = self.bundle.level(channel, epsilon)
        return Distribution.of(labels, staircase_channel(staircase), labels.index(label))

    def pack(self, release: IndexRelease) -> dict[str, Any]:
        """Serialize a release as plain values for JSON; ``unpack`` restores it."""
        return {"index": release.index, "notes": list(astuple(release.notes)), "sentence": release.sentence}

    def unpack(self, packed: dict[str, Any], **options: Any) -> IndexRelease:
        """Restore a release from the result of ``pack`` and the options of its call."""
        notes = Notes(*packed["notes"])
        return IndexRelease(
            index=packed["index"], statement=self.statement(**options), notes=notes, sentence=packed.get("sentence")
        )

    def secret_code(self, text: str) -> int:
        """Return the class label of a text before randomization, for measurements on public text.

        Raises:
            InputError: ``text`` is not a string.

        Privacy:
            The result has no protection.
        """
        require_string(text)
        return self._code(text)[0]

    def _sentence(self, index: int) -> str:
        """Draw one of the sentences of an index, independently of the text."""
        sentences = self.bundle.sentences[index]
        return sentences[int(uniform_below(np.array([len(sentences)]), entropy.random_uint64)[0])]

    def _code(self, text: str) -> tuple[int, Notes]:
        with np.errstate(all="ignore"):  # a warning would reveal information about the text
            found = self._extractor.extract(text)
            notes = found.notes
            vector = np.zeros_like(found.vector) if notes.fixed_point else found.vector
            scores = self.bundle.weight @ vector + self.bundle.bias
        return int(np.argmax(scores)), notes
