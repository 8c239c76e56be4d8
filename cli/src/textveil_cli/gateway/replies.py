"""Restoration of replies of the three APIs, whole or as event streams.

The texts of a reply are restored. All other values pass unchanged.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from textveil import Conversation
from textveil.conversation import Incoming, ReplyStream, ReplyView, find_shown_texts
from textveil.errors import InputError

from textveil_cli.gateway.events import Event
from textveil_cli.gateway.upstream import failed

_COUNTED = ("placed", "unplaced", "ambiguous", "tools", "skipped")
#: Fields of a message with text. ``_THOUGHTS`` are fields that servers of open models write before the answer.
_THOUGHTS, _ANSWERS = ("reasoning", "reasoning_content"), ("content", "refusal")
_TEXTS = (*_ANSWERS, *_THOUGHTS)
#: Field in which some servers repeat a thought.
_DETAILS = "reasoning_details"
#: Item types of OpenAI's responses with texts, calls or signed values; and the type of any other item, which is read
#: alone.
_ITEMS, _UNREAD = frozenset(("message", "function_call", "reasoning")), "unread"
#: Events of OpenAI's responses with tool input, which is no text of the message.
_ARGUMENTS = "function_call_arguments"
_INPUTS = frozenset((_ARGUMENTS, "mcp_call_arguments", "custom_tool_call_input", "code_interpreter_call_code"))
_PLACES = {"text": "output_text", "refusal": "refusal"}


class Restoring:
    """Restorer of one reply with the surrogates of its request.

    Values of unknown types stay as the upstream sent them.

    Args:
        exchange: The conversation state of the request.
        tools: Tools whose arguments are restored. In a stream such arguments are sent in one part.

    Attributes:
        said: The restored reply, as messages that the client may send again; one list for each choice.
        counts: Numbers of restored and of remaining surrogates; ``unshared`` counts tool results that were sent without
            a mapping.
        reasons: Number of remaining surrogates by the reason.
        names: Ids of the reply that later requests may refer to.
    """

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        self.exchange = self._exchange = exchange
        self._tools = frozenset(tools)
        self._streams: dict[Any, ReplyStream] = {}
        self._views: dict[Any, ReplyView] = {}
        self._common = exchange.view()
        self._begun: set[Any] = set()
        self._newest: dict[Any, Any] = {}
        self._calls: dict[Any, dict[str, Any]] = {}
        self.said: list[list[Any]] = []
        self.counts: Counter[str] = Counter(dict.fromkeys(_COUNTED, 0))
        if exchange.unshared:
            self.counts["unshared"] = exchange.unshared
        self.reasons: Counter[str] = Counter()
        self.names: list[str] = []

    def claim(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a reply or an event, attributed to the model alone.

        Roles and results that the upstream wrote into it have no effect.

        Raises:
            Refusal: The reply has an item of a type that no API has, or is nested too deeply.
        """
        try:
            return self._exchange.claim_reply(reply)
        except (InputError, RecursionError):
            raise failed("wrote an item that no client may take from a reply") from None

    def note_unclear(self, count: int) -> None:
        """Record for the log the number of calls with ambiguous arguments."""
        if count:
            self.counts["unclear_calls"] = count

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a whole reply, restored."""
        return reply

    def event(self, event: Event) -> Iterator[Event]:
        """Yield the restored event, after any text that was held back before it."""
        yield event

    def end(self) -> Iterator[Event]:
        """Yield held-back text at the end of a stream, also if the upstream sends no end event."""
        yield from ()

    def _incoming(self, reply: Any, counted: bool = True, *, record: bool = False, beside: Any = None) -> Any:
        try:
            found = self._exchange.incoming(reply, record=record, beside=beside)
        except InputError:
            return reply  # of an unknown shape: only its surrogates stay
        if counted:
            self._count(found)
        return found.reply

    def _restores(self, call: Mapping[str, Any]) -> bool:
        """Return whether the arguments of a call are restored."""
        name = call.get("name")
        return isinstance(name, str) and name in self._tools

    def _count(self, found: Incoming) -> None:
        self.counts.update({name: len(getattr(found, name)) for name in _COUNTED})
        self.reasons.update(reason.value for _, reason in found.skipped)

    def _group(self, place: Any) -> Any:
        """Return the group of a text: clients may join the texts of one group.

        The default is one group for the whole reply.
        """
        return None

    def _view(self, group: Any = None) -> ReplyView:
        """Return the view that follows the joined texts of a group."""
        if group not in self._views:
            self._views[group] = view = self._exchange.view()
            if self._common.has_effect:  # a construct began in a value outside all texts
                view.close()
        return self._views[group]

    def _pass(self, value: Any) -> None:
        """Read a value that passes unchanged and that a client may show beside any of the texts."""
        for text in find_shown_texts(value):
            for view in (self._common, *self._views.values()):
                view.pass_text(text)

    def _refuse_late(self, place: Any) -> None:
        """Raise ``Refusal`` if a text continues after the next one has begun.

        The surrogates of the next text are restored already, and the continuation could begin a link around them.
        """
        if place in self._begun and self._newest[self._group(place)] != place:
            raise failed("wrote to a text again after the next one")

    def _feed(self, place: Any, delta: str) -> str:
        if place not in self._streams and delta:
            group = self._group(place)
            self._begun.add(place)
            self._newest[group] = place
            self._streams[place] = self._exchange.stream(record=False)
            self._view(group).begin(self._streams[place])
        return self._streams[place].feed(delta) if delta else ""

    def _close(self, place: Any) -> tuple[str, str, str]:
        """End a text; return its held-back rest, the restored text and the model's original."""
        stream = self._streams.pop(place, None)
        if stream is None:
            return "", "", ""
        rest = stream.close()
        self._view(self._group(place)).end(stream)
        assert stream.incoming is not None
        self._count(stream.incoming)
        return rest, stream.incoming.reply, stream.written


