"""What comes out of a release, counted: its distribution in every coordinate, and no coordinate that tells of another.

The exact tests look at tables; this one draws, through the call that the encoder uses, with the operating system's
entropy. A test of chance has two errors. These reject a faultless release with probability 1e-9, and the number of
draws is one at which a scale that is 4 % off, 2 % in the full run, is rejected with probability above 0.999
(non-central chi-square). The same functions are run on faulty releases, from a seeded generator, and must reject them.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, ncx2
from textveil.mechanisms.noise.discrete import NoiseTable, Words, discrete_gaussian, discrete_laplace
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.mechanisms.noise.vector import Noise, Releaser

pytestmark = pytest.mark.statistical

SIGNIFICANCE = 1e-9
POWER = 0.999
#: Draws of a coordinate at which a scale that is so many per cent of the promised one is seen.
DRAWS = {96: 200_000, 98: 800_000}
FEWER = DRAWS[96]
FAULTS = [96, pytest.param(98, marks=pytest.mark.full)]
_CELLS = 16

L1 = ReleaseParameters(mode="l1", dimension=4, grid=1024, epsilon="4")
L2 = ReleaseParameters(mode="l2", dimension=4, grid=1024, epsilon="4", delta="1e-6")
BOX = ReleaseParameters(mode="box", dimension=4, grid=16, epsilon="4")
MODES = [pytest.param(parameters, id=parameters.mode) for parameters in (L1, L2, BOX)]

Integers = NDArray[np.int64]


def law(releaser: Releaser) -> NDArray[np.float64]:
    """Probabilities of the outputs of a coordinate that is 0 before noise, from the lowest on."""
    table, margin = releaser.noise.table, releaser.noise.margin
    lowest, highest = releaser.parameters.lowest - margin, releaser.parameters.grid + margin
    weights = np.array([float(table.probability(z)) for z in range(lowest, highest + 1)])
    weights[0], weights[-1] = float(table.tail(-lowest)), float(table.tail(highest))
    return weights


def edges(weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where ``_CELLS`` cells of about the same probability end."""
    return np.unique(np.searchsorted(np.cumsum(weights), np.linspace(0, 1, _CELLS + 1)[1:-1]))


def cells_of(releaser: Releaser, released: Integers) -> Integers:
    """The cell of every output."""
    lowest = releaser.parameters.lowest - releaser.noise.margin
    return np.searchsorted(edges(law(releaser)), released - lowest, side="left")


def probabilities(releaser: Releaser, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the cells, under some distribution of the outputs."""
    return np.diff(np.concatenate([[0], np.cumsum(weights)[edges(law(releaser))], [weights.sum()]]))


def rejects_law(releaser: Releaser, released: Integers) -> bool:
    """Whether some coordinate differs from the distribution of its table. Released from vectors of 0, ``(n, k)``."""
    expected = probabilities(releaser, law(releaser)) * len(released)
    assert expected.min() > 500
    cells = cells_of(releaser, released)
    statistics = [((np.bincount(c, minlength=len(expected)) - expected) ** 2 / expected).sum() for c in cells.T]
    return bool(max(statistics) > chi2.isf(SIGNIFICANCE / cells.shape[1], len(expected) - 1))


def rejects_independence(releaser: Releaser, released: Integers) -> bool:
    """Whether two coordinates, or two releases in a row, depend on each other."""
    share = probabilities(releaser, law(releaser))
    cells, count = cells_of(releaser, released), len(share)
    pairs = [(cells[:, i], cells[:, j]) for i in range(cells.shape[1]) for j in range(i)]
    pairs += [(column[0::2], column[1::2]) for column in cells.T]
    expected = np.outer(share, share).ravel()
    for first, second in pairs:
        assert expected.min() * len(first) > 200
        counts = np.bincount(first * count + second, minlength=count**2)
        statistic = ((counts - expected * len(first)) ** 2 / (expected * len(first))).sum()
        if statistic > chi2.isf(SIGNIFICANCE / len(pairs), count**2 - 1):
            return True
    return False


def zeros(releaser: Releaser, draws: int = FEWER) -> NDArray[np.float64]:
    return np.zeros((draws, releaser.parameters.dimension))


def seeded(seed: int) -> Callable[[int], Words]:
    chance = np.random.default_rng(seed)
    return lambda count: chance.integers(0, 2**64, count, dtype=np.uint64)


def with_table(parameters: ReleaseParameters, table: NoiseTable) -> Releaser:
    """A releaser whose noise is not what its parameters say."""
    releaser = Releaser(parameters)
    releaser.noise = Noise(table, releaser.noise.margin, releaser.noise.variance)
    return releaser


def smaller(parameters: ReleaseParameters, factor: Fraction) -> Releaser:
    """Noise whose scale is smaller by a factor."""
    noise = Releaser(parameters).noise
    if noise.variance is not None:
        return with_table(parameters, discrete_gaussian(noise.variance * factor**2, noise.table.reach))
    return with_table(parameters, discrete_laplace(parameters.scale * factor, noise.table.reach))


@pytest.mark.parametrize("percent", FAULTS)
@pytest.mark.parametrize("parameters", MODES)
def test_every_coordinate_has_the_law_of_the_table(parameters: ReleaseParameters, percent: int) -> None:
    releaser = Releaser(parameters)
    released = releaser.release(zeros(releaser, DRAWS[percent]))
    assert not rejects_law(releaser, released)
    assert not rejects_independence(releaser, released)


@pytest.mark.parametrize("percent", DRAWS)
@pytest.mark.parametrize("parameters", MODES)
def test_the_draws_are_enough(parameters: ReleaseParameters, percent: int) -> None:
    """So many that the smaller scale is rejected with probability above 0.999."""
    releaser = Releaser(parameters)
    true = probabilities(releaser, law(releaser))
    faulty = probabilities(releaser, law(smaller(parameters, Fraction(percent, 100))))
    shift = DRAWS[percent] * ((faulty - true) ** 2 / true).sum()
    threshold = chi2.isf(SIGNIFICANCE / parameters.dimension, len(true) - 1)
    assert ncx2.sf(threshold, len(true) - 1, shift) > POWER


@pytest.mark.parametrize("parameters", MODES)
@pytest.mark.parametrize("percent", [*FAULTS, 90])
def test_noise_that_is_too_small_is_seen(parameters: ReleaseParameters, percent: int) -> None:
    releaser = smaller(parameters, Fraction(percent, 100))
    released = releaser.release(zeros(releaser, DRAWS.get(percent, FEWER)), seeded(3))
    assert rejects_law(Releaser(parameters), released)


def test_one_draw_for_all_coordinates_is_seen() -> None:
    """What the code published with Lyu, He, Li 2020 does. Every single coordinate has the right distribution."""
    releaser = Releaser(L1)

    def one_for_all(count: int) -> Words:
        return np.repeat(seeded(5)(count // L1.dimension), L1.dimension)

    released = releaser.release(zeros(releaser), one_for_all)
    assert not rejects_law(releaser, released)
    assert rejects_independence(releaser, released)


def test_a_word_used_twice_now_and_then_is_seen() -> None:
    """One release in fifty repeats the noise of the release before."""
    releaser = Releaser(L1)

    def forgetful(count: int) -> Words:
        words = seeded(6)(count).reshape(-1, L1.dimension)
        again = 1 + np.flatnonzero(np.random.default_rng(7).random(len(words) - 1) < 0.02)
        words[again] = words[again - 1]
        return words.ravel()

    assert rejects_independence(releaser, releaser.release(zeros(releaser), forgetful))
