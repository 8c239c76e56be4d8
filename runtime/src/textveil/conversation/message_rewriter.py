"""Rewriting of messages to a model, field by field. Unknown fields raise an error.

The messages have the formats of OpenAI's chat and responses APIs and of Anthropic's messages API.
"""

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

from textveil.errors import InputError
from textveil.work_steps import SteppedJSONEncoder, check_work, decode_json

#: Kinds of content of a field. ``SAME``: identifier or flag, which is kept. ``TEXT``: text. ``PARTS``: text or list of
#: parts. ``ARGUMENTS``: JSON as text. ``VALUE``: JSON value. ``RESULT``: output of a tool. ``CALLS``: list of tool
#: calls. ``NAME``: name of a person. ``EMPTY``: nothing. ``CALL``: object with the name and arguments of a call.
#: ``SETTING``: JSON value that the provider checks against a schema, so that numbers must remain numbers.
SAME, TEXT, PARTS, ARGUMENTS, VALUE, RESULT, CALLS, NAME, EMPTY, CALL, SETTING = range(11)
_MODEL_CONTENTS = frozenset((TEXT, PARTS, ARGUMENTS, VALUE))
#: Fields whose text the model writes, with the class of the field in the records of replies.
_FIELD_CLASSES = {"content": "text", "text": "text", "arguments": "call", "input": "call"}
#: Fields of a tool definition that contain further definitions.
_DEFINITION_FIELDS = ("function", "custom", "functionDeclarations", "function_declarations", "tools")
#: Internal item type for settings of a request whose value is JSON.
SETTINGS_TYPE = "textveil_settings"
_CALL_FIELDS = {"name": SAME, "arguments": ARGUMENTS}
_MESSAGE_FIELDS = {
    **dict.fromkeys(("role", "type", "id", "status", "phase", "tool_call_id"), SAME),
    **dict.fromkeys(("annotations", "audio", "function_call", "stop_reason", "stop_sequence"), EMPTY),
    **{"content": PARTS, "name": NAME, "tool_calls": CALLS},
    **dict.fromkeys(("refusal", "reasoning", "reasoning_content"), TEXT),
}
_PART_FIELDS = {"type": SAME, "cache_control": SAME, "annotations": EMPTY, "citations": EMPTY, "logprobs": EMPTY}
#: Kind of content of each allowed field, by the type of the message, part or item.
FIELDS_BY_TYPE: Mapping[str, Mapping[str, int]] = {
    "message": _MESSAGE_FIELDS,
    **{name: {**_PART_FIELDS, "text": TEXT} for name in ("text", "input_text", "output_text")},
    "refusal": {**_PART_FIELDS, "refusal": TEXT},
    "tool_use": {**_PART_FIELDS, "id": SAME, "name": SAME, "input": VALUE},
    "tool_result": {**_PART_FIELDS, "tool_use_id": SAME, "content": RESULT, "is_error": SAME},
    "function": {"type": SAME, "id": SAME, "index": SAME, "function": CALL},
    "function_call": {**dict.fromkeys(("type", "id", "call_id", "status"), SAME), **_CALL_FIELDS},
    "item_reference": {"type": SAME, "id": SAME},
    SETTINGS_TYPE: {"type": SAME, "value": SETTING},
    "function_call_output": {**dict.fromkeys(("type", "id", "call_id", "status"), SAME), "output": RESULT},
}
#: Types whose content is not text, or has a signature of the provider.
_NON_TEXT_TYPES = frozenset(
    "image_url image input_image input_audio audio input_file file document thinking redacted_thinking reasoning "
    "video search_result container_upload".split()
)
#: Types that the provider signs and expects back unchanged.
SIGNED_TYPES = frozenset(("thinking", "redacted_thinking", "reasoning"))
_ROLES = frozenset(("user", "assistant", "system", "developer", "tool", "function"))
_TOOL_ROLES, _MODEL_ROLES = frozenset(("tool", "function")), frozenset(("assistant",))
_MODEL_TYPES = frozenset(("function_call", "tool_use"))
#: Types of message parts. If such a part occurs outside a message, the model wrote it: it has no role, and no API
#: accepts a separate part of a user.
_MODEL_PART_TYPES = frozenset(("text", "input_text", "output_text", "refusal", "function"))
_CALL_IDS = ("tool_call_id", "call_id", "tool_use_id")
_ID_FIELDS = (*_CALL_IDS, "id")
_IDENTIFIER = re.compile(r"[\w.:+/=|-]{0,512}", re.ASCII)
_KEY_PATTERN = re.compile(r"[A-Za-z_$][\w.$-]{0,63}", re.ASCII)
_INVALID_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]+")
_MAX_DIGITS, _MAX_INTEGER = 300, 1 << 64
#: A number in JSON without an exponent.
JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_encode_plain_json = SteppedJSONEncoder(ensure_ascii=False, allow_nan=False).encode
#: Encode a JSON value in ASCII with sorted keys, for hashing.
encode_sorted_json: Callable[[Any], str] = SteppedJSONEncoder(sort_keys=True, allow_nan=False).encode


