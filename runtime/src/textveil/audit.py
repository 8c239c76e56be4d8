"""The audit of a law: by how much an output can favour one input over another, on the integers that ship.

For two inputs the loss is the largest log-ratio over all outputs,

    loss(x, x') = max over y of  ln Pr[M(x) = y] - ln Pr[M(x') = y]
                = max(T(x) / T(x'),  max over y stored for x of m(x, y) / m(x', y))  in logs  + ln Z(x') - ln Z(x),

with ``Pr[M(x) = y] = q(y) m(x, y) / Z(x)`` and ``m >= T >= 1``: an output that is not stored for ``x`` has
``m(x, y) = T(x)`` and ``m(x', y) >= T(x')``, so the tail term covers it (docs/proofs/audit.md). Nothing is drawn.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms import TableLaw
from textveil.sampling import Integers

Floats = NDArray[np.float64]

#: Added to every log-ratio: far more than double precision can lose in it, far less than anybody can see.
LOG_MARGIN = 1e-11


@dataclass(frozen=True)
class Audit:
    """The losses of one law of a table.

    Attributes:
        law: The law.
    """

    law: TableLaw

    @cached_property
    def log_stored(self) -> Floats:
        """``ln m(x, y_j)`` of every stored word, shape ``(inputs, k)``, whether an output or not."""
        return np.log(self.law.weights.astype(np.float64))[self.law.table.scores]

    @property
    def log_tail(self) -> Floats:
        """``ln T(x)``, shape ``(inputs,)``."""
        return self.log_stored[:, -1]

    @cached_property
    def log_total(self) -> Floats:
        """``ln Z(x)``, shape ``(inputs,)``."""
        inputs = np.arange(self.law.table.symbols + 1)
        parts = np.array_split(inputs, max(1, len(inputs) // 4096))
        return np.concatenate([np.log(self.law.rows(part).totals.astype(np.float64)) for part in parts])

    @cached_property
    def log_largest(self) -> Floats:
        """``ln max over outputs y of m(x, y)``, shape ``(inputs,)``."""
        stored = np.where(self._is_output, self.log_stored, -np.inf)
        return np.maximum(stored.max(axis=1), self.log_tail)

    def bounds(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
        """Cheap upper bounds of ``losses``: as if ``x'`` had every output of ``x`` in its tail. Broadcasts."""
        numerator = (self.log_largest - self.log_total)[first]
        return numerator + (self.log_total - self.log_tail)[second] + LOG_MARGIN

    def lipschitz_bounds(self, first: NDArray[np.intp], second: NDArray[np.intp], differences: Integers) -> Floats:
        """Upper bounds of ``losses`` that are true only if the stored neighbours and scores are those of the metric.

        The capped score ``min(u(x, y), u(x, y_k))`` then changes by at most ``u(x, x') + 1`` from ``x`` to ``x'``, for
        every output.

        Args:
            first: Inputs ``x``, shape ``(n,)``.
            second: Inputs ``x'``, shape ``(n,)``.
            differences: At least ``u(x, x') + 1``, shape ``(n,)``.
        """
        steps = np.minimum(differences, len(self._envelope) - 1)
        return self._envelope[steps] + self.log_total[second] - self.log_total[first] + LOG_MARGIN

    def losses(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> tuple[Floats, NDArray[np.int64]]:
        """The loss of pairs of inputs, rounded up by ``LOG_MARGIN``, and the outputs that attain it.

        Args:
            first: Inputs ``x``, shape ``(n,)``.
            second: Inputs ``x'``, shape ``(n,)``.

        Returns:
            Losses, shape ``(n,)``, and output ids, shape ``(n,)``; -1 where it is any word stored for neither.
        """
        stored = self.law.table.neighbours[first].astype(np.int64)
        ratios = self.log_stored[first] - self._log_weights(second, stored)
        ratios[~self._is_output[first]] = -np.inf
        best = ratios.argmax(axis=1)
        along = np.arange(len(first))
        tail = self.log_tail[first] - self.log_tail[second]
        outputs = np.where(ratios[along, best] >= tail, stored[along, best], -1)
        largest = np.maximum(ratios[along, best], tail)
        return largest + self.log_total[second] - self.log_total[first] + LOG_MARGIN, outputs

    def pure_loss(self) -> tuple[float, int]:
        """The pure LDP level: the largest log-ratio over all pairs of inputs and all outputs, and its output.

        For an output ``y`` it is ``max_x ln Pr[M(x) = y] - min_x ln Pr[M(x) = y]``. Inputs that do not store ``y``
        have ``T(x) q(y) / Z(x)``; those that do have more.
        """
        table, base = self.law.table, self.law.base
        tails = self.log_tail - self.log_total
        stored = self.log_stored - self.log_total[:, None]
        largest = np.full(table.symbols, tails.max())
        np.maximum.at(largest, table.neighbours.ravel(), stored.ravel())
        order = np.argsort(tails, kind="stable")
        smallest = np.full(table.symbols, np.inf)
        np.minimum.at(smallest, table.neighbours.ravel(), stored.ravel())
        for output in np.flatnonzero(base):
            storing = self._inputs_storing(int(output))
            position = 0  # the smallest tail among inputs that do not store this output
            while position < len(order) and order[position] in storing:
                position += 1
            if position < len(order):
                smallest[output] = min(smallest[output], tails[order[position]])
        gaps = np.where(base > 0, largest - smallest, -np.inf)
        return float(gaps.max()) + LOG_MARGIN, int(gaps.argmax())

    @cached_property
    def _envelope(self) -> Floats:
        return envelope(np.log(self.law.weights.astype(np.float64)))

    @cached_property
    def _is_output(self) -> NDArray[np.bool_]:
        return self.law.base[self.law.table.neighbours] > 0

    @cached_property
    def _storing(self) -> tuple[Integers, Integers]:
        """Inputs sorted by the output they store, and where each output's inputs begin."""
        flat = self.law.table.neighbours.astype(np.int64).ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.searchsorted(flat[order], np.arange(self.law.table.symbols + 1))
        return order // self.law.table.neighbours.shape[1], starts

    def _inputs_storing(self, output: int) -> set[int]:
        inputs, starts = self._storing
        return set(inputs[starts[output] : starts[output + 1]].tolist())

    @cached_property
    def _lookup(self) -> tuple[Integers, Floats]:
        """Keys ``input * inputs + output`` in ascending order with ``ln m``, to find a stored word by bisection."""
        stored = self.law.table.neighbours.astype(np.int64)
        order = np.argsort(stored, axis=1)
        keys = np.arange(len(stored))[:, None] * len(stored) + np.take_along_axis(stored, order, axis=1)
        return keys.ravel(), np.take_along_axis(self.log_stored, order, axis=1).ravel()

    def _log_weights(self, inputs: NDArray[np.intp], outputs: Integers) -> Floats:
        """``ln m(x, y)`` for inputs, shape ``(n,)``, and some outputs of each, shape ``(n, j)``."""
        keys, values = self._lookup
        wanted = inputs[:, None] * (self.law.table.symbols + 1) + outputs
        position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[position] == wanted, values[position], self.log_tail[inputs][:, None])


def envelope(log_weights: Floats) -> Floats:
    """``E[n] = max over a of ln W[a] - ln W[a + n]``, the most that ``n`` steps of score can change a log-weight.

    Non-decreasing, shape ``(scores + 1,)``; from the last entry on ``n`` no longer matters, since scores past the end
    share a weight.
    """
    count = len(log_weights)
    within = [float((log_weights[: count - n] - log_weights[n:]).max()) for n in range(count)]
    return np.maximum.accumulate(np.array([*within, within[-1]]))


def round_up(value: float, decimals: int = 4) -> float:
    """The next larger multiple of ``10**-decimals``: a printed bound can only overstate."""
    scale = 10**decimals
    return math.ceil(value * scale) / scale


def round_down(value: float, decimals: int = 4) -> float:
    """The next smaller multiple of ``10**-decimals``."""
    return -round_up(-value, decimals)
