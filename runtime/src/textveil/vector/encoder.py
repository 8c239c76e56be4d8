"""``Encoder``: turns a text into a short vector with noise for all of it. The one class that applications use.

onnxruntime is imported when an encoder is loaded, and not before (``textveil.vector.onnx_session``).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.open import open_bundle
from textveil.bundle.opened import Pins
from textveil.bundle.vectors import VectorBundle
from textveil.errors import OptionError
from textveil.mechanisms.noise.parameters import WordDropout
from textveil.mechanisms.noise.vector import Releaser
from textveil.sequences import require_string
from textveil.vector.batch import release_each
from textveil.vector.extractor import Notes, OnnxExtractor
from textveil.vector.onnx_session import require_pin
from textveil.vector.statement import VectorStatement, vector_statement

MAX_THREADS = 2

_MAX_PLANS = 16


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VectorRelease:
    """A released vector and what it promises.

    Attributes:
        vector: The released vector in units, shape ``(k,)``, float32.
        integers: The same in steps of the grid, as drawn, shape ``(k,)``, int64.
        statement: Mode, epsilons and delta, and what is not protected.
        notes: Remarks for the device alone; not part of the release.
    """

    vector: NDArray[np.float32]
    integers: NDArray[np.int64]
    statement: VectorStatement
    notes: Notes

    @property
    def line(self) -> str:
        """The numbers of the vector, with tabs between."""
        return "\t".join(map(repr, self.vector.tolist()))

    def __str__(self) -> str:
        """Return the line that may be sent, and nothing else."""
        return self.line

    def __repr__(self) -> str:
        """Return the mechanism and the epsilon on one line, without what was released and without remarks."""
        return f"<{type(self).__name__}, {self.statement.mechanism}: {self.statement.whole_text}>"

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        return {
            "vector": self.vector.tolist(),
            "integers": self.integers.tolist(),
            "statement": self.statement.to_dict(),
        }


class Encoder:
    """Turns text into vectors under local differential privacy, offline, with the model of one bundle.

    Safe to share between threads: it holds no random state. After a fork, load it anew.

    Args:
        bundle: An opened bundle of vectors. Its model is run, so it must be pinned.
        threads: How many threads compute one vector, 1 or 2.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or not known to stay offline.
        EncoderFailed: onnxruntime does not run the model.
        OptionError: ``threads`` is out of range.
        ModelNotPinned: Neither the bundle's identity nor its maker was named when it was opened.
    """

    kind: ClassVar[str] = "vector"

    def __init__(self, bundle: VectorBundle, threads: int = 1) -> None:
        if threads not in range(1, MAX_THREADS + 1):
            raise OptionError(f"an encoder runs on 1 to {MAX_THREADS} threads")
        require_pin(bundle)
        self.bundle = bundle
        self._plans: dict[object, tuple[Releaser, WordDropout, VectorStatement]] = {}
        self._extractor = OnnxExtractor(bundle.extractor, threads)

    @classmethod
    def load(cls, path: str | Path, *, threads: int = 1, **pins: Unpack[Pins]) -> "Encoder":
        """Opens an encoder bundle: hashes and structure of every file, and all of its model, are checked first.

        A model runs only if the caller pins it: one of ``expect_id`` and ``maker`` must be given.

        Args:
            path: Folder of a bundle of vectors.
            threads: How many threads compute one vector, 1 or 2.
            pins: What the bundle must be (``Pins``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge, WrongBundle, ModelRefused: It cannot be used.
            IdentityMismatch, NotTheMaker: It is not the one expected.
            ModelNotPinned: Neither ``expect_id`` nor ``maker`` is given; the message has the identity.
            CryptoUnavailable: A maker is given, and the extra ``crypto`` is not installed.
            EncoderUnavailable, EncoderFailed, OptionError: See the class.
        """
        return cls(open_bundle(Path(path), VectorBundle, **pins), threads)

    def encode(
        self, text: str, *, epsilon: float | str | None = None, word_dropout: float | str = "0"
    ) -> VectorRelease:
        """Releases one vector for one text.

        The pieces of the text, with ``word_dropout`` without the words that a coin drops, become
        ``[CLS] pieces [SEP]``, cut at the bundle's ``max_tokens``; the model's vector for them is brought into its
        ball in integers, and every coordinate gets noise of its own (Lyu, He, Li 2020, with noise for the whole text).

        Args:
            text: Any string, also an empty one.
            epsilon: Loss of the whole text, exactly one of the bundle's levels; its default if left out.
            word_dropout: Probability ``mu`` in ``[0, 1)`` with which each word is removed before it is encoded. Lowers
                the epsilon of one word; that of the whole text stays.

        Returns:
            The vector with its statement.

        Raises:
            UnknownLevel, OptionError: The bundle has no such level, or ``word_dropout`` is out of range.
            InputError: ``text`` is not a string.

        Privacy:
            For any two texts, the probabilities of any set of outputs differ by a factor of at most ``exp(epsilon)``,
            and by ``delta`` on top in mode ``l2``. A model that fails on some texts changes nothing about it: for them
            the fixed point is released, with the same noise, since *no release* would tell them from all others.
            Every call draws afresh: encoding the same text again is a second release, and epsilons and deltas add up.
        """
        require_string(text)
        releaser, dropout, statement = self._plan(epsilon, word_dropout)
        extracted = self._extractor.extract(text, dropout.dropped)
        integers = releaser.release(extracted.vector[None])[0]
        vector = releaser.dequantize(integers)
        return VectorRelease(vector=vector, integers=integers, statement=statement, notes=extracted.notes)

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        epsilon: float | str | None = None,
        word_dropout: float | str = "0",
        progress: Callable[[int], None] | None = None,
    ) -> list[VectorRelease]:
        """Releases a vector for each of many texts, one after the other.

        The model's numbers depend on what else is in a batch, so there are none. Other arguments, errors and privacy
        are those of ``encode``.

        Args:
            texts: The texts.
            epsilon: As in ``encode``.
            word_dropout: As in ``encode``.
            progress: Called after each text with how many are done.
        """
        return release_each(texts, lambda text: self.encode(text, epsilon=epsilon, word_dropout=word_dropout), progress)

    def statement(self, *, epsilon: float | str | None = None, word_dropout: float | str = "0") -> VectorStatement:
        """Returns what a call with these options promises. Nothing is drawn."""
        return self._plan(epsilon, word_dropout)[2]

    def canonical_options(
        self, *, epsilon: float | str | None = None, word_dropout: float | str = "0"
    ) -> dict[str, Any]:
        """Returns all that decides how a call with these options draws, the identity of the bundle included."""
        return asdict(self.statement(epsilon=epsilon, word_dropout=word_dropout))

    def pack(self, release: VectorRelease) -> dict[str, Any]:
        """Returns a release as plain values for JSON, from which ``unpack`` makes it again."""
        return {"integers": release.integers.tolist(), "notes": list(astuple(release.notes))}

    def unpack(
        self, packed: dict[str, Any], *, epsilon: float | str | None = None, word_dropout: float | str = "0"
    ) -> VectorRelease:
        """Returns the release that was packed, drawn with these options."""
        releaser, _, statement = self._plan(epsilon, word_dropout)
        integers, notes = np.array(packed["integers"], np.int64), Notes(*packed["notes"])
        vector = releaser.dequantize(integers)
        return VectorRelease(vector=vector, integers=integers, statement=statement, notes=notes)

    def _plan(
        self, epsilon: float | str | None, word_dropout: float | str
    ) -> tuple[Releaser, WordDropout, VectorStatement]:
        parameters, dropout = self.bundle.level(epsilon), WordDropout(str(word_dropout))
        key = parameters, dropout
        plan = self._plans.get(key)
        if plan is None:
            statement = vector_statement(parameters, dropout.mu, self.bundle.identity)
            plan = Releaser(parameters), dropout, statement
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan
