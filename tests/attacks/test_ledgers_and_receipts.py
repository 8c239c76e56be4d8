"""Manipulated ledgers, and forged receipts and signatures, are refused."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from small_staircase import small_staircase
from textveil import Ledger, Sanitizer
from textveil.bundle.layout import SIGNATURE
from textveil.errors import LedgerDamaged, ReceiptError, WrongSigner
from textveil.ledger import SpendEntry, read_receipt
from textveil.ledger.receipt import FORMAT, NOTE, VERSION, _make_signed_bytes
from textveil.release import Spend
from textveil.storage.cryptography import sign_bytes

ENTRY = SpendEntry(privacy_unit="scope", request=b"request", mechanism="staircase", spend=Spend(3))
#: Points of small order, for which a signature can be made without any key, of any message.
SMALL_ORDER = [
    "01" + "00" * 31,
    "00" * 32,
    "ec" + "ff" * 30 + "7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
]


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER t AFTER UPDATE ON privacy_units BEGIN UPDATE privacy_units SET epsilon = 0; END",
        "CREATE TRIGGER t AFTER INSERT ON releases BEGIN DELETE FROM releases; END",
        "CREATE TABLE notes (note)",
        "CREATE VIEW more AS SELECT * FROM releases",
        "DROP INDEX requests",
        "ALTER TABLE releases ADD COLUMN text TEXT",
    ],
    ids=lambda change: " ".join(change.split()[:2]),
)
def test_a_ledger_that_was_told_to_do_something_else_is_refused(tmp_path: Path, change: str) -> None:
    """A trigger would undo spends as they are made, so that no budget would ever be used up."""
    ledger = Ledger(tmp_path / "ledger")
    ledger.record_spends([ENTRY])
    with sqlite3.connect(ledger.path) as other:
        other.execute(change)
    other.close()
    for use in (lambda: Ledger(tmp_path / "ledger"), lambda: ledger.record_spends([ENTRY]), ledger.list_accounts):
        with pytest.raises(LedgerDamaged, match=r"^this file is not a textveil ledger: name a ledger, or a new file$"):
            use()


@pytest.mark.parametrize("key", SMALL_ORDER)
@pytest.mark.parametrize("point", SMALL_ORDER)
def test_a_bundle_has_no_maker_whose_signature_fits_everything(tmp_path: Path, key: str, point: str) -> None:
    pytest.importorskip("cryptography")
    folder = small_staircase(tmp_path / "bundle")
    (folder / SIGNATURE).write_text(point + "00" * 32)
    with pytest.raises(WrongSigner):
        Sanitizer.load(folder, signer=key)


def content(**changes: Any) -> dict[str, Any]:
    """Return the content of a receipt."""
    said = {
        "bundle": "0" * 64, "mechanism": "staircase", "options": {"level": "weak"}, "documents": 1, "tokens": 2,
        "epsilon": "20", "delta": "0", "output_sha256": "0" * 64, "note": NOTE,
    }  # fmt: skip
    return {"format": FORMAT, "format_version": VERSION, **said, **changes}


def signed(said: dict[str, Any]) -> bytes:
    key, signature = sign_bytes(bytes(range(32)), _make_signed_bytes(said))
    return json.dumps({**said, "key": key.hex(), "signature": signature.hex()}).encode()


@pytest.mark.parametrize("key", SMALL_ORDER)
def test_a_receipt_is_not_signed_by_nobody(key: str) -> None:
    pytest.importorskip("cryptography")
    for point in SMALL_ORDER:
        with pytest.raises(ReceiptError):
            read_receipt(json.dumps({**content(), "key": key, "signature": point + "00" * 32}).encode())


@pytest.mark.parametrize(
    "changes",
    [
        {"documents": -1}, {"tokens": -1}, {"documents": 10**30}, {"documents": True}, {"documents": 1.0},
        {"epsilon": "-20"}, {"epsilon": "1e99"}, {"epsilon": 20}, {"delta": "\u0661"}, {"options": []},
        {"bundle": "\x1b[2J"},
        {"mechanism": "a" * 200}, {"options": {"level": "\u202e"}},
    ],
    ids=str,
)  # fmt: skip
def test_a_receipt_that_its_owner_signed_is_still_looked_at(changes: dict[str, Any]) -> None:
    """Anybody may sign; a printed receipt must be well formed, and contain no terminal commands."""
    pytest.importorskip("cryptography")
    assert read_receipt(signed(content()))[0].documents == 1
    with pytest.raises(ReceiptError):
        read_receipt(signed(content(**changes)))
