"""``IndexEncoder``: turns a text into one index that says little of it. numpy alone where the extractor is static."""

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

#: Digits of the identity in a released line.
IDENTITY_DIGITS = 12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class IndexRelease:
    """A released index and what it promises.

    Attributes:
        index: What was drawn, from 0.
        statement: The epsilon of the whole text, and what is not protected.
        notes: Remarks for the device alone; not part of the release.
        sentence: The public sentence that is released in the place of the index; None for the index itself.
    """

    index: int
    statement: IndexStatement
    notes: Notes
    sentence: str | None = None

    @property
    def line(self) -> str:
        """Index or sentence, first digits of the bundle's identity, epsilon and channel, with tabs between.

        With an index it has 60 bytes at most.
        """
        said = self.statement
        released = self.index if self.sentence is None else self.sentence
        return f"{released}\t{said.bundle[:IDENTITY_DIGITS]}\t{said.epsilon}\t{said.channel}"

    def __str__(self) -> str:
        """Return the line that may be sent, and nothing else."""
        return self.line

    def __repr__(self) -> str:
        """Return the mechanism and the epsilon on one line, without what was released and without remarks."""
        return f"<{type(self).__name__}, {self.statement.mechanism}: {self.statement.whole_text}>"

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        sentence = {} if self.sentence is None else {"sentence": self.sentence}
        return {"index": self.index, **sentence, "line": self.line, "statement": self.statement.to_dict()}


