"""The forward-backward attack: a bigram model of raw train texts, and what the mechanism says of each output."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from candidates import Candidates
from numpy.typing import NDArray
from release import Reading

Ints = NDArray[Any]
Floats = NDArray[np.float64]
_DISCOUNT = 0.75


class Bigrams:
    """Probabilities of the next element, punctuation among them, with absolute discounting.

    Args:
        train: Raw texts.
        size: How many numbers of words there are.
    """

    def __init__(self, train: Reading, size: int) -> None:
        known = np.unique(train.word)
        self._row = np.full(size + 2, len(known) + 1)  # the last row is any word that train lacks
        self._row[known] = np.arange(len(known))
        self._row[size] = self.edge = len(known)
        self._size = size
        first, second = self._neighbors(train)
        side = len(known) + 2
        # Counts above 65,535 are that: the discount does not see the difference.
        pairs, counts = np.unique(first * side + second, return_counts=True)
        self._pairs = np.zeros((side, side), dtype=np.uint16)
        self._pairs.ravel()[pairs] = np.minimum(counts, 65_535)
        total = np.bincount(first, minlength=side).astype(float)
        followers = np.bincount(pairs // side, minlength=side)
        self._total = np.maximum(total, 1)
        self._backoff = np.where(total > 0, _DISCOUNT * followers / self._total, 1.0)
        single = np.bincount(second, minlength=side) + 0.5
        self._single = single / single.sum()

    def _neighbors(self, train: Reading) -> tuple[Ints, Ints]:
        row, change = self._row[train.word], np.flatnonzero(np.diff(train.document)) + 1
        sequence = np.insert(row, change, self.edge)
        sequence = np.concatenate([[self.edge], sequence, [self.edge]])
        return sequence[:-1], sequence[1:]

    def between(self, first: Ints, second: Ints) -> Floats:
        """Returns ``Pr[second | first]``, shape ``(len(first), len(second))``; -1 is the edge of a text."""
        a, b = self._row[np.where(first < 0, self._size, first)], self._row[np.where(second < 0, self._size, second)]
        counts = self._pairs[a[:, None], b[None, :]].astype(float)
        own = np.maximum(counts - _DISCOUNT, 0) / self._total[a][:, None]
        return own + self._backoff[a][:, None] * self._single[b][None, :]


def posterior(bigrams: Bigrams, reading: Reading, found: Candidates) -> Floats:
    """Returns ``ln Pr[x | all outputs of the text]`` of every candidate, shape ``(n, COUNT)``."""
    result = np.full(found.words.shape, -np.inf)
    row_of = np.full(len(reading.word), -1)
    row_of[found.places] = np.arange(len(found.places))
    for start, end in _texts(reading):
        rows = row_of[start:end]
        if (rows < 0).all():
            continue
        options, given = [], []
        for place, row in zip(range(start, end), rows.tolist(), strict=True):
            there = found.words[row][: max(1, int((found.words[row] >= 0).sum()))] if row >= 0 else None
            options.append(reading.word[place : place + 1] if there is None else there)
            given.append(np.ones(1) if there is None else np.exp(np.maximum(found.likelihood[row][: len(there)], -700)))
        for row, marginal in zip(rows.tolist(), _marginals(bigrams, options, given), strict=True):
            if row >= 0:
                result[row, : len(marginal)] = np.log(np.maximum(marginal, 1e-300))
    return result


def _marginals(bigrams: Bigrams, options: list[Ints], given: list[Floats]) -> Iterator[Floats]:
    edge = np.array([-1])
    steps = [bigrams.between(a, b) for a, b in zip([edge, *options], [*options, edge], strict=True)]
    forward: list[Floats] = []
    at = np.ones(1)
    for step, here in zip(steps[:-1], given, strict=True):
        at = (at @ step) * here
        at = at / max(at.sum(), 1e-300)
        forward.append(at)
    backward, back = [], np.ones(1)
    for step, here in zip(reversed(steps[1:]), reversed(given), strict=True):
        back = step @ back
        backward.append(back / max(back.sum(), 1e-300))
        back = back * here
        back = back / max(back.sum(), 1e-300)
    for ahead, behind in zip(forward, reversed(backward), strict=True):
        both = ahead * behind
        yield both / max(both.sum(), 1e-300)


def _texts(reading: Reading) -> Iterator[tuple[int, int]]:
    edges = [0, *(np.flatnonzero(np.diff(reading.document)) + 1).tolist(), len(reading.word)]
    return pairwise(edges)
