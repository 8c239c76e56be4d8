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

from textveil_export.certify.loss_bounds import LossBounds, find_largest_differences
from textveil_export.certify.pair_scores import PairScores
from textveil_export.parallel import map_in_order
from textveil_export.progress import Progress, ignore_progress

_SEED_NEIGHBORS = 4


@dataclass(frozen=True, kw_only=True)
class WorstPair:
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

    def include_pairs(
        self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats
    ) -> "WorstPair":
        """Returns the worst of this and of some pairs."""
        if not len(losses):
            return self
        ratios = losses / distances
        index = int(ratios.argmax())
        if ratios[index] <= self.ratio:
            return self
        return WorstPair(
            ratio=float(ratios[index]),
            first=int(first[index]),
            second=int(second[index]),
            distance=float(distances[index]),
        )


class WorstPairs:
    """The worst pair over all inputs and over sensitive inputs. Several threads may add to it.

    Args:
        sensitive: Which inputs are sensitive, shape ``(inputs,)``.
    """

    def __init__(self, sensitive: NDArray[np.bool_]) -> None:
        self.sensitive = sensitive
        self.overall = WorstPair()
        self.among_sensitive = WorstPair()
        self._lock = Lock()

    @property
    def threshold(self) -> float:
        """A pair with a smaller ratio changes nothing: the worst over sensitive inputs is never above the other."""
        return max(self.among_sensitive.ratio, 1e-9)

    def add_pairs(self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats) -> None:
        """Takes the losses of some pairs into account; shapes ``(n,)``."""
        both = self.sensitive[first] & self.sensitive[second]
        with self._lock:
            self.overall = self.overall.include_pairs(losses, first, second, distances)
            self.among_sensitive = self.among_sensitive.include_pairs(
                losses[both], first[both], second[both], distances[both]
            )


def find_sensitive_inputs(table: Table) -> NDArray[np.bool_]:
    """Tells which inputs are sensitive under SanText+: never kept, ``<unk>`` too; shape ``(inputs,)``."""
    return np.append((table.roles & KEPT) == 0, True)


