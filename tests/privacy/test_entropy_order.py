"""Each word of the operating system's generator is used once, in a known order.

The order is part of the format (docs/format-santext.md, "Drawing"), since readers in other languages must give the
same outputs from the same bytes: the coins of the common words first, in order; then one word for every token that is
not kept, in order; then, as long as there are rejected words, a new one for each rejected position, in order; for
SanText, the same for the thresholds of the tokens that were dealt to the tail, and then all of it again for those
that were not accepted. A reader that draws a coin for a token that has none, or mixes coins and draws, gives the same
distribution and other outputs; where texts at random are compared with the second reader
(``tests/contract/test_golden.py``), that is a failure.
"""

import os
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pytest
from defined_weights import outputs
from textveil import Sanitizer
from textveil.bundle.text_bundle import TextBundle
from textveil.mechanisms import entropy
from textveil.mechanisms.baselines.table import KEPT_ROLE

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


def test_words_in_fixed_numbers(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five tokens, two coins, one word kept, two words rejected, one of them twice."""
    roles = bundle.table.roles
    common = [word for word, role in zip(bundle.vocabulary, roles, strict=True) if role & KEPT_ROLE]
    other = [word for word, role in zip(bundle.vocabulary, roles, strict=True) if not role & KEPT_ROLE]
    text = " ".join([other[0], common[0], UNKNOWN, common[1], other[1]])
    last = 2**64 - 1
    generator = Generator(iter([0, last, 1, 2, last, last, 3, last, 4]))
    monkeypatch.setattr(os, "urandom", generator)
    result = Sanitizer(bundle).sanitize(text, mechanism="santext+")
    assert generator.asked == [2, 4, 2, 1]
    assert result.text.split()[3] == common[1]
    assert next(generator.words, None) is None


def test_a_long_text_takes_every_word_once(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text processed in several batches requests one word per token if no word is rejected, as below ``2**62``."""
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
    """A call keeps no bytes for the next: the second starts with the first unread byte."""
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
