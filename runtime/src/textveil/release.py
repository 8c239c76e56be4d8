"""Privacy losses of an output, with a class for each type of epsilon, so that types cannot be confused.

An output can have several epsilons with different meanings:

* for any two texts (``WholeText``): local differential privacy;
* for one coordinate of a vector (``PerCoordinate``), as in Lyu, He, Li 2020. The epsilon of the whole text is
  ``dimension`` times larger;
* for two texts that differ in one token (``PerWord``). Random removal of words reduces this epsilon (Theorem 2 of the
  same paper);
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

#: A ledger sums spends in integer units: number of units of an epsilon of 1, and of a delta of 1.
EPSILON_UNITS, DELTA_UNITS = 1 << 20, 1 << 50


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """An upper bound of a privacy loss: an epsilon and a delta. Only losses of the same class can be compared.

    Attributes:
        epsilon: The epsilon, exact or rounded up.
        delta: The delta, exact or rounded up; 0 for pure differential privacy.
    """

    epsilon: Decimal
    delta: Decimal = Decimal(0)

    about: ClassVar[str] = ""

    def covers(self, other: Self) -> bool:
        """Return whether the epsilon and the delta of this loss are both at least those of another loss.

        Raises:
            MixedLossTypes: The other loss has another class.
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
        raise MixedLossTypes(f"a privacy loss for {self.about} is not a plain number: use its attribute epsilon")

    def __format__(self, spec: str) -> str:
        if spec:
            self.__float__()
        return str(self)

    def __str__(self) -> str:
        delta = f", delta {_format_number(self.delta)}" if self.delta else ""
        return f"epsilon {_format_number(self.epsilon)}{delta} for {self.about}"

    def _check_same_type(self, other: object) -> None:
        if type(other) is not type(self):
            raise MixedLossTypes(f"a privacy loss for {self.about} cannot be compared with a value of another type")


class WholeText(PrivacyLoss):
    """Privacy loss for any two texts, that is, local differential privacy."""

    about = "the whole text (any two texts)"


class PerCoordinate(PrivacyLoss):
    """Privacy loss (epsilon and delta), for any two texts, if an observer sees one coordinate of a vector."""

    about = "a single coordinate"


class PerToken(PrivacyLoss):
    """Privacy loss for two texts that differ in one token, for any two tokens."""

    about = "one token"


class PerDistance(PrivacyLoss):
    """Privacy loss for two texts that differ in one token, per unit of the distance between the two tokens.

    This is metric differential privacy: the loss grows with the distance.
    """

    about = "one token, per unit of distance"


class PerWord(PrivacyLoss):
    """Privacy loss for two texts that differ in one basic token, which is replaced or removed.

    A basic token is a sequence of letters and digits, or one punctuation mark; ``O'Brien`` has three. With word
    dropout, the loss depends on the probability ``mu`` of removing a token. For two texts that differ in ``j`` tokens,
    use ``mu ** j`` instead of ``mu``.
    """

    about = "two texts that differ in one token"


@dataclass(frozen=True)
class Spend:
    """Privacy loss of one output as a privacy ledger records it: an upper bound, in integer units.

    The bound means: for any two inputs ``x`` and ``y`` and any set of outputs, the probability of the set for ``x`` is
    at most ``exp(epsilon)`` times its probability for ``y``, plus ``delta``. Epsilon and delta are rounded up to units
    once per output, and sums of units are exact (docs/proofs/ledger.md).

    Attributes:
        epsilon_units: Epsilon in units of 2**-20; ``None`` if no finite bound is proven.
        delta_units: Delta in units of 2**-50.
    """

    epsilon_units: int | None
    delta_units: int = 0

    @classmethod
    def from_loss(cls, loss: PrivacyLoss, times: int = 1) -> "Spend":
        """Convert the privacy loss of ``times`` outputs with equal losses to the integer units of a privacy ledger."""
        return cls(
            _round_up_units(loss.epsilon, times * EPSILON_UNITS), _round_up_units(loss.delta, times * DELTA_UNITS)
        )


def _round_up_units(value: Decimal, units: int) -> int:
    """Return the integer ``value * units``, rounded up: a privacy loss in the units of the ledger.

    The function uses integer arithmetic, which is fast enough to be called for each row of a table.
    """
    numerator, denominator = value.as_integer_ratio()
    return -(-numerator * units // denominator)


#: The spend of a release without a finite bound.
UNBOUNDED_SPEND = Spend(None)


class ReleaseStatement(ABC):
    """Interface of privacy statements, which state the privacy guarantee of an output, such as its epsilon.

    A statement depends only on the output and on public parameters.
    """

    @property
    @abstractmethod
    def bundle_hash(self) -> str:
        """Content hash of the bundle (data folder) with which the output was created."""

    @property
    @abstractmethod
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The privacy losses of the output, at most one of each subclass of ``PrivacyLoss``."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """Name of the mechanism that randomized the text, such as ``staircase``."""

    @property
    @abstractmethod
    def spend(self) -> Spend:
        """Privacy loss of the whole output, as a privacy ledger records it.

        The loss depends only on public parameters and on the number of randomized words, never on the hidden words
        themselves.
        """

    @property
    @abstractmethod
    def not_protected(self) -> tuple[str, ...]:
        """Sentences that state what the output reveals in spite of the protection."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the privacy statement as plain values for JSON, which are safe to publish with the output."""

    @abstractmethod
    def summary(self) -> str:
        """Return the privacy statement in one line: for example, the epsilon for a text or for each word."""

    def _list_details(self) -> tuple[str, ...]:
        """Return the lines of a printed privacy statement between its summary and the bundle's (data folder's) hash."""
        return ()

    def __str__(self) -> str:
        lines = [self.summary(), *self._list_details(), f"bundle {self.bundle_hash}", "Not protected:"]
        return "\n".join(lines + [f"  - {item}" for item in self.not_protected])


def _format_number(value: Decimal) -> str:
    return f"{value.normalize():g}" if value else "0"


@lru_cache
def compute_largest_odds(epsilon: Decimal) -> int:
    """Compute ``e**epsilon``, rounded up to an integer.

    This is the largest factor by which an output can change an observer's odds between two inputs.
    """
    with localcontext(prec=50, rounding=ROUND_CEILING):
        return math.ceil(epsilon.exp() * (1 + Decimal(10) ** -40))


def round_up(value: float, decimals: int = 4) -> float:
    """Return ``value``, rounded up to ``decimals`` decimals. Use this for printing an upper bound."""
    scale = 10**decimals
    return math.ceil(value * scale) / scale


def round_down(value: float, decimals: int = 4) -> float:
    """Return ``value``, rounded down to ``decimals`` decimals. Use this for printing a lower bound."""
    scale = 10**decimals
    return math.floor(value * scale) / scale
