"""SanText+ (Yue et al. 2021, Algorithm 2): the coin that keeps common words, and what it costs (Theorem 2).

Sensitive words are drawn by SanText over the sensitive outputs. A common word is kept with probability ``1 - p``, else
drawn in the same way. Proof: docs/proofs/santext-plus.md.
"""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms.baselines.santext import CappedSanText, ExactSanText
from textveil.mechanisms.channel import ScoreChannel
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.protocol import Slots, Unordered


@dataclass(frozen=True)
class ReplacementCoin:
    """SanText+'s coin for common words: replaced when a random 64-bit word is below ``threshold``.

    Attributes:
        threshold: An integer in ``[1, 2**64]``; the probability of replacement is ``threshold / 2**64``, exactly.
    """

    threshold: int

    @classmethod
    def of(cls, probability: str | float | Fraction) -> "ReplacementCoin":
        """Returns the coin of probability ``p``, rounded up to a multiple of 2**-64.

        Raises:
            OptionError: ``p`` is not a number in ``(0, 1]``.
        """
        try:
            exact = probability if isinstance(probability, Fraction) else Decimal(str(probability))
            in_range = 0 < exact <= 1
        except InvalidOperation:
            raise OptionError("the replacement probability is not a number") from None
        if not in_range:
            raise OptionError("the replacement probability must be above 0 and at most 1")
        if exact < 2**-64:  # before an exponent of any size becomes an integer of that size
            return cls(1)
        return cls(math.ceil(Fraction(exact) * 2**64))

    def replaced(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Tells which of the coins, one random word each, say that the common word is replaced."""
        if self.threshold == 2**64:
            return np.ones(len(words), dtype=bool)
        return words < np.uint64(self.threshold)


def mixture_epsilon(coin: ReplacementCoin) -> float:
    """Computes SanText+'s ``epsilon_0 = ln(1/p)`` (Theorem 2) of the realized coin, rounded up to six decimals."""
    with localcontext(prec=50, rounding=ROUND_CEILING):
        exact = (Decimal(2**64) / coin.threshold).ln()
        return float(exact.quantize(Decimal("1e-6"), rounding=ROUND_CEILING))


@dataclass(frozen=True, eq=False)
class SanTextPlus(Unordered):
    """SanText+ as a mechanism: coins of common words first, then draws for the words that are replaced.

    Attributes:
        law: SanText over the sensitive outputs.
        coin: The coin of common words.
        keepable: Which inputs it may keep, ``<unk>`` last, shape ``(symbols + 1,)``.
    """

    law: CappedSanText | ExactSanText
    coin: ReplacementCoin
    keepable: NDArray[np.bool_]

    def draw(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Implements ``Mechanism.draw``. Words in one piece alone may be kept.

        A secret that is cut into frequent pieces would come back piece by piece.

        Privacy:
            Number and order of the random words: one for every word that may be kept, then those of the draws.
        """
        replaced = np.ones(len(inputs), dtype=bool)
        common = np.flatnonzero(self.keepable[inputs] & slots.whole)
        replaced[common] = self.coin.replaced(random_uint64(len(common)))
        drawn = np.flatnonzero(replaced)
        outputs = inputs.copy()
        outputs[drawn] = self.law.draw(inputs[drawn], random_uint64)
        return outputs

    @cached_property
    def channel(self) -> ScoreChannel:
        """The output distribution of every input that is a word in one piece, the coin of common words included."""
        return replace(self.law.channel, keepable=self.keepable, kept_of_2_64=2**64 - self.coin.threshold)

    def channel_at(self, *, lower: bool = False, whole: bool = True) -> ScoreChannel:
        """Implements ``Mechanism.channel_at``: what is no word in one piece is never kept."""
        return self.channel if whole else self.channel.drawn
