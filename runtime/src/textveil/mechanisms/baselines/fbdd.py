"""FBDD: a mechanism that adds noise to the vector of a word, and returns the word whose vector is nearest.

Source: Feyisetan, Balle, Diethe, Drake 2020, Algorithm 1. Proof: docs/proofs/fbdd.md.

A *row* is the vector of a word. The noise ``z``, in units of the median distance of two words, has a density
proportional to ``exp(-epsilon |z|)``. To sample the noise, the mechanism multiplies a uniform direction on the sphere
by a radius from Gamma(m, 1 / epsilon), where ``m`` is the dimension. By the triangle inequality, the noisy point
satisfies metric differential privacy: the loss for two words at distance ``d`` is at most ``epsilon d``, without a
factor 2. The same bound holds for the nearest word, which is a function of the noisy point alone.

The input ``<unk>`` (unknown word) has an additional coordinate, which is 0 for every word. The mechanism omits this
coordinate before it adds noise. To omit a coordinate never increases a distance, so the bound also holds for pairs with
``<unk>``. It changes no order of the outputs by distance, because the coordinate is 0 for all of them.

This module computes in floating point. The proof is for real numbers and does not bound the effect of rounding. The
epsilon of FBDD is therefore called a textbook epsilon, never a certified epsilon.
"""

from dataclasses import dataclass
from decimal import Decimal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms.arrays import Floats, Integers
from textveil.mechanisms.baselines.table import SANTEXT_OUTPUT_ROLE, SanTextTable
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.metric import WordMetric

#: Largest epsilon. The distance of two words of a bundle is at least 0.1, and the noise at this epsilon is far smaller.
MAX_FBDD_EPSILON = 100_000

#: Memory limits for one block of tokens: 32 MB of scores, 8 MB of random words.
_BLOCK_SCORES, _BLOCK_WORDS = 1 << 22, 1 << 20


