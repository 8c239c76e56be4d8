"""Store the scores (integer distances) of all pairs of words in a temporary file for later stages."""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Integers, WordMetric

from textveil_export.errors import ExportError
from textveil_export.parallel import Ids, map_blocks, split_ids
from textveil_export.progress import Progress, ignore_progress

_BLOCK = 64


@dataclass(kw_only=True)
class PairScores:
    """The scores ``floor(grid d(x, y))`` (distances as integers) of all pairs of words.

    The class has the interface ``PairScoring`` that a ``ScoreRandomizer`` needs, and reads scores from a file instead
    of computing them.

    Attributes:
        metric: Distances between words.
        scores: Scores of all pairs of inputs, symmetric, shape ``(inputs, inputs)``, in a temporary file.
        max_score: The largest score.
        symbol_count: Number of words in the vocabulary (symbols). The last input is ``<unk>`` (unknown words), which is
            not a symbol.
    """

    metric: WordMetric
    scores: NDArray[np.uint16]
    max_score: int
    symbol_count: int = field(init=False)
    _cache: dict[bytes, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.symbol_count = len(self.scores) - 1

    @classmethod
    def compute(cls, metric: WordMetric, progress: Progress = ignore_progress) -> "PairScores":
        """Compute the scores (distances as integers) of all pairs of words, and write them to a temporary file.

        Raises:
            ExportError: A distance is too large for 16 bits, or the disk is full.
        """
        inputs = len(metric.rows)
        largest = 0
        try:
            with tempfile.TemporaryFile() as file:
                file.truncate(2 * inputs * inputs)
                scores = np.memmap(file, dtype=np.uint16, mode="r+", shape=(inputs, inputs))
                for part, squared in metric.iterate_squared_blocks(np.arange(inputs)):
                    block = metric.compute_scores(squared)
                    largest = max(largest, int(block.max()))
                    if largest > np.iinfo(np.uint16).max:
                        raise ExportError(
                            "two words are more than ten times the median distance apart: remove these outliers from "
                            "the vectors"
                        )
                    scores[part] = block
                    progress("measuring all pairs", int(part[-1]) + 1, inputs)
        except OSError as error:
            raise ExportError("no space for the scores of all pairs: set TMPDIR to a larger disk") from error
        return cls(metric=metric, scores=scores, max_score=largest)

    def score_inputs(self, inputs: Ids) -> NDArray[np.uint16]:
        """Return the scores (integer distances) between the given inputs and all words, shape ``(n, symbols)``."""
        return self.scores[inputs, :-1]

    def score_outputs(self, outputs: Ids) -> NDArray[np.uint16]:
        """Return the scores (distances as integers) between the given outputs and all inputs, shape ``(n, inputs)``."""
        return self.scores[outputs]

    def compute_totals(self, weights: Integers, base: Integers) -> Integers:
        """Compute the normalizers (sums of all weights) of all inputs exactly, shape ``(inputs,)``.

        The normalizer is ``Z(x) = sum over y of q(y) W[u(x, y)]``, where ``u(x, y)`` is the score (integer distance) of
        input ``x`` and output ``y``.

        Args:
            weights: Weight ``W`` of each score up to ``max_score``.
            base: Base measure ``q``, shape ``(symbols,)``.
        """
        return np.concatenate(
            self.map_blocks("", lambda block: np.take(weights, self.score_inputs(block)) @ base, ignore_progress)
        )

    def get_or_make(self, key: bytes, make: Callable[[], Any]) -> Any:
        """Return the cached value of a key; if there is none, compute it with ``make`` and cache it.

        All levels (epsilons) share the cached values, which depend on the distances of words alone.
        """
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def split_inputs(self, size: int = _BLOCK) -> Iterable[Ids]:
        """Yield the ids of all inputs in consecutive blocks of at most ``size`` ids."""
        return split_ids(np.arange(len(self.scores)), size)

    def map_blocks(self, stage: str, work: Callable[[Ids], Any], progress: Progress) -> list[Any]:
        """Apply a function to blocks of all inputs on all cores, and return the results in order.

        Args:
            stage: Name of the stage in progress reports.
            work: Function that takes one block of ids. It runs on a thread.
            progress: Called with the number of processed inputs.
        """
        return map_blocks(stage, np.arange(len(self.scores)), work, progress, _BLOCK)
