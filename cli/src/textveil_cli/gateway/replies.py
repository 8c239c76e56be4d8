"""Restoration of replies of the three APIs, whole or as event streams.

The texts of a reply are restored. All other values pass unchanged.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from textveil import Conversation
from textveil.conversation import RecordedReplyStream, ReplyView, RestoredReply, find_displayed_texts
from textveil.errors import InputError

from textveil_cli.gateway.sse import ServerSentEvent
from textveil_cli.gateway.upstream import make_upstream_refusal

_COUNTED_VIEWS = {
    "placed": "restored",
    "unplaced": "not_restored_words",
    "ambiguous": "ambiguous",
    "tools": "tools",
    "skipped": "skipped",
}
#: Fields of a message with text. ``_THOUGHT_FIELDS`` are fields that servers of open models write before the answer.
_THOUGHT_FIELDS, _ANSWER_FIELDS = ("reasoning", "reasoning_content"), ("content", "refusal")
_TEXT_FIELDS = (*_ANSWER_FIELDS, *_THOUGHT_FIELDS)
#: Field in which some servers repeat a thought.
_DETAILS_FIELD = "reasoning_details"
#: Item types of OpenAI's responses with texts, calls or signed values; and the type of any other item, which is read
#: alone.
_ITEM_TYPES, _UNKNOWN_ITEM_TYPE = frozenset(("message", "function_call", "reasoning")), "unread"
#: Events of OpenAI's responses with tool input, which is no text of the message.
_ARGUMENTS_EVENT = "function_call_arguments"
_INPUT_EVENTS = frozenset(
    (_ARGUMENTS_EVENT, "mcp_call_arguments", "custom_tool_call_input", "code_interpreter_call_code")
)
_EVENT_BY_PART_TYPE = {"text": "output_text", "refusal": "refusal"}


class ApiReplyRestorer:
    """Restorer of one reply with the surrogates of its request.

    Values of unknown types stay as the upstream sent them.

    Args:
        exchange: The conversation state of the request.
        tools: Tools whose arguments are restored. In a stream such arguments are sent in one part.

    Attributes:
        restored_messages: The restored reply, as messages that the client may send again; one list for each choice.
        counts: Numbers of restored and of remaining surrogates; ``unshared`` counts tool results that were sent without
            a mapping.
        reason_counts: Number of remaining surrogates by the reason.
        reply_ids: Ids of the reply that later requests may refer to.
    """

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        self.exchange = self._exchange = exchange
        self._tools = frozenset(tools)
        self._streams: dict[Any, RecordedReplyStream] = {}
        self._views: dict[Any, ReplyView] = {}
        self._common_view = exchange.make_reply_view()
        self._begun_texts: set[Any] = set()
        self._newest_by_group: dict[Any, Any] = {}
        self._calls: dict[Any, dict[str, Any]] = {}
        self.restored_messages: list[list[Any]] = []
        self.counts: Counter[str] = Counter(dict.fromkeys(_COUNTED_VIEWS, 0))
        if exchange.unshared_results:
            self.counts["unshared"] = exchange.unshared_results
        self.reason_counts: Counter[str] = Counter()
        self.reply_ids: list[str] = []

    def claim_reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a reply or an event, attributed to the model alone.

        Roles and results that the upstream wrote into it have no effect.

        Raises:
            Refusal: The reply has an item of a type that no API has, or is nested too deeply.
        """
        try:
            return self._exchange.claim_reply(reply)
        except (InputError, RecursionError):
            raise make_upstream_refusal("wrote an item that no client may take from a reply") from None

    def note_unclear(self, count: int) -> None:
        """Record for the log the number of calls with ambiguous arguments."""
        if count:
            self.counts["unclear_calls"] = count

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a whole reply, restored."""
        return reply

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield the restored event, after any text that was held back before it."""
        yield event

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield held-back text at the end of a stream, also if the upstream sends no end event."""
        yield from ()

    def _restore_value(
        self, reply: Any, is_counted: bool = True, *, record: bool = False, other_parts: Any = None
    ) -> Any:
        try:
            result = self._exchange.incoming(reply, record=record, other_parts=other_parts)
        except InputError:
            return reply  # of an unknown shape: only its surrogates stay
        if is_counted:
            self._count_result(result)
        return result.reply

    def _restores_arguments(self, call: Mapping[str, Any]) -> bool:
        """Return whether the arguments of a call are restored."""
        name = call.get("name")
        return isinstance(name, str) and name in self._tools

    def _count_result(self, result: RestoredReply) -> None:
        self.counts.update({name: len(getattr(result, view)) for name, view in _COUNTED_VIEWS.items()})
        self.reason_counts.update(reason.value for _, reason in result.skipped)

    def _get_group(self, place: Any) -> Any:
        """Return the group of a text: clients may join the texts of one group.

        The default is one group for the whole reply.
        """
        return None

    def _get_view(self, group: Any = None) -> ReplyView:
        """Return the view that follows the joined texts of a group."""
        if group not in self._views:
            self._views[group] = view = self._exchange.make_reply_view()
            if self._common_view.has_effect:  # a construct began in a value outside all texts
                view.stop_restoring()
        return self._views[group]

    def _track_unchanged(self, value: Any) -> None:
        """Read a value that passes unchanged and that a client may show beside any of the texts."""
        for text in find_displayed_texts(value):
            for view in (self._common_view, *self._views.values()):
                view.pass_text(text)

    def _refuse_late_text(self, place: Any) -> None:
        """Raise ``Refusal`` if a text continues after the next one has begun.

        The surrogates of the next text are restored already, and the continuation could begin a link around them.
        """
        if place in self._begun_texts and self._newest_by_group[self._get_group(place)] != place:
            raise make_upstream_refusal("wrote to a text again after the next one")

    def _feed_text(self, place: Any, delta: str) -> str:
        if place not in self._streams and delta:
            group = self._get_group(place)
            self._begun_texts.add(place)
            self._newest_by_group[group] = place
            self._streams[place] = self._exchange.stream(record=False)
            self._get_view(group).begin_text(self._streams[place])
        return self._streams[place].feed(delta) if delta else ""

    def _close_text(self, place: Any) -> tuple[str, str, str]:
        """End a text; return its held-back rest, the restored text and the model's original."""
        stream = self._streams.pop(place, None)
        if stream is None:
            return "", "", ""
        rest = stream.close()
        self._get_view(self._get_group(place)).end_text(stream)
        assert stream.result is not None
        self._count_result(stream.result)
        return rest, stream.result.reply, stream.model_text


