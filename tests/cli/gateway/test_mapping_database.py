"""The database keeps whole mappings whatever ends a write, and deletes them after their time."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography", reason="needs the extra crypto: make integrations")

from textveil.errors import ConversationChanged, KeyFileError, OutputError
from textveil_cli.gateway import ConversationLocks, MappingDatabase
from textveil_cli.gateway.mapping_database import _convert_database_error
from textveil_cli.serve.access import Refusal

NAME, OTHER = b"n" * 32, b"o" * 32
CONTENT = b"Zqxwvina Novak"
#: Writes a long mapping, part of which reaches the disk before the end of the write, and waits there.
INTERRUPTED_WRITE = """
import sqlite3, sys, time
from pathlib import Path
connect = sqlite3.connect

class HeldConnection(sqlite3.Connection):
    def execute(self, sql, *parameters):
        if sql.startswith("INSERT"):
            super().execute("PRAGMA cache_size = 1")  # the pages go to the disk at once
        result = super().execute(sql, *parameters)
        if sql.startswith("INSERT"):
            print("writing", flush=True)
            time.sleep(600)
        return result

sqlite3.connect = lambda *arguments, **options: connect(*arguments, **options, factory=HeldConnection)
from textveil_cli.gateway import MappingDatabase
database = MappingDatabase(Path(sys.argv[1]), bytes(32), 1_000)
name = b"n" * 32
database.write_mapping(name, b"half" * 500_000, database.read_version(name))
"""
#: Writes a mapping that is longer than a file may be.
LIMITED_WRITE = """
import resource, sys
from pathlib import Path
from textveil_cli.gateway import MappingDatabase
from textveil.errors import OutputError
database = MappingDatabase(Path(sys.argv[1]), bytes(32), 1_000)
name = b"n" * 32
version = database.read_version(name)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    database.write_mapping(name, bytes(1_000_000), version)
except OutputError as error:
    print(error)
"""
#: Holds the lock of a conversation until the process ends.
HELD_LOCK = """
import asyncio, sys
from pathlib import Path
from textveil_cli.gateway import ConversationLocks

async def hold():
    async with ConversationLocks(Path(sys.argv[1]), 60).hold_lock(b"n" * 32):
        print("held", flush=True)
        await asyncio.sleep(600)

