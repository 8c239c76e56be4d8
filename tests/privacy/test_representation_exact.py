"""Whole releases of small vectors, enumerated: every pair of vectors and every output, in exact rationals.

Vectors go through ``quantize``, noise through ``add_noise`` with every word of a small table. Nothing of the proofs is
used: the ratio of every output is compared with what the statement says.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from intervals import iv
from textveil.mechanisms.noise import vector as representation
from textveil.mechanisms.noise.discrete import NoiseTable, make_discrete_gaussian, make_discrete_laplace
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.mechanisms.noise.vector import ReleaseNoise, VectorReleaser, build_noise
from textveil.vector.statement import compute_realized_loss

iv.prec = 200

BITS = 15
Law = dict[int, Fraction]


@dataclass(frozen=True)
class Tiny:
    """A release small enough to enumerate: a margin of a few steps, and words of 15 bits."""

    parameters: ReleaseParameters
    margin: int
    table: NoiseTable

    @classmethod
    def of(cls, mode: str, dimension: int, grid: int, epsilon: str, *, margin: int = 3, scale: str = "1") -> "Tiny":
        """Its noise is ``scale`` times what the parameters ask for."""
        parameters = ReleaseParameters(mode=mode, dimension=dimension, grid=grid, epsilon=epsilon)
        reach = grid - parameters.lowest + margin
        return cls(parameters, margin, make_discrete_laplace(parameters.scale * Fraction(scale), reach, BITS))

    @property
    def releaser(self) -> VectorReleaser:
        releaser = VectorReleaser(self.parameters)
        releaser.noise = ReleaseNoise(self.table, self.margin)
        return releaser

    @property
    def bound(self) -> Fraction:
        """What the audit of the finished table says of any two texts: ``exp`` of the realized epsilon."""
        return self.table.compute_largest_ratio(self.margin) ** self.parameters.sensitivity


TINY = {
    "l1": Tiny.of("l1", 2, 3, "2"),
    "l1-steep": Tiny.of("l1", 2, 2, "5"),
    "l1-three": Tiny.of("l1", 3, 2, "1.5", margin=2),
    "l1-one": Tiny.of("l1", 1, 6, "3", margin=4),
    "box": Tiny.of("box", 2, 3, "2"),
    "box-steep": Tiny.of("box", 2, 2, "6"),
    "box-three": Tiny.of("box", 3, 2, "1", margin=2),
}


def reached(releaser: VectorReleaser) -> list[tuple[int, ...]]:
    """Every vector in steps that ``quantize`` makes of a dense set of vectors, inside the ball and far out."""
    grid, k = releaser.parameters.grid, releaser.parameters.dimension
    values = np.arange(-6 * grid, 6 * grid + 1) / (4 * grid)  # quarters of a step, up to 1.5 units
    vectors = np.stack(np.meshgrid(*[values] * k), axis=-1).reshape(-1, k)
    integers, fixed = releaser.quantize_vectors(np.concatenate([vectors, vectors * 1e6, np.full((1, k), np.nan)]))
    assert fixed.sum() == 1
    return sorted({tuple(row) for row in integers.tolist()})


@cache
def coordinate_law(tiny: Tiny, value: int) -> Law:
    """Return the distribution of one coordinate, from every possible random word."""
    words = np.arange(2**BITS, dtype=np.uint64)
    outputs = tiny.releaser.add_noise(np.full(len(words), value), words)
    return {int(z): Fraction(int(n), 2**BITS) for z, n in zip(*np.unique(outputs, return_counts=True), strict=True)}


def pair_ratio(one: list[Law], other: list[Law]) -> Fraction | None:
    """Return the largest ratio of a pair over every output, ``None`` if the second cannot give an output.

    Coordinates are independent and outputs are all combinations: it is the product of the coordinates' largest.
    """
    if not all(mine.keys() <= theirs.keys() for mine, theirs in zip(one, other, strict=True)):
        return None
    each = (max(mine[z] / theirs[z] for z in mine) for mine, theirs in zip(one, other, strict=True))
    return math.prod(each, start=Fraction(1))


def joint_ratio(one: list[Law], other: list[Law]) -> Fraction:
    """Return the same for one pair by enumeration of every combination of outputs."""

    def joint(laws: list[Law], outputs: tuple[int, ...]) -> Fraction:
        return math.prod((law[z] for law, z in zip(laws, outputs, strict=True)), start=Fraction(1))

    return max(joint(one, outputs) / joint(other, outputs) for outputs in product(*one))


def laws_of(tiny: Tiny, vector: tuple[int, ...]) -> list[Law]:
    return [coordinate_law(tiny, value) for value in vector]


def worst(tiny: Tiny) -> Fraction | None:
    """Return the largest ratio of all pairs, ``None`` if some vector cannot give an output."""
    laws = [laws_of(tiny, q) for q in reached(tiny.releaser)]
    found = [pair_ratio(one, other) for one, other in product(laws, repeat=2)]
    return None if None in found else max(ratio for ratio in found if ratio is not None)


def within(ratio: Fraction | None, epsilon: str) -> bool:
    """Whether a ratio is provably at most ``exp(epsilon)``."""
    return ratio is not None and (iv.log(iv.mpf(ratio.numerator) / ratio.denominator) <= iv.mpf(epsilon)) is True


def ball(parameters: ReleaseParameters) -> list[tuple[int, ...]]:
    """All vectors in steps that the mode allows."""
    steps = range(parameters.lowest, parameters.grid + 1)
    vectors = product(steps, repeat=parameters.dimension)
    inside: Callable[[tuple[int, ...]], bool] = {
        "l1": lambda q: sum(map(abs, q)) <= parameters.grid,
        "l2": lambda q: sum(value**2 for value in q) <= parameters.grid**2,
        "box": lambda q: True,
    }[parameters.mode]
    return sorted(q for q in vectors if inside(q))


@pytest.mark.parametrize("tiny", TINY.values(), ids=TINY)
def test_every_vector_of_the_ball_and_no_other_is_reached(tiny: Tiny) -> None:
    assert reached(tiny.releaser) == ball(tiny.parameters)


@pytest.mark.parametrize("tiny", TINY.values(), ids=TINY)
def test_no_ratio_exceeds_the_statement(tiny: Tiny) -> None:
    """At most what the audit of the table says, which is at most the nominal epsilon; and not far below it."""
    found = worst(tiny)
    assert found is not None
    assert found <= tiny.bound
    assert within(tiny.bound, tiny.parameters.epsilon)
    assert math.log(found) > 0.97 * float(tiny.parameters.exact_epsilon)


def test_the_largest_ratio_is_a_product() -> None:
    """Over every combination of outputs, for the pairs that matter: the corners of the ball."""
    tiny = TINY["l1"]
    corners = [laws_of(tiny, q) for q in ball(tiny.parameters) if sum(map(abs, q)) == tiny.parameters.grid]
    for one, other in product(corners, repeat=2):
        assert joint_ratio(one, other) == pair_ratio(one, other)


# Faults.


@pytest.mark.parametrize("name", [name for name in TINY if name != "l1-three"])
def test_noise_ten_percent_too_small_is_seen(name: str) -> None:
    parameters = TINY[name].parameters
    small = Tiny.of(
        parameters.mode,
        parameters.dimension,
        parameters.grid,
        parameters.epsilon,
        margin=TINY[name].margin,
        scale="0.9",
    )
    assert not within(worst(small), parameters.epsilon)
    assert worst(small) <= small.bound  # the statement's realized epsilon tells the truth all the same


def test_an_empty_cell_is_seen() -> None:
    """One value that is never drawn makes some output impossible under some vector."""
    tiny = TINY["l1"]
    counts = list(tiny.table.counts)
    counts[0], counts[-1] = counts[0] + 2 * counts[-1], 0
    assert worst(Tiny(tiny.parameters, tiny.margin, NoiseTable(tuple(counts), BITS))) is None


def test_a_clamp_that_is_too_wide_is_seen() -> None:
    """Outputs that only vectors at the edge can reach."""
    tiny = TINY["l1"]
    assert worst(Tiny(tiny.parameters, tiny.margin + 1, tiny.table)) is None


@pytest.mark.slow
def test_an_l2_ball_with_laplace_noise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error that Habernal (2021) found in ADePT: its L1 sensitivity is sqrt(k) times larger."""
    into_ball = representation._project_into_ball
    monkeypatch.setattr(representation, "_project_into_ball", lambda q, radius, mode: into_ball(q, radius, "l2"))
    tiny = Tiny.of("l1", 2, 5, "2")
    assert not within(worst(tiny), "2")


