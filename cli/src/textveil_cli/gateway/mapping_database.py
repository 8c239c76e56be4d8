"""SQLite database of the replaced words of named conversations, which several gateways may share.

Each row contains one encrypted *mapping* (pairs of a replacement and its original) under the keyed hash of the
conversation's name. The encryption authenticates this hash, so that nobody can move a mapping to another name. A
gateway locks a conversation while it handles a request (``ConversationLocks``). Each write gives the mapping a new
version, so that a write by another gateway without the lock is detected. The module also deletes expired rows.
"""

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from textveil.errors import ConversationChanged, KeyFileError, OutputError
from textveil.storage import check_cryptography, decrypt_bytes, encrypt_bytes, is_inside, read_key

DATABASE_NAME = "mappings.sqlite"
#: ``application_id`` of SQLite, "tvmp", and version of the tables.
_APPLICATION_ID, _SCHEMA_VERSION = 0x74766D70, 1
_CREATE_TABLE = """
CREATE TABLE conversations (
    name_hash BLOB PRIMARY KEY,
    version BLOB NOT NULL,
    last_used REAL NOT NULL,
    content BLOB NOT NULL
) WITHOUT ROWID
"""
#: Tolerated difference to the clock of another machine, and maximum time to wait for another writer, in seconds.
_CLOCK_SECONDS, _BUSY_SECONDS = 60, 10
_VERSION_BYTES = 16
#: Associated data of the encryption, before the hash of the name.
_CONTEXT = b"textveil-mapping 1\n"
#: Maximum total size of the mappings that ``MappingDatabase.prepare`` tries to decrypt.
_MAX_CHECKED_BYTES = 1 << 26


class MappingDatabase:
    """Database of encrypted mappings (pairs of a replacement and its original), a file in a folder.

    Each operation opens the file again. Therefore, if a user deletes the file, a running gateway has no mappings
    anymore. Deleted content is overwritten with zeros.

    Args:
        folder: An existing folder.
        key: Key of the encryption, 32 bytes.
        seconds: Time after the last request at which a mapping expires.
    """

    def __init__(self, folder: Path, key: bytes, seconds: float) -> None:
        self.path, self._key, self._seconds = folder / DATABASE_NAME, key, seconds

    def prepare(self) -> int:
        """Create the database if it does not exist, check that it can be written, and delete expired mappings.

        Returns:
            The number of mappings that the key does not decrypt, among the first 64 MiB of mappings.

        Raises:
            OutputError: The database cannot be opened or written, or is no database of this version.
        """
        with self._open() as database:
            self._delete_expired(database)
            count, bytes_left = 0, _MAX_CHECKED_BYTES
            for name_hash, content in database.execute("SELECT name_hash, content FROM conversations"):
                bytes_left -= len(content)
                if bytes_left < 0:
                    break
                try:
                    self._decrypt(name_hash, content)
                except KeyFileError:
                    count += 1
            return count

    def read_version(self, name_hash: bytes) -> bytes | None:
        """Return the version number of a stored conversation; ``None`` if it does not exist or has expired."""
        row = self._select("version", name_hash)
        return None if row is None else row[0]

    def read_mapping(self, name_hash: bytes) -> tuple[bytes, bytes] | None:
        """Read a stored conversation: its decrypted mapping (pairs of a replacement and its original) and its version.

        The result is ``None`` if the conversation is not stored or has expired.

        Raises:
            KeyFileError: The mapping was written with another key, or was changed.
        """
        row = self._select("content, version", name_hash)
        return None if row is None else (self._decrypt(name_hash, row[0]), row[1])

    def write_mapping(self, name_hash: bytes, content: bytes, version: bytes | None) -> bytes:
        """Encrypt and store the mapping (pairs of replacement and original) of a conversation, in one transaction.

        An interrupted write leaves the earlier mapping.

        Args:
            name_hash: Hash of the name of the conversation.
            content: The mapping, not encrypted.
            version: The version that the caller has read or written last; ``None`` for a new mapping.

        Returns:
            The new version.

        Raises:
            ConversationChanged: The database has another version.
            OutputError: The database cannot be written, for example because the disk is full.
        """
        encrypted, new_version = encrypt_bytes(self._key, content, _CONTEXT + name_hash), os.urandom(_VERSION_BYTES)
        with self._open() as database:
            row = database.execute("SELECT version FROM conversations WHERE name_hash = ?", (name_hash,)).fetchone()
            if row is not None and row[0] != version:
                raise ConversationChanged(
                    "another request has changed the mapping of the conversation: send this request again"
                )
            database.execute(
                "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?)",
                (name_hash, new_version, time.time(), encrypted),
            )
        return new_version

    def delete_mapping(self, name_hash: bytes) -> bool:
        """Delete a stored conversation, and return whether it existed."""
        with self._open() as database:
            return database.execute("DELETE FROM conversations WHERE name_hash = ?", (name_hash,)).rowcount > 0

    def delete_expired(self) -> None:
        """Delete expired conversations, and free their disk space."""
        with self._open() as database:
            self._delete_expired(database)

    def _delete_expired(self, database: sqlite3.Connection) -> None:
        """Delete expired conversations in an open transaction.

        A conversation with a date in the future, written while the clock was wrong, would never expire. Its date is set
        to the present.
        """
        now = time.time()
        database.execute("UPDATE conversations SET last_used = ? WHERE last_used > ?", (now, now + _CLOCK_SECONDS))
        database.execute("DELETE FROM conversations WHERE last_used < ?", (now - self._seconds,))
        database.execute("PRAGMA incremental_vacuum").fetchall()

    def _select(self, columns: str, name_hash: bytes) -> tuple[bytes, ...] | None:
        with self._open(is_writing=False) as database:
            return database.execute(
                f"SELECT {columns} FROM conversations WHERE name_hash = ? AND last_used >= ?",
                (name_hash, time.time() - self._seconds),
            ).fetchone()

    def _decrypt(self, name_hash: bytes, encrypted: bytes) -> bytes:
        return decrypt_bytes(self._key, encrypted, _CONTEXT + name_hash, "the mapping of the conversation")

    @contextlib.contextmanager
    def _open(self, *, is_writing: bool = True) -> Iterator[sqlite3.Connection]:
        """Open the database for one transaction; an error inside the ``with`` block undoes the transaction."""
        try:
            _create_private_file(self.path)
            database = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            with contextlib.closing(database):
                # In this mode the journal is empty after each write; in other modes it keeps deleted content.
                for setting in ("journal_mode = TRUNCATE", "synchronous = FULL", "secure_delete = ON"):
                    database.execute(f"PRAGMA {setting}").fetchall()
                _prepare_tables(database)
                database.execute("BEGIN IMMEDIATE" if is_writing else "BEGIN")
                try:
                    yield database
                except BaseException:
                    with contextlib.suppress(sqlite3.Error):
                        database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise _convert_database_error(error) from None


