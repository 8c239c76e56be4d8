"""Into the ball whatever comes in, and out of it in fixed form: the integer bound, and the fixed point."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from planted import planted
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.noise import vector as representation
from textveil.mechanisms.noise.discrete import Words
from textveil.mechanisms.noise.parameters import MAX_DIMENSION, MAX_GRID, ReleaseParameters
from textveil.mechanisms.noise.vector import VectorReleaser

K = 5
MODES = {
    "l1": ReleaseParameters(mode="l1", dimension=K, grid=1024, epsilon="4"),
    "l2": ReleaseParameters(mode="l2", dimension=K, grid=1024, epsilon="4", delta="1e-6"),
    "box": ReleaseParameters(mode="box", dimension=K, grid=64, epsilon="4"),
    "l1-odd": ReleaseParameters(mode="l1", dimension=K, grid=37, epsilon="1"),
    "l2-odd": ReleaseParameters(mode="l2", dimension=K, grid=37, epsilon="1", delta="1e-4"),
}
EVERY_MODE = pytest.mark.parametrize("parameters", MODES.values(), ids=MODES)


def in_ball(parameters: ReleaseParameters, integers: Integers) -> bool:
    """Check the bound in integers of any size."""
    rows, grid = integers.tolist(), parameters.grid
    if parameters.mode == "l1":
        return all(sum(map(abs, row)) <= grid for row in rows)
    if parameters.mode == "l2":
        return all(sum(value * value for value in row) <= grid**2 for row in rows)
    return all(0 <= value <= grid for row in rows for value in row)


FLOATS = [np.float16, np.float32, np.float64]


@st.composite
def vectors(draw: Any) -> NDArray[np.floating]:
    """Batches of vectors of any float type: anything at all, or near the surface of the balls."""
    dtype = draw(st.sampled_from(FLOATS))
    width: Any = np.dtype(dtype).itemsize * 8
    batch = draw(arrays(dtype, (draw(st.integers(0, 4)), K), elements=st.floats(width=width)))
    if draw(st.booleans()):
        with np.errstate(all="ignore"):
            batch = batch / np.linalg.norm(batch, ord=draw(st.sampled_from([1, 2])), axis=1, keepdims=True)
    return batch.astype(dtype)


@pytest.mark.slow
@EVERY_MODE
@given(batch=vectors())
def test_whatever_comes_in_lies_in_the_ball(parameters: ReleaseParameters, batch: NDArray[np.floating]) -> None:
    integers, fixed = VectorReleaser(parameters).quantize_vectors(batch)
    assert integers.dtype == np.int64
    assert integers.shape == batch.shape
    assert in_ball(parameters, integers)
    assert (fixed == ~np.isfinite(batch).all(axis=1)).all()
    assert not integers[fixed].any()


@pytest.mark.slow
@EVERY_MODE
@given(data=st.data())
def test_inside_the_ball_it_is_truncation_toward_zero(parameters: ReleaseParameters, data: st.DataObject) -> None:
    """A vector well inside is not scaled: each coordinate is the exact product, cut toward zero."""
    largest = 1 / K if parameters.mode != "box" else 1.0
    lowest = 0.0 if parameters.mode == "box" else -largest
    vector = data.draw(arrays(np.float64, K, elements=st.floats(lowest, largest)))
    integers, _ = VectorReleaser(parameters).quantize_vectors(vector[None])
    assert integers[0].tolist() == [math.trunc(value * parameters.grid) for value in vector.tolist()]


@pytest.mark.parametrize("mode", ["l1", "l2"])
def test_outside_the_ball_the_direction_stays(mode: str) -> None:
    """A vector far outside is scaled to the surface, each coordinate to within a step."""
    releaser = VectorReleaser(MODES[mode])
    chance = np.random.default_rng(12)
    batch = chance.normal(size=(200, K)) * chance.choice([2, 100, 1e3], (200, 1))
    norms = np.linalg.norm(batch, ord=1 if mode == "l1" else 2, axis=1, keepdims=True)
    integers, _ = releaser.quantize_vectors(batch)
    wanted = batch / norms * 1024
    outside = norms[:, 0] > 1.01
    assert np.abs(integers - wanted)[outside].max() < 1.5


def test_the_direction_stays_up_to_where_coordinates_are_cut() -> None:
    releaser = VectorReleaser(MODES["l1"])
    rows = np.array([[2.0**14, 2.0**13], [2.0**15, 2.0**14]])  # 2**24 steps are the most
    integers, _ = releaser.quantize_vectors(np.pad(rows, ((0, 0), (0, K - 2))))
    assert integers[:, :2].tolist() == [[682, 341], [512, 512]]


_SCALED = "np.sign(rows) * (np.abs(rows) * radius // divisors[:, None])"
#: In which modes, and what stands in the place of what in ``_into_ball``.
BOUND_FAULTS = {
    "a divisor one too small": (("l1", "l2"), ("// divisors[:, None]", "// (divisors[:, None] - 1)")),
    "rounded down, not toward zero": (("l1", "l2"), (_SCALED, "rows * radius // divisors[:, None]")),
    "a surface one step thick": (("l2",), ("squares > radius**2", "squares > radius**2 + radius")),
    "norms one step too long are left alone": (("l1",), ("norms > radius", "norms > radius + 1")),
    "an L2 norm that is rounded down": (("l2",), ("math.isqrt(int(square) - 1) + 1", "math.isqrt(int(square))")),
}


@pytest.mark.parametrize("mode", ["l1", "l2"])
@pytest.mark.parametrize("fault", BOUND_FAULTS)
def test_a_fault_of_the_bound_leaves_the_ball(mode: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault, of one mode or both, lets some vector out; the others are the other mode's."""
    chance = np.random.default_rng(13)
    batch = chance.normal(size=(20_000, K)) * (chance.random((20_000, K)) < 0.4)
    batch[:, 0] += 1e-6  # no row is 0
    batch /= np.linalg.norm(batch, ord=1 if mode == "l1" else 2, axis=1, keepdims=True)
    batch *= chance.choice([1.001, 1.04, 1.5, 3], (20_000, 1))
    releaser = VectorReleaser(MODES[f"{mode}-odd"])
    assert in_ball(releaser.parameters, releaser.quantize_vectors(batch)[0])
    modes, change = BOUND_FAULTS[fault]
    monkeypatch.setattr(representation, "_project_into_ball", planted(representation._project_into_ball, change))
    assert in_ball(releaser.parameters, releaser.quantize_vectors(batch)[0]) == (mode not in modes)


