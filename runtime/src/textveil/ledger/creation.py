"""Creation and reset of a privacy ledger; no key exists before its ledger is on the disk."""

import os
from pathlib import Path

from textveil.bundle.atomic import open_atomic_bytes
from textveil.bundle.kept import KEY_BYTES
from textveil.errors import LedgerDamaged, LedgerError
from textveil.ledger import queries
from textveil.ledger.database import LEDGER_MISSING, create_file, is_blank, open_transaction
from textveil.ledger.keys import DEVICE_KEY, check_distinct_files, check_replaceable_key, get_key_path, read_key


def create_ledger(path: Path, key_path: Path, wait_s: float) -> bool:
    """Create a ledger if there is none; return whether this call created the file.

    The schema is on the disk before the key exists, even if the process is killed in between. A key without a ledger
    therefore means that the ledger is lost.

    Raises:
        LedgerDamaged: The key exists without a ledger, or the file is not a ledger.
        LedgerError, LedgerBusy: The ledger cannot be created.
        KeyFileError: The key cannot be read.
    """
    if os.path.lexists(key_path):  # checked first: another process may create both
        if is_blank(path):
            read_key(key_path, DEVICE_KEY, create=False)
            raise LedgerDamaged(LEDGER_MISSING)
        return False
    if path.exists() and is_blank(path) and path.stat().st_size:  # SQLite treats it as an empty database
        raise LedgerDamaged("this file is not a textveil ledger")
    created = create_file(path)
    with open_transaction(path, wait_s=wait_s, create_schema=True):
        return created


def reset_ledger(path: Path, key: str | Path | None) -> None:
    """Delete the whole content of a ledger and replace its device key: ``Ledger.rotate``.

    Args:
        path: The ledger.
        key: Path of its key; ``None`` is the default path beside it.

    Raises:
        LedgerError: Neither a ledger nor a key exists.
        KeyFileError: The key's path has another kind of file, or ``key`` is the key of another ledger.
    """
    key_path = get_key_path(path, key)
    check_distinct_files(path, key_path)
    if is_blank(path):
        if not key_path.exists():
            raise LedgerError("the ledger does not exist")
        create_file(path)
    with open_transaction(path, create_schema=True) as connection:
        check_replaceable_key(key_path, None if key is None else queries.read_key_checks(connection)[0])
        queries.delete_all_rows(connection)
        with open_atomic_bytes(key_path, private=True, allow_key=True) as file:
            file.write(os.urandom(KEY_BYTES))
