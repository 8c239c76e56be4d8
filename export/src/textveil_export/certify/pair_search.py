"""The worst pair of inputs found so far, by loss per unit of distance, and which pairs are looked at first."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os import cpu_count
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Floats
from textveil.mechanisms.baselines import KEPT, Table

from textveil_export.certify.loss_bounds import Losses, largest_differences
from textveil_export.certify.pair_scores import AllScores
from textveil_export.parallel import in_order
from textveil_export.progress import Progress, no_progress

_SEED_NEIGHBORS = 4


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The largest loss per unit of distance found so far, and where.

    Attributes:
        ratio: ``loss / d``.
        first, second: The inputs ``x`` and ``x'``; -1 before any pair was looked at.
        distance: ``d``.
    """

    ratio: float = 0.0
    first: int = -1
    second: int = -1
    distance: float = 0.0

    def or_worse(self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats) -> "Worst":
        """Returns the worst of this and of some pairs."""
        if not len(losses):
            return self
        ratios = losses / distances
        index = int(ratios.argmax())
        if ratios[index] <= self.ratio:
            return self
        return Worst(
            ratio=float(ratios[index]),
            first=int(first[index]),
            second=int(second[index]),
            distance=float(distances[index]),
        )


class Worsts:
    """The worst pair over all inputs and over sensitive inputs. Several threads may add to it.

    Args:
        sensitive: Which inputs are sensitive, shape ``(inputs,)``.
    """

    def __init__(self, sensitive: NDArray[np.bool_]) -> None:
        self.sensitive = sensitive
        self.over_all = Worst()
        self.over_sensitive = Worst()
        self._lock = Lock()

    @property
    def threshold(self) -> float:
        """A pair with a smaller ratio changes nothing: the worst over sensitive inputs is never above the other."""
        return max(self.over_sensitive.ratio, 1e-9)

    def add(self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats) -> None:
        """Takes the losses of some pairs into account; shapes ``(n,)``."""
        both = self.sensitive[first] & self.sensitive[second]
        with self._lock:
            self.over_all = self.over_all.or_worse(losses, first, second, distances)
            self.over_sensitive = self.over_sensitive.or_worse(losses[both], first[both], second[both], distances[both])


def sensitive_inputs(table: Table) -> NDArray[np.bool_]:
    """Tells which inputs are sensitive under SanText+: never kept, ``<unk>`` too; shape ``(inputs,)``."""
    return np.append((table.roles & KEPT) == 0, True)


