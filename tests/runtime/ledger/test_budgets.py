"""Accounts count every spend, and a budget refuses a spend above it."""

import pickle
import traceback
from decimal import Decimal
from typing import Any

import pytest
from small_ledger import entry
from textveil import Budget, Ledger, Sanitizer
from textveil.errors import BudgetError, InputError, LedgerError, OptionError
from textveil.release import EPSILON_UNITS, Spend, WholeText

TEXT = "The doctor, John's zorblax: the Doctor wasn't 5."


def test_every_draw_is_charged_and_said_to_be_a_further_one(small: Sanitizer, ledger: Ledger) -> None:
    before = [ledger.sanitize(small, TEXT, privacy_unit="letter").earlier_releases for _ in range(3)]
    assert before == [0, 1, 2]
    assert [
        c.earlier_releases for c in ledger.sanitize_batch(small, [TEXT, "doctor", "doctor"], privacy_unit="letter")
    ] == [3, 0, 1]
    assert ledger.get_account("letter").epsilon_units == (4 * 51 // 2 + 17) * EPSILON_UNITS
    assert ledger.sanitize(small, TEXT, privacy_unit="another").earlier_releases == 0
    assert ledger.get_account("unknown").epsilon_units == 0
    assert ledger.sanitize(small, TEXT, privacy_unit="letter", epsilon=6).earlier_releases == 0


def test_each_text_can_have_a_scope_of_its_own(small: Sanitizer, ledger: Ledger) -> None:
    ledger.sanitize_batch(small, ["doctor", "nurse flu", "clinic"], privacy_unit=["a", "b", "a"])
    assert [ledger.get_account(scope).epsilon_units / EPSILON_UNITS for scope in "ab"] == [17, 17]
    with pytest.raises(
        OptionError, match=r"privacy_unit must be one name for all texts, or a list with one name for each text"
    ):
        ledger.sanitize_batch(small, ["doctor"], privacy_unit=["a", "b"])
    with pytest.raises(OptionError, match=r"^a privacy unit must be a string$"):
        ledger.sanitize_batch(small, ["doctor"], privacy_unit=[5])  # type: ignore[list-item]
    with pytest.raises(InputError):
        ledger.sanitize_batch(small, ["doctor", 5])  # type: ignore[list-item]


def test_a_budget_is_met_to_the_last_unit_and_not_beyond(small: Sanitizer, ledger: Ledger) -> None:
    budget = Budget("25.5")
    assert ledger.sanitize(small, TEXT, privacy_unit="a", budget=budget).earlier_releases == 0
    with pytest.raises(
        BudgetError,
        match=r": epsilon 25.5 of 25.5 is spent, and the release needs at least epsilon 8.5$",
    ):
        ledger.sanitize(small, "doctor", privacy_unit="a")
    with pytest.raises(BudgetError, match=r"epsilon 0 of 25.49 is spent, and the release needs at least epsilon 25.5$"):
        ledger.sanitize(small, TEXT, privacy_unit="b", budget=Budget("25.49"))
    assert ledger.get_account("a").epsilon_units == budget.units[0]
    assert ledger.get_account("b").epsilon_units == 0
    ledger.sanitize(small, "the 5", privacy_unit="a")  # costs nothing
    with pytest.raises(OptionError, match=r"^budget must be a Budget object, such as Budget\(60\)$"):
        ledger.sanitize(small, TEXT, privacy_unit="a", budget=60)  # type: ignore[arg-type]


def test_a_refused_batch_releases_and_charges_nothing(small: Sanitizer, ledger: Ledger) -> None:
    with pytest.raises(BudgetError):
        ledger.sanitize_batch(small, ["doctor", "nurse", "flu"], privacy_unit=["a", "a", "b"], budget=Budget(10))
    assert [(account.epsilon_units, releases) for account, releases in ledger.list_accounts()] == [(0, 0), (0, 0)]
    ledger.sanitize(small, "doctor", privacy_unit="a")
    before = ledger.export()
    with pytest.raises(BudgetError):
        ledger.sanitize_batch(small, ["the", "doctor"], privacy_unit="a")
    assert ledger.export() == before


def test_a_refused_batch_counts_none_of_its_own_draws_as_spent(small: Sanitizer, ledger: Ledger) -> None:
    """The message names the epsilon that the batch needs, up to the first refused spend. Earlier groups are spent."""
    for spent, needed in (("0", "25.5"), ("8.5", "17")):
        with pytest.raises(
            BudgetError, match=rf": epsilon {spent} of 20 is spent, and the release needs at least epsilon {needed}$"
        ) as caught:
            ledger.sanitize_batch(small, ["doctor", "nurse", "flu", "clinic"], privacy_unit="a", budget=Budget(20))
        assert (caught.value.spent, ledger.get_account("a").displayed_epsilon) == (Decimal(spent), spent)
        if spent == "0":
            ledger.sanitize(small, "doctor", privacy_unit="a")
    groups = [[entry("b", Spend(nats * EPSILON_UNITS))] for nats in (4, 5)]
    for together, said in (
        (True, "epsilon 0 of 8 is spent, and the release needs at least epsilon 9"),
        (False, "epsilon 4 of 8 is spent, and the release needs at least epsilon 5"),
    ):
        refused = ledger.record_groups(groups, budget=Budget(8), all_or_none=together)[1]
        assert str(refused).endswith(f": {said}")


def test_a_budget_is_lowered_and_never_raised(small: Sanitizer, ledger: Ledger) -> None:
    ledger.sanitize(small, "doctor", privacy_unit="a", budget=Budget(100))
    ledger.sanitize(small, "doctor", privacy_unit="a", budget=Budget(50))
    assert ledger.get_account("a").budget == Budget(50)
    for larger in (Budget(51), Budget(10, delta="0.1")):
        with pytest.raises(
            BudgetError,
            match=r"this privacy unit already has a smaller budget: a budget can be lowered but never raised",
        ):
            ledger.sanitize(small, "doctor", privacy_unit="a", budget=larger)
    with pytest.raises(BudgetError, match=r"epsilon 17 of 16 is spent, and the release needs at least epsilon 8.5$"):
        ledger.sanitize(small, "doctor", privacy_unit="a", budget=Budget(16))
    assert ledger.get_account("a").budget == Budget(16)


def test_a_budget_is_kept_whatever_is_refused(ledger: Ledger) -> None:
    """The refused spend is its own, another of its batch, or that of a privacy unit with a smaller budget."""

    def refused(*scopes: str, budget: float, nats: int = 1) -> None:
        groups = [[entry(scope, Spend(nats * EPSILON_UNITS))] for scope in scopes]
        for together in (True, False):
            outcomes = ledger.record_groups(groups, budget=Budget(budget), all_or_none=together)
            assert any(isinstance(outcome, BudgetError) for outcome in outcomes)

    def budgets() -> list[Budget | None]:
        return [Ledger(ledger.path).get_account(scope).budget for scope in "abc"]

    refused("a", budget=0.5)
    assert budgets() == [Budget(0.5), None, None]
    ledger.record_spends([entry("b")], budget=Budget(9))
    refused("b", budget=7, nats=8)
    assert budgets() == [Budget(0.5), Budget(7), None]
    refused("c", "a", "b", budget=0.75)  # that of a is smaller already, and stays
    assert budgets() == [Budget(0.5), Budget(0.75), Budget(0.75)]
    with pytest.raises(
        BudgetError, match=r"this privacy unit already has a smaller budget: a budget can be lowered but never raised"
    ):
        ledger.record_spends([entry("a"), entry("b")], budget=Budget(0.625))
    assert budgets() == [Budget(0.5), Budget(0.625), Budget(0.75)]
    assert ledger.get_account("a").epsilon_units == 0


def test_a_refusal_says_what_was_spent_of_which_budget_in_which_scope(small: Sanitizer, ledger: Ledger) -> None:
    ledger.sanitize(small, "doctor", privacy_unit="Anna", budget=Budget("12.0000001", delta="0.25"))
    with pytest.raises(BudgetError) as caught:
        ledger.sanitize(small, "doctor", privacy_unit="Anna")
    error = caught.value
    assert (error.spent, error.spent_delta, error.budget_delta) == (Decimal("8.5"), Decimal(0), Decimal("0.25"))
    assert error.budget == Decimal(12) + Decimal(0)  # whole units, rounded down
    assert error.privacy_unit == "Anna"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))
    of_a_row = error.with_message("people.csv, row 3")
    assert (str(of_a_row), vars(of_a_row)) == ("people.csv, row 3", vars(error))
    for shown in (str(error), repr(error), "".join(traceback.format_exception(error))):
        assert "Anna" not in shown.replace('privacy_unit="Anna"', "")
    for wrong in (lambda: ledger.record_spends([entry("Anna")], budget=Budget(99)), lambda: unbounded(ledger, "Anna")):
        with pytest.raises(BudgetError) as caught:
            wrong()
        assert (caught.value.privacy_unit, caught.value.spent, caught.value.budget) == (
            "Anna",
            Decimal("8.5"),
            error.budget,
        )


