"""Tables of integer noise with exact probabilities, and sampling from these tables.

Proof: docs/proofs/representation.md.

For each value of the noise, a table has a count: the number of 64-bit words that select the value. The counts are
symmetric and sum to 2**64. So the probability of a value is exactly ``count / 2**64``, and one random word selects one
value. The functions build the tables by integer arithmetic on fixed-point constants, so the tables are equal on all
machines:

* ``make_discrete_laplace``: Pr[n] ~ exp(-|n| / scale) (Ghosh, Roughgarden, Sundararajan 2009). Rounding never increases
  the ratio of neighboring counts above ``exp(1 / scale)``, so a table never exceeds its nominal epsilon.
* ``make_discrete_gaussian``: Pr[n] ~ exp(-n^2 / (2 variance)) (Canonne, Kamath, Steinke 2020), up to a stated total
  variation distance.

The probability of all values beyond ``-reach`` and ``reach`` is added to these two values. If a noisy result is clamped
to values that are possible for every input, this addition does not change the distribution of the result.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms.arrays import Integers

Words = NDArray[np.uint64]

WORD_BITS = 64
#: Largest noise value of a table. The 2**20 counts on each side take 16 MiB.
MAX_REACH = 1 << 20

# Fixed-point numbers have 192 fraction bits. Constants are computed from decimals of 100 digits, about 30 more than
# necessary. Each is lowered by one part in 10**80, far more than its rounding error, so that it is a lower bound.
_FRACTION_BITS = 192
_DIGITS = 100
_LOWERING_FACTOR = 1 - Decimal("1e-80")


@dataclass(frozen=True)
class NoiseTable:
    """A symmetric distribution of noise over the integers from ``-reach`` to ``reach``.

    Attributes:
        counts: For each value 0, 1, ..., reach, the number of random words that select the value. Equally many words
            select the negative value. Each count is at least 1. The count of 0 plus twice the sum of all other counts
            is ``2**bits``.
        bits: Number of bits of a random word; 64 in production, small in exhaustive tests.
    """

    counts: tuple[int, ...]
    bits: int = WORD_BITS

    @property
    def reach(self) -> int:
        """Largest value that the noise can have."""
        return len(self.counts) - 1

    def compute_probability(self, value: int) -> Fraction:
        """Return the exact probability ``Pr[noise = value]``, 0 for values below ``-reach`` or above ``reach``."""
        return Fraction(self.counts[abs(value)], 1 << self.bits) if abs(value) <= self.reach else Fraction(0)

    def compute_tail(self, value: int) -> Fraction:
        """Return the exact probability that the noise is at least ``value``, which must be above 0."""
        return Fraction(sum(self.counts[value:]), 1 << self.bits)

    def compute_largest_ratio(self, clamped_from: int) -> Fraction:
        """Return the largest factor by which shifting an input by one step changes an output's probability, exactly.

        Outputs are clamped: beyond a limit, all noise values give the same output. The result is the largest of

        - ``Pr[noise = n] / Pr[noise = n + 1]`` and its inverse, for outputs that are not clamped, ``n + 1 < reach``,
          where ``reach`` is the largest value of the noise;
        - ``Pr[noise >= n] / Pr[noise >= n + 1]``, for clamped outputs, ``clamped_from <= n < reach``.

        If inputs differ by ``d`` steps in total, over any number of coordinates, a probability changes at most by the
        ``d``-th power of the result.

        Args:
            clamped_from: Smallest ``n >= 0`` at which clamping can begin: for some input, all noise values from ``n``
                onward give the same output.
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
        """For each noise value, in ascending order, the largest 64-bit random word that selects this value.

        The array is padded with the largest possible word to a length that is a power of two.
        """
        half = np.array(self.counts, dtype=np.uint64)
        # The cumulative sum ends at 2**64, which wraps to 0. The last word is one less: 2**64 - 1.
        last = np.cumsum(np.concatenate([half[:0:-1], half]), dtype=np.uint64) - np.uint64(1)
        size = 1 << (len(last) - 1).bit_length()
        return np.concatenate([last, np.full(size - len(last), 2**WORD_BITS - 1, dtype=np.uint64)])

    def look_up_values(self, words: Words) -> Integers:
        """Return the noise value that each random word selects.

        Args:
            words: Independent uniform words below ``2**bits``, of any shape.

        Returns:
            Noise values, in the same shape.

        Privacy:
            Each word selects one value, and no word is rejected. The number of comparisons is the same for all words,
            but the addresses of the read table entries depend on the word.
        """
        last = self._last_words
        position = np.zeros(words.shape, dtype=np.int64)
        step = len(last) >> 1
        while step:  # count the values that end before this word: a binary search without branches
            position += step * (last[position + (step - 1)] < words)
            step >>= 1
        return position - self.reach


