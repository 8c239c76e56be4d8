"""Messages of LangChain under a conversation: as they go out, and as a reply, or a stream of it, comes back."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from textveil import Conversation
from textveil.conversation import Incoming
from textveil.errors import ExtraMissing

try:
    from langchain_core.messages import (
        AIMessage,
        AIMessageChunk,
        BaseMessage,
        ToolMessage,
        convert_to_messages,
        convert_to_openai_messages,
    )
except ImportError as error:
    raise ExtraMissing.of("langchain", "langchain-core") from error

#: What a reply says of itself: fields of ``Incoming``; ``skipped`` has pairs of a surrogate and the reason.
_STAYED = ("unplaced", "ambiguous", "tools", "skipped")
#: Parts that are calls of tools: LangChain has these beside the content too.
_CALLS = frozenset(("tool_use", "input_json_delta", "tool_call", "tool_call_chunk", "function_call"))
#: Parts that a provider wants back as it sent them.
_SIGNED = frozenset(("thinking", "redacted_thinking", "reasoning"))
_NO_CALLS = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": [], "chunk_position": None}


def outgoing(conversation: Conversation, messages: Sequence[Any]) -> list[Any]:
    """Returns messages in any form that LangChain takes as they may go out.

    Raises:
        InputError: A message has a shape that is not known.
    """
    said = [_without_calls(message) for message in convert_to_messages(messages)]
    sent = convert_to_messages(conversation.outgoing([*convert_to_openai_messages(said)]))
    failed = {one.tool_call_id for one in said if isinstance(one, ToolMessage) and one.status == "error"}
    for message in sent:
        if isinstance(message, ToolMessage) and message.tool_call_id in failed:
            message.status = "error"
    return sent


def _without_calls(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or isinstance(message.content, str):
        return message
    parts = [part for part in message.content if isinstance(part, str) or part.get("type") not in _CALLS]
    return message.model_copy(update={"content": parts})


def restored(conversation: Conversation, reply: AIMessage) -> AIMessage:
    """Returns a reply with the words of the user; its ``response_metadata["textveil"]`` says what could not be."""
    found = conversation.incoming(convert_to_openai_messages(reply))
    (message,) = convert_to_messages([found.reply])
    kept = {name: getattr(reply, name) for name in ("id", "name", "usage_metadata", "invalid_tool_calls")}
    told = {**reply.response_metadata, "textveil": _list_stayed(found)}
    return message.model_copy(update={**kept, "response_metadata": told})  # pyright: ignore[reportReturnType]


def _list_stayed(found: Incoming) -> dict[str, list[Any]]:
    """List what stayed of a reply, in types that any serializer of messages keeps."""
    listed: dict[str, list[Any]] = {name: list(getattr(found, name)) for name in _STAYED}
    return listed | {"skipped": [[written, reason.value] for written, reason in found.skipped]}


class Pieces:
    """Restores a reply that comes in chunks: texts as they come, calls of tools at the end.

    Args:
        conversation: What restores, after the messages were sent: it finds what had gone out by now.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation, self._stream = conversation, conversation.stream()
        self._calls = AIMessageChunk(content="")
        self._part: dict[str, Any] | None = None
        self._id: str | None = None
        self._told: dict[str, list[Any]] = {name: [] for name in _STAYED}

    def feed(self, chunk: AIMessage) -> AIMessageChunk:
        """Returns what is decided once a chunk has come, or the whole reply of a model that does not stream."""
        if not isinstance(chunk, AIMessageChunk):
            chunk = AIMessageChunk(**chunk.model_dump(exclude={"type"}))
        self._calls += AIMessageChunk(content="", tool_call_chunks=chunk.tool_call_chunks)
        self._id = self._id or chunk.id
        content: Any = chunk.content
        content = (
            self._stream.feed(content)
            if isinstance(content, str)
            else [*chain.from_iterable(map(self._parts, content))]
        )
        return chunk.model_copy(update={**_NO_CALLS, "content": content})

    def close(self) -> AIMessageChunk:
        """Returns the rest of the text, all calls of tools, and what could not be restored."""
        content: Any = self._rest() if self._part is None else [{**self._part, "text": self._rest()}]
        calls = self._calls + AIMessageChunk(content="", chunk_position="last")
        whole = restored(self._conversation, AIMessage(content=calls.content, tool_calls=calls.tool_calls))
        self._told["tools"] = whole.response_metadata["textveil"]["tools"]
        return AIMessageChunk(
            content=content,
            id=self._id,
            tool_calls=whole.tool_calls,
            invalid_tool_calls=calls.invalid_tool_calls,
            response_metadata={"textveil": self._told},
            chunk_position="last",
        )

    def _parts(self, part: str | dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What becomes of a part; what is held back of another one comes before it."""
        part = {"type": "text", "text": part} if isinstance(part, str) else part
        if part.get("type") in _CALLS:
            return
        if self._part is not None and part.get("index") != self._part.get("index") and (rest := self._rest()):
            yield {**self._part, "text": rest}
        if part.get("type") in _SIGNED:
            self._calls += AIMessageChunk(content=[part])
        if part.get("type") == "text":
            self._part = part
            part = {**part, "text": self._stream.feed(part.get("text") or "")}
        yield part

    def _rest(self) -> str:
        rest = self._stream.close()
        if self._stream.incoming is not None:
            for name, stayed in _list_stayed(self._stream.incoming).items():
                self._told[name] += stayed
        ended, self._stream = self._stream, self._conversation.stream()
        self._stream.follow(ended)
        return rest
