"""Releases the vector of a text: brought into the ball, noise on every coordinate, clamped; all in integers.

Proof: docs/proofs/representation.md.

The vector ``f`` is scaled to a grid of ``grid`` steps per unit, truncating toward zero, and brought into the ball of
its mode by integer arithmetic, whatever it was. Any two texts are then at most ``sensitivity`` apart, so noise of
that scale covers *all* of the text:

| mode | ball, in steps | sensitivity | noise | guarantee for any two texts |
|---|---|---|---|---|
| ``l1`` | sum of abs(q) <= grid | 2 grid (L1) | discrete Laplace | epsilon |
| ``l2`` | sum of q^2 <= grid^2 | 2 grid (L2) | discrete Gaussian | (epsilon, delta) |
| ``box`` | 0 <= q <= grid | dimension * grid (L1) | discrete Laplace | epsilon |

Whoever evaluates on a server releases through this very code, whole batches at a time.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.noise import zcdp
from textveil.mechanisms.noise.discrete import (
    Integers,
    NoiseTable,
    Words,
    discrete_gaussian,
    discrete_laplace,
    total_variation,
)
from textveil.mechanisms.noise.parameters import BOX, L1, L2, ReleaseParameters

# Outputs are clamped this many scales beyond the ball. With 8, one Laplace draw in 3,000 is; with 4, one Gaussian
# draw in 16,000.
_LAPLACE_SCALES, _GAUSSIAN_SCALES = 8, 4
# Coordinates beyond this many steps are cut there before anything is squared and summed in 64 bits.
_FARTHEST = 1 << 24


@dataclass(frozen=True)
class Noise:
    """The noise of one release parameters.

    Attributes:
        table: Distribution of one coordinate's noise, which reaches from any input to any output.
        margin: How far outputs may lie beyond the ball, in steps.
        variance: Parameter of the discrete Gaussian in steps squared; ``None`` for discrete Laplace.
    """

    table: NoiseTable
    margin: int
    variance: int | None = None


@cache
def noise_for(parameters: ReleaseParameters) -> Noise:
    """Builds the noise of a release; a few milliseconds for ``l1`` at a grid of 1024.

    Raises:
        OptionError: The table would be too large, or ``delta`` too small for 64-bit words.
    """
    span = parameters.grid - parameters.lowest
    if parameters.mode != L2:
        margin = math.ceil(_LAPLACE_SCALES * parameters.scale)
        return Noise(discrete_laplace(parameters.scale, span + margin), margin)
    target = parameters.exact_delta * Fraction(9999, 10000)  # the rest is room for the table's rounding
    for _ in range(4):
        rho = zcdp.largest_rho(parameters.exact_epsilon, target)
        variance = math.ceil(Fraction(parameters.sensitivity**2) / (2 * rho))
        margin = _GAUSSIAN_SCALES * (math.isqrt(variance) + 1)
        if gaussian_delta(parameters, variance, span + margin) <= parameters.exact_delta:
            return Noise(discrete_gaussian(Fraction(variance), span + margin), margin, variance)
        # Not enough at a large epsilon, where the rounding counts for more: leave it all, and an eighth.
        target = parameters.exact_delta - Fraction(9, 8) * _rounding_delta(parameters, span + margin)
        if target <= 0:
            break
    raise OptionError("delta is too small for noise from 64-bit words at this epsilon")


def gaussian_delta(parameters: ReleaseParameters, variance: int, reach: int) -> Fraction:
    """Bounds the delta of a finished ``l2`` release: by zCDP, and what the table's rounding adds."""
    return zcdp.delta_bound(parameters.rho(variance), parameters.exact_epsilon) + _rounding_delta(parameters, reach)


def _rounding_delta(parameters: ReleaseParameters, reach: int) -> Fraction:
    """``(1 + e^epsilon) k TV``: both texts' outputs are ``k TV`` from the ideal ones."""
    return (1 + zcdp.exponential(parameters.exact_epsilon)) * parameters.dimension * total_variation(reach)


class Releaser:
    """Releases vectors under fixed parameters. Immutable, and safe to use from many threads.

    Attributes:
        parameters: The parameters.
        noise: Their noise.
    """

    def __init__(self, parameters: ReleaseParameters) -> None:
        """Builds the noise.

        Raises:
            OptionError: See ``noise_for``.
        """
        self.parameters = parameters
        self.noise: Noise = noise_for(parameters)

    def quantize(self, vectors: NDArray[np.floating]) -> tuple[Integers, NDArray[np.bool_]]:
        """Brings vectors into the ball, in steps. Whatever comes in, what comes out lies in the ball.

        Truncation toward zero never leaves the ball; a vector that was outside is scaled back (``l1``, ``l2``) or cut
        (``box``), in integers. A vector with any coordinate that is not finite becomes 0.

        Args:
            vectors: Shape ``(n, k)``, in units.

        Returns:
            The vectors in steps, shape ``(n, k)``, and which were replaced by 0 as not finite, shape ``(n,)``.

        Raises:
            OptionError: The vectors do not have ``dimension`` coordinates.
        """
        parameters = self.parameters
        if vectors.ndim != 2 or vectors.shape[1] != parameters.dimension:
            raise OptionError(f"this release takes vectors of {parameters.dimension} coordinates")
        fixed = np.logical_not(np.isfinite(vectors).all(axis=1))
        units = np.where(fixed[:, None], 0, vectors).astype(np.float64)
        farthest = _FARTHEST / parameters.grid
        steps = np.trunc(np.clip(units, -farthest, farthest) * parameters.grid).astype(np.int64)
        if parameters.mode == BOX:
            return np.clip(steps, 0, parameters.grid), fixed
        return _into_ball(steps, parameters.grid, parameters.mode), fixed

    def add_noise(self, integers: Integers, words: Words) -> Integers:
        """Adds noise to every coordinate, and clamps. A pure function.

        Args:
            integers: Vectors in the ball, in steps, shape ``(n, k)``.
            words: Independent uniform words, one for every coordinate, same shape.

        Returns:
            Same shape, from ``lowest - margin`` to ``grid + margin``.
        """
        margin = self.noise.margin
        return np.clip(
            integers + self.noise.table.draw(words), self.parameters.lowest - margin, self.parameters.grid + margin
        )

    def release(self, vectors: NDArray[np.floating], random_uint64: RandomUint64 | None = None) -> Integers:
        """Releases vectors: every coordinate of every vector has noise of its own.

        Args:
            vectors: Shape ``(n, k)``, in units.
            random_uint64: Source of randomness; the operating system's unless a test gives another.

        Returns:
            In steps, shape ``(n, k)``.

        Raises:
            OptionError: The vectors do not have ``dimension`` coordinates.

        Privacy:
            Each row is one release: ``epsilon`` (``l2``: and ``delta``) between any two texts. Two rows of one text
            are two releases, which add up.
        """
        integers, _ = self.quantize(vectors)
        words = (random_uint64 or entropy.random_uint64)(integers.size)
        return self.add_noise(integers, words.reshape(integers.shape))

    def dequantize(self, integers: Integers) -> NDArray[np.float32]:
        """Returns released vectors in units: a function of what was released, and so as private."""
        return (integers / self.parameters.grid).astype(np.float32)


def _into_ball(vectors: Integers, radius: int, mode: str) -> Integers:
    """Scales vectors outside the ball back: ``trunc(q radius / norm)``, with an L2 norm rounded up."""
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
