"""The statement of a released vector has every epsilon under its own name, and none below the truth."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm
from textveil.errors import OptionError
from textveil.mechanisms.noise import zcdp
from textveil.mechanisms.noise.discrete import NoiseTable, make_discrete_gaussian
from textveil.mechanisms.noise.parameters import ReleaseParameters, WordDropout
from textveil.mechanisms.noise.vector import bound_gaussian_delta, build_noise
from textveil.release import WholeText
from textveil.vector.statement import compute_realized_loss, compute_word_loss, make_vector_statement

EPSILONS = ("0.5", "1", "2", "3", "4", "6", "8", "12")
L1 = ReleaseParameters(mode="l1", dimension=8, grid=1024, epsilon="4")
L2 = ReleaseParameters(mode="l2", dimension=16, grid=1024, epsilon="4", delta="1e-6")
BOX = ReleaseParameters(mode="box", dimension=384, grid=16, epsilon="19.2")


def test_l1() -> None:
    stated = make_vector_statement(L1, "0", "bundle-id")
    assert stated.summary() == "l1, 8 coordinates: epsilon 4 for the whole text (any two texts)"
    values = stated.to_dict()
    assert values["epsilon_text"] == values["epsilon_per_coordinate"] == values["epsilon_per_word"] == 4.0
    assert values["delta_text"] == values["delta_per_word"] == 0.0
    assert values["noise"] == "discrete Laplace of scale 512 steps on every coordinate"
    assert json.loads(json.dumps(values)) == values


def test_box_is_labeled_with_its_true_epsilon() -> None:
    """The paper's epsilon of .05 per coordinate is 19.2 for the whole text."""
    stated = make_vector_statement(BOX, "0", "id")
    assert str(stated.per_coordinate) == "epsilon 0.05 for a single coordinate"
    assert str(stated.whole_text) == "epsilon 19.2 for the whole text (any two texts)"
    assert stated.summary().startswith(
        "box, 384 coordinates: epsilon 19.2 for the whole text (any two texts); epsilon 0.05 for a single"
    )
    assert any("for any two texts it is 384 times it" in item for item in stated.not_protected)
    assert stated.to_dict()["epsilon_text"] == 19.2


def test_l2_has_a_delta() -> None:
    stated = make_vector_statement(L2, "0.25", "id")
    values = stated.to_dict()
    assert str(stated.whole_text) == "epsilon 4, delta 0.000001 for the whole text (any two texts)"
    assert values["delta_text"] == 1e-6
    assert values["delta_per_word"] == 0.75e-6
    assert values["epsilon_per_coordinate"] is None
    assert "sigma^2" in values["noise"]
    assert any("delta" in item for item in stated.not_protected)


def test_word_dropout_is_stated_beside_the_whole_text() -> None:
    """It changes the epsilon of a word and nothing else."""
    plain, dropping = make_vector_statement(L1, "0", "id"), make_vector_statement(L1, "0.5", "id")
    assert dropping.whole_text == plain.whole_text
    assert dropping.per_coordinate == plain.per_coordinate
    assert float(dropping.per_word.epsilon) == pytest.approx(math.log(0.5 * math.exp(4) + 0.5), abs=1e-8)
    assert dropping.summary() == (
        "l1, 8 coordinates: epsilon 4 for the whole text (any two texts); "
        "epsilon 3.32500275 for two texts that differ in one token (word dropout 0.5)"
    )
    assert any("not at all that of the whole text" in item for item in dropping.not_protected)
    assert not any("dropout" in item for item in plain.not_protected)
    with pytest.raises(OptionError, match="word dropout"):
        make_vector_statement(L1, "1", "id")


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_what_is_realized_is_covered_by_what_is_promised(mode: str, epsilon: str) -> None:
    """And is not far below it: 1e-6 of epsilon, or a hundredth of delta."""
    dimension, grid, delta = {"l1": (16, 1024, None), "l2": (16, 1024, "1e-6"), "box": (384, 16, None)}[mode]
    stated = make_vector_statement(
        ReleaseParameters(mode=mode, dimension=dimension, grid=grid, epsilon=epsilon, delta=delta), "0", "id"
    )
    assert stated.whole_text.covers(stated.realized)
    if mode == "l2":
        assert stated.realized.epsilon == Decimal(epsilon)
        assert stated.realized.delta > Decimal("0.99e-6")
    else:
        assert stated.realized.epsilon > Decimal(epsilon) - Decimal("1e-6")


