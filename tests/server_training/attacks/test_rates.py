"""Rates of attacks have standard errors and intervals over texts, since tokens of a text are dependent."""

import numpy as np
import pytest
from textveil_training.attacks import rates


def test_standard_errors_are_those_of_clusters() -> None:
    generator = np.random.default_rng(1)
    values = generator.random(400) < 0.3
    alone = rates.compute_clustered_mean(values, np.arange(400))
    assert alone[1] == pytest.approx(values.std(ddof=1) / 20, rel=1e-9)
    # Four copies of everything tell nothing new.
    copies = rates.compute_clustered_mean(np.repeat(values, 4), np.repeat(np.arange(400), 4))
    assert copies == pytest.approx(alone)
    assert rates.compute_clustered_mean(np.repeat(values, 4), np.arange(1600))[1] < 0.6 * alone[1]  # type: ignore[operator]
    assert rates.compute_clustered_mean(values, np.zeros(400, np.int64))[1] is None
    assert rates.compute_clustered_interval(values, np.zeros(400, np.int64)) == [0, 1]


def test_intervals_of_clusters_cover() -> None:
    """Texts of different sizes and rates: about 95 % of intervals hold the rate of all texts."""
    generator = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        sizes = generator.integers(1, 30, 60)
        chance = generator.beta(1, 2, 60)  # of each text, mean 1/3, independent of its size
        owner = np.repeat(np.arange(60), sizes)
        low, high = rates.compute_clustered_interval(generator.random(len(owner)) < chance[owner], owner)
        covered += low <= 1 / 3 <= high
    assert 0.9 * 400 <= covered <= 0.99 * 400


def test_intervals_of_all_or_none_have_a_width() -> None:
    """Nothing hit in 20 texts of 10 tokens bounds the rate as 20 trials do, not as 200, and not at 0."""
    owner = np.repeat(np.arange(20), 10)
    for hit in (False, True):
        low, high = rates.compute_clustered_interval(np.full(200, hit), owner)
        assert [low, high] == rates.compute_wilson_interval(20 * hit, 20)
        assert high - low == pytest.approx(0.161, abs=1e-3)
    thirds = np.tile([True, False, False], 20)  # the same rate in every text: the error is rounding
    assert rates.compute_clustered_interval(thirds, np.repeat(np.arange(20), 3)) == rates.compute_wilson_interval(
        20 / 3, 20
    )


def test_intervals_of_one_token_a_text_are_wilsons() -> None:
    hits = np.arange(400) < 100
    low, high = rates.compute_wilson_interval(100, 400)
    assert rates.compute_clustered_interval(hits, np.arange(400)) == pytest.approx([low, high], abs=1e-3)


def test_wilson_intervals() -> None:
    assert rates.compute_wilson_interval(0, 100)[0] == 0
    assert 0.02 < rates.compute_wilson_interval(0, 100)[1] < 0.05
    low, high = rates.compute_wilson_interval(5000, 10000)
    assert (low, high) == pytest.approx((0.5 - 0.0098, 0.5 + 0.0098), abs=1e-4)


def test_words_that_are_never_kept_are_told_apart() -> None:
    values, clusters = np.array([1.0, 0, 1, 1]), np.array([0, 0, 1, 1])
    found = rates.compute_rates({"a": values}, clusters, np.array([True, True, False, False]))
    assert (found["tokens"], found["a"], found["sensitive"]["tokens"], found["sensitive"]["a"]) == (4, 0.75, 2, 0.5)
    assert found["sensitive"]["standard_error"] is None
    assert "sensitive" not in rates.compute_rates({"a": values}, clusters, np.ones(4, bool))