def make_discrete_laplace(scale: Fraction, reach: int, bits: int = WORD_BITS) -> NoiseTable:
    """Build the table of discrete Laplace noise, ``Pr[n] ~ exp(-|n| / scale)``.

    The table has a count for each noise value ``n``, and all counts together are ``2**bits``. The count of
    ``reach - 1`` is ``2**bits`` times its probability, rounded down. From ``n = reach - 2`` down to 0, each count is
    that of ``n + 1`` times ``exp(1 / scale)``, rounded down. The counts of ``-n`` and ``n`` are equal. The values
    ``reach`` and ``-reach`` get the rest, which includes the tails of the distribution.

    Args:
        scale: Scale of the noise in steps, above 0.
        reach: Largest noise value, from 2 to ``MAX_REACH``.
        bits: Number of bits of a random word.

    Raises:
        OptionError: ``reach`` is out of range, or the count of a value would be 0.

    Privacy:
        ``compute_largest_ratio(n) <= exp(1 / scale)`` for every ``n``.
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
    """Build the table of discrete Gaussian noise, ``Pr[n] ~ exp(-n^2 / (2 variance))``.

    The table has an integer count for each noise value: its probability times ``2**bits``, rounded down. The two end
    values get all remaining counts up to the sum ``2**bits``; they also represent the tails of the distribution.
    ``bound_total_variation`` bounds the effect of rounding. The normalizing constant is
    ``sqrt(2 pi variance) (1 + 2 sum over j >= 1 of exp(-2 pi^2 variance j^2))``, by Poisson summation.

    Args:
        variance: Parameter of the distribution, in steps squared, at least 1.
        reach: Largest noise value, from 2 to ``MAX_REACH``. The tails are added to it and to its negative.
        bits: Number of bits of a random word.

    Raises:
        OptionError: ``reach`` is out of range, ``variance`` is below 1, or the count of a value would be 0.
    """
    _check_reach(reach)
    if variance < 1:
        raise OptionError("discrete Gaussian noise needs a variance of at least 1 in grid steps: use a finer grid")
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
    """Return an upper bound of the total variation distance between a table of Gaussian noise and the exact noise.

    The exact noise is the discrete Gaussian whose tails are added to the two end values, as in the table. Only the
    counts of the two end values are above the ideal counts. The count of 0 is below the ideal count by less than 2, all
    other counts by less than 1.

    Args:
        reach: Largest noise value of the table (``make_discrete_gaussian``).
        bits: Number of bits of a random word.
    """
    return Fraction(2 * reach + 1, 1 << bits)


_PI = Decimal(
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679821480865"
)


def _check_reach(reach: int) -> None:
    if not 2 <= reach <= MAX_REACH:
        raise OptionError("the table of this noise is too large: use a coarser grid")


def _make_table(counts: list[int], bits: int) -> NoiseTable:
    """Make a noise table from counts whose sum is below ``2**bits``. The two end values get the missing counts.

    The function first lowers the count of the value 0 to an even number. Then the number of random words that select no
    value is even, and each of the two end values gets half of these words.

    Args:
        counts: For each value 0, 1, ... below the end value, the number of random words that select the value.
        bits: Number of bits of a random word.
    """
    counts[0] -= counts[0] & 1
    end = ((1 << bits) - counts[0]) // 2 - sum(counts[1:])
    if min(counts[-1], end) < 1 or counts[0] < counts[1]:
        raise OptionError("this noise needs probabilities below 2**-64: use a larger epsilon or a coarser grid")
    return NoiseTable((*counts, end), bits)
