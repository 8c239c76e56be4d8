"""Replace names in LangChain messages to a model, and put the original names back into replies and streams."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from textveil import Conversation
from textveil.conversation import (
    RecordedReplyStream,
    RestoredReply,
    find_displayed_texts,
    list_tool_names,
    rewrite_stop_sequences,
)
from textveil.errors import InputError

from textveil_cli.errors import ExtraMissing

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
    raise ExtraMissing.from_extra("langchain", "langchain-core") from error

#: Fields of ``response_metadata["textveil"]``: those of ``textveil restore --json``, and the tools whose arguments keep
#: surrogates.
_REPORT_NAMES = ("restored", "not_restored", "unknown_numbers", "unknown_tags", "tools")
#: Settings of a model with stop sequences.
_STOPS = ("stop", "stop_sequences")
#: Types of parts with tool calls, which LangChain also has outside the content.
_CALL_TYPES = frozenset(("tool_use", "input_json_delta", "tool_call", "tool_call_chunk", "function_call"))
#: Types of tool results, which LangChain converts to messages of their own. None is attributed to the model.
_RESULT_TYPES = frozenset(("tool_result", "function_call_output", "custom_tool_call_output"))
#: Types of parts that a provider expects back unchanged.
_SIGNED_TYPES = frozenset(("thinking", "redacted_thinking", "reasoning"))
#: Fields by which a library assigns the text of a part.
_PLACE_FIELDS = ("type", "index", "id")
#: Message fields that do not belong to the model. They are removed from any reply.
_FOREIGN_FIELDS = {"type", "role", "tool_call_id", "status", "artifact"}
#: Tool calls in the format of the API, beside those of the message. A client receives only the counted ones.
_EXTRA_CALL_FIELDS = frozenset(("tool_calls", "function_call"))
_NO_CALLS = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": [], "chunk_position": None}


def sanitize_messages(conversation: Conversation, messages: Sequence[Any]) -> list[Any]:
    """Replace names in messages; the input may have any form of messages that LangChain supports.

    Raises:
        InputError: A message has an unknown shape.
    """
    prepared = [_drop_calls(message) for message in convert_to_messages(messages)]
    sent = convert_to_messages(conversation.outgoing([*convert_to_openai_messages(prepared)]))
    failed_calls = {one.tool_call_id for one in prepared if isinstance(one, ToolMessage) and one.status == "error"}
    for message in sent:
        if isinstance(message, ToolMessage) and message.tool_call_id in failed_calls:
            message.status = "error"
    return sent


def _drop_calls(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or isinstance(message.content, str):
        return message
    parts = [
        part for part in message.content if isinstance(part, str) or part.get("type") not in _CALL_TYPES | _RESULT_TYPES
    ]
    return message.model_copy(update={"content": parts})


def find_tool_names(tools: Any) -> list[str]:
    """Return the names of tools; the tools may have any form that LangChain binds to a model.

    Such forms are tool definitions, tool objects, classes and functions.
    """
    names = list[str]()
    for tool in tools if isinstance(tools, list | tuple) else ():
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
        names += list_tool_names(tool) if isinstance(tool, Mapping) else [name] if isinstance(name, str) else []
    return names


def restore_reply(conversation: Conversation, reply: BaseMessage) -> AIMessage:
    """Return a reply of the model with the original words in place of their surrogates (replacements).

    ``response_metadata["textveil"]`` of the result lists the surrogates that remain in the reply. The result has the
    role of the model, even if the model returned a message of another role. So the text of the model is never sent
    later as text of the user.

    Raises:
        InputError: The reply has a part of an unknown shape.
    """
    _claim_reply(conversation, reply)
    if not isinstance(reply, AIMessage):
        reply = AIMessage(content=reply.content, id=reply.id, response_metadata=reply.response_metadata)
    ids = [call.get("id") for call in (*reply.tool_calls, *reply.invalid_tool_calls)]
    if reply.invalid_tool_calls and len({*ids}) < len(ids):  # the arguments that a client reports are ambiguous
        conversation.exclude_tool_results()
    try:
        message = convert_to_openai_messages(reply)
    except (KeyError, TypeError, ValueError):
        raise InputError("the reply has a part of an unknown shape") from None
    result = conversation.incoming(message)
    (message,) = convert_to_messages([result.reply])
    attributes = {name: getattr(reply, name) for name in ("id", "name", "usage_metadata", "invalid_tool_calls")}
    metadata = {**reply.response_metadata, "textveil": _list_report(result)}
    return message.model_copy(update={**attributes, "response_metadata": metadata})  # pyright: ignore[reportReturnType]


def _claim_reply(conversation: Conversation, reply: BaseMessage) -> None:
    """Record whether a reply of the model contains results of tool calls.

    The model wrote these results itself. In later requests, names in these results get new surrogates (replacements),
    so that the model cannot test guesses of hidden names.
    """
    parts = reply.content if isinstance(reply.content, list) else []
    call = getattr(reply, "tool_call_id", None)
    results = [] if call is None else [{"role": "tool", "tool_call_id": call}]
    conversation.claim_reply([*results, *parts])


def _list_report(result: RestoredReply) -> dict[str, list[Any]]:
    """Return the report of a restored reply as a dictionary of lists, for any serializer of messages.

    Most keys are those of ``RestoreReport.to_dict``, such as ``not_restored`` with the surrogates (replacements) that
    are still in the reply. The list ``tools`` has the names of called tools whose arguments still have surrogates.
    """
    return {**result.report.to_dict(), "tools": [*result.tools]}


class ChunkedReplyRestorer:
    """Object that puts original words back into a reply of a LangChain model that arrives in chunks.

    The restorer returns texts immediately, and tool calls at the end. Other values that a client may display beside the
    texts, such as reasoning, stay unchanged. If such a value begins a link, the restorer puts no original word back
    inside that link. Each part of the reply is a separate text if it has no index. The field ``response_metadata``
    stays unchanged too; clients do not display it.

    Args:
        conversation: Object that replaced words in the messages to the model. Create the restorer after these messages
            were processed; otherwise their words cannot be put back.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._stream: RecordedReplyStream | None = None
        self._view = conversation.make_reply_view()
        self._calls = AIMessageChunk(content="")
        #: Fields that identify the part with the newest text; ``None`` if the content is one string.
        self._newest_part: dict[str, Any] | None = None
        self._newest_place: Any = None
        self._begun_places: set[Any] = set()
        self._id: str | None = None
        self._report: dict[str, list[Any]] = {name: [] for name in _REPORT_NAMES}

    def feed(self, chunk: BaseMessage) -> AIMessageChunk:
        """Add a chunk of a streamed reply, and return the next part of the reply with original words.

        If the model does not stream, pass the whole reply as one chunk.

        Raises:
            InputError: The model continued a part of its reply after the next part, which this method has already
                returned. The late text could begin a link that the next part continues.
        """
        _claim_reply(self._conversation, chunk)
        if not isinstance(chunk, AIMessageChunk):
            chunk = AIMessageChunk(**chunk.model_dump(exclude=_FOREIGN_FIELDS))
        self._calls += AIMessageChunk(content="", tool_call_chunks=chunk.tool_call_chunks)
        self._id = self._id or chunk.id
        other_values = {
            name: value for name, value in chunk.additional_kwargs.items() if name not in _EXTRA_CALL_FIELDS
        }
        for name, value in other_values.items():
            self._track_unchanged(("additional_kwargs", name), {name: value})
        content: Any = chunk.content
        if isinstance(content, list):
            content = [*chain.from_iterable(map(self._restore_part, content))]
        elif content:
            rest = [*self._begin_place(None, None)]
            content = self._feed_text(content)
            content = [*rest, {"type": "text", "text": content}] if rest else content
        return chunk.model_copy(update={**_NO_CALLS, "content": content, "additional_kwargs": other_values})

    def close(self) -> AIMessageChunk:
        """Return the last part of the reply: the rest of the text, all tool calls, and a report.

        The report lists the surrogates (replacements) that did not become original words again.
        """
        rest = self._close_text()
        content: Any = rest if self._newest_part is None else [{**self._newest_part, "text": rest}]
        calls = self._calls + AIMessageChunk(content="", chunk_position="last")
        both = {"tool_calls": calls.tool_calls, "invalid_tool_calls": calls.invalid_tool_calls}
        whole = restore_reply(self._conversation, AIMessage(content=calls.content, **both))
        self._report["tools"] = whole.response_metadata["textveil"]["tools"]
        return AIMessageChunk(
            content=content,
            id=self._id,
            tool_calls=whole.tool_calls,
            invalid_tool_calls=calls.invalid_tool_calls,
            response_metadata={"textveil": self._report},
            chunk_position="last",
        )

    def _restore_part(self, part: str | dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a part of a reply with original words, after the text that was held back from earlier parts.

        Text is held back if it may be the beginning of a surrogate (replacement).
        """
        part = {"type": "text", "text": part} if isinstance(part, str) else part
        part_type, text = part.get("type"), part.get("text")
        part_type = part_type if isinstance(part_type, str) else ""
        if part_type in _CALL_TYPES:
            return
        is_text, index = part_type == "text" and isinstance(text, str), part.get("index")
        unchanged = {name: value for name, value in part.items() if not (is_text and name == "text")}
        if text if is_text else any(find_displayed_texts(part)):
            yield from self._begin_place(object() if index is None else repr(index), part)
        if part_type in _SIGNED_TYPES:
            self._calls += AIMessageChunk(content=[part])
        self._track_unchanged((part_type, repr(index)), unchanged)
        yield {**part, "text": self._feed_text(text)} if is_text and text else part

    def _begin_place(self, place: Any, part: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
        """Finish the current text of a reply if the next part of the reply belongs to another text.

        Args:
            place: Position in the reply of the text to which the next part belongs.
            part: The next part; ``None`` if the content of the chunk is one string.

        Yields:
            A part with the text that was held back from the ended text, if any.
        """
        if place != self._newest_place or (self._newest_part is None) is not (part is None):
            if place is not None and place in self._begun_places:
                raise InputError(
                    "the model continued a part of its reply after the next part had begun: call the model again"
                )
            if rest := self._close_text():
                yield {**(self._newest_part or {"type": "text"}), "text": rest}
        self._begun_places.add(place)
        self._newest_place = place
        self._newest_part = None if part is None else {name: part[name] for name in _PLACE_FIELDS if name in part}

    def _track_unchanged(self, source: Any, value: Mapping[str, Any]) -> None:
        """Store a value that the client gets unchanged and may display.

        If the value begins a link, the restorer puts no original word back inside that link: a client that opens the
        link would send the word to its host.
        """
        for name, entry in value.items():
            for text in find_displayed_texts({name: entry}, is_part=True):
                self._view.pass_part((source, name), text)

    def _feed_text(self, text: str) -> str:
        if self._stream is None:
            self._stream = self._conversation.stream()
            self._view.begin_text(self._stream)
        return self._stream.feed(text)

    def _close_text(self) -> str:
        stream, self._stream = self._stream, None
        if stream is None:
            return ""
        rest = stream.close()
        self._view.end_text(stream)
        assert stream.result is not None
        for name, entries in _list_report(stream.result).items():
            self._report[name] += entries
        return rest


def rewrite_stops(conversation: Conversation, *settings: Any) -> dict[str, Any]:
    """Return the stop sequences of a model, with names replaced as in the messages of the conversation.

    The keys of the result are the names of the settings, such as ``stop``. If several of the given objects contain the
    same setting, the last value is used.

    Args:
        conversation: The conversation, which stores the surrogate (replacement) of each name.
        settings: Keyword arguments of calls of the model, each a dictionary or ``None``.
    """
    rewritten: dict[str, Any] = {}
    for arguments in settings:
        for name in _STOPS:
            stop = arguments.get(name) if isinstance(arguments, Mapping) else None
            if isinstance(stop, str | list | tuple):
                rewritten[name] = rewrite_stop_sequences(conversation, [stop] if isinstance(stop, str) else stop)
    return rewritten
