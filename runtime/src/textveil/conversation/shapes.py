"""The shapes of messages and the content of their fields; fields on no list are refused.

The shapes are those of OpenAI's chat and responses APIs and of Anthropic's messages API.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from textveil.errors import InputError
from textveil.work_limits import check_work

#: Content of a field, in this order: an identifier or a flag; a text; a text or parts; JSON in a text; a JSON value;
#: the output of a tool; calls of tools; the name of a person; nothing; the fields of a call.
SAME, TEXT, PARTS, ARGUMENTS, VALUE, RESULT, CALLS, NAME, EMPTY, CALL = range(10)
_OWN_WORDS = frozenset((TEXT, PARTS, ARGUMENTS, VALUE))
#: For each field with words of the model: the field's class in records of replies.
_KINDS = {"content": "text", "text": "text", "arguments": "call", "input": "call"}
#: Fields of a tool definition that contain other definitions.
_DEFINITIONS = ("function", "custom", "functionDeclarations", "function_declarations", "tools")
#: Item type for the settings of a request that are JSON values.
SETTINGS = "textveil_settings"
_CALL = {"name": SAME, "arguments": ARGUMENTS}
_MESSAGE = {
    **dict.fromkeys(("role", "type", "id", "status", "phase", "tool_call_id"), SAME),
    **dict.fromkeys(("annotations", "audio", "function_call", "stop_reason", "stop_sequence"), EMPTY),
    **{"content": PARTS, "name": NAME, "tool_calls": CALLS},
    **dict.fromkeys(("refusal", "reasoning", "reasoning_content"), TEXT),
}
_PART = {"type": SAME, "cache_control": SAME, "annotations": EMPTY, "citations": EMPTY, "logprobs": EMPTY}
#: The fields of each type.
TYPES: Mapping[str, Mapping[str, int]] = {
    "message": _MESSAGE,
    **{name: {**_PART, "text": TEXT} for name in ("text", "input_text", "output_text")},
    "refusal": {**_PART, "refusal": TEXT},
    "tool_use": {**_PART, "id": SAME, "name": SAME, "input": VALUE},
    "tool_result": {**_PART, "tool_use_id": SAME, "content": RESULT, "is_error": SAME},
    "function": {"type": SAME, "id": SAME, "index": SAME, "function": CALL},
    "function_call": {**dict.fromkeys(("type", "id", "call_id", "status"), SAME), **_CALL},
    "item_reference": {"type": SAME, "id": SAME},
    SETTINGS: {"type": SAME, "value": VALUE},
    "function_call_output": {**dict.fromkeys(("type", "id", "call_id", "status"), SAME), "output": RESULT},
}
#: Types with content that is not text, or with content signed by the provider.
_NOT_TEXT = frozenset(
    "image_url image input_image input_audio audio input_file file document thinking redacted_thinking reasoning "
    "video search_result container_upload".split()
)
#: Types that the provider signs and expects back unchanged. They contain surrogates: nothing of them is restored.
SIGNED = frozenset(("thinking", "redacted_thinking", "reasoning"))
_ROLES = frozenset(("user", "assistant", "system", "developer", "tool", "function"))
_TOOLS, _OWN = frozenset(("tool", "function")), frozenset(("assistant",))
_OF_THE_MODEL = frozenset(("function_call", "tool_use"))
#: Parts of messages. A part without a message and a role comes from a reply: no API accepts it as a user's.
_ALONE_OF_THE_MODEL = frozenset(("text", "input_text", "output_text", "refusal", "function"))
_CALL_IDS = ("tool_call_id", "call_id", "tool_use_id")
_ID_FIELDS = (*_CALL_IDS, "id")
_IDENTIFIER = re.compile(r"[\w.:+/=|-]{0,512}", re.ASCII)
_KEY = re.compile(r"[A-Za-z_$][\w.$-]{0,63}", re.ASCII)
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")
_MOST_DIGITS, _MOST_INTEGER = 300, 1 << 64
_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
#: The same with sorted keys and in ASCII, for hashing.
IN_ORDER = json.JSONEncoder(sort_keys=True, allow_nan=False).encode


class Messages:
    """Rewriter of messages; it refuses unknown types and fields.

    Args:
        text: Rewrites a text.
        signed: Returns a signed item as its provider sent it; ``None`` for any other item.
        find_fields: Returns the keys of an object that are names of fields and stay. Others are rewritten as values.
        pass_through: Types of parts, and roles, that stay unchanged; ``keys`` lets any JSON key stay.
        rewrite_key: Rewrites a key that is not the name of a field; by default the function for texts.
        own: Returns the model's own text for the next field of a class; ``None`` if there is no record of it.
        of_model: Rewrites content under the model's name, in place of this object.
        of_result: Returns the rewriter for the result of a call, in place of this object.
        put_id_back: Returns the upstream's identifier for a replacement that the client got.
    """

    def __init__(
        self,
        text: Callable[[str], str],
        signed: Callable[[Any], Any],
        find_fields: Callable[[Collection[str]], Collection[str]],
        pass_through: Collection[str] = (),
        *,
        rewrite_key: Callable[[str], str] | None = None,
        own: Callable[[str, Any], Any] = lambda kind, value: None,
        of_model: "Messages | None" = None,
        of_result: "Callable[[str], Messages] | None" = None,
        put_id_back: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self._text, self._signed, self._find_fields = text, signed, find_fields
        self._rewrite_key, self._passes = rewrite_key or text, frozenset(pass_through)
        self._own, self._of_model, self._of_result = own, of_model, of_result
        self._put_id_back = put_id_back

    def item(self, item: Any, own: bool = False, around: Any = None) -> Any:
        """Return a rewritten message, or a rewritten part of one.

        Args:
            item: The message or part.
            own: Whether the part belongs to a message of the model.
            around: Role of the surrounding message, if any.

        Raises:
            InputError: It has an unknown shape, type, field or value.
        """
        check_work()
        if not isinstance(item, Mapping):
            raise InputError("it is not a message, a part or an item: a dictionary is wanted")
        kind, role = item.get("type", "message"), item.get("role")
        if "role" in item:
            if not isinstance(role, str) or role not in _ROLES:
                raise InputError("its role is none that is known")
            own = role in _OWN
        elif kind == "message":
            raise InputError("it has neither a role nor a type")
        kind = kind if isinstance(kind, str) else ""
        if kind in self._passes or role in self._passes:
            return self._as_it_is(json.loads(dumped(item)))
        if kind in SIGNED and (written := self._signed(as_signed(item))) is not None:
            return written
        if kind in _NOT_TEXT:
            where = f"what has the type {kind} cannot be rewritten: leave it out, or name it in pass_through"
            raise InputError(f"{where} (gateway: --pass-through {kind})")
        if kind not in TYPES:
            raise InputError("it has a type that is not known: leave it out, or name its type in pass_through")
        own = own or kind in _OF_THE_MODEL
        by = self
        if own:
            by = self._of_model or self
        elif self._of_result is not None and is_result(item):
            by = self._of_result(call_id(item))
        return by._fields(item, TYPES[kind], own, role or around)

    def _as_it_is(self, item: Any) -> Any:
        """Return an unchanged item, except for the upstream's identifiers of its calls."""
        if isinstance(item, list):
            return [self._as_it_is(entry) for entry in item]
        if not isinstance(item, Mapping):
            return item
        return {
            name: self._put_id_back(value)
            if name in _ID_FIELDS
            else self._as_it_is(value)
            if name in ("content", "tool_calls")
            else value
            for name, value in item.items()
        }

    def _fields(self, item: Mapping[str, Any], fields: Mapping[str, int], own: bool, role: Any = None) -> Any:
        item = {name: value for name, value in item.items() if name in fields or value is not None}
        unknown = [name for name in item if name not in fields]
        if unknown:
            named = [name for name in unknown if isinstance(name, str) and self._find_fields([name])]
            raise InputError("it has a field that is not known" + (f": {named[0]}" if named else ""))
        return {name: self._field(name, value, fields[name], own, role) for name, value in item.items()}

    def _field(self, name: str, value: Any, what: int, own: bool, role: Any) -> Any:
        if value is None or (what == EMPTY and not value):
            return value
        if what == SAME or (what == NAME and role in _TOOLS):
            return self._put_id_back(_same(value)) if name in _ID_FIELDS else _same(value)
        parts = what == PARTS and isinstance(value, list)
        if (
            own
            and what in _OWN_WORDS
            and not parts
            and (written := self._own(_KINDS.get(name, name), value)) is not None
        ):
            return written
        if what == VALUE:
            return self._value(value)
        if what == CALL and isinstance(value, Mapping):
            return self._fields(value, _CALL, own)
        if what in (PARTS, RESULT, CALLS) and isinstance(value, list):
            return [self.item(part, own, "tool" if what == RESULT else role) for part in value]
        if what in (EMPTY, CALL, CALLS) or not isinstance(value, str):
            raise InputError("a field has a value that is not known, or cannot be rewritten")
        if what == NAME:
            return _NOT_IN_NAMES.sub("_", self._text(value)).strip("_")
        if what == TEXT and role in _TOOLS:
            return self._value(value)
        by_value = parsed(value) if what in (ARGUMENTS, RESULT) or role in _TOOLS else None
        return self._text(value) if by_value is None else dumped(self._value(by_value))

    def _value(self, value: Any) -> Any:
        """Return a JSON value with every text and number rewritten.

        Names of fields, true, false and null stay.
        """
        check_work()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            inside = None
            with suppress(InputError):  # every word is rewritten if the text cannot stay JSON
                inside = parsed(value)
            return self._text(value) if inside is None else dumped(self._value(inside))
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, list):
            return [self._value(entry) for entry in value]
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise InputError("it has a value or a key that JSON does not have")
        return self._entries(value)

    def _entries(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a rewritten JSON object; a key that is not the name of a field is rewritten too."""
        found: dict[str, Any] = {}
        fields = value if "keys" in self._passes else self._find_fields(value)
        for name, entry in value.items():
            key = name if name in fields else self._rewrite_key(name)
            known, number = key, 1
            while key in found:  # small surrogate pools may give two keys the same surrogate
                number += 1
                key = f"{known}_{number}"
            found[key] = self._value(entry)
        return found

    def _number(self, value: int | float) -> int | float:
        """Return a number of the same type and sign; 0 if the style leaves no digits."""
        if not abs(value) < 10**_MOST_DIGITS:  # the comparison is false for NaN
            raise InputError("it has a number that is not finite, or too large")
        digits = self._text(format(Decimal(repr(abs(value))), "f")).replace(",", "")
        try:
            return type(value)(f"-{digits}" if value < 0 else digits)
        except ValueError:
            return type(value)(0)


def sender_of(message: Any, pass_through: Collection[str] = ()) -> str:
    """Return the sender of a message: ``model``, ``tool`` or ``user``, or ``other``.

    ``other`` is a message that no reply follows.
    """
    if not isinstance(message, Mapping):
        return "other"
    kind, role, content = message.get("type", "message"), message.get("role"), message.get("content")
    if not isinstance(kind, str) or kind in pass_through or role in pass_through or kind in SIGNED:
        return "other"
    if role in _OWN or kind in _OF_THE_MODEL or ("role" not in message and kind in _ALONE_OF_THE_MODEL):
        return "model"
    if is_result(message) or (isinstance(content, list) and any(map(is_result, content))):
        return "tool"
    return "user" if role == "user" else "other"


def results_of(message: Mapping[str, Any]) -> list[str]:
    """Return the identifiers of the calls whose results a message contains."""
    content = message.get("content")
    entries = [message, *content] if isinstance(content, list) else [message]
    return [call_id(entry) for entry in entries if is_result(entry)]


def list_tool_names(tools: Any) -> list[str]:
    """Return the names in definitions of tools, in the shapes of all APIs."""
    names, left = list[str](), [tools]
    while left:
        entry = left.pop()
        if isinstance(entry, list):
            left += reversed(entry)
        elif isinstance(entry, Mapping):
            names += [entry["name"]] if isinstance(entry.get("name"), str) else []
            left += [entry[field] for field in reversed(_DEFINITIONS) if field in entry]
    return names


def is_result(item: Any) -> bool:
    """Return whether a message or a part of one is the result of a tool."""
    return isinstance(item, Mapping) and (
        item.get("role") in ("tool", "function") or item.get("type") in ("tool_result", "function_call_output")
    )


def call_id(item: Mapping[str, Any]) -> str:
    """Return the identifier of the call that a result belongs to."""
    return next((str(item[name]) for name in _CALL_IDS if item.get(name) is not None), "")


def is_signed(item: Any) -> bool:
    """Return whether a part of a reply is signed by its provider.

    The provider expects it back unchanged.
    """
    kind = item.get("type") if isinstance(item, Mapping) else None
    return isinstance(kind, str) and kind in SIGNED


def as_signed(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a signed item without fields that clients leave empty."""
    return {name: value for name, value in item.items() if value is not None}


def _once(entries: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len(dict(entries)) < len(entries):
        raise InputError("its JSON has a key twice")
    return dict(entries)


def parsed(text: str, entries: Callable[[list[tuple[str, Any]]], Any] = _once) -> Any:
    """Return the dictionary or list that a JSON text encodes; ``None`` for any other text.

    Raises:
        InputError: The JSON has a duplicate key or a number that is not finite: readers decode these differently.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, object_pairs_hook=entries, parse_constant=_refused)
    except InputError:
        raise
    except (ValueError, RecursionError):
        return None


def dumped(value: Any, written: Callable[[Any], str] = _written) -> str:
    """Return a value as JSON.

    Raises:
        InputError: It is not a JSON value.
    """
    try:
        return written(value)
    except (TypeError, ValueError, RecursionError):
        raise InputError("it has a value that JSON does not have, or is nested too deeply") from None


def _refused(constant: str) -> Any:
    raise InputError("its JSON has a number that is not finite")


def _same(value: Any) -> Any:
    """Return an identifier, a flag or a small setting unchanged.

    Raises:
        InputError: The value is none of these.
    """
    if isinstance(value, int) and abs(value) <= _MOST_INTEGER:  # some JSON readers do not support larger ones
        return value
    if isinstance(value, str) and _IDENTIFIER.fullmatch(value):
        return value
    if isinstance(value, Mapping) and len(value) <= 4 and all(map(_KEY.fullmatch, map(str, value))):
        return {name: _same(entry) for name, entry in value.items()}
    raise InputError("what should be an identifier is more than that")