@EVERY_MODE
def test_the_largest_numbers_do_not_overflow(parameters: ReleaseParameters) -> None:
    """As many coordinates, as fine a grid and as large numbers as there can be."""
    grid = 16 if parameters.mode == "box" else MAX_GRID
    widest = ReleaseParameters(
        mode=parameters.mode, dimension=MAX_DIMENSION, grid=grid, epsilon="8", delta=parameters.delta
    )
    batch = np.stack([np.full(MAX_DIMENSION, value) for value in (np.finfo(np.float64).max, -1e30, 255.9, 1e-300)])
    assert in_ball(widest, VectorReleaser(widest).quantize_vectors(batch)[0])


@pytest.mark.parametrize("shape", [(K,), (1, K - 1), (1, K + 1), (1, 1, K), ()])
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(OptionError, match="5 coordinates"):
        VectorReleaser(MODES["l1"]).release_vectors(np.zeros(shape))


# The release.


@EVERY_MODE
def test_every_coordinate_has_a_word_of_its_own(parameters: ReleaseParameters, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the operating system, as many as there are coordinates, in order; each changes its coordinate alone."""
    releaser = VectorReleaser(parameters)
    asked: list[int] = []
    stream = np.random.default_rng(14).integers(0, 2**64, 3 * K, dtype=np.uint64)

    def words(count: int) -> Words:
        asked.append(count)
        return stream

    monkeypatch.setattr(entropy, "random_uint64", words)
    batch = np.full((3, K), 0.1)
    released = releaser.release_vectors(batch)
    assert asked == [3 * K]
    integers, _ = releaser.quantize_vectors(batch)
    assert (released == releaser.add_noise(integers, stream.reshape(3, K))).all()
    for changed in range(3 * K):
        other = stream.copy()
        other[changed] ^= np.uint64(1 << 63)
        difference = releaser.add_noise(integers, other.reshape(3, K)) != released
        assert np.flatnonzero(difference).tolist() == [changed]


@EVERY_MODE
def test_outputs_are_clamped_and_dequantized_last(parameters: ReleaseParameters) -> None:
    releaser = VectorReleaser(parameters)
    margin = releaser.noise.margin
    words = np.array([[0, 2**64 - 1, 0, 2**64 - 1, 2**63]], dtype=np.uint64)
    low, high = parameters.lowest - margin, parameters.grid + margin
    for value in (parameters.lowest, 0, parameters.grid):
        released = releaser.add_noise(np.full((1, K), value), words)
        assert released[0, :4].tolist() == [low, high, low, high]
        assert released[0, 4] == value
        vector = releaser.dequantize_vectors(released)
        assert vector.dtype == np.float32
        assert (vector == (released / parameters.grid).astype(np.float32)).all()


def test_an_empty_batch_is_released() -> None:
    assert VectorReleaser(MODES["l1"]).release_vectors(np.zeros((0, K))).shape == (0, K)
