"""Find tool calls that a client may run although the gateway did not recognize them in the reply.

Clients differ in how they parse a reply that violates the API. Examples are a call whose events do not end, a field
that the API does not define, and two events that contradict each other about one call. The module therefore counts
every value in a field for arguments, and every tool name, as the model wrote them. If the arguments of a call are
ambiguous, the names in all later tool results get new surrogates (replacements), never those in the rest of the
conversation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from textveil import Conversation
from textveil.arguments import join_utf16_halves
from textveil.errors import InputError

from textveil_cli.gateway.sse import END_EVENTS

#: Fields that contain arguments, and fields of a call whose objects contain such a field.
_ARGUMENT_FIELDS, _CALL_OBJECT_FIELDS = ("arguments", "input", "partial_json"), ("function", "custom", "function_call")
#: Fields that never contain a tool call, such as tool definitions.
_CALL_FREE_FIELDS = frozenset(("tools", "usage"))
#: Tool calls that the provider runs itself.
_PROVIDER_CALL_TYPES = frozenset(("mcp_call", "mcp_approval_request", "server_tool_use", "mcp_tool_use"))
_PROVIDER_EVENTS = ("response.mcp_call_arguments.",)
_PARTIAL_EVENTS = ("response.function_call_arguments.", "response.custom_tool_call_input.")
_EMPTY_VALUES: tuple[Any, ...] = (None, "", {}, [])


class CallAudit:
    """Collector of the tool calls in one reply of the upstream (language model server).

    Args:
        exchange: The conversation at the time of the request.

    Attributes:
        unclear_count: Number of tool calls whose arguments are ambiguous (two different values for one call) or too
            deeply nested.
        has_ended_part: Whether an event has ended the reply, or a part of it, since the last call of
            ``count_unrecorded``.
    """

    def __init__(self, exchange: Conversation) -> None:
        self._exchange = exchange
        self.unclear_count, self.has_ended_part = 0, False
        #: Distinct complete arguments of each call.
        self._arguments_by_call: dict[str, list[Any]] = {}
        #: Partial arguments by the position of their call, and the id of the call at each position.
        self._argument_parts: dict[Any, list[str]] = {}
        self._call_ids: dict[Any, str] = {}
        #: Tool names of each call, and partial names by the position of their call.
        self._names_by_call: dict[str, dict[str, None]] = {}
        self._name_parts: dict[Any, list[str]] = {}
        #: Positions whose call has ended, and positions of calls that the provider runs.
        self._ended_places: set[Any] = set()
        self._provider_places: set[Any] = set()

    def observe(self, data: Any) -> None:
        """Record the tool calls in a complete reply, or in the next event of a stream.

        Call this method before original words are put back into the reply or the event.
        """
        if not isinstance(data, Mapping):
            return
        event_type = data.get("type")
        event_type = event_type if isinstance(event_type, str) else ""
        if event_type.startswith("content_block"):
            self._observe_block(event_type, data)
        elif event_type.startswith(_PARTIAL_EVENTS):
            self._observe_partial(event_type, data)
        elif not event_type.startswith(_PROVIDER_EVENTS):
            if event_type.startswith("response.output_item."):
                self._observe_item(data)
            rest = dict(data)
            if isinstance(data.get("choices"), list):
                rest["choices"] = [self._observe_choice(choice) for choice in data["choices"]]
            self._observe_complete(rest)
        if event_type in END_EVENTS:
            self._ended_places.update(self._call_ids, self._argument_parts)
            self.has_ended_part = True

    def count_unrecorded(self, *, is_end: bool = False) -> None:
        """Count, in the conversation, the tool calls that ``Conversation.record_reply`` did not recognize.

        Call this method after ``record_reply``.

        Args:
            is_end: Whether the reply has ended, even without an event that ends it.
        """
        self.has_ended_part = False
        for place in [place for place in self._argument_parts if is_end or place in self._ended_places]:
            pieces, call = self._argument_parts.pop(place), self._call_ids.get(place)
            if call is None:
                self._exclude_tool_results()
            else:
                self._add_arguments(call, join_utf16_halves("".join(pieces)))
        for place in [place for place in self._name_parts if is_end or place in self._ended_places]:
            pieces, call = self._name_parts.pop(place), self._call_ids.get(place)
            for name in (
                *pieces,
                join_utf16_halves("".join(pieces)),
            ):  # a client may use the first one, the last one or all
                self._add_name(call, name)
        for call, names in self._names_by_call.items():
            for name in names:
                self._exchange.count_call_name(call, name)
            names.clear()
        for call, values in self._arguments_by_call.items():
            try:
                for value in values:
                    self._exchange.count_call(call, value)
            except (InputError, RecursionError):  # nested too deeply
                self._exclude_tool_results()
            if len(values) > 1:
                self._exclude_tool_results()
                del values[1:]

    def _exclude_tool_results(self) -> None:
        self.unclear_count += 1
        self._exchange.exclude_tool_results()

    def _add_arguments(self, call: str, value: Any) -> None:
        """Record the arguments of the tool call with a given id.

        Arguments that are equal as JSON count as one value. Two different values make the arguments ambiguous; further
        values are not recorded.
        """
        known = self._arguments_by_call.setdefault(call, [])
        if len(known) > 1:
            return
        try:
            is_new = not any(value == other or self._exchange.are_equal_arguments(value, other) for other in known)
        except (InputError, RecursionError):
            is_new = True
        if is_new:
            known.append(value)

    def _add_name(self, call: str | None, name: str) -> None:
        """Record the name of the tool that a call with the given id uses; do nothing for a call without an id.

        The name shows later whether a result of the call may be a guess of the model. Without an id, names in the
        results always get new surrogates (replacements), so that the model learns nothing from a guess.
        """
        if call is not None:
            self._names_by_call.setdefault(call, {})[name] = None

    def _observe_choice(self, choice: Any) -> Any:
        """Record the partial tool calls in one choice (alternative reply) of a chat completion.

        Returns:
            The choice without the arguments of these calls.
        """
        if not isinstance(choice, Mapping):
            return choice
        delta, number = choice.get("delta"), choice.get("index", 0)
        if not isinstance(delta, Mapping) or not isinstance(delta.get("tool_calls"), list):
            rest: Any = choice
        else:
            rest = {
                **choice,
                "delta": {**delta, "tool_calls": [self._observe_call(number, e) for e in delta["tool_calls"]]},
            }
        if choice.get("finish_reason") is not None:
            self._ended_places.update(place for place in self._call_ids if place[:2] == ("chat", str(number)))
            self.has_ended_part = True
        return rest

    def _observe_call(self, number: Any, entry: Any) -> Any:
        """Record one part of a tool call in a streamed chat completion.

        Args:
            number: Index of the choice that contains the call.
            entry: The part of the tool call, as a JSON object.

        Returns:
            The same part without its arguments.
        """
        if not isinstance(entry, Mapping):
            return entry
        index, call = entry.get("index", 0), entry.get("id")
        place = ("chat", str(number), str(index))
        if isinstance(call, str) and call and self._call_ids.setdefault(place, call) != call:
            self._exclude_tool_results()
        name = next((name for name in _CALL_OBJECT_FIELDS[:2] if isinstance(entry.get(name), Mapping)), "")
        field = "arguments" if name == "function" else "input"
        piece = entry[name].get(field) if name else None
        tool = entry[name].get("name") if name else None
        if isinstance(tool, str) and tool:
            self._name_parts.setdefault(place, []).append(tool)
        if not isinstance(piece, str) or not piece:
            return entry
        if type(number) is not int or type(index) is not int or place in self._ended_places:
            self._exclude_tool_results()
        else:
            self._argument_parts.setdefault(place, []).append(piece)
        return {**entry, name: {**entry[name], field: None}}

    def _observe_block(self, event_type: str, data: Mapping[str, Any]) -> None:
        """Record the tool call in an event about a content block of Anthropic's Messages API, if the block has one."""
        place, block, delta = ("block", str(data.get("index"))), data.get("content_block"), data.get("delta")
        is_place, rest = type(data.get("index")) is int, {**data, "content_block": block, "delta": delta}
        if isinstance(block, Mapping) and isinstance(block.get("id"), str):
            if place in self._call_ids or place in self._provider_places or not is_place:
                self._exclude_tool_results()
            if _is_by_provider(block):
                self._provider_places.add(place)
            else:
                self._call_ids[place] = block["id"]
        piece = delta.get("partial_json") if isinstance(delta, Mapping) else None
        if isinstance(piece, str) and piece and place in self._provider_places and place not in self._call_ids:
            piece = ""
        if isinstance(piece, str) and isinstance(delta, Mapping):
            rest["delta"] = {**delta, "partial_json": None}
            if piece and (not is_place or place not in self._call_ids or place in self._ended_places):
                self._exclude_tool_results()
            elif piece:
                self._argument_parts.setdefault(place, []).append(piece)
        self._observe_complete(rest)
        if event_type == "content_block_stop":
            self._ended_places.add(place)

    def _observe_item(self, data: Mapping[str, Any]) -> None:
        """Record the id of a tool call in an output item of the Responses API."""
        item, number = data.get("item"), data.get("output_index")
        call = item.get("call_id") if isinstance(item, Mapping) else None
        if isinstance(call, str) and self._call_ids.setdefault(("item", str(number)), call) != call:
            self._exclude_tool_results()

    def _observe_partial(self, event_type: str, data: Mapping[str, Any]) -> None:
        """Record one part of the arguments of a tool call in the Responses API.

        The last event of a call has the complete arguments.
        """
        place = ("item", str(data.get("output_index")))
        piece = data.get("delta")
        if event_type.endswith(".delta") and piece not in _EMPTY_VALUES:
            if not isinstance(piece, str) or place in self._ended_places:
                self._exclude_tool_results()
            else:
                self._argument_parts.setdefault(place, []).append(piece)
        for name in _ARGUMENT_FIELDS:
            if data.get(name) in _EMPTY_VALUES:
                continue
            self._ended_places.add(place)
            if place in self._call_ids:
                self._add_arguments(self._call_ids[place], data[name])
            else:
                self._exclude_tool_results()

    def _observe_complete(self, value: Any) -> None:
        """Record the names and complete arguments of all tool calls that are found in a JSON value of the reply."""
        for parent, entry, is_call in _iterate_objects(value):
            call, tool = _find_id(entry, parent), entry.get("name")
            if is_call and isinstance(tool, str) and tool:
                self._add_name(call, tool)
            for name in _ARGUMENT_FIELDS:
                if entry.get(name) in _EMPTY_VALUES:
                    continue
                if call is None:
                    self._exclude_tool_results()
                else:
                    self._add_arguments(call, entry[name])