class IndexEncoder:
    """Turns text into indices under local differential privacy, offline.

    Safe to share between threads: it holds no random state. After a fork, load it anew.

    Args:
        bundle: An opened bundle. If it has a model, that is run, so the bundle must be pinned.

    Raises:
        EncoderUnavailable, EncoderFailed: The bundle has a model that cannot be run here.
        ModelNotPinned: It has a model, and neither its identity nor its maker was named when it was opened.
    """

    kind: ClassVar[str] = "index"

    def __init__(self, bundle: IndexBundle) -> None:
        if isinstance(bundle.extractor, OnnxParts):
            require_pin(bundle)
        self.bundle = bundle
        self._extractor = extractor_of(bundle.extractor)

    @classmethod
    def load(cls, path: str | Path | None = None, **pins: Unpack[Pins]) -> "IndexEncoder":
        """Opens a bundle: every file and every channel is checked first.

        A bundle with a model is opened only if the caller pins it: by ``expect_id`` or ``maker``. One that needs numpy
        alone need not be pinned.

        Args:
            path: Its folder; the repository's default one if left out (its identity is pinned).
            pins: What the bundle must be (``Pins``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge, WrongBundle, ModelRefused: It cannot be used.
            IdentityMismatch, NotTheMaker: It is not the one expected.
            ModelNotPinned: It has a model, and neither ``expect_id`` nor ``maker`` is given; the message has its
                identity.
            CryptoUnavailable: A maker is given, and the extra ``crypto`` is not installed.
            EncoderUnavailable, EncoderFailed: See the class.
        """
        if path is None and pins.get("expect_id") is None:
            pins = {**pins, "expect_id": DEFAULT_ENCODER_ID}
        bundle = open_bundle(default_encoder() if path is None else Path(path), IndexBundle, **pins)
        return cls(bundle)

    def encode(
        self, text: str, *, epsilon: float | str | None = None, channel: str | None = None, as_text: bool = False
    ) -> IndexRelease:
        """Releases one index for one text.

        The extractor gives a vector ``v``, and the text's code is the largest entry of ``W v + c``. The index is drawn
        from the row of that code in the channel.

        Args:
            text: Any string, also an empty one.
            epsilon: Loss of the whole text, exactly one of the channel's levels; the bundle's default if left out.
            channel: ``counts`` or ``accuracy``; the bundle's default if left out.
            as_text: Release one of the bundle's public sentences of that index, each as likely, in its place.

        Returns:
            The index with its statement.

        Raises:
            UnknownLevel: The bundle has no such channel or level.
            OptionError: ``as_text``, and the bundle has no sentences.
            InputError: ``text`` is not a string.

        Privacy:
            For any two texts, no index is more than ``exp(epsilon)`` times as likely for one as for the other. A text
            that is empty, too long, or that the extractor fails on has a code like any other, and is drawn: *no
            release* would tell it from all others. Every call draws afresh, and epsilons add up. A sentence is drawn
            from the index and fresh randomness alone: the same epsilon holds for which of all sentences it is.
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
        """Releases an index for each of many texts. Other arguments, errors and privacy are those of ``encode``.

        Args:
            texts: The texts.
            epsilon: As in ``encode``.
            channel: As in ``encode``.
            as_text: As in ``encode``.
            progress: Called after each text with how many are done.
        """
        options: dict[str, Any] = {"epsilon": epsilon, "channel": channel, "as_text": as_text}
        return release_each(texts, lambda text: self.encode(text, **options), progress)

    def statement(
        self, *, epsilon: float | str | None = None, channel: str | None = None, as_text: bool = False
    ) -> IndexStatement:
        """Returns what a call with these options promises. Nothing is drawn."""
        level, sentences = self.bundle.level(channel, epsilon), sum(map(len, self.bundle.sentences))
        if as_text and not sentences:
            raise OptionError("this bundle has no sentences: textveil-export sentences makes one that has")
        return IndexStatement(level, self.bundle.identity, sentences if as_text else 0)

    def canonical_options(self, *, as_text: bool = False, **options: Any) -> dict[str, Any]:
        """Returns all that decides how a call with these options draws, the identity of the bundle included."""
        said = self.statement(as_text=as_text, **options)
        text = {"as_text": True} if as_text else {}
        return {"channel": said.channel, "epsilon": said.epsilon, "bundle": said.bundle, **text}

    def distribution(
        self, label: str, *, epsilon: float | str | None = None, channel: str | None = None
    ) -> Distribution:
        """Returns what may be released for a text of one code, with exact probabilities. Nothing is drawn.

        Args:
            label: The label of the code.
            epsilon: As in ``encode``.
            channel: As in ``encode``.

        Raises:
            OptionError: No code has that label.
            UnknownLevel: The bundle has no such channel or level.
        """
        labels = self.bundle.labels
        if label not in labels:
            raise OptionError("no code has that label")
        staircase = self.bundle.level(channel, epsilon)
        return Distribution.of(labels, staircase_channel(staircase), labels.index(label))

    def pack(self, release: IndexRelease) -> dict[str, Any]:
        """Returns a release as plain values for JSON, from which ``unpack`` makes it again."""
        return {"index": release.index, "notes": list(astuple(release.notes)), "sentence": release.sentence}

    def unpack(self, packed: dict[str, Any], **options: Any) -> IndexRelease:
        """Returns the release that was packed, drawn with these options."""
        notes = Notes(*packed["notes"])
        return IndexRelease(
            index=packed["index"], statement=self.statement(**options), notes=notes, sentence=packed.get("sentence")
        )

    def secret_code(self, text: str) -> int:
        """Returns the code of a text before anything is drawn. It has no protection: for measurements on public text.

        Raises:
            InputError: ``text`` is not a string.
        """
        require_string(text)
        return self._code(text)[0]

    def _sentence(self, index: int) -> str:
        """Draws one of the sentences of an index. It sees nothing of the text."""
        sentences = self.bundle.sentences[index]
        return sentences[int(uniform_below(np.array([len(sentences)]), entropy.random_uint64)[0])]

    def _code(self, text: str) -> tuple[int, Notes]:
        with np.errstate(all="ignore"):  # a warning would tell something of the text
            found = self._extractor.extract(text)
            notes = found.notes
            vector = np.zeros_like(found.vector) if notes.fixed_point else found.vector
            scores = self.bundle.weight @ vector + self.bundle.bias
        return int(np.argmax(scores)), notes
