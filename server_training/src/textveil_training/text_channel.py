"""A bundle with one set of options as a channel from tokens to tokens: what was read, what came out, how likely it was.

This is what training on, and attacking, sanitised text need beside the text itself: which token became which. The
device never keeps that pairing; here it is made from public text, or from text that is the caller's own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import Bundle
from textveil.default_bundle import DEFAULT_BUNDLE
from textveil.errors import OptionError
from textveil.mechanisms import WeightedLaw
from textveil.plan import Options, make_plan
from textveil.segmentation import segments
from textveil.words import Lexicon

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text, as the mechanism sees them.

    Attributes:
        inputs: Input ids, ``<unk>`` last, shape ``(n,)``.
        whole: Whether each is a word in one piece, shape ``(n,)``.
        spelled: What the text has in the place of each, in lower case, also of unknown words.
    """

    inputs: Ids = field(repr=False)
    whole: NDArray[np.bool_] = field(repr=False)
    spelled: tuple[str, ...] = field(repr=False)


class TextChannel:
    """One law of a bundle, token by token.

    Args:
        bundle: Folder of a bundle; the built-in English one if left out.
        options: As in ``Sanitizer.sanitize``.

    Attributes:
        bundle: The bundle.
        plan: What the options come to; ``plan.terms`` is what a statement says.

    Raises:
        BundleError, OptionError: As ``Sanitizer.load`` and ``Sanitizer.sanitize``.
    """

    def __init__(self, bundle: Path | None = None, **options: Unpack[Options]) -> None:
        self.bundle = Bundle(DEFAULT_BUNDLE if bundle is None else bundle)
        self._lexicon = Lexicon(self.bundle)
        self.plan = make_plan(self.bundle, self._lexicon, **options)

    @property
    def pieces(self) -> bool:
        """Whether tokens are WordPieces, written ``##`` inside a word."""
        return self.bundle.tokens == "wordpiece"

    @property
    def unknown(self) -> int:
        """Input id of ``<unk>``; it is never an output."""
        return self.bundle.table.symbols

    def read(self, text: str) -> Tokens:
        """The tokens of a text."""
        inputs: list[int] = []
        whole: list[bool] = []
        spelled: list[str] = []
        for segment in segments(text):
            word = self._lexicon.word(segment, strict=self.plan.terms.strict, carry_case=False)
            inputs += word.inputs
            whole += [word.whole] * len(word.inputs)
            if len(word.inputs) == 1:
                spelled.append(segment.lower())
            else:
                spelled += [self.spell(token) for token in word.inputs]
        return Tokens(np.array(inputs, np.int64), np.array(whole, bool), tuple(spelled))

    def draw(self, texts: Sequence[Tokens]) -> list[Ids]:
        """Output ids of some texts, drawn afresh: what ``Sanitizer.sanitize`` would write.

        Privacy:
            A release of every text.
        """
        if not texts:
            return []
        inputs = np.concatenate([text.inputs for text in texts])
        outputs = self.plan.draw(inputs, np.concatenate([text.whole for text in texts]))
        return np.split(outputs, np.cumsum([len(text.inputs) for text in texts])[:-1])

    def spell(self, token: int) -> str:
        """A symbol as the vocabulary has it; ``<unk>`` for the unknown word."""
        return "<unk>" if token == self.unknown else self.bundle.vocabulary[token]

    def likelihoods(self, outputs: Iterable[int]) -> Floats:
        """``Pr[M(x) = y]`` for all inputs and some outputs, the coin of common words included.

        Args:
            outputs: Output ids y, n of them.

        Returns:
            Shape ``(symbols + 1, n)``, rows by input id, ``<unk>`` last. Of a word in one piece: parts of a word
            are never kept by the coin.

        Raises:
            OptionError: The mechanism has no table of weights (``fbdd``).
        """
        law = self.plan.law
        if not isinstance(law, WeightedLaw):
            raise OptionError(f"{self.plan.terms.mechanism} has no table of weights: its law is known from draws only")
        columns = np.fromiter(outputs, np.int64)
        found = np.empty((self.unknown + 1, len(columns)), np.float32)
        for token in range(self.unknown + 1):
            weights = law.weights_of(token)
            found[token] = weights[columns] / weights.sum(dtype=np.float64)
        if self.plan.coin is not None:
            kept = 1 - self.plan.coin.threshold / 2**64
            keepable = np.flatnonzero(self.plan.keepable)
            found[keepable] *= 1 - kept
            found[columns, np.arange(len(columns))] += np.where(self.plan.keepable[columns], kept, 0)
        return found
