"""Bounds of the losses of all pairs that need no look at every output, on the integers that ship.

With ``u(x, y) = floor(grid d(x, y))`` and the triangle inequality, ``u(x', y) - u(x, y) <= u(x, x') + 1`` for every
output, so that

    loss(x, x') = max over y of ln W[u(x, y)] - ln W[u(x', y)]  + ln Z(x') - ln Z(x)
               <= E[u(x, x') + 1] + ln Z(x') - ln Z(x),        E[n] = max over a of ln W[a] - ln W[a + n].

Where ``x`` is an output, ``y = x`` attains ``ln W[0] - ln W[u(x, x')]``, which is next to nothing less. Where it is
not, ``n`` is better found by a scan: the largest ``u(x', y) - u(x, y)`` over the outputs (docs/proofs/santext.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Floats, ScoreChannel

#: Added to every log-ratio: far more than double precision can lose in it, far less than anybody can see.
LOG_MARGIN = 1e-11
_OUTPUTS_AT_ONCE = 256


class LossEnvelope:
    """``E[n] = max over a and m <= n of ln W[a] - ln W[a + m]``: the most that ``n`` steps change a log-weight.

    Scores past the end share a weight, so that from there on ``n`` no longer matters. Each ``E[n]`` is found when it is
    first asked for: all of them take the square of the number of scores, and a small vocabulary has few distances.

    Args:
        log_weights: ``ln W``, shape ``(scores,)``.
    """

    def __init__(self, log_weights: Floats) -> None:
        self._log_weights = log_weights
        self._values = np.full(len(log_weights), np.nan)
        if (np.diff(log_weights) > 0).any():  # where weights never grow, the largest m is the worst
            self._compute_values(np.arange(len(log_weights)))
            self._values = np.maximum.accumulate(self._values)

    def __call__(self, steps: NDArray[Any]) -> Floats:
        """Returns ``E[n]`` of steps of score, any shape; below 0 they count as 0."""
        steps = np.clip(steps, 0, len(self._values) - 1)
        self._compute_values(np.unique(steps[np.isnan(self._values[steps])]))
        return self._values[steps]

    def _compute_values(self, steps: NDArray[Any]) -> None:
        count = len(self._log_weights)
        for n in steps:
            self._values[n] = (self._log_weights[: count - n] - self._log_weights[n:]).max()


@dataclass(frozen=True)
class LossBounds:
    """Bounds of the losses of one mechanism.

    Attributes:
        channel: Its output distribution, on the scores of all pairs.
    """

    channel: ScoreChannel

    @property
    def log_totals(self) -> Floats:
        """``ln Z(x)`` of all inputs, shape ``(inputs,)``."""
        return self.channel.log_totals

    @cached_property
    def envelope(self) -> LossEnvelope:
        """``E[n]`` of these weights."""
        return LossEnvelope(np.log(self.channel.score_weights.astype(np.float64)))

    def bound_losses(self, first: Any, second: Any, differences: NDArray[Any]) -> Floats:
        """Returns upper bounds of losses, for the largest difference of scores of each pair. Broadcasts.

        Args:
            first: Inputs ``x``.
            second: Inputs ``x'``.
            differences: ``n``, at least ``u(x', y) - u(x, y)`` for every output ``y``.
        """
        return self.envelope(differences) + (self.log_totals[second] - self.log_totals[first]) + LOG_MARGIN

    def compute_loss(self, first: int, second: int) -> tuple[float, int]:
        """Returns the loss of one pair of inputs, over every output, and the output that attains it."""
        weights = self.channel.log_weights[self.channel.scores.from_inputs(np.array([first, second]))]
        ratios = np.where(self.channel.base > 0, weights[0] - weights[1], -np.inf)
        output = int(ratios.argmax())
        return float(ratios[output] + self.log_totals[second] - self.log_totals[first]), output


def find_largest_differences(scores: NDArray[Any], others: NDArray[Any], outputs: NDArray[np.intp]) -> NDArray[Any]:
    """Returns the largest ``u(x', y) - u(x, y)`` over the outputs, for one ``x`` and several ``x'``.

    Args:
        scores: ``u(x, y)`` for all symbols, shape ``(symbols,)`` or more.
        others: ``u(x', y)``, shape ``(n, symbols)`` or more.
        outputs: Ids of the outputs.

    Returns:
        Shape ``(n,)``.
    """
    return (others[:, outputs] - scores[outputs]).max(axis=1)


def compute_pure_ldp_epsilons(channels: Sequence[ScoreChannel]) -> list[tuple[float, int]]:
    """Returns the pure LDP level of mechanisms that share their scores, and the output that attains each.

    The level is ``max over y of (max over x of ln Pr[M(x) = y] - min over x of ln Pr[M(x) = y])`` of what is drawn,
    rounded up by ``LOG_MARGIN``. Every input counts, whether it stores the output or not.

    Args:
        channels: The mechanisms, all on the same ``scores``.
    """
    scores = channels[0].scores
    gaps: Floats = np.full((len(channels), scores.symbols), -np.inf)
    for start in range(0, scores.symbols, _OUTPUTS_AT_ONCE):
        outputs = np.arange(start, min(start + _OUTPUTS_AT_ONCE, scores.symbols))
        of_outputs = scores.to_outputs(outputs)
        for gap, channel in zip(gaps, channels, strict=True):
            logs = np.take(channel.log_weights, of_outputs)
            logs -= channel.log_totals
            gap[outputs] = np.where(channel.base[outputs] > 0, logs.max(axis=1) - logs.min(axis=1), -np.inf)
    return [(float(gap.max()) + LOG_MARGIN, int(gap.argmax())) for gap in gaps]
