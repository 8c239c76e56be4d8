"""The staircase mechanism for labels, which can represent any finite mechanism of pure local differential privacy.

    Pr[M(x) = y] = (G b(y) + F a(x, y)) / (G S + F H),    0 <= a(x, y) <= b(y),    sum over y of a(x, y) = H

``x`` is the class or cluster label of a text, and ``y`` the released label. ``b(y)`` is the base weight of ``y``, and
``S`` the sum of all base weights. ``a(x, y)`` is the part of the budget ``H`` that ``y`` gets for the input ``x``.
``G`` and ``F`` are the weights of one unit of base and of budget.

The mechanism for words (``textveil.mechanisms.staircase.staircase``) computes ``a`` from neighbors, and distributes the
rest of the budget over all other outputs. Here the bundle stores ``a``, which distributes the whole budget. Every
mechanism with ``Q(y|x) <= exp(epsilon) Q(y|x')`` has this form, up to the rounding of integers
(docs/proofs/index-staircase.md). Mechanisms with two probabilities for each output are extremal (Kairouz, Oh, Viswanath
2014).
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

#: Maximum number of input labels, and of released labels, of a randomizer.
MAX_LABELS = 256


@dataclass(frozen=True, eq=False, repr=False)
class LabelStaircase(Staircase):
    """The staircase mechanism for class labels at one epsilon: it replaces a label by a random label.

    Use ``from_integers`` to create a mechanism. As in every ``Randomizer``, there is an additional last input ``<unk>``
    for an unknown label. For this input, the probabilities of the outputs are in proportion to their base weights.

    Attributes:
        budget_matrix: For each input (row) and output (column), the part ``a`` of the budget that the output gets;
            shape ``(label_count, label_count)``.

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
        """Check the conditions of the privacy theorem on the integers used for sampling, and create the mechanism.

        The conditions are:

        * No base weight ``b`` is negative.
        * No label gets more of the budget than its base weight.
        * All inputs have the same total budget ``H``, from 1 to the sum ``S`` of the base weights.
        * ``G + F <= exp(epsilon) G``, where ``G`` is the weight of one unit of base weight, and ``F`` that of one unit
          of the budget. This comparison uses decimal arithmetic with directed rounding.
        * The total weight ``G S + F H`` is below ``2**62``.

        Args:
            name: Name of the mechanism in the bundle (data folder), such as ``counts``.
            epsilon: Epsilon for any two labels, in ``(0, 16]``.
            base: Base weights ``b``, int64, shape ``(n,)``, with ``n`` from 2 to ``MAX_LABELS``. The weight is 0 for
                labels that are never released.
            budget_matrix: Parts ``a`` of the budget, int64, shape ``(n, n)``.
            unit: Factor ``G`` by which integer base weights are multiplied. Tests of all cases use a small factor.

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
            raise BundleDamaged(
                "a randomizer: a base weight is negative, or the sum of all base weights is zero or too large"
            )
        if budget_matrix.min() < 0 or (budget_matrix > base).any():
            raise BundleDamaged("a randomizer: a label has more budget than its base weight")
        budget = int(budget_matrix[0].sum())
        if (budget_matrix.sum(axis=1) != budget).any() or not 1 <= budget <= total:
            raise BundleDamaged("a randomizer: every row must have the same total budget, above 0")
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
                "a randomizer: the privacy loss exceeds the stated epsilon, or the numbers are too large"
            ) from error
        return staircase

    @property
    def label_count(self) -> int:
        """Number of labels. The labels are both the inputs and the outputs of the mechanism."""
        return len(self.base)

    def distribute_budget(self, inputs: Integers) -> tuple[Integers, Integers]:
        """Return the part ``a`` of the budget (additional weight) that each label gets, for the given inputs.

        Returns:
            The ids of all labels, and the parts ``a`` of the budget; both of shape ``(n, labels)``, one row per input.
        """
        known = inputs < self.label_count
        dealt = np.where(known[:, None], self.budget_matrix[np.where(known, inputs, 0)], 0)
        return _make_index_rows(len(inputs), self.label_count), dealt

    @property
    def probability_matrix(self) -> NDArray[np.float64]:
        """``Pr[M(x) = y]`` for all labels ``x`` (row) and ``y`` (column), shape ``(labels, labels)``."""
        return make_staircase_randomizer(self).compute_rows(np.arange(self.label_count))


_INT64 = np.dtype(np.int64)


def _make_index_rows(rows: int, codes: int) -> Integers:
    return np.tile(np.arange(codes), (rows, 1))
