"""The audit of a capped mechanism: how much an output can favor one input over another, on the integers that ship.

For two inputs the loss is the largest log-ratio over all outputs,

    loss(x, x') = max over y of  ln Pr[M(x) = y] - ln Pr[M(x') = y]
                = max(T(x) / T(x'),  max over y stored for x of m(x, y) / m(x', y))  in logs  + ln Z(x') - ln Z(x),

with ``Pr[M(x) = y] = q(y) m(x, y) / Z(x)`` and ``m = W[c(x, y)] >= T >= 1``: an output that is not stored for ``x`` has
``m(x, y) = T(x)`` and ``m(x', y) >= T(x')``, so the tail term covers it (docs/proofs/audit.md). Nothing is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.baselines.santext import CappedSanText
from textveil.mechanisms.channel import ScoreChannel
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Floats
from textveil.mechanisms.scores import BLOCK

#: Added to every log-ratio: far more than double precision can lose in it, far less than anybody can see.
LOG_MARGIN = 1e-11


class Envelope:
    """``E[n] = max over a and m <= n of ln W[a] - ln W[a + m]``: the most that ``n`` steps change a log-weight.

    Scores past the end share a weight, so that from there on ``n`` no longer matters. Each ``E[n]`` is found when it is
    first asked for: all of them take the square of the number of scores, and a small vocabulary has few distances.

    Args:
        log_weights: ``ln W``, shape ``(scores,)``.
    """

    def __init__(self, log_weights: Floats) -> None:
        self._log_weights = log_weights
        self._found = np.full(len(log_weights), np.nan)
        if (np.diff(log_weights) > 0).any():  # where weights never grow, the largest m is the worst
            self._find(np.arange(len(log_weights)))
            self._found = np.maximum.accumulate(self._found)

    def __call__(self, steps: NDArray[Any]) -> Floats:
        """Returns ``E[n]`` of steps of score, any shape; below 0 they count as 0."""
        steps = np.clip(steps, 0, len(self._found) - 1)
        self._find(np.unique(steps[np.isnan(self._found[steps])]))
        return self._found[steps]

    def _find(self, steps: NDArray[Any]) -> None:
        count = len(self._log_weights)
        for n in steps:
            self._found[n] = (self._log_weights[: count - n] - self._log_weights[n:]).max()


@dataclass(frozen=True)
class CappedAudit:
    """The losses of one capped mechanism.

    Attributes:
        mechanism: The mechanism.
    """

    mechanism: CappedSanText

    @property
    def channel(self) -> ScoreChannel:
        """The output distribution of the mechanism."""
        return self.mechanism.channel

    @cached_property
    def log_stored(self) -> Floats:
        """``ln m(x, y_j)`` of every stored word, shape ``(inputs, k)``, whether an output or not."""
        return self.channel.log_weights[self.mechanism.table.scores]

    @property
    def log_tail(self) -> Floats:
        """``ln T(x)``, shape ``(inputs,)``."""
        return self.log_stored[:, -1]

    @cached_property
    def log_largest(self) -> Floats:
        """``ln max over outputs y of m(x, y)``, shape ``(inputs,)``."""
        stored = np.where(self._is_output, self.log_stored, -np.inf)
        return np.maximum(stored.max(axis=1), self.log_tail)

    def bounds(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
        """Returns cheap upper bounds of ``losses``: as if ``x'`` had every output of ``x`` in its tail. Broadcasts."""
        log_total = self.channel.log_totals
        numerator = (self.log_largest - log_total)[first]
        return numerator + (log_total - self.log_tail)[second] + LOG_MARGIN

    def lipschitz_bounds(self, first: NDArray[np.intp], second: NDArray[np.intp], differences: Integers) -> Floats:
        """Returns upper bounds of ``losses`` that hold only if the stored neighbors and scores are the metric's.

        The capped score ``min(u(x, y), u(x, y_k))`` then changes by at most ``u(x, x') + 1`` from ``x`` to ``x'``, for
        every output.

        Args:
            first: Inputs ``x``, shape ``(n,)``.
            second: Inputs ``x'``, shape ``(n,)``.
            differences: At least ``u(x, x') + 1``, shape ``(n,)``.
        """
        log_total = self.channel.log_totals
        return self._envelope(differences) + log_total[second] - log_total[first] + LOG_MARGIN

    def losses(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> tuple[Floats, NDArray[np.int64]]:
        """Returns the loss of pairs of inputs, rounded up by ``LOG_MARGIN``, and the outputs that attain it.

        Args:
            first: Inputs ``x``, shape ``(n,)``.
            second: Inputs ``x'``, shape ``(n,)``.

        Returns:
            Losses, shape ``(n,)``, and output ids, shape ``(n,)``; -1 where it is any word stored for neither.
        """
        channel, stored = self.channel, self.mechanism.table.neighbors[first].astype(np.int64)
        ratios = self.log_stored[first] - channel.log_weights[channel.scores.of_pairs(second[:, None], stored)]
        ratios[~self._is_output[first]] = -np.inf
        best = ratios.argmax(axis=1)
        along = np.arange(len(first))
        tail = self.log_tail[first] - self.log_tail[second]
        outputs = np.where(ratios[along, best] >= tail, stored[along, best], -1)
        largest = np.maximum(ratios[along, best], tail)
        return largest + channel.log_totals[second] - channel.log_totals[first] + LOG_MARGIN, outputs

    def pure_loss(self) -> tuple[float, int]:
        """Returns the pure LDP level of what is drawn, and the output that attains it (``pure_ldp_levels``)."""
        return pure_ldp_levels([self.channel])[0]

    @cached_property
    def _envelope(self) -> Envelope:
        return Envelope(np.log(self.channel.score_weights.astype(np.float64)))

    @cached_property
    def _is_output(self) -> NDArray[np.bool_]:
        return self.channel.base[self.mechanism.table.neighbors] > 0


def pure_ldp_levels(channels: Sequence[ScoreChannel]) -> list[tuple[float, int]]:
    """Returns the pure LDP level of mechanisms that share their scores, and the output that attains each.

    The level is ``max over y of (max over x of ln Pr[M(x) = y] - min over x of ln Pr[M(x) = y])`` of what is drawn,
    rounded up by ``LOG_MARGIN``. Every input counts, whether it stores the output or not.

    Args:
        channels: The mechanisms, all on the same ``scores``.
    """
    scores = channels[0].scores
    gaps = np.full((len(channels), scores.symbols), -np.inf)
    for start in range(0, scores.symbols, BLOCK):
        outputs = np.arange(start, min(start + BLOCK, scores.symbols))
        of_outputs = scores.to_outputs(outputs)
        for gap, channel in zip(gaps, channels, strict=True):
            logs = np.take(channel.log_weights, of_outputs)
            logs -= channel.log_totals
            gap[outputs] = np.where(channel.base[outputs] > 0, logs.max(axis=1) - logs.min(axis=1), -np.inf)
    return [(float(gap.max()) + LOG_MARGIN, int(gap.argmax())) for gap in gaps]
