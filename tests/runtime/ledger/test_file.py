"""What the file of a ledger holds, and what it does not."""

import copy
import pickle
import stat
from pathlib import Path

import pytest
from small_ledger import entry
from textveil import Budget, Ledger, Sanitizer
from textveil.ledger import SpendEntry
from textveil.release import Spend

NAMES = ("ledger", "ledger.key", "ledger-journal")


def test_no_text_and_no_name_is_in_any_file(small: Sanitizer, memo: Ledger, path: Path, tmp_path: Path) -> None:
    result = memo.sanitize(small, "Zorblaxia doctor", privacy_unit="Quimbleton").release
    held = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for secret in ("Zorblaxia", "zorblaxia", "Quimbleton", "doctor", *result.text.split()):
        assert secret.encode() not in held
    assert b"staircase" in held
    exported = str(memo.export()) + repr(memo) + repr(memo.list_accounts())
    assert "orblaxia" not in exported + "uimbleton"[1:]
    assert repr(memo) == "<Ledger>"
    assert "orblaxia" not in repr(
        SpendEntry(privacy_unit="Zorblaxia", request=b"Zorblaxia", mechanism="m", spend=Spend(1), output=b"Zorblaxia")
    )


def test_files_are_their_owners_alone(memo: Ledger, path: Path, tmp_path: Path) -> None:
    for file in (path, path.with_name("ledger.key"), tmp_path / "memo.key"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {file.name for file in path.parent.iterdir()} <= set(NAMES)


def test_tags_differ_by_use_scope_and_ledger(small: Sanitizer, path: Path) -> None:
    one, other = Ledger(path), Ledger(path.with_name("other"))
    for opened in (one, other):
        opened.sanitize(small, "doctor", privacy_unit="a")
        opened.sanitize(small, "doctor", privacy_unit="b")
    rows = [*one.export()["releases"], *other.export()["releases"]]
    assert len({row["request"] for row in rows} | {row["privacy_unit"] for row in rows}) == 8
    assert [row["day"][4] for row in rows] == ["-"] * 4
    assert all(len(row["day"]) == 10 for row in rows)


def test_names_of_scopes_are_compared_in_nfc(ledger: Ledger) -> None:
    ledger.record_spends([entry("caf\u00e9"), entry("cafe\u0301"), entry("\udcff")])
    assert ledger.get_account("caf\u00e9").epsilon_units == 2


def test_export_has_everything_but_outputs(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize(small, "doctor", privacy_unit="a", budget=Budget("20.25"))
    memo.record_spends([entry("b", Spend(1))])
    exported = memo.export()
    assert [sorted(scope.items()) for scope in exported["privacy_units"] if scope["budget_epsilon"]] == [
        sorted(
            {
                "privacy_unit": memo.get_account("a").unit_tag.hex(),
                "epsilon": "8.5",
                "delta": "0",
                "unbounded_releases": 0,
                "budget_epsilon": "20.25",
                "budget_delta": "0",
                "releases": 1,
            }.items()
        )
    ]
    assert [row["epsilon"] for row in exported["releases"]] == ["8.5", "0.00000095367431640625"]
    assert [row["has_stored_output"] for row in exported["releases"]] == [True, False]


def test_a_ledger_is_not_pickled(ledger: Ledger) -> None:
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError, match=r"a ledger cannot be pickled, since it contains keys: open it in each process"
        ):
            leave(ledger)
