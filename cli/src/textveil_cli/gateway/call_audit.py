"""Audit of tool calls that a client may run although the record of the reply lacks them.

The audit counts their arguments and names. Clients differ in how they read a reply that violates its API: a call whose
events do not end, a field that the API does not have, or two events that differ on one call. Each value in a field for
arguments therefore counts as written by the model. If the arguments of a call are ambiguous, no later tool result
shares the mapping.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from textveil import Conversation
from textveil.errors import InputError

#: Fields with arguments, and objects in which a call has them.
_ARGUMENTS, _OBJECTS = ("arguments", "input", "partial_json"), ("function", "custom", "function_call")
#: Fields without calls: tool definitions and usage.
_DEFINITIONS = frozenset(("tools", "usage"))
#: Calls that the provider runs itself.
_BY_PROVIDER = frozenset(("mcp_call", "mcp_approval_request", "server_tool_use", "mcp_tool_use"))
_PROVIDER_EVENTS = ("response.mcp_call_arguments.",)
_PIECES = ("response.function_call_arguments.", "response.custom_tool_call_input.")
_ENDS = frozenset(("message_stop", "response.completed", "response.incomplete", "response.failed"))
_NOTHING: tuple[Any, ...] = (None, "", {}, [])


class CallAudit:
    """Audit of the calls of one reply, as the upstream sent it.

    Args:
        exchange: The conversation state of the request.

    Attributes:
        unclear: Number of times that the arguments of a call were ambiguous.
        may_settle: Whether an event ended the reply, or a part of it, since the last ``settle``.
    """

    def __init__(self, exchange: Conversation) -> None:
        self._exchange = exchange
        self.unclear, self.may_settle = 0, False
        #: Distinct complete arguments of each call.
        self._values: dict[str, list[Any]] = {}
        #: Partial arguments by the position of their call, and the id of the call at each position.
        self._pieces: dict[Any, list[str]] = {}
        self._ids: dict[Any, str] = {}
        #: Tool names of each call, and partial names by the position of their call.
        self._names: dict[str, dict[str, None]] = {}
        self._name_pieces: dict[Any, list[str]] = {}
        #: Positions that must not receive more, and positions of calls that the provider runs.
        self._ended: set[Any] = set()
        self._provided: set[Any] = set()

    def observe(self, data: Any) -> None:
        """Record a whole reply or the next event, before any of it is restored."""
        if not isinstance(data, Mapping):
            return
        kind = data.get("type")
        kind = kind if isinstance(kind, str) else ""
        if kind.startswith("content_block"):
            self._observe_block(kind, data)
        elif kind.startswith(_PIECES):
            self._observe_piece(kind, data)
        elif not kind.startswith(_PROVIDER_EVENTS):
            if kind.startswith("response.output_item."):
                self._observe_item(data)
            rest = dict(data)
            if isinstance(data.get("choices"), list):
                rest["choices"] = [self._observe_choice(choice) for choice in data["choices"]]
            self._observe_whole(rest)
        if kind in _ENDS:
            self._ended.update(self._ids, self._pieces)
            self.may_settle = True

    def settle(self, *, is_end: bool = False) -> None:
        """Count the arguments that the record of the reply lacks; the reply must be recorded first.

        Args:
            is_end: Whether nothing more follows, also without an event that ends the reply.
        """
        self.may_settle = False
        for place in [place for place in self._pieces if is_end or place in self._ended]:
            pieces, call = self._pieces.pop(place), self._ids.get(place)
            if call is None:
                self._close()
            else:
                self._add(call, "".join(pieces))
        for place in [place for place in self._name_pieces if is_end or place in self._ended]:
            pieces, call = self._name_pieces.pop(place), self._ids.get(place)
            for name in (*pieces, "".join(pieces)):  # a client may use the first one, the last one or all
                self._add_name(call, name)
        for call, names in self._names.items():
            for name in names:
                self._exchange.count_call_name(call, name)
            names.clear()
        for call, values in self._values.items():
            try:
                for value in values:
                    self._exchange.count_call(call, value)
            except (InputError, RecursionError):  # nested too deeply
                self._close()
            if len(values) > 1:
                self._close()
                del values[1:]

    def _close(self) -> None:
        self.unclear += 1
        self._exchange.close_tool_results()

    def _add(self, call: str, value: Any) -> None:
        """Record arguments of a call; arguments that are equal as JSON are one value.

        At most two values are recorded, since two end the sharing of the mapping for the rest of the conversation.
        """
        known = self._values.setdefault(call, [])
        if len(known) > 1:
            return
        try:
            is_new = not any(value == other or self._exchange.has_same_arguments(value, other) for other in known)
        except (InputError, RecursionError):
            is_new = True
        if is_new:
            known.append(value)

    def _add_name(self, call: str | None, name: str) -> None:
        """Record the tool name of a call; a call without an id never shares the mapping."""
        if call is not None:
            self._names.setdefault(call, {})[name] = None

    def _observe_choice(self, choice: Any) -> Any:
        """Record the partial calls in a choice of a chat completion; return the rest of the choice."""
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
            self._ended.update(place for place in self._ids if place[:2] == ("chat", str(number)))
            self.may_settle = True
        return rest

    def _observe_call(self, number: Any, entry: Any) -> Any:
        """Record a partial call; return its other values."""
        if not isinstance(entry, Mapping):
            return entry
        index, call = entry.get("index", 0), entry.get("id")
        place = ("chat", str(number), str(index))
        if isinstance(call, str) and call and self._ids.setdefault(place, call) != call:
            self._close()
        name = next((name for name in _OBJECTS[:2] if isinstance(entry.get(name), Mapping)), "")
        field = "arguments" if name == "function" else "input"
        piece = entry[name].get(field) if name else None
        tool = entry[name].get("name") if name else None
        if isinstance(tool, str) and tool:
            self._name_pieces.setdefault(place, []).append(tool)
        if not isinstance(piece, str) or not piece:
            return entry
        if type(number) is not int or type(index) is not int or place in self._ended:
            self._close()
        else:
            self._pieces.setdefault(place, []).append(piece)
        return {**entry, name: {**entry[name], field: None}}

    def _observe_block(self, kind: str, data: Mapping[str, Any]) -> None:
        """Record an event of a block of Anthropic's messages."""
        place, block, delta = ("block", str(data.get("index"))), data.get("content_block"), data.get("delta")
        is_place, rest = type(data.get("index")) is int, {**data, "content_block": block, "delta": delta}
        if isinstance(block, Mapping) and isinstance(block.get("id"), str):
            if place in self._ids or place in self._provided or not is_place:
                self._close()
            if _is_by_provider(block):
                self._provided.add(place)
            else:
                self._ids[place] = block["id"]
        piece = delta.get("partial_json") if isinstance(delta, Mapping) else None
        if isinstance(piece, str) and piece and place in self._provided and place not in self._ids:
            piece = ""
        if isinstance(piece, str) and isinstance(delta, Mapping):
            rest["delta"] = {**delta, "partial_json": None}
            if piece and (not is_place or place not in self._ids or place in self._ended):
                self._close()
            elif piece:
                self._pieces.setdefault(place, []).append(piece)
        self._observe_whole(rest)
        if kind == "content_block_stop":
            self._ended.add(place)

    def _observe_item(self, data: Mapping[str, Any]) -> None:
        """Record the id of a call of the responses API."""
        item, number = data.get("item"), data.get("output_index")
        call = item.get("call_id") if isinstance(item, Mapping) else None
        if isinstance(call, str) and self._ids.setdefault(("item", str(number)), call) != call:
            self._close()

    def _observe_piece(self, kind: str, data: Mapping[str, Any]) -> None:
        """Record partial arguments of the responses API, and the complete ones at their end."""
        place = ("item", str(data.get("output_index")))
        piece = data.get("delta")
        if kind.endswith(".delta") and piece not in _NOTHING:
            if not isinstance(piece, str) or place in self._ended:
                self._close()
            else:
                self._pieces.setdefault(place, []).append(piece)
        for name in _ARGUMENTS:
            if data.get(name) in _NOTHING:
                continue
            self._ended.add(place)
            if place in self._ids:
                self._add(self._ids[place], data[name])
            else:
                self._close()

    def _observe_whole(self, value: Any) -> None:
        """Record the names and all arguments in a value, except for partial calls."""
        for around, entry, is_call in _objects_in(value):
            call, tool = _find_id(entry, around), entry.get("name")
            if is_call and isinstance(tool, str) and tool:
                self._add_name(call, tool)
            for name in _ARGUMENTS:
                if entry.get(name) in _NOTHING:
                    continue
                if call is None:
                    self._close()
                else:
                    self._add(call, entry[name])


def _find_id(entry: Mapping[str, Any], around: Mapping[str, Any]) -> str | None:
    """Return the id of the call that an object belongs to."""
    names = [of.get(key) for of in (entry, around) for key in ("call_id", "id")]
    return next((found for found in names if isinstance(found, str) and found), None)


def _objects_in(value: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], bool]]:
    """Yield each object outside arguments, its parent, and whether it belongs to a call.

    The parent is empty unless the object is a part of a call.
    """
    left: list[tuple[Mapping[str, Any], Any, str]] = [({}, value, "")]
    while left:
        around, entry, name = left.pop()
        if isinstance(entry, list):
            left += [(around, part, name) for part in entry]
        elif isinstance(entry, Mapping) and not _is_by_provider(entry):
            is_part = name in _OBJECTS
            yield around if is_part else {}, entry, is_part or not entry.keys().isdisjoint(_ARGUMENTS)
            left += [
                (entry, part, key) for key, part in entry.items() if key not in _ARGUMENTS and key not in _DEFINITIONS
            ]


def _is_by_provider(entry: Mapping[str, Any]) -> bool:
    kind = entry.get("type")
    return isinstance(kind, str) and kind in _BY_PROVIDER
