"""Releases seen from outside: outputs that are impossible, and the attack on the published code.

What two releases may lose is exact, in ``test_noise_tables.py`` and ``test_representation_exact.py``.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.mechanisms.noise.vector import Releaser

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


def corner(k: int, *steps: float) -> Reals:
    return np.array([*steps, *[0.0] * (k - len(steps))])


#: Parameters and two vectors as far apart as the mode allows, or almost.
PAIRS: dict[str, tuple[ReleaseParameters, Reals, Reals]] = {
    "l1-2": (ReleaseParameters(mode="l1", dimension=4, grid=1024, epsilon="2"), corner(4, 1), corner(4, -1)),
    "l1-4": (ReleaseParameters(mode="l1", dimension=4, grid=1024, epsilon="4"), corner(4, 1), corner(4, -1)),
    "l1-4-spread": (
        ReleaseParameters(mode="l1", dimension=4, grid=1024, epsilon="4"),
        corner(4, 0.5, -0.5),
        corner(4, 0, 0, 0.75, 0.25),
    ),
    "box-4": (ReleaseParameters(mode="box", dimension=2, grid=16, epsilon="4"), np.array([1.0, 0]), np.array([0.0, 1])),
    "l2-4": (
        ReleaseParameters(mode="l2", dimension=4, grid=1024, epsilon="4", delta="1e-6"),
        corner(4, 1),
        corner(4, -1),
    ),
    "l2-2-spread": (
        ReleaseParameters(mode="l2", dimension=4, grid=1024, epsilon="2", delta="1e-6"),
        np.full(4, 0.5),
        np.full(4, -0.5),
    ),
}


# Impossible outputs.


def impossible_ours(releaser: Releaser, outputs: Integers, location: Integers) -> NDArray[np.bool_]:
    """Which outputs a release cannot give: their noise is not in the table."""
    table, margin = releaser.noise.table, releaser.noise.margin
    lowest, highest = releaser.parameters.lowest - margin, releaser.parameters.grid + margin
    within = (outputs >= lowest) & (outputs <= highest)
    counts = np.array([*table.counts, 0])  # and beyond the table none
    sound = within & (counts[np.minimum(np.abs(outputs - location), table.reach + 1)] > 0)
    return np.logical_not(np.all(sound, axis=1))


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

    releaser = Releaser(ReleaseParameters(mode="box", dimension=32, grid=64, epsilon="2"))
    ours = releaser.dequantize(releaser.release(vectors)).astype(np.float64)
    hits = guesses_right(ours, candidates, true)
    # No attack on an epsilon-LDP release of 50 equally likely texts is right more often than this.
    most = math.exp(2) / (math.exp(2) + 49)
    assert hits <= binom.isf(1e-9, 2_000, most)
    assert np.abs(ours - ours.min(axis=1, keepdims=True) - vectors).mean() > 1
