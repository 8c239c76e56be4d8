"""SanText+ (Yue et al. 2021, Algorithm 2): SanText that leaves some common words unchanged at random.

SanText replaces each sensitive word at random, with only sensitive words as outputs. For a common word, a coin decides:
with probability ``1 - p`` the word is left unchanged; otherwise SanText replaces the word by a sensitive word too.
Theorem 2 of the paper gives the epsilon of the coin. Proof: docs/proofs/santext-plus.md.
"""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, localcontext
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.coin import ReplacementCoin
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.protocol import Slots
from textveil.mechanisms.randomizer import ScoreRandomizer


def compute_mixture_epsilon(coin: ReplacementCoin) -> float:
    """Return the epsilon that SanText+ adds because it leaves some words unchanged: ``epsilon_0 = ln(1/p)``.

    Here ``p`` is the exact probability with which the coin (random decision) replaces a common word. The equation is
    Theorem 2 of Yue et al. 2021. The result is rounded up to six decimals.

    Example:
        >>> compute_mixture_epsilon(ReplacementCoin.from_probability(1))
        0.0
        >>> round(compute_mixture_epsilon(ReplacementCoin.from_probability("0.5")), 3)
        0.693
    """
    with localcontext(prec=50, rounding=ROUND_CEILING):
        exact = (Decimal(2**64) / coin.threshold).ln()
        return float(exact.quantize(Decimal("1e-6"), rounding=ROUND_CEILING))


@dataclass(frozen=True, eq=False)
class SanTextPlus:
    """The mechanism SanText+ (Yue et al. 2021), which replaces words at random.

    For each common word, a coin (random decision) determines whether the word is left unchanged. All other words are
    replaced by SanText.

    Attributes:
        santext: SanText with only sensitive words as outputs.
        coin: The coin for common words.
        is_keepable: For each input, whether it is a common word, which the coin may leave unchanged; ``<unk>`` is last.
            Shape ``(symbols + 1,)``.

    Example:
        >>> from textveil.bundle import find_artifact, open_bundle
        >>> from textveil.text import make_plan
        >>> bundle = open_bundle(find_artifact("english-santext"))
        >>> plan = make_plan(bundle, mechanism="santext+", replacement_probability="0.5")
        >>> plan.mechanism.coin.threshold == 2**63, bool(plan.mechanism.is_keepable[-1])
        (True, False)
    """

    santext: SanText
    coin: ReplacementCoin
    is_keepable: NDArray[np.bool_]

    def draw_symbols(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Sample one output word for each input word (``Mechanism.draw_symbols``).

        A random decision (the coin) leaves some common words unchanged. It applies to whole words only: if the
        tokenizer splits a secret into frequent parts, unchanged parts could reveal the secret.

        Privacy:
            The coin uses the first random numbers, one for every word that the coin may leave unchanged. SanText uses
            the next ones.
        """
        replaced = np.ones(len(inputs), dtype=bool)
        common = np.flatnonzero(self.is_keepable[inputs] & slots.is_whole)
        replaced[common] = self.coin.draw_replaced(random_uint64(len(common)))
        randomized = np.flatnonzero(replaced)
        outputs = inputs.copy()
        outputs[randomized] = self.santext.draw_symbols(inputs[randomized], random_uint64)
        return outputs

    @cached_property
    def randomizer(self) -> ScoreRandomizer:
        """The exact output probabilities for whole words as inputs, which SanText+ may leave unchanged."""
        return replace(
            self.santext.randomizer, is_keepable=self.is_keepable, keep_threshold=2**64 - self.coin.threshold
        )

    def get_randomizer(self, *, lower: bool = False, whole: bool = True) -> ScoreRandomizer:
        """Return the output distribution of all inputs, as an object with methods for rows and columns.

        Args:
            lower: Ignored, because the distribution does not depend on it.
            whole: Whether the inputs are whole words. Parts of words are never left unchanged.
        """
        return self.randomizer if whole else self.randomizer.without_coin
