"""Replacement of roles and call identifiers in replies, so that the model's provider (the upstream) cannot choose them.

A client appends a reply to its messages unchanged, and repeats the identifiers of calls in results of tools. In
messages of a user and results of tools, equal hidden strings get equal surrogates (replacements). If the upstream could
choose the role or the type of a message, it could test any number of guesses of hidden strings. The upstream could also
use a guess as the identifier of a call. A client may write this identifier into the result of the call, as in *call
Szeged failed*. No rule for results can prevent this: if the rule searched the result for the identifier, its effect
would reveal whether the guess is right. Therefore the client receives another identifier. When the client sends the
message back, the upstream receives its own identifier again.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from textveil.conversation.message_rewriter import SETTINGS_TYPE, encode_json, is_result
from textveil.errors import InputError

#: Fields of replies and of their events in which clients search for messages, items and parts.
_CONTAINERS = frozenset(
    "choices message messages delta output item items response content content_block part parts tool_calls".split()
)
_CALL_IDS = ("tool_call_id", "call_id", "tool_use_id")
#: Types whose identifier is the identifier of a call.
_CALL_TYPES = frozenset(("function", "custom"))
#: Pattern of identifiers in the formats of the APIs. Such an identifier cannot be a guess, because of its prefix.
_OPAQUE_ID = re.compile(
    r"(?:call|toolu|srvtoolu|tooluse|fc|ctc)_[A-Za-z0-9_]{1,256}|chatcmpl-tool-[0-9a-f]{32}", re.ASCII
)
#: Some APIs require identifiers of exactly nine letters and digits.
_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}", re.ASCII)
_PREFIX, _DIGEST_CHARACTERS, _SHORT_CHARACTERS = "call_", 24, 9
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def claim_reply(
    value: Any,
    refuse_result: Callable[[str], None],
    replace_id: Callable[[Any], Any] = lambda call: call,
    *,
    is_call: bool = False,
) -> Any:
    """Return a copy of a reply, or of one event of a streamed reply, in which all roles are ``assistant``.

    So the model's provider cannot return messages that look like messages of the user.

    Args:
        value: The reply or the event.
        refuse_result: Function to call with the identifier of each tool call whose result the reply contains. The model
            wrote these results itself.
        replace_id: Function that returns the identifier that the client receives for a call (``CallIds``).
        is_call: Whether ``value`` is a call, or a list of calls.

    Raises:
        InputError: The reply has an item of an unknown type.
    """
    if isinstance(value, list):
        return [claim_reply(entry, refuse_result, replace_id, is_call=is_call) for entry in value]
    if not isinstance(value, Mapping):
        return value
    item_type = value.get("type")
    if item_type == SETTINGS_TYPE:
        raise InputError("the reply has an item of an unknown type")
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


class CallIds:
    """Replaces identifiers of tool calls in replies, because the model's provider could use them to test guesses.

    The provider chooses these identifiers, and could choose a private word that it guesses, such as *Szeged*. A client
    may write the identifier into the result of the tool. If the text of the user contains *Szeged* too, the device
    hides both by the same surrogate (replacement), which shows the provider that the guess is right. So the client
    receives a new identifier in place of each one that contains a possible guess.

    Args:
        make_tag: Function that returns a tag (keyed hash) of strings. Its first argument is the purpose of the tag.
        is_guess: Function that returns whether a text contains a string that counts as a guess.
    """

    def __init__(self, make_tag: Callable[..., str], is_guess: Callable[[str], bool]) -> None:
        self._make_tag, self._is_guess = make_tag, is_guess
        #: The upstream's identifier, by the identifier that this object created for the client.
        self._originals: dict[str, Any] = {}

    def count_characters(self) -> int:
        """Return the total number of characters of all identifiers."""
        return sum(len(replacement) + len(str(call)) for replacement, call in self._originals.items())

    def replace(self, call: Any) -> Any:
        """Return the identifier that the client receives in place of an identifier of the model's provider.

        Only an identifier that may be a guess of a private word is replaced (see the class). Random identifiers of
        known providers, and those that this object created, are returned unchanged.
        """
        if call is None or isinstance(call, bool):
            return call
        text = call if isinstance(call, str) else encode_json(call)
        if text in self._originals or _OPAQUE_ID.fullmatch(text) or not self._is_guess(text):
            return call
        replacement = self._make_id(text)
        self._originals[replacement] = call
        return replacement

    def put_back(self, call: Any) -> Any:
        """Return the provider's identifier for an identifier that this object created; any other value unchanged."""
        return self._originals.get(call, call) if isinstance(call, str) else call

    def export_state(self) -> dict[str, Any]:
        """Return the provider's identifier by each identifier that this object created, as a dictionary for JSON."""
        return dict(self._originals)

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Replace the state by one that ``export_state`` returned."""
        self._originals = dict(state)

    def _make_id(self, text: str) -> str:
        digest = self._make_tag("made call", text)
        if _SHORT_ID.fullmatch(text) is None:
            return _PREFIX + digest[:_DIGEST_CHARACTERS]
        number, characters = int(digest, 16), ""
        for _ in range(_SHORT_CHARACTERS):
            number, digit = divmod(number, len(_DIGITS))
            characters += _DIGITS[digit]
        return characters
