"""Each word of the operating system's generator is used once, in a known order.

The order is part of the format (docs/format.md, "Drawing"), since readers in other languages must give the same outputs
from the same bytes: the coins of the common words first, in order; then one word for every token that is not kept, in
order; then, as long as there are rejected words, a new one for each rejected position, in order; for SanText, the same
for the thresholds of the tokens that were dealt to the tail, and then all of it again for those that were not
accepted. A reader that draws a coin for a token that has none, or mixes coins and draws, gives the same distribution
and other outputs; here that is a failure.
"""

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import accumulate, islice
from typing import Any

import numpy as np
import pytest
from defined_weights import defined_weights, outputs
from hypothesis import given
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.bundle.text import TextBundle
from textveil.mechanisms import entropy
from textveil.mechanisms.baselines.table import KEPT

UNKNOWN = "quokka"


class Generator:
    """A scripted ``os.urandom``: 64-bit words in a given order, and a record of what was asked for."""

    def __init__(self, words: Iterator[int]) -> None:
        self.words = words
        self.asked: list[int] = []

    def __call__(self, count: int) -> bytes:
        assert count % entropy.WORD_BYTES == 0
        if count:
            self.asked.append(count // entropy.WORD_BYTES)
        return b"".join(next(self.words).to_bytes(8, "little") for _ in range(count // entropy.WORD_BYTES))


def mixed_words(seed: int) -> Iterator[int]:
    """Words that are often rejected: one in four is among the largest there are."""
    chance = np.random.default_rng(seed)
    while True:
        word = int(chance.integers(0, 2**64, dtype=np.uint64))
        yield 2**64 - 1 - word % 8 if word % 4 == 0 else word


def law_by_hand(bundle: TextBundle, mechanism: str, x: int) -> tuple[int, list[tuple[int, int]]]:
    """The tail of one row, and its blocks of integers in their order: stored words nearest first, then all by id."""
    if mechanism == "random":
        return 1, [(y, 1) for y in outputs(bundle, "santext")]
    law = bundle.levels[0].parameters[mechanism]
    assert law.base is None
    weights = defined_weights(bundle, mechanism, law)[x]
    last = int(law.weights[bundle.table.scores[x, -1]])
    stored = [(y, max(0, weights[y] - last)) for y in bundle.table.neighbors[x].tolist()]
    return last, stored + [(y, last) for y in outputs(bundle, mechanism)]


def uniform_by_hand(totals: list[int], words: Iterator[int], taken: list[int]) -> list[int]:
    """One integer below each total, and how many words each round of them takes."""
    drawn = [0] * len(totals)
    waiting = list(range(len(totals)))
    while waiting:
        taken.append(len(waiting))
        for i in waiting:
            drawn[i] = next(words)
        waiting = [i for i in waiting if drawn[i] > 2**64 - 1 - 2**64 % totals[i]]
    return [word % total for word, total in zip(drawn, totals, strict=True)]


def drawn_by_hand(
    bundle: TextBundle, tokens: list[int], words: Iterator[int], options: dict[str, Any], deny: set[int]
) -> tuple[list[int], list[int]]:
    """Outputs of one batch and how many words each step takes: docs/format.md, "Drawing", in plain Python."""
    mechanism = options["mechanism"]
    laws = {x: law_by_hand(bundle, mechanism, x) for x in set(tokens)}
    result = list(tokens)
    waiting = list(range(len(tokens)))
    taken: list[int] = []
    if mechanism == "santext+":
        probability = options.get("replacement_probability", bundle.default_replacement_probability)
        threshold = -(-Fraction(probability) * 2**64 // 1)
        coins = [
            i for i, x in enumerate(tokens) if x < bundle.symbols and bundle.table.roles[x] & KEPT and x not in deny
        ]
        kept = {i for i in coins if next(words) >= threshold}
        waiting = [i for i in waiting if i not in kept]
        taken.append(len(coins))
    if mechanism != "random":
        exact_weights = defined_weights(bundle, mechanism, bundle.levels[0].parameters[mechanism])
    while waiting:
        rows = [laws[tokens[i]] for i in waiting]
        totals = [sum(size for _, size in blocks) for _, blocks in rows]
        in_tail = []
        uniforms = uniform_by_hand(totals, words, taken)
        for i, (weight, blocks), uniform in zip(waiting, rows, uniforms, strict=True):
            ends = list(accumulate(size for _, size in blocks))
            place = bisect_right(ends, uniform)
            result[i] = blocks[place][0]
            if place >= bundle.table.neighbors.shape[1]:
                in_tail.append((i, weight))
        if mechanism == "random":
            break
        thresholds = uniform_by_hand([weight for _, weight in in_tail], words, taken)
        waiting = [
            i
            for (i, _), threshold in zip(in_tail, thresholds, strict=True)
            if threshold >= exact_weights[tokens[i]][result[i]]
        ]
    return result, [count for count in taken if count]


CALLS: list[dict[str, Any]] = [
    {"mechanism": "santext"},
    {"mechanism": "random"},
    {"mechanism": "santext+"},
    {"mechanism": "santext+", "replacement_probability": "0.8"},
    {"mechanism": "santext+", "replacement_probability": "1"},
    {"mechanism": "santext+", "deny": True},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", CALLS, ids=str)
@given(tokens=st.lists(st.integers(0, 18), max_size=12), cut=st.integers(0, 12), seed=st.integers(0, 2**32))
def test_the_order_of_words(
    bundle: TextBundle, tokens: list[int], cut: int, seed: int, options: dict[str, Any]
) -> None:
    """Two texts in one batch against the format's own words, with many rejected words and coins of all kinds."""
    spelled = [*bundle.vocabulary, UNKNOWN]
    common = [x for x in range(bundle.symbols) if bundle.table.roles[x] & KEPT]
    denied = {common[0], common[-1]} if "deny" in options else set()
    call = {**options, "deny": [spelled[x] for x in sorted(denied)]} if denied else options
    texts = [" ".join(spelled[x] for x in part) for part in (tokens[:cut], tokens[cut:])]

    generator = Generator(mixed_words(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", generator)
        results = Sanitizer(bundle).sanitize_batch(texts, **call)

    expected, taken = drawn_by_hand(bundle, tokens, mixed_words(seed), options, denied)
    assert generator.asked == taken
    assert [word for result in results for word in result.text.split()] == [spelled[y] for y in expected]
    assert [result.tokens for result in results] == [len(text.split()) for text in texts]


def test_words_in_fixed_numbers(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in numbers: five tokens, two coins, one word kept, two words rejected, one of them twice."""
    roles = bundle.table.roles
    common = [word for word, role in zip(bundle.vocabulary, roles, strict=True) if role & KEPT]
    other = [word for word, role in zip(bundle.vocabulary, roles, strict=True) if not role & KEPT]
    text = " ".join([other[0], common[0], UNKNOWN, common[1], other[1]])
    last = 2**64 - 1
    generator = Generator(iter([0, last, 1, 2, last, last, 3, last, 4]))
    monkeypatch.setattr(os, "urandom", generator)
    result = Sanitizer(bundle).sanitize(text, mechanism="santext+")
    assert generator.asked == [2, 4, 2, 1]
    assert result.text.split()[3] == common[1]
    assert next(generator.words, None) is None


def test_a_long_text_takes_every_word_once(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text drawn in several batches asks for one word per token where no word is rejected, as below ``2**62``."""
    count = 300_000
    asked: list[int] = []
    chance = np.random.default_rng(5)

    def generator(size: int) -> bytes:
        asked.append(size // 8)
        return chance.integers(0, 2**62, size // 8, dtype=np.uint64).astype("<u8").tobytes()

    monkeypatch.setattr(os, "urandom", generator)
    result = Sanitizer(bundle).sanitize(f"{bundle.vocabulary[0]} " * count, mechanism="random")
    assert result.tokens == len(result.text.split()) == sum(asked) == count
    assert len(asked) > 2


def test_words_are_never_used_twice(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two calls nothing is kept back: the second starts with the first byte that the first left."""
    sensitive = [bundle.vocabulary[y] for y in outputs(bundle, "santext+")]
    stream = list(islice(mixed_words(9), 500))

    def run(texts: list[list[str]], patch: Callable[..., None]) -> tuple[list[str], int]:
        generator = Generator(iter(stream))
        patch(os, "urandom", generator)
        sanitizer = Sanitizer(bundle)
        written = [sanitizer.sanitize(" ".join(text), mechanism="santext+").text for text in texts]
        return written, sum(generator.asked)

    both, taken_by_both = run([sensitive, sensitive], monkeypatch.setattr)
    first, taken_by_first = run([sensitive], monkeypatch.setattr)
    stream = stream[taken_by_first:]
    second, taken_by_second = run([sensitive], monkeypatch.setattr)
    assert both == first + second
    assert taken_by_both == taken_by_first + taken_by_second