def convert_to_uniform(words: NDArray[np.uint64]) -> Floats:
    """Convert random 64-bit words to uniform floating-point numbers in (0, 1].

    The upper 53 bits of a word select a multiple of ``2**-53``.
    """
    return ((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


def count_words_per_point(dimension: int) -> int:
    """Return the number of random 64-bit words that ``draw_laplace_noise`` uses for one point.

    Each pair of Gaussian numbers uses two words. Each exponential number uses one word.
    """
    return 2 * (-(-dimension // 2)) + dimension


def draw_laplace_noise(count: int, dimension: int, random_uint64: RandomUint64) -> Floats:
    """Sample independent points with a density proportional to ``exp(-|z|)``.

    In ``n`` dimensions, the radius ``r`` of such a point has a density proportional to ``r**(n - 1) exp(-r)``, and the
    direction is uniform on the sphere. The function takes the direction from ``n`` Gaussian numbers (Box and Muller
    1958), and the radius from Gamma(n, 1), as the sum of ``n`` exponential numbers ``-ln(u)``. The noise of FBDD is
    this point divided by epsilon.

    Args:
        count: Number of points.
        dimension: Number of coordinates ``n``.
        random_uint64: Function that returns a given number of independent uniform 64-bit words.

    Returns:
        The points, shape ``(count, dimension)``, all finite. A point is zero if all its Gaussian numbers or all its
        exponential numbers are zero. For ``n`` up to 2, this happens with a probability of at most 2**-52.

    Privacy:
        Every point uses ``count_words_per_point(n)`` random words. Neither this number nor the time depends on the
        sample.

    Example:
        >>> from textveil.mechanisms import random_uint64
        >>> draw_laplace_noise(2, 3, random_uint64).shape
        (2, 3)
    """
    pairs = -(-dimension // 2)
    words = random_uint64(count * count_words_per_point(dimension)).reshape(count, -1)
    uniform = convert_to_uniform(words)
    radius = np.sqrt(-2 * np.log(uniform[:, :pairs]))
    angle = 2 * np.pi * uniform[:, pairs : 2 * pairs]
    gaussians = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)[:, :dimension]
    length = np.maximum(np.linalg.norm(gaussians, axis=1), np.finfo(np.float64).tiny)
    gamma = -np.log(uniform[:, 2 * pairs :]).sum(axis=1)
    return gaussians * (gamma / length)[:, None]


@dataclass(frozen=True, kw_only=True)
class OutputPoints:
    """The possible output words of the mechanism FBDD with their vectors ``y``.

    The output nearest to a point ``v`` maximizes ``v.y - |y|^2 / 2``.

    Attributes:
        table: The SanText table that defines the outputs.
        ids: Ids of the outputs, which are those of ``santext``, ascending, shape ``(outputs,)``.
        rows: Vectors of the outputs, shape ``(outputs, dimension)``.
        half_squares: ``|y|^2 / 2`` of each vector ``y``, shape ``(outputs,)``.
    """

    table: SanTextTable
    ids: NDArray[np.intp]
    rows: Floats
    half_squares: Floats

    @classmethod
    def from_table(cls, table: SanTextTable, metric: WordMetric) -> "OutputPoints":
        """Create the possible outputs and their vectors from the table and the vectors of the mechanism SanText."""
        ids = np.flatnonzero(table.roles & SANTEXT_OUTPUT_ROLE)
        rows = metric.rows[ids].astype(np.float64)
        return cls(table=table, ids=ids, rows=rows, half_squares=np.einsum("ij,ij->i", rows, rows) / 2)

    def find_nearest(self, points: Floats, scale: float) -> Integers:
        """Return the nearest output of each point. If several are equally near, return the smallest id.

        Args:
            points: Points in units of the rows, multiplied by ``scale``, shape ``(n, dimension)``.
            scale: Factor of at least 0. If it is very small, only the directions of the points matter.

        Returns:
            Ids of words, shape ``(n,)``.
        """
        scores = points @ self.rows.T
        scores -= scale * self.half_squares
        return self.ids[scores.argmax(axis=1)]


_OUTPUTS: WeakKeyDictionary[WordMetric, OutputPoints] = WeakKeyDictionary()


@dataclass(frozen=True)
class Fbdd:
    """The mechanism FBDD, which adds noise to the vector of a word and returns the word with the nearest vector.

    FBDD has no integer weights, so its output distribution can only be estimated from samples.

    Attributes:
        metric: Vectors of all inputs, and the unit of distance.
        outputs: Possible outputs with their vectors.
        epsilon: Privacy loss per unit of scaled distance (distance divided by the median distance of two words), in
            ``(0, MAX_FBDD_EPSILON]``.

    Example:
        >>> from textveil.mechanisms import random_uint64
        >>> from textveil.bundle import TextBundle, find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("english-santext"), TextBundle)
        >>> fbdd = Fbdd.from_table(bundle.table, bundle.metric, Decimal(10))
        >>> fbdd.draw_symbols(np.array([0, 1]), random_uint64).shape
        (2,)
    """

    metric: WordMetric
    outputs: OutputPoints
    epsilon: float

    @classmethod
    def from_table(cls, table: SanTextTable, metric: WordMetric, epsilon: Decimal) -> "Fbdd":
        """Create the mechanism FBDD with the words of a SanText table.

        All instances for the same table share one matrix of outputs.

        Raises:
            OptionError: ``epsilon`` is out of range.
        """
        value = float(epsilon)
        if not 0 < value <= MAX_FBDD_EPSILON:
            raise OptionError(f"fbdd needs an epsilon above 0 and at most {MAX_FBDD_EPSILON}")
        outputs = _OUTPUTS.get(metric)
        if outputs is None or outputs.table is not table:
            outputs = _OUTPUTS[metric] = OutputPoints.from_table(table, metric)
        return cls(metric, outputs, value)

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output word for each input word.

        Args:
            inputs: Ids of words, shape ``(n,)``; the number of words is the id of ``<unk>``, for unknown words.
            random_uint64: Function that returns a given number of independent uniform 64-bit words.

        Returns:
            Ids of words, shape ``(n,)``.

        Privacy:
            In real arithmetic, the loss is at most ``epsilon d`` for every two inputs at distance ``d``, including
            ``<unk>``. The number of random words is fixed, and the computation has the same steps for every point.
        """
        dimension = self.metric.rows.shape[1]
        block = max(1, min(_BLOCK_SCORES // len(self.outputs.ids), _BLOCK_WORDS // count_words_per_point(dimension)))
        # Compute in units of the noise, so that no epsilon causes an overflow. One step of the rows is `scale` units.
        scale = self.epsilon / float(np.sqrt(self.metric.median_squared))
        drawn = np.empty(len(inputs), dtype=np.int64)
        for start in range(0, len(inputs), block):
            part = inputs[start : start + block]
            noise = draw_laplace_noise(len(part), dimension, random_uint64)
            rows = self.metric.rows[part].astype(np.float64)
            drawn[start : start + block] = self.outputs.find_nearest(noise + scale * rows, scale)
        return drawn
