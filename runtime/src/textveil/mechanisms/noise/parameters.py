"""The public parameters of a released vector: they decide its distribution, and tell nothing about the text."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.coin import ReplacementCoin
from textveil.mechanisms.entropy import RandomUint64

L1, L2, BOX = "l1", "l2", "box"
MODES = (L1, L2, BOX)

MAX_DIMENSION, MAX_GRID = 1 << 12, 1 << 16
#: Largest loss that a single coordinate may have. Beyond it 64-bit words leave the far cells of a table too coarse.
MAX_COORDINATE_EPSILON = 16


@dataclass(frozen=True, kw_only=True)
class ReleaseParameters:
    """The public parameters that decide the distribution of a release.

    Attributes:
        mode: ``"l1"``, ``"l2"`` or ``"box"``.
        dimension: Number of coordinates, from 1 (``box``: 2) to ``MAX_DIMENSION``.
        grid: Steps per unit, from 1 to ``MAX_GRID``.
        epsilon: Loss between any two texts: a decimal number above 0, as it is to be printed.
        delta: The delta between any two texts, a decimal number in ``(0, 1)``; ``l2`` only, else ``None``.

    Raises:
        OptionError: A value is outside its range.
    """

    mode: str
    dimension: int
    grid: int
    epsilon: str
    delta: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise OptionError("the mode of a release is l1, l2 or box")
        if not (2 if self.mode == BOX else 1) <= self.dimension <= MAX_DIMENSION:
            raise OptionError(f"a release has at most {MAX_DIMENSION} coordinates, and at least 1 (box: 2)")
        if not 1 <= self.grid <= MAX_GRID:
            raise OptionError(f"the grid of a release has from 1 to {MAX_GRID} steps per unit")
        if not 0 < self.coordinate_loss <= MAX_COORDINATE_EPSILON:
            raise OptionError(
                f"epsilon must be above 0 and at most {MAX_COORDINATE_EPSILON} (box: that times the dimension)"
            )
        if (self.delta is not None) != (self.mode == L2):
            raise OptionError("l2 needs a delta, l1 and box have none")
        if self.delta is not None and not 0 < self.exact_delta < 1:
            raise OptionError("delta must be above 0 and below 1")

    @property
    def exact_epsilon(self) -> Fraction:
        """``epsilon``."""
        return _exact(self.epsilon, "epsilon")

    @property
    def exact_delta(self) -> Fraction:
        """``delta``, 0 where there is none."""
        return _exact(self.delta, "delta") if self.delta is not None else Fraction(0)

    @property
    def coordinate_loss(self) -> Fraction:
        """The part of ``epsilon`` that one coordinate can use up."""
        return self.exact_epsilon / (self.dimension if self.mode == BOX else 1)

    @property
    def lowest(self) -> int:
        """The smallest value of a coordinate before noise, in steps."""
        return 0 if self.mode == BOX else -self.grid

    @property
    def sensitivity(self) -> int:
        """Largest distance of the vectors of two texts, in steps: L2 in mode ``l2``, else L1."""
        return self.dimension * self.grid if self.mode == BOX else 2 * self.grid

    @property
    def scale(self) -> Fraction:
        """Scale of the discrete Laplace noise in steps, ``sensitivity / epsilon``; of ``l1`` and ``box``."""
        return self.sensitivity / self.exact_epsilon

    def rho(self, variance: int) -> Fraction:
        """Computes the rho of zCDP of discrete Gaussian noise of that parameter, in steps squared; of ``l2``."""
        return Fraction(self.sensitivity**2, 2 * variance)


@dataclass(frozen=True)
class WordDropout:
    """Which words of a text the encoder never sees: each is removed, whole, with a probability of ``mu`` or more.

    Attributes:
        mu: The stated probability of removing a word, in ``[0, 1)``.
    """

    mu: str = "0"

    def __post_init__(self) -> None:
        if not 0 <= self.exact < 1:
            raise OptionError("word dropout must be at least 0 and below 1")

    @property
    def exact(self) -> Fraction:
        """``mu``."""
        return _exact(self.mu, "word dropout")

    def dropped(self, count: int, random_uint64: RandomUint64 | None = None) -> NDArray[np.bool_]:
        """Draws which of so many words are dropped: a fresh coin for each.

        Args:
            count: How many words.
            random_uint64: Source of randomness; the operating system's unless a test gives another.

        Returns:
            Shape ``(count,)``.
        """
        if not self.exact:
            return np.zeros(count, dtype=bool)
        return ReplacementCoin.of(self.exact).replaced((random_uint64 or entropy.random_uint64)(count))


def _exact(number: object, name: str) -> Fraction:
    """A decimal number as it is written."""
    text = number if isinstance(number, str) else "nan"
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    # Far exponents would become integers of as many digits.
    if not value.is_finite() or len(text) > 40 or not -30 <= value.adjusted() <= 30:
        raise OptionError(f"{name} is not a decimal number of a usable size")
    return Fraction(value)
