"""FBDD: noise on the vector of a word, then the nearest word (Feyisetan, Balle, Diethe, Drake 2020, Algorithm 1).

Proof: docs/proofs/fbdd.md.

In units of the metric (1 is the median distance of two words) the noise ``z`` has density proportional to
``exp(-epsilon |z|)``: a direction uniform on the sphere times a radius from Gamma(m, 1 / epsilon), with ``m`` the
dimension of the rows. By the triangle inequality the noisy point is ``epsilon d``-metric-DP, without a factor 2, and
which word is nearest is a function of that point alone.

``<unk>`` has a coordinate of its own, in which every word is 0. It is dropped before the noise is added: dropping a
coordinate brings no two inputs further apart, so the bound holds for pairs with ``<unk>`` too, and no output is nearer
or further for it. Noise along that coordinate would cost accuracy and protect nothing more.

This is floating-point code. The proof speaks of real numbers; what rounding adds is not bounded here, so the epsilon
is called textbook and never certified.
"""

from dataclasses import dataclass
from decimal import Decimal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms.baselines.table import SANTEXT_OUTPUT, Table
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.metric import Floats, Metric

#: Largest epsilon. The closest words a bundle keeps apart are 0.1 apart: noise is then far below their distance.
MAX_FBDD_EPSILON = 100_000

#: Bounds of what a block of tokens takes: 32 MB of scores, 8 MB of random words.
_SCORES_AT_ONCE, _WORDS_AT_ONCE = 1 << 22, 1 << 20


def uniforms(words: NDArray[np.uint64]) -> Floats:
    """Maps random words to multiples of 2**-53 in (0, 1], all equally likely: their upper 53 bits, plus one."""
    return ((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


def words_per_point(dimension: int) -> int:
    """Counts the random words of one point of ``laplace_noise``: two per pair of Gaussians, one per exponential."""
    return 2 * (-(-dimension // 2)) + dimension


def laplace_noise(count: int, dimension: int, random_uint64: RandomUint64) -> Floats:
    """Draws independent points with density proportional to ``exp(-|z|)``.

    In ``n`` dimensions that density is, in polar coordinates, proportional to ``r**(n - 1) exp(-r)``: a direction
    uniform on the sphere, that of ``n`` Gaussians (Box and Muller 1958), and a radius from Gamma(n, 1), the sum of
    ``n`` exponentials ``-ln(u)``. Divided by epsilon it is the noise of FBDD.

    Args:
        count: How many points.
        dimension: ``n``.
        random_uint64: Gives that many independent uniform 64-bit words.

    Returns:
        Shape ``(count, dimension)``, finite. Zero where all Gaussians are, or all exponentials: for ``n`` <= 2, with a
        probability of at most 2**-52.

    Privacy:
        Every point takes ``words_per_point(n)`` words: neither their number nor the time depends on what is drawn.
    """
    pairs = -(-dimension // 2)
    words = random_uint64(count * words_per_point(dimension)).reshape(count, -1)
    uniform = uniforms(words)
    radius = np.sqrt(-2 * np.log(uniform[:, :pairs]))
    angle = 2 * np.pi * uniform[:, pairs : 2 * pairs]
    gaussians = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)[:, :dimension]
    length = np.maximum(np.linalg.norm(gaussians, axis=1), np.finfo(np.float64).tiny)
    gamma = -np.log(uniform[:, 2 * pairs :]).sum(axis=1)
    return gaussians * (gamma / length)[:, None]


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """The possible outputs as points, to find the nearest one: the ``y`` with the largest ``v.y - |y|^2 / 2``.

    Attributes:
        table: The table whose outputs they are.
        ids: Symbols that are outputs of ``santext``, ascending, shape ``(outputs,)``.
        rows: Their rows, shape ``(outputs, dimension)``.
        half_squares: ``|y|^2 / 2``, shape ``(outputs,)``.
    """

    table: Table
    ids: NDArray[np.intp]
    rows: Floats
    half_squares: Floats

    @classmethod
    def of(cls, table: Table, metric: Metric) -> "Outputs":
        """Returns the outputs of ``santext``."""
        ids = np.flatnonzero(table.roles & SANTEXT_OUTPUT)
        rows = metric.rows[ids].astype(np.float64)
        return cls(table=table, ids=ids, rows=rows, half_squares=np.einsum("ij,ij->i", rows, rows) / 2)

    def nearest(self, points: Floats, scale: float) -> Integers:
        """Returns the nearest output of each point, the smallest id among equals.

        Args:
            points: ``scale`` times the points in steps of the rows, shape ``(n, dimension)``.
            scale: A factor of at least 0. It may be so small that only the directions matter.

        Returns:
            Ids, shape ``(n,)``.
        """
        scores = points @ self.rows.T
        scores -= scale * self.half_squares
        return self.ids[scores.argmax(axis=1)]


_OUTPUTS: WeakKeyDictionary[Metric, Outputs] = WeakKeyDictionary()


@dataclass(frozen=True)
class Fbdd:
    """FBDD: the output nearest to ``x + z``. It has no integer weights: what it does is known from draws only.

    Attributes:
        metric: Rows and unit of distance.
        outputs: Possible outputs, as points.
        epsilon: Loss per unit of scaled distance, in ``(0, MAX_FBDD_EPSILON]``.
    """

    metric: Metric
    outputs: Outputs
    epsilon: float

    @classmethod
    def of(cls, table: Table, metric: Metric, epsilon: Decimal) -> "Fbdd":
        """Returns FBDD over a table; all over one table share their matrix of outputs.

        Raises:
            OptionError: ``epsilon`` is out of range.
        """
        value = float(epsilon)
        if not 0 < value <= MAX_FBDD_EPSILON:
            raise OptionError(f"fbdd needs an epsilon above 0 and at most {MAX_FBDD_EPSILON}")
        outputs = _OUTPUTS.get(metric)
        if outputs is None or outputs.table is not table:
            outputs = _OUTPUTS[metric] = Outputs.of(table, metric)
        return cls(metric, outputs, value)

    def draw(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for each input (a symbol id, or the number of symbols for ``<unk>``), shape ``(n,)``.

        Privacy:
            ``epsilon d``-metric-DP in real arithmetic for every pair of inputs, ``<unk>`` included. The number of
            random words is fixed, and the same is computed for every point.
        """
        dimension = self.metric.rows.shape[1]
        block = max(1, min(_SCORES_AT_ONCE // len(self.outputs.ids), _WORDS_AT_ONCE // words_per_point(dimension)))
        # In units of the noise, so that no epsilon overflows: a step of the rows is `scale` of them.
        scale = self.epsilon / float(np.sqrt(self.metric.median_squared))
        drawn = np.empty(len(inputs), dtype=np.int64)
        for start in range(0, len(inputs), block):
            part = inputs[start : start + block]
            noise = laplace_noise(len(part), dimension, random_uint64)
            rows = self.metric.rows[part].astype(np.float64)
            drawn[start : start + block] = self.outputs.nearest(noise + scale * rows, scale)
        return drawn
