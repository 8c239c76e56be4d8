"""Guess words by forward-backward: a trigram model of raw texts, and exact likelihoods of outputs."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_training.attacks.words.candidates import Candidates
from textveil_training.attacks.words.kneser_ney import TrigramModel
from textveil_training.attacks.words.word_release import ReadElements

Ints = NDArray[Any]
Floats = NDArray[np.float64]


def compute_posterior(model: TrigramModel, reading: ReadElements, found: Candidates) -> Floats:
    """Compute the log probability of each possible original word, given all outputs of its text.

    The result has shape ``(n, candidates)`` for ``n`` hidden (replaced or randomized) words.

    Args:
        model: Trigram model of raw texts.
        reading: The texts as arrays of elements (words and punctuation).
        found: Candidates (possible originals) of the hidden elements.
    """
    result = np.full(found.words.shape, -np.inf)
    row_of = np.full(len(reading.word), -1)
    row_of[found.places] = np.arange(len(found.places))
    counts = (found.words >= 0).sum(axis=1)
    numbers, shown = model.map_words(found.words), model.map_words(reading.word)
    best = found.likelihood.max(axis=1, keepdims=True, initial=-1e9)  # a finite value for elements without a candidate
    given = np.exp(np.maximum(found.likelihood - best, -700))
    for start, end in _iterate_texts(reading):
        rows = row_of[start:end]
        if (rows < 0).all():
            continue
        options, weights = [], []
        for place, row in enumerate(rows.tolist(), start):
            there = counts[row] if row >= 0 else 0
            options.append(numbers[row, :there] if there else shown[place : place + 1])
            weights.append(given[row, :there] if there else np.ones(1))
        for row, marginal in zip(rows.tolist(), _compute_marginals(model, options, weights), strict=True):
            if row >= 0 and counts[row]:
                result[row, : len(marginal)] = np.log(np.maximum(marginal, 1e-300))
    return result


class TrigramStep:
    """Probabilities ``P(c | a b)`` of three words in a row, for all possible originals a, b, c of three outputs.

    ``P(c | a b)`` is ``g(a, b) P(c | b) + share(a, b, c)`` (``TrigramModel.predict_after_two``). ``g(a, b)`` is the
    probability that smoothing leaves to the shorter context ``b``. The share is above 0 only for trigrams that occur in
    the training texts, so the object stores the shares only for pairs ``(a, b)`` that occur there.
    """

    def __init__(self, model: TrigramModel, first: Ints, second: Ints, third: Ints) -> None:
        self.left, self.a, self.b, self.seen = model.predict_after_two(first, second, third)
        self.short = model.predict_after_one(second, third)

    def forward(self, at: Floats) -> Floats:
        """Run one forward step of the forward-backward algorithm: from pairs ``(a, b)`` to pairs ``(b, c)``.

        For each pair ``(b, c)`` the result is the sum over ``a`` of ``at(a, b) P(c | a b)``. ``at`` is the argument,
        and ``P(c | a b)`` the probability of the word ``c`` after ``a`` and ``b``.
        """
        found = (at * self.left).sum(axis=0)[:, None] * self.short
        np.add.at(found, self.b, at[self.a, self.b][:, None] * self.seen)
        return found

    def backward(self, back: Floats) -> Floats:
        """Run one backward step of the forward-backward algorithm: from pairs ``(b, c)`` to pairs ``(a, b)``.

        For each pair ``(a, b)`` the result is the sum over ``c`` of ``P(c | a b) back(b, c)``. ``back`` is the
        argument, and ``P(c | a b)`` the probability of the word ``c`` after ``a`` and ``b``.
        """
        found = self.left * (self.short * back).sum(axis=1)
        found[self.a, self.b] += (self.seen * back[self.b]).sum(axis=1)
        return found


def _compute_marginals(model: TrigramModel, options: list[Ints], given: list[Floats]) -> Iterator[Floats]:
    edge = np.array([model.edge])
    around = [edge, edge, *options, edge]
    steps = [TrigramStep(model, *three) for three in zip(around, around[1:], around[2:], strict=False)]
    at = np.ones((1, 1))
    forward: list[Floats] = []
    for step, here in zip(steps, given, strict=False):
        at = step.forward(at) * here
        at = at / max(at.sum(), 1e-300)
        forward.append(at)
    back = np.ones((len(around[-2]), 1))
    backward: list[Floats] = []
    for step, here in zip(reversed(steps), [*reversed(given), np.ones(1)], strict=True):
        back = step.backward(back)
        backward.append(back / max(back.sum(), 1e-300))
        back = backward[-1] * here
    # Step n uses elements n-2, n-1 and n, so the backward weights of element n come from the next step.
    for ahead, behind in zip(forward, reversed(backward[: len(options)]), strict=True):
        both = (ahead * behind).sum(axis=0)
        yield both / max(both.sum(), 1e-300)


def _iterate_texts(reading: ReadElements) -> Iterator[tuple[int, int]]:
    edges = [0, *(np.flatnonzero(np.diff(reading.document)) + 1).tolist(), len(reading.word)]
    return pairwise(edges)
