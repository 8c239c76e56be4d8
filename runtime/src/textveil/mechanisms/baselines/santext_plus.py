"""SanText+ (Yue et al. 2021, Algorithm 2): what the coin that keeps common words costs (Theorem 2).

Sensitive words are drawn by SanText over the sensitive outputs. A common word is kept with probability ``1 - p``, else
drawn in the same way. Proof: docs/proofs/santext-plus.md.
"""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, localcontext
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.channel import ScoreChannel
from textveil.mechanisms.coin import ReplacementCoin
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.protocol import Slots


def mixture_epsilon(coin: ReplacementCoin) -> float:
    """Computes SanText+'s ``epsilon_0 = ln(1/p)`` (Theorem 2) of the realized coin, rounded up to six decimals."""
    with localcontext(prec=50, rounding=ROUND_CEILING):
        exact = (Decimal(2**64) / coin.threshold).ln()
        return float(exact.quantize(Decimal("1e-6"), rounding=ROUND_CEILING))


@dataclass(frozen=True, eq=False)
class SanTextPlus:
    """SanText+ as a mechanism: coins of common words first, then draws for the words that are replaced.

    Attributes:
        law: SanText over the sensitive outputs.
        coin: The coin of common words.
        keepable: Which inputs it may keep, ``<unk>`` last, shape ``(symbols + 1,)``.
    """

    law: SanText
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
        """Implements ``Mechanism.channel_at``: what is not a word in one piece is never kept."""
        return self.channel if whole else self.channel.drawn
