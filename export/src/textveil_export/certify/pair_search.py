"""Find the largest privacy loss per unit of distance over all pairs of words, for the mechanism SanText.

SanText replaces words at random.

If an input is also an output, ``loss_bounds`` bounds its losses without evaluating other outputs. For other inputs,
cheap bounds exclude most pairs. The remaining pairs are evaluated at all outputs, once for all levels (epsilons), since
the score differences depend on distances alone. Proof: docs/proofs/santext.md.
"""

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
from textveil.mechanisms.baselines import KEPT_ROLE, SanTextTable

from textveil_export.certify.loss_bounds import LossBounds, find_largest_differences
from textveil_export.certify.pair_scores import PairScores
from textveil_export.parallel import map_in_order
from textveil_export.progress import Progress, ignore_progress

_SEED_NEIGHBORS = 4


@dataclass(frozen=True, kw_only=True)
class WorstPair:
    """The pair of input words with the largest privacy loss per unit of distance found so far.

    Attributes:
        ratio: Privacy loss of the pair divided by ``distance``.
        first, second: The inputs ``x`` and ``x'``; -1 before the first pair.
        distance: Distance ``d`` of the two words.
    """

    ratio: float = 0.0
    first: int = -1
    second: int = -1
    distance: float = 0.0

    def include_pairs(
        self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats
    ) -> "WorstPair":
        """Return the pair with the largest ratio of privacy loss and distance among this pair and others.

        Args:
            losses: Loss of each other pair, shape ``(n,)``.
            first: Inputs ``x``, shape ``(n,)``.
            second: Inputs ``x'``, shape ``(n,)``.
            distances: Distances of the pairs, shape ``(n,)``.
        """
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
    """The pairs of words with the largest loss per distance, over all inputs and over sensitive ones. Thread-safe.

    An input word is sensitive if SanText+ always replaces it.

    Args:
        sensitive: Whether each input is sensitive, shape ``(inputs,)``.
    """

    def __init__(self, sensitive: NDArray[np.bool_]) -> None:
        self.sensitive = sensitive
        self.overall = WorstPair()
        self.among_sensitive = WorstPair()
        self._lock = Lock()

    @property
    def threshold(self) -> float:
        """Loss per unit of distance above which ``add_pairs`` stores a pair of words.

        The threshold is the largest ratio so far over sensitive inputs. The largest ratio over all inputs is never
        smaller, so that no pair below the threshold can change either result.
        """
        return max(self.among_sensitive.ratio, 1e-9)

    def add_pairs(self, losses: Floats, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats) -> None:
        """Compare further pairs of words with the worst pairs so far, and store pairs with a larger loss per distance.

        Args:
            losses: Loss of each pair, shape ``(n,)``.
            first: Inputs ``x``, shape ``(n,)``.
            second: Inputs ``x'``, shape ``(n,)``.
            distances: Distances of the pairs, shape ``(n,)``.
        """
        both = self.sensitive[first] & self.sensitive[second]
        with self._lock:
            self.overall = self.overall.include_pairs(losses, first, second, distances)
            self.among_sensitive = self.among_sensitive.include_pairs(
                losses[both], first[both], second[both], distances[both]
            )


def find_sensitive_inputs(table: SanTextTable) -> NDArray[np.bool_]:
    """Return a boolean for each input word: whether SanText+ always replaces it; true for ``<unk>`` (unknown words)."""
    return np.append((table.roles & KEPT_ROLE) == 0, True)


