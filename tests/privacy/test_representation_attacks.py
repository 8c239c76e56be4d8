"""Releases seen from outside: an audit by counting, outputs that are impossible, and the attack on the published code.

Each is run on faulty releases too, which it must find out.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from release_audit import Finding, audit, gaussian_score, laplace_score, largest_share, proven, smallest_share
from scipy.stats import binom
from textveil.mechanisms.noise.discrete import discrete_gaussian, discrete_laplace
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.mechanisms.noise.vector import Noise, Releaser

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

RELEASES = 400_000


def corner(k: int, *steps: float) -> Reals:
    return np.array([*steps, *[0.0] * (k - len(steps))])


#: Parameters and two vectors as far apart as the mode allows, or almost.
PAIRS: dict[str, tuple[ReleaseParameters, Reals, Reals]] = {
    "l1-2": (ReleaseParameters("l1", 4, 1024, "2"), corner(4, 1), corner(4, -1)),
    "l1-4": (ReleaseParameters("l1", 4, 1024, "4"), corner(4, 1), corner(4, -1)),
    "l1-4-spread": (ReleaseParameters("l1", 4, 1024, "4"), corner(4, 0.5, -0.5), corner(4, 0, 0, 0.75, 0.25)),
    "box-4": (ReleaseParameters("box", 2, 16, "4"), np.array([1.0, 0]), np.array([0.0, 1])),
    "l2-4": (ReleaseParameters("l2", 4, 1024, "4", "1e-6"), corner(4, 1), corner(4, -1)),
    "l2-2-spread": (ReleaseParameters("l2", 4, 1024, "2", "1e-6"), np.full(4, 0.5), np.full(4, -0.5)),
}


def found(releaser: Releaser, first: Reals, second: Reals, releases: int = RELEASES) -> Finding:
    """The audit, with the score that finds the most."""
    steps = [np.trunc(vector * releaser.parameters.grid).astype(np.int64) for vector in (first, second)]
    score = gaussian_score(*steps) if releaser.parameters.mode == "l2" else laplace_score(*steps)
    delta = float(releaser.parameters.exact_delta)
    return audit(releaser.release, first, second, score, releases, delta)


def too_small(parameters: ReleaseParameters, factor: Fraction) -> Releaser:
    releaser = Releaser(parameters)
    noise = releaser.noise
    if noise.variance is None:
        table = discrete_laplace(parameters.scale * factor, noise.table.reach)
    else:
        table = discrete_gaussian(noise.variance * factor**2, noise.table.reach)
    releaser.noise = Noise(table, noise.margin, noise.variance)
    return releaser


@pytest.mark.slow
@pytest.mark.parametrize("releases", [RELEASES // 4, pytest.param(RELEASES, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", PAIRS)
def test_an_audit_never_exceeds_the_claim(name: str, releases: int) -> None:
    """The tests below show what so many, or four times as many in the full run, would find."""
    parameters, first, second = PAIRS[name]
    for one, other in ((first, second), (second, first)):
        assert found(Releaser(parameters), one, other, releases).epsilon <= float(parameters.exact_epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["l1-2", "l1-4", "box-4"])
def test_an_audit_catches_noise_ten_percent_too_small(name: str) -> None:
    """And comes within a tenth of the claim where the noise is right: the audit is not idle."""
    parameters, first, second = PAIRS[name]
    claim = float(parameters.exact_epsilon)
    assert found(too_small(parameters, Fraction(9, 10)), first, second).epsilon > claim
    assert found(Releaser(parameters), first, second).epsilon > 0.9 * claim


def test_the_releases_are_enough() -> None:
    """With noise 10 % too small, the event that tells two corners apart exceeds the claim with probability .999.

    Every coordinate that differs lies beyond its corner: with probability about 1/2 each, and from the other corner
    ``exp(-epsilon / 0.9)`` times that.
    """
    for epsilon, coordinates in ((2.0, 1), (4.0, 1), (4.0, 2)):
        half, often = RELEASES // 2, 0.5**coordinates
        rare = math.exp(-epsilon / 0.9) * often
        first, second = int(binom.ppf(0.0005, half, often)), int(binom.ppf(0.9995, half, rare))
        assert proven(first, second, half) > epsilon


def test_an_audit_catches_one_draw_for_all_coordinates() -> None:
    """The published code's noise: differences of coordinates are not covered at all."""
    parameters = ReleaseParameters("box", 4, 16, "4")
    first, second = np.array([1.0, 1, 1, 0]), np.array([0.0, 0, 0, 1])
    releaser = Releaser(parameters)

    def published(vectors: Reals) -> Integers:
        integers, _ = releaser.quantize(vectors)
        words = np.random.default_rng(8).integers(0, 2**64, (len(vectors), 1), dtype=np.uint64)
        return releaser.add_noise(integers, np.repeat(words, vectors.shape[1], axis=1))

    def differences(released: Integers) -> Reals:
        return (released[:, 0] - released[:, 3]).astype(np.float64)

    assert audit(published, first, second, differences, 20_000).epsilon > 6
    assert audit(releaser.release, first, second, differences, 20_000).epsilon < 4


