"""Finished noise tables against the distributions they stand for, value by value, in intervals around the truth."""

import hashlib
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from intervals import iv
from textveil.errors import OptionError
from textveil.mechanisms.noise import discrete as noise
from textveil.mechanisms.noise import zcdp
from textveil.mechanisms.noise.discrete import (
    NoiseTable,
    bound_total_variation,
    make_discrete_gaussian,
    make_discrete_laplace,
)
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.mechanisms.noise.vector import ReleaseNoise, bound_gaussian_delta, build_noise

iv.prec = 256

EPSILONS = ("0.5", "1", "2", "3", "4", "6", "8", "12")
L1 = [
    ReleaseParameters(mode="l1", dimension=k, grid=1024, epsilon=epsilon)
    for epsilon in EPSILONS
    for k in (1, 2, 4, 8, 16)
]
BOX = [ReleaseParameters(mode="box", dimension=384, grid=16, epsilon=epsilon) for epsilon in (*EPSILONS, "384", "1920")]
L2 = [
    ReleaseParameters(mode="l2", dimension=k, grid=1024, epsilon=epsilon, delta="1e-6")
    for epsilon in EPSILONS
    for k in (2, 384)
]
ALL = [*L1[::5], *BOX, *L2]


def named(parameters: ReleaseParameters) -> str:
    return f"{parameters.mode}-{parameters.dimension}-{parameters.epsilon}"


def real(value: Fraction) -> Any:
    return iv.mpf(value.numerator) / value.denominator


def laplace(table: NoiseTable, scale: Fraction) -> list[Any]:
    """Ideal counts of 0, 1, ..., reach, the last one a tail."""
    ratio = iv.exp(-1 / real(scale))
    singles = [(1 - ratio) / (1 + ratio) * 2**table.bits]
    while len(singles) < table.reach:
        singles.append(singles[-1] * ratio)
    return [*singles, ratio**table.reach / (1 + ratio) * 2**table.bits]


def gaussian(table: NoiseTable, variance: int) -> list[Any]:
    """Return the same for the Gaussian; its normalizer sums terms until they are below 2**-400."""
    far = math.isqrt(2 * 280 * variance) + 1
    base, weights = iv.exp(iv.mpf(-1) / (2 * variance)), []
    weight, step = iv.mpf(1), base
    for _ in range(far + 1):
        weights.append(weight)
        weight, step = weight * step, step * base * base
    total = 2 * sum(weights[1:], iv.mpf([0, iv.mpf(2) ** -380])) + weights[0]
    end = sum(weights[table.reach :], iv.mpf([0, iv.mpf(2) ** -380]))
    return [value * 2**table.bits / total for value in (*weights[: table.reach], end)]


def sound(table: NoiseTable) -> bool:
    """Check that the counts sum to ``2**bits``, and that no cell is empty."""
    return table.counts[0] + 2 * sum(table.counts[1:]) == 2**table.bits and min(table.counts) >= 1


@pytest.mark.parametrize("parameters", ALL, ids=named)
def test_a_table_is_a_law_that_reaches_everything(parameters: ReleaseParameters) -> None:
    made = build_noise(parameters)
    assert sound(made.table)
    assert made.table.reach == parameters.grid - parameters.lowest + made.margin
    assert made.table.compute_probability(-7) == made.table.compute_probability(7) > 0
    assert made.table.compute_tail(1) == (1 - made.table.compute_probability(0)) / 2
    far = made.table.reach
    assert (
        made.table.compute_probability(far)
        == made.table.compute_tail(far)
        > made.table.compute_probability(far + 1)
        == 0
    )


@pytest.mark.parametrize("parameters", [*L1, *BOX], ids=named)
def test_laplace_noise_has_no_excess(parameters: ReleaseParameters) -> None:
    """Exact, over every value and every tail that the clamp makes an output: at most epsilon in all, and nearly it."""
    made = build_noise(parameters)
    loss = parameters.sensitivity * iv.log(real(made.table.compute_largest_ratio(made.margin)))
    nominal = real(parameters.exact_epsilon)
    assert loss.b <= nominal.a
    assert loss.a >= nominal.b - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [L1[10], L1[20], L1[35], BOX[4], BOX[8]], ids=named)
