"""The account of one scope: what it has spent, its budget, and what it refuses. Whole units, no floating point."""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any, cast

from textveil.errors import BudgetError, LedgerError, OptionError
from textveil.release import DELTA_UNITS, NAT_UNITS, Charge, counted

#: A sum is refused before SQLite's integers end.
_MOST_UNITS = 1 << 62


@dataclass(frozen=True, init=False, repr=False)
class Budget:
    """The most that a scope may spend: nats, and a delta, each rounded down to what a ledger counts.

    Args:
        epsilon: In nats. A string or a ``Decimal`` is taken as it is written, a float as it is printed.
        delta: Only vectors of mode ``l2`` have one: without it these are refused.

    Attributes:
        units: What is counted with: nats in units of 2**-20, and the delta in units of 2**-50.

    Raises:
        OptionError: A value is below 0, too large, or no number.
    """

    units: tuple[int, int]

    def __init__(self, epsilon: int | float | str | Decimal, *, delta: int | float | str | Decimal = 0) -> None:
        units = (_units(epsilon, NAT_UNITS, "a budget"), _units(delta, DELTA_UNITS, "the delta of a budget"))
        object.__setattr__(self, "units", units)

    @classmethod
    def of_units(cls, epsilon_units: int, delta_units: int) -> "Budget":
        """Returns the budget of so many units."""
        made = object.__new__(cls)
        object.__setattr__(made, "units", (epsilon_units, delta_units))
        return made

    @property
    def epsilon(self) -> Decimal:
        """Nats, exactly."""
        return Decimal(exact(self.units[0], NAT_UNITS))

    @property
    def delta(self) -> Decimal:
        """The delta, exactly."""
        return Decimal(exact(self.units[1], DELTA_UNITS))

    def covers(self, epsilon_units: int, delta_units: int) -> bool:
        """Tells whether so many units are no more than this."""
        return epsilon_units <= self.units[0] and delta_units <= self.units[1]

    def __repr__(self) -> str:
        return f"Budget(epsilon={self.epsilon}, delta={self.delta})"


@dataclass(frozen=True, kw_only=True)
class Account:
    """What one scope has spent.

    Attributes:
        scope: Tag of the scope's name, 32 bytes.
        epsilon_units: Sum of the finite charges, in units of 2**-20 nat.
        delta_units: The same, in units of 2**-50.
        unbounded: Releases without a finite charge.
        budget: The most that may be spent, or ``None``.
    """

    scope: bytes
    epsilon_units: int = 0
    delta_units: int = 0
    unbounded: int = 0
    budget: Budget | None = None

    @property
    def nats(self) -> Decimal:
        """Spent nats, exactly."""
        return Decimal(exact(self.epsilon_units, NAT_UNITS))

    @property
    def delta(self) -> Decimal:
        """Spent delta, exactly."""
        return Decimal(exact(self.delta_units, DELTA_UNITS))

    def limited(self, budget: Budget) -> "Account":
        """Returns the account with a budget: its first one, or one that is no larger.

        Raises:
            BudgetError: The scope has a smaller budget.
        """
        if self.budget is not None and not self.budget.covers(*budget.units):
            raise self._refusal("this scope has a smaller budget: a budget can only be lowered")
        return replace(self, budget=budget)

    def after(self, charge: Charge, mechanism: str, spent: "Account | None" = None) -> "Account":
        """Returns the account after a draw; ``spent`` is what it was before the release that the draw is a part of.

        Raises:
            BudgetError: The budget does not cover it.
            LedgerError: The sum is beyond what is counted.
        """
        epsilon = self.epsilon_units + (charge.epsilon_units or 0)
        delta = self.delta_units + charge.delta_units
        unbounded = self.unbounded + (charge.epsilon_units is None)
        spent = spent or self
        if max(epsilon, delta) > _MOST_UNITS:
            raise LedgerError("the sum of this scope is beyond what a ledger counts")
        if self.budget is not None:
            if charge.epsilon_units is None:
                raise spent._refusal(f"{mechanism} has no finite bound: no budget covers it")
            if unbounded:
                raise spent._refusal("this scope has releases without a finite bound: no budget holds for it")
            if not self.budget.covers(epsilon, delta):
                needs = Account(
                    scope=b"", epsilon_units=epsilon - spent.epsilon_units, delta_units=delta - spent.delta_units
                )
                said = f"{spent} are spent, and it needs at least {needs}"
                raise spent._refusal(f"this release does not fit the budget of its scope: {said}")
        return replace(self, epsilon_units=epsilon, delta_units=delta, unbounded=unbounded)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON; numbers that are not whole are exact decimals, as strings."""
        budget = self.budget
        return {
            "scope": self.scope.hex(),
            "nats": exact(self.epsilon_units, NAT_UNITS),
            "delta": exact(self.delta_units, DELTA_UNITS),
            "unbounded": self.unbounded,
            "budget_nats": None if budget is None else exact(budget.units[0], NAT_UNITS),
            "budget_delta": None if budget is None else exact(budget.units[1], DELTA_UNITS),
        }

    def _refusal(self, message: str) -> BudgetError:
        limit = cast("Budget", self.budget)
        return BudgetError(
            message, spent=self.nats, budget=limit.epsilon, spent_delta=self.delta, budget_delta=limit.delta
        )

    @property
    def spent(self) -> str:
        """Spent nats, as they are printed: rounded up."""
        return _shown(self.epsilon_units)

    @property
    def spent_delta(self) -> str:
        """Spent delta, as it is printed: rounded up."""
        return _shown_delta(self.delta_units)

    @property
    def limit(self) -> str:
        """The budget in nats, as it is printed; ``-`` where there is none."""
        return "-" if self.budget is None else _shown(self.budget.units[0])

    def __str__(self) -> str:
        limit = "" if self.budget is None else f" of {self.limit}"
        delta = f", delta {self.spent_delta}" if self.delta_units else ""
        unbounded = f", and {counted(self.unbounded, 'release')} without a finite bound" if self.unbounded else ""
        return f"{self.spent}{limit} nats{delta}{unbounded}"


def exact(units: int, per: int) -> str:
    """Returns a number of units as a decimal number, exactly; ``per`` is a power of two."""
    digits = per.bit_length() - 1
    whole, rest = divmod(units * 10**digits // per, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def _shown(units: int) -> str:
    """Nats with two decimals at most, rounded up."""
    hundredths = -(-100 * units // NAT_UNITS)
    whole, rest = divmod(hundredths, 100)
    return f"{whole:,}" + (f".{rest:02d}".rstrip("0") if rest else "")


def _shown_delta(units: int) -> str:
    """A delta with three digits, rounded up."""
    with localcontext(prec=3, rounding=ROUND_CEILING):
        return f"{(Decimal(units) / DELTA_UNITS).normalize():g}"


def _units(value: Any, per: int, what: str) -> int:
    """A number in whole units, rounded down."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number < 0 or number.adjusted() > 18:
        raise OptionError(f"{what} is a number, at least 0")
    return min(math.floor(Fraction(number) * per), _MOST_UNITS)
