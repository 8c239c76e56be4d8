"""Which conversation a request belongs to, how long mappings are kept, and their files."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from gateways import CHAT, KEY, RESPONSES, asked, gateway, text_of
from textveil import Conversation, Sanitizer
from textveil_cli.gateway import Conversations, Keeping
from upstreams import Upstream

USER = {"role": "user", "content": "I am Zqxwvina Novak."}
REPLY = {"role": "assistant", "content": "Hello  Zqxwvina.\n"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def conversations(sanitizer: Sanitizer, clock: Any = None, **keeping: Any) -> Conversations:
    def load(path: Path, key: Path) -> Conversation:
        return Conversation.load(path, key, sanitizer)

    made = Keeping(**keeping)
    own = clock or Clock()
    ways = lambda: Conversation(sanitizer), load, lambda packed: Conversation.unpacked(packed, sanitizer)
    return Conversations(*ways, made, key=bytes(32), options={}, clock=own)


def begun(found: Conversations, client: bytes, said: Any = REPLY, named: str | None = None) -> Any:
    """A conversation with one reply."""
    kept, _ = found.find(client, named, found.marks.of(client, [USER]), (), 10)
    exchange = found.opened(kept).exchange()
    found.remember(kept, exchange, client=client, marks=found.marks.of(client, [USER]), said=[[said]], names=["r1"])
    return kept


def test_a_beginning_with_a_reply_tells_a_conversation(sanitizer: Sanitizer) -> None:
    found, client = conversations(sanitizer), b"client"
    kept = begun(found, client)
    later = {"role": "user", "content": "And?"}
    parts = {
        "type": "message",
        "id": "x",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hello Zqxwvina."}],
    }
    for messages in (
        [USER, REPLY],
        [USER, REPLY, later],
        [USER, {**REPLY, "refusal": None, "tool_calls": []}],
        [USER, parts],
    ):
        assert found.find(client, None, found.marks.of(client, messages), (), 1)[0] is kept
    for messages in ([USER], [USER, later], [REPLY, USER], [USER, {**REPLY, "role": "user"}], [later, REPLY], []):
        assert found.find(client, None, found.marks.of(client, messages), (), 1)[0] is not kept
    assert found.find(b"other", None, found.marks.of(b"other", [USER, REPLY]), (), 1)[0] is not kept
    assert found.find(client, "named", found.marks.of(client, [USER, REPLY]), (), 1)[0] is not kept


def test_the_name_of_a_reply_tells_one_too(sanitizer: Sanitizer) -> None:
    found, client = conversations(sanitizer), b"client"
    kept = begun(found, client)
    assert found.find(client, None, found.marks.of(client, [USER]), ["r0", "r1"], 1)[0] is kept
    assert found.find(client, None, found.marks.of(client, [USER]), ["r0", "r1"], 1)[1] is not None
    assert found.find(client, None, found.marks.of(client, [USER]), ["r2"], 1)[0] is not kept
    assert found.find(b"other", None, found.marks.of(b"other", [USER]), ["r0", "r1"], 1)[0] is not kept
    assert found.find(client, "named", found.marks.of(client, [USER]), ["r0", "r1"], 1)[1] is None


def test_tool_calls_and_thoughts_between(sanitizer: Sanitizer) -> None:
    found, client = conversations(sanitizer), b"client"
    call = {
        "type": "function_call",
        "id": "f",
        "call_id": "c",
        "name": "find",
        "arguments": "{}",
        "status": "completed",
    }
    thought = {"type": "reasoning", "id": "r", "summary": []}
    kept, _ = found.find(client, None, found.marks.of(client, [USER]), (), 10)
    found.remember(
        kept,
        Conversation(sanitizer),
        client=client,
        marks=found.marks.of(client, [USER]),
        said=[[thought, call]],
        names=[],
    )
    without = {name: value for name, value in call.items() if name not in ("id", "status")}
    assert (
        found.find(client, None, found.marks.of(client, [USER, without, {"type": "function_call_output"}]), (), 1)[0]
        is kept
    )
    assert found.find(client, None, found.marks.of(client, [USER, thought, call]), (), 1)[0] is kept
    assert found.find(client, None, found.marks.of(client, [USER, {**call, "name": "other"}]), (), 1)[0] is not kept


def test_what_rested_too_long_is_forgotten(sanitizer: Sanitizer) -> None:
    clock = Clock()
    found = conversations(sanitizer, clock, seconds=100)
    kept = begun(found, b"client")
    clock.now = 99
    assert found.find(b"client", None, found.marks.of(b"client", [USER, REPLY]), (), 1)[0] is kept
    clock.now = 199
    found.expire()
    assert len(found) == 1
    clock.now = 200
    found.sweep()
    assert len(found) == 0
    assert found._known == {}
    assert found.find(b"client", None, found.marks.of(b"client", [USER, REPLY]), (), 1)[0] is not kept


@pytest.mark.parametrize("keeping", [{"conversations": 3}, {"bytes": 5_500}])
def test_those_that_rested_longest_go_first(sanitizer: Sanitizer, keeping: dict[str, int]) -> None:
    found = conversations(sanitizer, **keeping)
    kept = [begun(found, b"client", {**REPLY, "content": f"reply {number}"}) for number in range(3)]
    assert (
        found.find(b"client", None, found.marks.of(b"client", [USER, {**REPLY, "content": "reply 0"}]), (), 0)[0]
        is kept[0]
    )
    begun(found, b"client", {**REPLY, "content": "reply 3"})
    assert len(found) == 3
    assert (
        found.find(b"client", None, found.marks.of(b"client", [USER, {**REPLY, "content": "reply 0"}]), (), 0)[0]
        is kept[0]
    )
    assert (
        found.find(b"client", None, found.marks.of(b"client", [USER, {**REPLY, "content": "reply 1"}]), (), 0)[0]
        is not kept[1]
    )


async def at_once(work: Any, *arguments: Any, size: int) -> None:
    work(*arguments)


def asks(found: Conversations, number: int, messages: list[Any], size: int = 10, after: str = "") -> Any:
    """A request of a conversation, and its reply; gives the conversation, what was sent and what came back."""

    async def asking() -> Any:
        kept, earlier = found.find(
            b"client", None if after else f"c{number}", found.marks.of(b"client", messages), [after], size
        )
        async with found.request(kept, at_once):
            exchange = found.opened(kept).exchange(earlier)
            sent = exchange.outgoing(messages)
            assert kept.conversation is not None  # also where others come meanwhile
            said = exchange.incoming(sent[0]["content"]).reply
            reply: Any = {"marks": found.marks.of(b"client", messages), "said": [], "names": [f"r{number}"]}
            found.remember(kept, exchange, client=b"client", **reply)
            return kept, sent, said, exchange

    return asyncio.run(asking())


def test_those_that_rest_are_packed_and_go_on(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    most = 1 << 20  # bytes of last requests, together
    first = [asks(found, number, [USER], size=most // 16) for number in range(20)]
    packed = [kept for kept, *_ in first if kept.packed]
    assert packed == [kept for kept, *_ in first[:4]]
    assert all(kept.conversation is None for kept in packed)
    assert found._size == sum(kept.size for kept, *_ in first)
    assert all(kept.size > len(kept.packed) for kept in packed)
    later = {"role": "user", "content": "Novak?"}
    for number, (kept, sent, said, _) in enumerate(first):
        assert said == USER["content"]
        again = asks(found, number, [USER, later])
        assert (again[0], again[1][0], again[2]) == (kept, sent[0], said)
        assert again[1][1]["content"][:-1] in sent[0]["content"]
    rested = list(found._rested)
    kept, sent, *_ = asks(found, 99, [USER], size=most + 1)
    assert kept.packed  # a large one at once
    assert list(found._rested) == rested
    exchange = asks(found, 100, [{"role": "user", "content": "Go on."}], after="r99")[3]
    assert exchange.incoming(sent[0]["content"]).reply == USER["content"]  # what the provider remembers
    for kept in list(found._kept.values()):
        found.forget(kept)
    assert (found._size, found._known, found._rested) == (0, {}, {})


def test_one_that_is_asked_is_not_packed_or_remembered_when_it_is_gone(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)

    async def asking() -> None:
        kept, _ = found.find(b"client", "one", found.marks.of(b"client", [USER]), (), 1 << 20)
        async with found.request(kept, at_once):
            exchange = found.opened(kept).exchange()
            async with found.request(kept, at_once):
                pass
            assert kept.conversation is not None
            found.delete(b"client", "one")
            found.remember(
                kept, exchange, client=b"client", marks=found.marks.of(b"client", [USER]), said=[[REPLY]], names=["r"]
            )
        assert (found._size, found._known, found._rested, len(found)) == (0, {}, {}, 0)

    asyncio.run(asking())


def test_nothing_raw_is_kept_to_tell_them(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    client = found.marks.client([b"authorization the-clients-key"])
    begun(found, client, named="Novak")
    assert all(isinstance(mark, bytes) and len(mark) == 32 for mark in found._known)
    assert b"the-clients-key" not in client


def test_one_conversation_has_no_end_of_beginnings(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textveil_cli.gateway.conversations._MOST_MARKS", 5)
    found = conversations(sanitizer)
    for number in range(20):
        begun(found, b"client", {**REPLY, "content": f"reply {number}"}, named="one")
    assert len(found._known) == 5


def test_a_folder_that_is_gone_does_not_end_the_sweeping(sanitizer: Sanitizer, tmp_path: Path) -> None:
    conversations(sanitizer, folder=tmp_path / "gone", key=tmp_path / "key").sweep()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, tuple[Any, ...]]:
    """A folder of mappings, a key, and the options that name them."""
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
        server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)
        server.ask("POST", CHAT, asked(CHAT, USER["content"]), KEY)
        assert server.stop() == 0
    sent = up.asked[-2][2]["messages"]
    goes_on = {"model": "before", "input": "And now?", "previous_response_id": "resp_1"}
    (file,) = mappings.iterdir()  # what no header names is in memory alone
    assert file.stat().st_mode & 0o777 == key.stat().st_mode & 0o777 == 0o600
    assert b"Novak" not in file.read_bytes() + file.name.encode()
    with started(tmp_path / "two", up, *options) as server:
        reply = server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)[1]
        assert (up.last["messages"], text_of(CHAT, reply)) == (sent, USER["content"])
        up.asked.append(("", {}, asked(RESPONSES, sent)))
        reply = server.ask("POST", RESPONSES, goes_on, named)[1]  # of all that its file has
        assert text_of(RESPONSES, reply) == USER["content"]
        server.ask("POST", CHAT, asked(CHAT, USER["content"]), {**named, "Authorization": "Bearer other"})
        assert len(list(mappings.iterdir())) == 2
        assert server.ask("DELETE", "/conversation", None, named)[1] == {"deleted": True}
        assert not file.exists()
    with started(tmp_path / "three", up, *options, "--keep", "city") as server:  # another conversation
        server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)
        assert len(list(mappings.iterdir())) == 2


def test_a_reply_comes_where_its_mapping_cannot_be_written_any_more(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders

    def removes(text: str) -> list[str]:
        shutil.rmtree(mappings, ignore_errors=True)
        return []

    with started(tmp_path / "one", up, *options) as server:
        up.planted = removes
        named = {**KEY, "X-Textveil-Conversation": "one"}
        status, reply, _ = server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)
        up.planted = lambda text: []
        assert (status, text_of(CHAT, reply)) == (200, USER["content"])
        assert ": output" in server.said
        before = len(up.asked)
        assert server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)[0] == 500  # and nothing is sent
        assert len(up.asked) == before


def test_a_mapping_that_cannot_be_read(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)
    (file,) = mappings.iterdir()
    content = file.read_bytes()
    before = len(up.asked)
    with started(tmp_path / "two", up, *options) as server:
        for wrong, code in (
            (content.replace(b"conversation 2", b"conversation 9"), "input"), (b"Novak", "input"),
            (content[:-1] + bytes([content[-1] ^ 1]), "key"),
        ):  # fmt: skip
            file.write_bytes(wrong)
            for _ in range(2):
                _, said, _ = server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)
                assert said["error"]["code"] == code
                assert "\n" not in said["error"]["message"]
                assert "Novak" not in json.dumps(said)
            assert file.read_bytes() == wrong
        assert len(up.asked) == before
        file.write_bytes(content)
        assert server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)[0] == 200


def test_old_files_are_deleted_at_the_start(up: Upstream, tmp_path: Path, folders: Any) -> None:
    mappings, _, options = folders
    named = {**KEY, "X-Textveil-Conversation": "one"}
    with started(tmp_path / "one", up, *options) as server:
        server.ask("POST", CHAT, asked(CHAT, USER["content"]), named)
    assert len(list(mappings.iterdir())) == 1
    (mappings / "mine.txt").write_text("mine")
    for path in mappings.iterdir():
        os.utime(path, (1, 1))
    with started(tmp_path / "two", up, *options) as server:
        assert server.ask("GET", "/health")[0] == 200  # it has begun
        assert [path.name for path in mappings.iterdir()] == ["mine.txt"]
