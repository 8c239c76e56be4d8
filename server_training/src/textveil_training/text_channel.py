"""A bundle with one set of options as a channel from tokens to tokens: what was read, what came out, how likely it was.

This is what training on, and attacking, sanitised text need beside the text itself: which token became which. The
device never keeps that pairing; here it is made from public text, or from text that is the caller's own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import DEFAULT_BUNDLE, Bundle
from textveil.errors import OptionError
from textveil.mechanisms import WeightedMechanism
from textveil.text import Lexicon, Options, make_plan, segments

from textveil_training.likelihoods import Columns, Doubles, columns_of

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text, as the mechanism sees them.

    Attributes:
        inputs: Input ids, ``<unk>`` last, shape ``(n,)``.
        whole: Whether each is a word in one piece, shape ``(n,)``.
        spelled: What the text has in the place of each, in lower case, also of unknown words.
        gaps: What stands before each and after the last, and passes through as it is: ``n + 1`` strings.
    """

    inputs: Ids = field(repr=False)
    whole: NDArray[np.bool_] = field(repr=False)
    spelled: tuple[str, ...] = field(repr=False)
    gaps: tuple[str, ...] = field(repr=False)


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
        gaps = [""]
        for segment in segments(text):
            word = self._lexicon.word(
                segment, sanitize_punctuation=self.plan.terms.sanitize_punctuation, carry_case=False
            )
            if not word.inputs:
                gaps[-1] += segment
            gaps += [""] * len(word.inputs)
            inputs += word.inputs
            whole += [word.whole] * len(word.inputs)
            if len(word.inputs) == 1:
                spelled.append(segment.lower())
            else:
                spelled += [self.spell(token) for token in word.inputs]
        return Tokens(np.array(inputs, np.int64), np.array(whole, bool), tuple(spelled), tuple(gaps))

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

    @cached_property
    def columns(self) -> Columns:
        """The weights of the law by output, the coin left out; made once, totals when first asked for.

        Raises:
            OptionError: The mechanism has no table of weights (``fbdd``).
        """
        law = self.plan.mechanism
        if not isinstance(law, WeightedMechanism):
            raise OptionError(f"{self.plan.terms.mechanism} has no table of weights: its law is known from draws only")
        return columns_of(law, self.unknown + 1)

    def likelihood_blocks(self, outputs: Ids, *, whole: bool = True) -> Iterator[tuple[Ids, Doubles]]:
        """``Pr[M(x) = y]`` for all inputs, the coin of common words included, a block of outputs at a time.

        Args:
            outputs: Output ids y, shape ``(n,)``, in any order.
            whole: Of words in one piece; else of parts of words, which the coin never keeps.

        Yields:
            Some of the outputs, in their order, and their likelihoods, shape ``(block, symbols + 1)``; inputs by id,
            ``<unk>`` last.

        Raises:
            OptionError: The mechanism has no table of weights (``fbdd``).
        """
        factors = 1 / self.columns.totals
        kept = 0.0
        if self.plan.coin is not None and whole:
            kept = 1 - self.plan.coin.threshold / 2**64
            factors[self.plan.keepable] *= 1 - kept
        for part, weights in self.columns.blocks(outputs):
            weights *= factors
            weights[np.arange(len(part)), part] += np.where(self.plan.keepable[part], kept, 0)
            yield part, weights

    def likelihoods(self, outputs: Iterable[int], *, whole: bool = True) -> Floats:
        """``Pr[M(x) = y]`` for all inputs and some outputs, the coin of common words included.

        Args:
            outputs: Output ids y, n of them.
            whole: Of words in one piece; else of parts of words, which the coin never keeps.

        Returns:
            Shape ``(symbols + 1, n)``, rows by input id, ``<unk>`` last; four bytes each.

        Raises:
            OptionError: The mechanism has no table of weights (``fbdd``).
        """
        columns = np.fromiter(outputs, np.int64)
        found = np.empty((len(columns), self.unknown + 1), np.float32)
        done = 0
        for part, block in self.likelihood_blocks(columns, whole=whole):
            found[done : done + len(part)] = block
            done += len(part)
        return found.T