def unbounded(ledger: Ledger, scope: str) -> None:
    ledger.record_spends([entry(scope, Spend(None))])


def test_a_budget_is_in_nats(ledger: Ledger) -> None:
    """A positional budget is too. It counts in whole units, without floating point."""
    for sixty in (60, 60.0, "60", Decimal(60), "6e1"):
        assert Budget(sixty) == Budget(epsilon=sixty, delta=0) == Budget("60", delta="0")
        assert Budget(sixty).units == (60 * EPSILON_UNITS, 0)
        assert (Budget(sixty).epsilon, Budget(sixty).delta) == (60, 0)
    assert repr(Budget(25.5, delta="0.5")) == "Budget(epsilon=25.5, delta=0.5)"
    tenth = Budget("0.1", delta="1e-6")
    assert tenth.epsilon == Decimal(EPSILON_UNITS // 10) / EPSILON_UNITS < Decimal("0.1")
    assert Budget(tenth.epsilon, delta=tenth.delta) == tenth == pickle.loads(pickle.dumps(tenth))
    assert Budget("4398046511103.99999904632568359375").epsilon == Decimal("4398046511103.99999904632568359375")
    with pytest.raises(TypeError):
        Budget(60, 1)  # type: ignore[misc]  # whose unit nobody could tell


def test_delta_has_a_column_and_a_budget_of_its_own(ledger: Ledger) -> None:
    charge = Spend.from_loss(WholeText(Decimal(1), Decimal("1e-6")))
    ledger.record_spends([entry("free", charge), entry("free", charge)])
    account = ledger.get_account("free")
    assert (account.displayed_epsilon, account.displayed_delta) == ("2", "0.00000201")
    with pytest.raises(BudgetError):
        ledger.record_spends([entry("a", charge)], budget=Budget(100))
    ledger.record_spends([entry("b", charge)], budget=Budget(100, delta="1.5e-6"))
    with pytest.raises(BudgetError):
        ledger.record_spends([entry("b", charge)])


def test_what_has_no_finite_charge_is_recorded_and_refused_under_a_budget(tiny: Sanitizer, ledger: Ledger) -> None:
    with pytest.raises(
        BudgetError,
        match=r"^santext\+ has no finite epsilon, so it exceeds every budget: use another",
    ):
        ledger.sanitize(tiny, "doctor", privacy_unit="a", mechanism="santext+", budget=Budget(10**6))
    ledger.sanitize(tiny, "doctor", privacy_unit="b", mechanism="santext+")
    assert str(ledger.get_account("b")) == "epsilon 0, and 1 release without a finite bound"
    ledger.sanitize(tiny, "doctor", privacy_unit="b", mechanism="krr", epsilon=1)
    with pytest.raises(
        BudgetError,
        match=r"^this privacy unit has releases without a finite epsilon, so it exceeds every budget: use "
        r"another privacy unit",
    ):
        ledger.sanitize(tiny, "doctor", privacy_unit="b", mechanism="krr", epsilon=1, budget=Budget(10**6))


@pytest.mark.parametrize("wrong", ["-1", "x", "nan", "inf", "1e19", None, b"5", "1e999999999"])
def test_what_is_no_budget_is_refused(wrong: Any) -> None:
    for give in (Budget, lambda delta: Budget(1, delta=delta)):
        with pytest.raises(OptionError, match=r"must be a number, at least 0"):
            give(wrong)


def test_sums_that_would_not_fit_are_refused(ledger: Ledger) -> None:
    ledger.record_spends([entry(charge=Spend(1 << 62))])
    with pytest.raises(LedgerError, match=r"largest number that a ledger stores: use another unit$"):
        ledger.record_spends([entry()])
    assert ledger.get_account("scope").epsilon_units == 1 << 62
