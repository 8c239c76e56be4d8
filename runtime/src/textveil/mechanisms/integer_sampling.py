"""Exact sampling in proportion to integer weights, without floating point.

All functions are pure functions of weights and random words (``entropy``). Proof: docs/proofs/integer-sampling.md.
The staircase mechanism has a sampler of its own, which takes the same steps for every input (``staircase.staircase``).

SanText and randomized response give each input ``x`` a row of integer weights over the outputs ``y``, of the form

    weight(x, y) = tail(x) * base(y) + excess(x, y).

``base`` has one weight for each output, the same for all inputs. ``excess`` is zero for all except a few *stored*
outputs, such as the words most similar to ``x``. Sampling uses one integer ``u``, uniform below
``total(x) = tail(x) * sum(base) + sum(excess(x, .))``. The first ``sum(excess)`` values of ``u`` select the stored
outputs. Each following block of ``tail(x)`` values selects one unit of ``base``. So every value of ``u`` selects an
output, and no weight is divided or rounded.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textveil.errors import EntropyFailed
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.entropy import NOT_RANDOM_MESSAGE, RandomUint64, draw_uniform_below

#: Upper bound of the total of a row, so that all sums and products of this module fit into signed 64-bit integers.
MAX_TOTAL = 1 << 62
#: Maximum number of rounds for one sample of ``draw_thinned``.
MAX_ROUNDS = 1 << 15


@dataclass(frozen=True, kw_only=True)
class WeightRows:
    """Integer weights of all outputs ``y`` for some inputs ``x``, with one row for each input.

    The weight is ``tail(x) * base(y) + excess(x, y)``, where ``excess`` is nonzero only for the ``k`` stored outputs of
    an input.

    Attributes:
        stored: Ids of the stored outputs, shape ``(rows, k)``.
        cumulative: Cumulative sums of ``excess`` along each row, shape ``(rows, k)``.
        tail: ``tail`` of each row, shape ``(rows,)``, at least 1.
        base: Cumulative sums of ``base`` in the order of the output ids, shape ``(outputs,)``. For an id that is never
            an output, ``base`` is 0.
    """

    stored: Integers
    cumulative: Integers
    tail: Integers
    base: Integers

    @property
    def totals(self) -> Integers:
        """Sum of all weights of each row, shape ``(rows,)``; each sum is below ``MAX_TOTAL``."""
        return self.cumulative[:, -1] + self.tail * self.base[-1]

    def compute_weights(self, row: int) -> Integers:
        """Compute the exact weight of every output in one row (for one input); shape ``(outputs,)``."""
        weights = self.tail[row] * np.diff(self.base, prepend=0)
        excess = np.diff(self.cumulative[row], prepend=0)
        np.add.at(weights, self.stored[row], excess)
        return weights


def select_outputs(rows: WeightRows, row_of: NDArray[np.intp], uniform: Integers) -> Integers:
    """Convert uniform integers to outputs, so that each output's probability is in proportion to its weight.

    Args:
        rows: The weights.
        row_of: Index of the row for each sample, shape ``(n,)``.
        uniform: For each sample, an integer in ``[0, total)``, where ``total`` is the sum of the weights of the row;
            shape ``(n,)``.

    Returns:
        Ids of outputs, shape ``(n,)``.
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
    """Sample one output from each of the rows of weights that ``row_of`` selects.

    The samples are independent. The probability of an output is in proportion to its weight in the row.

    Args:
        rows: Weights of all outputs, one row for each distinct input.
        row_of: Index of the row for each sample, shape ``(n,)``.
        random_uint64: Function that returns a given number of independent uniform 64-bit words.

    Returns:
        Ids of outputs, shape ``(n,)``.
    """
    return select_outputs(rows, row_of, draw_uniform_below(rows.totals[row_of], random_uint64))


def draw_from_inputs(rows: Callable[[Integers], WeightRows], inputs: Integers, random_uint64: RandomUint64) -> Integers:
    """Sample one output for every input independently, from the weights that ``rows`` computes.

    Args:
        rows: Function that computes the weights of distinct inputs. It is called once.
        inputs: Input ids, shape ``(n,)``.
        random_uint64: Function that returns a given number of independent uniform 64-bit words.

    Returns:
        Ids of outputs, shape ``(n,)``.
    """
    unique, row_of = np.unique(inputs, return_inverse=True)
    return draw_from_rows(rows(unique), row_of, random_uint64)


def draw_thinned(
    rows: WeightRows,
    row_of: NDArray[np.intp],
    weight: Callable[[NDArray[np.intp], Integers], Integers],
    random_uint64: RandomUint64,
) -> Integers:
    """Sample outputs by rejection, for mechanisms whose true weights are at most the weights in ``rows``.

    Each round samples a proposal ``y`` for the input ``x`` from ``rows`` (``WeightRows``), whose weights have two
    parts, ``excess(x, y)`` and ``tail(x) * base(y)``. If the proposal comes from ``excess``, it is the result. If it
    comes from the other part, it is accepted with probability ``weight / tail(x)``, by an integer comparison. After a
    rejection, the next round begins with a new proposal. (Repeating only the sampling from the tail would give the tail
    too much probability.) So the probability of output ``y`` is in proportion to
    ``excess(x, y) + base(y) min(tail(x), weight(x, y))``.

    After ``MAX_ROUNDS`` rounds the function raises an error. If a round accepts its proposal with probability ``a``,
    the probability of this error is below ``exp(-a MAX_ROUNDS)``: less than ``2**-100`` if ``a`` is at least 1/470.

    Args:
        rows: Weights with which outputs are proposed; they are at least the true weights.
        row_of: Index of the row for each sample, shape ``(n,)``.
        weight: Function that returns the true weight of one unit of ``base``, for arrays of row indices and output ids
            of shape ``(m,)``.
        random_uint64: Function that returns a given number of independent uniform 64-bit words.

    Returns:
        Ids of outputs, shape ``(n,)``.

    Raises:
        EntropyFailed: No proposal was accepted in ``MAX_ROUNDS`` rounds, or ``random_uint64`` is not random
            (``draw_uniform_below``).

    Privacy:
        The number of rounds depends on the row, so the running time reveals a little about the words.
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
        raise EntropyFailed(NOT_RANDOM_MESSAGE)
    return outputs
