"""The public parameters of a noisy vector of a text, which determine its output distribution.

The parameters do not depend on the text, so they reveal nothing about it.
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
#: Largest epsilon of a single coordinate. At larger epsilons, some probabilities are too small for 64-bit words.
MAX_COORDINATE_EPSILON = 16


@dataclass(frozen=True, kw_only=True)
class ReleaseParameters:
    """The public parameters that determine the output distribution of a noisy vector.

    Attributes:
        mode: Set of permitted vectors before noise (``textveil.mechanisms.noise.vector``): ``"l1"``, ``"l2"`` or
            ``"box"``.
        dimension: Number of coordinates, from 1 to ``MAX_DIMENSION``. The mode ``box`` needs at least 2.
        grid: Number of integer steps per unit, from 1 to ``MAX_GRID``.
        epsilon: Epsilon for any two texts: a decimal number above 0, as a string.
        delta: Delta for any two texts in the mode ``l2``: a decimal number in ``(0, 1)``, as a string. ``None`` in all
            other modes.

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
                f"epsilon must be above 0 and at most {MAX_COORDINATE_EPSILON} (in the mode box, at most this number "
                "times the dimension)"
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
        """``delta`` as an exact fraction; 0 if ``delta`` is ``None``."""
        return _parse_exact(self.delta, "delta") if self.delta is not None else Fraction(0)

    @property
    def coordinate_loss(self) -> Fraction:
        """Largest privacy loss (epsilon) that a change of one coordinate of the vector can cause."""
        return self.exact_epsilon / (self.dimension if self.mode == BOX else 1)

    @property
    def lowest(self) -> int:
        """Smallest value that a coordinate may have before noise, in grid steps."""
        return 0 if self.mode == BOX else -self.grid

    @property
    def sensitivity(self) -> int:
        """Largest distance between the vectors of two texts, in steps: L2 distance in mode ``l2``, else L1 distance."""
        return self.dimension * self.grid if self.mode == BOX else 2 * self.grid

    @property
    def scale(self) -> Fraction:
        """Scale of discrete Laplace noise in grid steps: ``sensitivity / epsilon``.

        The mode ``l2`` has Gaussian noise instead.
        """
        return self.sensitivity / self.exact_epsilon

    def compute_rho(self, variance: int) -> Fraction:
        """Compute the parameter rho of zCDP that discrete Gaussian noise gives a vector in mode ``l2``.

        zCDP is zero-concentrated differential privacy (``textveil.mechanisms.noise.zcdp``).

        Args:
            variance: Variance parameter of the noise, in steps squared.
        """
        return Fraction(self.sensitivity**2, 2 * variance)


@dataclass(frozen=True)
class WordDropout:
    """Random removal of words before a text is encoded. Each whole word is removed with probability ``mu`` or more.

    Attributes:
        mu: The probability of removing a word, as the caller states it, in ``[0, 1)``, as a decimal string.

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
        """``mu``, the probability of removing a word, as an exact fraction."""
        return _parse_exact(self.mu, "word dropout")

    def draw_dropped(self, count: int, random_uint64: RandomUint64 | None = None) -> NDArray[np.bool_]:
        """Decide at random, independently for each word, which words to remove.

        Args:
            count: Number of words.
            random_uint64: Function that returns a given number of independent uniform 64-bit words; by default, the
                random generator of the operating system.

        Returns:
            For each word, whether to remove it; shape ``(count,)``.
        """
        if not self.exact:
            return np.zeros(count, dtype=bool)
        return ReplacementCoin.from_probability(self.exact).draw_replaced(
            (random_uint64 or entropy.random_uint64)(count)
        )


def _parse_exact(number: object, name: str) -> Fraction:
    """Convert a decimal string to an exact fraction.

    Args:
        number: A finite decimal number with an exponent from -30 to 30, as a string of at most 40 characters.
        name: Name of the number in the error message.

    Raises:
        OptionError: ``number`` is not of this form.
    """
    text = number if isinstance(number, str) else "nan"
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    # A number with a large exponent would become an integer with that many digits.
    if not value.is_finite() or len(text) > 40 or not -30 <= value.adjusted() <= 30:
        raise OptionError(f"{name} must be a decimal number of at most 40 characters, with an exponent from -30 to 30")
    return Fraction(value)
