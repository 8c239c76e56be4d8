"""Compute upper bounds on the privacy losses of all pairs of words without evaluating each output.

Let ``u(x, y) = floor(grid d(x, y))`` be the integer score of a pair, ``W`` the integer weights by score and ``Z(x)``
the normalizer of an input. By the triangle inequality ``u(x', y) - u(x, y) <= u(x, x') + 1`` for each output, so that

    loss(x, x') = max over y of ln W[u(x, y)] - ln W[u(x', y)]  + ln Z(x') - ln Z(x)
               <= E[u(x, x') + 1] + ln Z(x') - ln Z(x),        E[n] = max over a of ln W[a] - ln W[a + n].

If ``x`` is an output, the bound is nearly tight, since the output ``y = x`` attains ``ln W[0] - ln W[u(x, x')]``.
Otherwise a scan of all outputs finds the largest score difference ``n = max over y of u(x', y) - u(x, y)``. Then
``E[n]``, which is smaller, replaces ``E[u(x, x') + 1]`` in the bound (docs/proofs/santext.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Floats, ScoreRandomizer

#: Margin added to each log-ratio. It is far above the rounding error of double precision, and too small to change a
#: printed digit.
LOG_MARGIN = 1e-11
_OUTPUTS_AT_ONCE = 256


class LossEnvelope:
    """Largest change of a log weight between two scores that differ by at most ``n``.

    A score is a distance as an integer, and ``W[a]`` is the weight of the score ``a``. The class computes
    ``E[n] = max over a, m <= n of ln W[a] - ln W[a + m]``. Scores above the last one have the weight of the last one,
    so ``E`` is constant for large ``n``. The class computes each value at its first use: the time for all values is
    quadratic in the number of scores, and small vocabularies need few values.

    Args:
        log_weights: ``ln W``, shape ``(scores,)``.
    """

    def __init__(self, log_weights: Floats) -> None:
        self._log_weights = log_weights
        self._values = np.full(len(log_weights), np.nan)
        if (np.diff(log_weights) > 0).any():  # if weights never increase with the score, the maximum is at m = n
            self._compute_values(np.arange(len(log_weights)))
            self._values = np.maximum.accumulate(self._values)

    def __call__(self, steps: NDArray[Any]) -> Floats:
        """Return the largest change of a log weight between two scores that differ by at most n, for each given n.

        Args:
            steps: Score differences n, of any shape; a negative one counts as 0.

        Returns:
            ``E[n]``, as the class defines it, in the shape of ``steps``.
        """
        steps = np.clip(steps, 0, len(self._values) - 1)
        self._compute_values(np.unique(steps[np.isnan(self._values[steps])]))
        return self._values[steps]

    def _compute_values(self, steps: NDArray[Any]) -> None:
        """Compute and store the largest change of a log weight between scores that differ by exactly n.

        Args:
            steps: The score differences n.
        """
        count = len(self._log_weights)
        for n in steps:
            self._values[n] = (self._log_weights[: count - n] - self._log_weights[n:]).max()


@dataclass(frozen=True)
class LossBounds:
    """Upper bounds on the privacy losses of one mechanism (random replacement of words) for pairs of inputs.

    Attributes:
        randomizer: Output distribution of the mechanism, computed from the scores (integer distances) of all pairs of
            words.
    """

    randomizer: ScoreRandomizer

    @property
    def log_totals(self) -> Floats:
        """Logarithms of the normalizers ``Z(x)`` (sums of output weights) of all inputs ``x``, shape ``(inputs,)``."""
        return self.randomizer.log_totals

    @cached_property
    def envelope(self) -> LossEnvelope:
        """Function that returns ``E[n]``: the largest change of a log weight between scores at most n apart."""
        return LossEnvelope(np.log(self.randomizer.score_weights.astype(np.float64)))

    def bound_losses(self, first: Any, second: Any, differences: NDArray[Any]) -> Floats:
        """Return an upper bound on the privacy loss of each pair of words, from its largest score difference.

        The score ``u`` of two words is their distance as an integer. The three arguments are broadcast to a common
        shape.

        Args:
            first: Inputs ``x``.
            second: Inputs ``x'``.
            differences: For each pair, an upper bound on ``u(x', y) - u(x, y)`` over all outputs ``y``.
        """
        return self.envelope(differences) + (self.log_totals[second] - self.log_totals[first]) + LOG_MARGIN

    def compute_loss(self, first: int, second: int) -> tuple[float, int]:
        """Compute the largest privacy loss of one pair of input words over all outputs.

        Args:
            first: Id of the input ``x``.
            second: Id of the input ``x'``.

        Returns:
            The loss, and the id of the output at which it is largest.
        """
        weights = self.randomizer.log_weights[self.randomizer.scores.score_inputs(np.array([first, second]))]
        ratios = np.where(self.randomizer.base > 0, weights[0] - weights[1], -np.inf)
        output = int(ratios.argmax())
        return float(ratios[output] + self.log_totals[second] - self.log_totals[first]), output


def find_largest_differences(scores: NDArray[Any], others: NDArray[Any], outputs: NDArray[np.intp]) -> NDArray[Any]:
    """Return the largest ``u(x', y) - u(x, y)`` over all outputs ``y``, for one input ``x`` and several inputs ``x'``.

    The score ``u`` of two words is their distance as an integer.

    Args:
        scores: Score ``u(x, y)`` (distance as an integer) of ``x`` and each word ``y``, shape ``(symbols,)`` or longer.
        others: Score ``u(x', y)`` of each ``x'`` and each word ``y``, shape ``(n, symbols)`` or wider.
        outputs: Ids of the outputs.

    Returns:
        One difference for each ``x'``, shape ``(n,)``.
    """
    return (others[:, outputs] - scores[outputs]).max(axis=1)


def compute_pure_ldp_epsilons(randomizers: Sequence[ScoreRandomizer]) -> list[tuple[float, int]]:
    """Compute the epsilon of pure local differential privacy for several mechanisms ``M``, which replace words.

    The epsilon is ``max over y of (max over x of ln Pr[M(x) = y] - min over x of ln Pr[M(x) = y])``, plus the constant
    ``LOG_MARGIN`` for rounding errors. The inner maximum and minimum are over all input words ``x``.

    Args:
        randomizers: Output distributions of the mechanisms. Their attribute ``scores`` must be the same object.

    Returns:
        For each mechanism its epsilon, and the id of the output ``y`` with the maximum.
    """
    scores = randomizers[0].scores
    gaps: Floats = np.full((len(randomizers), scores.symbol_count), -np.inf)
    for start in range(0, scores.symbol_count, _OUTPUTS_AT_ONCE):
        outputs = np.arange(start, min(start + _OUTPUTS_AT_ONCE, scores.symbol_count))
        of_outputs = scores.score_outputs(outputs)
        for gap, randomizer in zip(gaps, randomizers, strict=True):
            logs = np.take(randomizer.log_weights, of_outputs)
            logs -= randomizer.log_totals
            gap[outputs] = np.where(randomizer.base[outputs] > 0, logs.max(axis=1) - logs.min(axis=1), -np.inf)
    return [(float(gap.max()) + LOG_MARGIN, int(gap.argmax())) for gap in gaps]