@pytest.mark.slow
def test_an_audit_catches_an_l2_ball_with_laplace_noise() -> None:
    """ADePT's error (Habernal 2021): vectors of L2 norm 1 are 2 sqrt(k) apart in L1, and the noise is for 2."""
    parameters = ReleaseParameters("l1", 16, 1024, "2")
    releaser = Releaser(parameters)
    first, second = np.full(16, 0.25), np.full(16, -0.25)

    def adept(vectors: Reals) -> Integers:
        words = np.random.default_rng(9).integers(0, 2**64, vectors.shape, dtype=np.uint64)
        return releaser.add_noise((vectors * 1024).astype(np.int64), words)

    score = laplace_score(np.full(16, 256), np.full(16, -256))
    assert audit(adept, first, second, score, 100_000).epsilon > 3
    assert audit(releaser.release, first, second, score, 100_000).epsilon <= 2


def test_an_interval_holds_as_often_as_it_says() -> None:
    """Clopper and Pearson: exact tails of the binomial at the bounds."""
    for count, of in ((3, 100), (50, 1000), (999, 1000), (1, 10)):
        low, high = smallest_share(count, of, 1e-3), largest_share(count, of, 1e-3)
        assert binom.sf(count - 1, of, low) == pytest.approx(1e-3)
        assert binom.cdf(count, of, high) == pytest.approx(1e-3)
    assert smallest_share(0, 10, 1e-3) == 0
    assert largest_share(10, 10, 1e-3) == 1
    assert proven(0, 5, 10) == -math.inf


# Impossible outputs.


def impossible_float(outputs: Reals, location: float, scale: float) -> NDArray[np.bool_]:
    """Which outputs ``numpy.random.Generator.laplace(location, scale)`` cannot give, from its source.

    It takes a uniform ``u``, a multiple of 2**-53, and gives ``location - scale log(2 - u - u)`` for ``u >= 1/2``,
    else ``location + scale log(u + u)``. The uniforms near the one that an output asks for are tried.
    """
    above = outputs > location
    sign = np.where(above, 1.0, -1.0)
    wanted = np.exp(-np.abs(outputs - location) / scale) / 2
    nearest = np.rint(np.where(above, 1 - wanted, wanted) * 2**53)
    possible = np.zeros(len(outputs), dtype=bool)
    for offset in range(-16, 17):
        uniform = np.clip((nearest + offset) / 2**53, 2**-53, 1 - 2**-53)
        argument = np.where(above, 2 - uniform - uniform, uniform + uniform)
        logarithms = np.array([math.log(value) for value in argument])
        possible |= location - sign * (scale * logarithms) == outputs
    return ~possible


def impossible_ours(releaser: Releaser, outputs: Integers, location: Integers) -> NDArray[np.bool_]:
    """The same for a release: outputs whose noise the table does not have."""
    table, margin = releaser.noise.table, releaser.noise.margin
    lowest, highest = releaser.parameters.lowest - margin, releaser.parameters.grid + margin
    within = (outputs >= lowest) & (outputs <= highest)
    counts = np.array([*table.counts, 0])  # and beyond the table none
    sound = within & (counts[np.minimum(np.abs(outputs - location), table.reach + 1)] > 0)
    return np.logical_not(np.all(sound, axis=1))


