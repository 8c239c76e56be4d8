"""Several processes, threads and forks share one ledger: no spend is lost, and a budget holds."""

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from small_ledger import entry, in_a_copy
from textveil import Budget, Ledger
from textveil.errors import BudgetError, LedgerBusy
from textveil.ledger import database
from textveil.release import EPSILON_UNITS, Spend

ENTRY = entry("scope", Spend(3))


def many(path: Path, processes: int, charges: int) -> None:
    """Charges one ledger from several processes, which meet at its first use."""

    def work() -> None:
        ledger = Ledger(path)
        for _ in range(charges):
            ledger.record_spends([ENTRY])

    for child in [in_a_copy(work) for _ in range(processes)]:
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("charges", [5, pytest.param(250, marks=pytest.mark.full)])
def test_processes_lose_no_charge(path: Path, charges: int) -> None:
    many(path, 8, charges)
    ((account, releases),) = Ledger(path).list_accounts()
    print(f"8 processes: {releases:,} charges of 3 units, {account.epsilon_units:,} units")
    assert (account.epsilon_units, releases) == (3 * 8 * charges, 8 * charges)


def test_processes_stay_within_one_budget(path: Path) -> None:
    Ledger(path)
    budget = Budget(100)

    def work() -> None:
        ledger = Ledger(path)
        for _ in range(15):  # one more than the budget has room for
            try:
                ledger.record_spends([entry("scope", Spend(7 * EPSILON_UNITS))], budget=budget)
            except BudgetError:
                os._exit(0)
        os._exit(1)

    assert [os.waitpid(child, 0)[1] for child in [in_a_copy(work) for _ in range(4)]] == [0] * 4
    assert Ledger(path).get_account("scope").epsilon_units == 98 * EPSILON_UNITS


THREADS_AND_FORKS = """
import os, sys, threading
from textveil.ledger import SpendEntry, Ledger
from textveil.release import Spend
ledger, children = Ledger(sys.argv[1]), []
entry = SpendEntry(privacy_unit="scope", request=b"request", mechanism="staircase", spend=Spend(3))

def charges():
    for number in range(12):
        ledger.record_spends([entry])
        if number % 4 == 0:  # while other threads have connections open
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    for _ in range(3):
                        ledger.record_spends([entry])
                    status = 0
                finally:
                    os._exit(status)
            children.append(child)

threads = [threading.Thread(target=charges) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit([os.waitpid(child, 0)[1] for child in children] != [0] * 12)
"""


def test_threads_and_forks_lose_no_charge(path: Path) -> None:
    """It runs in a process of its own: libraries of other tests refuse forks while their threads run."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", THREADS_AND_FORKS, path], check=True, timeout=300)
    assert Ledger(path).get_account("scope").epsilon_units == 3 * (4 * 12 + 12 * 3)


def test_a_fork_waits_until_no_transaction_is_open(path: Path) -> None:
    """SQLite stores locks by process: a copy would assume that it holds those of its original."""
    ledger, is_open, entered = Ledger(path), [], threading.Event()

    def hold() -> None:
        with database.open_transaction(ledger.path):
            is_open.append(True)
            entered.set()
            threading.Event().wait(0.2)
            is_open.clear()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    child = in_a_copy(lambda: os._exit(len(is_open)))
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_ledger_that_stays_locked_is_a_named_error(path: Path) -> None:
    ledger = Ledger(path, wait_s=0.05)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerBusy, match=r"^another process has locked the ledger; nothing was released: try again$"):
        ledger.record_spends([ENTRY])
    other.execute("ROLLBACK")
    other.close()
    ledger.record_spends([ENTRY])