class SpelledNumber(float):
    """Number of a JSON text that is no integer, with its spelling in the text.

    >>> number = SpelledNumber("49.90")
    >>> number.spelling, number == 49.9
    ('49.90', True)
    """

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> "SpelledNumber":
        """Create the number from its spelling."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number


class WrittenNumber(NamedTuple):
    """Number as JSON text, which ``encode_rewritten`` copies.

    Attributes:
        text: The number, such as ``49.90``.
    """

    text: str


class MessageRewriter:
    """Component that rewrites messages. It raises an error for unknown types and fields.

    Args:
        rewrite_text: Function that rewrites a text.
        find_signed_item: Function that takes an item with a signature of the provider, and returns the item as the
            provider sent it. For any other item the function returns ``None``.
        find_fields: Function that returns those keys of a JSON object that are public names of fields. These keys are
            left unchanged; all other keys are rewritten.
        pass_through: Types of parts, and roles, that are not changed; with ``keys``, no JSON key is changed.
        rewrite_key: Function that rewrites a key that is not the name of a field; by default ``rewrite_text``.
        find_model_value: Function that is called for each field of a message with the role of the model, in order, with
            the class and the value of the field. It returns the field as the model itself wrote it, or ``None`` if no
            such reply was recorded.
        model_rewriter: Rewriter for messages with the role of the model; by default this object.
        make_result_rewriter: Function that takes the identifier of a call, and returns the rewriter for the result of
            this call. By default this object rewrites results.
        put_id_back: Function that converts the identifier of a call, as the client received it, to the identifier of
            the model's provider.
        note_number: Function that takes the string and the digits of a JSON number that becomes a string, such as a
            tag. The rewriter calls it for each such number.
    """

    def __init__(
        self,
        rewrite_text: Callable[[str], str],
        find_signed_item: Callable[[Any], Any],
        find_fields: Callable[[Collection[str]], Collection[str]],
        pass_through: Collection[str] = (),
        *,
        rewrite_key: Callable[[str], str] | None = None,
        find_model_value: Callable[[str, Any], Any] = lambda field_class, value: None,
        model_rewriter: "MessageRewriter | None" = None,
        make_result_rewriter: "Callable[[str], MessageRewriter] | None" = None,
        put_id_back: Callable[[Any], Any] = lambda value: value,
        note_number: Callable[[str, str], None] = lambda written, digits: None,
    ) -> None:
        self._rewrite_text, self._find_signed_item, self._find_fields = rewrite_text, find_signed_item, find_fields
        self._rewrite_key, self._pass_through = rewrite_key or rewrite_text, frozenset(pass_through)
        self._find_model_value, self._model_rewriter, self._make_result_rewriter = (
            find_model_value,
            model_rewriter,
            make_result_rewriter,
        )
        self._put_id_back, self._note_number = put_id_back, note_number

    def rewrite_item(self, item: Any, is_by_model: bool = False, outer_role: Any = None) -> Any:
        """Return a copy of a message, or of a part of a message, in which each text is rewritten.

        Args:
            item: The message or part.
            is_by_model: Whether the part belongs to a message of the model.
            outer_role: Role of the message that contains the part; ``None`` if there is none.

        Raises:
            InputError: The message or part has an unknown format, type, field or value.
        """
        check_work()
        if not isinstance(item, Mapping):
            raise InputError("a message, a part or an item must be a dictionary")
        item_type, role = item.get("type", "message"), item.get("role")
        if "role" in item:
            if not isinstance(role, str) or role not in _ROLES:
                raise InputError("the role is unknown: use one of the API, such as 'user' or 'assistant'")
            is_by_model = role in _MODEL_ROLES
        elif item_type == "message":
            raise InputError("a message has no role: give it the key 'role', such as 'user'")
        item_type = item_type if isinstance(item_type, str) else ""
        if item_type in self._pass_through or role in self._pass_through:
            return self._pass_item(decode_json(encode_json(item)))
        if item_type in SIGNED_TYPES and (written := self._find_signed_item(drop_null_fields(item))) is not None:
            return written
        if item_type in _NON_TEXT_TYPES:
            advice = "omit it, or add the type to pass_through"
            raise InputError(f"the type {item_type} is not text: {advice} (gateway: --pass-through {item_type})")
        if item_type not in FIELDS_BY_TYPE:
            raise InputError("the type is unknown: omit the item, or add the type to pass_through")
        is_by_model = is_by_model or item_type in _MODEL_TYPES
        rewriter = self
        if is_by_model:
            rewriter = self._model_rewriter or self
        elif self._make_result_rewriter is not None and is_result(item):
            rewriter = self._make_result_rewriter(get_call_id(item))
        return rewriter._rewrite_fields(item, FIELDS_BY_TYPE[item_type], is_by_model, role or outer_role)

    def _pass_item(self, item: Any) -> Any:
        """Return an item with unchanged content, except that call identifiers become those of the model's provider."""
        if isinstance(item, list):
            return [self._pass_item(entry) for entry in item]
        if not isinstance(item, Mapping):
            return item
        return {
            name: self._put_id_back(value)
            if name in _ID_FIELDS
            else self._pass_item(value)
            if name in ("content", "tool_calls")
            else value
            for name, value in item.items()
        }

    def _rewrite_fields(
        self, item: Mapping[str, Any], fields: Mapping[str, int], is_by_model: bool, role: Any = None
    ) -> Any:
        item = {name: value for name, value in item.items() if name in fields or value is not None}
        unknown = [name for name in item if name not in fields]
        if unknown:
            field_names = [name for name in unknown if isinstance(name, str) and self._find_fields([name])]
            raise InputError("there is an unknown field: remove " + (field_names[0] if field_names else "it"))
        return {name: self._rewrite_field(name, value, fields[name], is_by_model, role) for name, value in item.items()}

    def _rewrite_field(self, name: str, value: Any, content: int, is_by_model: bool, role: Any) -> Any:
        if value is None or (content == EMPTY and not value):
            return value
        if content == SAME or (content == NAME and role in _TOOL_ROLES):
            return self._put_id_back(_check_identifier(value)) if name in _ID_FIELDS else _check_identifier(value)
        has_parts = content == PARTS and isinstance(value, list)
        if (
            is_by_model
            and content in _MODEL_CONTENTS
            and not has_parts
            and (model_value := self._find_model_value(_FIELD_CLASSES.get(name, name), value)) is not None
        ):
            return model_value
        if content == VALUE:
            return self._rewrite_value(value)
        if content == SETTING:
            return self._rewrite_value(value, keeps_types=True)
        if content == CALL and isinstance(value, Mapping):
            return self._rewrite_fields(value, _CALL_FIELDS, is_by_model)
        if content in (PARTS, RESULT, CALLS) and isinstance(value, list):
            return [self.rewrite_item(part, is_by_model, "tool" if content == RESULT else role) for part in value]
        if content in (EMPTY, CALL, CALLS) or not isinstance(value, str):
            raise InputError("a field has an unsupported value")
        if content == NAME:
            return _INVALID_NAME_CHARACTERS.sub("_", self._rewrite_text(value)).strip("_")
        if content == TEXT and role in _TOOL_ROLES:
            return self._rewrite_value(value)
        has_json = content in (ARGUMENTS, RESULT) or role in _TOOL_ROLES
        container = parse_json_container(value) if has_json else None
        return self._rewrite_text(value) if container is None else encode_rewritten(self._rewrite_value(container))

    def _rewrite_value(self, value: Any, *, keeps_types: bool = False) -> Any:
        """Rewrite every text, every number and every key of a JSON value.

        Keys that are names of fields, and the values true, false and null, are left unchanged.

        Args:
            value: The value.
            keeps_types: Whether each number remains a number, because a schema may demand it.
        """
        check_work()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            container = None
            with suppress(InputError):  # ambiguous JSON is rewritten as a text
                container = parse_json_container(value)
            return self._rewrite_text(value) if container is None else encode_rewritten(self._rewrite_value(container))
        if isinstance(value, int | float):
            return self._rewrite_number(value, keeps_types=keeps_types)
        if isinstance(value, list):
            return [self._rewrite_value(entry, keeps_types=keeps_types) for entry in value]
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise InputError("a value or a key is not supported by JSON")
        return self._rewrite_object(value, keeps_types=keeps_types)

    def _rewrite_object(self, value: Mapping[str, Any], *, keeps_types: bool) -> Mapping[str, Any]:
        """Rewrite the values of a JSON object, and the keys that are not names of fields."""
        rewritten: dict[str, Any] = {}
        fields = value if "keys" in self._pass_through else self._find_fields(value)
        for name, entry in value.items():
            key = name if name in fields else self._rewrite_key(name)
            base_key, number = key, 1
            while key in rewritten:  # small surrogate pools may give two keys the same surrogate
                number += 1
                key = f"{base_key}_{number}"
            rewritten[key] = self._rewrite_value(entry, keeps_types=keeps_types)
        return rewritten

    def _rewrite_number(self, value: int | float, *, keeps_types: bool) -> int | float | str | WrittenNumber | None:
        """Replace a JSON number by another number of the same type and sign. An unchanged number keeps its spelling.

        If the replacement has no digits, such as ``[number 1]``, the result is a string. If the number is to be
        removed, the result is ``None``. With ``keeps_types`` the result is 0 in both cases.
        """
        if not abs(value) < 10**_MAX_DIGITS:  # the comparison is false for NaN
            raise InputError("a number is not finite, or is too large")
        sign = "-" if value < 0 else ""
        original = format(Decimal(repr(abs(value))), "f")
        if isinstance(value, SpelledNumber) and "e" not in value.spelling.lower():
            original = value.spelling.removeprefix("-")
        written = self._rewrite_text(original)
        plain, make_number = written.replace(",", ""), int if isinstance(value, int) else float
        if isinstance(value, SpelledNumber) and JSON_NUMBER.fullmatch(plain):
            return WrittenNumber(value.spelling if written == original else sign + plain)
        try:
            return make_number(sign + plain)
        except ValueError:
            if keeps_types:
                return make_number(0)
        if not written:
            return None
        self._note_number(sign + written, sign + original)
        return sign + written


