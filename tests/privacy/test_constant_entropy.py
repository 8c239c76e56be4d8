"""With a source that repeats one byte, every sampler ends: with a sample or with the error ``entropy``."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_encoders import load_encoder, write_encoder
from small_label_bundle import sentences_of, write_index
from textveil import Sanitizer, TextLabelEncoder
from textveil.bundle import TextBundle
from textveil.errors import EntropyFailed
from textveil.mechanisms import draw_uniform_below, entropy, integer_sampling
from textveil.mechanisms.baselines import SanText
from textveil.mechanisms.entropy import MAX_WORDS
from textveil.mechanisms.integer_sampling import MAX_ROUNDS, WeightRows, draw_thinned

BYTES = (0x00, 0x01, 0x55, 0x7F, 0x80, 0xAA, 0xFE, 0xFF)
TEXT = "Dr. Mary Smith (born 3 May 1981) wrote 'call 555-0199' to kim@example.com: the zorblax hurts, really."
OPTIONS: list[dict[str, Any]] = [
    *({"mechanism": "staircase", **more} for more in ({}, {"consistent": True})),
    {"mechanism": "staircase", "sanitize_punctuation": True, "protect": "all"},
    *({"mechanism": name} for name in ("santext", "santext+")),
    {"mechanism": "krr", "epsilon": 8},
    {"mechanism": "fbdd", "epsilon": 8},
    {"mechanism": "random"},
]


class Endless(BaseException):
    """More was asked for than any draw needs. Not an ``Exception``: the package would give that another name."""


@pytest.fixture(params=BYTES, ids=hex)
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Replace the operating system's entropy by one repeated byte."""
    calls = 0

    def constant(count: int) -> bytes:
        nonlocal calls
        calls += 1
        if calls > 5000:
            raise Endless
        return bytes([request.param]) * count

    monkeypatch.setattr(integer_sampling, "MAX_ROUNDS", 500)  # of 32,768: those take five seconds
    monkeypatch.setattr(os, "urandom", constant)
    return request.param


def ends(draw: Callable[[], object]) -> bool:
    """Whether there is a draw; ``EntropyFailed`` is the only other end."""
    try:
        draw()
    except EntropyFailed:
        return False
    return True


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_mechanism_for_text_ends(english: Sanitizer, source: int, options: dict[str, Any]) -> None:
    drawn = ends(lambda: english.sanitize(TEXT, **options))
    assert drawn or source > 0x00


@pytest.mark.parametrize("total", [1, 2, 3, 10**6, (1 << 62) - 1, 1 << 62])
def test_integers_below_a_total(source: int, total: int) -> None:
    word = int.from_bytes(bytes([source]) * 8, "little")
    accepted = word <= 2**64 - 1 - 2**64 % total
    assert ends(lambda: draw_uniform_below(np.array([total]), entropy.random_uint64)) == accepted


def test_vectors_and_decisions_end(source: int, tmp_path: Path) -> None:
    """They use one random word per value, so no source makes them fail."""
    encoder = load_encoder(write_encoder(tmp_path / "encoder"))
    assert ends(lambda: encoder.encode("hello world", epsilon=4, word_dropout="0.5"))
    index = TextLabelEncoder.load(write_index(tmp_path / "index", files=sentences_of()))
    ends(lambda: index.encode("hello world", epsilon=4))
    ends(lambda: index.encode("hello world", epsilon=4, as_text=True))


def rejected_at_first(times: int, rejected: int, then: int) -> Callable[[int], Any]:
    """Return one word a number of times, then another."""
    asked = 0

    def words(count: int) -> Any:
        nonlocal asked
        asked += 1
        return np.full(count, rejected if asked <= times else then, np.uint64)

    return words


def test_the_last_word_of_an_integer_counts() -> None:
    total, last = np.array([3 << 60]), 2**64 - 1
    assert draw_uniform_below(total, rejected_at_first(MAX_WORDS - 1, last, 5)).tolist() == [5]
    with pytest.raises(EntropyFailed, match="nothing is released"):
        draw_uniform_below(total, rejected_at_first(MAX_WORDS, last, 5))


def test_the_last_round_of_a_thinned_draw_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a tail of 4, one in four proposals is kept: that of threshold 0. Each round takes two words."""
    monkeypatch.setattr(integer_sampling, "MAX_ROUNDS", 20)
    stored, tail, base = np.array([[0]]), np.array([4]), np.array([1, 2])
    rows = WeightRows(stored=stored, cumulative=np.array([[0]]), tail=tail, base=base)

    def thinned(times: int) -> list[int]:
        words = rejected_at_first(times, 7, 4)
        return draw_thinned(rows, np.array([0]), lambda row, output: np.ones_like(output), words).tolist()

    assert thinned(2 * 19) == [1]
    with pytest.raises(EntropyFailed, match="nothing is released"):
        thinned(2 * 20)


def test_a_true_source_never_meets_the_bounds(english: Sanitizer) -> None:
    """docs/proofs/santext.md states this for the default bundle: all words, levels and both mechanisms."""
    assert 4**-MAX_WORDS <= 2**-256
    bundle: TextBundle = english.bundle
    for level in bundle.santext_levels:
        for mechanism in ("santext", "santext+"):
            law = SanText.from_table(bundle.table, bundle.metric, mechanism, level.parameters[mechanism])
            rows = law.compute_proposals(np.arange(bundle.symbol_count + 1))
            kept = rows.cumulative[:, -1] + law.weights[-1] * rows.base[-1]
            assert MAX_ROUNDS * (kept / rows.totals).min() > 179 * math.log(2)
