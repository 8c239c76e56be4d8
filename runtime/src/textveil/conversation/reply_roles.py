"""The model's role for all messages of a reply, and safe identifiers for its calls.

A safe identifier contains no guess of the upstream. A client appends a reply to its messages unchanged. A message of a
user, or the result of a tool, is rewritten under the mapping of the conversation. So an upstream that chose the role or
the type could test any number of guesses.
"""

from collections.abc import Callable, Mapping
from typing import Any

from textveil.conversation.message_rewriter import SETTINGS_TYPE, is_result
from textveil.errors import InputError

#: Fields of replies and of their events in which clients search for messages, items and parts.
_CONTAINERS = frozenset(
    "choices message messages delta output item items response content content_block part parts tool_calls".split()
)
_CALL_IDS = ("tool_call_id", "call_id", "tool_use_id")
#: Types whose identifier is that of a call.
_CALL_TYPES = frozenset(("function", "custom"))


def claim_reply(
    value: Any,
    refuse_result: Callable[[str], None],
    replace_id: Callable[[Any], Any] = lambda call: call,
    *,
    is_call: bool = False,
) -> Any:
    """Return a copy of a reply, or of its event, in which all roles are ``assistant``.

    Args:
        value: The reply.
        refuse_result: Gets the identifier of each call whose result came with the reply.
        replace_id: Returns the identifier that the client gets for a call (``CallIds``).
        is_call: Whether ``value`` is a call, or a list of calls.

    Raises:
        InputError: The reply has an item of a type that no API has.
    """
    if isinstance(value, list):
        return [claim_reply(entry, refuse_result, replace_id, is_call=is_call) for entry in value]
    if not isinstance(value, Mapping):
        return value
    item_type = value.get("type")
    if item_type == SETTINGS_TYPE:
        raise InputError("the reply has an item of a type that no API has")
    has_id = is_call or (isinstance(item_type, str) and (item_type in _CALL_TYPES or item_type.endswith("tool_use")))
    names = (*_CALL_IDS, "id") if has_id else _CALL_IDS
    value = {name: replace_id(entry) if name in names else entry for name, entry in value.items()}
    if is_result(value) or (isinstance(item_type, str) and item_type.endswith(("_output", "_result"))):
        for name in _CALL_IDS:
            if value.get(name) is not None:
                refuse_result(str(value[name]))
    claimed = {
        name: claim_reply(entry, refuse_result, replace_id, is_call=name == "tool_calls")
        if name in _CONTAINERS
        else entry
        for name, entry in value.items()
    }
    if "role" in claimed:
        claimed["role"] = "assistant"
    return claimed
