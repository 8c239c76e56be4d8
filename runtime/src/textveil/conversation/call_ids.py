"""Identifiers of calls made on the device, in place of the upstream's that could be guesses.

An upstream chooses the identifiers of its calls, and a client may write one into the result of a call, such as *call
Szeged failed*. Results share the mapping, so each identifier would be a test. No rule for the result helps: searching
it for the identifier is the same test. So the client gets another identifier, and the upstream gets its own back.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from textveil.conversation.message_rewriter import encode_json

#: Identifiers in the forms of the APIs. With its prefix each is a single string, never one of the user's.
_OPAQUE_ID = re.compile(
    r"(?:call|toolu|srvtoolu|tooluse|fc|ctc)_[A-Za-z0-9_]{1,256}|chatcmpl-tool-[0-9a-f]{32}", re.ASCII
)
#: Some APIs require identifiers of exactly nine letters and digits.
_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}", re.ASCII)
_PREFIX, _DIGEST_CHARACTERS, _SHORT_CHARACTERS = "call_", 24, 9
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class CallIds:
    """The identifiers of a conversation's calls that the client gets in place of the upstream's.

    Args:
        make_tag: A keyed hash of some strings, different for each use.
        is_guess: Returns whether a text has a string whose equality could be visible in the output.
    """

    def __init__(self, make_tag: Callable[..., str], is_guess: Callable[[str], bool]) -> None:
        self._make_tag, self._is_guess = make_tag, is_guess
        #: The upstream's identifier for each identifier made here.
        self._originals: dict[str, Any] = {}

    def count_characters(self) -> int:
        """Return the total number of characters of all identifiers."""
        return sum(len(replacement) + len(str(call)) for replacement, call in self._originals.items())

    def replace(self, call: Any) -> Any:
        """Return the client's identifier for one of the upstream's, or for one made here."""
        if call is None or isinstance(call, bool):
            return call
        text = call if isinstance(call, str) else encode_json(call)
        if text in self._originals or _OPAQUE_ID.fullmatch(text) or not self._is_guess(text):
            return call
        replacement = self._make_id(text)
        self._originals[replacement] = call
        return replacement

    def put_back(self, call: Any) -> Any:
        """Return the upstream's identifier for one made here; any other unchanged."""
        return self._originals.get(call, call) if isinstance(call, str) else call

    def export_state(self) -> dict[str, Any]:
        """Return the whole state as plain values for JSON."""
        return dict(self._originals)

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
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
