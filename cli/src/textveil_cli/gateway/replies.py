"""Replies of the three shapes, whole or as events: their texts are restored, and all else stays as it came."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile
from typing import Any

from textveil import Conversation
from textveil.conversation import Incoming, ReplyStream
from textveil.errors import InputError

from textveil_cli.gateway.events import Event
from textveil_cli.gateway.upstream import failed

_COUNTED = ("placed", "unplaced", "ambiguous", "tools", "skipped")
#: Texts of a message; those that servers of open models write before the answer.
_THOUGHTS = ("reasoning", "reasoning_content")
_TEXTS = ("content", "refusal", *_THOUGHTS)
#: Items of OpenAI's responses that have texts, calls or what is signed.
_ITEMS = frozenset(("message", "function_call", "reasoning"))


class Restoring:
    """Restores one reply with the surrogates of its request. What is not known stays as the upstream sent it.

    Args:
        exchange: The request.
        tools: Tools whose arguments are restored. In a stream they come in one part.

    Attributes:
        said: What the client got, as messages that it may send again; one list for each choice.
        counts: How much was placed, and what stayed; ``unshared`` are results of tools that went out without mapping.
        reasons: How many surrogates stayed for each reason of their place.
        names: Identifiers of the reply by which later requests go on with it.
    """

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        self.exchange = self._exchange = exchange
        self._tools = frozenset(tools)
        self._streams: dict[Any, ReplyStream] = {}
        self._finished: dict[Any, ReplyStream] = {}
        self._begun: set[Any] = set()
        self._newest: dict[Any, Any] = {}
        self._calls: dict[Any, dict[str, Any]] = {}
        self.said: list[list[Any]] = []
        self.counts: Counter[str] = Counter(dict.fromkeys(_COUNTED, 0))
        if exchange.unshared:
            self.counts["unshared"] = exchange.unshared
        self.reasons: Counter[str] = Counter()
        self.names: list[str] = []

    def note_unclear(self, count: int) -> None:
        """Note for the log how many times nobody could tell which arguments a call gets."""
        if count:
            self.counts["unclear_calls"] = count

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Returns a whole reply restored."""
        return reply

    def event(self, event: Event) -> Iterator[Event]:
        """Yields what an event becomes, and what was held back until it."""
        yield event

    def end(self) -> Iterator[Event]:
        """Yields what is held back where the upstream ends without saying so."""
        yield from ()

    def _incoming(self, reply: Any, counted: bool = True, *, record: bool = False) -> Any:
        try:
            found = self._exchange.incoming(reply, record=record)
        except InputError:
            return reply  # of a shape that is not known: surrogates alone
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
        """Return what texts have in common that clients may join: all of a reply, if a subclass does not differ."""
        return None

    def _refuse_late(self, place: Any) -> None:
        """Raise ``Refusal`` if a text goes on after the next one, whose names are out: it could begin a link there."""
        if place in self._begun and self._newest[self._group(place)] != place:
            raise failed("wrote to a text again after the next one")

    def _feed(self, place: Any, delta: str) -> str:
        if place not in self._streams and delta:
            group = self._group(place)
            self._begun.add(place)
            self._newest[group] = place
            self._streams[place] = self._exchange.stream(record=False)
            if group in self._finished:
                self._streams[place].follow(self._finished[group])
        return self._streams[place].feed(delta) if delta else ""

    def _close(self, place: Any) -> tuple[str, str, str]:
        """Ends a text; returns the rest of it, all of it, and all of it as the model wrote it."""
        stream = self._streams.pop(place, None)
        if stream is None:
            return "", "", ""
        rest = stream.close()
        self._finished[self._group(place)] = stream
        assert stream.incoming is not None
        self._count(stream.incoming)
        return rest, stream.incoming.reply, stream.written


