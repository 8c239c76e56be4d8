"""SQLite database of the privacy ledger (record of epsilons): its schema, creation and reset.

Only this module opens the database. A ledger is on the disk before its key is created. Every transaction has its own
connection. No child process inherits a connection, because a fork of this process waits until no connection is open. A
commit returns after the data, the removal of the journal and the folder entry are on the disk (``synchronous=EXTRA``
with a rollback journal).
"""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from textveil.errors import LedgerBusy, LedgerDamaged, LedgerError
from textveil.formatting import format_path_name
from textveil.ledger import queries
from textveil.ledger.keys import DEVICE_KEY, check_distinct_files, check_replaceable_key, get_key_path
from textveil.storage.atomic_writes import open_atomic_bytes
from textveil.storage.keys import read_key
from textveil.storage.protected_paths import KEY_BYTES, LEDGER_APPLICATION_ID

APPLICATION_ID, VERSION = LEDGER_APPLICATION_ID, 2
LEDGER_MISSING = (
    "the ledger is missing or empty, but its key exists: restore the ledger, or delete all recorded spending: "
    "textveil ledger rotate LEDGER --yes"
)
#: Default time, in seconds, that a transaction waits for the lock of another process.
WAIT_S = 60.0

_SCHEMA = """
CREATE TABLE keys (
    device_check BLOB NOT NULL,
    replay_cache_check BLOB
);
CREATE TABLE privacy_units (
    privacy_unit BLOB PRIMARY KEY,
    budget_epsilon INTEGER CHECK (budget_epsilon >= 0),
    budget_delta INTEGER CHECK (budget_delta >= 0),
    epsilon INTEGER NOT NULL DEFAULT 0 CHECK (typeof(epsilon) = 'integer' AND epsilon >= 0),
    delta INTEGER NOT NULL DEFAULT 0 CHECK (typeof(delta) = 'integer' AND delta >= 0),
    unbounded INTEGER NOT NULL DEFAULT 0 CHECK (unbounded >= 0)
) WITHOUT ROWID;
CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    privacy_unit BLOB NOT NULL REFERENCES privacy_units ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    request BLOB NOT NULL,
    mechanism TEXT NOT NULL,
    epsilon INTEGER CHECK (epsilon >= 0),
    delta INTEGER NOT NULL CHECK (delta >= 0),
    output BLOB CHECK (typeof(output) IN ('blob', 'null')),
    cache_tag BLOB
);
CREATE INDEX requests ON releases (privacy_unit, request);
CREATE INDEX cache_tags ON releases (privacy_unit, cache_tag) WHERE cache_tag IS NOT NULL;
"""
_SCHEMA_QUERY = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
_PRAGMAS = (
    "synchronous = EXTRA",
    "fullfsync = ON",  # macOS needs this for a flush to reach the disk; other systems ignore it
    "foreign_keys = ON",
    "secure_delete = ON",
    "temp_store = MEMORY",
    "trusted_schema = OFF",
)

#: Lock that is held while a connection is open and while this process forks.
_connection_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_connection_lock.acquire,
        after_in_parent=_connection_lock.release,
        after_in_child=_connection_lock.release,
    )


@contextmanager
def open_transaction(
    path: Path, *, write: bool = True, wait_s: float = WAIT_S, create_schema: bool = False
) -> Generator[sqlite3.Connection]:
    """Open the database for one transaction, which commits at the end and rolls back on any error.

    Args:
        path: An existing file.
        write: Whether the transaction writes. If so, it excludes all other writers from the start
            (``BEGIN IMMEDIATE``).
        wait_s: Time to wait for the lock of another process, in seconds.
        create_schema: Whether to create the tables if the file is empty.

    Yields:
        The connection, inside the transaction.

    Raises:
        LedgerBusy: Another process held the lock for longer than ``wait_s``.
        LedgerDamaged: The file is not a privacy ledger of this version.
        LedgerError: The file cannot be read or written. The content of the ledger is unchanged.
    """
    with _connection_lock:
        try:
            with closing(
                sqlite3.connect(_make_uri(path), timeout=wait_s, isolation_level=None, uri=True)
            ) as connection:
                for pragma in _PRAGMAS:
                    connection.execute(f"PRAGMA {pragma}")
                if connection.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
                    raise LedgerError(
                        "the ledger cannot be opened in the journal mode that it needs: copy it to a local disk"
                    )
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                _check_schema(connection, create_schema)
                try:
                    yield connection
                except BaseException:
                    with suppress(sqlite3.Error):  # SQLite rolls back by itself on some errors
                        connection.rollback()
                    raise
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise _translate_error(error) from None


def is_blank(path: Path) -> bool:
    """Return whether a file is missing or has at most one byte, which SQLite treats as an empty database.

    Raises:
        LedgerError: The path is a folder, or its status cannot be read.
    """
    if path.is_dir():
        raise LedgerError(f"the ledger cannot be opened: {format_path_name(path)} is a folder: name a file in it")
    try:
        return path.stat().st_size <= 1
    except FileNotFoundError:
        return True
    except OSError as error:
        raise LedgerError(f"the ledger cannot be opened: {os.strerror(error.errno or 0)}") from error


