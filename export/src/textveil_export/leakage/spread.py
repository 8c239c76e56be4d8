"""How a mechanism spreads words: N, S and S* (Feyisetan, Balle, Diethe, Drake 2020; Yue et al. 2021, section 5.2).

For every word that can be drawn:

* ``N_x = Pr[M(x) = x]``: how often it stays what it is;
* ``S_x``: the smallest number of outputs that hold .95 of its mass;
* ``S*_y``: the number of inputs that give the output ``y`` at least .01 times the largest probability that any input
  gives it.

All are of what is drawn: the words that SanText+ keeps are left out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Channel, Floats, Integers, ScoreChannel

from textveil_export.leakage.channels import candidates
from textveil_export.parallel import Ids, each_block
from textveil_export.progress import Progress, no_progress

#: ``S_x`` leaves out at most one part in this many of the mass.
LEFT_OUT = 20
#: ``S*_y`` counts inputs that give ``y`` at least this share of the largest probability that any input gives it.
LIKELY_SHARE = 0.01
_PARTS = 1 << 40
_BLOCK = 8  # small: what is worked on stays in the cache of a core


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How the rows and columns of one channel spread.

    Attributes:
        unchanged: ``N_x`` of every word that can be drawn, shape ``(words,)``.
        likely_outputs: ``S_x`` of these words, exact, same shape.
        likeliest: ``max_y Pr[M(x) = y]`` of these words, same shape.
        likely_inputs: ``S*_y`` of the same words as outputs, same shape.
    """

    unchanged: Floats
    likely_outputs: Integers
    likeliest: Floats
    likely_inputs: Integers


def measure_spread(
    channel: Channel, among: NDArray[np.bool_] | None = None, progress: Progress = no_progress
) -> Spread:
    """Measures how a channel spreads the words that can be drawn.

    Args:
        channel: The output distribution.
        among: Which inputs ``S*`` counts, shape ``(inputs,)``; the ``candidates`` of the channel if left out.
        progress: Called with words done.
    """
    counted = candidates(channel) if among is None else among
    inverse = np.where(counted, 1 / channel.totals, 0) if isinstance(channel, ScoreChannel) else np.empty(0)
    rows = each_block("summing rows", channel.outputs, lambda words: _rows(channel, words), progress, _BLOCK)
    unchanged, likely_outputs, likeliest = (np.concatenate(parts) for parts in zip(*rows, strict=True))

    def columns(outputs: Ids) -> Integers:
        if isinstance(channel, ScoreChannel):  # of draws: a coin does not count
            probabilities = channel.weights_to(outputs).astype(np.float64) * inverse
        else:
            probabilities = channel.columns(outputs) * counted
        return _likely_inputs(probabilities)

    likely_inputs = each_block("comparing inputs", channel.outputs, columns, progress, _BLOCK)
    return Spread(
        unchanged=unchanged,
        likely_outputs=likely_outputs,
        likeliest=likeliest,
        likely_inputs=np.concatenate(likely_inputs),
    )


def _rows(channel: Channel, words: Ids) -> tuple[Floats, Integers, Floats]:
    """Returns ``N``, ``S`` and the largest probability of some words that can be drawn, shapes ``(n,)``."""
    if isinstance(channel, ScoreChannel):
        weights, totals = channel.weights_from(words), channel.totals[words]
    else:  # probabilities, in parts of 2**40: an error of 20,000 parts is far below the twentieth that is looked for
        weights, totals = np.rint(channel.rows(words) * _PARTS).astype(np.int64), np.full(len(words), _PARTS)
    own = weights[np.arange(len(words)), words]
    weights.sort(axis=1)  # in place: passes over new memory would take longer than the sums
    largest = weights[:, -1].copy()
    # Exact: as many of the smallest weights as fit into a twentieth of the total are left out, zeros first.
    left_out = np.cumsum(weights, axis=1, out=weights) <= (totals // LEFT_OUT)[:, None]
    likely = weights.shape[1] - np.count_nonzero(left_out, axis=1)
    return own / totals, likely, largest / totals


def _likely_inputs(probabilities: Floats) -> Integers:
    """Returns ``S*`` from the probabilities of all inputs, 0 for those that do not count; rows are outputs."""
    floor = LIKELY_SHARE * probabilities.max(axis=1, keepdims=True)
    return np.count_nonzero(probabilities >= floor, axis=1)
