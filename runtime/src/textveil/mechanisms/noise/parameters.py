"""The public parameters of a released vector. They determine its output distribution.

They reveal nothing about the text.
"""

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
#: Largest epsilon of a single coordinate. Beyond it 64-bit words make the far cells of a table too coarse.
MAX_COORDINATE_EPSILON = 16


@dataclass(frozen=True, kw_only=True)
class ReleaseParameters:
    """The public parameters that determine the output distribution of a release.

    Attributes:
        mode: ``"l1"``, ``"l2"`` or ``"box"``.
        dimension: Number of coordinates, from 1 (``box``: 2) to ``MAX_DIMENSION``.
        grid: Steps per unit, from 1 to ``MAX_GRID``.
        epsilon: Epsilon between any two texts: a decimal number above 0, as a string in the form to print.
        delta: The delta between any two texts, a decimal number in ``(0, 1)`` as a string; only with ``l2``, else
            ``None``.

    Raises:
        OptionError: A value is outside its range.

    Example:
        >>> parameters = ReleaseParameters(mode="l1", dimension=2, grid=100, epsilon="4")
        >>> parameters.sensitivity, parameters.scale
        (200, Fraction(50, 1))
    """

    mode: str
    dimension: int
    grid: int
    epsilon: str
    delta: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise OptionError("mode must be l1, l2 or box")
        if not (2 if self.mode == BOX else 1) <= self.dimension <= MAX_DIMENSION:
            raise OptionError(f"the dimension must be from 1 (box: 2) to {MAX_DIMENSION}")
        if not 1 <= self.grid <= MAX_GRID:
            raise OptionError(f"grid must be from 1 to {MAX_GRID} steps per unit")
        if not 0 < self.coordinate_loss <= MAX_COORDINATE_EPSILON:
            raise OptionError(
                f"epsilon must be above 0 and at most {MAX_COORDINATE_EPSILON}, in the mode box this number times the "
                "dimension"
            )
        if (self.delta is not None) != (self.mode == L2):
            raise OptionError("mode l2 needs a delta; l1 and box must not have one")
        if self.delta is not None and not 0 < self.exact_delta < 1:
            raise OptionError("delta must be above 0 and below 1")

    @property
    def exact_epsilon(self) -> Fraction:
        """``epsilon`` as an exact fraction."""
        return _parse_exact(self.epsilon, "epsilon")

    @property
    def exact_delta(self) -> Fraction:
        """``delta`` as an exact fraction, 0 without a delta."""
        return _parse_exact(self.delta, "delta") if self.delta is not None else Fraction(0)

    @property
    def coordinate_loss(self) -> Fraction:
        """The largest part of ``epsilon`` that one coordinate can cause."""
        return self.exact_epsilon / (self.dimension if self.mode == BOX else 1)

    @property
    def lowest(self) -> int:
        """The smallest value of a coordinate before noise, in steps."""
        return 0 if self.mode == BOX else -self.grid

    @property
    def sensitivity(self) -> int:
        """Largest distance between the vectors of two texts, in steps: L2 in mode ``l2``, else L1."""
        return self.dimension * self.grid if self.mode == BOX else 2 * self.grid

    @property
    def scale(self) -> Fraction:
        """Scale of discrete Laplace noise in steps, ``sensitivity / epsilon``; not for mode ``l2``."""
        return self.sensitivity / self.exact_epsilon

    def compute_rho(self, variance: int) -> Fraction:
        """Return the parameter rho of zCDP for discrete Gaussian noise, in mode ``l2``.

        zCDP is zero-concentrated differential privacy (``zcdp``). ``variance`` is in steps squared.
        """
        return Fraction(self.sensitivity**2, 2 * variance)


@dataclass(frozen=True)
class WordDropout:
    """Word dropout before the encoder: removes each whole word with probability ``mu`` or more.

    Attributes:
        mu: The stated probability of removing a word, in ``[0, 1)``.

    Example:
        >>> dropout = WordDropout("0.5")
        >>> dropout.exact, dropout.draw_dropped(3).shape
        (Fraction(1, 2), (3,))
    """

    mu: str = "0"

    def __post_init__(self) -> None:
        if not 0 <= self.exact < 1:
            raise OptionError("word dropout must be at least 0 and below 1")

    @property
    def exact(self) -> Fraction:
        """``mu`` as an exact fraction."""
        return _parse_exact(self.mu, "word dropout")

    def draw_dropped(self, count: int, random_uint64: RandomUint64 | None = None) -> NDArray[np.bool_]:
        """Sample which words are dropped, independently for each word.

        Args:
            count: Number of words.
            random_uint64: Source of randomness; the operating system's by default, another one in tests.

        Returns:
            Shape ``(count,)``, true for a dropped word.
        """
        if not self.exact:
            return np.zeros(count, dtype=bool)
        return ReplacementCoin.from_probability(self.exact).draw_replaced(
            (random_uint64 or entropy.random_uint64)(count)
        )


def _parse_exact(number: object, name: str) -> Fraction:
    """Return the exact value of a decimal string.

    Raises:
        OptionError: The value is not a string of at most 40 characters that has a finite decimal number with an
            exponent from -30 to 30.
    """
    text = number if isinstance(number, str) else "nan"
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    # A far exponent would expand to an integer with as many digits.
    if not value.is_finite() or len(text) > 40 or not -30 <= value.adjusted() <= 30:
        raise OptionError(f"{name} must be a decimal number of at most 40 characters, with an exponent from -30 to 30")
    return Fraction(value)