def test_laplace_counts_are_the_ideal_ones_from_below(parameters: ReleaseParameters) -> None:
    """No single count is above the ideal one; what they lack is far below what a test of chance could see."""
    table = build_noise(parameters).table
    ideal = laplace(table, parameters.scale)
    for count, wanted in zip(table.counts[:-1], ideal[:-1], strict=True):
        assert count <= wanted.a
    assert table.counts[-1] >= ideal[-1].b
    assert 2 * (table.counts[-1] - ideal[-1]).b / 2**64 < 2e-6


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [L2[9], L2[14]], ids=named)
def test_gaussian_counts_are_within_the_stated_variation(parameters: ReleaseParameters) -> None:
    made = build_noise(parameters)
    assert made.variance is not None
    ideal = gaussian(made.table, made.variance)
    for value, (count, wanted) in enumerate(zip(made.table.counts[:-1], ideal[:-1], strict=True)):
        assert count <= wanted.a
        assert (wanted - count).b < (1 if value else 2) + 1e-9
    distance = 2 * (made.table.counts[-1] - ideal[-1]) / 2**64
    assert distance.a >= 0
    assert distance.b <= real(bound_total_variation(made.table.reach)).a


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(7, 3), Fraction(50)])
def test_gaussian_noise_of_a_few_steps(variance: Fraction) -> None:
    """Where Poisson's correction of the normalizer matters most."""
    table = make_discrete_gaussian(variance, 7)
    total = sum(math.exp(-(n**2) / (2 * variance)) for n in range(-60, 61))
    for n in range(7):
        assert table.counts[n] / 2**64 == pytest.approx(math.exp(-(n**2) / (2 * variance)) / total, rel=1e-12)


# Faults.


def test_noise_that_is_too_small_has_an_excess() -> None:
    """A scale smaller by a part in a million is seen by the exact audit."""
    parameters = L1[20]
    made = build_noise(parameters)
    smaller = make_discrete_laplace(parameters.scale * (1 - Fraction(1, 10**6)), made.table.reach)
    loss = parameters.sensitivity * iv.log(real(smaller.compute_largest_ratio(made.margin)))
    assert loss.a > real(parameters.exact_epsilon).b


def test_rounding_to_nearest_has_an_excess() -> None:
    """What the construction avoids: counts rounded one by one are too steep somewhere far out."""
    parameters = L1[35]
    made = build_noise(parameters)
    counts = [int(value.mid + 0.5) for value in laplace(made.table, parameters.scale)]
    nearest = ReleaseNoise(NoiseTable(tuple(counts)), made.margin).table
    loss = parameters.sensitivity * iv.log(real(nearest.compute_largest_ratio(made.margin)))
    assert loss.a > real(parameters.exact_epsilon).b + 1e-6


