"""The staircase mechanism: pure local differential privacy per randomized word.

    Pr[M(x) = y] = (G b(y) + F a'(x, y)) / (G S + F H),        S = sum over y of b(y).

``b(y)`` is the public base weight of output ``y``, the same for all inputs. ``a'(x, y)`` is the part of the budget
``H`` that output ``y`` gets for input ``x``. The budget is an additional weight that the outputs nearest to ``x``
share; each gets at most ``b(y)``. It is the same for all inputs. One unit of base weight counts ``G`` times, and one
unit of budget ``F`` times.

The denominator is the total weight of all outputs, which is the same for all inputs. For any two inputs, the
probabilities of an output differ at most by the factor ``1 + F / G <= exp(epsilon)``, for any stored neighbors
(docs/proofs/staircase.md). The bound requires that no row of the bundle's table has an id twice, and that no base
weight is zero (conditions 4 and 1).

Such mechanisms with two probabilities for each output are extremal for local differential privacy (Kairouz, Oh,
Viswanath 2014). Geng and Viswanath's mechanism for numbers has the same name but is a different mechanism.
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
from textveil.mechanisms.entropy import RandomUint64, draw_uniform_below
from textveil.mechanisms.integer_sampling import MAX_TOTAL

_ALL_ROLES, _LOWER_ROLES = 63, 48
#: Number of rows that are checked at a time.
_BLOCK_ROWS = 1 << 11
_NEIGHBOR_TYPES = np.dtype(np.uint16), np.dtype(np.uint32)


def compute_output_role(*, function_words_kept: bool, lower: bool = False) -> int:
    """Return the bit of ``StaircaseTable.roles`` that marks a word as a possible output.

    Args:
        function_words_kept: Whether function words, such as "the", are left unchanged (mode ``words``) or randomized
            (mode ``all``).
        lower: Whether the output is in lower case wherever it appears in the text.

    Returns:
        1 if function words are left unchanged, 2 if not; for outputs in lower case, 16 and 32 instead. Older bundles
        (data folders) also have the bits 4 and 8, which have no meaning.

    Example:
        >>> compute_output_role(function_words_kept=True) != compute_output_role(function_words_kept=False)
        True
    """
    return (1 if function_words_kept else 2) << (4 if lower else 0)


@dataclass(frozen=True, eq=False, repr=False)
class StaircaseTable:
    """The nearest words (neighbors) and the base weight of each word, for the staircase mechanism.

    The inputs are the words of the vocabulary (*symbols*), in the order of their ids, and ``<unk>`` for unknown words,
    which has no neighbors.

    Attributes:
        neighbors: For each word, the id of the word itself, followed by the ids of its nearest words, nearest first;
            shape ``(symbol_count, k)``. Rows with fewer neighbors end with ids of words that are never an output.
        base: Public base weight of every symbol as an output, at least 1, shape ``(symbol_count,)``.
        roles: For every symbol, the sum of the bits (``compute_output_role``) of all settings in which it is a possible
            output, shape ``(symbol_count,)``. The privacy guarantee holds for any roles.

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
        """Create the table from the arrays of a file, after checking shapes, types and ranges.

        Args:
            tensors: Dictionary from the name of each array in ``staircase.safetensors`` to the array.
            symbols: Number of words of the vocabulary.

        Raises:
            BundleDamaged: A shape or type is invalid, a row of neighbors (nearest words) has an id twice or an unknown
                id, a row does not begin with the word itself, a base weight is zero, or a role is unknown.
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
        for start in range(0, symbols, _BLOCK_ROWS):  # all rows at once would need four times the file's size
            ordered = neighbors[start : start + _BLOCK_ROWS].astype(np.uint32)  # faster than 16-bit values
            ordered.sort(axis=1)
            if (ordered[:, 1:] == ordered[:, :-1]).any():
                raise BundleDamaged("staircase.safetensors: a row has the same neighbor twice")
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
        """Return, for every word of the vocabulary, whether it is a possible output; shape ``(symbols,)``.

        Args:
            function_words_kept: Whether function words, such as "the", are left unchanged.
            lower: Whether the output is in lower case wherever it appears in the text. More words are possible outputs
                in lower case. The argument is ignored if the table has only one set of possible outputs for all places.
        """
        lower = lower and bool((self.roles & _LOWER_ROLES).any())
        return (self.roles & compute_output_role(function_words_kept=function_words_kept, lower=lower)) != 0

    @property
    def symbol_count(self) -> int:
        """Number of words in the vocabulary (symbols). This number is also the id of ``<unk>`` (unknown words)."""
        return len(self.base)


#: Weight ``G`` of one unit of base. The weight ``F`` of one unit of budget is an integer, so ``F / G`` is a multiple of
#: ``1 / G``.
BASE_UNIT = 1 << 20
#: Largest epsilon of a level: ``F`` stays below 2**44.
MAX_EPSILON = 16
#: Number of rows in one block, small enough for the cache of a processor.
_ROWS_AT_ONCE = 1 << 9


@dataclass(frozen=True, kw_only=True)
class StaircaseLevel:
    """Parameters of the staircase mechanism (random replacement of words) at one epsilon.

    Attributes:
        name: Name by which users select these parameters.
        epsilon: Epsilon ``L`` per randomized word, in ``(0, MAX_EPSILON]``.
        share: Ratio ``h`` of the budget to the sum ``S`` of all base weights. The budget ``H`` is ``floor(h S)``, at
            least 1.

    Example:
        >>> StaircaseLevel(name="strict", epsilon=Decimal(4), share=Fraction(1, 20)).share
        Fraction(1, 20)
    """

    name: str
    epsilon: Decimal
    share: Fraction


def compute_factor(epsilon: Decimal, unit: int = BASE_UNIT) -> int:
    """Return the weight ``F`` of one unit of the budget (additional weight): ``(e**epsilon - 1) * unit``, rounded down.

    Because of rounding down, the actual privacy loss is at most ``epsilon`` (docs/proofs/staircase.md).

    Args:
        epsilon: Epsilon per word.
        unit: Factor ``G`` by which integer base weights are multiplied.
    """
    with localcontext(prec=60, rounding=ROUND_FLOOR):
        # Decimal.exp always rounds to nearest. Before rounding down, subtract more than its error.
        return int(((epsilon.exp() * (1 - Decimal(10) ** -58) - 1) * unit).to_integral_value())


def compute_realized_ratio(epsilon: Decimal) -> float:
    """Return ``F / G``: the weight of one unit of the budget, relative to that of one unit of base weight.

    The ratio is ``e**epsilon - 1`` up to the rounding of ``F``, and never more.

    Example:
        >>> 7.389 < 1 + compute_realized_ratio(Decimal(2)) < 7.3891
        True
    """
    return compute_factor(epsilon) / BASE_UNIT


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _StaircaseRows:
    """Precomputed data for sampling outputs of the staircase mechanism, with one row for each input word.

    ``a`` is the part of the budget that each of the ``k`` stored outputs (neighbors) gets. All other outputs share the
    rest of the budget (additional weight for outputs near the input). Arrays have the shape ``(rows, k)`` unless a
    comment states another shape.
    """

    stored: Integers
    dealt: Integers  # running sums of a
    shifted: Integers  # start of each removed interval in the remaining base, ascending
    removed: Integers  # running sums of a in that order, 0 first: shape (rows, k + 1)
    total: Integers  # A
    left: Integers  # max(1, S - A)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Staircase:
    """The staircase mechanism, which replaces words at random, at one epsilon with one set of possible outputs.

    Attributes:
        table: The nearest words of each word (neighbors), and the base weights.
        level: Epsilon ``L``, and the ratio ``h`` that determines the budget.
        base: Base weights ``b``, shape ``(symbols,)``; 0 for symbols that are not possible outputs.
        sums: Cumulative sums of ``base``.
        unit: Factor ``G`` by which integer base weights are multiplied (docs/proofs/staircase.md). Tests of all cases
            use a small factor.

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
        """Create the mechanism for one epsilon, and check the conditions of its privacy theorem.

        Args:
            table: The nearest words of each word (neighbors), and the base weights.
            level: Epsilon ``L``, and the ratio ``h`` that determines the budget.
            outputs: For every word of the vocabulary, whether it is a possible output; shape ``(symbols,)``.
            unit: Factor ``G`` by which integer base weights are multiplied (docs/proofs/staircase.md). Tests of all
                cases use a small factor.

        Raises:
            BundleDamaged: No output is possible, or the numbers do not satisfy the conditions.
        """
        base = np.where(outputs, table.base, 0).astype(np.int64)
        staircase = cls(table=table, level=level, base=base, sums=np.cumsum(base), unit=unit)
        staircase.check_conditions()
        return staircase

    @property
    def base_sum(self) -> int:
        """``S``, the sum of the base weights of all outputs."""
        return int(self.sums[-1])

    @cached_property
    def budget(self) -> int:
        """The budget ``H``: additional weight that the outputs nearest to an input divide among themselves.

        The budget is the share ``h`` of ``base_sum``, rounded down, and at least 1. It is the same for every input.
        """
        return max(1, int(self.level.share * self.base_sum))

    @cached_property
    def factor(self) -> int:
        """Weight ``F`` of one unit of the budget (additional weight that outputs near the input share)."""
        return compute_factor(self.level.epsilon, self.unit)

    @property
    def total(self) -> int:
        """Sum of the weights of all outputs, ``G S + F H`` (see ``draw_symbols``). It is the same for every input."""
        return self.unit * self.base_sum + self.factor * self.budget

    def check_conditions(self) -> None:
        """Check the conditions of the privacy theorem on the integers used for sampling.

        ``StaircaseTable.from_tensors`` has checked the table of neighbors (nearest words).

        Raises:
            BundleDamaged: A condition does not hold.
        """
        if not 0 < self.level.epsilon <= MAX_EPSILON or not 0 < self.level.share <= 1:
            raise BundleDamaged("mechanism.json: a level of the staircase is out of range")
        if not len(self.sums) or self.base_sum < 1 or not 1 <= self.budget <= self.base_sum:
            raise BundleDamaged(
                "staircase.safetensors: no output is possible, or the budget exceeds the sum of base weights"
            )
        if self.total >= MAX_TOTAL:
            raise BundleDamaged("staircase.safetensors: the sum of the weights of a level is too large")
        with localcontext(prec=60):
            smallest = self.level.epsilon.exp() * (1 - Decimal(10) ** -58)
            if not self.unit + self.factor <= smallest * self.unit:
                raise BundleDamaged("mechanism.json: the privacy loss of a level exceeds its stated epsilon")

    @property
    def near_probability(self) -> float:
        """Probability that a sample comes from the budget: ``F H / (G S + F H)``, with the symbols of ``draw_symbols``.

        The budget is the additional weight that outputs near the input share. So an output from the budget is mostly a
        word with a meaning near that of the input. The probability is the same for every input (``p_near`` in the
        proof).
        """
        return self.factor * self.budget / self.total

    @property
    def guess_gain(self) -> float:
        """Upper bound of an attacker's advantage from one output (``C`` in docs/proofs/staircase.md).

        Suppose that an attacker guesses one word and knows all others. Seeing one output multiplies the probability of
        a correct guess by at most this factor, on average over the outputs. This holds for any prior belief of the
        attacker.
        """
        return (self.unit + self.factor) * self.base_sum / self.total

    def distribute_budget(self, inputs: Integers) -> tuple[Integers, Integers]:
        """Distribute the budget (additional weight) of each input over its nearest words (neighbors), nearest first.

        The neighbor ``y`` of input ``x`` gets ``a(x, y) = min(b(y), H - sum of a for nearer neighbors)``, where
        ``b(y)`` is the base weight of ``y`` and ``H`` the whole budget.

        Args:
            inputs: Input ids, shape ``(n,)``; the last id is ``<unk>``.

        Returns:
            The ids of the neighbors, and their parts ``a`` of the budget; both of shape ``(n, k)``. All parts are 0 for
            ``<unk>``, which has no neighbors.
        """
        known = inputs < self.table.symbol_count
        stored = self.table.neighbors[np.where(known, inputs, 0)].astype(np.int64)
        most = self.base[stored]
        most[~known] = 0
        dealt_before = np.cumsum(most, axis=1) - most
        return stored, np.minimum(np.maximum(self.budget - dealt_before, 0), most)

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output word for every input word independently.

        The method samples two integers for each input: ``u`` below ``G S + F H``, the total weight of all outputs, and
        ``w`` below ``S - A``. Here ``S`` is the sum of all base weights, ``H`` the budget, ``G`` and ``F`` the weights
        of one unit of base and of budget, and ``A`` the part of the budget that the nearest words of the input (its
        neighbors in the table) get. From these integers, the method computes three outputs for every input: from all
        base weights, from the stored neighbors, and from the remaining base weights. ``u`` selects one of the three.

        Args:
            inputs: Input ids, shape ``(n,)``.
            random_uint64: Function that returns a given number of independent uniform 64-bit words.

        Returns:
            Ids of words of the vocabulary, shape ``(n,)``.

        Privacy:
            It must stay private which of the three outputs is selected, because the privacy bound covers only the
            output itself. Therefore the method always computes all three, with the same number of steps for every
            input. The running time reveals the number of distinct inputs.
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
            begins = np.arange(0, ids.size, k, dtype=np.intp)[:, None]  # index of each row in the flat array
            order = np.argsort(ids, axis=1) + begins  # by id: an id with base weight 0 begins where the next begins
            stored[block] = ids
            np.cumsum(budgets, axis=1, out=dealt[block])
            np.cumsum(budgets.ravel()[order], axis=1, out=removed[block, 1:])
            starts = (self.sums[ids] - self.base[ids]).ravel()
            np.subtract(starts[order], removed[block, :-1], out=shifted[block])
        total = removed[:, -1]
        left = np.maximum(1, self.base_sum - total)
        return _StaircaseRows(stored=stored, dealt=dealt, shifted=shifted, removed=removed, total=total, left=left)

    def _select_outputs(self, rows: _StaircaseRows, row_of: NDArray[np.intp], u: Integers, w: Integers) -> Integers:
        """Convert uniform integers ``u`` and ``w`` to the ids of the sampled outputs (``draw_symbols``)."""
        k = rows.stored.shape[1]
        of_budget = u - self.unit * self.base_sum
        v = np.maximum(of_budget, 0) // self.factor if self.factor else np.zeros_like(u)
        near = count_at_most(rows.dealt, row_of, v)
        # Map w to the remaining base weights: add the length of every removed interval that begins at or before w.
        passed = count_at_most(rows.shifted, row_of, w)
        position = w + rows.removed.ravel()[row_of * (k + 1) + passed]
        position = np.where(of_budget < 0, np.minimum(u // self.unit, self.base_sum - 1), position)
        # The search functions of numpy branch on their result: their running time would reveal the selected output.
        outputs = count_at_most(self.sums[None], np.zeros_like(row_of), position)
        stored = rows.stored.ravel()[row_of * k + np.minimum(near, k - 1)]
        return np.where((of_budget >= 0) & (v < rows.total[row_of]), stored, outputs)

    def compute_exact_row(self, token: int) -> list[int]:
        """Compute the exact integer weight of every word of the vocabulary as an output for one input.

        Args:
            token: Id of the input.

        Returns:
            One integer of any size for each word. The sum is ``(G S + F H) (S - A)``, with the symbols of
            ``draw_symbols``; or ``G S + F H`` if the nearest words get the whole budget.
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
    """Count, for each value, the entries of its row that are at most the value.

    The number of steps is the same for every row and value.

    Args:
        ascending: Rows whose entries are in ascending order, shape ``(rows, k)``.
        row_of: Index of the row for each value.
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