def test_rounding_to_nearest_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded to nearest, a vector inside the ball leaves it; truncated it never does, even unchecked."""
    tiny = TINY["l1"]
    inside = set(ball(tiny.parameters))
    monkeypatch.setattr(representation, "_project_into_ball", lambda q, radius, mode: q)
    assert set(reached_inside(tiny.releaser)) == inside
    monkeypatch.setattr(representation, "np", SimpleNamespace(**{**vars(np), "trunc": np.rint}))
    assert not set(reached_inside(tiny.releaser)) <= inside


def reached_inside(releaser: VectorReleaser) -> list[tuple[int, ...]]:
    """Return the results for vectors in the real L1 ball."""
    grid, k = releaser.parameters.grid, releaser.parameters.dimension
    values = np.arange(-4 * grid, 4 * grid + 1) / (4 * grid)
    vectors = np.stack(np.meshgrid(*[values] * k), axis=-1).reshape(-1, k)
    integers, _ = releaser.quantize_vectors(vectors[np.abs(vectors).sum(axis=1) <= 1])
    return sorted({tuple(row) for row in integers.tolist()})


# l2: the hockey-stick divergence of every pair.


def divergence(first: list[Law], second: list[Law], growth: Fraction) -> Fraction:
    """``sum over outputs of max(0, P - growth P')`` of two coordinates, exact.

    Outputs of the second coordinate are in the order of their ratios: with one output of the first coordinate, those
    that count come before the others, and their sums are known.
    """
    one, two = ([(mine[z], theirs[z]) for z in mine] for mine, theirs in zip(first, second, strict=True))
    falling = sorted((pair for pair in two if any(pair)), key=lambda pair: -ratio(*pair))
    ratios = [-ratio(*pair) for pair in falling]
    sums = [(Fraction(0), Fraction(0))]
    for p, q in falling:
        sums.append((sums[-1][0] + p, sums[-1][1] + q))
    total = Fraction(0)
    for p, q in one:
        if p:
            ours, theirs = sums[bisect_left(ratios, -growth * q / p)]
            total += p * ours - growth * q * theirs
    return total


def ratio(p: Fraction, q: Fraction) -> Fraction | float:
    return p / q if q else math.inf


def gaussian_law(releaser: VectorReleaser, value: int) -> Law:
    """Return the distribution of one clamped coordinate, from the table's probabilities."""
    table, margin = releaser.noise.table, releaser.noise.margin
    lowest, highest = releaser.parameters.lowest - margin, releaser.parameters.grid + margin
    law = {z: table.compute_probability(z - value) for z in range(lowest + 1, highest)}
    return {**law, lowest: table.compute_tail(value - lowest), highest: table.compute_tail(highest - value)}


@pytest.mark.slow
@pytest.mark.parametrize(("grid", "epsilon", "delta"), [(2, "1", "0.01"), (2, "4", "1e-6")])
def test_gaussian_noise_keeps_its_delta_for_every_pair(grid: int, epsilon: str, delta: str) -> None:
    parameters = ReleaseParameters(mode="l2", dimension=2, grid=grid, epsilon=epsilon, delta=delta)
    releaser = VectorReleaser(parameters)
    vectors = ball(parameters)
    assert set(vectors) == set(reached(releaser))
    laws = {q: [gaussian_law(releaser, value) for value in q] for q in vectors}
    assert all(sum(law.values()) == 1 for pair in laws.values() for law in pair)
    # exp(epsilon), lowered a little: the divergence can only be larger.
    growth = Fraction(math.floor(math.exp(float(epsilon)) * 10**9), 10**9)
    # Symmetry: pairs whose first vector is in one octant, and every second.
    firsts = [q for q in vectors if q[0] >= q[1] >= 0]
    worst = max(divergence(laws[a], laws[b], growth) for a in firsts for b in vectors)
    claim = Fraction(compute_realized_loss(parameters).delta)
    assert worst <= claim <= Fraction(delta)
    assert worst > claim / 20  # the bound is not vacuous

    variance = build_noise(parameters).variance
    assert variance is not None
    smaller = VectorReleaser(parameters)
    table = make_discrete_gaussian(Fraction(variance) * Fraction(6, 10), smaller.noise.table.reach)
    smaller.noise = ReleaseNoise(table, smaller.noise.margin, variance)
    one, other = ([gaussian_law(smaller, value) for value in q] for q in ((grid, 0), (-grid, 0)))
    assert divergence(one, other, growth) > claim
