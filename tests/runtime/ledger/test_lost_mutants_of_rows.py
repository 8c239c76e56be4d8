"""Changes of the ledger's rows and charges that ``make mutants`` found and no other test noticed."""

import sqlite3
from pathlib import Path

from textveil import Ledger
from textveil.ledger import Entry
from textveil.ledger.entry import Posted
from textveil.release import Charge


def test_a_ledger_that_is_opened_again_has_its_keys_once(path: Path) -> None:
    """Without a memo, too: what tells the device key from others is written once."""
    for _ in range(3):
        Ledger(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM keys").fetchone() == (1,)


def test_what_a_memo_gives_counts_as_no_draw(memo: Ledger) -> None:
    entry = Entry(
        scope="a", request=b"request", mechanism="staircase", charge=Charge(1), output=b"output", whole=b"whole"
    )
    assert memo.post([entry]) == [Posted(0)]
    assert memo.post([entry]) == [Posted(0, b"output")]
    assert memo.post([Entry(scope="a", request=b"request", mechanism="staircase", charge=Charge(1))]) == [Posted(1)]
