"""The staircase over a base that follows the text (docs/proofs/staircase.md, "A base that follows the text").

    b_c(y) = b(y) W_c(class(y))

A context ``c`` is what is public around one drawn mention: visible words, kinds and marks on both sides, and what was
drawn before it (``mechanisms.staircase.tables``). ``W_c`` are positive integers, so ``b_c(y) >= 1`` for every output
in every context. The rest is the staircase with ``b_c`` for ``b``: it draws from the same rows, and loses no more.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import MAX_TOTAL, Integers, uniform_below
from textveil.mechanisms.protocol import CONTEXT_POSITIONS
from textveil.mechanisms.staircase.staircase import Staircase, at_most
from textveil.mechanisms.staircase.tables import ContextTable

#: Drawn at a time, so that what is computed on the way stays in the cache.
_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class FluentStaircase:
    """The staircase of one level over one set of outputs, with a base for every context.

    Attributes:
        plain: The staircase without context: its ``base`` is ``b``.
        context: What the base makes of a context.
    """

    plain: Staircase
    context: ContextTable

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Checks that totals stay below 2**62 in every context. ``b_c >= 1`` and ``1 <= H <= S`` hold by construction.

        Raises:
            BundleDamaged: They may not.
        """
        largest = int(self.context.weights.max()) * self.plain.base_sum
        budget = max(1, int(self.plain.level.share * largest))
        if self.plain.unit * largest + self.plain.factor * budget >= MAX_TOTAL:
            raise BundleDamaged("context.safetensors: the totals of a level are too large")

    @property
    def near(self) -> float:
        """The most that ``p_near`` is in any context: ``F / (F + G / max(h, 1 / S))``, ``S`` its smallest."""
        share = max(float(self.plain.level.share), 1 / self._smallest_sum)
        return self.plain.factor * share / (self.plain.unit + self.plain.factor * share)

    @property
    def guess_gain(self) -> float:
        """The most that ``C`` is in any context: ``H`` is more than ``h S - 1``, and at least 1."""
        share = max(float(self.plain.level.share) - 1 / self._smallest_sum, 0.0)
        return (self.plain.unit + self.plain.factor) / (self.plain.unit + self.plain.factor * share)

    @property
    def _smallest_sum(self) -> int:
        return int(self.context.weights.min()) * self.plain.base_sum

    def at(self, context: Integers) -> Staircase:
        """Returns the staircase of one context, the definition in full.

        Args:
            context: Elements at ``CONTEXT_POSITIONS``, shape ``(4,)``.
        """
        factors = self.context.factors(context[None])[0]
        base = self.plain.base * factors[self.context.classes]
        staircase = replace(self.plain, base=base, sums=np.cumsum(base))
        staircase.check()
        return staircase

    @cached_property
    def alone(self) -> Staircase:
        """The staircase of a mention with nothing around it."""
        return self.at(np.full(len(CONTEXT_POSITIONS), self.context.elements.edge))

    def draw(self, inputs: Integers, contexts: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for every input in its context, independently, shape ``(n,)``.

        Args:
            inputs: Input ids, ``<unk>`` last, shape ``(n,)``.
            contexts: Elements at ``CONTEXT_POSITIONS``, shape ``(n, 4)``.
            random_uint64: Gives uniform words.

        Privacy:
            As ``Staircase.draw``: of the three ways to an output all are always computed.
        """
        outputs = np.empty(len(inputs), dtype=np.int64)
        for start in range(0, len(inputs), _BLOCK):
            part = slice(start, start + _BLOCK)
            line = self._line(inputs[part], contexts[part])
            u = uniform_below(line.total, random_uint64)
            w = uniform_below(line.left, random_uint64)
            outputs[part] = self._select(line, u, w)
        return outputs

    def _line(self, inputs: Integers, contexts: Integers) -> "_Line":
        plain, classes = self.plain, self._classes
        factors = self.context.factors(contexts)
        ends = np.cumsum(factors * classes.mass, axis=1)
        base_sum = ends[:, -1]
        budget = np.maximum(1, _share_of(base_sum, plain.level.share))
        known = inputs < plain.table.symbols
        rows = np.where(known, inputs, 0)
        stored = plain.table.neighbors[rows].astype(np.int64)
        of_class = self.context.classes[stored]
        factor = np.take_along_axis(factors, of_class, axis=1)
        most = plain.base[stored] * factor
        most[:, 0] = np.minimum(most[:, 0], _share_of(budget, plain.level.own_share))
        most[~known] = 0
        dealt_before = np.cumsum(most, axis=1) - most
        budgets = np.clip(budget[:, None] - dealt_before, 0, most)
        starts = np.take_along_axis(ends - factors * classes.mass, of_class, axis=1) + factor * classes.before[stored]
        order = self._order[rows]  # as the stored words stand on the line
        removed = np.zeros((len(inputs), stored.shape[1] + 1), dtype=np.int64)
        np.cumsum(np.take_along_axis(budgets, order, axis=1), axis=1, out=removed[:, 1:])
        dealt = removed[:, -1]
        return _Line(
            factors=factors,
            ends=ends,
            base_sum=base_sum,
            total=plain.unit * base_sum + plain.factor * budget,
            stored=stored,
            dealt=np.cumsum(budgets, axis=1),
            shifted=np.take_along_axis(starts, order, axis=1) - removed[:, :-1],
            removed=removed,
            left=np.maximum(1, base_sum - dealt),
        )

    def _select(self, line: "_Line", u: Integers, w: Integers) -> Integers:
        """Returns the output that the two uniform integers name."""
        plain, classes, each = self.plain, self._classes, np.arange(len(u))
        of_budget = u - plain.unit * line.base_sum
        v = np.maximum(of_budget, 0) // plain.factor if plain.factor else np.zeros_like(u)
        near = at_most(line.dealt, each, v)
        # What is left of the base: step over every removed interval that begins at or before w.
        position = w + line.removed[each, at_most(line.shifted, each, w)]
        position = np.where(of_budget < 0, np.minimum(u // plain.unit, line.base_sum - 1), position)
        # Where that is on the line: its class, then its symbol in the class.
        k = np.minimum(at_most(line.ends, each, position), line.ends.shape[1] - 1)
        mass = line.factors[each, k] * classes.mass[k]
        inside = (position - (line.ends[each, k] - mass)) // line.factors[each, k]
        inside = np.minimum(inside, np.maximum(classes.mass[k] - 1, 0))
        # Equal steps, as in Staircase: a library's search takes branches that depend on where it ends.
        place = at_most(classes.sums[None], np.zeros_like(each), classes.starts[k] + inside)
        outputs = classes.ordered[np.minimum(place, len(classes.ordered) - 1)]
        stored = line.stored[each, np.minimum(near, line.stored.shape[1] - 1)]
        return np.where((of_budget >= 0) & (v < line.dealt[:, -1]), stored, outputs)

    @cached_property
    def _classes(self) -> "_Classes":
        return _Classes.of(self.plain.base, self.context.classes, self.context.scores.shape[1])

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """How the stored words of every symbol stand on the line, shape ``(symbols, k)``."""
        rank = np.empty(len(self._classes.ordered), dtype=np.int64)
        rank[self._classes.ordered] = np.arange(len(rank))
        # A word without mass may begin where the next one does: then the order of the two does not matter.
        return np.argsort(rank[self.plain.table.neighbors], axis=1, kind="stable")


@dataclass(frozen=True, kw_only=True)
class _Line:
    """The bases and the budgets of some mentions, ready to draw from.

    On the line of a mention the classes follow each other, each as long as its mass times its factor. Inside a class
    symbols follow by id. Shapes ``(n, classes)``, ``(n,)`` for totals, ``(n, k)`` for what is stored, ``(n, k + 1)``
    for ``removed``.
    """

    factors: Integers
    ends: Integers  # running sums over classes
    base_sum: Integers  # S
    total: Integers  # G S + F H
    stored: Integers
    dealt: Integers  # running sums of a
    shifted: Integers  # where the removed intervals begin in what is left of the base, ascending
    removed: Integers  # running sums of a in that order, 0 first
    left: Integers  # max(1, S - A)


@dataclass(frozen=True, kw_only=True)
class _Classes:
    """Where symbols stand in their classes.

    Attributes:
        ordered: Symbols by class, then by id.
        sums: Running sums of the base in that order.
        starts: Base of all classes before each one.
        mass: Base of each class.
        before: Base of the symbols before each symbol in its class, by symbol.
    """

    ordered: Integers
    sums: Integers
    starts: Integers
    mass: Integers
    before: Integers

    @classmethod
    def of(cls, base: Integers, classes: NDArray[np.uint8], count: int) -> "_Classes":
        ordered = np.argsort(classes, kind="stable")
        sums = np.cumsum(base[ordered])
        mass = np.zeros(count, dtype=np.int64)
        np.add.at(mass, classes, base)
        starts = np.cumsum(mass) - mass
        before = np.empty_like(sums)
        before[ordered] = sums - base[ordered]
        return cls(ordered=ordered, sums=sums, starts=starts, mass=mass, before=before - starts[classes])


def _share_of(amounts: Integers, share: Any) -> Integers:
    """``floor(share amount)`` in 64 bits: both parts of the share have at most nine digits, and it is at most 1."""
    whole, rest = np.divmod(amounts, share.denominator)
    return whole * share.numerator + rest * share.numerator // share.denominator