def near_pairs(neighbors: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns pairs of near inputs in both orders: a good first guess makes the bound skip nearly all others."""
    near = neighbors[:, :_SEED_NEIGHBORS].astype(np.intp)
    first = np.repeat(np.arange(len(near)), near.shape[1])
    second = near.ravel()
    apart = first != second
    first, second = first[apart], second[apart]
    return np.concatenate([first, second]), np.concatenate([second, first])


_NEAREST_OUTPUTS = 1024
_SCANNED_AT_ONCE = 512


def worst_ratios(
    every: AllScores, table: Table, losses: Sequence[Losses], progress: Progress = no_progress
) -> list[Worsts]:
    """Returns ``eps*`` of several mechanisms, over all ordered pairs: it can only overstate.

    Args:
        every: Scores of all pairs.
        table: Their table: which inputs are near to one another, and which are sensitive.
        losses: The mechanisms, on these scores.
        progress: Called with inputs done.
    """
    sensitive = sensitive_inputs(table)
    searches = [_Search(every, of_one, Worsts(sensitive)) for of_one in losses]
    first, second = near_pairs(table.neighbors)
    for search in searches:
        search.settle(first, second)

    def scan(block: NDArray[np.intp]) -> None:
        for search in searches:
            search.scan_outputs(block)

    every.each("certifying outputs", scan, progress)
    groups: dict[bytes, list[_Search]] = {}
    for search in searches:
        groups.setdefault(search.is_output.tobytes(), []).append(search)
    with ThreadPoolExecutor(cpu_count()) as pool:
        for number, group in enumerate(groups.values(), 1):
            differences = Differences.of(every, group[0].is_output)
            scan_row = partial(_scan_others, differences, group)
            for done, _ in enumerate(in_order(pool, scan_row, range(len(differences.inputs))), 1):
                progress(f"certifying other inputs ({number} of {len(groups)})", done, len(differences.inputs))
    return [search.worsts for search in searches]


class _Search:
    """The search for the worst pair of one mechanism."""

    def __init__(self, every: AllScores, losses: Losses, worsts: Worsts) -> None:
        self.every, self.losses, self.worsts = every, losses, worsts
        self.is_output = np.append(losses.channel.base > 0, False)

    def settle(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> None:
        """Takes the bound of pairs whose first is an output as their loss."""
        apart = self.is_output[first] & (first != second)
        first, second = first[apart], second[apart]
        self.record(first, second, self.every.scores[first, second].astype(np.int64) + 1)

    def record(self, first: NDArray[np.intp], second: NDArray[np.intp], differences: NDArray[Any]) -> None:
        """Takes the bounds of pairs, given their differences of scores, as their losses; distances exact."""
        distances = self.every.metric.scaled(self.every.metric.squared(first, second))
        apart = distances > 0  # inputs at distance 0 have the same distances to all, so the same row
        losses = self.losses.bounds(first, second, differences)
        self.worsts.add(losses[apart], first[apart], second[apart], distances[apart])

    def scan_outputs(self, block: NDArray[np.intp]) -> None:
        """Covers all pairs ``(x, x')`` with ``x`` in the block and an output."""
        block = block[self.is_output[block]]
        row, second = np.nonzero(self.promising(block))
        self.settle(block[row], second)

    def promising(self, block: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tells which pairs ``(x, x')`` of the ``x`` in a block with all ``x'`` may be worse than the worst so far.

        ``d >= u / grid``, so a pair is not if ``E[u + 1] - threshold u / grid <= ln Z(x) - ln Z(x')``: one look-up.
        """
        of_pairs = self.every.scores[block]
        scores = np.arange(self.every.largest + 1)
        if of_pairs.size < len(scores):  # as in a small vocabulary: no look at scores that no pair has
            scores = np.unique(of_pairs)
        gain = np.zeros(self.every.largest + 1)
        gain[scores] = self.losses.bounds(0, 0, scores + 1) - self.worsts.threshold * scores / self.every.metric.grid
        log_totals = self.losses.log_totals
        return gain[of_pairs] > log_totals[block][:, None] - log_totals[None, :]


def _scan_others(differences: "Differences", searches: Sequence[_Search], position: int) -> None:
    """Covers all pairs ``(x, x')`` of one ``x`` that is not an output, for mechanisms with the same outputs."""
    x = int(differences.inputs[position])
    every, upper = differences.every, differences.upper(position)
    all_inputs = np.arange(len(upper))
    distances = every.scores[x] / every.metric.grid  # rounded down
    open_pairs = np.zeros(len(upper), dtype=bool)
    for search in searches:
        open_pairs |= search.losses.bounds(x, all_inputs, upper) > search.worsts.threshold * distances
    open_pairs[x] = False
    seconds = np.flatnonzero(open_pairs)
    exact = differences.exact(position, seconds)
    for search in searches:
        search.record(np.full(len(seconds), x), seconds, exact)


class Differences:
    """``n(x, x')``, the largest ``u(x', y) - u(x, y)`` over the outputs, for the inputs ``x`` that are not outputs.

    It is about distances alone: what was found for one mechanism serves all that have the same outputs. A cheap upper
    bound is made for all pairs of an ``x`` when they are first asked for, and the truth for single pairs on demand.
    """

    def __init__(self, every: AllScores, is_output: NDArray[np.bool_]) -> None:
        self.every = every
        self.inputs = np.flatnonzero(~is_output)
        self._outputs = np.flatnonzero(is_output)
        self._upper = np.zeros((len(self.inputs), len(is_output)), dtype=np.int32)
        self._exact = np.zeros(self._upper.shape, dtype=bool)
        self._farthest = np.concatenate([every.scores[b][:, self._outputs].max(axis=1) for b in every.blocks(256)])

    @classmethod
    def of(cls, every: AllScores, is_output: NDArray[np.bool_]) -> "Differences":
        """Returns the differences for a set of outputs, shape ``(inputs,)``; an earlier search may have made them."""
        return every.once(is_output.tobytes(), lambda: cls(every, is_output))

    def upper(self, position: int) -> NDArray[np.int32]:
        """Returns upper bounds for ``x = inputs[position]`` and all ``x'``, shape ``(inputs,)``."""
        x = self.inputs[position]
        if not self._exact[position, x]:  # also marks that the row is there
            self._upper[position] = self._bound(self.every.scores[x].astype(np.int32))
            self._upper[position, x] = 0
            self._exact[position, x] = True
        return self._upper[position]

    def exact(self, position: int, seconds: NDArray[np.intp]) -> NDArray[np.int32]:
        """Returns the truth for ``x = inputs[position]`` and some ``x'``, shape ``(n,)``."""
        scores = self.every.scores[self.inputs[position]].astype(np.int32)
        unknown = seconds[~self._exact[position, seconds]]
        for start in range(0, len(unknown), _SCANNED_AT_ONCE):
            part = unknown[start : start + _SCANNED_AT_ONCE]
            others = self.every.scores[part].astype(np.int32)
            self._upper[position, part] = largest_differences(scores, others, self._outputs)
        self._exact[position, unknown] = True
        return self._upper[position, seconds]

    def _bound(self, scores: NDArray[np.int32]) -> NDArray[np.int32]:
        """Bounds by one step more than the distance, or less: looks at the nearest outputs; the rest are farther."""
        order = self._outputs[np.argsort(scores[self._outputs])]
        near, rest = order[:_NEAREST_OUTPUTS], order[_NEAREST_OUTPUTS:]
        upper = np.full(len(scores), np.iinfo(np.int32).min, dtype=np.int32)
        for start in range(0, len(near), 64):
            part = near[start : start + 64]  # distances are symmetric: rows of the outputs, read along the file
            np.maximum(upper, (self.every.scores[part] - scores[part, None]).max(axis=0), out=upper)
        if len(rest):
            np.maximum(upper, self._farthest - scores[rest[0]], out=upper)
        return np.minimum(upper, scores + 1)
