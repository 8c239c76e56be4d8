"""Laws as channels: the exact integer weight of every pair of input and output, row by row and column by column.

Both tails have one form, ``weight(x, y) = q(y) W[c(x, y)]`` with ``c = u(x, y) = floor(grid d(x, y))`` where the tail
is exact and ``c = min(u(x, y), u_k(x))`` where it is capped: only where the scores come from differs.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from os import cpu_count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import Bundle
from textveil.mechanisms import TableLaw
from textveil.metric import Floats
from textveil.sampling import Integers
from textveil.table import EXACT, Table

from textveil_export.errors import ExportError
from textveil_export.exact_search import AllScores
from textveil_export.search import in_order
from textveil_export.sources import Progress, no_progress

Ids = NDArray[np.intp]

#: Small blocks: what is worked on stays in the cache of a core.
_BLOCK = 8


class PairScores(Protocol):
    """The scores ``c(x, y)`` of one tail, the same for every level and mechanism.

    Attributes:
        largest: No score is larger.
    """

    largest: int

    def from_inputs(self, inputs: Ids) -> Ids:
        """Scores of some inputs to all symbols, shape ``(n, symbols)``."""
        ...

    def to_outputs(self, outputs: Ids) -> Ids:
        """Scores of all inputs to some outputs, shape ``(n, inputs)``."""
        ...


class ExactScores:
    """The scores of exact tails: those of all pairs.

    Args:
        every: Scores of all pairs; they are symmetric.
    """

    def __init__(self, every: AllScores) -> None:
        self.every, self.largest = every, every.largest

    def from_inputs(self, inputs: Ids) -> Ids:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        return self.every.scores[inputs, :-1].astype(np.intp)

    def to_outputs(self, outputs: Ids) -> Ids:
        """Returns the scores of all inputs to some outputs, shape ``(n, inputs)``."""
        return self.every.scores[outputs].astype(np.intp)


class CappedScores:
    """The scores of capped tails: every word that an input does not store has the score of the last one it does.

    Args:
        table: Neighbours and scores.
    """

    def __init__(self, table: Table) -> None:
        self.table, self.largest = table, int(table.scores[:, -1].max())
        self._last = table.scores[:, -1].astype(np.intp)

    def from_inputs(self, inputs: Ids) -> Ids:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        scores = np.repeat(self._last[inputs, None], self.table.symbols, axis=1)
        stored = self.table.neighbours[inputs].astype(np.intp)
        np.put_along_axis(scores, stored, self.table.scores[inputs].astype(np.intp), axis=1)
        return scores

    def to_outputs(self, outputs: Ids) -> Ids:
        """Returns the scores of all inputs to some outputs, shape ``(n, inputs)``."""
        by_output, starts = self._storing
        scores = np.repeat(self._last[None, :], len(outputs), axis=0)
        counts = starts[outputs + 1] - starts[outputs]
        row = np.repeat(np.arange(len(outputs)), counts)
        entry = by_output[starts[outputs][row] + np.arange(len(row)) - (np.cumsum(counts) - counts)[row]]
        scores[row, entry // self.table.neighbours.shape[1]] = self.table.scores.ravel()[entry]
        return scores

    @cached_property
    def _storing(self) -> tuple[Ids, Ids]:
        """Entries of the table in order of the output they store, and where each output's entries begin."""
        flat = self.table.neighbours.ravel()
        order = np.argsort(flat, kind="stable")
        return order, np.searchsorted(flat[order], np.arange(self.table.symbols + 1))


@dataclass(frozen=True)
class Channel:
    """One law of one level.

    Attributes:
        level, mechanism, tail: Which.
        scores: Where its scores come from.
        score_weights: ``W``, for every score there is, shape ``(scores,)``.
        base: ``q``, 0 for symbols that are never an output, shape ``(symbols,)``.
    """

    level: str
    mechanism: str
    tail: str
    scores: PairScores
    score_weights: Integers
    base: Integers

    def weights(self, scores: Ids) -> Integers:
        """``q(y) W[c(x, y)]`` from scores of inputs to all symbols; shape ``(n, symbols)``. Exact."""
        weights = np.take(self.score_weights, scores)
        weights *= self.base
        return weights

    @cached_property
    def outputs(self) -> Ids:
        """Ids of the outputs, ascending."""
        return np.flatnonzero(self.base)

    @cached_property
    def candidates(self) -> NDArray[np.bool_]:
        """Inputs between which an observer has to decide, ``<unk>`` last, shape ``(inputs,)``.

        For ``santext`` every input. For ``santext+`` its outputs and ``<unk>``: words that are never kept.
        """
        everybody = self.mechanism == "santext"
        return np.append((self.base > 0) | everybody, True)

    @cached_property
    def log_weights(self) -> Floats:
        """``ln W``, shape ``(scores,)``."""
        return np.log(self.score_weights.astype(np.float64))

    @cached_property
    def real_weights(self) -> Floats:
        """``W`` in double precision, shape ``(scores,)``."""
        return self.score_weights.astype(np.float64)


def channels(bundle: Bundle, tail: str, progress: Progress = no_progress) -> list[Channel]:
    """The laws of one tail of a bundle, by level and mechanism, with their scores.

    Raises:
        ExportError: There is no space for the scores of all pairs, or the bundle carries no embedding rows.
    """
    if tail == EXACT:
        if bundle.metric is None:
            raise ExportError("an exact tail needs the embedding rows")
        scores: PairScores = ExactScores(AllScores.of(bundle.metric, progress))
    else:
        scores = CappedScores(bundle.table)
    found: list[Channel] = []
    for level in bundle.levels:
        for (mechanism, its_tail), law in level.laws.items():
            if its_tail == tail:
                beyond = max(0, scores.largest + 1 - len(law.weights))
                weights = np.pad(law.weights, (0, beyond), mode="edge")
                base = TableLaw.of(bundle.table, mechanism, law).base
                found.append(Channel(level.name, mechanism, tail, scores, weights, base))
    return found


def each(stage: str, ids: Ids, work: Callable[[Ids], Any], progress: Progress, size: int = _BLOCK) -> list[Any]:
    """Does some work for every block of ids, on all cores; the results in order."""
    blocks: Sequence[Ids] = [ids[start : start + size] for start in range(0, len(ids), size)]
    results: list[Any] = []
    with ThreadPoolExecutor(cpu_count()) as pool:
        for number, result in enumerate(in_order(pool, work, blocks)):
            results.append(result)
            progress(stage, min((number + 1) * size, len(ids)), len(ids))
    return results
