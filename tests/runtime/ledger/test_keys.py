"""Keys of a ledger: missing, damaged, in another place, rotated; deletion with their data."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from small_ledger import entry
from textveil import Budget, Ledger, Sanitizer
from textveil.errors import KeyFileError, LedgerError, OptionError


def test_without_its_key_a_ledger_is_refused_and_no_key_is_made(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    key = path.with_name("ledger.key")
    content = key.read_bytes()

    def write(spoiled: bytes, mode: int = 0o600) -> None:
        key.write_bytes(spoiled)
        key.chmod(mode)

    for spoil, message in [
        (lambda: write(content[:-1]), r"a key file must have 32 bytes"),
        (lambda: write(content + b"x"), r"a key file must have 32 bytes"),
        (
            lambda: write(bytes(32)),
            r"this is the key of another ledger: pass the key that was created with this ledger",
        ),
        (lambda: write(content, 0o640), r"other users can read it: run chmod 600 on it"),
        (key.unlink, r"the file is missing or cannot be read"),
    ]:
        spoil()
        with pytest.raises(KeyFileError, match=rf"^the key of the ledger: {message}$"):
            Ledger(path)
    assert not key.exists()
    write(content)
    assert not Ledger(path).was_created
    with pytest.raises(KeyFileError):
        Ledger(path, key=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_key_that_is_not_there_is_not_named_and_a_folder_is(path: Path, tmp_path: Path) -> None:
    Ledger(path)
    (tmp_path / "keys").mkdir()
    for key, name in ((tmp_path / "my-password", "the file"), (tmp_path / "keys", "'keys'")):
        with pytest.raises(KeyFileError, match=rf"^the key of the ledger: {name} is missing or cannot be read$"):
            Ledger(path, key=key)


def test_a_pipe_is_no_key(path: Path, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(KeyFileError, match=r"a key file must have 32 bytes$"):
        Ledger(path, key=tmp_path / "pipe")


def test_the_key_can_be_elsewhere(path: Path, tmp_path: Path) -> None:
    Ledger(path, key=tmp_path / "device").record_spends([entry()])
    assert not path.with_name("ledger.key").exists()
    assert Ledger(path, key=tmp_path / "device").get_account("scope").epsilon_units == 1


def test_rotating_forgets_everything(small: Sanitizer, path: Path) -> None:
    ledger = Ledger(path)
    ledger.sanitize(small, "doctor", budget=Budget(10))
    old, key = ledger.get_account().unit_tag, path.with_name("ledger.key").read_bytes()
    path.with_name("ledger.key").unlink()  # lost
    rotated = Ledger.rotate(path)
    assert rotated.list_accounts() == []
    assert rotated.get_account().unit_tag != old
    assert path.with_name("ledger.key").read_bytes() != key
    assert stat.S_IMODE(path.with_name("ledger.key").stat().st_mode) == 0o600
    assert old not in path.read_bytes()
    with pytest.raises(LedgerError):
        Ledger.rotate(path.with_name("nothing"))
    assert not path.with_name("nothing").exists()


def test_a_ledger_that_was_rotated_meanwhile_is_refused(small: Sanitizer, memo: Ledger, path: Path) -> None:
    """Its tags would use another key: accounts that cannot be found."""
    Ledger.rotate(path)
    for use in (lambda: memo.sanitize(small, "doctor"), memo.list_accounts, lambda: memo.delete_privacy_unit("a")):
        with pytest.raises(
            KeyFileError,
            match=r"^the key of the ledger: this is the key of another ledger: pass the key",
        ):
            use()
    assert Ledger(path).list_accounts() == []


def test_outputs_that_were_forgotten_are_not_in_the_file(small: Sanitizer, memo: Ledger, path: Path) -> None:
    memo.sanitize_batch(small, ["doctor", "nurse", "flu"])
    with sqlite3.connect(path) as other:
        stored = [output for (output,) in other.execute("SELECT output FROM releases")]
    other.close()
    assert all(output in path.read_bytes() for output in stored)
    memo.delete_outputs()
    assert not any(output in path.read_bytes() for output in stored)
    with pytest.raises(KeyFileError, match=r"^the key of the replay cache: "):
        memo.sanitize(small, "doctor")  # it was opened before


def test_a_scope_is_forgotten(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize(small, "doctor", privacy_unit="a")
    memo.sanitize(small, "doctor", privacy_unit="b")
    memo.delete_privacy_unit("a")
    assert [account.unit_tag for account, _ in memo.list_accounts()] == [memo.get_account("b").unit_tag]
    assert not memo.sanitize(small, "doctor", privacy_unit="a").is_replayed
    with pytest.raises(OptionError, match=r"^the ledger has no privacy unit with that name: correct the name$"):
        memo.delete_privacy_unit("c")


def test_a_ledger_that_is_opened_again_has_its_keys_once(path: Path) -> None:
    """This holds without a replay cache too: the mark of the device key is written once."""
    for _ in range(3):
        Ledger(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM keys").fetchone() == (1,)
