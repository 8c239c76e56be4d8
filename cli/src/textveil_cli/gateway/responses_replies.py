"""Put original words back into replies of OpenAI's Responses API."""

from collections.abc import Callable, Collection, Iterator
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
    make_index_key,
)
from textveil_cli.gateway.sse import ServerSentEvent

#: Item types of OpenAI's responses with texts, calls or signed values. Any other item gets the second type, so that it
#: is only tracked.
_ITEM_TYPES, _UNKNOWN_ITEM_TYPE = frozenset(("message", "function_call", "reasoning")), "unread"
#: Events of OpenAI's responses with tool input, which is no text of the message.
_ARGUMENTS_EVENT = "function_call_arguments"
_INPUT_EVENTS = frozenset(
    (_ARGUMENTS_EVENT, "mcp_call_arguments", "custom_tool_call_input", "code_interpreter_call_code")
)
_EVENT_BY_PART_TYPE = {"text": "output_text", "refusal": "refusal"}


class ResponsesReplyRestorer(ApiReplyRestorer):
    """Object that puts original words back into one reply of OpenAI's Responses API."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._last_deltas: dict[Any, dict[str, Any]] = {}
        self._inserted_count = 0
        self._has_recorded_items = False
        #: For each ended text the form that the model wrote, and the restored form.
        self._ended_texts: dict[Any, tuple[str, str]] = {}
        #: Parts of reasoning texts and other texts that pass unchanged.
        self._passed_parts: dict[Any, list[str]] = {}
        self._passed_texts: set[str] = set()

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a complete (not streamed) response, with original words in place of their replacements."""
        output = reply.get("output")
        if isinstance(output, list):
            other_parts = [drop_fields(reply, "output"), *list_other_values(output)]
            items = [
                item if _is_known_item(item) else {"type": _UNKNOWN_ITEM_TYPE, "item": item}
                for item in list_objects(output)
            ]
            restored_items = iter(self._restore_value(items, record=True, other_parts=other_parts))
            restored = {number: next(restored_items) for number, item in enumerate(output) if isinstance(item, dict)}
            reply["output"] = [restored[number] if _is_known_item(item) else item for number, item in enumerate(output)]
            self.restored_messages = [reply["output"]]
        self._store_reply_ids(reply)
        return reply

    def _store_reply_ids(self, reply: dict[str, Any]) -> None:
        entries = (reply, *list_objects(reply.get("output")))
        self.reply_ids = [entry["id"] for entry in entries if isinstance(entry.get("id"), str)]

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield an event of a stream, with original words in place of their surrogates (replacements).

        If a text ends with the possible beginning of a surrogate, such as ``Mar`` of ``Maria``, this end is held back
        until the next event. When the text ends, an additional event with this part is yielded first.
        """
        for passed in self._restore_typed_event(event, event.data):
            if isinstance(passed.data.get("sequence_number"), int):
                passed.data["sequence_number"] += self._inserted_count
            yield passed

    def _restore_typed_event(self, event: ServerSentEvent, data: dict[str, Any]) -> Iterator[ServerSentEvent]:
        event_type = get_string(data.get("type"))
        subject, _, step = event_type.removeprefix("response.").rpartition(".")
        item, part = make_index_key(data.get("output_index", 0)), make_index_key(data.get("content_index", 0))
        place, field = (item, part, subject), {"output_text": "text", "refusal": "refusal"}.get(subject)
        if field is not None and step == "delta" and isinstance(data.get("delta"), str):
            self._refuse_late_text(place)
            yield from self._end_other_texts(lambda open_place: open_place == place)
            self._track_unchanged(drop_fields(data, "delta"))
            self._last_deltas[place] = dict(data)
            data["delta"] = self._feed_text(place, data["delta"])
        elif field is not None and step == "done" and isinstance(data.get(field), str):
            yield from self._end_other_texts(lambda open_place: open_place[:2] != place[:2])
            self._track_unchanged(drop_fields(data, field))
            data[field] = self._restore_final_text(place, data[field])
        elif subject in _INPUT_EVENTS:
            if subject == _ARGUMENTS_EVENT and isinstance(data.get("delta" if step == "delta" else "arguments"), str):
                yield from self._restore_arguments(place, data, step)
                if step == "delta" and self._restores_arguments(self._calls.get(item, {})):
                    return
        elif step == "delta" and isinstance(data.get("delta"), str):
            yield from self._end_other_texts()
            self._passed_parts.setdefault((subject, item, part, make_index_key(data.get("summary_index"))), []).append(
                data["delta"]
            )
            self._get_view().pass_part((subject, item, part, make_index_key(data.get("summary_index"))), data["delta"])
        elif subject == "content_part" and step == "done" and isinstance(data.get("part"), dict):
            yield from self._end_other_texts(lambda open_place: open_place[:2] != place[:2])
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
        """Store a value that the client gets unchanged and may display; ignore repetitions of earlier texts.

        If the value begins a link, the restorer puts no original word back inside that link.
        """
        for text in find_displayed_texts(value):
            if text not in self._passed_texts:
                self._passed_texts.add(text)
                super()._track_unchanged(text)

    def _note_passed_text(self, subject: str, item: Any, part: Any, data: dict[str, Any]) -> None:
        """Store the complete text of a finished part, so that ``_track_unchanged`` skips a repetition of the text.

        Args:
            subject: Type of the text, from the type of the event.
            item: Index of the output item.
            part: Index of the part in the item.
            data: Data of the event that ends the text.
        """
        parts = self._passed_parts.pop((subject, item, part, make_index_key(data.get("summary_index"))), None)
        if parts is not None:
            self._passed_texts.add(join_utf16_halves("".join(parts)))

    def _restore_response(self, reply: dict[str, Any]) -> None:
        """Put original words back into the complete response that the last event of a stream contains."""
        output = reply.get("output")
        if isinstance(output, list):
            restored = [
                self._restore_final_item(place, item, is_counted=not self._has_recorded_items)
                if isinstance(item, dict)
                else item
                for place, item in enumerate(output)
            ]
            if not self._has_recorded_items:
                self._exchange.record_reply(list_objects(output), list_objects(restored))
            reply["output"] = restored
            self.restored_messages = [restored]
        self._store_reply_ids(reply)

    def _restore_final_item(self, place: Any, item: dict[str, Any], *, is_counted: bool) -> dict[str, Any]:
        """Return a complete output item, with original words in place of their surrogates (replacements).

        A text that was streamed before becomes exactly the text that the client already received.
        """
        item_type, content = item.get("type", "message"), item.get("content")
        if item_type == "function_call":
            return self._restore_value([item], is_counted)[0]
        if item_type != "message":
            self._track_unchanged(item)
            return self._restore_value([item], False)[0] if item_type == "reasoning" else item
        self._track_unchanged(drop_fields(item, "content"))
        if isinstance(content, str):
            return {**item, "content": self._restore_final_text((place, 0, "output_text"), content)}
        if not isinstance(content, list):
            self._track_unchanged(content)
            return item
        parts = [
            self._restore_final_part((place, number), part) if isinstance(part, dict) else part
            for number, part in enumerate(content)
        ]
        self._track_unchanged(list_other_values(content))
        return {**item, "content": parts}

    def _restore_final_part(self, item_place: tuple[Any, Any], part: dict[str, Any]) -> dict[str, Any]:
        """Return a complete part of a message, with original words in place of their surrogates (replacements).

        If the text was streamed before, the result has exactly the text that the client already received.
        """
        part_type = part.get("type")
        field = {"output_text": "text", "text": "text", "refusal": "refusal"}.get(
            part_type if isinstance(part_type, str) else ""
        )
        if field is None or not isinstance(part.get(field), str):
            self._track_unchanged(part)
            return part
        self._track_unchanged(drop_fields(part, field))
        return {**part, field: self._restore_final_text((*item_place, _EVENT_BY_PART_TYPE[field]), part[field])}

    def _restore_final_text(self, place: Any, written: str) -> str:
        """Put original words back into a complete text that repeats the parts streamed before.

        If the text equals the joined parts, the result is exactly the text that the client already received. Any other
        text is treated as a new text after all others.

        Args:
            place: Position of the text in the reply.
            written: The complete text, as the model wrote it.
        """
        known = self._ended_texts.get(place)
        if known is not None and known[0] == written:
            return known[1]
        if known is not None:  # a client may display it in place of the streamed one
            self._get_view().mark_replacement()
        text = self._feed_text(place, written)
        rest, _, _ = self._close_text(place)
        self._ended_texts[place] = written, text + rest
        return text + rest

    def _restore_arguments(self, place: Any, data: dict[str, Any], step: str) -> Iterator[ServerSentEvent]:
        """Put original words back into the complete arguments of a tool call in ``data``.

        Arguments of a tool in ``restore_tools`` are not streamed part by part. Instead, one event with all arguments is
        yielded.

        Args:
            place: Position of the arguments in the reply.
            data: Data of the event.
            step: ``delta`` for the next part of the arguments, which is only stored; ``done`` for the complete
                arguments.
        """
        if step == "delta":
            self._last_deltas[place] = dict(data)
            return
        call = {**self._calls.get(place[0], {}), "type": "function_call", "arguments": data["arguments"]}
        data["arguments"] = rest = self._restore_value([call], False)[0]["arguments"]
        yield from self._insert_rest(place, rest if self._restores_arguments(call) else "")

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield the rest of a reply at the end of a stream: text held back as the possible beginning of a surrogate."""
        yield from self._end_other_texts()

    def _end_other_texts(self, stays_open: Callable[[Any], bool] = lambda place: False) -> Iterator[ServerSentEvent]:
        """Finish all open texts for which ``stays_open`` is false, and yield the held-back end of each.

        Args:
            stays_open: Function that takes the position of a text in the reply.
        """
        for place in [place for place in self._streams if not stays_open(place)]:
            rest, restored, written = self._close_text(place)
            self._ended_texts[place] = written, restored
            yield from self._insert_rest(place, rest)

    def _insert_rest(self, place: Any, rest: str) -> Iterator[ServerSentEvent]:
        last = self._last_deltas.pop(place, None)
        if rest and last is not None:
            number = get_index(last, "sequence_number") + 1
            yield ServerSentEvent(str(last["type"]), {**last, "delta": rest, "sequence_number": number})
            self._inserted_count += 1


def _is_known_item(item: Any) -> bool:
    """Return whether a JSON value is an output item of the Responses API with a known ``type``."""
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind in _ITEM_TYPES