def list_near_pairs(neighbors: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns pairs of near inputs in both orders: a good first guess makes the bound skip nearly all others."""
    near = neighbors[:, :_SEED_NEIGHBORS].astype(np.intp)
    first = np.repeat(np.arange(len(near)), near.shape[1])
    second = near.ravel()
    apart = first != second
    first, second = first[apart], second[apart]
    return np.concatenate([first, second]), np.concatenate([second, first])


_NEAREST_OUTPUTS = 1024
_SCANNED_AT_ONCE = 512


def find_worst_ratios(
    pair_scores: PairScores, table: Table, losses: Sequence[LossBounds], progress: Progress = ignore_progress
) -> list[WorstPairs]:
    """Returns ``eps*`` of several mechanisms, over all ordered pairs: it can only overstate.

    Args:
        pair_scores: Scores of all pairs.
        table: Their table: which inputs are near to one another, and which are sensitive.
        losses: The mechanisms, on these scores.
        progress: Called with inputs done.
    """
    sensitive = find_sensitive_inputs(table)
    searches = [_PairSearch(pair_scores, of_one, WorstPairs(sensitive)) for of_one in losses]
    first, second = list_near_pairs(table.neighbors)
    for search in searches:
        search.record_bounds(first, second)

    def scan(block: NDArray[np.intp]) -> None:
        for search in searches:
            search.scan_outputs(block)

    pair_scores.map_blocks("certifying outputs", scan, progress)
    groups: dict[bytes, list[_PairSearch]] = {}
    for search in searches:
        groups.setdefault(search.is_output.tobytes(), []).append(search)
    with ThreadPoolExecutor(cpu_count()) as pool:
        for number, group in enumerate(groups.values(), 1):
            differences = ScoreDifferences.get_or_make(pair_scores, group[0].is_output)
            scan_row = partial(_scan_input, differences, group)
            for done, _ in enumerate(map_in_order(pool, scan_row, range(len(differences.inputs))), 1):
                progress(f"certifying other inputs ({number} of {len(groups)})", done, len(differences.inputs))
    return [search.worsts for search in searches]


class _PairSearch:
    """The search for the worst pair of one mechanism."""

    def __init__(self, pair_scores: PairScores, losses: LossBounds, worsts: WorstPairs) -> None:
        self.pair_scores, self.losses, self.worsts = pair_scores, losses, worsts
        self.is_output = np.append(losses.channel.base > 0, False)

    def record_bounds(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> None:
        """Takes the bound of pairs whose first is an output as their loss."""
        apart = self.is_output[first] & (first != second)
        first, second = first[apart], second[apart]
        self.record_losses(first, second, self.pair_scores.scores[first, second].astype(np.int64) + 1)

    def record_losses(self, first: NDArray[np.intp], second: NDArray[np.intp], differences: NDArray[Any]) -> None:
        """Takes the bounds of pairs, given their differences of scores, as their losses; distances exact."""
        distances = self.pair_scores.metric.scaled(self.pair_scores.metric.squared(first, second))
        apart = distances > 0  # inputs at distance 0 have the same distances to all, so the same row
        losses = self.losses.bound_losses(first, second, differences)
        self.worsts.add_pairs(losses[apart], first[apart], second[apart], distances[apart])

    def scan_outputs(self, block: NDArray[np.intp]) -> None:
        """Covers all pairs ``(x, x')`` with ``x`` in the block and an output."""
        block = block[self.is_output[block]]
        row, second = np.nonzero(self.find_open_pairs(block))
        self.record_bounds(block[row], second)

    def find_open_pairs(self, block: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tells which pairs ``(x, x')`` of the ``x`` in a block with all ``x'`` may be worse than the worst so far.

        ``d >= u / grid``, so a pair is not if ``E[u + 1] - threshold u / grid <= ln Z(x) - ln Z(x')``: one look-up.
        """
        of_pairs = self.pair_scores.scores[block]
        scores = np.arange(self.pair_scores.largest + 1)
        if of_pairs.size < len(scores):  # as in a small vocabulary: no look at scores that no pair has
            scores = np.unique(of_pairs)
        gain = np.zeros(self.pair_scores.largest + 1)
        gain[scores] = (
            self.losses.bound_losses(0, 0, scores + 1) - self.worsts.threshold * scores / self.pair_scores.metric.grid
        )
        log_totals = self.losses.log_totals
        return gain[of_pairs] > log_totals[block][:, None] - log_totals[None, :]


def _scan_input(differences: "ScoreDifferences", searches: Sequence[_PairSearch], position: int) -> None:
    """Covers all pairs ``(x, x')`` of one ``x`` that is not an output, for mechanisms with the same outputs."""
    x = int(differences.inputs[position])
    pair_scores, upper = differences.pair_scores, differences.bound_row(position)
    all_inputs = np.arange(len(upper))
    distances = pair_scores.scores[x] / pair_scores.metric.grid  # rounded down
    open_pairs = np.zeros(len(upper), dtype=bool)
    for search in searches:
        open_pairs |= search.losses.bound_losses(x, all_inputs, upper) > search.worsts.threshold * distances
    open_pairs[x] = False
    seconds = np.flatnonzero(open_pairs)
    exact = differences.compute_exact(position, seconds)
    for search in searches:
        search.record_losses(np.full(len(seconds), x), seconds, exact)


class ScoreDifferences:
    """``n(x, x')``, the largest ``u(x', y) - u(x, y)`` over the outputs, for the inputs ``x`` that are not outputs.

    It is about distances alone: what was found for one mechanism serves all that have the same outputs. A cheap upper
    bound is made for all pairs of an ``x`` when they are first asked for, and the truth for single pairs on demand.
    """

    def __init__(self, pair_scores: PairScores, is_output: NDArray[np.bool_]) -> None:
        self.pair_scores = pair_scores
        self.inputs = np.flatnonzero(~is_output)
        self._outputs = np.flatnonzero(is_output)
        self._upper = np.zeros((len(self.inputs), len(is_output)), dtype=np.int32)
        self._exact = np.zeros(self._upper.shape, dtype=bool)
        self._farthest = np.concatenate(
            [pair_scores.scores[b][:, self._outputs].max(axis=1) for b in pair_scores.split_inputs(256)]
        )

    @classmethod
    def get_or_make(cls, pair_scores: PairScores, is_output: NDArray[np.bool_]) -> "ScoreDifferences":
        """Returns the differences for a set of outputs, shape ``(inputs,)``; an earlier search may have made them."""
        return pair_scores.get_or_make(is_output.tobytes(), lambda: cls(pair_scores, is_output))

    def bound_row(self, position: int) -> NDArray[np.int32]:
        """Returns upper bounds for ``x = inputs[position]`` and all ``x'``, shape ``(inputs,)``."""
        x = self.inputs[position]
        if not self._exact[position, x]:  # also marks that the row is there
            self._upper[position] = self._bound_differences(self.pair_scores.scores[x].astype(np.int32))
            self._upper[position, x] = 0
            self._exact[position, x] = True
        return self._upper[position]

    def compute_exact(self, position: int, seconds: NDArray[np.intp]) -> NDArray[np.int32]:
        """Returns the truth for ``x = inputs[position]`` and some ``x'``, shape ``(n,)``."""
        scores = self.pair_scores.scores[self.inputs[position]].astype(np.int32)
        unknown = seconds[~self._exact[position, seconds]]
        for start in range(0, len(unknown), _SCANNED_AT_ONCE):
            part = unknown[start : start + _SCANNED_AT_ONCE]
            others = self.pair_scores.scores[part].astype(np.int32)
            self._upper[position, part] = find_largest_differences(scores, others, self._outputs)
        self._exact[position, unknown] = True
        return self._upper[position, seconds]

    def _bound_differences(self, scores: NDArray[np.int32]) -> NDArray[np.int32]:
        """Bounds by one step more than the distance, or less: looks at the nearest outputs; the rest are farther."""
        order = self._outputs[np.argsort(scores[self._outputs])]
        near, rest = order[:_NEAREST_OUTPUTS], order[_NEAREST_OUTPUTS:]
        upper = np.full(len(scores), np.iinfo(np.int32).min, dtype=np.int32)
        for start in range(0, len(near), 64):
            part = near[start : start + 64]  # distances are symmetric: rows of the outputs, read along the file
            np.maximum(upper, (self.pair_scores.scores[part] - scores[part, None]).max(axis=0), out=upper)
        if len(rest):
            np.maximum(upper, self._farthest - scores[rest[0]], out=upper)
        return np.minimum(upper, scores + 1)