def _find_id(entry: Mapping[str, Any], parent: Mapping[str, Any]) -> str | None:
    """Return the id of a tool call: the id of ``entry``, or else that of ``parent``, the object that contains it.

    The result is ``None`` if neither has an id.
    """
    candidates = [owner.get(key) for owner in (entry, parent) for key in ("call_id", "id")]
    return next((candidate for candidate in candidates if isinstance(candidate, str) and candidate), None)


def _iterate_objects(value: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], bool]]:
    """Yield the JSON objects in a value, except those inside the arguments of tool calls.

    Yields:
        Triples. The first entry is the tool call of which the object is a part, or an empty object if it is a part of
        none. The second entry is the object, and the third whether the object belongs to a tool call.
    """
    waiting: list[tuple[Mapping[str, Any], Any, str]] = [({}, value, "")]
    while waiting:
        parent, entry, name = waiting.pop()
        if isinstance(entry, list):
            waiting += [(parent, part, name) for part in entry]
        elif isinstance(entry, Mapping) and not _is_by_provider(entry):
            is_part = name in _CALL_OBJECT_FIELDS
            yield parent if is_part else {}, entry, is_part or not entry.keys().isdisjoint(_ARGUMENT_FIELDS)
            waiting += [
                (entry, part, key)
                for key, part in entry.items()
                if key not in _ARGUMENT_FIELDS and key not in _CALL_FREE_FIELDS
            ]


def _is_by_provider(entry: Mapping[str, Any]) -> bool:
    item_type = entry.get("type")
    return isinstance(item_type, str) and item_type in _PROVIDER_CALL_TYPES
