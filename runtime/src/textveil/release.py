"""The privacy loss of a release, by type, so that no type is mistaken for another.

A release can have several epsilons, and printing one in place of another misleads readers:

* for any two texts (``WholeText``): local differential privacy;
* for one coordinate of a vector (``PerCoordinate``): this is the type of the epsilon of Lyu, He, Li 2020. The epsilon
  of the whole text is ``dimension`` times larger;
* for two texts that differ in one token (``PerWord``): random removal of words makes it smaller (their Theorem 2);
* for one token of a rewritten text (``PerToken``), or for one token per unit of word distance (``PerDistance``).

Comparing two types, or using a loss as a bare number, raises ``MixedLossTypes``.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from functools import lru_cache
from typing import Any, ClassVar, Self

from textveil.errors import MixedLossTypes

#: A ledger counts spend in integer units: the number of units of one nat, and of a delta of 1.
EPSILON_UNITS, DELTA_UNITS = 1 << 20, 1 << 50


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """An epsilon and a delta of one type. Only losses of the same type can be compared.

    Attributes:
        epsilon: Rounded up if it is not exact.
        delta: Rounded up if it is not exact; 0 for pure differential privacy.
    """

    epsilon: Decimal
    delta: Decimal = Decimal(0)

    about: ClassVar[str] = ""

    def covers(self, other: Self) -> bool:
        """Return whether this loss bounds the other: epsilon and delta are at least as large.

        Raises:
            MixedLossTypes: The other loss has another type.
        """
        self._check_same_type(other)
        return other.epsilon <= self.epsilon and other.delta <= self.delta

    def __eq__(self, other: object) -> bool:
        self._check_same_type(other)
        return isinstance(other, PrivacyLoss) and (self.epsilon, self.delta) == (other.epsilon, other.delta)

    def __hash__(self) -> int:
        return hash((type(self), self.epsilon, self.delta))

    def __lt__(self, other: object) -> bool:
        raise MixedLossTypes("privacy losses cannot be compared with < or >: use first.covers(second)")

    __le__ = __lt__

    def __gt__(self, other: object) -> bool:
        return self < other

    __ge__ = __gt__

    def __float__(self) -> float:
        raise MixedLossTypes(f"this is an epsilon for {self.about}, which a plain number would hide: use .epsilon")

    def __format__(self, spec: str) -> str:
        if spec:
            self.__float__()
        return str(self)

    def __str__(self) -> str:
        delta = f", delta {_format_number(self.delta)}" if self.delta else ""
        return f"epsilon {_format_number(self.epsilon)}{delta} for {self.about}"

    def _check_same_type(self, other: object) -> None:
        if type(other) is not type(self):
            raise MixedLossTypes(f"a privacy loss for {self.about} cannot be compared with another type of value")


class WholeText(PrivacyLoss):
    """Privacy loss between any two texts: local differential privacy."""

    about = "the whole text (any two texts)"


class PerCoordinate(PrivacyLoss):
    """Privacy loss between any two texts, for an observer who sees only one coordinate."""

    about = "a single coordinate"


class PerToken(PrivacyLoss):
    """Privacy loss between two texts that differ in one token, whatever the two tokens are."""

    about = "one token"


class PerDistance(PrivacyLoss):
    """Privacy loss between two texts that differ in one token, per unit of the tokens' distance.

    This is metric privacy: the loss is larger for two tokens that are farther apart.
    """

    about = "one token, per unit of distance"


class PerWord(PrivacyLoss):
    """Privacy loss between two texts that differ in one basic token: replaced, or removed.

    A basic token is a run of letters and digits, or one punctuation mark; ``O'Brien`` is three. With word dropout, the
    loss depends on the probability ``mu`` of removing a token. For two texts that differ in ``j`` tokens, ``mu ** j``
    takes the place of ``mu``.
    """

    about = "two texts that differ in one token"


@dataclass(frozen=True)
class Spend:
    """The spend of one release in a ledger: an upper bound of its privacy loss, in whole units.

    For any two inputs ``x`` and ``y`` that the bound covers, and any set of outputs, the probability of the set under
    ``x`` is at most ``exp(epsilon)`` times that under ``y``, plus ``delta``. Units are rounded up once per release, and
    their sums are exact (docs/proofs/ledger.md).

    Attributes:
        epsilon_units: Epsilon in units of 2**-20 nat; ``None`` if no finite bound is proven.
        delta_units: Delta in units of 2**-50.
    """

    epsilon_units: int | None
    delta_units: int = 0

    @classmethod
    def from_loss(cls, loss: PrivacyLoss, times: int = 1) -> "Spend":
        """Return the spend of ``times`` releases that have the same loss."""
        return cls(
            _round_up_units(loss.epsilon, times * EPSILON_UNITS), _round_up_units(loss.delta, times * DELTA_UNITS)
        )


def _round_up_units(value: Decimal, units: int) -> int:
    """Return ``value`` times ``units`` as an integer, rounded up.

    Integer arithmetic is fast enough for tables, which have one spend per row.
    """
    numerator, denominator = value.as_integer_ratio()
    return -(-numerator * units // denominator)


#: The spend of a release without a finite bound.
UNBOUNDED_SPEND = Spend(None)


class ReleaseStatement(ABC):
    """The privacy statement of a release of a text or a vector.

    It is a function of the output and of public parameters alone.
    """

    @property
    @abstractmethod
    def bundle_hash(self) -> str:
        """Content hash of the bundle that made the release."""

    @property
    @abstractmethod
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The privacy losses of the release, one of each type."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """Name of the mechanism."""

    @property
    @abstractmethod
    def spend(self) -> Spend:
        """The spend of the whole release.

        It depends only on public parameters and on the template of the text.
        """

    @property
    @abstractmethod
    def not_protected(self) -> tuple[str, ...]:
        """Information that the release reveals in spite of the noise, in plain words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON. They are safe to publish with the output."""

    @abstractmethod
    def summary(self) -> str:
        """Return one line for a terminal."""

    def _list_details(self) -> tuple[str, ...]:
        """Return the lines between the summary and the content hash of the bundle."""
        return ()

    def __str__(self) -> str:
        lines = [self.summary(), *self._list_details(), f"bundle {self.bundle_hash}", "Not protected:"]
        return "\n".join(lines + [f"  - {item}" for item in self.not_protected])


def _format_number(value: Decimal) -> str:
    return f"{value.normalize():g}" if value else "0"


@lru_cache
def compute_largest_odds(epsilon: Decimal) -> int:
    """Return ``e**epsilon``, rounded up.

    This is the largest factor by which an output can change the odds of two inputs.
    """
    with localcontext(prec=50, rounding=ROUND_CEILING):
        return math.ceil(epsilon.exp() * (1 + Decimal(10) ** -40))


def round_up(value: float, decimals: int = 4) -> float:
    """Return ``value`` rounded up to ``decimals`` decimals, as for a bound that is printed."""
    scale = 10**decimals
    return math.ceil(value * scale) / scale


def round_down(value: float, decimals: int = 4) -> float:
    """Return ``value`` rounded down to ``decimals`` decimals."""
    return -round_up(-value, decimals)
