"""Bounds on epsilon hold at their confidence, agree with other implementations, and bets do not win against a truth."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from textveil_training.audit import (
    BettingTest,
    bound_identification_epsilon,
    bound_pair_epsilon,
    find_half_power,
)
from textveil_training.audit.statistics import (
    bound_above,
    bound_below,
    compute_identification_ceiling,
    compute_pair_ceiling,
)


@pytest.mark.parametrize("count", [0, 1, 17, 99, 100])
def test_probabilities_are_bounded_as_by_clopper_and_pearson(count: int) -> None:
    interval = binomtest(count, 100).proportion_ci(0.98, method="exact")
    assert float(bound_below(count, 100, 0.01)) == pytest.approx(interval.low, abs=1e-12)
    assert float(bound_above(count, 100, 0.01)) == pytest.approx(interval.high, abs=1e-12)


def test_the_pair_bound_exceeds_the_truth_no_more_often_than_stated() -> None:
    """Exactly, over all pairs of counts of 60 draws, at an epsilon of .7 and a delta of .05."""
    draws, alpha, epsilon, delta = 60, 0.05, 0.7, 0.05
    q = 0.3
    p = math.exp(epsilon) * q + delta
    first, second = np.meshgrid(np.arange(draws + 1), np.arange(draws + 1), indexing="ij")
    bounds = bound_pair_epsilon(first, second, draws, alpha, delta)
    weights = binom.pmf(first, draws, p) * binom.pmf(second, draws, q)
    assert weights[bounds > epsilon].sum() <= alpha
    wrong = bound_pair_epsilon(first, second, draws, 20 * alpha / 1.001, delta)
    assert weights[wrong > epsilon].sum() > alpha, "without confidence the bound fails"


def test_the_identification_bound_exceeds_the_truth_no_more_often_than_stated() -> None:
    draws, inputs, alpha, epsilon, delta = 200, 12, 0.05, 1.5, 0.02
    factor = math.exp(epsilon)
    success = (factor + (inputs - 1) * delta) / (inputs - 1 + factor)
    hits = np.arange(draws + 1)
    bounds = np.array([bound_identification_epsilon(int(one), draws, inputs, alpha, delta) for one in hits])
    assert 0.01 < binom.pmf(hits, draws, success)[bounds > epsilon].sum() <= alpha


def test_ceilings_are_those_of_the_design() -> None:
    assert compute_pair_ceiling(10_000, 0.001) == pytest.approx(7.1, abs=0.1)
    assert 13 < compute_identification_ceiling(40_000, 1000, 0.0005) < 16
    assert bound_identification_epsilon(14_000, 20_000, 20_000, 0.001) == pytest.approx(10.8, abs=0.1)


def test_without_an_event_or_with_a_delta_of_all_there_is_no_bound() -> None:
    assert float(bound_pair_epsilon(0, 0, 100, 0.01)) == 0
    assert float(bound_pair_epsilon(50, 0, 100, 0.01, delta=0.9)) == 0
    assert bound_identification_epsilon(50, 100, 10, 0.01, delta=0.9) == 0


def test_power_grows_with_draws_and_falls_with_outputs() -> None:
    few = find_half_power(10, 1000, 0.001, identification=False) or 0.0
    assert few > (find_half_power(10, 10_000, 0.001, identification=False) or 99)
    assert (find_half_power(1000, 10_000, 0.001, identification=False) or 0.0) > few
    assert find_half_power(10**9, 100, 0.001, identification=False) is None


@pytest.mark.statistical
def test_the_stated_power_is_reached() -> None:
    outputs, draws, alpha = 10, 2000, 0.001
    epsilon = find_half_power(outputs, draws, alpha, identification=False) or 0.0
    kept = 1 / (1 + (outputs - 1) * math.exp(-epsilon))
    generator = np.random.default_rng(7)
    first, second = generator.binomial(draws, [[kept], [kept * math.exp(-epsilon)]], (2, 4000))
    assert np.mean(bound_pair_epsilon(first, second, draws, alpha) >= epsilon / 2) > 0.87


def count_wins(epsilon: float, claim: float, runs: int = 300, draws: int = 400) -> int:
    """Count the runs in which a bet on a true ratio of e^epsilon refutes a claim at 1/20."""
    generator, q = np.random.default_rng(7), 0.1
    wins = 0
    for _ in range(runs):
        test = BettingTest(factor=math.exp(claim), fee=0.0)
        for _ in range(20):
            a, b = generator.random((2, draws // 20)) < [[math.exp(epsilon) * q], [q]]
            test.bet(a, b)
            if test.log_wealth > math.log(20):
                wins += 1
                break
    return wins


@pytest.mark.statistical
def test_bets_rarely_win_against_a_true_claim_and_mostly_against_a_false_one() -> None:
    assert count_wins(1.5, 1.5) <= 35  # 15 of 300 at most on average
    assert count_wins(1.5, 0.5) > 250


def test_a_bet_on_a_smaller_claim_wins_more() -> None:
    small, large = (BettingTest(factor=math.exp(claim), fee=0.0) for claim in (0.5, 1.5))
    for test in (small, large):
        test.bet([1] * 30 + [0] * 70, [1] * 5 + [0] * 95)
    assert small.log_wealth > large.log_wealth


@pytest.mark.parametrize(("threshold", "delta"), [(1.5, 0.0), (1.5, 0.01), (3.0, 0.0)])
def test_our_bound_is_that_of_jax_privacy(threshold: float, delta: float) -> None:
    auditing = pytest.importorskip("jax_privacy.auditing")
    generator = np.random.default_rng(1)
    inside, outside = generator.normal(1, 1, 5000), generator.normal(0, 1, 5000)
    strategy = auditing.Explicit(threshold=threshold)
    auditor = auditing.CanaryScoreAuditor(inside, outside)
    theirs = auditor.epsilon_clopper_pearson(significance=0.05, delta=delta, threshold_strategy=strategy)
    counts = int((inside >= threshold).sum()), int((outside >= threshold).sum())
    assert float(bound_pair_epsilon(*counts, 5000, 0.05, delta)) == pytest.approx(theirs, abs=1e-6)
