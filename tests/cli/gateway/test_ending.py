"""A gateway that is stopped, or that finds a special file, leaves no partial file and ends without hanging."""

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography", reason="needs the extra crypto: make integrations")

from gateways import CHAT, KEY, asked, gateway
from serving import Server, served
from textveil_cli.gateway import MappingDatabase, read_mapping_key
from upstreams import Upstream

TEXT = "I am Zqxwvina Novak."
NAMED = {**KEY, "X-Textveil-Conversation": "one"}
#: A gateway on a slow disk, which says when it writes.
SLOW_DISK = """
import sqlite3, sys, time
connect = sqlite3.connect

class SlowConnection(sqlite3.Connection):
    is_writing = False

    def execute(self, sql, *parameters):
        if sql == "COMMIT" and self.is_writing:
            print("flushing", file=sys.stderr, flush=True)
            time.sleep(0.25)
        self.is_writing = sql == "BEGIN IMMEDIATE" or self.is_writing and sql != "COMMIT"
        return super().execute(sql, *parameters)

sqlite3.connect = lambda *arguments, **options: connect(*arguments, **options, factory=SlowConnection)
from textveil_cli.main import main
main()
"""
#: A gateway whose first conversation computes in Python until the process ends, and never checks whether to stop.
ENDLESS_WORK = """
import sys
from textveil import Conversation

def compute(conversation, *arguments):
    print("computing", file=sys.stderr, flush=True)
    while True:
        pass

Conversation.start_exchange = compute
from textveil_cli.main import main
main()
"""
#: Ends a test that would wait for ever; nothing here takes a tenth of it.
PATIENCE = 60


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Return a folder of mappings, and a key."""
    (tmp_path / "mappings").mkdir()
    (tmp_path / "keys").mkdir()
    return tmp_path / "mappings", tmp_path / "keys" / "key"


@contextmanager
def start(place: Path, up: Upstream, folders: tuple[Path, Path], *options: Any) -> Iterator[Server]:
    place.mkdir()
    with gateway(place, up.url, "--mappings", folders[0], "--mappings-key", folders[1], *options) as server:
        yield server


@contextmanager
def start_on_slow_disk(place: Path, up: Upstream, folders: tuple[Path, Path]) -> Iterator[Server]:
    place.mkdir()
    command = ["-c", SLOW_DISK, "gateway", "--port", "0", "--upstream", up.url]
    with served(place, *command, "--mappings", folders[0], "--mappings-key", folders[1]) as server:
        assert server.ask("GET", "/health")[0] == 200  # it has begun
        yield server


def ask(server: Server, headers: dict[str, str], text: str = TEXT) -> int:
    return server.ask("POST", CHAT, asked(CHAT, text), headers, PATIENCE)[0]


def read_mappings(folders: tuple[Path, Path]) -> int:
    """Return the number of mappings in the database, each of which the key decrypts."""
    database = MappingDatabase(folders[0], read_mapping_key(*folders), 1_000)
    assert database.prepare() == 0
    with contextlib.closing(sqlite3.connect(database.path)) as opened:
        return opened.execute("SELECT COUNT(*) FROM conversations").fetchone()[0]


def wait_for_flush(server: Server, count: int) -> None:
    """Wait until the gateway writes to the disk for a number of times."""
    end = time.monotonic() + PATIENCE
    while server.said.count("flushing") < count:
        assert time.monotonic() < end, server.said
        time.sleep(0.01)


def make_special(path: Path, kind: str) -> None:
    """Replace a file by a special one, such as a named pipe."""
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(path))
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path.with_name("missing"))


SPECIAL_FILES = [
    "pipe",
    *(pytest.param(kind, marks=pytest.mark.full) for kind in ("socket", "device", "folder", "link to nothing")),
]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("kind", SPECIAL_FILES)
def test_a_special_file_in_the_place_of_the_database_stops_named_conversations_alone(
    up: Upstream, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with start(tmp_path / "one", up, folders) as server:
        assert ask(server, NAMED) == 200
        make_special(folders[0] / "mappings.sqlite", kind)
        before = len(up.asked)
        for name in ("one", "two"):
            assert ask(server, {**NAMED, "X-Textveil-Conversation": name}) == 500
        assert len(up.asked) == before
        assert ask(server, KEY) == 200
        assert server.ask("GET", "/health")[0] == 200
        assert server.stop() == 0
        assert "Zqxwvina" not in server.said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("kind", SPECIAL_FILES)
def test_a_special_file_in_the_place_of_the_database_ends_the_start(
    up: Upstream, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (folders[0] / "mappings.sqlite").touch()
    make_special(folders[0] / "mappings.sqlite", kind)
    command = [sys.executable, "-m", "textveil_cli", "gateway", "--port", "0", "--upstream", up.url]
    options = ["--mappings", str(folders[0]), "--mappings-key", str(folders[1])]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode != 0
    assert ended.stderr.count("\n") == 1
    assert "mappings.sqlite" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_what_is_written_when_it_is_told_to_end_is_whole(
    up: Upstream, tmp_path: Path, folders: tuple[Path, Path], number: int
) -> None:
    """A mapping is written before its request is sent and again after the reply; a second request waits for it."""
    with start_on_slow_disk(tmp_path / "one", up, folders) as server, ThreadPoolExecutor(2) as clients:
        before = server.said.count("flushing")
        first = clients.submit(ask, server, NAMED)
        wait_for_flush(server, before + number)
        second = clients.submit(ask, server, {**NAMED, "X-Textveil-Conversation": "two"})
        wait_for_flush(server, before + number + 1)
        assert server.stop() == 0
        assert [first.result(), second.result()] == [200, 200]
    assert read_mappings(folders) == 2


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.parametrize(
    "signals",
    [
        ("SIGKILL",),
        ("SIGTERM", "SIGTERM"),
        pytest.param(("SIGTERM", "SIGINT"), marks=pytest.mark.full),
        pytest.param(("SIGTERM", "SIGKILL"), marks=pytest.mark.full),
    ],
)
def test_what_is_written_when_it_does_not_wait_is_whole_or_as_it_was(
    up: Upstream, tmp_path: Path, folders: tuple[Path, Path], signals: tuple[str, ...]
) -> None:
    with start_on_slow_disk(tmp_path / "one", up, folders) as server, ThreadPoolExecutor(1) as clients:
        assert ask(server, NAMED) == 200
        before = server.said.count("flushing")
        clients.submit(ask, server, NAMED, "And Anna Kowalczyk.")
        wait_for_flush(server, before + 1)
        for name in signals[:-1]:
            server.process.send_signal(getattr(signal, name))
        code = server.stop(getattr(signal, signals[-1]))
        assert code in (0, -signal.SIGKILL)
        assert (code == 0) is ("SIGKILL" not in signals)
    assert read_mappings(folders) == 1
    with start(tmp_path / "two", up, folders) as server:
        assert ask(server, NAMED) == 200
        assert server.stop() == 0


@pytest.mark.slow
@pytest.mark.parametrize("model", ["silent", "endless"])
def test_it_ends_while_an_upstream_does_not(
    up: Upstream, tmp_path: Path, folders: tuple[Path, Path], model: str
) -> None:
    with start(tmp_path / "one", up, folders, "--timeout-seconds", "1") as server, ThreadPoolExecutor(1) as clients:
        body, before = asked(CHAT, TEXT, model, stream=True), len(up.asked)
        waiting = clients.submit(server.ask, "POST", CHAT, body, NAMED, PATIENCE)
        end = time.monotonic() + PATIENCE
        while len(up.asked) == before:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert server.stop() == 0
        assert waiting.exception() is not None  # no reply that looks whole
    assert read_mappings(folders) == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.parametrize("signals", [1, 2])
def test_it_ends_while_a_thread_computes(up: Upstream, tmp_path: Path, signals: int) -> None:
    """The client waits, or has disconnected. A second signal ends the gateway at once."""
    command = ["-c", ENDLESS_WORK, "gateway", "--port", "0", "--upstream", up.url, "--timeout-seconds", "1"]
    with served(tmp_path, *command) as server, ThreadPoolExecutor(1) as clients:
        waiting = clients.submit(ask, server, KEY)
        end = time.monotonic() + PATIENCE
        while "computing" not in server.said:
            assert time.monotonic() < end, server.said
            time.sleep(0.01)
        for _ in range(signals - 1):
            server.process.send_signal(signal.SIGTERM)
        assert server.stop() == 0
        assert waiting.exception() is not None or waiting.result() != 200
