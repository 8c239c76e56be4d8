"""The shapes of messages, and what each field of them is: what is on no list here does not go out.

Shapes are those of OpenAI's chat and responses and of Anthropic's messages.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from textveil.errors import InputError

#: What a field has: an identifier or a flag; a text; a text or parts; JSON in a text; a value of JSON; what a tool
#: gave; calls of tools; the name of a person; nothing; what the fields of a call have.
SAME, TEXT, PARTS, ARGUMENTS, VALUE, RESULT, CALLS, NAME, EMPTY, CALL = range(10)
_OWN_WORDS = frozenset((TEXT, PARTS, ARGUMENTS, VALUE))
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
    "function_call_output": {**dict.fromkeys(("type", "id", "call_id", "status"), SAME), "output": RESULT},
}
#: Types that hold what is not text, or what the provider has signed.
_NOT_TEXT = frozenset(
    "image_url image input_image input_audio audio input_file file document thinking redacted_thinking reasoning "
    "video search_result container_upload".split()
)
#: What the provider wants back as it sent it. It has surrogates: nothing of it is restored.
SIGNED = frozenset(("thinking", "redacted_thinking", "reasoning"))
_ROLES = frozenset(("user", "assistant", "system", "developer", "tool", "function"))
_TOOLS, _OWN = frozenset(("tool", "function")), frozenset(("assistant",))
_OF_THE_MODEL = frozenset(("function_call", "tool_use"))
_IDENTIFIER = re.compile(r"[\w.:+/=|-]{0,512}", re.ASCII)
_KEY = re.compile(r"[A-Za-z_$][\w.$-]{0,63}", re.ASCII)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")
_MOST_DIGITS, _MOST_INTEGER = 300, 1 << 64
_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
#: The same in one order and in ASCII: what is hashed.
IN_ORDER = json.JSONEncoder(sort_keys=True, allow_nan=False).encode


class Messages:
    """Rewrites messages; whatever it does not know is refused.

    Args:
        text: Rewrites a text.
        said: Gives what the model itself wrote for a text or value that it was restored to; else ``None``.
        names: Tells whether words are the name of a person: as a key of JSON they are refused.
        pass_through: Types of parts, and roles, that stay as they are; ``keys`` lets any key of JSON stay.
    """

    def __init__(
        self,
        text: Callable[[str], str],
        said: Callable[[Any], Any],
        names: Callable[[list[str]], bool],
        pass_through: Collection[str] = (),
    ) -> None:
        self._text, self._said, self._names, self._passes = text, said, names, frozenset(pass_through)

    def item(self, item: Any, own: bool = False, around: Any = None) -> Any:
        """Returns a message, or a part of one, rewritten.

        Raises:
            InputError: It has a shape, a type, a field or a value that is not known.
        """
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
            return json.loads(dumped(item))
        if kind in SIGNED and (written := self._said(as_signed(item))) is not None:
            return written
        if kind in _NOT_TEXT:
            where = f"what has the type {kind} cannot be rewritten: leave it out, or name it in pass_through"
            raise InputError(f"{where} (gateway: --pass-through {kind})")
        if kind not in TYPES:
            raise InputError("it has a type that is not known: leave it out, or name its type in pass_through")
        return self._fields(item, TYPES[kind], own or kind in _OF_THE_MODEL, role or around)

    def _fields(self, item: Mapping[str, Any], fields: Mapping[str, int], own: bool, role: Any = None) -> Any:
        item = {name: value for name, value in item.items() if name in fields or value is not None}
        if not set(item) <= set(fields):
            raise InputError("it has a field that is not known")
        return {name: self._field(value, fields[name], own, role) for name, value in item.items()}

    def _field(self, value: Any, what: int, own: bool, role: Any) -> Any:
        if value is None or (what == EMPTY and not value):
            return value
        if what == SAME or (what == NAME and role in _TOOLS):
            return _same(value)
        if own and what in _OWN_WORDS and (written := self._said(value)) is not None:
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
        """A value of JSON with every text and number rewritten; keys, true, false and null stay."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            inside = None
            with suppress(InputError):  # of what cannot stay JSON every word is rewritten
                inside = parsed(value, lambda entries: self._named(_once(entries)))
            return self._text(value) if inside is None else dumped(self._value(inside))
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, list):
            return [self._value(entry) for entry in value]
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise InputError("it has a value or a key that JSON does not have")
        return {name: self._value(entry) for name, entry in self._named(value).items()}

    def _named(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        if "keys" not in self._passes and not all(
            _KEY.fullmatch(name) and not self._names(_WORD.findall(name)) for name in value
        ):
            raise InputError('keys stay, and one is more than the name of a field: pass_through={"keys"} lets it')
        return value

    def _number(self, value: int | float) -> int | float:
        """A number of the same type and sign; 0 where the style leaves no digits."""
        if not abs(value) < 10**_MOST_DIGITS:  # NaN is below nothing
            raise InputError("it has a number that is not finite, or too large")
        digits = self._text(format(Decimal(repr(abs(value))), "f")).replace(",", "")
        try:
            return type(value)(f"-{digits}" if value < 0 else digits)
        except ValueError:
            return type(value)(0)


def as_signed(item: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a provider signed, without fields that clients leave empty."""
    return {name: value for name, value in item.items() if value is not None}


def _once(entries: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len(dict(entries)) < len(entries):
        raise InputError("its JSON has a key twice")
    return dict(entries)


def parsed(text: str, entries: Callable[[list[tuple[str, Any]]], Any] = _once) -> Any:
    """Returns the dictionary or list that a text is the JSON of; ``None`` for any other text.

    Raises:
        InputError: A key is there twice, or a number is not finite: readers differ in what they take it for.
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
    """Returns a value as JSON.

    Raises:
        InputError: It is not a value of JSON.
    """
    try:
        return written(value)
    except (TypeError, ValueError, RecursionError):
        raise InputError("it has a value that JSON does not have, or is nested too deeply") from None


def _refused(constant: str) -> Any:
    raise InputError("its JSON has a number that is not finite")


def _same(value: Any) -> Any:
    """An identifier, a flag or a small setting."""
    if isinstance(value, int) and abs(value) <= _MOST_INTEGER:  # larger ones not every reader of JSON has
        return value
    if isinstance(value, str) and _IDENTIFIER.fullmatch(value):
        return value
    if isinstance(value, Mapping) and len(value) <= 4 and all(map(_KEY.fullmatch, map(str, value))):
        return {name: _same(entry) for name, entry in value.items()}
    raise InputError("what should be an identifier is more than that")