def read_mapping_key(folder: Path, key_file: Path) -> bytes:
    """Read the key that encrypts the mappings; create the key file if it does not exist.

    Raises:
        CryptoUnavailable: The package ``cryptography`` is not installed.
        KeyFileError: The file is no key, is in the folder of the mappings, or other users can read it.
    """
    check_cryptography("--mappings")
    if is_inside(key_file, Path(os.path.realpath(folder))):
        raise KeyFileError(
            "--mappings-key: must be outside the folder of the mappings: otherwise a copy of the folder would contain "
            "the mappings and the key"
        )
    try:
        return read_key(key_file, "the key of the mappings", create=True)
    except KeyFileError as error:
        raise KeyFileError(f"--mappings-key: {error}") from None


def _create_private_file(path: Path) -> None:
    """Create the database file if it does not exist, readable by its owner alone.

    SQLite creates its journal file with the same permissions.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would block the process
        raise OutputError(f"the path of {DATABASE_NAME} is not a plain file: delete it, or choose another folder")


def _prepare_tables(database: sqlite3.Connection) -> None:
    """Create the tables of an empty database; for any other, check that this version of the gateway wrote it."""

    def read_marks() -> tuple[int, int, int]:
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        return application, version, database.execute("PRAGMA schema_version").fetchone()[0]

    if read_marks() == (0, 0, 0):
        database.execute(
            "PRAGMA auto_vacuum = INCREMENTAL"
        ).fetchall()  # has an effect only before the first table exists
        database.execute("BEGIN IMMEDIATE")
        if read_marks() == (0, 0, 0):  # otherwise another gateway has already created them
            database.execute(_CREATE_TABLE)
            database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        database.execute("COMMIT")
    application, version, _ = read_marks()
    if application != _APPLICATION_ID:
        raise OutputError(f"{DATABASE_NAME} is another program's database: choose another folder")
    if version != _SCHEMA_VERSION:
        other = "an earlier" if version < _SCHEMA_VERSION else "a later"
        raise OutputError(
            f"{DATABASE_NAME} is of {other} version of textveil: use that version, or delete the file with all its "
            "mappings"
        )


def _convert_database_error(error: sqlite3.Error | OSError) -> Exception:
    """Convert an error of SQLite or the operating system to an error with advice for the user."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return OutputError(f"{DATABASE_NAME} is damaged or no database: restore a copy, or delete it with its mappings")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return OutputError(f"{DATABASE_NAME}: another process does not release the database: retry, or stop it")
    if code == sqlite3.SQLITE_FULL:
        return OutputError(f"{DATABASE_NAME}: the disk is full: free some space")
    return OutputError(f"{DATABASE_NAME}: the database cannot be opened or written: check the folder and the disk")
