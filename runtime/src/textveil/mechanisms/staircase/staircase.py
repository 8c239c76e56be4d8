"""The staircase mechanism: pure local differential privacy per randomized word.

    Pr[M(x) = y] = (G b(y) + F a'(x, y)) / (G S + F H),        S = sum over y of b(y).

``b`` is one public base for all inputs. ``a'`` distributes a budget ``H``, the same for all inputs, over the outputs
near ``x``, with at most ``b(y)`` for each. So all rows have the same total, and no output of one input is more than
``1 + F / G <= exp(epsilon)`` times as likely as of another, for any stored neighbors (docs/proofs/staircase.md), as
long as no row of the bundle's table stores an id twice and the base has no zero (conditions 4 and 1). Such two-valued
mechanisms are extremal for local differential privacy (Kairouz, Oh, Viswanath 2014). Geng and Viswanath's mechanism for
numbers has the same name and is a different one.
"""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import MAX_TOTAL, draw_uniform_below

_ALL_ROLES, _LOWER_ROLES = 63, 48
#: Number of rows in one block of the check.
_BLOCK_ROWS = 1 << 11
_NEIGHBOR_TYPES = np.dtype(np.uint16), np.dtype(np.uint32)


def compute_output_role(*, function_words_kept: bool, lower: bool = False) -> int:
    """Return the bit that marks a symbol as a possible output.

    It is 1 if function words are kept and 2 if not; for outputs that are always written in lower case (``lower``), 16
    and 32. The bits 4 and 8 occur in older bundles and have no meaning.

    Example:
        >>> compute_output_role(function_words_kept=True) != compute_output_role(function_words_kept=False)
        True
    """
    return (1 if function_words_kept else 2) << (4 if lower else 0)


@dataclass(frozen=True, eq=False)
class StaircaseTable:
    """The neighbors and the base of a bundle.

    Inputs are the symbols, by id, and ``<unk>``, which has no neighbors.

    Attributes:
        neighbors: Ids of the nearest symbols of each symbol, nearest first, the symbol itself before all others; shape
            ``(symbol_count, k)``.
        base: Public weight of every symbol as an output, at least 1, shape ``(symbol_count,)``.
        roles: For every symbol, the sum of the bits of ``compute_output_role``: when it may be an output. Shape
            ``(symbol_count,)``. The guarantee holds for any roles.

    Example:
        >>> from textveil.bundle import DEFAULT_BUNDLE, TextBundle, open_bundle
        >>> bundle = open_bundle(DEFAULT_BUNDLE, TextBundle)
        >>> table = bundle.staircase_table
        >>> table.symbol_count == len(bundle.vocabulary), table.neighbors.shape[0] == table.symbol_count
        (True, True)
    """

    neighbors: NDArray[Any]
    base: NDArray[np.uint32]
    roles: NDArray[np.uint8]

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]], symbols: int) -> "StaircaseTable":
        """Check shapes, types and ranges of the arrays, and create the table.

        Raises:
            BundleDamaged: A shape or type is invalid, a row stores an id twice or an id that is not a symbol, a row
                does not begin with its own symbol, the base has a zero, or a role is unknown.
        """
        neighbors, base, roles = tensors["neighbors"], tensors["base"], tensors["roles"]
        if (
            neighbors.ndim != 2
            or len(neighbors) != symbols
            or neighbors.shape[1] < 1
            or neighbors.dtype not in _NEIGHBOR_TYPES
            or base.shape != (symbols,)
            or base.dtype != np.uint32
            or roles.shape != (symbols,)
            or roles.dtype != np.uint8
        ):
            raise BundleDamaged("staircase.safetensors: shapes or types do not match the vocabulary")
        highest = 0
        for start in range(0, symbols, _BLOCK_ROWS):  # all rows at once take four times the file
            ordered = neighbors[start : start + _BLOCK_ROWS].astype(np.uint32)  # faster than 16-bit values
            ordered.sort(axis=1)
            if (ordered[:, 1:] == ordered[:, :-1]).any():
                raise BundleDamaged("staircase.safetensors: a row stores a neighbor twice")
            highest = max(highest, int(ordered[:, -1].max()))
        if highest >= symbols or (neighbors[:, 0] != np.arange(symbols)).any():
            raise BundleDamaged(
                "staircase.safetensors: a row must begin with its own word and contain only words of the vocabulary"
            )
        if base.min() < 1:
            raise BundleDamaged("staircase.safetensors: a base weight is zero")
        if (roles & ~np.uint8(_ALL_ROLES)).any():
            raise BundleDamaged("staircase.safetensors: a word has an unknown role")
        return cls(neighbors, base, roles)

    def get_output_mask(self, *, function_words_kept: bool, lower: bool = False) -> NDArray[np.bool_]:
        """Return a mask of the symbols that may be output, shape ``(symbols,)``.

        Args:
            function_words_kept: Whether function words are kept.
            lower: Whether the output is always written in lower case, which permits more symbols. Ignored if the table
                does not have roles for lower case.
        """
        lower = lower and bool((self.roles & _LOWER_ROLES).any())
        return (self.roles & compute_output_role(function_words_kept=function_words_kept, lower=lower)) != 0

    @property
    def symbol_count(self) -> int:
        """Number of symbols; also the id of ``<unk>``."""
        return len(self.base)


