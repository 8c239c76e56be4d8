"""A coin with an exact probability, which compares one random 64-bit word with an integer threshold."""

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError


@dataclass(frozen=True)
class ReplacementCoin:
    """Random decision of the mechanism SanText+ whether to replace a common word or leave it unchanged.

    Attributes:
        threshold: An integer in ``[1, 2**64]``. A word is replaced if a random 64-bit integer is below the threshold.
            So the probability of replacement is exactly ``threshold / 2**64``.

    Example:
        >>> coin = ReplacementCoin.from_probability("0.25")
        >>> coin.threshold == 2**62
        True
        >>> coin.draw_replaced(np.array([0, 2**62 - 1, 2**62], np.uint64)).tolist()
        [True, True, False]
    """

    threshold: int

    @classmethod
    def from_probability(cls, probability: str | float | Fraction) -> "ReplacementCoin":
        """Create a coin (random decision) from the probability of replacement.

        The probability is rounded up to a multiple of 2**-64.

        Raises:
            OptionError: The probability is not a number in ``(0, 1]``.
        """
        try:
            exact = probability if isinstance(probability, Fraction) else Decimal(str(probability))
            in_range = 0 < exact <= 1
        except InvalidOperation:
            raise OptionError("the replacement probability must be a number, such as 0.3") from None
        if not in_range:
            raise OptionError("the replacement probability must be above 0 and at most 1")
        if exact < 2**-64:  # Fraction would expand a tiny Decimal to an integer with as many digits as its exponent
            return cls(1)
        return cls(math.ceil(Fraction(exact) * 2**64))

    def draw_replaced(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Decide which words to replace.

        Args:
            words: One random 64-bit integer for each word.

        Returns:
            For each word, whether to replace it.
        """
        if self.threshold == 2**64:
            return np.ones(len(words), dtype=bool)
        return words < np.uint64(self.threshold)
