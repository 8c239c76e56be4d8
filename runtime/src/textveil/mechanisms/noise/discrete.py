"""Tables of integer noise: the number of 64-bit words of each value, and sampling from them.

Proof: docs/proofs/representation.md.

A table is symmetric and its counts sum to 2**64, so its distribution is exactly ``count / 2**64`` and one random
word gives one value. Integer arithmetic on fixed-point constants builds the same table on every machine:

* ``make_discrete_laplace``: Pr[n] ~ exp(-|n| / scale) (Ghosh, Roughgarden, Sundararajan 2009). Rounding only ever
  flattens it: no count is more than ``exp(1 / scale)`` times its neighbor's, so the noise of the finished table has
  no excess over its nominal epsilon.
* ``make_discrete_gaussian``: Pr[n] ~ exp(-n^2 / (2 variance)) (Canonne, Kamath, Steinke 2020), up to a stated total
  variation distance.

The table adds the mass beyond ``reach`` to the values ``-reach`` and ``reach``: a release clamped to the outputs that
every input can reach has the same distribution.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

WORD_BITS = 64
#: Largest reach of a table: 2**20 counts on each side take 16 MiB.
MAX_REACH = 1 << 20

# Fixed point has 192 fraction bits. Constants come from decimals of 100 digits, about 30 more than necessary. Each is
# lowered by a part in 10**80, far more than its rounding error, so that it is a lower bound.
_FRACTION_BITS = 192
_DIGITS = 100
_LOWERING_FACTOR = 1 - Decimal("1e-80")


@dataclass(frozen=True)
class NoiseTable:
    """A symmetric distribution over the integers from ``-reach`` to ``reach``.

    Attributes:
        counts: For each value 0, 1, ..., reach: the number of random words of this value, equal to the number of its
            negative. Each is at least 1; the count of 0 and twice the others sum to ``2**bits``.
        bits: Width of a random word; 64 in production, small in exhaustive tests.
    """

    counts: tuple[int, ...]
    bits: int = WORD_BITS

    @property
    def reach(self) -> int:
        """The largest value."""
        return len(self.counts) - 1

    def compute_probability(self, value: int) -> Fraction:
        """Return the exact ``Pr[noise = value]``; 0 beyond ``reach``."""
        return Fraction(self.counts[abs(value)], 1 << self.bits) if abs(value) <= self.reach else Fraction(0)

    def compute_tail(self, value: int) -> Fraction:
        """Return the exact ``Pr[noise >= value]`` for a value above 0."""
        return Fraction(sum(self.counts[value:]), 1 << self.bits)

    def compute_largest_ratio(self, clamped_from: int) -> Fraction:
        """Compute the exact largest ratio of an output's probabilities under a shift by one step.

        It is the largest of ``Pr[n] / Pr[n + 1]`` and its inverse over single values below ``reach``, and of
        ``Pr[noise >= n] / Pr[noise >= n + 1]`` over the tails that a clamp can turn into one output. Shifts by d steps
        in total, over any number of coordinates, change a probability by at most the d-th power.

        Args:
            clamped_from: Smallest ``n >= 0`` such that, for some input, clamping turns its tail into one output.
        """
        counts, best, over = self.counts, 1, 1
        for near, far in pairwise(counts[:-1]):
            high, low = (near, far) if near >= far else (far, near)
            if high * over > best * low:
                best, over = high, low
        tail = counts[-1]
        for count in reversed(counts[clamped_from:-1]):
            if (tail + count) * over > best * tail:
                best, over = tail + count, tail
            tail += count
        return Fraction(best, over)

    @cached_property
    def _last_words(self) -> Words:
        """The last word of every value in ascending order, padded with the largest word.

        The length is a power of two.
        """
        half = np.array(self.counts, dtype=np.uint64)
        # The running sum ends at 2**64, which wraps to 0; the last word is one less, 2**64 - 1.
        last = np.cumsum(np.concatenate([half[:0:-1], half]), dtype=np.uint64) - np.uint64(1)
        size = 1 << (len(last) - 1).bit_length()
        return np.concatenate([last, np.full(size - len(last), 2**WORD_BITS - 1, dtype=np.uint64)])

    def look_up_values(self, words: Words) -> Integers:
        """Return the value of each random word.

        Args:
            words: Independent uniform words below ``2**bits``, any shape.

        Returns:
            Same shape.

        Privacy:
            One word gives one value, none is rejected. Every sample makes the same number of comparisons, for every
            result; the table entries that it reads depend on the word.
        """
        last = self._last_words
        position = np.zeros(words.shape, dtype=np.int64)
        step = len(last) >> 1
        while step:  # count the values that end before this word: a binary search without branches
            position += step * (last[position + (step - 1)] < words)
            step >>= 1
        return position - self.reach


def make_discrete_laplace(scale: Fraction, reach: int, bits: int = WORD_BITS) -> NoiseTable:
    """Build the table of ``Pr[n] ~ exp(-|n| / scale)``, never steeper than that.

    The outermost single count is the ideal one rounded down; every further one inwards is ``exp(1 / scale)`` times its
    neighbor, rounded down. The counts missing from ``2**bits`` are added to the two ends, which represent the tails.

    Args:
        scale: Scale of the noise in steps, above 0.
        reach: The value to which the tails are added, from 2 to ``MAX_REACH``.
        bits: Width of a random word.

    Raises:
        OptionError: ``reach`` is out of range, or the table would have an empty cell.

    Privacy:
        ``largest_ratio(n) <= exp(1 / scale)`` for every ``n``.
    """
    _check_reach(reach)
    with localcontext(prec=_DIGITS):
        rate = Decimal(scale.denominator) / scale.numerator
        ratio = (-rate).exp()
        outermost = (1 - ratio) / (1 + ratio) * (-rate * (reach - 1)).exp() * _LOWERING_FACTOR
        count = int(outermost * (1 << bits))
        growth = int(rate.exp() * _LOWERING_FACTOR * (1 << _FRACTION_BITS))
    counts = [0] * reach
    for value in range(reach - 1, -1, -1):
        counts[value] = count
        count = count * growth >> _FRACTION_BITS
    return _make_table(counts, bits)


def make_discrete_gaussian(variance: Fraction, reach: int, bits: int = WORD_BITS) -> NoiseTable:
    """Build the table of ``Pr[n] ~ exp(-n^2 / (2 variance))``, within ``bound_total_variation`` of it.

    Single counts are the ideal ones rounded down; the missing counts are added to the two ends. The normalizer is
    Poisson's ``sqrt(2 pi variance) (1 + 2 sum over j >= 1 of exp(-2 pi^2 variance j^2))``.

    Args:
        variance: Parameter of the distribution, in steps squared, at least 1.
        reach: The value to which the tails are added, from 2 to ``MAX_REACH``.
        bits: Width of a random word.

    Raises:
        OptionError: ``reach`` is out of range, ``variance`` is below 1, or the table would have an empty cell.
    """
    _check_reach(reach)
    if variance < 1:
        raise OptionError("discrete Gaussian noise needs a variance of at least one grid step")
    with localcontext(prec=_DIGITS):
        exact = Decimal(variance.numerator) / variance.denominator
        first = (-2 * _PI**2 * exact).exp()  # below 1e-8; 3 first**4 bounds all terms after the first
        normalizer = (2 * _PI * exact).sqrt() * (1 + 2 * first + 3 * first**4)
        probability = int(_LOWERING_FACTOR / normalizer * (1 << _FRACTION_BITS))
        decay = int((-1 / (2 * exact)).exp() * _LOWERING_FACTOR * (1 << _FRACTION_BITS))
        faster = int((-1 / exact).exp() * _LOWERING_FACTOR * (1 << _FRACTION_BITS))
    counts: list[int] = []
    for _ in range(reach):  # Pr[n + 1] / Pr[n] = exp(-(2 n + 1) / (2 variance))
        counts.append(probability >> (_FRACTION_BITS - bits))
        probability = probability * decay >> _FRACTION_BITS
        decay = decay * faster >> _FRACTION_BITS
    return _make_table(counts, bits)


def bound_total_variation(reach: int, bits: int = WORD_BITS) -> Fraction:
    """Bound the distance of a ``make_discrete_gaussian`` table from the exact distribution.

    The exact distribution has the same tails added to its ends; the distance is the total variation. Every single count
    is below the ideal one by less than 1, that of 0 by less than 2; only the ends are above.
    """
    return Fraction(2 * reach + 1, 1 << bits)


_PI = Decimal(
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679821480865"
)


def _check_reach(reach: int) -> None:
    if not 2 <= reach <= MAX_REACH:
        raise OptionError("this noise needs too large a table: a coarser grid makes it smaller")


def _make_table(counts: list[int], bits: int) -> NoiseTable:
    """Make the count of 0 even, add the missing counts to the ends, and return the table."""
    counts[0] -= counts[0] & 1
    end = ((1 << bits) - counts[0]) // 2 - sum(counts[1:])
    if min(counts[-1], end) < 1 or counts[0] < counts[1]:
        raise OptionError("this noise does not fit a table of random words: some values would have probability 0")
    return NoiseTable((*counts, end), bits)