class Chat(Restoring):
    """Restorer of replies of OpenAI's chat completions."""

    _last: Mapping[str, Any] = {}

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        #: Restored texts that have ended, each with the original of the model.
        self._ended: dict[Any, tuple[str, str]] = {}

    def _group(self, place: Any) -> Any:
        """Return the choice of an answer, or a group for a thought alone.

        Clients show a thought before the answer or apart from it.
        """
        return place if place[1] in _THOUGHTS else place[0]

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a reply with the messages of its choices restored."""
        around = [*_others(reply.get("choices")), _without(reply, "choices")]
        for choice in _objects(reply.get("choices")):
            message = choice.get("message")
            if isinstance(message, dict) and message.get("type", "message") == "message":
                message = {"role": "assistant", **message}  # some servers omit the role
                beside = [_without(choice, "message"), *around]
                choice["message"] = self._incoming(message, record=True, beside=beside)
                self.said.append([choice["message"]])
        return reply

    def event(self, event: Event) -> Iterator[Event]:
        """Yield a chunk with the texts of its choices restored.

        The last chunk of a choice also has the held-back rest of its texts.
        """
        self._last = event.data
        self._pass([*_others(event.data.get("choices")), _without(event.data, "choices")])
        for choice in _objects(event.data.get("choices")):
            index, delta = _whole_number(choice.get("index", 0)), choice.setdefault("delta", {})
            if index is None or not isinstance(delta, dict):
                self._pass(choice)  # unknown choice: a client may show it in any text
                continue
            self._pass_in(index, _without(choice, "delta"))
            self._restore(index, delta)
            if choice.get("finish_reason") is not None:
                self._finish(index, delta)
        yield event

    def end(self) -> Iterator[Event]:
        """Yield chunks with the held-back text of unfinished choices."""
        for index in {place[0]: None for place in (*self._streams, *self._calls)}:
            delta: dict[str, Any] = {}
            self._finish(index, delta)
            if delta:
                choices = [{"index": index, "delta": delta, "finish_reason": None}]
                yield Event("", {**self._last, "choices": choices})

    def _pass_in(self, index: Any, value: Any) -> None:
        """Read a value that a client may show with the texts of a choice."""
        for text in find_shown_texts(value):
            for group in (index, *((index, name) for name in _THOUGHTS)):
                self._view(group).pass_text(text)

    def _restore(self, index: Any, delta: dict[str, Any]) -> None:
        texts = {name: delta[name] for name in (*_THOUGHTS, *_ANSWERS) if isinstance(delta.get(name), str)}
        restored = dict.fromkeys(texts, "")
        for text in find_shown_texts(delta.get(_DETAILS), is_part=True):  # the thought again, or a part of it
            self._view(index).pass_part(_DETAILS, text)
        self._pass_in(index, _without(delta, *texts, _DETAILS))
        for name, text in texts.items():
            if text:
                self._start(index, name, text, restored)
            restored[name] = restored[name] + self._feed((index, name), text)
        delta.update(restored)
        for call in _objects(delta.get("tool_calls")):
            of, part = (index, "call", _index(call)), call.get("function")
            if isinstance(part, dict):
                known = self._calls.setdefault(of, {"name": "", "arguments": "", "id": call.get("id")})
                for name in ("name", "arguments"):
                    known[name] += _string(part.get(name))
                if known["name"] in self._tools and part.get("arguments"):
                    part["arguments"] = ""

    def _start(self, index: Any, name: str, text: str, restored: dict[str, str]) -> None:
        """End the texts before a new text, and add their held-back rest to ``restored``."""
        place = (index, name)
        if name in _ANSWERS:
            for other in (*_THOUGHTS, *_ANSWERS):
                if other != name and (rest := self._end_text((index, other))):
                    restored[other] = restored.get(other, "") + rest
            if place in self._ended and place not in self._streams:
                self._view(index).replace()
        elif any((index, answer) in self._begun for answer in _ANSWERS):
            self._view(place).close()  # a client may show it after the answer
            self._view(index).pass_text(text)

    def _end_text(self, place: Any) -> str:
        """End a text that may continue later; return its held-back rest."""
        rest, whole, written = self._close(place)
        before = self._ended.get(place, ("", ""))
        self._ended[place] = before[0] + whole, before[1] + written
        if written and place[1] in _THOUGHTS:
            self._view(place[0]).pass_text(written)
        return rest

    def _finish(self, index: Any, delta: dict[str, Any]) -> None:
        message: dict[str, Any] = {"role": "assistant"}
        written: dict[str, Any] = {"role": "assistant", "tool_calls": []}
        for name in _TEXTS:
            rest = self._end_text((index, name))
            message[name], written[name] = self._ended.pop((index, name))
            if rest:
                delta[name] = _string(delta.get(name)) + rest
        calls = []
        for place in [place for place in self._calls if place[0] == index]:
            known = self._calls.pop(place)
            call = {"type": "function", "id": known.pop("id"), "function": known}
            calls.append(self._incoming([call])[0])
            written["tool_calls"].append(call)
            if known["name"] in self._tools:
                function = {"arguments": calls[-1]["function"]["arguments"]}
                begun = delta.get("tool_calls")
                last = {"index": place[2], "function": function}
                delta["tool_calls"] = [*begun, last] if isinstance(begun, list) else [last]
        self.said.append([{**message, "tool_calls": calls}])
        self._exchange.record_reply(written, self.said[-1][0])


class Anthropic(Restoring):
    """Restorer of replies of Anthropic's messages."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._blocks: list[Any] = []
        self._written: list[Any] = []
        self._numbers: dict[Any, Any] = {}

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a message with its content restored."""
        if isinstance(reply.get("content"), list):
            reply["content"] = self._incoming(reply["content"], record=True, beside=_without(reply, "content"))
            self.said.append([{"role": "assistant", "content": reply["content"]}])
        self._stopped(reply)
        return reply

    def _stopped(self, reply: dict[str, Any]) -> None:
        """Restore the stop sequence of a reply, which is a text of the request."""
        if isinstance(reply.get("stop_sequence"), str):
            reply["stop_sequence"] = self._incoming(reply["stop_sequence"], False)

    def event(self, event: Event) -> Iterator[Event]:
        """Yield an event with its text restored; the held-back rest of a block precedes its end."""
        data = event.data
        kind, index = data.get("type"), _key(data.get("index", 0))
        block, delta = data.get("content_block"), data.get("delta")
        if kind in ("content_block_start", "content_block_delta"):
            self._refuse_late(index)
            for other in [other for other in self._streams if other != index]:
                yield from self._stop(other)
            self._numbers[index] = data.get("index", 0)
        self._read_rest(index, data)
        if kind == "content_block_start" and isinstance(block, dict):
            self._calls[index] = {**block, "partial": ""}
            if isinstance(block.get("text"), str):
                block["text"] = self._feed(index, block["text"])
        elif kind == "content_block_delta" and isinstance(delta, dict):
            for name in ("thinking", "signature"):
                if isinstance(delta.get(name), str) and index in self._calls:
                    self._calls[index][name] = _string(self._calls[index].get(name)) + delta[name]
            if isinstance(delta.get("text"), str):
                self._calls.setdefault(index, {"type": "text", "partial": ""})  # otherwise no event would end it
                delta["text"] = self._feed(index, delta["text"])
            elif isinstance(delta.get("partial_json"), str) and index in self._calls:
                self._calls[index]["partial"] += delta["partial_json"]
                if self._restores(self._calls[index]):
                    return
        elif kind == "message_delta" and isinstance(delta, dict):
            self._stopped(delta)
        elif kind == "content_block_stop":
            yield from self._stop(index)
        elif kind == "message_stop":
            yield from self.end()
        yield event

    def _read_rest(self, index: Any, data: dict[str, Any]) -> None:
        """Read the values of an event that pass unchanged and that a client may show."""
        rest = dict(data)
        for name in ("content_block", "delta"):
            part = data.get(name)
            if isinstance(part, dict):
                texts = [known for known in ("text", "thinking", "partial_json") if isinstance(part.get(known), str)]
                rest[name] = _without(part, *texts)
                if "thinking" in texts:
                    self._view().pass_part(index, part["thinking"])
        self._pass(rest)

    def end(self) -> Iterator[Event]:
        """Yield the held-back text of blocks that have not ended."""
        for index in list(self._calls):
            yield from self._stop(index)
        self.said = [[{"role": "assistant", "content": self._blocks}]]
        self._exchange.record_reply(self._written, self._blocks[len(self._blocks) - len(self._written) :])
        self._written = []

    def _stop(self, index: Any) -> Iterator[Event]:
        if index not in self._calls:
            return
        block, held = self._calls.pop(index, {}), None
        partial = block.pop("partial", "")
        rest, text, written = self._close(index)
        is_text = bool(text) or block.get("type") == "text"
        self._written.append({**block, "text": written} if is_text else block)
        if is_text:
            block["text"] = text
            held = {"type": "text_delta", "text": rest} if rest else None
        elif block.get("type") == "tool_use":
            given = _parsed(partial)
            self._written[-1] = block if given is None else {**block, "input": given}
            block = self._incoming([self._written[-1]])[0]
            if partial and self._restores(block):
                whole = partial if given is None else json.dumps(block["input"], ensure_ascii=False)
                held = {"type": "input_json_delta", "partial_json": whole}
        else:
            self._incoming([block])  # a client may send signed values again
        self._blocks.append(block)
        if held is not None:
            data = {"type": "content_block_delta", "index": self._numbers.get(index, index), "delta": held}
            yield Event("content_block_delta", data)


class Responses(Restoring):
    """Restorer of replies of OpenAI's responses."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._deltas: dict[Any, dict[str, Any]] = {}
        self._inserted = 0
        self._has_items = False
        #: The original and the restored text of each text that has ended.
        self._texts: dict[Any, tuple[str, str]] = {}
        #: Thoughts and other texts that pass unchanged, in parts.
        self._parts: dict[Any, list[str]] = {}
        self._passed: set[str] = set()

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a response with its output restored."""
        output = reply.get("output")
        if isinstance(output, list):
            beside = [_without(reply, "output"), *_others(output)]
            items = [item if _is_item(item) else {"type": _UNREAD, "item": item} for item in _objects(output)]
            known = iter(self._incoming(items, record=True, beside=beside))
            restored = {number: next(known) for number, item in enumerate(output) if isinstance(item, dict)}
            reply["output"] = [restored[number] if _is_item(item) else item for number, item in enumerate(output)]
            self.said = [reply["output"]]
        self._note_names(reply)
        return reply

    def _note_names(self, reply: dict[str, Any]) -> None:
        named = (reply, *_objects(reply.get("output")))
        self.names = [entry["id"] for entry in named if isinstance(entry.get("id"), str)]

    def event(self, event: Event) -> Iterator[Event]:
        """Yield an event with its text restored; the held-back rest of a text precedes its end."""
        for passed in self._restored(event, event.data):
            if isinstance(passed.data.get("sequence_number"), int):
                passed.data["sequence_number"] += self._inserted
            yield passed

    def _restored(self, event: Event, data: dict[str, Any]) -> Iterator[Event]:
        kind = _string(data.get("type"))
        what, _, step = kind.removeprefix("response.").rpartition(".")
        item, part = _key(data.get("output_index", 0)), _key(data.get("content_index", 0))
        place, field = (item, part, what), {"output_text": "text", "refusal": "refusal"}.get(what)
        if field is not None and step == "delta" and isinstance(data.get("delta"), str):
            self._refuse_late(place)
            yield from self._end_others(lambda open_one: open_one == place)
            self._pass(_without(data, "delta"))
            self._deltas[place] = dict(data)
            data["delta"] = self._feed(place, data["delta"])
        elif field is not None and step == "done" and isinstance(data.get(field), str):
            yield from self._end_others(lambda open_one: open_one[:2] != place[:2])
            self._pass(_without(data, field))
            data[field] = self._final_text(place, data[field])
        elif what in _INPUTS:
            if what == _ARGUMENTS and isinstance(data.get("delta" if step == "delta" else "arguments"), str):
                yield from self._arguments(place, data, step)
                if step == "delta" and self._restores(self._calls.get(item, {})):
                    return
        elif step == "delta" and isinstance(data.get("delta"), str):
            yield from self._end_others()
            self._parts.setdefault((what, item, part, _key(data.get("summary_index"))), []).append(data["delta"])
            self._view().pass_part((what, item, part, _key(data.get("summary_index"))), data["delta"])
        elif what == "content_part" and step == "done" and isinstance(data.get("part"), dict):
            yield from self._end_others(lambda open_one: open_one[:2] != place[:2])
            data["part"] = self._final_part(place[:2], data["part"])
        elif what == "output_item" and isinstance(data.get("item"), dict):
            yield from self._end_others()
            self._calls[item] = written = data["item"]
            if step == "done":
                data["item"] = self._final_item(item, written, counted=True)
                self._exchange.record_reply([written], [data["item"]])
                self._has_items = True
            elif written.get("type") == "function_call":
                data["item"] = self._incoming([written], False)[0]
            else:
                self._pass(written)
        elif isinstance(data.get("response"), dict) and step in ("completed", "incomplete", "failed"):
            yield from self.end()
            self._finish(data["response"])
        else:
            if any(True for _ in find_shown_texts(data)):
                yield from self._end_others()
            self._note_known(what, item, part, data)
            self._pass(data)
            if isinstance(data.get("response"), dict):
                self._note_names(data["response"])
        yield event

    def _pass(self, value: Any) -> None:
        """Read a value that passes unchanged and that a client may show; each distinct text once."""
        for text in find_shown_texts(value):
            if text not in self._passed:
                self._passed.add(text)
                super()._pass(text)

    def _note_known(self, what: str, item: Any, part: Any, data: dict[str, Any]) -> None:
        """Record the text of parts that were read, so that no copy of it is read again."""
        parts = self._parts.pop((what, item, part, _key(data.get("summary_index"))), None)
        if parts is not None:
            self._passed.add("".join(parts))

    def _finish(self, reply: dict[str, Any]) -> None:
        """Restore the whole response in the last event of its stream."""
        output = reply.get("output")
        if isinstance(output, list):
            restored = [
                self._final_item(place, item, counted=not self._has_items) if isinstance(item, dict) else item
                for place, item in enumerate(output)
            ]
            if not self._has_items:
                self._exchange.record_reply(_objects(output), _objects(restored))
            reply["output"] = restored
            self.said = [restored]
        self._note_names(reply)

    def _final_item(self, place: Any, item: dict[str, Any], *, counted: bool) -> dict[str, Any]:
        """Return a whole item, with its streamed texts as the client received them.

        Other texts of the item are restored now.
        """
        kind, content = item.get("type", "message"), item.get("content")
        if kind == "function_call":
            return self._incoming([item], counted)[0]
        if kind != "message":
            self._pass(item)
            return self._incoming([item], False)[0] if kind == "reasoning" else item
        self._pass(_without(item, "content"))
        if isinstance(content, str):
            return {**item, "content": self._final_text((place, 0, "output_text"), content)}
        if not isinstance(content, list):
            self._pass(content)
            return item
        parts = [
            self._final_part((place, number), part) if isinstance(part, dict) else part
            for number, part in enumerate(content)
        ]
        self._pass(_others(content))
        return {**item, "content": parts}

    def _final_part(self, at: tuple[Any, Any], part: dict[str, Any]) -> dict[str, Any]:
        """Return a part of a message, with its streamed text as the client received it, or restored."""
        kind = part.get("type")
        field = {"output_text": "text", "text": "text", "refusal": "refusal"}.get(kind if isinstance(kind, str) else "")
        if field is None or not isinstance(part.get(field), str):
            self._pass(part)
            return part
        self._pass(_without(part, field))
        return {**part, field: self._final_text((*at, _PLACES[field]), part[field])}

    def _final_text(self, place: Any, written: str) -> str:
        """Return the restored text that the client received of a streamed text.

        A text that differs from the streamed one is restored as a further text, after all others.
        """
        known = self._texts.get(place)
        if known is not None and known[0] == written:
            return known[1]
        if known is not None:  # a client may show it in place of the streamed one
            self._view().replace()
        text = self._feed(place, written)
        rest, _, _ = self._close(place)
        self._texts[place] = written, text + rest
        return text + rest

    def _arguments(self, place: Any, data: dict[str, Any], step: str) -> Iterator[Event]:
        """Restore the arguments of a call of a named tool, which are sent in one part."""
        if step == "delta":
            self._deltas[place] = dict(data)
            return
        call = {**self._calls.get(place[0], {}), "type": "function_call", "arguments": data["arguments"]}
        data["arguments"] = rest = self._incoming([call], False)[0]["arguments"]
        yield from self._extra(place, rest if self._restores(call) else "")

    def end(self) -> Iterator[Event]:
        """Yield the held-back rest of texts that have not ended."""
        yield from self._end_others()

    def _end_others(self, goes_on: Callable[[Any], bool] = lambda place: False) -> Iterator[Event]:
        """End the open texts for which ``goes_on`` is false."""
        for place in [place for place in self._streams if not goes_on(place)]:
            rest, restored, written = self._close(place)
            self._texts[place] = written, restored
            yield from self._extra(place, rest)

    def _extra(self, place: Any, rest: str) -> Iterator[Event]:
        last = self._deltas.pop(place, None)
        if rest and last is not None:
            number = _index(last, "sequence_number") + 1
            yield Event(str(last["type"]), {**last, "delta": rest, "sequence_number": number})
            self._inserted += 1


#: Restorer of the replies to each path. Replies to other paths pass unchanged.
REPLIES: Mapping[str, type[Restoring]] = {
    "/v1/chat/completions": Chat,
    "/v1/responses": Responses,
    "/v1/messages": Anthropic,
}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _is_item(item: Any) -> bool:
    """Return whether a value is an output item of a known type."""
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind in _ITEMS


def _others(value: Any) -> list[Any]:
    """Return the entries of a list that are no objects; any other value as the only entry."""
    return [entry for entry in value if not isinstance(entry, dict)] if isinstance(value, list) else [value]


def _without(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: entry for name, entry in value.items() if name not in names}


def _key(number: Any) -> Any:
    """Return an index by which clients count; for any other value a text that represents it."""
    return number if type(number) is int else repr(number)


def _whole_number(value: Any) -> int | None:
    """Return an index as a number, 0 if missing; ``None`` if clients may differ on its value."""
    return 0 if value is None else value if type(value) is int else None


def _index(value: Mapping[str, Any], name: str = "index") -> int:
    found = value.get(name)
    return found if isinstance(found, int) else 0


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
