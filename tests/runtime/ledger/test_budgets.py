"""Accounts and budgets: what is counted, and what is refused."""

from decimal import Decimal
from typing import Any

import pytest
from small_ledger import entry
from textveil import Budget, Ledger, Sanitizer
from textveil.errors import BudgetError, InputError, LedgerError, OptionError
from textveil.release import NAT_UNITS, Charge, WholeText

TEXT = "The doctor, John's zorblax: the Doctor wasn't 5."


def test_every_draw_is_charged_and_said_to_be_a_further_one(small: Sanitizer, ledger: Ledger) -> None:
    before = [ledger.sanitize(small, TEXT, scope="letter").before for _ in range(3)]
    assert before == [0, 1, 2]
    assert [c.before for c in ledger.sanitize_batch(small, [TEXT, "doctor", "doctor"], scope="letter")] == [3, 0, 1]
    assert ledger.account("letter").epsilon == (4 * 51 // 2 + 17) * NAT_UNITS
    assert ledger.sanitize(small, TEXT, scope="another").before == 0
    assert ledger.account("unknown").epsilon == 0
    assert ledger.sanitize(small, TEXT, scope="letter", level="strong").before == 0


def test_each_text_can_have_a_scope_of_its_own(small: Sanitizer, ledger: Ledger) -> None:
    ledger.sanitize_batch(small, ["doctor", "nurse flu", "clinic"], scope=["a", "b", "a"])
    assert [ledger.account(scope).epsilon / NAT_UNITS for scope in "ab"] == [17, 17]
    with pytest.raises(OptionError, match=r"one scope for all texts, or one for each$"):
        ledger.sanitize_batch(small, ["doctor"], scope=["a", "b"])
    with pytest.raises(OptionError, match=r"^the name of a scope is a string$"):
        ledger.sanitize_batch(small, ["doctor"], scope=[5])  # type: ignore[list-item]
    for texts in ("doctor", ["doctor", 5]):
        with pytest.raises(InputError):
            ledger.sanitize_batch(small, texts)  # type: ignore[arg-type]


def test_a_budget_is_met_to_the_last_unit_and_not_beyond(small: Sanitizer, ledger: Ledger) -> None:
    budget = Budget.of("25.5")
    assert ledger.sanitize(small, TEXT, scope="a", budget=budget).before == 0
    with pytest.raises(BudgetError, match=r"does not cover this release: spent are 25.5 of 25.5 nats$"):
        ledger.sanitize(small, "doctor", scope="a")
    with pytest.raises(BudgetError, match=r"spent are 0 of 25.49 nats$"):
        ledger.sanitize(small, TEXT, scope="b", budget=Budget.of("25.49"))
    assert ledger.account("a").epsilon == budget.epsilon
    assert ledger.account("b").epsilon == 0
    ledger.sanitize(small, "the 5", scope="a")  # costs nothing


def test_a_refused_batch_releases_and_charges_nothing(small: Sanitizer, ledger: Ledger) -> None:
    with pytest.raises(BudgetError):
        ledger.sanitize_batch(small, ["doctor", "nurse", "flu"], scope=["a", "a", "b"], budget=Budget.of(8.5))
    assert ledger.accounts() == []
    ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(10))
    before = ledger.export()
    with pytest.raises(BudgetError):
        ledger.sanitize_batch(small, ["the", "doctor"], scope="a")
    assert ledger.export() == before


def test_a_budget_is_lowered_and_never_raised(small: Sanitizer, ledger: Ledger) -> None:
    ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(100))
    ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(50))
    assert ledger.account("a").budget == Budget.of(50)
    for larger in (Budget.of(51), Budget.of(10, "0.1")):
        with pytest.raises(BudgetError, match=r"a budget is lowered, and never raised$"):
            ledger.sanitize(small, "doctor", scope="a", budget=larger)
    with pytest.raises(BudgetError, match=r"spent are 17 of 16 nats$"):
        ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(16))
    assert ledger.account("a").budget == Budget.of(50)  # what was refused changed nothing


def test_delta_has_a_column_and_a_budget_of_its_own(ledger: Ledger) -> None:
    charge = Charge.of(WholeText(Decimal(1), Decimal("1e-6")))
    ledger.charge([entry("free", charge), entry("free", charge)])
    account = ledger.account("free")
    assert (account.spent, account.spent_delta) == ("2", "0.00000201")
    with pytest.raises(BudgetError):
        ledger.charge([entry("a", charge)], budget=Budget.of(100))
    ledger.charge([entry("a", charge)], budget=Budget.of(100, "1.5e-6"))
    with pytest.raises(BudgetError):
        ledger.charge([entry("a", charge)])


def test_what_has_no_finite_charge_is_recorded_and_refused_under_a_budget(tiny: Sanitizer, ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match=r"^santext\+ has no finite bound: no budget covers it$"):
        ledger.sanitize(tiny, "doctor", scope="a", mechanism="santext+", budget=Budget.of(10**6))
    ledger.sanitize(tiny, "doctor", scope="a", mechanism="santext+")
    assert str(ledger.account("a")) == "0 nats, and 1 release without a finite bound"
    with pytest.raises(BudgetError, match=r"^this scope has releases without a finite bound"):
        ledger.sanitize(tiny, "doctor", scope="a", mechanism="krr", epsilon=1, budget=Budget.of(10**6))
    ledger.sanitize(tiny, "doctor", scope="a", mechanism="krr", epsilon=1)


@pytest.mark.parametrize("wrong", ["-1", "x", "nan", "inf", "1e19", None, b"5", "1e999999999"])
def test_what_is_no_budget_is_refused(wrong: Any) -> None:
    for give in (Budget.of, lambda delta: Budget.of(1, delta)):
        with pytest.raises(OptionError, match=r"is a number, at least 0$"):
            give(wrong)


def test_sums_that_would_not_fit_are_refused(ledger: Ledger) -> None:
    ledger.charge([entry(charge=Charge(1 << 62))])
    with pytest.raises(LedgerError, match=r"beyond what a ledger counts$"):
        ledger.charge([entry()])
    assert ledger.account("scope").epsilon == 1 << 62
