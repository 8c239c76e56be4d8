"""The staircase mechanism for labels: any finite randomizer under pure LDP, exact.

    Pr[M(x) = y] = (G b(y) + F a(x, y)) / (G S + F H),    0 <= a(x, y) <= b(y),    sum over y of a(x, y) = H

``x`` is the class or cluster label of a text, and ``y`` the label that is released. The mechanism and its symbols are
those of ``textveil.mechanisms.staircase.staircase``, except that ``a`` is stored instead of computed from neighbors,
and that the budget has no remainder. Every randomizer with ``Q(y|x) <= exp(epsilon) Q(y|x')`` has this form, up to the
rounding of its integers (docs/proofs/index-staircase.md). Two-valued ones are extremal (Kairouz, Oh, Viswanath 2014).
"""

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.staircase.staircase import BASE_UNIT, Staircase, StaircaseLevel, StaircaseTable
from textveil.mechanisms.staircase.staircase_randomizer import make_staircase_randomizer

#: Maximum number of codes, and of indices, of a randomizer.
MAX_LABELS = 256


@dataclass(frozen=True, eq=False)
class LabelStaircase(Staircase):
    """The randomizer of one level (epsilon) from labels to labels; ``from_integers`` creates it.

    The input after the last label is ``<unk>`` in the terms of ``Randomizer``. Its distribution is the base itself.

    Attributes:
        budget_matrix: ``a``, shape ``(label_count, label_count)``: the part of the budget that each input gives to each
            output.

    Example:
        >>> budgets = np.array([[3, 0], [0, 3]])
        >>> staircase = LabelStaircase.from_integers("counts", Decimal(2), np.array([3, 3]), budgets, unit=1)
        >>> staircase.probability_matrix.round(3).tolist()
        [[0.875, 0.125], [0.125, 0.875]]
    """

    budget_matrix: Integers = field(kw_only=True)

    @classmethod
    def from_integers(
        cls, name: str, epsilon: Decimal, base: NDArray[Any], budget_matrix: NDArray[Any], unit: int = BASE_UNIT
    ) -> Self:
        """Check the conditions of the theorem on the integers of sampling, and create the mechanism.

        The conditions, in the symbols of the module's docstring: ``b >= 0``, and 0 for labels that are never released;
        ``0 <= a <= b``; every row of ``a`` sums to the same ``H``; ``1 <= H <= S``; ``G + F <= exp(epsilon) G`` in
        decimal arithmetic with directed rounding; ``G S + F H < 2**62``.

        Args:
            name: Name of the randomizer.
            epsilon: Epsilon between any two labels, in ``(0, 16]``.
            base: ``b``, int64, shape ``(n,)``, ``n`` from 2 to ``MAX_LABELS``.
            budget_matrix: ``a``, int64, shape ``(n, n)``.
            unit: ``G``; small in exhaustive tests.

        Raises:
            BundleDamaged: A condition does not hold.
        """
        label_count = len(base) if base.ndim == 1 else 0
        if (
            not 2 <= label_count <= MAX_LABELS
            or budget_matrix.shape != (label_count, label_count)
            or {base.dtype, budget_matrix.dtype} != {_INT64}
        ):
            raise BundleDamaged("a randomizer: an array has a wrong shape or type")
        total = sum(base.tolist())  # Python integers: sums of hostile values must not wrap
        if base.min() < 0 or not total >= 1 or total * unit >= MAX_TOTAL:
            raise BundleDamaged("a randomizer: a base weight is negative, or the sum of all is zero or too large")
        if budget_matrix.min() < 0 or (budget_matrix > base).any():
            raise BundleDamaged("a randomizer: a label has more extra weight than the base weight allows")
        budget = int(budget_matrix[0].sum())
        if (budget_matrix.sum(axis=1) != budget).any() or not 1 <= budget <= total:
            raise BundleDamaged("a randomizer: every row must have the same total of extra weight, above 0")
        if not epsilon.is_finite():  # a comparison with NaN raises
            raise BundleDamaged("a randomizer: epsilon must be a number")
        table = StaircaseTable(_make_index_rows(label_count, label_count), base, np.zeros(label_count, np.uint8))
        level = StaircaseLevel(name=name, epsilon=epsilon, share=Fraction(budget, total))
        staircase = cls(
            table=table, level=level, base=base, sums=np.cumsum(base), unit=unit, budget_matrix=budget_matrix
        )
        try:
            staircase.check_conditions()
        except BundleDamaged as error:
            raise BundleDamaged(
                "a randomizer: its privacy loss exceeds its stated epsilon, or its numbers are too large"
            ) from error
        return staircase

    @property
    def label_count(self) -> int:
        """The number of labels."""
        return len(self.base)

    def distribute_budget(self, inputs: Integers) -> tuple[Integers, Integers]:
        """Return the ids of all labels, and ``a``, one row for each input, shapes ``(n, labels)``."""
        known = inputs < self.label_count
        dealt = np.where(known[:, None], self.budget_matrix[np.where(known, inputs, 0)], 0)
        return _make_index_rows(len(inputs), self.label_count), dealt

    @property
    def probability_matrix(self) -> NDArray[np.float64]:
        """``Pr[M(x) = y]`` of all labels ``x`` and ``y``, shape ``(labels, labels)``."""
        return make_staircase_randomizer(self).compute_rows(np.arange(self.label_count))


_INT64 = np.dtype(np.int64)


def _make_index_rows(rows: int, codes: int) -> Integers:
    return np.tile(np.arange(codes), (rows, 1))
