"""The forward-backward attack: a bigram model of raw train texts, and what the mechanism says of each output."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_training.attacks.words.candidates import Candidates
from textveil_training.attacks.words.release import DRAWN, KIND, Reading

Ints = NDArray[Any]
Floats = NDArray[np.float64]
_DISCOUNT = 0.75
#: Of what a pair leaves to others, this share goes to the pairs of general text where these are many, less where few.
_GENERAL, _MANY = 0.5, 50
#: What a word of general text counts for the frequency of a word.
_GENERAL_WORD = 0.02


class Bigrams:
    """Probabilities of the next element, punctuation among them, with absolute discounting.

    What the discount takes from the pairs of the train texts goes to pairs of general text, the rest to single words.

    Args:
        train: Raw texts.
        size: How many numbers of words there are.
        general: Raw texts of other kinds.
    """

    def __init__(self, train: Reading, size: int, general: Reading | None = None) -> None:
        known = np.unique(train.word)
        self._row = np.full(size + 2, len(known) + 1)  # the last row is any word that train lacks
        self._row[known] = np.arange(len(known))
        self._row[size] = self.edge = len(known)
        self._size = size
        side = len(known) + 2
        # Half precision: what is below 6e-8 is left to the frequencies of single words.
        self._pairs = np.zeros(side * side, dtype=np.float16)
        pairs, own, total, second = self._discounted(train, side)
        self._pairs[pairs] = own
        self._backoff = 1 - np.bincount(pairs // side, own, minlength=side)
        single = np.bincount(second, minlength=side) + 0.5
        if general is not None:
            pairs, own, total, second = self._discounted(general, side)
            trust = self._backoff * _GENERAL * total / (total + _MANY)
            self._pairs[pairs] += (trust[pairs // side] * own).astype(np.float16)
            self._backoff -= trust * np.bincount(pairs // side, own, minlength=side)
            single[:-1] += _GENERAL_WORD * np.bincount(second, minlength=side)[:-1]
        self._pairs = self._pairs.reshape(side, side)
        self._single = single / single.sum()

    def _discounted(self, texts: Reading, side: int) -> tuple[Ints, Floats, Floats, Ints]:
        """Returns pairs of known words, ``Pr[second | first]`` of each, counts of firsts, and all seconds."""
        row = self._rows(texts.word)
        change = np.flatnonzero(np.diff(texts.document)) + 1
        sequence = np.concatenate([[self.edge], np.insert(row, change, self.edge), [self.edge]])
        first, second = sequence[:-1], sequence[1:]
        total = np.bincount(first, minlength=side).astype(float)
        there = (first <= self.edge) & (second <= self.edge)
        pairs, counts = np.unique(first[there] * side + second[there], return_counts=True)
        return pairs, (counts - _DISCOUNT) / total[pairs // side], total, second

    def _rows(self, words: Ints) -> Ints:
        """Rows of words: below 0 the edge of a text, from ``size`` on words that came later."""
        return self._row[np.where(words < 0, self._size, np.where(words < self._size, words, self._size + 1))]

    def between(self, first: Ints, second: Ints) -> Floats:
        """Returns ``Pr[second | first]``, shape ``(len(first), len(second))``; -1 is the edge of a text."""
        a, b = self._rows(first), self._rows(second)
        return self._pairs[a[:, None], b[None, :]] + self._backoff[a][:, None] * self._single[b][None, :]


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


def crossed(models: Sequence[Bigrams], fold: Ints, reading: Reading, found: Candidates) -> Floats:
    """Returns the posterior of every text by the model of its fold, which has not counted it."""
    result = np.full(found.words.shape, -np.inf)
    for number, model in enumerate(models):
        chosen = np.flatnonzero(fold == number)
        rows = np.isin(reading.document[found.places], chosen)
        part = reading.part(chosen)
        hidden = np.flatnonzero((part.role == DRAWN) | (part.role == KIND))
        arrays = (getattr(found, name)[rows] for name in ("words", "likelihood", "prior"))
        result[rows] = posterior(model, part, Candidates(hidden, *arrays))
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
