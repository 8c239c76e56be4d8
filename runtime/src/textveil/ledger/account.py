"""Account of one privacy unit (such as a person): sum of privacy losses, and budget. All sums use integers."""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any, cast

from textveil.errors import BudgetError, LedgerError, OptionError
from textveil.formatting import format_count
from textveil.release import DELTA_UNITS, EPSILON_UNITS, Spend

#: Largest sum of epsilons or deltas, in integer units. SQLite stores signed 64-bit integers.
_MAX_UNITS = 1 << 62


@dataclass(frozen=True, init=False, repr=False)
class Budget:
    """Upper limit on the privacy loss of one privacy unit (such as a person): an epsilon and a delta, rounded down.

    The limits are stored in the integer units of the privacy ledger, so a budget is never larger than the value that
    the caller passes.

    Args:
        epsilon: Upper limit of the sum of epsilons, at least 0. A string or a ``Decimal`` is used exactly. A float
            counts as the decimal number that ``str`` returns for it.
        delta: Upper limit of the sum of deltas, at least 0. Only vectors of mode ``l2`` spend a delta. A budget with
            delta 0 refuses them.

    Attributes:
        units: The limits as two integers: epsilon in units of 2**-20, and delta in units of 2**-50.

    Raises:
        OptionError: A value is below 0, not finite, 10**19 or larger, or not a number.

    Example:
        >>> budget = Budget("59.99")
        >>> budget
        Budget(epsilon=59.9899997711181640625, delta=0)
        >>> budget.covers(59 << 20, 0), budget.covers(60 << 20, 0)
        (True, False)
    """

    units: tuple[int, int]

    def __init__(self, epsilon: int | float | str | Decimal, *, delta: int | float | str | Decimal = 0) -> None:
        units = (
            _parse_units(epsilon, EPSILON_UNITS, "a budget"),
            _parse_units(delta, DELTA_UNITS, "the delta of a budget"),
        )
        object.__setattr__(self, "units", units)

    @classmethod
    def from_units(cls, epsilon_units: int, delta_units: int) -> "Budget":
        """Create a budget from integers: an epsilon in units of 2**-20, and a delta in units of 2**-50."""
        budget = object.__new__(cls)
        object.__setattr__(budget, "units", (epsilon_units, delta_units))
        return budget

    @property
    def epsilon(self) -> Decimal:
        """Return the upper limit of epsilon as an exact decimal number."""
        return Decimal(format_exact(self.units[0], EPSILON_UNITS))

    @property
    def delta(self) -> Decimal:
        """Return the upper limit of delta as an exact decimal number."""
        return Decimal(format_exact(self.units[1], DELTA_UNITS))

    def covers(self, epsilon_units: int, delta_units: int) -> bool:
        """Return whether an epsilon and a delta are both within this budget.

        Args:
            epsilon_units: The epsilon, in units of 2**-20.
            delta_units: The delta, in units of 2**-50.
        """
        return epsilon_units <= self.units[0] and delta_units <= self.units[1]

    def __repr__(self) -> str:
        return f"Budget(epsilon={self.epsilon}, delta={self.delta})"


