"""Methods of a conversation for ``asyncio``, which run the work in a thread so that the event loop is not blocked."""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from textveil.errors import WorkStopped
from textveil.work_steps import check_work, limit_work

if TYPE_CHECKING:
    from textveil.conversation.reply_restorer import RestoredReply

_Result = TypeVar("_Result")


class AsyncMethods:
    """Base class that gives ``Conversation`` its methods for ``asyncio``.

    Each method runs, in a thread, the method of the same name without the first letter *a*: ``aoutgoing`` runs
    ``outgoing``. If the caller's task is canceled, the thread ends within milliseconds, and then the method raises
    ``asyncio.CancelledError``. So a later call never runs at the same time as canceled work.

    >>> import asyncio
    >>> from textveil import Conversation
    >>> async def ask(conversation, text):
    ...     sent = await conversation.aoutgoing([{"role": "user", "content": text}])
    ...     found = await conversation.aincoming(sent[0])  # a model that repeats its message
    ...     return found.reply["content"]
    >>> asyncio.run(ask(Conversation(), "Anna Novak called."))
    'Anna Novak called.'
    """

    async def aoutgoing(self: Any, messages: list[Any]) -> list[Any]:
        """Hide names and numbers in messages before they are sent to the model; see ``outgoing``."""
        return await run_in_thread(self.outgoing, messages)

    async def aoutgoing_text(self: Any, text: str, entity_type: str | None = None) -> str:
        """Hide names and numbers in a text before it is sent to the model; see ``outgoing_text``."""
        return await run_in_thread(self.outgoing_text, text, entity_type)

    async def aoutgoing_unlinked(self: Any, text: str) -> str:
        """Hide the words of a text that the model wrote and someone changed; see ``outgoing_unlinked``."""
        return await run_in_thread(self.outgoing_unlinked, text)

    async def aprepare_reply(self: Any) -> None:
        """Build the index for restoring the next reply; see ``prepare_reply``."""
        await run_in_thread(self.prepare_reply)

    async def aincoming(self: Any, reply: Any, *, record: bool = True, other_parts: Any = None) -> "RestoredReply":
        """Return a reply of the model in which the hidden strings are back in their places; see ``incoming``."""
        return await run_in_thread(self.incoming, reply, record=record, other_parts=other_parts)

    async def astream(self: Any, chunks: AsyncIterable[str], *, record: bool = True) -> AsyncIterator[str]:
        """Yield one text of a reply, with the originals put back, while the text arrives; see ``stream``.

        The text is recorded (so that the client can send it again) only after the last chunk. A canceled or interrupted
        text is not recorded.

        >>> import asyncio
        >>> from textveil import Conversation
        >>> async def chunks(text):
        ...     for character in text:
        ...         yield character
        >>> async def ask(conversation):
        ...     sent = await conversation.aoutgoing_text("Anna Novak called.")
        ...     return "".join([piece async for piece in conversation.astream(chunks(sent))])
        >>> asyncio.run(ask(Conversation()))
        'Anna Novak called.'

        Args:
            chunks: The text as the model writes it, in chunks of any length.
            record: Whether the text is a part of the reply to the last messages (see ``incoming``).
        """
        stream = await run_in_thread(self.stream, record=record)
        async for chunk in chunks:
            if piece := await run_in_thread(stream.feed, chunk):
                yield piece
        if piece := await run_in_thread(stream.close):
            yield piece

    async def arecord_reply(self: Any, written: Any, restored: Any) -> None:
        """Record the model's reply to the last messages, so that it can be sent again; see ``record_reply``."""
        await run_in_thread(self.record_reply, written, restored)


async def run_in_thread(work: Callable[..., _Result], *arguments: Any, **options: Any) -> _Result:
    """Run a function in a thread and return its result.

    If the task of the caller is canceled, stop the function, wait for its end and raise ``asyncio.CancelledError``.
    """
    import asyncio  # not above: it loads sockets, and the library is used without them

    is_canceled = False

    def check() -> None:
        if is_canceled:
            raise WorkStopped("the task that waits for the work was canceled")

    def run() -> _Result:
        with limit_work(check):
            check_work()  # it may have waited for a thread
            return work(*arguments, **options)

    thread = asyncio.ensure_future(asyncio.to_thread(run))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        is_canceled = True
        while not thread.done():
            try:
                await asyncio.wait([thread])
            except asyncio.CancelledError:  # raised below, after the end of the thread
                continue
        if not thread.cancelled():
            thread.exception()  # retrieved, so that asyncio does not log it
        raise
