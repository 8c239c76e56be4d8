"""A named conversation survives a restart of the gateway, and a damaged mapping file causes a one-line error."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gateways import CHAT, KEY, RESPONSES, asked, gateway, text_of
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


def test_a_conversation_with_a_name_outlives_the_gateway(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, key, options = folders
    named = {**KEY, "X-Textveil-Conversation": "Novak's"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        server.ask("POST", CHAT, asked(CHAT, TEXT), KEY)
        assert server.stop() == 0
    sent = up.asked[-2][2]["messages"]
    goes_on = {"model": "before", "input": "And now?", "previous_response_id": "resp_1"}
    (file,) = mappings.iterdir()  # what no header names is in memory alone
    assert file.stat().st_mode & 0o777 == key.stat().st_mode & 0o777 == 0o600
    assert b"Novak" not in file.read_bytes() + file.name.encode()
    with started(tmp_path / "two", up, *options) as server:
        reply = server.ask("POST", CHAT, asked(CHAT, TEXT), named)[1]
        assert (up.last["messages"], text_of(CHAT, reply)) == (sent, TEXT)
        up.asked.append(("", {}, asked(RESPONSES, sent)))
        reply = server.ask("POST", RESPONSES, goes_on, named)[1]  # of all that its file has
        assert text_of(RESPONSES, reply) == TEXT
        server.ask("POST", CHAT, asked(CHAT, TEXT), {**named, "Authorization": "Bearer other"})
        assert len(list(mappings.iterdir())) == 2
        assert server.ask("DELETE", "/conversation", None, named)[1] == {"deleted": True}
        assert not file.exists()
    with started(tmp_path / "three", up, *options, "--keep", "city") as server:  # another conversation
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
        assert len(list(mappings.iterdir())) == 2


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


def test_a_mapping_that_cannot_be_read(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
    (file,) = mappings.iterdir()
    content = file.read_bytes()
    before = len(up.asked)
    with started(tmp_path / "two", up, *options) as server:
        for wrong, code in (
            (content.replace(b"conversation 5", b"conversation 9"), "input"), (b"Novak", "input"),
            (content[:-1] + bytes([content[-1] ^ 1]), "key"),
        ):  # fmt: skip
            file.write_bytes(wrong)
            for _ in range(2):
                _, said, _ = server.ask("POST", CHAT, asked(CHAT, TEXT), named)
                assert said["error"]["code"] == code
                assert "\n" not in said["error"]["message"]
                assert "Novak" not in json.dumps(said)
                assert "DELETE /conversation" in said["error"]["message"]
            assert file.read_bytes() == wrong
        assert len(up.asked) == before
        file.write_bytes(content)
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), named)[0] == 200


def test_old_files_are_deleted_at_the_start(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), named)
    assert len(list(mappings.iterdir())) == 1
    (mappings / "mine.txt").write_text("mine")
    for path in mappings.iterdir():
        os.utime(path, (1, 1))
    with started(tmp_path / "two", up, *options) as server:
        assert server.ask("GET", "/health")[0] == 200  # it has begun
        assert [path.name for path in mappings.iterdir()] == ["mine.txt"]


def test_a_second_gateway_on_one_folder_is_refused(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    (tmp_path / "link").symlink_to(mappings)
    command = [sys.executable, "-m", "textveil_cli", "gateway", "--port", "0", "--upstream", up.url]
    with started(tmp_path / "one", up, *options) as server:
        for folder in (mappings, tmp_path / "link"):  # by whatever name
            same = ["--mappings", str(folder), *map(str, options[2:])]
            second = subprocess.run([*command, *same], capture_output=True, text=True, timeout=60)
            assert second.returncode != 0
            assert second.stderr.count("\n") == 1
            assert "another gateway uses this folder" in second.stderr
        assert server.ask("GET", "/health")[0] == 200
        server.process.kill()
        server.process.wait()
    with started(tmp_path / "two", up, *options) as server:
        assert server.ask("GET", "/health")[0] == 200


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


def test_a_missing_folder_of_mappings_says_what_to_do(up: Upstream, tmp_path: Path, folders: Any) -> None:
    said = fail_at_the_start(up, "--mappings", tmp_path / "none", "--mappings-key", folders[1])
    assert "create it first" in said


def test_a_missing_extra_ends_it_at_the_start(up: Upstream, tmp_path: Path, folders: Any) -> None:
    package = tmp_path / "without" / "cryptography"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError")
    assert "cryptography" in fail_at_the_start(up, *folders[2], PYTHONPATH=str(package.parent))


def test_mappings_under_another_key_are_one_line_at_the_start(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, key, options = folders
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, TEXT), {**KEY, "X-Textveil-Conversation": "one"})
        assert "--mappings:" not in server.said
    (mappings / ".trial").write_bytes(b"of a gateway that was killed")
    with started(tmp_path / "two", up, "--mappings", mappings, "--mappings-key", key.with_name("other")) as server:
        assert server.ask("GET", "/health")[0] == 200
        assert server.said.count("this key does not decrypt 1 file") == 1
        assert len(list(mappings.iterdir())) == 1


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
