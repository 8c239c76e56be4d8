"""Power cuts while a ledger stores outputs, forgets a scope or the outputs, or gets a new key.

Of charges see test_ledger_durability.py, which also shows that the simulated disk finds weaker flushes.
"""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from lost_writes import disks
from small_ledger import entry
from textveil import Ledger
from textveil.errors import KeyFileError, LedgerDamaged

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")]

BEGIN = """
import os, sys
from textveil.storage import atomic_writes
from textveil.ledger import SpendEntry, Ledger
from textveil.release import Spend
atomic_writes.open_unnamed_file = lambda folder: None  # so that the trace sees names
path = sys.argv[1] + "/ledger"
def entry(scope, number):
    what = b"%d" % number
    return SpendEntry(
        privacy_unit=scope, request=what, mechanism="staircase", spend=Spend(1),
        output=b"secret " + what, cache_key=what,
    )
def say(what):
    os.write(1, what + b"\\n")
"""
STORES = """
ledger = Ledger(path, replay_cache_key=sys.argv[2])
for number in range(3):
    ledger.record_spends([entry("a", number)])
    say(b"%d" % number)
"""
FORGETS = """
ledger = Ledger(path, replay_cache_key=sys.argv[2])
ledger.record_spends([entry(scope, number) for scope in "ab" for number in range(2)])
say(b"charged")
ledger.delete_privacy_unit("a")
say(b"deleted")
ledger.delete_outputs()
say(b"outputs deleted")
"""
ROTATES = """
ledger = Ledger(path)
ledger.record_spends([entry("a", 1)])
say(b"charged")
Ledger.rotate(path)
say(b"rotated")
"""


@pytest.fixture
def memo_key(tmp_path: Path) -> str:
    pytest.importorskip("cryptography")
    (tmp_path / "memo.key").write_bytes(os.urandom(32))
    (tmp_path / "memo.key").chmod(0o600)
    return os.fspath(tmp_path / "memo.key")


def opened(disk: Path, memo_key: str | None = None) -> Ledger | None:
    """Open a ledger whose sums fit; return ``None`` if it was cut before its first transaction and has no key."""
    if not (disk / "ledger").exists() or not (disk / "ledger").read_bytes():
        assert not (disk / "ledger.key").exists()
        return None
    ledger = Ledger(disk / "ledger", replay_cache_key=memo_key)
    ledger.list_accounts()
    return ledger


def test_an_output_that_left_is_charged_and_given_again(folder: Path, memo_key: str) -> None:
    cases = 0
    for disk, left in disks(BEGIN + STORES, folder, memo_key):
        ledger, numbers = opened(disk, memo_key), list(map(int, left.split()))
        cases += 1
        if ledger is None:
            assert not numbers
            continue
        for number in numbers:
            assert ledger.count_releases("a", b"%d" % number) == 1
            (again,) = ledger.record_spends([entry("a", output=b"another", cache_key=b"%d" % number)])
            assert again.stored_output == b"secret %d" % number
    assert cases > 50


def test_what_was_forgotten_stays_so_and_nothing_else_is(folder: Path, memo_key: str) -> None:
    seen = set()
    for disk, left in disks(BEGIN + FORGETS, folder, memo_key):
        ledger = opened(disk, memo_key if b"charged" in left and b"outputs" not in left else None)
        said = [b"", *left.splitlines()]
        if ledger is None:
            assert b"charged" not in said
            continue
        spent = ledger.get_account("a").epsilon_units, ledger.get_account("b").epsilon_units
        assert spent in {(0, 0), (2, 2), (0, 2)}
        if b"charged" in said:
            assert spent != (0, 0)
        if b"deleted" in said:
            assert spent == (0, 2)
        with sqlite3.connect(disk / "ledger") as other:
            ((outputs,),) = other.execute("SELECT count(output) FROM releases")
        other.close()
        if b"outputs deleted" in said:
            assert outputs == 0
        seen.add((spent, outputs, said[-1]))
    assert {((2, 2), 4, b"charged"), ((0, 2), 2, b"deleted"), ((0, 2), 0, b"outputs deleted")} <= seen


def test_a_rotation_that_was_cut_leaves_the_old_ledger_or_one_to_be_rotated_again(folder: Path) -> None:
    became = set()
    for disk, left in disks(BEGIN + ROTATES, folder):
        copy = shutil.copytree(disk, disk.with_name(f"{disk.name} again"))
        try:
            ledger = opened(disk)
            found = "none" if ledger is None else "old" if ledger.list_accounts() else "new"
        except (KeyFileError, LedgerDamaged):
            found = "refused"
        if b"rotated" in left:
            assert found == "new"
        elif b"charged" in left:
            assert found in ("old", "refused", "new")
        became.add((found, b"rotated" in left))
        if found in ("old", "refused", "new"):  # what was cut can be done again
            assert Ledger.rotate(Path(copy) / "ledger").list_accounts() == []
    assert {("old", False), ("refused", False), ("new", True)} <= became
