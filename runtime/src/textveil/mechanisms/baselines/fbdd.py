"""FBDD: add noise to the vector of a word, then release the nearest word.

Source: Feyisetan, Balle, Diethe, Drake 2020, Algorithm 1. Proof: docs/proofs/fbdd.md.

A *row* is the vector of a word. In units of the median distance of two words, the noise ``z`` has a density
proportional to ``exp(-epsilon |z|)``: a direction uniform on the sphere, times a radius from Gamma(m, 1 / epsilon),
where ``m`` is the dimension. By the triangle inequality, the noisy point satisfies metric differential privacy with the
loss ``epsilon d`` for two words at distance ``d``, without a factor 2. The nearest word is a function of that point
alone.

``<unk>`` has a coordinate of its own, in which every word is 0. The mechanism drops this coordinate before it adds
noise. Dropping a coordinate never increases a distance, so the bound also holds for pairs with ``<unk>``, and the order
of the outputs by distance stays the same. Noise along that coordinate would cost accuracy without adding protection.

This module computes in floating point. The proof is for real numbers and does not bound the effect of rounding. So the
epsilon is called textbook, never certified.
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

#: Largest epsilon. Words of a bundle are at least 0.1 apart: at this epsilon the noise is far below that distance.
MAX_FBDD_EPSILON = 100_000

#: Memory bounds of one block of tokens: 32 MB of scores, 8 MB of random words.
_BLOCK_SCORES, _BLOCK_WORDS = 1 << 22, 1 << 20


def convert_to_uniform(words: NDArray[np.uint64]) -> Floats:
    """Map random 64-bit words to uniform multiples of 2**-53 in (0, 1], by their upper 53 bits."""
    return ((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


def count_words_per_point(dimension: int) -> int:
    """Return how many random words one point of ``draw_laplace_noise`` takes.

    Each pair of Gaussian numbers takes two words, each exponential number takes one.
    """
    return 2 * (-(-dimension // 2)) + dimension


def draw_laplace_noise(count: int, dimension: int, random_uint64: RandomUint64) -> Floats:
    """Sample independent points with density proportional to ``exp(-|z|)``.

    In ``n`` dimensions the radius ``r`` of such a point has a density proportional to ``r**(n - 1) exp(-r)``, and the
    direction is uniform on the sphere. So the function takes the direction of ``n`` Gaussian numbers (Box and Muller
    1958), and a radius from Gamma(n, 1): the sum of ``n`` exponential numbers ``-ln(u)``. Divided by epsilon the result
    is the noise of FBDD.

    Args:
        count: Number of points.
        dimension: ``n``.
        random_uint64: Returns a given number of independent uniform 64-bit words.

    Returns:
        Shape ``(count, dimension)``, finite. A point is zero if all its Gaussian numbers or all its exponential numbers
        are
        zero: for ``n`` <= 2, with a probability of at most 2**-52.

    Privacy:
        Every point takes ``count_words_per_point(n)`` words. Neither this number nor the time depends on the sample.

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
    """The possible outputs as points: the nearest one to ``v`` maximizes ``v.y - |y|^2 / 2``.

    Attributes:
        table: The table of these outputs.
        ids: Symbols that are outputs of ``santext``, ascending, shape ``(outputs,)``.
        rows: Vectors of these symbols, shape ``(outputs, dimension)``.
        half_squares: ``|y|^2 / 2`` of each vector ``y``, shape ``(outputs,)``.
    """

    table: SanTextTable
    ids: NDArray[np.intp]
    rows: Floats
    half_squares: Floats

    @classmethod
    def from_table(cls, table: SanTextTable, metric: WordMetric) -> "OutputPoints":
        """Collect the outputs of ``santext`` as points."""
        ids = np.flatnonzero(table.roles & SANTEXT_OUTPUT_ROLE)
        rows = metric.rows[ids].astype(np.float64)
        return cls(table=table, ids=ids, rows=rows, half_squares=np.einsum("ij,ij->i", rows, rows) / 2)

    def find_nearest(self, points: Floats, scale: float) -> Integers:
        """Return the nearest output of each point; of several, the one with the smallest id.

        Args:
            points: Points in units of the rows, times ``scale``, shape ``(n, dimension)``.
            scale: A factor of at least 0. It may be so small that only the directions matter.

        Returns:
            Ids, shape ``(n,)``.
        """
        scores = points @ self.rows.T
        scores -= scale * self.half_squares
        return self.ids[scores.argmax(axis=1)]


_OUTPUTS: WeakKeyDictionary[WordMetric, OutputPoints] = WeakKeyDictionary()


@dataclass(frozen=True)
class Fbdd:
    """FBDD: the output nearest to the input's vector plus noise.

    It has no integer weights, so its output distribution can only be estimated from samples.

    Attributes:
        metric: Vectors of all inputs, and the unit of distance.
        outputs: Possible outputs, as points.
        epsilon: Loss per unit of scaled distance, in ``(0, MAX_FBDD_EPSILON]``.

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
        """Create FBDD over a table. All instances over one table share one matrix of outputs.

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
        """Sample one output for each input.

        Args:
            inputs: Symbol ids, or the number of symbols for ``<unk>``, shape ``(n,)``.
            random_uint64: Returns a given number of independent uniform 64-bit words.

        Returns:
            Symbol ids, shape ``(n,)``.

        Privacy:
            In real arithmetic the loss is at most ``epsilon d`` for every two inputs at distance ``d``, ``<unk>``
            included. The number of random words is fixed, and the computation has the same steps for every point.
        """
        dimension = self.metric.rows.shape[1]
        block = max(1, min(_BLOCK_SCORES // len(self.outputs.ids), _BLOCK_WORDS // count_words_per_point(dimension)))
        # Computing in units of the noise keeps every epsilon from overflowing: a step of the rows is `scale` units.
        scale = self.epsilon / float(np.sqrt(self.metric.median_squared))
        drawn = np.empty(len(inputs), dtype=np.int64)
        for start in range(0, len(inputs), block):
            part = inputs[start : start + block]
            noise = draw_laplace_noise(len(part), dimension, random_uint64)
            rows = self.metric.rows[part].astype(np.float64)
            drawn[start : start + block] = self.outputs.find_nearest(noise + scale * rows, scale)
        return drawn
