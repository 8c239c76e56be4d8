"""A second implementation of docs/encoder-format.md, from the model's vector to the release, in plain Python."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from small_encoders import load_encoder, write_encoder
from textveil import Encoder
from textveil.mechanisms.noise.discrete import make_discrete_laplace
from textveil.mechanisms.noise.vector import build_noise

MODES = [("l1", None), ("l2", "1e-6"), ("box", None)]
WORD = 2**64


def laplace(scale: Fraction, reach: int) -> list[int]:
    """``c_0 ... c_N`` of modes ``l1`` and ``box``."""
    with localcontext(prec=100):
        rate = Decimal(scale.denominator) / scale.numerator
        lowered = 1 - Decimal("1e-80")
        ends = (1 - (-rate).exp()) / (1 + (-rate).exp()) * (-(reach - 1) * rate).exp() * lowered
        growth = math.floor(rate.exp() * lowered * 2**192)
        counts = [math.floor(ends * WORD)]
    for _ in range(reach - 1):
        counts.insert(0, counts[0] * growth // 2**192)
    counts[0] -= counts[0] % 2
    return [*counts, (WORD - counts[0] - 2 * sum(counts[1:])) // 2]


def into_ball(vector: list[float], mode: str, grid: int) -> list[int]:
    """Apply steps 1 and 2."""
    if not all(map(math.isfinite, vector)):
        return [0] * len(vector)
    steps = [max(-(2**24), min(2**24, math.trunc(number * grid))) for number in vector]
    if mode == "box":
        return [max(0, min(grid, step)) for step in steps]
    if mode == "l1":
        norm, outside = sum(map(abs, steps)), sum(map(abs, steps)) > grid
    else:
        square = sum(step**2 for step in steps)
        norm, outside = math.isqrt(square) + (math.isqrt(square) ** 2 < square), square > grid**2
    if not outside:
        return steps
    return [(1 if step > 0 else -1) * (abs(step) * grid // norm) for step in steps]


def drawn(counts: list[int], word: int) -> int:
    """Return the value that a random word selects."""
    reach = len(counts) - 1
    below = 0
    for value in range(-reach, reach + 1):
        below += counts[abs(value)]
        if word < below:
            return value
    raise AssertionError("the counts do not sum to 2**64")


def table_of(mode: str, dimension: int, grid: int, epsilon: int, encoder: Encoder) -> tuple[list[int], int]:
    """Return counts and margin; the variance of ``l2`` is the implementation's, its counts are checked."""
    low = 0 if mode == "box" else -grid
    if mode != "l2":
        scale = Fraction(dimension * grid if mode == "box" else 2 * grid, epsilon)
        margin = math.ceil(8 * scale)
        return laplace(scale, grid - low + margin), margin
    noise = build_noise(encoder.bundle.get_level(epsilon))
    variance = noise.variance
    assert variance is not None
    margin = 4 * (math.isqrt(variance) + 1)
    counts = list(noise.table.counts)
    with mpmath.workdps(60):
        weights = [mpmath.exp(-mpmath.mpf(n * n) / (2 * variance)) for n in range(len(counts))]
        whole = mpmath.nsum(lambda n: mpmath.exp(-n * n / (2 * variance)), [-mpmath.inf, mpmath.inf])
        for number, count in enumerate(counts[:-1]):
            assert 0 <= weights[number] / whole * WORD - count < (2 if number == 0 else 1)
    assert counts[0] + 2 * sum(counts[1:]) == WORD
    return counts, margin


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize(("mode", "delta"), MODES)
def test_a_release_by_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, delta: str | None
) -> None:
    grid, dimension, epsilon, mu = 16, 3, 4, Fraction(3, 10)
    folder = write_encoder(tmp_path / mode, noise_mode=mode, delta=delta, grid=grid, dimension=dimension)
    encoder = load_encoder(folder)
    counts, margin = table_of(mode, dimension, grid, epsilon, encoder)
    low = 0 if mode == "box" else -grid
    generator = np.random.default_rng(3)
    script: list[int] = []

    def scripted(count: int) -> NDArray[np.uint64]:
        words = generator.integers(0, WORD, count, dtype=np.uint64, endpoint=False)
        words[generator.random(count) < 0.1] = WORD - 1  # and the far ends
        words[generator.random(count) < 0.1] = 0
        script.extend(words.tolist())
        return words

    monkeypatch.setattr("textveil.mechanisms.entropy.random_uint64", scripted)
    run = encoder._extractor.session.run_model
    given: list[tuple[list[int], list[float]]] = []

    def watched(ids: list[int]) -> NDArray[np.float32]:
        vectors = run(ids) * np.float32(1.7)  # beyond the ball, too
        given.append((ids, vectors[0].tolist()))
        return vectors

    monkeypatch.setattr(encoder._extractor.session, "run_model", watched)
    parts = encoder.bundle.extractor
    vocabulary = parts.vocabulary
    for text in ("the doctor said", "", "unaffable nurse , of boston", "broken", "the of and " * 9) * 4:
        script.clear()
        release = encoder.encode(text, epsilon=epsilon, word_dropout="0.3")
        words = text.split()
        kept = [word for word, coin in zip(words, script, strict=False) if coin >= math.ceil(mu * WORD)]
        whole = {"unaffable": ["un", "##aff", "##able"]}
        pieces = [piece for word in kept for piece in whole.get(word, [word])][: parts.max_tokens - 2]
        ids, vector = given[-1]
        assert ids == [vocabulary[piece] for piece in ("[CLS]", *pieces, "[SEP]")]
        inside = into_ball(vector, mode, grid)
        noise = [drawn(counts, word) for word in script[len(words) :]]
        expected = [max(low - margin, min(grid + margin, q + n)) for q, n in zip(inside, noise, strict=True)]
        assert release.integers.tolist() == expected
        assert release.vector.tolist() == [float(np.float32(z / grid)) for z in expected]


@pytest.mark.parametrize("epsilon", ["1", "4", "8", "16", "0.5", "3.7"])
@pytest.mark.parametrize("grid", [64, 1024])
def test_laplace_tables_to_the_count(epsilon: str, grid: int) -> None:
    scale = 2 * grid / Fraction(epsilon)
    reach = 2 * grid + math.ceil(8 * scale)
    assert laplace(scale, reach) == list(make_discrete_laplace(scale, reach).counts)