def test_float_noise_has_impossible_outputs() -> None:
    """Most single outputs of float noise are proof of the text they came from; a bound on epsilon says nothing."""
    chance, scale = np.random.default_rng(10), 0.5
    one, other = 0.3717, -0.2851
    outputs = chance.laplace(one, scale, 2_000)
    assert not impossible_float(outputs, one, scale).any()  # the test knows the sampler
    assert impossible_float(outputs, other, scale).mean() > 0.6


@pytest.mark.parametrize("name", PAIRS)
def test_ours_has_none(name: str) -> None:
    parameters, first, second = PAIRS[name]
    releaser = Releaser(parameters)
    outputs = releaser.release(np.tile(first, (20_000, 1)))
    location, _ = releaser.quantize(np.array([second]))
    assert not impossible_ours(releaser, outputs, location).any()


@pytest.mark.parametrize("name", PAIRS)
def test_every_output_is_possible_from_every_vector(name: str) -> None:
    """Exact: the extreme outputs from the extreme values of a coordinate."""
    releaser = Releaser(PAIRS[name][0])
    low, high, margin = releaser.parameters.lowest, releaser.parameters.grid, releaser.noise.margin
    extremes = np.array([[low - margin], [high + margin], [low], [high]])
    for value in (low, 0, high):
        assert not impossible_ours(releaser, extremes, np.array([[value]])).any()
    releaser.noise = replace(releaser.noise, margin=margin + 1)
    assert impossible_ours(releaser, np.array([[high + margin + 1]]), np.array([[low]])).all()


# The published code.


def published_release(vectors: Reals, epsilon: float, chance: np.random.Generator) -> Reals:
    """Algorithm 2 as its code does it: min-max to the box, one Laplace scalar for all coordinates of a text."""
    return vectors + chance.laplace(0, 1 / epsilon, (len(vectors), 1))


def guesses_right(released: Reals, candidates: Reals, true: NDArray[np.intp]) -> int:
    """The attack ``z - z.min()``, which removes a scalar: how many texts it names, by the nearest candidate."""
    cleaned = released - released.min(axis=1, keepdims=True)
    distances = ((cleaned[:, None, :] - candidates[None, :, :]) ** 2).sum(axis=2)
    return int((distances.argmin(axis=1) == true).sum())


def test_the_attack_on_the_published_code() -> None:
    """It names every text of the published release, at the paper's smallest epsilon; of ours hardly any."""
    chance = np.random.default_rng(11)
    candidates = chance.random((50, 32))
    candidates = (candidates - candidates.min(axis=1, keepdims=True)) / np.ptp(candidates, axis=1, keepdims=True)
    true = chance.integers(0, 50, 2_000)
    vectors = candidates[true]

    recovered = published_release(vectors, 0.05, chance)
    assert np.abs(recovered - recovered.min(axis=1, keepdims=True) - vectors).max() < 1e-12
    assert guesses_right(recovered, candidates, true) == 2_000

    releaser = Releaser(ReleaseParameters("box", 32, 64, "2"))
    ours = releaser.dequantize(releaser.release(vectors)).astype(np.float64)
    hits = guesses_right(ours, candidates, true)
    # No attack on an epsilon-LDP release of 50 equally likely texts is right more often than this.
    most = math.exp(2) / (math.exp(2) + 49)
    assert hits <= binom.isf(1e-9, 2_000, most)
    assert np.abs(ours - ours.min(axis=1, keepdims=True) - vectors).mean() > 1


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_no_coordinate_tells_the_noise_of_another(mode: str) -> None:
    """Differences of coordinates of one release are not those of its vector: the noise is not one scalar."""
    parameters = ReleaseParameters(mode, 8, 256, "4", "1e-6" if mode == "l2" else None)
    releaser = Releaser(parameters)
    vector, _ = releaser.quantize(np.full((1, 8), 0.1))
    first, second = (releaser.release(np.full((500, 8), 0.1)) - vector for _ in range(2))
    assert (np.ptp(first, axis=1) > 0).all()
    assert (first != second).any(axis=1).all()
