"""A named conversation survives a restart of the gateway, and a damaged mapping causes a one-line error."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography", reason="needs the extra crypto: make integrations")

from gateways import CHAT, KEY, RESPONSES, asked, gateway, text_of
from textveil import Conversation
from textveil.storage import decrypt_bytes
from textveil_cli.gateway import read_mapping_key
from upstreams import Upstream

TEXT = "I am Zqxwvina Novak."


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, tuple[Any, ...]]:
    """Return a folder of mappings, a key, and the options that name them."""
    (tmp_path / "mappings").mkdir()
    key = tmp_path / "keys" / "key"
    key.parent.mkdir()
    return tmp_path / "mappings", key, ("--mappings", tmp_path / "mappings", "--mappings-key", key)


def started(folder: Path, up: Upstream, *options: Any) -> Any:
    folder.mkdir()
    return gateway(folder, up.url, *options)


def run_sql(mappings: Path, statement: str, *parameters: Any) -> list[Any]:
    with contextlib.closing(sqlite3.connect(mappings / "mappings.sqlite", isolation_level=None)) as database:
        return database.execute(statement, parameters).fetchall()


def count_rows(mappings: Path) -> int:
    return run_sql(mappings, "SELECT COUNT(*) FROM conversations")[0][0]


@pytest.mark.slow
def test_a_conversation_with_a_name_outlives_the_gateway(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, key, options = folders
    named = {**KEY, "X-Textveil-Conversation": "Novak's"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        server.ask("POST", CHAT, asked(CHAT, TEXT), KEY)
        assert server.stop() == 0
    sent = up.asked[-2][2]["messages"]
    goes_on = {"model": "before", "input": "And now?", "previous_response_id": "resp_1"}
    assert count_rows(mappings) == 1  # what no header names is in memory alone
    for file in (*mappings.iterdir(), key):
        assert file.stat().st_mode & 0o777 == 0o600
        assert not [word for word in (b"Novak", b"Zqxwvina", b"messages") if word in file.read_bytes()]
    with started(tmp_path / "two", up, *options) as server:
        reply = server.ask("POST", CHAT, asked(CHAT, TEXT), named)[1]
        assert (up.last["messages"], text_of(CHAT, reply)) == (sent, TEXT)
        up.asked.append(("", {}, asked(RESPONSES, sent)))
        reply = server.ask("POST", RESPONSES, goes_on, named)[1]  # of all that its mapping has
        assert text_of(RESPONSES, reply) == TEXT
        server.ask("POST", CHAT, asked(CHAT, TEXT), {**named, "Authorization": "Bearer other"})
        assert count_rows(mappings) == 2
        content = run_sql(mappings, "SELECT content FROM conversations")
        assert server.ask("DELETE", "/conversation", None, named)[1] == {"deleted": True}
        assert count_rows(mappings) == 1
        kept = [(mappings / "mappings.sqlite").read_bytes().count(row[0][:64]) for row in content]
        assert sorted(kept) == [0, 1]  # what is deleted is overwritten
    with started(tmp_path / "three", up, *options, "--keep", "city") as server:  # another conversation
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        assert count_rows(mappings) == 2


@pytest.mark.slow
def test_a_reply_comes_where_its_mapping_cannot_be_written_any_more(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders

    def removes(text: str) -> list[str]:
        shutil.rmtree(mappings, ignore_errors=True)
        return []

    with started(tmp_path / "one", up, *options) as server:
        up.planted = removes
        named = {**KEY, "X-Textveil-Conversation": "one"}
        status, reply, _ = server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        up.planted = lambda text: []
        assert (status, text_of(CHAT, reply)) == (200, TEXT)
        assert ": output" in server.said
        before = len(up.asked)
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), named)[0] == 500  # and nothing is sent
        assert len(up.asked) == before


@pytest.mark.slow
def test_a_mapping_that_cannot_be_read(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
    ((content,),) = run_sql(mappings, "SELECT content FROM conversations")
    before = len(up.asked)
    with started(tmp_path / "two", up, *options) as server:
        for wrong in (b"Novak", content[:-1] + bytes([content[-1] ^ 1])):
            run_sql(mappings, "UPDATE conversations SET content = ?", wrong)
            for _ in range(2):
                _, said, _ = server.ask("POST", CHAT, asked(CHAT, TEXT), named)
                assert said["error"]["code"] == "key"
                assert "\n" not in said["error"]["message"]
                assert "Novak" not in json.dumps(said)
                assert "DELETE /conversation" in said["error"]["message"]
            assert run_sql(mappings, "SELECT content FROM conversations") == [(wrong,)]
        assert len(up.asked) == before
        run_sql(mappings, "UPDATE conversations SET content = ?", content)
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), named)[0] == 200


@pytest.mark.slow
def test_a_mapping_under_the_name_of_another_is_not_read(up: Upstream, tmp_path: Path, folders: Any) -> None:
    """Else a person who can write the database, without its key, could restore the words of one client for another."""
    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        server.ask("POST", CHAT, asked(CHAT, TEXT), {**named, "Authorization": "Bearer other"})
        (first, one), (second, other) = run_sql(mappings, "SELECT name_hash, content FROM conversations")
        for name_hash, content in ((first, other), (second, one)):
            changes = "UPDATE conversations SET content = ?, version = ? WHERE name_hash = ?"
            run_sql(mappings, changes, content, b"x", name_hash)
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), named)[1]["error"]["code"] == "key"


@pytest.mark.slow
def test_old_mappings_are_deleted_at_the_start(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
    assert count_rows(mappings) == 1
    for name in ("mine.txt", f"{'0' * 64}.conversation"):
        (mappings / name).write_text("mine")
        os.utime(mappings / name, (1, 1))
    run_sql(mappings, "UPDATE conversations SET last_used = 1")
    with started(tmp_path / "two", up, *options) as server:
        assert server.ask("GET", "/health")[0] == 200  # it has begun
        assert count_rows(mappings) == 0
        others = [path.name for path in mappings.iterdir() if "sqlite" not in path.name]
        assert sorted(others) == ["mappings.lock", "mine.txt"]


@pytest.mark.slow
def test_two_gateways_on_one_database_continue_one_conversation(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    (tmp_path / "link").symlink_to(mappings)
    same = ("--mappings", tmp_path / "link", *options[2:])  # by whatever name
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as one, started(tmp_path / "two", up, *same) as two:
        assert text_of(CHAT, one.ask("POST", CHAT, asked(CHAT, TEXT), named)[1]) == TEXT
        sent, messages = up.last["messages"][0]["content"], [{"role": "user", "content": TEXT}]
        for number in range(6):
            server = (two, one)[number % 2]
            messages.append({"role": "assistant", "content": messages[-1]["content"]})
            messages.append({"role": "user", "content": f"Zqxwvina paid {4100 + number}."})
            status, reply, _ = server.ask("POST", CHAT, asked(CHAT, messages), named)
            assert (status, text_of(CHAT, reply)) == (200, messages[-1]["content"])
            went = [message["content"] for message in up.last["messages"]]
            assert went[0] == went[1] == sent  # also the reply that the other gateway restored
            assert went[2::2] == went[3::2] + went[-1:]
        assert one.ask("DELETE", "/conversation", None, named)[1] == {"deleted": True}
        goes_on = {"model": "echo", "input": "And now?", "previous_response_id": "resp_1"}
        assert two.ask("POST", RESPONSES, goes_on, named)[0] == 422  # no copy in memory is used


@pytest.mark.slow
def test_concurrent_requests_to_two_gateways_are_all_restored(up: Upstream, tmp_path: Path, folders: Any) -> None:
    """Requests of one conversation wait for each other; no mapping gets lost."""
    options = folders[2]
    with started(tmp_path / "one", up, *options) as one, started(tmp_path / "two", up, *options) as two:

        def ask(number: int) -> tuple[int, str, str]:
            text = f"Zqxwvina paid {4100 + number}."
            named = {**KEY, "X-Textveil-Conversation": f"{number % 2}"}
            status, reply, _ = (one, two)[number // 2 % 2].ask("POST", CHAT, asked(CHAT, text), named, 60)
            return status, text, text_of(CHAT, reply)

        with ThreadPoolExecutor(8) as clients:
            answers = [*clients.map(ask, range(24))]
        assert [status for status, _, _ in answers] == [200] * 24
        assert all(text == reply for _, text, reply in answers)
        for number in range(24):  # the other gateway has the whole mapping
            status, text, reply = ask(number + 2)
            assert (status, reply) == (200, text)


@pytest.mark.slow
def test_a_gateway_does_not_wait_forever_for_another(up: Upstream, tmp_path: Path, folders: Any) -> None:
    options = (*folders[2], "--timeout-seconds", "1")
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with (
        started(tmp_path / "one", up, *options) as one,
        started(tmp_path / "two", up, *options) as two,
        ThreadPoolExecutor(1) as clients,
    ):
        before = len(up.asked)
        waiting = clients.submit(one.ask, "POST", CHAT, asked(CHAT, TEXT, "silent"), named, 60)
        end = time.monotonic() + 60
        while len(up.asked) == before:
            assert time.monotonic() < end
            time.sleep(0.01)
        status, said, _ = two.ask("POST", CHAT, asked(CHAT, TEXT), named, 60)
        assert (status, said["error"]["code"]) == (503, "busy")
        assert two.ask("DELETE", "/conversation", None, named, 60)[0] == 503
        assert two.ask("POST", CHAT, asked(CHAT, TEXT), {**named, "X-Textveil-Conversation": "two"})[0] == 200
        one.process.kill()  # the system frees its locks
        one.process.wait()
        assert waiting.exception() is not None
        assert two.ask("POST", CHAT, asked(CHAT, TEXT), named, 60)[0] == 200


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of another process")
def test_a_disk_without_space_refuses_requests_until_it_has_space(up: Upstream, tmp_path: Path, folders: Any) -> None:
    """A limit on the size of files stands for the disk: the database cannot grow."""
    import resource

    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    many = " ".join(f"Zqxwvina{number}" for number in range(1_500))
    with started(tmp_path / "one", up, *options) as server:
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), named)[0] == 200
        size = (mappings / "mappings.sqlite").stat().st_size
        _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, most))
        before = len(up.asked)
        status, said, _ = server.ask("POST", CHAT, asked(CHAT, many), named, 60)
        assert (status, said["error"]["code"]) == (500, "output")
        assert "mappings.sqlite" in said["error"]["message"]
        assert "Zqxwvina" not in said["error"]["message"] + server.said
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), KEY)[0] == 200  # in memory alone
        assert len(up.asked) == before + 1
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (most, most))
        status, reply, _ = server.ask("POST", CHAT, asked(CHAT, many), named, 60)
        assert (status, text_of(CHAT, reply)) == (200, many)
        assert text_of(CHAT, server.ask("POST", CHAT, asked(CHAT, TEXT), named)[1]) == TEXT


def fail_at_the_start(up: Upstream, *options: Any, **environment: str) -> str:
    """Start a gateway that ends at once; return its error line."""
    command = [sys.executable, "-m", "textveil_cli", "gateway", "--port", "0", "--upstream", up.url]
    ended = subprocess.run(
        [*command, *map(str, options)], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )
    assert ended.returncode != 0
    assert ended.stderr.count("\n") == 1
    return ended.stderr


def test_a_key_in_the_folder_of_mappings_ends_it_at_the_start(up: Upstream, folders: Any) -> None:
    mappings, _, _ = folders
    said = fail_at_the_start(up, "--mappings", mappings, "--mappings-key", mappings / "key")
    assert "--mappings-key" in said
    assert "outside the folder" in said
    assert list(mappings.iterdir()) == []


@pytest.mark.slow
def test_a_database_of_another_program_or_version_ends_it_at_the_start(up: Upstream, folders: Any) -> None:
    mappings, _, options = folders
    ours = f"PRAGMA application_id = {0x74766D70}"
    for statements, expected in (
        (["CREATE TABLE notes (text TEXT)"], "another program"),
        (
            [ours, "PRAGMA user_version = 0", "CREATE TABLE a (b)"],
            "an earlier version",
        ),
        (
            [ours, "PRAGMA user_version = 99", "CREATE TABLE a (b)"],
            "a later version",
        ),
    ):
        for statement in statements:
            run_sql(mappings, statement)
        content = (mappings / "mappings.sqlite").read_bytes()
        assert expected in fail_at_the_start(up, *options)
        assert (mappings / "mappings.sqlite").read_bytes() == content
        (mappings / "mappings.sqlite").unlink()
    (mappings / "mappings.sqlite").write_bytes(b"Zqxwvina Novak" * 1_000)
    said = fail_at_the_start(up, *options)
    assert "damaged" in said
    assert "Novak" not in said


@pytest.mark.slow
def test_files_of_an_earlier_version_move_into_the_database(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, key, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        sent = up.last["messages"]
    ((name_hash, content),) = run_sql(mappings, "SELECT name_hash, content FROM conversations")
    packed = decrypt_bytes(read_mapping_key(mappings, key), content, b"textveil-mapping 1\n" + name_hash)
    (mappings / "mappings.sqlite").unlink()
    file, unreadable = mappings / f"{name_hash.hex()}.conversation", mappings / f"{'0' * 64}.conversation"
    Conversation.unpack(packed).save(file, key)
    unreadable.write_bytes(b"of another key")
    with started(tmp_path / "two", up, *options) as server:
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), named)[0] == 200
        assert up.last["messages"] == sent
        assert server.said.count("1 file of an earlier version cannot be read") == 1
    assert not file.exists()
    assert unreadable.exists()


@pytest.mark.slow
def test_a_missing_folder_of_mappings_says_what_to_do(up: Upstream, tmp_path: Path, folders: Any) -> None:
    said = fail_at_the_start(up, "--mappings", tmp_path / "none", "--mappings-key", folders[1])
    assert "create it first" in said


@pytest.mark.slow
def test_a_missing_extra_ends_it_at_the_start(up: Upstream, tmp_path: Path, folders: Any) -> None:
    package = tmp_path / "without" / "cryptography"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError")
    assert "cryptography" in fail_at_the_start(up, *folders[2], PYTHONPATH=str(package.parent))


@pytest.mark.slow
def test_mappings_under_another_key_are_one_line_at_the_start(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, key, options = folders
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), {**KEY, "X-Textveil-Conversation": "one"})
        assert "--mappings:" not in server.said
    with started(tmp_path / "two", up, "--mappings", mappings, "--mappings-key", key.with_name("other")) as server:
        assert server.ask("GET", "/health")[0] == 200
        assert server.said.count("this key does not decrypt 1 mapping") == 1
        assert count_rows(mappings) == 1


@pytest.mark.slow
def test_what_is_deleted_is_logged(up: Upstream, tmp_path: Path, folders: Any) -> None:
    named = {**KEY, "X-Textveil-Conversation": "Novak's"}
    with started(tmp_path / "one", up, *folders[2]) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        for _ in range(2):
            server.ask("DELETE", "/conversation", None, named)
        server.ask("DELETE", "/conversation", None, KEY)
        lines = [line for line in server.said.splitlines() if "/conversation" in line]
        assert [line.rpartition(": ")[2] for line in lines] == [
            "/conversation 200 deleted=1", "/conversation 200 deleted=0", "/conversation header 400",
        ]  # fmt: skip
        assert "Novak" not in server.said
