"""The audit of an exact tail: bounds of the losses of all pairs that need no look at every output.

With ``u(x, y) = floor(grid d(x, y))`` and the triangle inequality, ``u(x', y) - u(x, y) <= u(x, x') + 1`` for every
output, so that

    loss(x, x') = max over y of ln W[u(x, y)] - ln W[u(x', y)]  + ln Z(x') - ln Z(x)
               <= E[u(x, x') + 1] + ln Z(x') - ln Z(x),        E[n] = max over a of ln W[a] - ln W[a + n],

on the integers that ship. Where ``x`` is an output, ``y = x`` attains ``ln W[0] - ln W[u(x, x')]``, which is next to
nothing less. Where it is not, ``n`` is better found by a scan: the largest ``u(x', y) - u(x, y)`` over the outputs
(docs/proofs/exact-tail.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.audit.capped import LOG_MARGIN, Envelope
from textveil.mechanisms.baselines.santext import ExactSanText
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Floats


@dataclass(frozen=True)
class ExactAudit:
    """Bounds of the losses of one exact mechanism.

    Attributes:
        mechanism: The mechanism.
        log_total: ``ln Z(x)`` of the inputs under audit, shape ``(inputs,)``.
    """

    mechanism: ExactSanText
    log_total: Floats

    @cached_property
    def log_weights(self) -> Floats:
        """``ln W``, shape ``(scores,)``."""
        return np.log(self.mechanism.capped.weights.astype(np.float64))

    @cached_property
    def envelope(self) -> Envelope:
        """``E[n]`` of these weights."""
        return Envelope(self.log_weights)

    def bounds(self, first: Any, second: Any, differences: NDArray[Any]) -> Floats:
        """Returns upper bounds of losses, for the largest difference of scores of each pair. Broadcasts.

        Args:
            first: Positions of ``x`` in ``log_total``.
            second: Positions of ``x'``.
            differences: ``n``, at least ``u(x', y) - u(x, y)`` for every output ``y``.
        """
        return self.envelope(differences) + (self.log_total[second] - self.log_total[first]) + self.margin

    @property
    def margin(self) -> float:
        """``LOG_MARGIN``, and what two sums of positive terms can lose: a relative 2**-53 for every term."""
        return LOG_MARGIN + 2 * len(self.mechanism.capped.base) * 2.0**-53

    def loss(self, first: int, second: int) -> tuple[float, int]:
        """Returns the loss of one pair of inputs, over every output, and the output that attains it."""
        channel = self.mechanism.channel
        logs = channel.log_weights[channel.scores.from_inputs(np.array([first, second]))]
        ratios = np.where(channel.base > 0, logs[0] - logs[1], -np.inf)
        output = int(ratios.argmax())
        return float(ratios[output] + self.log_total[second] - self.log_total[first]), output


def log_totals(mechanisms: Sequence[ExactSanText], scores: Integers) -> Floats:
    """Returns ``ln Z`` of some inputs under several mechanisms, from their scores to all symbols.

    Sums are taken in double precision; ``ExactAudit.margin`` provides for what they lose.

    Args:
        mechanisms: The mechanisms, all of one table.
        scores: ``u(x, y)`` for all symbols ``y`` (a last column for ``<unk>`` is ignored).

    Returns:
        Shape ``(mechanisms, inputs)``.
    """
    totals = []
    for mechanism in mechanisms:
        weights = mechanism.capped.weights.astype(np.float64)
        base = mechanism.capped.base
        totals.append(np.log(weights[np.minimum(scores[:, : len(base)], len(weights) - 1)] @ base.astype(np.float64)))
    return np.array(totals)


def largest_differences(scores: NDArray[Any], others: NDArray[Any], outputs: NDArray[np.intp]) -> NDArray[Any]:
    """Returns the largest ``u(x', y) - u(x, y)`` over the outputs, for one ``x`` and several ``x'``.

    Args:
        scores: ``u(x, y)`` for all symbols, shape ``(symbols,)`` or more.
        others: ``u(x', y)``, shape ``(n, symbols)`` or more.
        outputs: Ids of the outputs.

    Returns:
        Shape ``(n,)``.
    """
    return (others[:, outputs] - scores[outputs]).max(axis=1)
