"""FBDD: add noise to the vector of a word, then release the nearest word.

Source: Feyisetan, Balle, Diethe, Drake 2020, Algorithm 1. Proof: docs/proofs/fbdd.md.

In units of the metric (1 is the median distance of two words) the noise ``z`` has density proportional to
``exp(-epsilon |z|)``: a direction uniform on the sphere times a radius from Gamma(m, 1 / epsilon), with ``m`` the
dimension of the rows. By the triangle inequality the noisy point is ``epsilon d``-metric-DP, without a factor 2. The
nearest word is a function of that point alone.

``<unk>`` has a coordinate of its own, in which every word is 0. The mechanism drops this coordinate before it adds
noise: a dropped coordinate moves no two inputs further apart, so the bound also holds for pairs with ``<unk>``, and
the order of the outputs by distance does not change. Noise along that coordinate would cost accuracy and add no
protection.

This module computes in floating point. The proof treats real numbers and does not bound the effect of rounding, so
the epsilon is called textbook and never certified.
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
    """Map random words to uniform multiples of 2**-53 in (0, 1]: their upper 53 bits, plus one."""
    return ((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


def count_words_per_point(dimension: int) -> int:
    """Count the random words of one point of ``draw_laplace_noise``.

    A pair of Gaussians takes two words, an exponential one.
    """
    return 2 * (-(-dimension // 2)) + dimension


def draw_laplace_noise(count: int, dimension: int, random_uint64: RandomUint64) -> Floats:
    """Sample independent points with density proportional to ``exp(-|z|)``.

    In ``n`` dimensions that density is, in polar coordinates, proportional to ``r**(n - 1) exp(-r)``: a direction
    uniform on the sphere, that of ``n`` Gaussians (Box and Muller 1958), and a radius from Gamma(n, 1), the sum of
    ``n`` exponentials ``-ln(u)``. Divided by epsilon it is the noise of FBDD.

    Args:
        count: Number of points.
        dimension: ``n``.
        random_uint64: Returns a given number of independent uniform 64-bit words.

    Returns:
        Shape ``(count, dimension)``, finite. A point is zero if all its Gaussians or all its exponentials are zero:
        for ``n`` <= 2, with a probability of at most 2**-52.

    Privacy:
        Every point takes ``count_words_per_point(n)`` words: neither their number nor the time depends on the sample.

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
    """The possible outputs as points; the nearest one to ``v`` maximizes ``v.y - |y|^2 / 2``.

    Attributes:
        table: The table of these outputs.
        ids: Symbols that are outputs of ``santext``, ascending, shape ``(outputs,)``.
        rows: Their rows, shape ``(outputs, dimension)``.
        half_squares: ``|y|^2 / 2``, shape ``(outputs,)``.
    """

    table: SanTextTable
    ids: NDArray[np.intp]
    rows: Floats
    half_squares: Floats

    @classmethod
    def from_table(cls, table: SanTextTable, metric: WordMetric) -> "OutputPoints":
        """Return the outputs of ``santext`` as points."""
        ids = np.flatnonzero(table.roles & SANTEXT_OUTPUT_ROLE)
        rows = metric.rows[ids].astype(np.float64)
        return cls(table=table, ids=ids, rows=rows, half_squares=np.einsum("ij,ij->i", rows, rows) / 2)

    def find_nearest(self, points: Floats, scale: float) -> Integers:
        """Return the nearest output of each point, the smallest id among equals.

        Args:
            points: ``scale`` times the points in steps of the rows, shape ``(n, dimension)``.
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
    """FBDD: the output nearest to ``x + z``.

    It has no integer weights: only samples show its output distribution.

    Attributes:
        metric: Rows and unit of distance.
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
        """Return FBDD over a table; all instances over one table share one matrix of outputs.

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
            ``epsilon d``-metric-DP in real arithmetic for every pair of inputs, ``<unk>`` included. The number of
            random words is fixed, and the computation has the same steps for every point.
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