def create_file(path: Path) -> bool:
    """Create an empty file that only its owner may read and write.

    Returns:
        Whether this call created the file; ``False`` if the file exists.

    Raises:
        LedgerError: The folder is missing, or the file cannot be created.
    """
    with _connection_lock:  # POSIX: closing any descriptor of a file releases all locks of the process on that file
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600))
        except FileExistsError:
            return False
        except FileNotFoundError as error:
            folder = f"its folder {format_path_name(path.parent)}".rstrip()
            raise LedgerError(f"the ledger cannot be created: {folder} does not exist: create it first") from error
        except OSError as error:
            raise LedgerError(f"the ledger cannot be created: {os.strerror(error.errno or 0)}") from error
        return True


def _make_uri(path: Path) -> str:
    """Return the URI with which SQLite opens a file, but does not create the file if it is missing (``mode=rw``)."""
    return f"{path.absolute().as_uri()}?mode=rw"


def _check_schema(connection: sqlite3.Connection, create_schema: bool) -> None:
    """Check that a database is a privacy ledger (record of epsilons) of this version.

    Args:
        connection: An open transaction.
        create_schema: Whether to create the tables if the database is empty.

    Raises:
        LedgerDamaged: The file is not a privacy ledger, is of another version, or is empty and ``create_schema`` is
            false.
    """
    versions = tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if versions == (APPLICATION_ID, VERSION):
        if connection.execute(_SCHEMA_QUERY).fetchall() != _list_expected_schema():
            raise LedgerDamaged(
                "this file is not a textveil ledger: name a ledger, or a new file"
            )  # an added trigger could undo recorded spends
        return
    if versions[0] == APPLICATION_ID:
        raise LedgerDamaged(_explain_version(versions[1]))
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,) or versions != (0, 0):
        raise LedgerDamaged("this file is not a textveil ledger: name a ledger, or a new file")
    if not create_schema:
        raise LedgerDamaged(LEDGER_MISSING)
    _write_schema(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _explain_version(version: int) -> str:
    """Return an error message for a privacy ledger of another version.

    This version cannot import the records of an older version. The message then explains how to begin a new ledger.
    """
    reason = f"the ledger has format version {version}, but this release reads version {VERSION}"
    if version > VERSION:
        return f"{reason}: update textveil"
    return f"{reason}: move the ledger and its key to another folder, which begins a new ledger without earlier spends"


def _write_schema(connection: sqlite3.Connection) -> None:
    for statement in filter(str.strip, _SCHEMA.split(";")):
        connection.execute(statement)


@cache
def _list_expected_schema() -> list[tuple[str, str, str]]:
    """Return the rows of ``sqlite_master`` that this version of SQLite creates for the schema of a ledger."""
    with closing(sqlite3.connect(":memory:")) as connection:
        _write_schema(connection)
        return connection.execute(_SCHEMA_QUERY).fetchall()


def _translate_error(error: sqlite3.Error) -> LedgerError:
    """Convert an error of SQLite to an error of this package, whose message depends on the result code.

    SQLite's own messages describe pages and tables, which do not help the user.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerBusy("another process has locked the ledger; nothing was released: try again")
    if code in (0, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):  # 0: a value has another type than its column
        return LedgerDamaged("this file is not a textveil ledger, or it is damaged; nothing was released")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return LedgerDamaged("the ledger rejects a number that is out of range; nothing was released")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return LedgerError("the ledger cannot be written: the disk is full or fails; nothing was released")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return LedgerError("the ledger cannot be opened for writing; nothing was released")
    return LedgerError(
        f"the ledger cannot be used ({getattr(error, 'sqlite_errorname', 'unknown')}); nothing was released"
    )


def create_ledger(path: Path, key_path: Path, wait_s: float) -> bool:
    """Create a privacy ledger if the file is missing or empty.

    The tables are on the disk before the key is created, even if the process is killed in between. A key without a
    ledger therefore means that the ledger is lost.

    Args:
        path: The ledger.
        key_path: Path of its key.
        wait_s: Time to wait for the lock of another process, in seconds.

    Returns:
        Whether this call created the file.

    Raises:
        LedgerDamaged: The key exists without a ledger, or the file is not a ledger.
        LedgerError, LedgerBusy: The ledger cannot be created.
        KeyFileError: The key cannot be read.
    """
    if os.path.lexists(key_path):  # before the ledger, since another process may create both in between
        if is_blank(path):
            read_key(key_path, DEVICE_KEY, create=False)
            raise LedgerDamaged(LEDGER_MISSING)
        return False
    if path.exists() and is_blank(path) and path.stat().st_size:  # SQLite treats it as an empty database
        raise LedgerDamaged("this file is not a textveil ledger: name a ledger, or a new file")
    created = create_file(path)
    with open_transaction(path, wait_s=wait_s, create_schema=True):
        return created


def reset_ledger(path: Path, key: str | Path | None) -> None:
    """Delete the whole content of a privacy ledger and replace its key file (``Ledger.rotate``).

    Args:
        path: The ledger.
        key: Path of its key; ``None`` is the default path next to the ledger.

    Raises:
        LedgerError: Neither a ledger nor a key exists.
        KeyFileError: The file at the key's path is not a key, or is the key of another ledger.
    """
    key_path = get_key_path(path, key)
    check_distinct_files(path, key_path)
    if is_blank(path):
        if not key_path.exists():
            raise LedgerError("the ledger does not exist: correct its path")
        create_file(path)
    with open_transaction(path, create_schema=True) as connection:
        check_replaceable_key(key_path, None if key is None else queries.read_key_checks(connection)[0])
        queries.delete_all_rows(connection)
        with open_atomic_bytes(key_path, private=True, allow_key=True) as file:
            file.write(os.urandom(KEY_BYTES))
