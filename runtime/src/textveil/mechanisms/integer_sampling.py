"""Exact sampling from integer weights: pure functions of weights and random words.

No function uses floating point. A *random word* is a uniform 64-bit integer.

Proof: docs/proofs/integer-sampling.md.

Every mechanism of this package gives each input ``x`` a row of integer weights over the outputs ``y``, of the form

    weight(x, y) = tail(x) * base(y) + excess(x, y).

``base`` is one table for the whole vocabulary, and ``excess`` is zero for all except a few *stored* outputs. Sampling
uses one integer ``u``, uniform below ``total(x) = tail(x) * sum(base) + sum(excess(x, .))``. The first ``sum(excess)``
values of ``u`` select the stored outputs. Each following block of ``tail(x)`` values selects one unit of ``base``. So
every value of ``u`` selects an output, and no weight is divided or rounded.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textveil.errors import EntropyFailed
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.entropy import RandomUint64

#: Upper bound of the total of a row: sums and products below stay inside a signed 64-bit integer.
MAX_TOTAL = 1 << 62
#: Maximum number of words for one integer: all of them are rejected with a probability below 2**-256.
MAX_WORDS = 128
#: Maximum number of rounds of one thinned sample.
MAX_ROUNDS = 1 << 15
_NOT_RANDOM = "the operating system's bytes are not random: nothing is released until its generator is repaired"


@dataclass(frozen=True, kw_only=True)
class WeightRows:
    """The weights of some inputs, prepared for sampling. The module's docstring has the formula.

    Attributes:
        stored: Ids of the stored outputs, shape ``(rows, k)``.
        cumulative: Running sums of ``excess`` along each row, shape ``(rows, k)``.
        tail: Weight of one unit of ``base``, shape ``(rows,)``, at least 1.
        base: Running sums of ``base`` over all symbol ids, shape ``(outputs,)``. At a symbol that is never an output
            the sum does not grow.
    """

    stored: Integers
    cumulative: Integers
    tail: Integers
    base: Integers

    @property
    def totals(self) -> Integers:
        """Sum of all weights of each row, shape ``(rows,)``, below ``MAX_TOTAL``."""
        return self.cumulative[:, -1] + self.tail * self.base[-1]

    def compute_weights(self, row: int) -> Integers:
        """Return the exact weight of every output id in one row, shape ``(outputs,)``."""
        weights = self.tail[row] * np.diff(self.base, prepend=0)
        excess = np.diff(self.cumulative[row], prepend=0)
        np.add.at(weights, self.stored[row], excess)
        return weights


def draw_uniform_below(totals: Integers, random_uint64: RandomUint64, *, bits: int = 64) -> Integers:
    """Sample one integer uniformly from ``[0, total)`` for every total.

    A random word at or above the largest multiple of ``total`` that fits in ``bits`` bits is rejected. New words are
    read for the rejected positions only, in order. So each remainder is the result of equally many words, and every
    returned integer is exactly uniform. A broken source that returns only rejected words, such as words of ones, causes
    an error after ``MAX_WORDS`` words. With independent words that error has a probability below ``4**-MAX_WORDS =
    2**-256`` for each integer.

    Args:
        totals: Shape ``(n,)``, each in ``[1, MAX_TOTAL]`` and at most ``2**bits``.
        random_uint64: Returns a given number of independent uniform words below ``2**bits``.
        bits: Number of bits of a word; 64 in production, small in exhaustive tests.

    Returns:
        Shape ``(n,)``.

    Raises:
        EntropyFailed: ``MAX_WORDS`` words of one integer were rejected.

    Privacy:
        The number of words read depends on ``totals`` and on chance. Each word is rejected with a probability below
        ``total / 2**bits``.

    Example:
        >>> from textveil.mechanisms import random_uint64
        >>> drawn = draw_uniform_below(np.array([1, 6, 6]), random_uint64)
        >>> int(drawn[0]), bool((drawn[1:] < 6).all())
        (0, True)
    """
    modulus = totals.astype(np.uint64)
    largest_word = np.uint64((1 << bits) - 1)
    one = np.uint64(1)
    last_accepted = largest_word - (largest_word % modulus + one) % modulus
    words = random_uint64(len(modulus))
    rejected = np.flatnonzero(words > last_accepted)
    if len(rejected):
        words = words.copy()
    for _ in range(MAX_WORDS - 1):
        if not len(rejected):
            break
        words[rejected] = random_uint64(len(rejected))
        rejected = rejected[words[rejected] > last_accepted[rejected]]
    if len(rejected):
        raise EntropyFailed(_NOT_RANDOM)
    return (words % modulus).astype(np.int64)


def select_outputs(rows: WeightRows, row_of: NDArray[np.intp], uniform: Integers) -> Integers:
    """Return the output that each uniform integer selects, by the cumulative weights of its row.

    Args:
        rows: The weights.
        row_of: Row of each sample, shape ``(n,)``.
        uniform: Shape ``(n,)``, each in ``[0, total)`` of its row.

    Returns:
        Output ids, shape ``(n,)``.
    """
    k = rows.cumulative.shape[1]
    position = np.zeros(len(row_of), dtype=np.intp)
    flat, start = rows.cumulative.ravel(), row_of * k
    step = 1 << k.bit_length() >> 1
    while step:  # branchless binary search: the number of running sums <= `uniform`
        probe = position + step
        inside = probe <= k
        at_most = flat[start + np.where(inside, probe, 1) - 1] <= uniform
        position = np.where(inside & at_most, probe, position)
        step >>= 1
    from_stored = position < k
    outputs = rows.stored.ravel()[start + np.where(from_stored, position, 0)].astype(np.int64)
    rest = np.flatnonzero(~from_stored)
    unit = (uniform[rest] - rows.cumulative[row_of[rest], -1]) // rows.tail[row_of[rest]]
    outputs[rest] = np.searchsorted(rows.base, unit, side="right")
    return outputs


def draw_from_rows(rows: WeightRows, row_of: NDArray[np.intp], random_uint64: RandomUint64) -> Integers:
    """Sample one output for every entry of ``row_of``, independently, shape ``(n,)``."""
    return select_outputs(rows, row_of, draw_uniform_below(rows.totals[row_of], random_uint64))


def draw_from_inputs(rows: Callable[[Integers], WeightRows], inputs: Integers, random_uint64: RandomUint64) -> Integers:
    """Sample one output for every input, independently, shape ``(n,)``.

    The rows of each distinct input are computed once.
    """
    unique, row_of = np.unique(inputs, return_inverse=True)
    return draw_from_rows(rows(unique), row_of, random_uint64)


def draw_thinned(
    rows: WeightRows,
    row_of: NDArray[np.intp],
    weight: Callable[[NDArray[np.intp], Integers], Integers],
    random_uint64: RandomUint64,
) -> Integers:
    """Sample exactly in proportion to ``weight``, by rejection, from rows with too heavy a tail.

    The row proposes an output. A proposal of a stored output is kept. A proposal from the tail is kept with probability
    ``weight / tail(x)``, at most 1, by an integer comparison; otherwise the whole sample starts again. (An inner loop
    over the tail alone would leave too much probability there.) So output ``y`` has a probability in proportion to
    ``excess(x, y) + base(y) min(tail(x), weight(x, y))``, provided that the loop ends. After ``MAX_ROUNDS`` rounds the
    function raises an error. If a round ends with probability ``a``, the error has a probability below ``exp(-a
    MAX_ROUNDS)``: less than ``2**-100`` if ``a`` is at least 1 in 470.

    Args:
        rows: The proposals.
        row_of: Row of each sample, shape ``(n,)``.
        weight: Returns the true weight of one unit of ``base``, for rows and outputs of shape ``(m,)``.
        random_uint64: As in ``draw_uniform_below``.

    Returns:
        Output ids, shape ``(n,)``.

    Raises:
        EntropyFailed: A sample did not end in ``MAX_ROUNDS`` rounds, or as ``draw_uniform_below``.

    Privacy:
        The number of rounds depends on the row: the running time reveals a little about the words.
    """
    outputs = np.empty(len(row_of), dtype=np.int64)
    pending, totals = np.arange(len(row_of)), rows.totals
    for _ in range(MAX_ROUNDS):
        if not len(pending):
            break
        row = row_of[pending]
        uniform = draw_uniform_below(totals[row], random_uint64)
        outputs[pending] = select_outputs(rows, row, uniform)
        tail = np.flatnonzero(uniform >= rows.cumulative[row, -1])
        threshold = draw_uniform_below(rows.tail[row[tail]], random_uint64)
        rejected = threshold >= weight(row[tail], outputs[pending[tail]])
        pending = pending[tail[rejected]]
    if len(pending):
        raise EntropyFailed(_NOT_RANDOM)
    return outputs