def list_near_pairs(neighbors: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs of an input and one of its nearest neighbors, in both orders.

    The losses of these pairs are a good first threshold, which lets the search skip nearly all other pairs.

    Returns:
        First and second inputs, each of shape ``(pairs,)``.
    """
    near = neighbors[:, :_SEED_NEIGHBORS].astype(np.intp)
    first = np.repeat(np.arange(len(near)), near.shape[1])
    second = near.ravel()
    apart = first != second
    first, second = first[apart], second[apart]
    return np.concatenate([first, second]), np.concatenate([second, first])


_NEAREST_OUTPUTS = 1024
_SCANNED_AT_ONCE = 512


def find_worst_ratios(
    pair_scores: PairScores, table: SanTextTable, losses: Sequence[LossBounds], progress: Progress = ignore_progress
) -> list[WorstPairs]:
    """Find the pairs of inputs with the largest loss per unit of distance, for several mechanisms.

    The largest ratio of loss and distance is an upper bound on the certified epsilon ``eps*`` of a mechanism.

    Args:
        pair_scores: Scores of all pairs.
        table: Table of the mechanisms: similar words of each word, and possible outputs.
        losses: Loss bounds of the mechanisms on these scores.
        progress: Called with the number of processed inputs.

    Returns:
        The worst pairs of each mechanism, over all ordered pairs.
    """
    sensitive = find_sensitive_inputs(table)
    searches = [_PairSearch(pair_scores, of_one, WorstPairs(sensitive)) for of_one in losses]
    first, second = list_near_pairs(table.neighbors)
    for search in searches:
        search.record_bounds(first, second)

    def scan(block: NDArray[np.intp]) -> None:
        """Search for the pair of words with the largest privacy loss per unit of distance, for each mechanism.

        The search covers the pairs whose first word is in the block.
        """
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
    """Search for the pair of words with the largest privacy loss per unit of distance, for one mechanism."""

    def __init__(self, pair_scores: PairScores, losses: LossBounds, worsts: WorstPairs) -> None:
        self.pair_scores, self.losses, self.worsts = pair_scores, losses, worsts
        self.is_output = np.append(losses.randomizer.base > 0, False)

    def record_bounds(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> None:
        """Record an upper bound on the loss of each pair.

        This method skips pairs of a word with itself, and pairs whose first word cannot be an output.

        Args:
            first: Ids of the inputs ``x`` of the pairs.
            second: Ids of the inputs ``x'`` of the pairs, in the same order.
        """
        apart = self.is_output[first] & (first != second)
        first, second = first[apart], second[apart]
        self.record_losses(first, second, self.pair_scores.scores[first, second].astype(np.int64) + 1)

    def record_losses(self, first: NDArray[np.intp], second: NDArray[np.intp], differences: NDArray[Any]) -> None:
        """Record an upper bound on the loss of each pair, and its exact distance.

        Args:
            first: Inputs ``x``, shape ``(n,)``.
            second: Inputs ``x'``, shape ``(n,)``.
            differences: Upper bound on the score difference ``u(x', y) - u(x, y)`` over all outputs ``y``, shape
                ``(n,)``.
        """
        distances = self.pair_scores.metric.compute_scaled(self.pair_scores.metric.compute_squared(first, second))
        apart = distances > 0  # inputs at distance 0 have equal distances to all others, so equal output distributions
        losses = self.losses.bound_losses(first, second, differences)
        self.worsts.add_pairs(losses[apart], first[apart], second[apart], distances[apart])

    def scan_outputs(self, block: NDArray[np.intp]) -> None:
        """Record loss bounds for each pair still to examine whose first word is in the block and can be an output."""
        block = block[self.is_output[block]]
        row, second = np.nonzero(self.find_open_pairs(block))
        self.record_bounds(block[row], second)

    def find_open_pairs(self, block: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a boolean for each pair of words ``(x, x')``: whether the search must still examine the pair.

        A pair can be skipped if its loss per unit of distance cannot exceed ``threshold``, the largest one so far. Let
        ``u`` be the score of the pair (its distance as an integer), ``Z(x)`` the normalizer (sum of weights) of input
        ``x``, and ``E[n]`` the largest change of a log weight between scores that differ by at most ``n``. The loss is
        at most ``E[u + 1] - ln Z(x) + ln Z(x')``, and the distance at least ``u / grid``. So the function compares
        ``E[u + 1] - threshold u / grid`` with ``ln Z(x) - ln Z(x')``.

        Args:
            block: Ids of the first inputs ``x`` of the pairs; ``x'`` is any input.

        Returns:
            Boolean array, shape ``(block, inputs)``.
        """
        of_pairs = self.pair_scores.scores[block]
        scores = np.arange(self.pair_scores.max_score + 1)
        if of_pairs.size < len(scores):  # small vocabulary: evaluate only scores that occur
            scores = np.unique(of_pairs)
        gain = np.zeros(self.pair_scores.max_score + 1)
        gain[scores] = (
            self.losses.bound_losses(0, 0, scores + 1) - self.worsts.threshold * scores / self.pair_scores.metric.grid
        )
        log_totals = self.losses.log_totals
        return gain[of_pairs] > log_totals[block][:, None] - log_totals[None, :]


def _scan_input(differences: "ScoreDifferences", searches: Sequence[_PairSearch], position: int) -> None:
    """Search the pairs of one input word for the largest privacy loss per unit of distance.

    The function is for an input word that is no possible output.

    Args:
        differences: Score differences between inputs.
        searches: Searches of mechanisms that have the same outputs.
        position: Position of the input in ``differences.inputs``.
    """
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
    """Largest score differences ``n(x, x')`` between input words; a score is a distance as an integer.

    ``n(x, x')`` is the largest ``u(x', y) - u(x, y)`` over all outputs ``y``, where ``u`` is the score, and ``x`` is an
    input that is not an output. The differences depend on distances alone, so mechanisms with equal outputs share them.
    At the first use of an ``x`` the class computes a cheap upper bound for all pairs of this ``x``. The class computes
    exact values for single pairs on demand.
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
        """Return the score differences for a set of outputs, from the cache if an earlier search computed them.

        Args:
            pair_scores: Scores of all pairs. The object also has the cache.
            is_output: Whether each input is an output, shape ``(inputs,)``.
        """
        return pair_scores.get_or_make(is_output.tobytes(), lambda: cls(pair_scores, is_output))

    def bound_row(self, position: int) -> NDArray[np.int32]:
        """Return upper bounds on the score differences between one input ``x`` and all inputs ``x'``.

        The difference is the largest ``u(x', y) - u(x, y)`` over all outputs ``y``, where the score ``u`` is a distance
        as an integer.

        Args:
            position: Position of ``x`` in ``self.inputs``.

        Returns:
            Bounds, shape ``(inputs,)``.
        """
        x = self.inputs[position]
        if not self._exact[position, x]:  # this entry also marks that the row is computed
            self._upper[position] = self._bound_differences(self.pair_scores.scores[x].astype(np.int32))
            self._upper[position, x] = 0
            self._exact[position, x] = True
        return self._upper[position]

    def compute_exact(self, position: int, seconds: NDArray[np.intp]) -> NDArray[np.int32]:
        """Return the exact score differences between one input ``x`` and some other inputs ``x'``.

        The difference is the largest ``u(x', y) - u(x, y)`` over all outputs ``y``, where the score ``u`` is a distance
        as an integer.

        Args:
            position: Position of ``x`` in ``self.inputs``.
            seconds: Ids of the inputs ``x'``.
        """
        scores = self.pair_scores.scores[self.inputs[position]].astype(np.int32)
        unknown = seconds[~self._exact[position, seconds]]
        for start in range(0, len(unknown), _SCANNED_AT_ONCE):
            part = unknown[start : start + _SCANNED_AT_ONCE]
            others = self.pair_scores.scores[part].astype(np.int32)
            self._upper[position, part] = find_largest_differences(scores, others, self._outputs)
        self._exact[position, unknown] = True
        return self._upper[position, seconds]

    def _bound_differences(self, scores: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return upper bounds on the score differences between one input ``x`` and all inputs ``x'``.

        A score is a distance as an integer. The difference is ``u(x', y) - u(x, y)``, at its largest over all outputs
        ``y``. The function computes the difference exactly for the outputs nearest to ``x``. For all other outputs it
        uses one bound: the largest score of ``x'`` minus the smallest score that remains for ``x``. The triangle
        inequality gives a further bound.

        Args:
            scores: Scores between the input and all inputs.
        """
        order = self._outputs[np.argsort(scores[self._outputs])]
        near, rest = order[:_NEAREST_OUTPUTS], order[_NEAREST_OUTPUTS:]
        upper = np.full(len(scores), np.iinfo(np.int32).min, dtype=np.int32)
        for start in range(0, len(near), 64):
            part = near[start : start + 64]  # distances are symmetric: rows of outputs are contiguous in the file
            np.maximum(upper, (self.pair_scores.scores[part] - scores[part, None]).max(axis=0), out=upper)
        if len(rest):
            np.maximum(upper, self._farthest - scores[rest[0]], out=upper)
        return np.minimum(upper, scores + 1)