#: Units of the sample space for one unit of base; ``F`` is an integer, so ``F / G`` is a multiple of ``1 / G``.
BASE_UNIT = 1 << 20
#: Largest epsilon of a level: ``F`` stays below 2**44.
MAX_EPSILON = 16
#: Number of rows in one block: their arrays stay in a processor's cache.
_ROWS_AT_ONCE = 1 << 9


@dataclass(frozen=True, kw_only=True)
class StaircaseLevel:
    """One level: its epsilon, and the distribution of its budget.

    Attributes:
        name: Name of the level.
        epsilon: ``L``, epsilon per randomized word, in ``(0, MAX_EPSILON]``.
        share: ``h``: the budget ``H`` is ``floor(h S)``, at least 1.

    Example:
        >>> StaircaseLevel(name="strict", epsilon=Decimal(4), share=Fraction(1, 20)).share
        Fraction(1, 20)
    """

    name: str
    epsilon: Decimal
    share: Fraction


def compute_factor(epsilon: Decimal, unit: int = BASE_UNIT) -> int:
    """Return ``(e**epsilon - 1) * unit``, rounded down: ``F`` in docs/proofs/staircase.md.

    Rounding down keeps the true loss at most ``epsilon``.

    Args:
        epsilon: Epsilon of the level.
        unit: ``G``, the weight of one unit of base.
    """
    with localcontext(prec=60, rounding=ROUND_FLOOR):
        # Decimal.exp rounds to nearest under every context: subtract more than its error before rounding down.
        return int(((epsilon.exp() * (1 - Decimal(10) ** -58) - 1) * unit).to_integral_value())


def compute_realized_ratio(epsilon: Decimal) -> float:
    """Return ``F / G``: ``e**epsilon - 1`` as the integers of a level realize it, never more.

    Example:
        >>> 7.389 < 1 + compute_realized_ratio(Decimal(2)) < 7.3891
        True
    """
    return compute_factor(epsilon) / BASE_UNIT


@dataclass(frozen=True, kw_only=True)
class _StaircaseRows:
    """The budgets of some inputs, prepared for sampling: one row for each input.

    ``a`` is the part of the budget that each of ``k`` stored outputs gets, without the remainder. Shapes are ``(rows,
    k)`` unless stated.
    """

    stored: Integers
    dealt: Integers  # running sums of a
    shifted: Integers  # start of each removed interval in the remaining base, ascending
    removed: Integers  # running sums of a in that order, 0 first: shape (rows, k + 1)
    total: Integers  # A
    left: Integers  # max(1, S - A)


