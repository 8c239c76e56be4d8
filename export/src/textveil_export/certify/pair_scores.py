"""The scores of all pairs of words in one temporary file: every stage that needs them is then a look-up."""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Integers, Metric

from textveil_export.errors import ExportError
from textveil_export.parallel import Ids, map_blocks, split_ids
from textveil_export.progress import Progress, ignore_progress

_BLOCK = 64


@dataclass(kw_only=True)
class PairScores:
    """The scores ``floor(grid d(x, y))`` of all pairs of inputs: ``Scores`` of a ``Channel``, only looked up.

    Attributes:
        metric: The distances.
        scores: Scores of all pairs of inputs, symmetric, shape ``(inputs, inputs)``, in a temporary file.
        largest: The largest of them.
        symbols: Number of symbols; the last input is ``<unk>``.
    """

    metric: Metric
    scores: NDArray[np.uint16]
    largest: int
    symbols: int = field(init=False)
    _cache: dict[bytes, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.symbols = len(self.scores) - 1

    @classmethod
    def compute(cls, metric: Metric, progress: Progress = ignore_progress) -> "PairScores":
        """Computes the scores. The file takes two bytes a pair in the folder for temporary files, and has no name.

        Raises:
            ExportError: A distance is too large, or the disk is full.
        """
        inputs = len(metric.rows)
        largest = 0
        try:
            with tempfile.TemporaryFile() as file:
                file.truncate(2 * inputs * inputs)
                scores = np.memmap(file, dtype=np.uint16, mode="r+", shape=(inputs, inputs))
                for part, squared in metric.squared_to_all(np.arange(inputs)):
                    block = metric.scores(squared)
                    largest = max(largest, int(block.max()))
                    if largest > np.iinfo(np.uint16).max:
                        raise ExportError("two words are more than ten times the median distance apart")
                    scores[part] = block
                    progress("measuring all pairs", int(part[-1]) + 1, inputs)
        except OSError as error:
            raise ExportError("no space for the scores of all pairs in the folder for temporary files") from error
        return cls(metric=metric, scores=scores, largest=largest)

    def from_inputs(self, inputs: Ids) -> NDArray[np.uint16]:
        """Returns the scores of some inputs to all symbols, shape ``(n, symbols)``."""
        return self.scores[inputs, :-1]

    def to_outputs(self, outputs: Ids) -> NDArray[np.uint16]:
        """Returns the scores of all inputs to some outputs, shape ``(n, inputs)``."""
        return self.scores[outputs]

    def totals(self, weights: Integers, base: Integers) -> Integers:
        """Returns ``Z(x) = sum over y of q(y) W[c(x, y)]`` of every input, exact, shape ``(inputs,)``.

        Args:
            weights: ``W``, for every score up to ``largest``.
            base: ``q``, shape ``(symbols,)``.
        """
        return np.concatenate(
            self.map_blocks("", lambda block: np.take(weights, self.from_inputs(block)) @ base, ignore_progress)
        )

    def get_or_make(self, key: bytes, make: Callable[[], Any]) -> Any:
        """Returns what was made under a key before, or makes it: what is about distances alone serves every level."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def split_inputs(self, size: int = _BLOCK) -> Iterable[Ids]:
        """Yields all inputs, in blocks of consecutive ones."""
        return split_ids(np.arange(len(self.scores)), size)

    def map_blocks(self, stage: str, work: Callable[[Ids], Any], progress: Progress) -> list[Any]:
        """Does some work for every block of inputs, on all cores, and returns the results in order."""
        return map_blocks(stage, np.arange(len(self.scores)), work, progress, _BLOCK)