@dataclass(frozen=True, kw_only=True)
class Account:
    """Sum of the privacy losses of one privacy unit (such as a person), and its budget.

    Attributes:
        unit_tag: Keyed hash of the name of the privacy unit, 32 bytes.
        epsilon_units: Sum of the finite epsilons, in units of 2**-20.
        delta_units: Sum of the deltas, in units of 2**-50.
        unbounded_releases: Number of outputs without a finite epsilon.
        budget: Upper limit of the sums; ``None`` if there is no limit.

    Example:
        >>> account = Account(unit_tag=bytes(32), budget=Budget(60))
        >>> spent = account.add_spend(Spend(epsilon_units=8 << 20), "staircase")
        >>> spent.epsilon, spent.displayed_budget
        (Decimal('8'), '60')
    """

    unit_tag: bytes
    epsilon_units: int = 0
    delta_units: int = 0
    unbounded_releases: int = 0
    budget: Budget | None = None

    @property
    def epsilon(self) -> Decimal:
        """Return the sum of the spent epsilons as an exact decimal number."""
        return Decimal(format_exact(self.epsilon_units, EPSILON_UNITS))

    @property
    def delta(self) -> Decimal:
        """Return the sum of the spent deltas as an exact decimal number."""
        return Decimal(format_exact(self.delta_units, DELTA_UNITS))

    def apply_budget(self, budget: Budget) -> "Account":
        """Return a copy of this account with the given budget. A budget can only be lowered, never raised.

        Raises:
            BudgetError: The account already has a smaller budget.
        """
        if self.budget is not None and not self.budget.covers(*budget.units):
            raise self._make_error(
                "this privacy unit already has a smaller budget: a budget can be lowered but never raised"
            )
        return replace(self, budget=budget)

    def add_spend(self, spend: Spend, mechanism: str, before: "Account | None" = None) -> "Account":
        """Return a copy of this account to which the privacy loss of one more output is added.

        Args:
            spend: Privacy loss of the output.
            mechanism: Name of the mechanism, for error messages.
            before: Account whose sums appear in error messages; by default this account. For a call with several
                outputs, pass the account before the call.

        Raises:
            BudgetError: The account has a budget that does not cover the new sum; or the account has a budget, and this
                output or an earlier output has no finite epsilon.
            LedgerError: A sum exceeds the largest number that a privacy ledger stores, 2**62 units.
        """
        epsilon = self.epsilon_units + (spend.epsilon_units or 0)
        delta = self.delta_units + spend.delta_units
        unbounded = self.unbounded_releases + (spend.epsilon_units is None)
        before = before or self
        if max(epsilon, delta) > _MAX_UNITS:
            raise LedgerError(
                "the sum of this privacy unit exceeds the largest number that a ledger stores: use another unit"
            )
        if self.budget is not None:
            if spend.epsilon_units is None:
                raise before._make_error(
                    f"{mechanism} has no finite epsilon, so it exceeds every budget: use another mechanism, or a "
                    "privacy unit without a budget"
                )
            if unbounded:
                raise before._make_error(
                    "this privacy unit has releases without a finite epsilon, so it exceeds every budget: use "
                    "another privacy unit"
                )
            if not self.budget.covers(epsilon, delta):
                needed = Account(
                    unit_tag=b"", epsilon_units=epsilon - before.epsilon_units, delta_units=delta - before.delta_units
                )
                detail = f"{before} is spent, and the release needs at least {needed}"
                raise before._make_error(f"this release exceeds the budget of its privacy unit: {detail}")
        return replace(self, epsilon_units=epsilon, delta_units=delta, unbounded_releases=unbounded)

    def to_dict(self) -> dict[str, Any]:
        """Return the sums of epsilon and delta, and the budget, as a dictionary for JSON.

        The keys are ``privacy_unit`` (a tag, in place of the name), ``epsilon``, ``delta``, ``unbounded_releases`` (the
        number of outputs without a finite epsilon), ``budget_epsilon`` and ``budget_delta`` (``None`` without a
        budget). The sums and budgets are strings with exact decimals.
        """
        budget = self.budget
        return {
            "privacy_unit": self.unit_tag.hex(),
            "epsilon": format_exact(self.epsilon_units, EPSILON_UNITS),
            "delta": format_exact(self.delta_units, DELTA_UNITS),
            "unbounded_releases": self.unbounded_releases,
            "budget_epsilon": None if budget is None else format_exact(budget.units[0], EPSILON_UNITS),
            "budget_delta": None if budget is None else format_exact(budget.units[1], DELTA_UNITS),
        }

    def _make_error(self, message: str) -> BudgetError:
        limit = cast("Budget", self.budget)
        return BudgetError(
            message, spent=self.epsilon, budget=limit.epsilon, spent_delta=self.delta, budget_delta=limit.delta
        )

    @property
    def displayed_epsilon(self) -> str:
        """Return the spent epsilon as text for a terminal, rounded up to two decimals."""
        return _format_epsilon(self.epsilon_units)

    @property
    def displayed_delta(self) -> str:
        """Return the spent delta as text for a terminal, rounded up to three significant digits."""
        return _format_delta(self.delta_units)

    @property
    def displayed_budget(self) -> str:
        """Return the epsilon of the budget as text for a terminal, or ``-`` if there is no budget."""
        return "-" if self.budget is None else _format_epsilon(self.budget.units[0])

    def __str__(self) -> str:
        limit = "" if self.budget is None else f" of {self.displayed_budget}"
        delta = f", delta {self.displayed_delta}" if self.delta_units else ""
        unbounded = (
            f", and {format_count(self.unbounded_releases, 'release')} without a finite bound"
            if self.unbounded_releases
            else ""
        )
        return f"epsilon {self.displayed_epsilon}{limit}{delta}{unbounded}"


def format_exact(units: int, units_per_one: int) -> str:
    """Return ``units / units_per_one`` as an exact decimal number. ``units_per_one`` must be a power of two."""
    digits = units_per_one.bit_length() - 1
    whole, rest = divmod(units * 10**digits // units_per_one, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def _format_epsilon(units: int) -> str:
    """Format an epsilon for display, rounded up to two decimals. ``units`` are multiples of 2**-20."""
    hundredths = -(-100 * units // EPSILON_UNITS)
    whole, rest = divmod(hundredths, 100)
    return f"{whole:,}" + (f".{rest:02d}".rstrip("0") if rest else "")


def _format_delta(units: int) -> str:
    """Return a delta for display, rounded up to three significant digits. ``units`` are multiples of 2**-50."""
    with localcontext(prec=3, rounding=ROUND_CEILING):
        return f"{(Decimal(units) / DELTA_UNITS).normalize():g}"


def _parse_units(value: Any, units_per_one: int, name: str) -> int:
    """Convert a limit of a budget to integer units: ``value * units_per_one``, rounded down, at most ``_MAX_UNITS``.

    Raises:
        OptionError: ``value`` is not a number or below 0. The message contains ``name``.
    """
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number < 0 or number.adjusted() > 18:
        raise OptionError(f"{name} must be a number, at least 0")
    return min(math.floor(Fraction(number) * units_per_one), _MAX_UNITS)