@dataclass(frozen=True, eq=False, kw_only=True)
class Staircase:
    """The staircase mechanism of one level over one set of outputs.

    Attributes:
        table: Neighbors and base.
        level: Epsilon ``L``, and the share ``h`` of the budget.
        base: ``b``, 0 for symbols that are not outputs, shape ``(symbols,)``.
        sums: Running sums of ``base``.
        unit: ``G``, the factor of base weights (docs/proofs/staircase.md). Exhaustive tests set a small one.

    Example:
        >>> from textveil import Sanitizer
        >>> from textveil.text import make_plan
        >>> slots = make_plan(Sanitizer.load().bundle, epsilon=8).mechanism
        >>> slots.any_case.level.epsilon, slots.any_case.total <= 2**62
        (Decimal('8'), True)
    """

    table: StaircaseTable
    level: StaircaseLevel
    base: Integers
    sums: Integers
    unit: int = BASE_UNIT

    @classmethod
    def from_table(
        cls, table: StaircaseTable, level: StaircaseLevel, outputs: NDArray[np.bool_], unit: int = BASE_UNIT
    ) -> "Staircase":
        """Return the staircase of a level over a set of outputs, and check the theorem's conditions.

        Args:
            table: Neighbors and base.
            level: Epsilon ``L``, and the share ``h`` of the budget.
            outputs: Mask of the possible outputs, shape ``(symbols,)``.
            unit: ``G``, the factor of base weights (docs/proofs/staircase.md). Exhaustive tests set a small one.

        Raises:
            BundleDamaged: The set of outputs is empty, or the numbers do not fulfill the theorem's conditions.
        """
        base = np.where(outputs, table.base, 0).astype(np.int64)
        staircase = cls(table=table, level=level, base=base, sums=np.cumsum(base), unit=unit)
        staircase.check_conditions()
        return staircase

    @property
    def base_sum(self) -> int:
        """``S``, the sum of the base."""
        return int(self.sums[-1])

    @cached_property
    def budget(self) -> int:
        """``H``, the budget of every input, at least 1."""
        return max(1, int(self.level.share * self.base_sum))

    @cached_property
    def factor(self) -> int:
        """``F``, the weight of one unit of budget."""
        return compute_factor(self.level.epsilon, self.unit)

    @property
    def total(self) -> int:
        """``G S + F H``, the total weight of every input."""
        return self.unit * self.base_sum + self.factor * self.budget

    def check_conditions(self) -> None:
        """Check the conditions of the theorem on the integers used for sampling.

        The time does not depend on the size of the table, which is checked separately.

        Raises:
            BundleDamaged: A condition does not hold.
        """
        if not 0 < self.level.epsilon <= MAX_EPSILON or not 0 < self.level.share <= 1:
            raise BundleDamaged("mechanism.json: a level of the staircase is out of range")
        if not len(self.sums) or self.base_sum < 1 or not 1 <= self.budget <= self.base_sum:
            raise BundleDamaged(
                "staircase.safetensors: there is no output, or the extra weight exceeds the base weight"
            )
        if self.total >= MAX_TOTAL:
            raise BundleDamaged("staircase.safetensors: the weights of a level sum to too large a number")
        with localcontext(prec=60):
            smallest = self.level.epsilon.exp() * (1 - Decimal(10) ** -58)
            if not self.unit + self.factor <= smallest * self.unit:
                raise BundleDamaged("mechanism.json: the privacy loss of a level exceeds its stated epsilon")

    @property
    def near_probability(self) -> float:
        """``F H / (G S + F H)``, the probability that a sample comes from the budget (``p_near``).

        It is the same for every word.
        """
        return self.factor * self.budget / self.total

    @property
    def guess_gain(self) -> float:
        """``(G + F) S / (G S + F H)``, a bound of an attacker's gain (``C`` in the proof).

        For any prior belief of an attacker about one word, even if all other words are public, an output raises the
        probability of a correct guess on average by at most this factor.
        """
        return (self.unit + self.factor) * self.base_sum / self.total

    def distribute_budget(self, inputs: Integers) -> tuple[Integers, Integers]:
        """Return the stored ids and ``a`` of some inputs, in the order of the budget's distribution.

        ``a(x, y) = min(b(y), H - sum of the preceding a)``.

        Args:
            inputs: Input ids, ``<unk>`` last, shape ``(n,)``.

        Returns:
            Two arrays of shape ``(n, k)``. ``<unk>`` has no neighbors: all its ``a`` are 0.
        """
        known = inputs < self.table.symbol_count
        stored = self.table.neighbors[np.where(known, inputs, 0)].astype(np.int64)
        most = self.base[stored]
        most[~known] = 0
        dealt_before = np.cumsum(most, axis=1) - most
        return stored, np.minimum(np.maximum(self.budget - dealt_before, 0), most)

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output for every input, independently, shape ``(n,)``.

        ``u`` is uniform below ``G S + F H``, and ``w`` below ``S - A``, where ``A`` is the sum of ``a`` of the input.
        The function computes three outputs for every input: from the base, from the stored neighbors, and from the
        remaining base. ``u`` selects one of the three.

        Privacy:
            Which of the three is selected must stay private, since the bound covers the output alone. So the function
            always computes all three, with the same number of steps for every row. Each distinct input has one row: the
            running time reveals the number of rows.
        """
        is_present = np.zeros(self.table.symbol_count + 1, dtype=np.bool_)
        is_present[inputs] = True
        unique, numbers = np.flatnonzero(is_present), np.empty(len(is_present), dtype=np.intp)
        numbers[unique] = np.arange(len(unique))
        row_of, rows = numbers[inputs], self._prepare_rows(unique)
        u = draw_uniform_below(np.full(len(row_of), self.total), random_uint64)
        w = draw_uniform_below(rows.left[row_of], random_uint64)
        return self._select_outputs(rows, row_of, u, w)

    def _prepare_rows(self, inputs: Integers) -> _StaircaseRows:
        n, k = len(inputs), self.table.neighbors.shape[1]
        stored, dealt, shifted = np.empty((3, n, k), dtype=np.int64)
        removed = np.zeros((n, k + 1), dtype=np.int64)
        for start in range(0, n, _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            ids, budgets = self.distribute_budget(inputs[block])
            begins = np.arange(0, ids.size, k, dtype=np.intp)[:, None]  # first index of each row in the raveled array
            order = np.argsort(ids, axis=1) + begins  # by id: ids without base mass start like their successor
            stored[block] = ids
            np.cumsum(budgets, axis=1, out=dealt[block])
            np.cumsum(budgets.ravel()[order], axis=1, out=removed[block, 1:])
            starts = (self.sums[ids] - self.base[ids]).ravel()
            np.subtract(starts[order], removed[block, :-1], out=shifted[block])
        total = removed[:, -1]
        left = np.maximum(1, self.base_sum - total)
        return _StaircaseRows(stored=stored, dealt=dealt, shifted=shifted, removed=removed, total=total, left=left)

    def _select_outputs(self, rows: _StaircaseRows, row_of: NDArray[np.intp], u: Integers, w: Integers) -> Integers:
        """Return the output that the two uniform integers select for each sample."""
        k = rows.stored.shape[1]
        of_budget = u - self.unit * self.base_sum
        v = np.maximum(of_budget, 0) // self.factor if self.factor else np.zeros_like(u)
        near = count_at_most(rows.dealt, row_of, v)
        # Map w to the remaining base: add the length of every removed interval that begins at or before w.
        passed = count_at_most(rows.shifted, row_of, w)
        position = w + rows.removed.ravel()[row_of * (k + 1) + passed]
        position = np.where(of_budget < 0, np.minimum(u // self.unit, self.base_sum - 1), position)
        # A library's search branches on its result: its running time distinguished base samples from near ones.
        outputs = count_at_most(self.sums[None], np.zeros_like(row_of), position)
        stored = rows.stored.ravel()[row_of * k + np.minimum(near, k - 1)]
        return np.where((of_budget >= 0) & (v < rows.total[row_of]), stored, outputs)

    def compute_exact_row(self, token: int) -> list[int]:
        """Return the exact weight of every symbol as the output of one input: integers of any size.

        They sum to ``(G S + F H) (S - A)``, or to ``G S + F H`` if the budget has no remainder. ``A`` is the part of
        the budget that the stored neighbors get.
        """
        stored, budgets = self.distribute_budget(np.array([token]))
        a = np.zeros_like(self.base)
        a[stored[0]] = budgets[0]
        missing, rest = self.budget - int(a.sum()), self.base_sum - int(a.sum())
        if not missing:
            return [self.unit * b + self.factor * n for b, n in zip(self.base.tolist(), a.tolist(), strict=True)]
        return [
            self.unit * b * rest + self.factor * (n * rest + missing * (b - n))
            for b, n in zip(self.base.tolist(), a.tolist(), strict=True)
        ]


def count_at_most(ascending: Integers, row_of: NDArray[np.intp], values: Integers) -> NDArray[np.intp]:
    """Return for each value how many entries of its row are at most the value.

    Args:
        ascending: Rows in ascending order, shape ``(rows, k)``. The number of steps is the same for every row and
            value.
        row_of: Row of each value.
        values: The values.
    """
    k = ascending.shape[1]
    flat, before = ascending.ravel(), row_of * k - 1
    last: NDArray[np.intp] = before + k
    position: NDArray[np.intp] = before
    step = 1 << (k.bit_length() - 1)
    while step:
        probe = np.minimum(position + step, last)  # if the last entry is at most the value, all entries are
        position = np.where(flat[probe] <= values, probe, position)
        step >>= 1
    return position - before
