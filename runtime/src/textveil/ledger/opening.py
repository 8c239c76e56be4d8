"""Creation and reset of a privacy ledger; no key exists before its ledger is on the disk."""

import os
from pathlib import Path

from textveil.bundle.atomic import atomic_bytes
from textveil.bundle.kept import KEY_BYTES
from textveil.errors import LedgerDamaged, LedgerError
from textveil.ledger import rows
from textveil.ledger.database import GONE, create, is_blank, transaction
from textveil.ledger.keys import DEVICE_KEY, key_path_of, read_key, refuse_own_files, refuse_replacing


def begin(path: Path, key_path: Path, wait_s: float) -> bool:
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
            read_key(key_path, DEVICE_KEY, make=False)
            raise LedgerDamaged(GONE)
        return False
    if path.exists() and is_blank(path) and path.stat().st_size:  # SQLite treats it as an empty database
        raise LedgerDamaged("this file is not a textveil ledger")
    created = create(path)
    with transaction(path, wait_s=wait_s, begin=True):
        return created


def begin_anew(path: Path, key: str | Path | None) -> None:
    """Delete the whole content of a ledger and replace its device key: ``Ledger.rotate``.

    Args:
        path: The ledger.
        key: Path of its key; ``None`` is the default path beside it.

    Raises:
        LedgerError: Neither a ledger nor a key exists.
        KeyFileError: The key's path has another kind of file, or ``key`` is the key of another ledger.
    """
    key_path = key_path_of(path, key)
    refuse_own_files(path, key_path)
    if is_blank(path):
        if not key_path.exists():
            raise LedgerError("there is no ledger")
        create(path)
    with transaction(path, begin=True) as connection:
        refuse_replacing(key_path, None if key is None else rows.checks(connection)[0])
        rows.delete_all(connection)
        with atomic_bytes(key_path, private=True, over_a_key=True) as file:
            file.write(os.urandom(KEY_BYTES))
