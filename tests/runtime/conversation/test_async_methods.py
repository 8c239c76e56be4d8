"""Methods for ``asyncio`` do what their namesakes do, in a thread, and canceled work ends before the caller goes on."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textveil import Conversation, InputError, Sanitizer
from textveil.work_steps import check_work

TEXT = "Zqxwvina Qwyxholm paid order 88213."
MESSAGES = [{"role": "user", "content": TEXT}]
#: Ends a test that would wait for ever.
PATIENCE = 60


def test_each_method_has_the_results_of_its_namesake(sanitizer: Sanitizer) -> None:
    async def ask(conversation: Conversation) -> None:
        sent = await conversation.aoutgoing(MESSAGES)
        assert sent == conversation.outgoing(MESSAGES)
        assert "Zqxwvina" not in str(sent)
        assert await conversation.aoutgoing_text(TEXT) == conversation.outgoing_text(TEXT) == sent[0]["content"]
        unlinked = await conversation.aoutgoing_unlinked(TEXT)
        assert "Zqxwvina" not in unlinked
        await conversation.aprepare_reply()
        written = {"role": "assistant", "content": f"Noted: {sent[0]['content']}"}
        found = await conversation.aincoming(written, record=False)
        assert found.reply["content"] == f"Noted: {TEXT}"
        await conversation.arecord_reply(written, found.reply)
        again = await conversation.aoutgoing([*MESSAGES, found.reply])
        assert again[1]["content"] == written["content"]  # as the model wrote it

    asyncio.run(ask(Conversation(sanitizer)))


def test_a_stream_of_single_characters_is_restored_and_recorded(sanitizer: Sanitizer) -> None:
    async def ask(conversation: Conversation) -> None:
        sent = await conversation.aoutgoing(MESSAGES)
        written = f"Noted: {sent[0]['content']}"

        async def chunks() -> AsyncIterator[str]:
            for character in written:
                yield character

        pieces = [piece async for piece in conversation.astream(chunks())]
        assert len(pieces) > 1
        assert "".join(pieces) == f"Noted: {TEXT}"
        reply = {"role": "assistant", "content": "".join(pieces)}
        assert (await conversation.aoutgoing([*MESSAGES, reply]))[1]["content"] == written

    asyncio.run(ask(Conversation(sanitizer)))


def test_a_saved_conversation_goes_on(sanitizer: Sanitizer, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    path, key = tmp_path / "data" / "chat", tmp_path / "keys" / "key"
    path.parent.mkdir()
    key.parent.mkdir()

    async def ask(conversation: Conversation) -> None:
        sent = await conversation.aoutgoing(MESSAGES)
        await conversation.asave(path, key)
        loaded = await Conversation.aload(path, key, sanitizer)
        assert await loaded.aoutgoing(MESSAGES) == sent

    asyncio.run(ask(Conversation(sanitizer)))


def test_errors_are_those_of_the_namesake(sanitizer: Sanitizer) -> None:
    async def ask() -> None:
        with pytest.raises(InputError, match="unknown"):
            await Conversation(sanitizer).aoutgoing([{"role": "user", "content": TEXT, "zqxwvina": 1}])

    asyncio.run(ask())


def test_every_public_method_that_rewrites_or_restores_has_a_method_for_asyncio() -> None:
    """Methods without one take no time, or belong into a thread of the caller: they pack or free a conversation."""
    quick = {
        "are_equal_arguments", "claim_reply", "count_call", "count_call_name", "declare_tools", "exclude_tool_results",
        "free_memory", "is_field_name", "make_reply_view", "pack", "start_exchange", "unpack",
    }  # fmt: skip
    public = {name for name, _ in inspect.getmembers(Conversation, callable) if not name.startswith("_")}
    methods = {name for name in public if inspect.iscoroutinefunction(getattr(Conversation, name))} | {"astream"}
    assert {name.removeprefix("a") for name in methods} == public - methods - quick


class HeldRewriter:
    """Rewrites a text only after it was let go, and checks whether it has to stop."""

    def __init__(self) -> None:
        self.thread: Any = None
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.is_stopped = False

    def __call__(self, text: str) -> str:
        self.thread = threading.current_thread()
        self.begun.set()
        try:
            while not self.may_end.wait(0.001):
                check_work()
        except BaseException:
            self.is_stopped = True
            raise
        return "rewritten"


async def wait_until_begun(rewriter: HeldRewriter) -> None:
    async with asyncio.timeout(PATIENCE):
        while not rewriter.begun.is_set():
            await asyncio.sleep(0.001)


def test_the_event_loop_goes_on_meanwhile(sanitizer: Sanitizer) -> None:
    async def ask() -> None:
        rewriter = HeldRewriter()
        asking = asyncio.ensure_future(Conversation(sanitizer, rewrite=rewriter).aoutgoing(MESSAGES))
        await wait_until_begun(rewriter)  # the loop runs this while the thread rewrites
        assert rewriter.thread is not threading.main_thread()
        assert not asking.done()
        rewriter.may_end.set()
        assert (await asking)[0]["content"] == "rewritten"

    asyncio.run(ask())


def test_a_canceled_task_stops_its_work_and_the_conversation_goes_on(sanitizer: Sanitizer) -> None:
    async def ask() -> None:
        rewriter = HeldRewriter()
        conversation = Conversation(sanitizer, rewrite=rewriter)
        asking = asyncio.ensure_future(conversation.aoutgoing(MESSAGES))
        await wait_until_begun(rewriter)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(PATIENCE):
                await asking
        assert rewriter.is_stopped
        rewriter.may_end.set()
        assert (await conversation.aoutgoing(MESSAGES))[0]["content"] == "rewritten"  # its lock is free

    asyncio.run(ask())


def test_a_task_that_is_canceled_twice_still_waits_for_the_end_of_its_thread(sanitizer: Sanitizer) -> None:
    """Work that never checks ends by itself; no later call runs beside it."""

    async def ask() -> None:
        begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

        def rewrite(text: str) -> str:
            begun.set()
            may_end.wait(PATIENCE)
            ended.set()
            return text

        asking = asyncio.ensure_future(Conversation(sanitizer, rewrite=rewrite).aoutgoing(MESSAGES))
        await asyncio.to_thread(begun.wait, PATIENCE)
        for _ in range(2):
            asking.cancel()
            await asyncio.sleep(0.01)
        assert not asking.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert ended.is_set()

    asyncio.run(ask())


def test_many_tasks_share_one_conversation(sanitizer: Sanitizer) -> None:
    async def ask(conversation: Conversation, number: int) -> None:
        exchange, text = conversation.start_exchange(), f"Zqxwvina Qwyxholm paid order {88000 + number}."
        sent = await exchange.aoutgoing([{"role": "user", "content": text}])
        assert (await exchange.aincoming({"role": "assistant", "content": sent[0]["content"]})).reply["content"] == text

    async def main() -> None:
        conversation = Conversation(sanitizer)
        await asyncio.gather(*(ask(conversation, number) for number in range(40)))

    asyncio.run(main())