def classify_sender(message: Any, pass_through: Collection[str] = ()) -> str:
    """Return the sender of a message to or from a model: ``model``, ``tool``, ``user``, or ``other``.

    The result is ``other`` for a message to which the model does not reply, such as a system message, and for roles and
    types in ``pass_through``, which are sent unchanged.
    """
    if not isinstance(message, Mapping):
        return "other"
    item_type, role, content = message.get("type", "message"), message.get("role"), message.get("content")
    if not isinstance(item_type, str) or item_type in pass_through or role in pass_through or item_type in SIGNED_TYPES:
        return "other"
    if role in _MODEL_ROLES or item_type in _MODEL_TYPES or ("role" not in message and item_type in _MODEL_PART_TYPES):
        return "model"
    if is_result(message) or (isinstance(content, list) and any(map(is_result, content))):
        return "tool"
    return "user" if role == "user" else "other"


def list_result_call_ids(message: Mapping[str, Any]) -> list[str]:
    """Return the identifiers of the calls whose results a message contains."""
    content = message.get("content")
    entries = [message, *content] if isinstance(content, list) else [message]
    return [get_call_id(entry) for entry in entries if is_result(entry)]


def list_tool_names(tools: Any) -> list[str]:
    """Return the names of the tools that a request defines, in the format of any supported API.

    >>> from textveil.conversation import list_tool_names
    >>> list_tool_names([{"type": "function", "function": {"name": "find"}}, {"name": "send"}])
    ['find', 'send']
    """
    names, remaining = list[str](), [tools]
    while remaining:
        entry = remaining.pop()
        if isinstance(entry, list):
            remaining += reversed(entry)
        elif isinstance(entry, Mapping):
            names += [entry["name"]] if isinstance(entry.get("name"), str) else []
            remaining += [entry[field] for field in reversed(_DEFINITION_FIELDS) if field in entry]
    return names


