"""Charges of threads that wait together: one transaction, each as if it were alone."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lost_writes import disks
from small_ledger import entry
from textveil import Budget, Ledger
from textveil.errors import BudgetError, LedgerDamaged, LedgerError
from textveil.ledger import SpendOutcome, database
from textveil.release import EPSILON_UNITS, Spend

Outcome = list[SpendOutcome] | Exception


def together(ledger: Ledger, calls: list[Callable[[], list[SpendOutcome]]]) -> list[Outcome]:
    """Make calls in threads that all wait before the first of them writes; return their results."""
    outcomes: list[Outcome] = [[] for _ in calls]

    def call(place: int) -> None:
        try:
            outcomes[place] = calls[place]()
        except LedgerError as error:
            outcomes[place] = error

    threads = [threading.Thread(target=call, args=(place,)) for place in range(len(calls))]
    queue = ledger._group_commit._queue  # pyright: ignore[reportPrivateUsage]
    with queue.condition:
        queue.is_writing = True
    for waiting, thread in enumerate(threads, 1):
        thread.start()
        while len(queue.calls) < waiting:
            threading.Event().wait(0.001)
    with queue.condition:
        queue.is_writing = False
        queue.condition.notify_all()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each transaction of a ledger."""
    seen, real = list[int](), database.open_transaction

    def counted(*path: Path, **options: Any) -> Any:
        seen.append(1)
        return real(*path, **options)

    monkeypatch.setattr("textveil.ledger.ledger.open_transaction", counted)
    return seen


def test_those_that_wait_share_one_transaction(ledger: Ledger, commits: list[int]) -> None:
    outcomes = together(ledger, [lambda: ledger.record_spends([entry("scope", Spend(3))])] * 12)
    assert commits == [1]
    assert sorted(outcome[0].earlier_releases for outcome in outcomes if isinstance(outcome, list)) == list(range(12))
    ((account, releases),) = ledger.list_accounts()
    assert (account.epsilon_units, releases) == (36, 12)


def test_a_budget_holds_among_them(ledger: Ledger, commits: list[int]) -> None:
    calls = [lambda: ledger.record_spends([entry("scope", Spend(7 * EPSILON_UNITS))], budget=Budget(30))] * 8
    outcomes = together(ledger, calls)
    assert commits == [1]
    assert sum(isinstance(outcome, BudgetError) for outcome in outcomes) == 4
    assert ledger.get_account("scope").epsilon_units == 28 * EPSILON_UNITS


def test_one_that_fails_takes_none_with_it(ledger: Ledger) -> None:
    ledger.record_spends([entry("damaged")])
    with database.open_transaction(ledger.path) as connection:
        connection.execute("UPDATE privacy_units SET epsilon = 2")
    calls = [
        lambda scope=scope: ledger.record_spends([entry(scope, Spend(3))])
        for scope in ("a", "b", "damaged", "a", "damaged")
    ]
    a, b, damaged, again, too = together(ledger, calls)
    assert (a, b) == ([SpendOutcome(0)], [SpendOutcome(0)]) or again == [SpendOutcome(0)]
    assert isinstance(damaged, LedgerDamaged)
    assert isinstance(too, LedgerDamaged)
    assert (ledger.get_account("a").epsilon_units, ledger.get_account("b").epsilon_units) == (6, 3)


def test_none_returns_where_the_commit_fails(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def full(*path: Path, **options: Any) -> Generator[Any]:
        with database.open_transaction(*path, **options) as connection:
            yield connection
            raise LedgerError("full")

    monkeypatch.setattr("textveil.ledger.ledger.open_transaction", full)
    assert set(map(str, together(ledger, [lambda: ledger.record_spends([entry("scope")])] * 3))) == {"full"}
    monkeypatch.undo()
    assert ledger.list_accounts() == []


CHARGES = """
import os, sys, threading
from textveil.storage import atomic_writes
from textveil.ledger import SpendEntry, Ledger, database
from textveil.release import Spend
atomic_writes.open_unnamed_file = lambda folder: None  # so that the trace sees names
ledger, one = Ledger(sys.argv[1] + "/ledger"), threading.Lock()
def charge(what):
    ledger.record_spends([SpendEntry(privacy_unit="scope", request=what, mechanism="staircase", spend=Spend(1))])
    with one:
        os.write(1, what + b"\\n")
for group in range(2):
    threads = [threading.Thread(target=charge, args=(b"%d" % (3 * group + number),)) for number in range(3)]
    queue = ledger._group_commit._queue
    queue.is_writing = True
    for waiting, thread in enumerate(threads, 1):
        thread.start()
        while len(queue.calls) < waiting:
            pass
    with queue.condition:
        queue.is_writing = False
        queue.condition.notify_all()
    for thread in threads:
        thread.join()
"""


@pytest.mark.slow
def test_no_charge_of_a_group_is_lost_when_unflushed_writes_are(folder: Path) -> None:
    """All of a group are on the disk or none, and each before its output leaves."""
    found = set[int]()
    for disk, left in disks(CHARGES, folder):
        if not (disk / "ledger").exists() or not (disk / "ledger").read_bytes():
            assert left == b""
            continue
        ledger = Ledger(disk / "ledger")
        ledger.list_accounts()
        assert all(ledger.count_releases("scope", output) for output in left.split())
        found.add(ledger.get_account("scope").epsilon_units)
    assert found == {0, 3, 6}
