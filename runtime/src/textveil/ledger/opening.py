"""Begins a ledger, and begins it anew: at no moment is there a key whose ledger is not on the disk."""

import os
from pathlib import Path

from textveil.bundle.atomic import atomic_bytes
from textveil.bundle.kept import KEY_BYTES
from textveil.errors import LedgerDamaged, LedgerError
from textveil.ledger import rows
from textveil.ledger.database import GONE, create, is_blank, transaction
from textveil.ledger.keys import DEVICE_KEY, key_path_of, read_key, refuse_own_files, refuse_replacing


def begin(path: Path, key_path: Path, wait_s: float) -> bool:
    """Begins a ledger where there is none; returns whether its file was made.

    The schema is on the disk before there is a key: whatever is killed, a key without its ledger means a ledger lost.

    Raises:
        LedgerDamaged: There is a key and no ledger, or a file that is none.
        LedgerError, LedgerBusy: The ledger cannot be made.
        KeyFileError: The key cannot be read.
    """
    if os.path.lexists(key_path):  # looked at first: others may be about to make both
        if is_blank(path):
            read_key(key_path, DEVICE_KEY, make=False)
            raise LedgerDamaged(GONE)
        return False
    if path.exists() and is_blank(path) and path.stat().st_size:  # SQLite would take it for an empty database
        raise LedgerDamaged("this file is not a textveil ledger")
    created = create(path)
    with transaction(path, wait_s=wait_s, begin=True):
        return created


def begin_anew(path: Path, key: str | Path | None) -> None:
    """Forgets all that a ledger holds, under a new device key: ``Ledger.rotate``.

    Args:
        path: The ledger.
        key: The file of its key; beside it if ``None``.
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
