"""Marks of a conversation: keyed hashes, for one client each, that identify later requests."""

import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textveil.work_limits import check_work

#: Fields of a message that clients write in different ways, or omit.
_SKIPPED = frozenset(
    "id status annotations logprobs cache_control index phase audio citations reasoning reasoning_content".split()
)
_TYPES = frozenset(("message", "text", "input_text", "output_text"))
_SIGNED = ("thinking", "redacted_thinking", "reasoning")


class Marks:
    """Factory of the marks that identify conversations.

    Args:
        key: Key of all hashes.
        options: Options of rewriting. The same name under other options is another conversation.
    """

    def __init__(self, key: bytes, options: Mapping[str, Any]) -> None:
        self._hashes = hmac.new(key, digestmod="sha256")
        self._options = json.dumps(options, sort_keys=True, default=sorted).encode()

    def client(self, credentials: Iterable[bytes]) -> bytes:
        """Return the keyed hash that represents a client, of the credentials for the upstream."""
        return self._hash(b"client", *credentials)

    def of(self, before: bytes, messages: Sequence[Any]) -> list[bytes]:
        """Return a chained hash for each beginning of a conversation, by which it is found.

        Args:
            before: The mark of the messages before; at first the client.
            messages: The messages, or the further ones.
        """
        marks, last = [], before
        for message in messages:
            check_work()
            shape = plain(message)
            if shape is not None:
                last = self._hash(last, json.dumps(shape, sort_keys=True).encode())
            marks.append(last)
        return marks

    def ends(self, before: bytes, replies: Iterable[Sequence[Any]]) -> list[bytes]:
        """Return the mark of a conversation up to each of the given replies.

        Args:
            before: The last mark of the messages before them, or the client.
            replies: Each as messages that the client may send again; an empty one has no mark.
        """
        return [self.of(before, reply)[-1] for reply in replies if reply]

    def named(self, client: bytes, name: str) -> bytes:
        """Return the mark of a conversation that a header names."""
        return self._hash(b"named", client, name.encode("utf-8", "surrogatepass"), self._options)

    def reply(self, client: bytes, name: str) -> bytes:
        """Return the mark of a conversation by the provider's id of one of its replies."""
        return self._hash(b"reply", client, name.encode("utf-8", "surrogatepass"))

    def of_any_client(self, name: str) -> bytes:
        """Return a hash of a reply id that is the same for all clients."""
        return self._hash(b"any", name.encode("utf-8", "surrogatepass"))

    def _hash(self, *parts: bytes) -> bytes:
        hashes = self._hashes.copy()  # updates with short data keep the interpreter lock
        for part in parts:
            hashes.update(len(part).to_bytes(8, "big") + part)
        return hashes.digest()


def plain(value: Any) -> Any:
    """Return a message without the parts that clients write in different ways.

    The result is ``None`` for a message that some clients do not send again.
    """
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        parts = [part for part in map(plain, value) if part is not None]
        texts = [part.get("text") if isinstance(part, dict) and set(part) == {"text"} else None for part in parts]
        return " ".join(filter(None, texts)) if all(isinstance(text, str) for text in texts) else parts
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _SIGNED:
        return None
    found = {str(name): plain(entry) for name, entry in value.items() if name not in _SKIPPED}
    if isinstance(found.get("type"), str) and found["type"] in _TYPES:
        del found["type"]
    return {name: entry for name, entry in found.items() if entry is not None and entry != "" and entry not in ([], {})}