class ChatReplyRestorer(ApiReplyRestorer):
    """Restorer of replies of OpenAI's chat completions."""

    _last_chunk: Mapping[str, Any] = {}

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        #: Restored texts that have ended, each with the original of the model.
        self._ended_texts: dict[Any, tuple[str, str]] = {}

    def _get_group(self, place: Any) -> Any:
        """Return the choice of an answer, or a group for a thought alone.

        Clients show a thought before the answer or apart from it.
        """
        return place if place[1] in _THOUGHT_FIELDS else place[0]

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a reply with the messages of its choices restored."""
        outer_values = [*_list_other_values(reply.get("choices")), _drop_fields(reply, "choices")]
        for choice in _list_objects(reply.get("choices")):
            message = choice.get("message")
            if isinstance(message, dict) and message.get("type", "message") == "message":
                message = {"role": "assistant", **message}  # some servers omit the role
                other_parts = [_drop_fields(choice, "message"), *outer_values]
                choice["message"] = self._restore_value(message, record=True, other_parts=other_parts)
                self.restored_messages.append([choice["message"]])
        return reply

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield a chunk with the texts of its choices restored.

        The last chunk of a choice also has the held-back rest of its texts.
        """
        self._last_chunk = event.data
        self._track_unchanged([*_list_other_values(event.data.get("choices")), _drop_fields(event.data, "choices")])
        for choice in _list_objects(event.data.get("choices")):
            index, delta = _parse_choice_index(choice.get("index", 0)), choice.setdefault("delta", {})
            if index is None or not isinstance(delta, dict):
                self._track_unchanged(choice)  # unknown choice: a client may show it in any text
                continue
            self._track_in_choice(index, _drop_fields(choice, "delta"))
            self._restore_delta(index, delta)
            if choice.get("finish_reason") is not None:
                self._finish_choice(index, delta)
        yield event

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield chunks with the held-back text of unfinished choices."""
        for index in {place[0]: None for place in (*self._streams, *self._calls)}:
            delta: dict[str, Any] = {}
            self._finish_choice(index, delta)
            if delta:
                choices = [{"index": index, "delta": delta, "finish_reason": None}]
                yield ServerSentEvent("", {**self._last_chunk, "choices": choices})

    def _track_in_choice(self, index: Any, value: Any) -> None:
        """Read a value that a client may show with the texts of a choice."""
        for text in find_displayed_texts(value):
            for group in (index, *((index, name) for name in _THOUGHT_FIELDS)):
                self._get_view(group).pass_text(text)

    def _restore_delta(self, index: Any, delta: dict[str, Any]) -> None:
        texts = {name: delta[name] for name in (*_THOUGHT_FIELDS, *_ANSWER_FIELDS) if isinstance(delta.get(name), str)}
        restored = dict.fromkeys(texts, "")
        for text in find_displayed_texts(delta.get(_DETAILS_FIELD), is_part=True):  # the thought again, or a part of it
            self._get_view(index).pass_part(_DETAILS_FIELD, text)
        self._track_in_choice(index, _drop_fields(delta, *texts, _DETAILS_FIELD))
        for name, text in texts.items():
            if text:
                self._start_text(index, name, text, restored)
            restored[name] = restored[name] + self._feed_text((index, name), text)
        delta.update(restored)
        for call in _list_objects(delta.get("tool_calls")):
            place, part = (index, "call", _get_index(call)), call.get("function")
            if isinstance(part, dict):
                call_so_far = self._calls.setdefault(place, {"name": "", "arguments": "", "id": call.get("id")})
                for name in ("name", "arguments"):
                    call_so_far[name] += _get_string(part.get(name))
                if call_so_far["name"] in self._tools and part.get("arguments"):
                    part["arguments"] = ""

    def _start_text(self, index: Any, name: str, text: str, restored: dict[str, str]) -> None:
        """End the texts before a new text, and add their held-back rest to ``restored``."""
        place = (index, name)
        if name in _ANSWER_FIELDS:
            for other in (*_THOUGHT_FIELDS, *_ANSWER_FIELDS):
                if other != name and (rest := self._end_text((index, other))):
                    restored[other] = restored.get(other, "") + rest
            if place in self._ended_texts and place not in self._streams:
                self._get_view(index).mark_replacement()
        elif any((index, answer) in self._begun_texts for answer in _ANSWER_FIELDS):
            self._get_view(place).stop_restoring()  # a client may show it after the answer
            self._get_view(index).pass_text(text)

    def _end_text(self, place: Any) -> str:
        """End a text that may continue later; return its held-back rest."""
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
                delta[name] = _get_string(delta.get(name)) + rest
        calls = []
        for place in [place for place in self._calls if place[0] == index]:
            call_so_far = self._calls.pop(place)
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


class AnthropicReplyRestorer(ApiReplyRestorer):
    """Restorer of replies of Anthropic's messages."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._restored_blocks: list[Any] = []
        self._model_blocks: list[Any] = []
        self._index_by_key: dict[Any, Any] = {}

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a message with its content restored."""
        if isinstance(reply.get("content"), list):
            reply["content"] = self._restore_value(
                reply["content"], record=True, other_parts=_drop_fields(reply, "content")
            )
            self.restored_messages.append([{"role": "assistant", "content": reply["content"]}])
        self._restore_stop_sequence(reply)
        return reply

    def _restore_stop_sequence(self, reply: dict[str, Any]) -> None:
        """Restore the stop sequence of a reply, which is a text of the request."""
        if isinstance(reply.get("stop_sequence"), str):
            reply["stop_sequence"] = self._restore_value(reply["stop_sequence"], False)

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield an event with its text restored; the held-back rest of a block precedes its end."""
        data = event.data
        event_type, index = data.get("type"), _make_index_key(data.get("index", 0))
        block, delta = data.get("content_block"), data.get("delta")
        if event_type in ("content_block_start", "content_block_delta"):
            self._refuse_late_text(index)
            for other in [other for other in self._streams if other != index]:
                yield from self._end_block(other)
            self._index_by_key[index] = data.get("index", 0)
        self._track_rest(index, data)
        if event_type == "content_block_start" and isinstance(block, dict):
            self._calls[index] = {**block, "partial": ""}
            if isinstance(block.get("text"), str):
                block["text"] = self._feed_text(index, block["text"])
        elif event_type == "content_block_delta" and isinstance(delta, dict):
            for name in ("thinking", "signature"):
                if isinstance(delta.get(name), str) and index in self._calls:
                    self._calls[index][name] = _get_string(self._calls[index].get(name)) + delta[name]
            if isinstance(delta.get("text"), str):
                self._calls.setdefault(index, {"type": "text", "partial": ""})  # otherwise no event would end it
                delta["text"] = self._feed_text(index, delta["text"])
            elif isinstance(delta.get("partial_json"), str) and index in self._calls:
                self._calls[index]["partial"] += delta["partial_json"]
                if self._restores_arguments(self._calls[index]):
                    return
        elif event_type == "message_delta" and isinstance(delta, dict):
            self._restore_stop_sequence(delta)
        elif event_type == "content_block_stop":
            yield from self._end_block(index)
        elif event_type == "message_stop":
            yield from self.end_stream()
        yield event

    def _track_rest(self, index: Any, data: dict[str, Any]) -> None:
        """Read the values of an event that pass unchanged and that a client may show."""
        rest = dict(data)
        for name in ("content_block", "delta"):
            part = data.get(name)
            if isinstance(part, dict):
                texts = [known for known in ("text", "thinking", "partial_json") if isinstance(part.get(known), str)]
                rest[name] = _drop_fields(part, *texts)
                if "thinking" in texts:
                    self._get_view().pass_part(index, part["thinking"])
        self._track_unchanged(rest)

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield the held-back text of blocks that have not ended."""
        for index in list(self._calls):
            yield from self._end_block(index)
        self.restored_messages = [[{"role": "assistant", "content": self._restored_blocks}]]
        self._exchange.record_reply(
            self._model_blocks, self._restored_blocks[len(self._restored_blocks) - len(self._model_blocks) :]
        )
        self._model_blocks = []

    def _end_block(self, index: Any) -> Iterator[ServerSentEvent]:
        if index not in self._calls:
            return
        block, held = self._calls.pop(index, {}), None
        partial = block.pop("partial", "")
        rest, text, written = self._close_text(index)
        is_text = bool(text) or block.get("type") == "text"
        self._model_blocks.append({**block, "text": written} if is_text else block)
        if is_text:
            block["text"] = text
            held = {"type": "text_delta", "text": rest} if rest else None
        elif block.get("type") == "tool_use":
            arguments = _parse_object(partial)
            self._model_blocks[-1] = block if arguments is None else {**block, "input": arguments}
            block = self._restore_value([self._model_blocks[-1]])[0]
            if partial and self._restores_arguments(block):
                restored_json = partial if arguments is None else json.dumps(block["input"], ensure_ascii=False)
                held = {"type": "input_json_delta", "partial_json": restored_json}
        else:
            self._restore_value([block])  # a client may send signed values again
        self._restored_blocks.append(block)
        if held is not None:
            data = {"type": "content_block_delta", "index": self._index_by_key.get(index, index), "delta": held}
            yield ServerSentEvent("content_block_delta", data)


class ResponsesReplyRestorer(ApiReplyRestorer):
    """Restorer of replies of OpenAI's responses."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._last_deltas: dict[Any, dict[str, Any]] = {}
        self._inserted_count = 0
        self._has_recorded_items = False
        #: The original and the restored text of each text that has ended.
        self._ended_texts: dict[Any, tuple[str, str]] = {}
        #: Thoughts and other texts that pass unchanged, in parts.
        self._passed_parts: dict[Any, list[str]] = {}
        self._passed_texts: set[str] = set()

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a response with its output restored."""
        output = reply.get("output")
        if isinstance(output, list):
            other_parts = [_drop_fields(reply, "output"), *_list_other_values(output)]
            items = [
                item if _is_known_item(item) else {"type": _UNKNOWN_ITEM_TYPE, "item": item}
                for item in _list_objects(output)
            ]
            restored_items = iter(self._restore_value(items, record=True, other_parts=other_parts))
            restored = {number: next(restored_items) for number, item in enumerate(output) if isinstance(item, dict)}
            reply["output"] = [restored[number] if _is_known_item(item) else item for number, item in enumerate(output)]
            self.restored_messages = [reply["output"]]
        self._store_reply_ids(reply)
        return reply

    def _store_reply_ids(self, reply: dict[str, Any]) -> None:
        entries = (reply, *_list_objects(reply.get("output")))
        self.reply_ids = [entry["id"] for entry in entries if isinstance(entry.get("id"), str)]

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield an event with its text restored; the held-back rest of a text precedes its end."""
        for passed in self._restore_typed_event(event, event.data):
            if isinstance(passed.data.get("sequence_number"), int):
                passed.data["sequence_number"] += self._inserted_count
            yield passed

    def _restore_typed_event(self, event: ServerSentEvent, data: dict[str, Any]) -> Iterator[ServerSentEvent]:
        event_type = _get_string(data.get("type"))
        subject, _, step = event_type.removeprefix("response.").rpartition(".")
        item, part = _make_index_key(data.get("output_index", 0)), _make_index_key(data.get("content_index", 0))
        place, field = (item, part, subject), {"output_text": "text", "refusal": "refusal"}.get(subject)
        if field is not None and step == "delta" and isinstance(data.get("delta"), str):
            self._refuse_late_text(place)
            yield from self._end_other_texts(lambda open_one: open_one == place)
            self._track_unchanged(_drop_fields(data, "delta"))
            self._last_deltas[place] = dict(data)
            data["delta"] = self._feed_text(place, data["delta"])
        elif field is not None and step == "done" and isinstance(data.get(field), str):
            yield from self._end_other_texts(lambda open_one: open_one[:2] != place[:2])
            self._track_unchanged(_drop_fields(data, field))
            data[field] = self._restore_final_text(place, data[field])
        elif subject in _INPUT_EVENTS:
            if subject == _ARGUMENTS_EVENT and isinstance(data.get("delta" if step == "delta" else "arguments"), str):
                yield from self._restore_arguments(place, data, step)
                if step == "delta" and self._restores_arguments(self._calls.get(item, {})):
                    return
        elif step == "delta" and isinstance(data.get("delta"), str):
            yield from self._end_other_texts()
            self._passed_parts.setdefault((subject, item, part, _make_index_key(data.get("summary_index"))), []).append(
                data["delta"]
            )
            self._get_view().pass_part((subject, item, part, _make_index_key(data.get("summary_index"))), data["delta"])
        elif subject == "content_part" and step == "done" and isinstance(data.get("part"), dict):
            yield from self._end_other_texts(lambda open_one: open_one[:2] != place[:2])
            data["part"] = self._restore_final_part(place[:2], data["part"])
        elif subject == "output_item" and isinstance(data.get("item"), dict):
            yield from self._end_other_texts()
            self._calls[item] = written = data["item"]
            if step == "done":
                data["item"] = self._restore_final_item(item, written, is_counted=True)
                self._exchange.record_reply([written], [data["item"]])
                self._has_recorded_items = True
            elif written.get("type") == "function_call":
                data["item"] = self._restore_value([written], False)[0]
            else:
                self._track_unchanged(written)
        elif isinstance(data.get("response"), dict) and step in ("completed", "incomplete", "failed"):
            yield from self.end_stream()
            self._restore_response(data["response"])
        else:
            if any(True for _ in find_displayed_texts(data)):
                yield from self._end_other_texts()
            self._note_passed_text(subject, item, part, data)
            self._track_unchanged(data)
            if isinstance(data.get("response"), dict):
                self._store_reply_ids(data["response"])
        yield event

    def _track_unchanged(self, value: Any) -> None:
        """Read a value that passes unchanged and that a client may show; each distinct text once."""
        for text in find_displayed_texts(value):
            if text not in self._passed_texts:
                self._passed_texts.add(text)
                super()._track_unchanged(text)

    def _note_passed_text(self, subject: str, item: Any, part: Any, data: dict[str, Any]) -> None:
        """Record the text of parts that were read, so that no copy of it is read again."""
        parts = self._passed_parts.pop((subject, item, part, _make_index_key(data.get("summary_index"))), None)
        if parts is not None:
            self._passed_texts.add("".join(parts))

    def _restore_response(self, reply: dict[str, Any]) -> None:
        """Restore the whole response in the last event of its stream."""
        output = reply.get("output")
        if isinstance(output, list):
            restored = [
                self._restore_final_item(place, item, is_counted=not self._has_recorded_items)
                if isinstance(item, dict)
                else item
                for place, item in enumerate(output)
            ]
            if not self._has_recorded_items:
                self._exchange.record_reply(_list_objects(output), _list_objects(restored))
            reply["output"] = restored
            self.restored_messages = [restored]
        self._store_reply_ids(reply)

    def _restore_final_item(self, place: Any, item: dict[str, Any], *, is_counted: bool) -> dict[str, Any]:
        """Return a whole item, with its streamed texts as the client received them.

        Other texts of the item are restored now.
        """
        item_type, content = item.get("type", "message"), item.get("content")
        if item_type == "function_call":
            return self._restore_value([item], is_counted)[0]
        if item_type != "message":
            self._track_unchanged(item)
            return self._restore_value([item], False)[0] if item_type == "reasoning" else item
        self._track_unchanged(_drop_fields(item, "content"))
        if isinstance(content, str):
            return {**item, "content": self._restore_final_text((place, 0, "output_text"), content)}
        if not isinstance(content, list):
            self._track_unchanged(content)
            return item
        parts = [
            self._restore_final_part((place, number), part) if isinstance(part, dict) else part
            for number, part in enumerate(content)
        ]
        self._track_unchanged(_list_other_values(content))
        return {**item, "content": parts}

    def _restore_final_part(self, item_place: tuple[Any, Any], part: dict[str, Any]) -> dict[str, Any]:
        """Return a part of a message, with its streamed text as the client received it, or restored."""
        part_type = part.get("type")
        field = {"output_text": "text", "text": "text", "refusal": "refusal"}.get(
            part_type if isinstance(part_type, str) else ""
        )
        if field is None or not isinstance(part.get(field), str):
            self._track_unchanged(part)
            return part
        self._track_unchanged(_drop_fields(part, field))
        return {**part, field: self._restore_final_text((*item_place, _EVENT_BY_PART_TYPE[field]), part[field])}

    def _restore_final_text(self, place: Any, written: str) -> str:
        """Return the restored text that the client received of a streamed text.

        A text that differs from the streamed one is restored as a further text, after all others.
        """
        known = self._ended_texts.get(place)
        if known is not None and known[0] == written:
            return known[1]
        if known is not None:  # a client may show it in place of the streamed one
            self._get_view().mark_replacement()
        text = self._feed_text(place, written)
        rest, _, _ = self._close_text(place)
        self._ended_texts[place] = written, text + rest
        return text + rest

    def _restore_arguments(self, place: Any, data: dict[str, Any], step: str) -> Iterator[ServerSentEvent]:
        """Restore the arguments of a call of a named tool, which are sent in one part."""
        if step == "delta":
            self._last_deltas[place] = dict(data)
            return
        call = {**self._calls.get(place[0], {}), "type": "function_call", "arguments": data["arguments"]}
        data["arguments"] = rest = self._restore_value([call], False)[0]["arguments"]
        yield from self._insert_rest(place, rest if self._restores_arguments(call) else "")

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield the held-back rest of texts that have not ended."""
        yield from self._end_other_texts()

    def _end_other_texts(self, stays_open: Callable[[Any], bool] = lambda place: False) -> Iterator[ServerSentEvent]:
        """End the open texts for which ``stays_open`` is false."""
        for place in [place for place in self._streams if not stays_open(place)]:
            rest, restored, written = self._close_text(place)
            self._ended_texts[place] = written, restored
            yield from self._insert_rest(place, rest)

    def _insert_rest(self, place: Any, rest: str) -> Iterator[ServerSentEvent]:
        last = self._last_deltas.pop(place, None)
        if rest and last is not None:
            number = _get_index(last, "sequence_number") + 1
            yield ServerSentEvent(str(last["type"]), {**last, "delta": rest, "sequence_number": number})
            self._inserted_count += 1


#: Restorer of the replies to each path. Replies to other paths pass unchanged.
RESTORERS_BY_PATH: Mapping[str, type[ApiReplyRestorer]] = {
    "/v1/chat/completions": ChatReplyRestorer,
    "/v1/responses": ResponsesReplyRestorer,
    "/v1/messages": AnthropicReplyRestorer,
}


def _list_objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _is_known_item(item: Any) -> bool:
    """Return whether a value is an output item of a known type."""
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind in _ITEM_TYPES


def _list_other_values(value: Any) -> list[Any]:
    """Return the entries of a list that are no objects; any other value as the only entry."""
    return [entry for entry in value if not isinstance(entry, dict)] if isinstance(value, list) else [value]


def _drop_fields(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: entry for name, entry in value.items() if name not in names}


def _make_index_key(number: Any) -> Any:
    """Return an index by which clients count; for any other value a text that represents it."""
    return number if type(number) is int else repr(number)


def _parse_choice_index(value: Any) -> int | None:
    """Return an index as a number, 0 if missing; ``None`` if clients may differ on its value."""
    return 0 if value is None else value if type(value) is int else None


def _get_index(value: Mapping[str, Any], name: str = "index") -> int:
    found = value.get(name)
    return found if isinstance(found, int) else 0


def _get_string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _parse_object(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