def test_an_epsilon_of_many_digits_is_covered_too() -> None:
    stated = make_vector_statement(
        ReleaseParameters(mode="l1", dimension=2, grid=64, epsilon="1.00000000000000000001"), "0", "id"
    )
    assert stated.whole_text.covers(stated.realized)


# Word dropout.


def ratios(first: list[Fraction], second: list[Fraction]) -> Fraction:
    return max(one / other for one, other in zip(first, second, strict=True))


def divergence(first: list[Fraction], second: list[Fraction], growth: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - growth * q) for p, q in zip(first, second, strict=True)), Fraction(0))


def mixed(dropped: list[Fraction], present: list[Fraction], mu: Fraction) -> list[Fraction]:
    return [mu * a + (1 - mu) * b for a, b in zip(dropped, present, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("mu", ["0.1", "0.3", "0.5", "0.8"])
@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_the_dropout_theorem_on_random_mechanisms(mu: str, epsilon: str) -> None:
    """Laws of a word dropped, present, and another word present, pairwise within (epsilon, delta), in rationals.

    The divergence at the word's epsilon is at most its delta for another word, for a word added and one removed.
    """
    chance = np.random.default_rng(15)
    share = Fraction(mu)
    largest = compute_word_loss(WholeText(Decimal(epsilon)), WordDropout(mu)).epsilon
    growth = Fraction(math.exp(float(epsilon)))
    # exp of the word's epsilon, lowered by a part in a million: the divergence can only be larger.
    word_growth = Fraction(math.exp(float(largest))) * (1 - Fraction(1, 10**6))
    worst = 0.0
    for _ in range(300):
        laws = []
        for _ in range(3):
            weights = np.exp(float(epsilon) * chance.choice([0, 0.5, 1, 1.3], 4)) + 1e-3
            laws.append([Fraction(int(w * 2**30), int((weights * 2**30).astype(int).sum())) for w in weights])
        dropped, one, other = laws
        delta = max(divergence(a, b, growth) for a in laws for b in laws)
        texts = mixed(dropped, one, share), mixed(dropped, other, share), dropped
        for a, b in ((texts[0], texts[1]), (texts[0], texts[2]), (texts[2], texts[0])):
            assert divergence(a, b, word_growth) <= (1 - share) * delta + Fraction(1, 10**5)
            if delta == 0:
                assert ratios(a, b) <= Fraction(math.exp(float(largest))) * (1 + Fraction(1, 10**12))
                worst = max(worst, float(ratios(a, b)))
    assert worst > 1


@pytest.mark.parametrize("mu", ["0.1", "0.5", "0.8"])
def test_the_dropout_theorem_is_tight(mu: str) -> None:
    """A bit, flipped by randomized response: dropped and the other word say 0, this word says 1."""
    growth, share = Fraction(55), Fraction(mu)  # exp(4) is 54.6
    low, high = [growth / (growth + 1), 1 / (growth + 1)], [1 / (growth + 1), growth / (growth + 1)]
    attained = ratios(mixed(low, high, share), low)
    whole = WholeText(Decimal(55).ln())
    stated = compute_word_loss(whole, WordDropout(mu)).epsilon
    assert math.log(attained) <= float(stated) <= math.log(attained) + 1e-7


def test_a_dropout_that_is_less_than_stated_is_seen() -> None:
    """Half the dropout breaks the bound: words that are only masked in attention, but pooled all the same."""
    growth = Fraction(55)
    low, high = [growth / (growth + 1), 1 / (growth + 1)], [1 / (growth + 1), growth / (growth + 1)]
    stated = compute_word_loss(WholeText(Decimal(55).ln()), WordDropout("0.5")).epsilon
    assert math.log(ratios(mixed(low, high, Fraction(1, 4)), low)) > float(stated)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_is_above_the_true_delta_of_a_gaussian(epsilon: str) -> None:
    """Balle and Wang 2018: what a continuous Gaussian has. The bound is above it, by less than a factor of 20."""
    parameters = ReleaseParameters(mode="l2", dimension=8, grid=1024, epsilon=epsilon, delta="1e-6")
    variance = build_noise(parameters).variance
    assert variance is not None
    scale, loss = parameters.sensitivity / math.sqrt(variance), float(epsilon)
    true = norm.cdf(scale / 2 - loss / scale) - math.exp(loss) * norm.cdf(-scale / 2 - loss / scale)
    assert true < float(compute_realized_loss(parameters).delta) < 20 * true


# The delta of the finished tables, by numbers.


def numeric_delta(
    table: NoiseTable, margin: int, grid: int, pair: tuple[int, int], coordinates: int, epsilon: float
) -> float:
    """Delta of a release whose coordinates all move from one value to another, rounded up.

    The loss of one coordinate is rounded up to a grid of its own, and the losses of independent coordinates are
    added by convolution (Koskela, Jaelkoe, Honkela 2020). Clamped ends included.
    """
    half = np.array(table.counts, dtype=np.float64) / 2.0**64
    law = np.concatenate([half[:0:-1], half])

    def clamped(value: int) -> NDArray[np.float64]:
        lowest, highest = -grid - margin, grid + margin
        positions = np.clip(np.arange(-table.reach, table.reach + 1) + value, lowest, highest) - lowest
        return np.bincount(positions, weights=law).astype(np.float64)

    first, second = clamped(pair[0]), clamped(pair[1])
    step = 2e-4
    losses = np.ceil(np.log(first / second) / step).astype(int)
    lowest = losses.min()
    pmf = np.bincount(losses - lowest, weights=first)
    size = 1 << (coordinates * len(pmf)).bit_length()
    total = np.fft.irfft(np.fft.rfft(pmf, size) ** coordinates, size)
    loss = (np.arange(size) + coordinates * lowest) * step
    return float((np.maximum(total, 0) * -np.expm1(np.minimum(0, epsilon - loss))).sum()) + 1e-12


#: Two vectors as far apart as can be: in one coordinate, or the same in 4 or 16.
SHIFTS = [(1, 1024), (4, 512), (16, 256)]


@pytest.mark.parametrize(("coordinates", "edge"), SHIFTS)
@pytest.mark.parametrize("epsilon", ["1", "4", "8"])
def test_delta_of_the_finished_table_is_within_the_statement(epsilon: str, coordinates: int, edge: int) -> None:
    parameters = ReleaseParameters(mode="l2", dimension=16, grid=1024, epsilon=epsilon, delta="1e-6")
    made = build_noise(parameters)
    found = numeric_delta(made.table, made.margin, 1024, (edge, -edge), coordinates, float(epsilon))
    claim = float(compute_realized_loss(parameters).delta)
    assert found <= claim
    # In one coordinate alone the clamp cuts off whatever could exceed epsilon; in several there is no such luck.
    assert found > claim / 20 if coordinates > 1 else found < 1e-11


@pytest.mark.parametrize(("coordinates", "edge"), SHIFTS)
def test_gaussian_noise_ten_percent_too_small_exceeds_it(coordinates: int, edge: int) -> None:
    """The bound by zCDP leaves some room; noise 10 % too small is beyond it."""
    made = build_noise(L2)
    assert made.variance is not None
    smaller = make_discrete_gaussian(Fraction(made.variance) * Fraction(81, 100), made.table.reach)
    assert numeric_delta(smaller, made.margin, 1024, (edge, -edge), coordinates, 4.0) > 1e-6


@pytest.mark.parametrize(("dimension", "epsilon"), [(1, "1"), (384, "16")])
def test_what_rounding_adds_to_delta(dimension: int, epsilon: str) -> None:
    """``(1 + e^epsilon) k TV`` by floating-point arithmetic of its own."""
    parameters = ReleaseParameters(mode="l2", dimension=dimension, grid=16, epsilon=epsilon, delta="1e-6")
    noise = build_noise(parameters)
    assert noise.variance is not None
    added = bound_gaussian_delta(parameters, noise.variance, noise.table.reach) - zcdp.compute_delta_bound(
        parameters.compute_rho(noise.variance), parameters.exact_epsilon
    )
    by_hand = (1 + math.exp(float(epsilon))) * dimension * (2 * noise.table.reach + 1) / 2**64
    assert float(added) == pytest.approx(by_hand, rel=1e-9)
