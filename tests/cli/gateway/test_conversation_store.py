"""The store finds the conversation of a request, and deletes mappings after their time."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography", reason="needs the extra crypto: make integrations")

from textveil import Conversation, KeyFileError, Sanitizer
from textveil_cli.gateway import ConversationLocks, ConversationStore, MappingDatabase, RetentionSettings

CLIENT = b"client"
USER = {"role": "user", "content": "I am Zqxwvina Novak."}
REPLY = {"role": "assistant", "content": "Hello  Zqxwvina.\n"}


def reply(number: int) -> dict[str, str]:
    return {**REPLY, "content": f"reply {number}"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def conversations(
    sanitizer: Sanitizer, clock: Any = None, *, folder: Path | None = None, **keeping: Any
) -> ConversationStore:
    made = RetentionSettings(**keeping)
    own = clock or Clock()
    ways = (
        lambda: Conversation(sanitizer, style="surrogate", facts="none"),
        lambda packed: Conversation.unpack(packed, sanitizer),
    )
    stored: dict[str, Any] = {}
    if folder is not None:
        stored = {"database": MappingDatabase(folder, bytes(32), made.seconds), "locks": ConversationLocks(folder, 60)}
    return ConversationStore(*ways, made, **stored, key=bytes(32), options={}, clock=own)


def find(
    found: ConversationStore,
    messages: list[Any],
    *,
    client: bytes = CLIENT,
    named: str | None = None,
    after: Iterable[str] = (),
    size: int = 1,
) -> tuple[Any, Any]:
    """Return the conversation of a request, and the output of its earlier request."""
    return found.find_conversation(client, named, found.hasher.hash_messages(client, messages), after, size)


def remember(found: ConversationStore, kept: Any, exchange: Any, said: list[Any], name: str, **request: Any) -> None:
    """Store the output of a request, and its name."""
    client = request.get("client", CLIENT)
    marks = found.hasher.hash_messages(client, request.get("messages", [USER]))
    ends = found.hasher.hash_replies(marks[-1] if marks else client, said)
    found.store_reply_ids(kept, exchange, client=client, reply_hashes=ends, reply_ids=[name])


def begun(
    found: ConversationStore, said: Any = REPLY, *, client: bytes = CLIENT, named: str | None = None, name: str = "r1"
) -> Any:
    """Return a conversation with one reply."""
    kept, _ = find(found, [USER], client=client, named=named, size=10)
    remember(found, kept, found.open_conversation(kept).start_exchange(), [[said]], name, client=client)
    return kept


def test_a_beginning_with_a_reply_tells_a_conversation(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    kept = begun(found)
    later = {"role": "user", "content": "And?"}
    content = [{"type": "text", "text": "Hello Zqxwvina."}]
    parts = {"type": "message", "id": "x", "role": "assistant", "content": content}
    more = {**REPLY, "refusal": None, "tool_calls": []}
    for messages in ([USER, REPLY], [USER, REPLY, later], [USER, more], [USER, parts]):
        assert find(found, messages)[0] is kept
    for messages in ([USER], [USER, later], [REPLY, USER], [USER, {**REPLY, "role": "user"}], [later, REPLY], []):
        assert find(found, messages)[0] is not kept
    assert find(found, [USER, REPLY], client=b"other")[0] is not kept
    assert find(found, [USER, REPLY], named="named")[0] is not kept


def test_the_name_of_a_reply_tells_one_too(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    kept = begun(found)
    again, earlier = find(found, [USER], after=["r0", "r1"])
    assert again is kept
    assert earlier is not None
    assert find(found, [USER], after=["r2"])[0] is not kept
    assert find(found, [USER], client=b"other", after=["r0", "r1"])[0] is not kept
    assert find(found, [USER], named="named", after=["r0", "r1"])[1] is None


def test_a_name_that_the_upstream_gives_to_two_conversations_names_neither(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    begun(found, reply(1), client=b"one", name="resp_A1")
    begun(found, reply(2), client=b"one", name="resp_B")
    assert find(found, [USER], client=b"one", after=["resp_A1"])[1] is not None
    assert find(found, [USER], client=b"one", after=["resp_A1", "resp_B"])[1] is None  # not both
    begun(found, reply(3), client=b"one", name="resp_A1")
    assert find(found, [USER], client=b"one", after=["resp_A1"])[1] is None
    begun(found, reply(4), client=b"one", name="resp_A1")
    assert find(found, [USER], client=b"one", after=["resp_A1"])[1] is None  # from then on
    begun(found, reply(5), client=b"two", name="resp_B")
    for client in (b"one", b"two"):
        assert find(found, [USER], client=client, after=["resp_B"])[1] is None
        assert find(found, [USER], client=client, after=["resp_B", "resp_C"])[1] is None


def test_the_name_of_a_forgotten_conversation_names_no_other(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    found.forget_conversation(begun(found, reply(1), name="resp_A1"))
    begun(found, reply(2), name="resp_A1")
    assert find(found, [USER], after=["resp_A1"])[1] is None


def test_the_same_conversation_may_get_one_name_again(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    kept = begun(found, name="resp_A1")
    remember(found, kept, found.open_conversation(kept).start_exchange(), [], "resp_A1")
    assert find(found, [USER], after=["resp_A1"])[0] is kept


def test_tool_calls_and_thoughts_between(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    sent = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    call = {**sent, "id": "f", "status": "completed"}
    thought = {"type": "reasoning", "id": "r", "summary": []}
    kept, _ = find(found, [USER], size=10)
    remember(found, kept, Conversation(sanitizer), [[thought, call]], "r")
    assert find(found, [USER, sent, {"type": "function_call_output"}])[0] is kept
    assert find(found, [USER, thought, call])[0] is kept
    assert find(found, [USER, {**call, "name": "other"}])[0] is not kept


def test_what_rested_too_long_is_forgotten(sanitizer: Sanitizer) -> None:
    clock = Clock()
    found = conversations(sanitizer, clock, seconds=100)
    kept = begun(found)
    clock.now = 99
    assert find(found, [USER, REPLY])[0] is kept
    clock.now = 199
    found.expire_conversations()
    assert len(found) == 1
    clock.now = 200
    found.expire_conversations()
    assert len(found) == 0
    assert found._entry_by_hash == {}
    assert find(found, [USER, REPLY])[0] is not kept


@pytest.mark.parametrize("keeping", [{"max_conversations": 3}, {"max_bytes": 5_500}])
def test_those_that_rested_longest_go_first(sanitizer: Sanitizer, keeping: dict[str, Any]) -> None:
    found = conversations(sanitizer, **keeping)
    kept = [begun(found, reply(number), name=f"r{number}") for number in range(3)]
    assert find(found, [USER, reply(0)], size=0)[0] is kept[0]
    begun(found, reply(3), name="r3")
    assert len(found) == 3
    assert find(found, [USER, reply(0)], size=0)[0] is kept[0]
    assert find(found, [USER, reply(1)], size=0)[0] is not kept[1]


async def at_once(work: Any, *arguments: Any, size: int = 0) -> Any:
    return work(*arguments)


def asks(found: ConversationStore, number: int, messages: list[Any], size: int = 10, after: str = "") -> Any:
    """Send a request of a conversation and restore its reply; return the conversation, the output and the reply."""

    async def asking() -> Any:
        kept, earlier = find(found, messages, named=None if after else f"c{number}", after=[after], size=size)
        async with found.track_request(kept, at_once):
            exchange = found.open_conversation(kept).start_exchange(earlier)
            sent = exchange.outgoing(messages)
            assert kept.conversation is not None  # also where others come meanwhile
            said = exchange.incoming(sent[0]["content"]).reply
            remember(found, kept, exchange, [], f"r{number}", messages=messages)
            return kept, sent, said, exchange

    return asyncio.run(asking())


def test_those_that_rest_are_packed_and_go_on(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    most = 1 << 20  # bytes of last requests, together
    first = [asks(found, number, [USER], size=most // 16) for number in range(20)]
    packed = [kept for kept, *_ in first if kept.packed]
    assert packed == [kept for kept, *_ in first[:4]]
    assert all(kept.conversation is None for kept in packed)
    assert found._total_bytes == sum(kept.estimated_bytes for kept, *_ in first)
    assert all(kept.estimated_bytes > len(kept.packed) for kept in packed)
    later = {"role": "user", "content": "Novak?"}
    for number, (kept, sent, said, _) in enumerate(first):
        assert said == USER["content"]
        again = asks(found, number, [USER, later])
        assert (again[0], again[1][0], again[2]) == (kept, sent[0], said)
        assert again[1][1]["content"][:-1] in sent[0]["content"]
    rested = list(found._idle)
    kept, sent, *_ = asks(found, 99, [USER], size=most + 1)
    assert kept.packed  # a large one at once
    assert list(found._idle) == rested
    exchange = asks(found, 100, [{"role": "user", "content": "Go on."}], after="r99")[3]
    assert exchange.incoming(sent[0]["content"]).reply == USER["content"]  # what the provider remembers
    for kept in list(found._stored.values()):
        found.forget_conversation(kept)
    assert (found._total_bytes, found._entry_by_hash, found._idle) == (0, {}, {})


def test_one_that_is_asked_is_not_packed_or_remembered_when_it_is_gone(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)

    async def asking() -> None:
        kept, _ = find(found, [USER], named="one", size=1 << 20)
        async with found.track_request(kept, at_once):
            exchange = found.open_conversation(kept).start_exchange()
            async with found.track_request(kept, at_once):
                pass
            assert kept.conversation is not None
            await found.delete_conversation(CLIENT, "one", at_once)
            remember(found, kept, exchange, [[REPLY]], "r")
        assert (found._total_bytes, found._entry_by_hash, found._idle, len(found)) == (0, {}, {}, 0)

    asyncio.run(asking())


def test_nothing_raw_is_kept_to_tell_them(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer)
    client = found.hasher.hash_client([b"authorization the-clients-key"])
    begun(found, client=client, named="Novak")
    assert all(isinstance(mark, bytes) and len(mark) == 32 for mark in found._entry_by_hash)
    assert b"the-clients-key" not in client


def test_one_conversation_has_no_end_of_beginnings(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textveil_cli.gateway.conversation_store._MAX_HASHES", 5)
    found = conversations(sanitizer)
    for number in range(20):
        begun(found, reply(number), named="one", name=f"r{number}")
    assert len(found._entry_by_hash) == len(found._owner_by_reply_id) == 5
    begun(found, reply(99), named="two", name="r0")
    assert find(found, [USER], after=["r0"])[1] is None  # an old name names no other conversation


def test_a_folder_that_is_gone_does_not_end_the_sweeping(sanitizer: Sanitizer, tmp_path: Path) -> None:
    conversations(sanitizer, folder=tmp_path / "gone").delete_expired_mappings()


def ask_stored(found: ConversationStore, messages: list[Any], name: str = "one") -> tuple[Any, str, str]:
    """Send a request of a stored conversation; return the conversation, what was sent and the restored reply."""

    async def ask() -> tuple[Any, str, str]:
        kept, _ = find(found, messages, named=name)
        async with found.track_request(kept, at_once), kept.lock:
            exchange = found.open_conversation(kept).start_exchange()
            sent = exchange.outgoing(messages)
            found.save_conversation(kept)
            reply = exchange.incoming({"role": "assistant", "content": sent[-1]["content"]}).reply
            found.save_conversation(kept)
        return kept, sent[0]["content"], reply["content"]

    return asyncio.run(ask())


def test_two_stores_of_one_database_continue_one_conversation_in_turns(sanitizer: Sanitizer, tmp_path: Path) -> None:
    """Each has a copy in memory, which is old as soon as the other one has answered."""
    one, other = (conversations(sanitizer, folder=tmp_path) for _ in range(2))
    messages: list[Any] = [USER]
    sent = ask_stored(one, messages)[1]
    for number in range(6):
        reply = {"role": "assistant", "content": USER["content"]} if number else None
        messages = [
            *messages,
            *([reply] if reply else []),
            {"role": "user", "content": f"Zqxwvina paid {4100 + number}."},
        ]
        kept, again, restored = ask_stored((other, one)[number % 2], messages)
        assert (again, restored) == (sent, messages[-1]["content"])
    assert len(kept.conversation._shared.sent_messages) >= 7  # the messages that the other one has sent too


def test_a_mapping_that_another_gateway_has_deleted_is_used_by_no_copy(sanitizer: Sanitizer, tmp_path: Path) -> None:
    one, other = (conversations(sanitizer, folder=tmp_path) for _ in range(2))
    kept, _, _ = ask_stored(one, [USER])
    assert asyncio.run(other.delete_conversation(CLIENT, "one", at_once))
    assert not asyncio.run(other.delete_conversation(CLIENT, "one", at_once))
    assert kept.conversation is not None  # the copy in the memory of the first one
    earlier = kept.conversation
    again, _, _ = ask_stored(one, [{"role": "user", "content": "Hello."}])
    assert again is kept
    assert again.conversation is not earlier
    assert again.conversation._shared.key != earlier._shared.key


def test_a_packed_copy_that_is_old_is_not_used(sanitizer: Sanitizer, tmp_path: Path) -> None:
    one, other = (conversations(sanitizer, folder=tmp_path) for _ in range(2))
    kept, sent, _ = ask_stored(one, [USER])
    kept.packed, kept.conversation = kept.conversation.pack(), None
    ask_stored(other, [{"role": "user", "content": "I am Kwyxvorn Zlupp."}])
    kept, again, _ = ask_stored(one, [USER])
    assert again == sent
    assert len(kept.conversation._shared.sent_messages) >= 2


def test_a_wrong_key_or_a_changed_mapping_is_an_error(sanitizer: Sanitizer, tmp_path: Path) -> None:
    ask_stored(conversations(sanitizer, folder=tmp_path), [USER])
    found = conversations(sanitizer, folder=tmp_path)
    assert found._database is not None
    found._database._key = bytes([1]) * 32
    with pytest.raises(KeyFileError):
        ask_stored(found, [USER])


def count_rows(folder: Path) -> int:
    with contextlib.closing(sqlite3.connect(folder / "mappings.sqlite")) as database:
        return database.execute("SELECT COUNT(*) FROM conversations").fetchone()[0]


def test_a_deleted_conversation_is_not_written_again_by_a_save_in_flight(sanitizer: Sanitizer, tmp_path: Path) -> None:
    """This also holds if the conversation was dropped from memory meanwhile, or if a request of it waits."""
    (tmp_path / "mappings").mkdir()
    for is_forgotten in (False, True):
        found = conversations(sanitizer, folder=tmp_path / "mappings")

        async def main(found: ConversationStore = found, is_forgotten: bool = is_forgotten) -> None:
            is_saving, may_end = asyncio.Event(), asyncio.Event()

            async def ask() -> None:
                kept, _ = find(found, [USER], named="one")
                async with found.track_request(kept, at_once), kept.lock:
                    found.open_conversation(kept).start_exchange().outgoing([USER])
                    is_saving.set()
                    await may_end.wait()
                    found.save_conversation(kept)

            async def ask_again() -> None:
                kept, _ = find(found, [USER], named="one")
                async with found.track_request(kept, at_once), kept.lock:
                    again.append(found.open_conversation(kept).start_exchange().outgoing([USER]))
                    found.save_conversation(kept)

            again: list[Any] = []
            first = asyncio.ensure_future(ask())
            await is_saving.wait()
            tasks = [] if is_forgotten else [asyncio.ensure_future(ask_again())]
            if is_forgotten:
                found.forget_conversation(find(found, [USER], named="one")[0])
            await asyncio.sleep(0)
            deleting = asyncio.ensure_future(found.delete_conversation(CLIENT, "one", at_once))
            for _ in range(5):
                await asyncio.sleep(0)
            assert not deleting.done()
            may_end.set()
            assert await deleting
            await asyncio.gather(first, *tasks)
            assert count_rows(tmp_path / "mappings") == 0
            assert found._active_by_name == {}

        asyncio.run(main())


def test_a_pack_goes_on_without_its_request_and_one_that_fails_is_counted(sanitizer: Sanitizer) -> None:
    found, size = conversations(sanitizer, max_bytes=1 << 26), (1 << 20) + 1

    async def main() -> None:
        may_end, begun_packing = asyncio.Event(), asyncio.Event()

        async def slowly(work: Any, *arguments: Any, size: int) -> None:
            begun_packing.set()
            await may_end.wait()
            work(*arguments)

        async def fails(work: Any, *arguments: Any, size: int) -> None:
            raise TimeoutError

        async def ask(name: str, run: Any, size: int) -> Any:
            kept, _ = find(found, [USER], named=name, size=size)
            async with found.track_request(kept, run):
                found.open_conversation(kept).start_exchange().outgoing([USER])
            return kept

        canceled = asyncio.ensure_future(ask("one", slowly, size))
        await begun_packing.wait()
        canceled.cancel()
        await asyncio.wait([canceled])
        may_end.set()
        for _ in range(5):
            await asyncio.sleep(0)
        (kept,) = found._stored.values()
        assert kept.packed
        assert kept.conversation is None
        kept = await ask("two", fails, size)
        assert kept.conversation is not None
        assert found._total_bytes == sum(one.estimated_bytes for one in found._stored.values()) > 10 * size
        await ask("three", at_once, 1)  # it is packed with the next one
        assert kept.conversation is None
        assert found._total_bytes == sum(one.estimated_bytes for one in found._stored.values()) < size

    asyncio.run(main())


def test_conversations_that_cannot_be_packed_meet_the_limit_of_mappings(sanitizer: Sanitizer) -> None:
    found = conversations(sanitizer, max_bytes=1 << 25)

    async def fails(work: Any, *arguments: Any, size: int) -> None:
        raise TimeoutError

    async def ask(number: int) -> None:
        kept, _ = find(found, [USER], named=f"{number}", size=1 << 20)
        async with found.track_request(kept, fails):
            found.open_conversation(kept)

    for number in range(20):
        asyncio.run(ask(number))
    assert len(found) <= 3
    assert found._total_bytes <= 1 << 25


def test_few_of_the_messages_of_a_request_are_looked_up(sanitizer: Sanitizer) -> None:
    class Counted(dict[bytes, Any]):
        looked_up = 0

        def get(self, *given: Any) -> Any:
            self.looked_up += 1
            return super().get(*given)

    found = conversations(sanitizer)
    found._entry_by_hash = Counted()
    found.find_conversation(CLIENT, None, [number.to_bytes(4) for number in range(100_000)], (), 1)
    assert found._entry_by_hash.looked_up <= 4_096
