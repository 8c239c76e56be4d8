"""Noisy vectors of texts: convert a vector to bounded integers, add noise, and clamp the result.

Proof: docs/proofs/representation.md.

The *ball* of a mode is the set of permitted vectors before noise. First, the vector of a text is multiplied by ``grid``
(the number of steps per unit), and truncated toward zero to integers ``q``. All later steps use integer arithmetic:
they move every vector into the ball, add noise and clamp the result. In the ball, the distance between the vectors of
any two texts is at most ``sensitivity``. Noise in proportion to this distance therefore protects the *whole* text:

| mode | ball, in steps | sensitivity | noise | guarantee for any two texts |
|---|---|---|---|---|
| ``l1`` | sum of abs(q) <= grid | 2 grid (L1) | discrete Laplace | epsilon |
| ``l2`` | sum of q^2 <= grid^2 | 2 grid (L2) | discrete Gaussian | (epsilon, delta) |
| ``box`` | 0 <= q <= grid | dimension * grid (L1) | discrete Laplace | epsilon |

Evaluation on a server uses the same code, for batches of texts.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.noise import zcdp
from textveil.mechanisms.noise.discrete import (
    NoiseTable,
    Words,
    bound_total_variation,
    make_discrete_gaussian,
    make_discrete_laplace,
)
from textveil.mechanisms.noise.parameters import BOX, L1, L2, ReleaseParameters

# Distance between the ball and the limits of clamping, in multiples of the scale of the noise. With 8, one Laplace
# sample in 3,000 is clamped. With 4, one Gaussian sample in 16,000 is clamped.
_LAPLACE_SCALES, _GAUSSIAN_SCALES = 8, 4
# Coordinates are clipped to this number of steps, so that sums of squares fit in 64 bits.
_MAX_STEPS = 1 << 24


@dataclass(frozen=True)
class ReleaseNoise:
    """The noise distribution for one set of parameters of noisy vectors (``ReleaseParameters``).

    Attributes:
        table: Distribution of the noise of one coordinate. Its largest value is at least the distance between any input
            and any output.
        margin: Largest distance, in steps, of an output coordinate from the interval of coordinates before noise.
            Outputs farther away are clamped to this distance.
        variance: Variance parameter of discrete Gaussian noise, in steps squared; ``None`` for discrete Laplace noise.
    """

    table: NoiseTable
    margin: int
    variance: int | None = None


@cache
def build_noise(parameters: ReleaseParameters) -> ReleaseNoise:
    """Build the noise distribution for the parameters of noisy vectors, and cache the distribution.

    The first call takes a few milliseconds for the mode ``l1`` with 1024 steps per unit.

    Raises:
        OptionError: The table would be too large, or ``delta`` is too small for 64-bit words.
    """
    span = parameters.grid - parameters.lowest
    if parameters.mode != L2:
        margin = math.ceil(_LAPLACE_SCALES * parameters.scale)
        return ReleaseNoise(make_discrete_laplace(parameters.scale, span + margin), margin)
    target = parameters.exact_delta * Fraction(9999, 10000)  # the rest covers the rounding of the table
    for _ in range(4):
        rho = zcdp.compute_largest_rho(parameters.exact_epsilon, target)
        variance = math.ceil(Fraction(parameters.sensitivity**2) / (2 * rho))
        margin = _GAUSSIAN_SCALES * (math.isqrt(variance) + 1)
        if bound_gaussian_delta(parameters, variance, span + margin) <= parameters.exact_delta:
            return ReleaseNoise(make_discrete_gaussian(Fraction(variance), span + margin), margin, variance)
        # At a large epsilon, rounding takes a larger part of delta. Reserve this part and one eighth more.
        target = parameters.exact_delta - Fraction(9, 8) * _compute_rounding_delta(parameters, span + margin)
        if target <= 0:
            break
    raise OptionError("delta is too small for this epsilon: use a larger delta")


def bound_gaussian_delta(parameters: ReleaseParameters, variance: int, reach: int) -> Fraction:
    """Return an upper bound of the delta of a noisy vector in the mode ``l2`` (vectors of bounded L2 norm).

    The bound is the delta of exact discrete Gaussian noise (by zCDP) plus the delta of rounding in the table.

    Args:
        parameters: Parameters of the noisy vector.
        variance: Variance parameter of the noise, in steps squared.
        reach: Largest noise value of the table.
    """
    return zcdp.compute_delta_bound(
        parameters.compute_rho(variance), parameters.exact_epsilon
    ) + _compute_rounding_delta(parameters, reach)


def _compute_rounding_delta(parameters: ReleaseParameters, reach: int) -> Fraction:
    """Return the delta that rounding adds to the noise table's probabilities: ``(1 + e^epsilon) k TV``.

    Here ``k`` is the number of coordinates, and ``TV`` the total variation distance between the table and the exact
    noise. For each of two texts, the distance between the real and the exact output distribution is at most ``k TV``.
    """
    return (
        (1 + zcdp.compute_exponential(parameters.exact_epsilon)) * parameters.dimension * bound_total_variation(reach)
    )


class VectorReleaser:
    """Component that adds noise to vectors, with fixed parameters. The object is immutable and thread-safe.

    Attributes:
        parameters: The parameters.
        noise: The noise of these parameters.

    Example:
        >>> releaser = VectorReleaser(ReleaseParameters(mode="l1", dimension=2, grid=4, epsilon="4"))
        >>> integers = releaser.release_vectors(np.array([[0.5, -0.25]]))
        >>> integers.shape, releaser.dequantize_vectors(np.array([2, -1])).tolist()
        ((1, 2), [0.5, -0.25])
    """

    def __init__(self, parameters: ReleaseParameters) -> None:
        """Build the noise distribution for the parameters.

        Raises:
            OptionError: No noise table is possible for the parameters (``build_noise``).
        """
        self.parameters = parameters
        self.noise: ReleaseNoise = build_noise(parameters)

    def quantize_vectors(self, vectors: NDArray[np.floating]) -> tuple[Integers, NDArray[np.bool_]]:
        """Convert vectors to integer steps, and move them into the ball (the set of permitted vectors) of the mode.

        A vector outside the ball is scaled down (``l1``, ``l2``) or clipped (``box``), in integer arithmetic. A vector
        with a coordinate that is not finite becomes 0.

        Args:
            vectors: Vectors as floating-point numbers, shape ``(n, k)``. The number 1.0 becomes ``grid`` steps.

        Returns:
            The vectors in steps, shape ``(n, k)``, and the mask of vectors that became 0 because a coordinate was not
            finite, shape ``(n,)``.

        Raises:
            OptionError: The vectors do not have ``dimension`` coordinates.
        """
        parameters = self.parameters
        if vectors.ndim != 2 or vectors.shape[1] != parameters.dimension:
            raise OptionError(f"vectors must have {parameters.dimension} coordinates")
        is_replaced = np.logical_not(np.isfinite(vectors).all(axis=1))
        units = np.where(is_replaced[:, None], 0, vectors).astype(np.float64)
        farthest = _MAX_STEPS / parameters.grid
        steps = np.trunc(np.clip(units, -farthest, farthest) * parameters.grid).astype(np.int64)
        if parameters.mode == BOX:
            return np.clip(steps, 0, parameters.grid), is_replaced
        return _project_into_ball(steps, parameters.grid, parameters.mode), is_replaced

    def add_noise(self, integers: Integers, words: Words) -> Integers:
        """Add noise to every coordinate, and clamp the result. This is a pure function.

        Args:
            integers: Vectors in steps, shape ``(n, k)``. ``quantize_vectors`` has moved them into the ball (set of
                permitted vectors).
            words: Independent uniform 64-bit words, one for every coordinate, in the same shape.

        Returns:
            Noisy vectors in steps, in the same shape, with coordinates from ``lowest - margin`` to ``grid + margin``.
        """
        margin = self.noise.margin
        return np.clip(
            integers + self.noise.table.look_up_values(words),
            self.parameters.lowest - margin,
            self.parameters.grid + margin,
        )

    def release_vectors(self, vectors: NDArray[np.floating], random_uint64: RandomUint64 | None = None) -> Integers:
        """Return noisy vectors, with independent noise in every coordinate of every vector.

        Args:
            vectors: Vectors as floating-point numbers, shape ``(n, k)``. The number 1.0 becomes ``grid`` steps.
            random_uint64: Function that returns a given number of independent uniform 64-bit words; by default, the
                random generator of the operating system.

        Returns:
            Noisy vectors in steps, shape ``(n, k)``.

        Raises:
            OptionError: The vectors do not have ``dimension`` coordinates.

        Privacy:
            Each noisy vector has the privacy loss ``epsilon`` (and ``delta`` in mode ``l2``) for any two texts. The
            privacy losses of two noisy vectors of one text add up.
        """
        integers, _ = self.quantize_vectors(vectors)
        words = (random_uint64 or entropy.random_uint64)(integers.size)
        return self.add_noise(integers, words.reshape(integers.shape))

    def dequantize_vectors(self, integers: Integers) -> NDArray[np.float32]:
        """Convert noisy vectors from integer steps to floating-point numbers.

        Privacy:
            The result is a function of the noisy vector alone, so it has the same privacy guarantee.
        """
        return (integers / self.parameters.grid).astype(np.float32)


def _project_into_ball(vectors: Integers, radius: int, mode: str) -> Integers:
    """Scale each vector ``q`` with a norm above ``radius`` to ``trunc(q radius / norm)``. Change the array in place.

    Args:
        vectors: Vectors in steps, shape ``(n, k)``.
        radius: Largest permitted norm.
        mode: ``l1`` or ``l2``, which determines the norm. An L2 norm is rounded up to an integer.
    """
    if mode == L1:
        norms = np.abs(vectors).sum(axis=1)
        outside = np.flatnonzero(norms > radius)
        divisors = norms[outside]
    else:
        squares = (vectors**2).sum(axis=1)
        outside = np.flatnonzero(squares > radius**2)
        divisors = np.array([math.isqrt(int(square) - 1) + 1 for square in squares[outside]], dtype=np.int64)
    if len(outside):
        rows = vectors[outside]
        vectors[outside] = np.sign(rows) * (np.abs(rows) * radius // divisors[:, None])
    return vectors
