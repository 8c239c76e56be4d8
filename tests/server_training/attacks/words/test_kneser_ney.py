"""Trigrams are interpolated modified Kneser-Ney, equal to a direct computation."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from textveil_training.attacks.words import ReadElements
from textveil_training.attacks.words.kneser_ney import TrigramModel, estimate_discounts

EDGE = -1
SIZE = 9  # word 8 is in no text


def read(documents: list[list[int]]) -> ReadElements:
    word = np.array([word for document in documents for word in document])
    document = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    zeros, yes = np.zeros(len(word), dtype=int), np.ones(len(word), dtype=bool)
    return ReadElements(
        document=document,
        segment=zeros,
        role=zeros,
        index=zeros,
        word=word,
        whole_words=yes,
        lower=yes,
        documents=len(documents),
    )


@pytest.fixture(params=[0, 1], ids=["few", "many"])
def documents(request: pytest.FixtureRequest) -> list[list[int]]:
    rng = np.random.default_rng(request.param)
    if not request.param:
        return [[1, 2, 3], [1, 2, 4, 1, 2, 3], [5], [1, 2, 3, 6, 7]]
    return [(rng.integers(0, 8, size=rng.integers(1, 9)) ** 2 // 8).tolist() for _ in range(300)]


def discounted(counts: Iterable[int]) -> list[float]:
    """Chen and Goodman 1999, equation 17: D1, D2 and D3+ from how many n-grams have a count."""
    of = Counter(counts)
    if not all(of[k] for k in range(1, 5)):
        return [0.75] * 3
    y = of[1] / (of[1] + 2 * of[2])
    found = [1 - 2 * y * of[2] / of[1], 2 - 3 * y * of[3] / of[2], 3 - 4 * y * of[4] / of[3]]
    return [value if value > 0 else 0.75 for value in found]


class Directly:
    """The definition, by counting anew for every question."""

    def __init__(self, documents: list[list[int]]) -> None:
        self.words = {word for document in documents for word in document}
        three: Counter[Any] = Counter()
        for document in documents:
            padded = [EDGE, EDGE, *document, EDGE]
            three.update(zip(padded, padded[1:], padded[2:], strict=False))
        two = Counter(gram[1:] for gram in three)
        self.counts = [Counter(gram[1:] for gram in two), two, three]

    def of(self, context: tuple[int, ...], word: int) -> float:
        counts = self.counts[len(context)]
        lower = self.of(context[1:], word) if context else 1 / (len(self.words) + 2)
        after = {gram[-1]: count for gram, count in counts.items() if gram[:-1] == context}
        if not after:
            return lower
        cut = discounted(counts.values())
        taken = {w: min(cut[min(count, 3) - 1], count) for w, count in after.items()}
        own = after.get(word, 0) - taken.get(word, 0)
        return (own + sum(taken.values()) * lower) / sum(after.values())


def test_every_probability_is_that_of_the_definition(documents: list[list[int]]) -> None:
    model, truth = TrigramModel(read(documents), SIZE), Directly(documents)
    words = np.array([EDGE, *range(SIZE)])
    rows = model.map_words(words)
    left, a, b, seen = model.predict_after_two(rows, rows, rows)
    found = left[:, :, None] * model.predict_after_one(rows, rows)
    found[a, b] += seen
    wanted = [[[truth.of((u, v), w) for w in words.tolist()] for v in words.tolist()] for u in words.tolist()]
    assert np.allclose(found, wanted)
    own = np.arange(model.words)  # every word of its own, and the one that stands for all others
    assert np.allclose(model.predict_after_one(own, own).sum(axis=1), 1)


def test_discounts_take_what_the_counts_of_counts_say() -> None:
    counts = np.repeat([1, 2, 3, 4, 7], [40, 20, 10, 5, 3])
    assert np.allclose(estimate_discounts(counts), discounted(counts.tolist()))
    assert (estimate_discounts(counts[:60]) == 0.75).all()