class Chat(Restoring):
    """Replies of OpenAI's chat."""

    _last: Mapping[str, Any] = {}

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._thoughts: dict[Any, tuple[str, str]] = {}

    def _group(self, place: Any) -> Any:
        """Return the place: the texts of a message are shown apart."""
        return place

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Returns a reply with the messages of its choices restored."""
        for choice in _objects(reply.get("choices")):
            message = choice.get("message")
            if isinstance(message, dict) and message.get("type", "message") == "message":
                message = {"role": "assistant", **message}  # some leave it out
                choice["message"] = self._incoming(message, record=True)
                self.said.append([choice["message"]])
        return reply

    def event(self, event: Event) -> Iterator[Event]:
        """Yields a chunk with the texts of its choices restored; the last one of a choice has the rest."""
        self._last = event.data
        for choice in _objects(event.data.get("choices")):
            delta = choice.setdefault("delta", {})
            if isinstance(delta, dict):
                self._restore(_index(choice), delta)
                if choice.get("finish_reason") is not None:
                    self._finish(_index(choice), delta)
        yield event

    def end(self) -> Iterator[Event]:
        """Yields chunks for choices that are not finished."""
        for index in {place[0]: None for place in (*self._streams, *self._calls)}:
            delta: dict[str, Any] = {}
            self._finish(index, delta)
            if delta:
                choices = [{"index": index, "delta": delta, "finish_reason": None}]
                yield Event("", {**self._last, "choices": choices})

    def _restore(self, index: Any, delta: dict[str, Any]) -> None:
        ended = _THOUGHTS if delta.get("content") else ()  # what is held back of a thought goes before the answer
        for name in _TEXTS:
            if isinstance(delta.get(name), str):
                delta[name] = self._feed((index, name), delta[name])
        for name in ended:
            rest, *whole = self._close((index, name))
            if whole[0]:
                self._thoughts[index, name] = whole[0], whole[1]
            if rest:
                delta[name] = _string(delta.get(name)) + rest
        for call in _objects(delta.get("tool_calls")):
            of, part = (index, "call", _index(call)), call.get("function")
            if isinstance(part, dict):
                known = self._calls.setdefault(of, {"name": "", "arguments": "", "id": call.get("id")})
                for name in ("name", "arguments"):
                    known[name] += _string(part.get(name))
                if known["name"] in self._tools and part.get("arguments"):
                    part["arguments"] = ""

    def _finish(self, index: Any, delta: dict[str, Any]) -> None:
        message: dict[str, Any] = {"role": "assistant"}
        written: dict[str, Any] = {"role": "assistant", "tool_calls": []}
        for name in _TEXTS:
            rest, message[name], written[name] = self._close((index, name))
            if name in _THOUGHTS and not message[name]:
                message[name], written[name] = self._thoughts.pop((index, name), ("", ""))
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
    """Replies of Anthropic's messages."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._blocks: list[Any] = []
        self._written: list[Any] = []

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Returns a message with its content restored."""
        if isinstance(reply.get("content"), list):
            reply["content"] = self._incoming(reply["content"], record=True)
            self.said.append([{"role": "assistant", "content": reply["content"]}])
        self._stopped(reply)
        return reply

    def _stopped(self, reply: dict[str, Any]) -> None:
        """What it stopped at was a text of the request."""
        if isinstance(reply.get("stop_sequence"), str):
            reply["stop_sequence"] = self._incoming(reply["stop_sequence"], False)

    def event(self, event: Event) -> Iterator[Event]:
        """Yields an event with its text restored; what is held back of a block comes before its end."""
        data = event.data
        kind, index = data.get("type"), _index(data)
        block, delta = data.get("content_block"), data.get("delta")
        if kind in ("content_block_start", "content_block_delta"):
            self._refuse_late(index)
            for other in [other for other in self._streams if other != index]:
                yield from self._stop(other)
        if kind == "content_block_start" and isinstance(block, dict):
            self._calls[index] = {**block, "partial": ""}
            if isinstance(block.get("text"), str):
                block["text"] = self._feed(index, block["text"])
        elif kind == "content_block_delta" and isinstance(delta, dict):
            for name in ("thinking", "signature"):
                if isinstance(delta.get(name), str) and index in self._calls:
                    self._calls[index][name] = _string(self._calls[index].get(name)) + delta[name]
            if isinstance(delta.get("text"), str):
                self._calls.setdefault(index, {"type": "text", "partial": ""})  # else nothing would end it
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

    def end(self) -> Iterator[Event]:
        """Yields what is held back of blocks that have not ended."""
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
            self._incoming([block])  # what is signed may be sent again
        self._blocks.append(block)
        if held is not None:
            yield Event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": held})


class Responses(Restoring):
    """Replies of OpenAI's responses."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._deltas: dict[Any, dict[str, Any]] = {}
        self._inserted = 0
        self._has_items = False
        self._raw_texts: dict[tuple[int, int], str] = {}

    def whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Returns a response with its output restored."""
        return self._response(reply, True, record=True)

    def _response(self, reply: dict[str, Any], counted: bool, *, record: bool) -> dict[str, Any]:
        if isinstance(reply.get("output"), list):
            known = iter(self._incoming(list(filter(_is_item, reply["output"])), counted, record=record))
            reply["output"] = [next(known) if _is_item(item) else item for item in reply["output"]]
            self.said = [reply["output"]]
        named = (reply, *_objects(reply.get("output")))
        self.names = [entry["id"] for entry in named if isinstance(entry.get("id"), str)]
        return reply

    def event(self, event: Event) -> Iterator[Event]:
        """Yields an event with its text restored; what is held back of a text comes before its end."""
        for passed in self._restored(event, event.data):
            if isinstance(passed.data.get("sequence_number"), int):
                passed.data["sequence_number"] += self._inserted
            yield passed

    def _restored(self, event: Event, data: dict[str, Any]) -> Iterator[Event]:
        kind = _string(data.get("type"))
        what, _, step = kind.removeprefix("response.").rpartition(".")
        place = _index(data, "output_index"), _index(data, "content_index"), what
        field = {"output_text": "text", "refusal": "refusal", "function_call_arguments": "arguments"}.get(what)
        if field is not None and step == "delta" and isinstance(data.get("delta"), str):
            self._deltas[place] = dict(data)
            if field != "arguments":
                self._refuse_late(place)
                for other in [other for other in self._streams if other != place]:
                    yield from self._extra(other, self._close(other)[0])
                self._raw_texts[place[:2]] = self._raw_texts.get(place[:2], "") + data["delta"]
                data["delta"] = self._feed(place, data["delta"])
            elif self._restores(self._calls.get(place[0], {})):
                return
        elif field is not None and step == "done" and isinstance(data.get(field), str):
            yield from self._ended(place, data, field)
        elif what == "content_part" and isinstance(data.get("part"), dict):
            data["part"] = self._incoming([*self._before(place[:2]), data["part"]], False)[-1]
        elif what == "output_item" and isinstance(data.get("item"), dict):
            self._calls[place[0]] = data["item"]
            counted = step == "done" and data["item"].get("type") == "function_call"
            if _is_item(written := data["item"]):
                before = [] if counted else self._before(place[:1])
                data["item"] = self._incoming([*before, written], counted)[-1]
                if step == "done":
                    self._exchange.record_reply([written], [data["item"]])
            self._has_items = self._has_items or step == "done"
        elif kind.startswith("response.") and isinstance(data.get("response"), dict):
            ends = step in ("completed", "incomplete", "failed")
            if ends:
                yield from self.end()
            self._response(data["response"], False, record=ends and not self._has_items)
        yield event

    def _ended(self, place: Any, data: dict[str, Any], field: str) -> Iterator[Event]:
        if field == "arguments":
            call = {**self._calls.get(place[0], {}), "type": "function_call", "arguments": data[field]}
            data[field] = rest = self._incoming([call], False)[0]["arguments"]
            rest = rest if self._restores(call) else ""
        else:
            rest = self._close(place)[0]
            self._raw_texts[place[:2]] = data[field]
            part = {"type": "output_text", "text": data[field]}
            data[field] = self._incoming([*self._before(place[:2]), part], False)[-1]["text"]
        yield from self._extra(place, rest)

    def end(self) -> Iterator[Event]:
        """Yields what is held back of texts that have not ended."""
        for place in list(self._streams):
            yield from self._extra(place, self._close(place)[0])

    def _before(self, at: tuple[int, ...]) -> list[dict[str, Any]]:
        """List the texts before one, or before an item, as parts that clients may join with it."""
        found = takewhile(lambda entry: entry[0][: len(at)] != at, self._raw_texts.items())
        return [{"type": "output_text", "text": text} for _, text in found]

    def _extra(self, place: Any, rest: str) -> Iterator[Event]:
        last = self._deltas.pop(place, None)
        if rest and last is not None:
            number = _index(last, "sequence_number") + 1
            yield Event(str(last["type"]), {**last, "delta": rest, "sequence_number": number})
            self._inserted += 1


#: What restores the replies to each path; those to others stay as they are.
REPLIES: Mapping[str, type[Restoring]] = {
    "/v1/chat/completions": Chat,
    "/v1/responses": Responses,
    "/v1/messages": Anthropic,
}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _is_item(item: Any) -> bool:
    """Return whether it has a type that items of the output have."""
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind in _ITEMS


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