def test_a_step_anywhere_in_the_table_is_audited() -> None:
    """One count lowered, or raised, at any value: among single values, in the tails, next to the end.

    (Less at 0 is flatter, and as private.)
    """
    scale, reach, clamped_from = Fraction(8), 40, 24
    table = make_discrete_laplace(scale, reach)
    allowed = iv.exp(1 / real(scale))
    assert real(table.compute_largest_ratio(clamped_from)).b <= allowed.a
    for value in range(reach):
        for part in (100, -100) if value else (100,):
            counts = list(table.counts)
            counts[value] += counts[value] // part
            assert real(NoiseTable(tuple(counts)).compute_largest_ratio(clamped_from)).a > allowed.b, value
    short = (*table.counts[:-1], table.counts[-1] * 99 // 100)
    assert real(NoiseTable(short).compute_largest_ratio(clamped_from)).a > allowed.b


def test_an_empty_cell_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that would leave a value out is not made: 40 scales out there is no word left."""
    with pytest.raises(OptionError, match="use a larger epsilon or a coarser grid"):
        make_discrete_laplace(Fraction(8), 400)
    with pytest.raises(OptionError, match="use a larger epsilon or a coarser grid"):
        make_discrete_gaussian(Fraction(64), 80)
    monkeypatch.setattr(noise, "min", max, raising=False)  # a check that one cell above 0 passes
    careless = noise._make_table([10, 3, 0], 6)
    assert min(careless.counts[:-1]) == 0


def test_a_cell_of_one_word_is_enough() -> None:
    """Of 2**8 words the value 3 is named by one, the value 4 by none."""
    assert make_discrete_gaussian(Fraction(1), 4, bits=8).counts == (102, 61, 13, 1, 2)
    with pytest.raises(OptionError, match="use a larger epsilon or a coarser grid"):
        make_discrete_gaussian(Fraction(1), 5, bits=8)


def test_the_delta_of_a_table_is_that_of_its_noise_and_of_its_rounding() -> None:
    """Each single count lacks less than a word, that of 0 less than two; at epsilon 1e-9 both texts are alike."""
    assert bound_total_variation(3, bits=8) == Fraction(7, 2**8)
    parameters = ReleaseParameters(mode="l2", dimension=3, grid=2, epsilon="1e-9", delta="0.5")
    rounding = bound_gaussian_delta(parameters, 10**6, 50) - zcdp.compute_delta_bound(
        parameters.compute_rho(10**6), Fraction("1e-9")
    )
    assert float(rounding) == pytest.approx(2 * 3 * 101 / 2**64, rel=1e-6, abs=0)


@pytest.mark.parametrize("reach", [0, 1, noise.MAX_REACH + 1])
def test_a_reach_that_does_not_fit_is_refused(reach: int) -> None:
    for law in (make_discrete_laplace, make_discrete_gaussian):
        with pytest.raises(OptionError, match="the table of this noise is too large: use a coarser grid"):
            law(Fraction(8), reach)


def test_a_variance_below_a_step_is_refused() -> None:
    with pytest.raises(OptionError, match="variance"):
        make_discrete_gaussian(Fraction(1, 2), 8)


# The draw.


@pytest.mark.parametrize("reach", [2, 3, 7, 8, 15, 16, 21])
def test_every_word_of_a_small_table(reach: int) -> None:
    """All 2**14 words, one by one: every value has exactly as many as its count, in ascending order."""
    table = make_discrete_laplace(Fraction(3), reach, bits=14)
    values = table.look_up_values(np.arange(2**14, dtype=np.uint64))
    assert (np.diff(values) >= 0).all()
    counts = np.bincount(values + reach, minlength=2 * reach + 1)
    assert counts.tolist() == [*table.counts[:0:-1], *table.counts]


@pytest.mark.parametrize("parameters", [L1[0], L1[35], BOX[0], L2[0], L2[15]], ids=named)
def test_the_first_and_the_last_word_of_every_value(parameters: ReleaseParameters) -> None:
    table = build_noise(parameters).table
    firsts, start = [], 0
    for count in (*table.counts[:0:-1], *table.counts):
        firsts.append(start)
        start += count
    first = np.array(firsts, dtype=np.uint64)
    last = np.append(first[1:] - np.uint64(1), np.uint64(2**64 - 1))
    values = np.arange(-table.reach, table.reach + 1)
    assert (table.look_up_values(first) == values).all()
    assert (table.look_up_values(last) == values).all()


def test_the_shape_of_the_words_is_the_shape_of_the_noise() -> None:
    table = build_noise(L1[20]).table
    words = np.random.default_rng(1).integers(0, 2**64, (5, 3), dtype=np.uint64)
    assert table.look_up_values(words).shape == (5, 3)
    assert (table.look_up_values(words).ravel() == table.look_up_values(words.ravel())).all()
    assert table.look_up_values(words[:0]).shape == (0, 3)


def test_tables_are_the_same_on_every_machine() -> None:
    """SHA-256 of the counts, as decimal numbers with a line each."""

    def digest(parameters: ReleaseParameters) -> str:
        lines = "\n".join(map(str, build_noise(parameters).table.counts))
        return hashlib.sha256(lines.encode()).hexdigest()[:16]

    assert {named(parameters): digest(parameters) for parameters in (L1[20], BOX[4], L2[8])} == GOLDEN


GOLDEN = {"l1-1-4": "f7afb307d4d52bfe", "box-384-4": "a44e8a80960dc38e", "l2-2-4": "ca6ae79b5731a682"}
