"""The output distribution of a staircase mechanism, for analysis. Sampling does not use this module."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textveil.mechanisms.arrays import Floats, Ids, Integers
from textveil.mechanisms.randomizer import Randomizer
from textveil.mechanisms.staircase.staircase import Staircase


@dataclass(frozen=True, eq=False, repr=False)
class StaircaseRandomizer(Randomizer):
    """The exact output probabilities of a staircase mechanism, which replaces words at random.

    Attributes:
        base: Public base weights ``b``, shape ``(symbol_count,)``.
        staircase: The mechanism.

    Example:
        >>> from textveil import Sanitizer
        >>> from textveil.text import make_plan
        >>> slots = make_plan(Sanitizer.load().bundle, epsilon=8).mechanism
        >>> randomizer = make_staircase_randomizer(slots.any_case)
        >>> randomizer.compute_rows(np.array([0, 1])).sum(axis=1).round(6).tolist()
        [1.0, 1.0]
    """

    base: Integers
    staircase: Staircase

    @property
    def symbol_count(self) -> int:
        """Number of words in the vocabulary (symbols). It is also the id of the input ``<unk>`` (unknown words)."""
        return self.staircase.table.symbol_count

    def compute_exact_row(self, token: int) -> list[int]:
        """Compute the exact weight of every word as an output for one input (``Staircase.compute_exact_row``)."""
        return self.staircase.compute_exact_row(token)

    def compute_rows(self, inputs: Ids) -> Floats:
        """Compute the probabilities of all outputs for each given input: ``Pr[M(x) = y]``, shape ``(n, symbols)``."""
        staircase = self.staircase
        stored, budgets = staircase.distribute_budget(inputs)
        a = np.zeros((len(inputs), self.symbol_count))
        np.put_along_axis(a, stored, budgets.astype(np.float64), axis=1)
        dealt = budgets.sum(axis=1)[:, None]
        spread = (staircase.budget - dealt) / np.maximum(1, staircase.base_sum - dealt)
        a += spread * (staircase.base - a)
        return (staircase.unit * staircase.base + staircase.factor * a) / staircase.total

    def compute_columns(self, outputs: Ids) -> Floats:
        """Compute the probabilities of given outputs for all inputs: ``Pr[M(x) = y]``, shape ``(n, inputs)``."""
        staircase, (inputs, values, starts, spread) = self.staircase, self._by_output
        base = staircase.base[outputs].astype(np.float64)
        a = np.zeros((len(outputs), self.input_count))
        for number, output in enumerate(outputs):
            entries = slice(starts[output], starts[output + 1])
            a[number, inputs[entries]] = values[entries]
        a += spread * (base[:, None] - a)
        return (staircase.unit * base[:, None] + staircase.factor * a) / staircase.total

    @cached_property
    def _by_output(self) -> tuple[Integers, Integers, Integers, Floats]:
        """Additional weights ``a(x, y)`` of all inputs ``x`` and outputs ``y``, sorted by output, as four arrays.

        An output is sampled in proportion to its weight: a base weight, and an additional weight that depends on the
        input. The additional weights of an input have the same sum (the budget) for all inputs.
        ``Staircase.distribute_budget`` gives ``a(x, y)`` of it to outputs near ``x``, and all other outputs share the
        rest in proportion to their base weights.

        1. The inputs ``x`` of the pairs with ``a(x, y) > 0``.
        2. ``a(x, y)`` of these pairs.
        3. For each output, the index of its first pair in these two arrays, in which its pairs follow each other.
        4. For each input, the rest of the budget, divided by the sum of the base weights of the outputs that share it.
        """
        stored, budgets = self.staircase.distribute_budget(np.arange(self.input_count))
        dealt = budgets.sum(axis=1)
        row, place = np.nonzero(budgets)
        order = np.argsort(stored[row, place], kind="stable")
        outputs = stored[row, place][order]
        starts = np.searchsorted(outputs, np.arange(self.symbol_count + 1))
        spread = (self.staircase.budget - dealt) / np.maximum(1, self.staircase.base_sum - dealt)
        return row[order], budgets[row, place][order], starts, spread


def make_staircase_randomizer(staircase: Staircase) -> StaircaseRandomizer:
    """Create the object with the output distribution of a staircase mechanism for every input word.

    Example:
        >>> from textveil import Sanitizer
        >>> from textveil.text import make_plan
        >>> slots = make_plan(Sanitizer.load().bundle, epsilon=8).mechanism
        >>> make_staircase_randomizer(slots.any_case).symbol_count == slots.any_case.table.symbol_count
        True
    """
    return StaircaseRandomizer(staircase.base, staircase)