asyncio.run(hold())
"""


def make_database(folder: Path, seconds: float = 1_000, key: bytes = bytes(32)) -> MappingDatabase:
    return MappingDatabase(folder, key, seconds)


def run_sql(folder: Path, statement: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(folder / "mappings.sqlite", isolation_level=None)) as database:
        return database.execute(statement).fetchall()


def start_and_wait(script: str, folder: Path) -> "subprocess.Popen[str]":
    """Start a script, and return when it has printed its first line."""
    process = subprocess.Popen([sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def test_a_mapping_is_read_as_it_was_written(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    assert database.read_mapping(NAME) is None
    version = database.write_mapping(NAME, CONTENT, None)
    assert database.read_mapping(NAME) == (CONTENT, version)
    assert database.read_version(OTHER) is None
    newer = database.write_mapping(NAME, b"newer", version)
    assert newer != version
    assert make_database(tmp_path).read_mapping(NAME) == (b"newer", newer)
    assert b"Novak" not in database.path.read_bytes()
    assert database.delete_mapping(NAME)
    assert not database.delete_mapping(NAME)
    assert database.read_mapping(NAME) is None


def test_a_write_over_a_version_that_was_not_read_is_refused(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    version = database.write_mapping(NAME, CONTENT, None)
    newer = database.write_mapping(NAME, b"newer", version)
    for old in (version, None):
        with pytest.raises(ConversationChanged):
            database.write_mapping(NAME, b"other", old)
    assert database.read_mapping(NAME) == (b"newer", newer)


def test_a_mapping_expires_and_is_deleted(tmp_path: Path) -> None:
    database = make_database(tmp_path, seconds=100)
    for name in (NAME, OTHER):
        database.write_mapping(name, CONTENT, None)
    run_sql(tmp_path, f"UPDATE conversations SET last_used = {time.time() - 101} WHERE name_hash = x'{NAME.hex()}'")
    assert database.read_mapping(NAME) is database.read_version(NAME) is None
    database.delete_expired()
    assert run_sql(tmp_path, "SELECT name_hash FROM conversations") == [(OTHER,)]


def test_a_date_in_the_future_expires_from_when_it_is_seen(tmp_path: Path) -> None:
    """After a wrong clock the mapping would otherwise outlive every limit."""
    database = make_database(tmp_path, seconds=100)
    for name, ahead in ((NAME, 10**7), (OTHER, 30)):
        database.write_mapping(name, CONTENT, None)
        run_sql(
            tmp_path, f"UPDATE conversations SET last_used = {time.time() + ahead} WHERE name_hash = x'{name.hex()}'"
        )
    database.delete_expired()
    dates: Any = dict(run_sql(tmp_path, "SELECT name_hash, last_used FROM conversations"))
    assert dates[NAME] <= time.time() + 1
    assert dates[OTHER] > time.time() + 10  # the clock of another machine


def test_what_is_deleted_leaves_nothing_in_any_file(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    database.write_mapping(NAME, CONTENT * 1_000, None)
    ((content,),) = run_sql(tmp_path, "SELECT content FROM conversations")
    parts = [content[place : place + 32] for place in range(0, len(content) - 32, 512)]
    assert any(part in database.path.read_bytes() for part in parts)
    database.delete_mapping(NAME)
    for path in tmp_path.iterdir():
        assert not [part for part in parts if part in path.read_bytes()]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_process_killed_in_the_middle_of_a_write_leaves_the_earlier_mapping(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    version = database.write_mapping(NAME, CONTENT * 100_000, None)
    size = database.path.stat().st_size
    process = start_and_wait(INTERRUPTED_WRITE, tmp_path)
    assert (tmp_path / "mappings.sqlite-journal").stat().st_size > 0
    assert database.path.stat().st_size > size  # some of the new mapping is in the file
    process.kill()
    process.communicate()
    assert database.read_mapping(NAME) == (CONTENT * 100_000, version)
    assert database.write_mapping(NAME, b"next", version)
    assert run_sql(tmp_path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of file sizes")
def test_a_disk_that_takes_no_more_leaves_the_earlier_mapping(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    version = database.write_mapping(NAME, CONTENT, None)
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED_WRITE, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.count("\n") == 1
    assert "mappings.sqlite" in ended.stdout
    assert database.read_mapping(NAME) == (CONTENT, version)
    assert database.write_mapping(NAME, b"next", version)


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "small")) as small:
        small.execute("PRAGMA max_page_count = 4")
        small.execute("CREATE TABLE one (two)")
        with pytest.raises(sqlite3.OperationalError) as raised:
            small.execute("INSERT INTO one VALUES (?)", (bytes(100_000),))
    assert "the disk is full" in str(_convert_database_error(raised.value))


def test_a_writer_that_does_not_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textveil_cli.gateway.mapping_database._BUSY_SECONDS", 0.05)
    database = make_database(tmp_path)
    version = database.write_mapping(NAME, CONTENT, None)
    with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert database.read_version(NAME) == version  # readers do not wait for it
        with pytest.raises(OutputError, match="does not release"):
            database.write_mapping(NAME, b"next", version)


def test_many_threads_open_a_new_database_at_once(tmp_path: Path) -> None:
    database, errors = make_database(tmp_path), []

    def write(number: int) -> None:
        try:
            database.write_mapping(number.to_bytes(32, "big"), CONTENT, None)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(run_sql(tmp_path, "SELECT 1 FROM conversations")) == 16


def test_another_key_or_another_name_does_not_decrypt(tmp_path: Path) -> None:
    make_database(tmp_path).write_mapping(NAME, CONTENT, None)
    other = make_database(tmp_path, key=bytes([1]) * 32)
    with pytest.raises(KeyFileError):
        other.read_mapping(NAME)
    assert other.prepare() == 1
    assert make_database(tmp_path).prepare() == 0
    run_sql(tmp_path, f"UPDATE conversations SET name_hash = x'{OTHER.hex()}'")
    with pytest.raises(KeyFileError):
        make_database(tmp_path).read_mapping(OTHER)


def test_a_deleted_database_is_made_again(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    version = database.write_mapping(NAME, CONTENT, None)
    database.path.unlink()
    assert database.read_mapping(NAME) is None
    assert database.write_mapping(NAME, CONTENT, version)
    assert database.path.stat().st_mode & 0o777 == 0o600


async def try_lock(folder: Path, name: bytes, seconds: float) -> None:
    async with ConversationLocks(folder, seconds).hold_lock(name):
        pass


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_lock_of_another_process_is_waited_for_and_ends_with_it(tmp_path: Path) -> None:
    process = start_and_wait(HELD_LOCK, tmp_path)
    try:
        with pytest.raises(Refusal, match="retry later"):
            asyncio.run(try_lock(tmp_path, NAME, 0.1))
        asyncio.run(try_lock(tmp_path, OTHER, 0.1))

        async def wait() -> None:
            waiting = asyncio.ensure_future(try_lock(tmp_path, NAME, 60))
            await asyncio.sleep(0.1)
            assert not waiting.done()
            process.kill()
            await waiting

        asyncio.run(wait())
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_requests_of_one_process_share_a_lock_until_the_last_has_ended(tmp_path: Path) -> None:
    async def hold(locks: ConversationLocks, may_end: asyncio.Event) -> None:
        async with locks.hold_lock(NAME):
            await may_end.wait()

    async def main() -> None:
        locks, ends = ConversationLocks(tmp_path, 60), [asyncio.Event(), asyncio.Event()]
        holders = [asyncio.ensure_future(hold(locks, end)) for end in ends]
        await asyncio.sleep(0)
        for end in ends:
            check = [sys.executable, "-c", HELD_LOCK.replace(", 60)", ", 0)"), str(tmp_path)]
            ended = await asyncio.to_thread(subprocess.run, check, capture_output=True, timeout=60)
            assert ended.returncode != 0
            assert b"held" not in ended.stdout
            end.set()
            await asyncio.sleep(0.05)
        await asyncio.gather(*holders)
        assert locks._locks == {}
        process = await asyncio.to_thread(start_and_wait, HELD_LOCK, tmp_path)
        process.kill()
        process.communicate()

    asyncio.run(main())


def test_a_folder_that_takes_no_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"mappings\.lock"):
        asyncio.run(try_lock(tmp_path / "gone", NAME, 1))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_the_place_of_the_database_is_no_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mappings.sqlite")
    with pytest.raises(OutputError, match="not a plain file"):
        make_database(tmp_path).read_version(NAME)