def is_result(item: Any) -> bool:
    """Return whether a message, or a part of a message, is the result of a tool."""
    return isinstance(item, Mapping) and (
        item.get("role") in ("tool", "function") or item.get("type") in ("tool_result", "function_call_output")
    )


def get_call_id(item: Mapping[str, Any]) -> str:
    """Return the identifier of the call whose result an item contains."""
    return next((str(item[name]) for name in _CALL_IDS if item.get(name) is not None), "")


def is_signed(item: Any) -> bool:
    """Return whether a part of a reply has a provider's signature, so that it must be sent back unchanged."""
    item_type = item.get("type") if isinstance(item, Mapping) else None
    return isinstance(item_type, str) and item_type in SIGNED_TYPES


def drop_null_fields(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of an item without null fields, which some clients add to items that a provider has signed."""
    return {name: value for name, value in item.items() if value is not None}


def _build_unique_object(entries: list[tuple[str, Any]]) -> Mapping[str, Any]:
    unique = dict(entries)
    if len(unique) < len(entries):
        raise InputError("the JSON has a duplicate key: remove one of the two")
    return unique


def parse_json_container(text: str, build_object: Callable[[list[tuple[str, Any]]], Any] = _build_unique_object) -> Any:
    """Decode a text that is a JSON object or array; return ``None`` for any other text.

    Numbers that are no integers become objects of ``SpelledNumber``.

    Args:
        text: The text.
        build_object: Function that builds an object from its pairs of key and value.

    Raises:
        InputError: The JSON has a duplicate key or a number that is not finite. Programs decode these in different
            ways.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return decode_json(
            text, object_pairs_hook=build_object, parse_float=SpelledNumber, parse_constant=_refuse_constant
        )
    except InputError:
        raise
    except (ValueError, RecursionError):
        return None


def encode_json(value: Any, encode: Callable[[Any], str] = _encode_plain_json) -> str:
    """Encode a value as JSON text.

    Args:
        value: The value.
        encode: Function that encodes the value.

    Raises:
        InputError: JSON cannot represent the value.
    """
    try:
        return encode(value)
    except (TypeError, ValueError, RecursionError):
        raise InputError("a value is not supported by JSON, or is nested too deeply") from None


def encode_rewritten(value: Any) -> str:
    """Encode a rewritten JSON value that may contain objects of ``WrittenNumber``; for errors see ``encode_json``.

    >>> encode_rewritten({"paid": [WrittenNumber("49.90"), None]})
    '{"paid": [49.90, null]}'
    """
    parts: list[str] = []
    encode_json(value, lambda value: _append_json(value, parts))
    return "".join(parts)


def _append_json(value: Any, parts: list[str]) -> str:
    """Append the JSON text of a value to ``parts``, for ``encode_rewritten``, and return an empty string."""
    if isinstance(value, WrittenNumber):
        parts.append(value.text)
    elif isinstance(value, dict):
        parts.append("{")
        for number, (name, entry) in enumerate(value.items()):
            parts.append(f"{', ' if number else ''}{_encode_plain_json(name)}: ")
            _append_json(entry, parts)
        parts.append("}")
    elif isinstance(value, list):
        parts.append("[")
        for number, entry in enumerate(value):
            parts.append(", " if number else "")
            _append_json(entry, parts)
        parts.append("]")
    else:
        parts.append(_encode_plain_json(value))
    return ""


def _refuse_constant(constant: str) -> Any:
    raise InputError("the JSON has a number that is not finite, such as NaN: remove it")


def _check_identifier(value: Any) -> Any:
    """Check that a value of a message field is an identifier, a boolean or a short setting, and return it unchanged.

    Raises:
        InputError: The check fails.
    """
    if isinstance(value, int) and abs(value) <= _MAX_INTEGER:  # some JSON readers do not support larger ones
        return value
    if isinstance(value, str) and _IDENTIFIER.fullmatch(value):
        return value
    if isinstance(value, Mapping) and len(value) <= 4 and all(map(_KEY_PATTERN.fullmatch, map(str, value))):
        return {name: _check_identifier(entry) for name, entry in value.items()}
    raise InputError("an identifier has unsupported characters, or is too long")
