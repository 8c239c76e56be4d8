"""Put original words back into replies of OpenAI's Chat Completions API."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from textveil import Conversation
from textveil.arguments import join_utf16_halves
from textveil.conversation import find_displayed_texts

from textveil_cli.gateway.api_replies import (
    ApiReplyRestorer,
    drop_fields,
    get_index,
    get_string,
    list_objects,
    list_other_values,
)
from textveil_cli.gateway.sse import ServerSentEvent

#: Fields of a message that contain text. Servers of open models write ``_THOUGHT_FIELDS`` before the answer.
_THOUGHT_FIELDS, _ANSWER_FIELDS = ("reasoning", "reasoning_content"), ("content", "refusal")
_TEXT_FIELDS = (*_ANSWER_FIELDS, *_THOUGHT_FIELDS)
#: Field in which some servers repeat the reasoning text.
_DETAILS_FIELD = "reasoning_details"


class ChatReplyRestorer(ApiReplyRestorer):
    """Object that puts original words back into one reply of OpenAI's Chat Completions API, streamed or complete."""

    _last_chunk: Mapping[str, Any] = {}

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        #: Restored form of each ended text, and the form that the model wrote.
        self._ended_texts: dict[Any, tuple[str, str]] = {}

    def _get_group(self, place: Any) -> Any:
        """Return the key of the group of texts that contains the text at the position ``place`` of the reply.

        A client may display all texts of a group as one text. The key of an answer is the index of its choice
        (alternative reply). Reasoning text is a group of its own, since clients display reasoning before the answer or
        apart from it.
        """
        return place if place[1] in _THOUGHT_FIELDS else place[0]

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a complete (not streamed) reply, with original words in place of their surrogates (replacements)."""
        outer_values = [*list_other_values(reply.get("choices")), drop_fields(reply, "choices")]
        for choice in list_objects(reply.get("choices")):
            message = choice.get("message")
            if isinstance(message, dict) and message.get("type", "message") == "message":
                message = {"role": "assistant", **message}  # some servers omit the role
                other_parts = [drop_fields(choice, "message"), *outer_values]
                choice["message"] = self._restore_value(message, record=True, other_parts=other_parts)
                self.restored_messages.append([choice["message"]])
        return reply

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield a chunk of a stream, with original words in place of their surrogates (replacements).

        If a text ends with the possible beginning of a surrogate, such as ``Mar`` of ``Maria``, this end is held back,
        and sent with a later chunk. The last chunk of a choice (alternative reply) contains all text of the choice that
        is still held back.
        """
        self._last_chunk = event.data
        self._track_unchanged([*list_other_values(event.data.get("choices")), drop_fields(event.data, "choices")])
        for choice in list_objects(event.data.get("choices")):
            index, delta = _parse_choice_index(choice.get("index", 0)), choice.setdefault("delta", {})
            if index is None or not isinstance(delta, dict):
                self._track_unchanged(choice)  # unknown choice: a client may display it in any text
                continue
            self._track_in_choice(index, drop_fields(choice, "delta"))
            self._restore_delta(index, delta)
            if choice.get("finish_reason") is not None:
                self._finish_choice(index, delta)
        yield event

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield the rest of a reply at the end of a stream: text held back as the possible beginning of a surrogate."""
        for index in {place[0]: None for place in (*self._streams, *self._calls)}:
            delta: dict[str, Any] = {}
            self._finish_choice(index, delta)
            if delta:
                choices = [{"index": index, "delta": delta, "finish_reason": None}]
                yield ServerSentEvent("", {**self._last_chunk, "choices": choices})

    def _track_in_choice(self, index: Any, value: Any) -> None:
        """Store a value that the client gets unchanged and may display next to the texts of one choice.

        A choice is an alternative reply. If the value begins a link, the restorer puts no original word back inside
        that link.
        """
        for text in find_displayed_texts(value):
            for group in (index, *((index, name) for name in _THOUGHT_FIELDS)):
                self._get_view(group).pass_text(text)

    def _restore_delta(self, index: Any, delta: dict[str, Any]) -> None:
        texts = {name: delta[name] for name in (*_THOUGHT_FIELDS, *_ANSWER_FIELDS) if isinstance(delta.get(name), str)}
        restored = dict.fromkeys(texts, "")
        for text in find_displayed_texts(
            delta.get(_DETAILS_FIELD), is_part=True
        ):  # the reasoning text again, or a part of it
            self._get_view(index).pass_part(_DETAILS_FIELD, text)
        self._track_in_choice(index, drop_fields(delta, *texts, _DETAILS_FIELD))
        for name, text in texts.items():
            if text:
                self._start_text(index, name, text, restored)
            restored[name] = restored[name] + self._feed_text((index, name), text)
        delta.update(restored)
        for call in list_objects(delta.get("tool_calls")):
            place, part = (index, "call", get_index(call)), call.get("function")
            if isinstance(part, dict):
                call_so_far = self._calls.setdefault(place, {"name": "", "arguments": "", "id": call.get("id")})
                for name in ("name", "arguments"):
                    call_so_far[name] += get_string(part.get(name))
                if call_so_far["name"] in self._tools and part.get("arguments"):
                    part["arguments"] = ""

    def _start_text(self, index: Any, name: str, text: str, restored: dict[str, str]) -> None:
        """Prepare a choice (alternative reply) for the next part of one of its texts.

        A choice has several texts, such as the answer and the reasoning. If the part begins a new text, the other texts
        end. The method then adds to ``restored`` the ends of these texts, which were held back as possible beginnings
        of a surrogate (replacement).

        Args:
            index: Index of the choice.
            name: Field of the text, such as ``content``.
            text: The new part.
            restored: Parts of the current chunk with original words, by field.
        """
        place = (index, name)
        if name in _ANSWER_FIELDS:
            for other in (*_THOUGHT_FIELDS, *_ANSWER_FIELDS):
                if other != name and (rest := self._end_text((index, other))):
                    restored[other] = restored.get(other, "") + rest
            if place in self._ended_texts and place not in self._streams:
                self._get_view(index).mark_replacement()
        elif any((index, answer) in self._begun_texts for answer in _ANSWER_FIELDS):
            self._get_view(place).stop_restoring()  # a client may display it after the answer
            self._get_view(index).pass_text(text)

    def _end_text(self, place: Any) -> str:
        """Return the last characters of a text, held back as the possible beginning of a surrogate (replacement).

        The text may continue later.
        """
        rest, restored, written = self._close_text(place)
        earlier = self._ended_texts.get(place, ("", ""))
        self._ended_texts[place] = earlier[0] + restored, earlier[1] + written
        if written and place[1] in _THOUGHT_FIELDS:
            self._get_view(place[0]).pass_text(written)
        return rest

    def _finish_choice(self, index: Any, delta: dict[str, Any]) -> None:
        message: dict[str, Any] = {"role": "assistant"}
        written: dict[str, Any] = {"role": "assistant", "tool_calls": []}
        for name in _TEXT_FIELDS:
            rest = self._end_text((index, name))
            message[name], written[name] = self._ended_texts.pop((index, name))
            if rest:
                delta[name] = get_string(delta.get(name)) + rest
        calls = []
        for place in [place for place in self._calls if place[0] == index]:
            call_so_far = self._calls.pop(place)
            call_so_far["arguments"] = join_utf16_halves(call_so_far["arguments"])
            call = {"type": "function", "id": call_so_far.pop("id"), "function": call_so_far}
            calls.append(self._restore_value([call])[0])
            written["tool_calls"].append(call)
            if call_so_far["name"] in self._tools:
                function = {"arguments": calls[-1]["function"]["arguments"]}
                begun = delta.get("tool_calls")
                last = {"index": place[2], "function": function}
                delta["tool_calls"] = [*begun, last] if isinstance(begun, list) else [last]
        self.restored_messages.append([{**message, "tool_calls": calls}])
        self._exchange.record_reply(written, self.restored_messages[-1][0])


def _parse_choice_index(value: Any) -> int | None:
    """Return the index of a choice as a number; 0 if the index is missing.

    The result is ``None`` for a value that clients may interpret differently.
    """
    return 0 if value is None else value if type(value) is int else None
