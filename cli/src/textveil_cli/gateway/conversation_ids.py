"""Compute keyed hashes of messages, with which the gateway finds the conversation that a request continues."""

import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textveil.work_steps import SteppedJSONEncoder, check_work, join_words

#: Fields of a message that differ between clients.
_IGNORED_FIELDS = frozenset(
    "id status annotations logprobs cache_control index phase audio citations reasoning reasoning_content".split()
)
_IGNORED_TYPES = frozenset(("message", "text", "input_text", "output_text"))
_encode_sorted_json = SteppedJSONEncoder(sort_keys=True).encode
_SIGNED_TYPES = ("thinking", "redacted_thinking", "reasoning")


class ConversationHasher:
    """Function object that computes the keyed hashes of clients and conversations.

    Args:
        key: Key of all hashes.
        options: Options for replacing words. They are a part of each hash, so that a conversation cannot continue with
            other options.
    """

    def __init__(self, key: bytes, options: Mapping[str, Any]) -> None:
        self._keyed_hash = hmac.new(key, digestmod="sha256")
        self._options = json.dumps(options, sort_keys=True, default=sorted).encode()

    def hash_client(self, credentials: Iterable[bytes]) -> bytes:
        """Return a keyed hash that identifies a client, computed from its credentials for the language model."""
        return self._hash(b"client", *credentials)

    def hash_messages(self, previous: bytes, messages: Sequence[Any]) -> list[bytes]:
        """Return for each message a hash of the whole conversation up to and including this message.

        If a later request begins with the same messages, it gets the same hash, and so continues this conversation.

        Args:
            previous: Hash of the earlier messages; for the first messages the hash of the client.
            messages: The messages.
        """
        hashes, last = [], previous
        for message in messages:
            check_work()
            shape = normalize_message(message)
            if shape is not None:
                last = self._hash(last, _encode_sorted_json(shape).encode())
            hashes.append(last)
        return hashes

    def hash_replies(self, previous: bytes, replies: Iterable[Sequence[Any]]) -> list[bytes]:
        """Return for each reply a hash of the whole conversation up to and including this reply.

        Args:
            previous: Hash of the earlier messages, or the hash of the client.
            replies: Alternative replies, each as messages that the client may send again. An empty reply gets no hash.
        """
        return [self.hash_messages(previous, reply)[-1] for reply in replies if reply]

    def hash_name(self, client: bytes, name: str) -> bytes:
        """Return the hash of a conversation name from a header; equal names of two clients get different hashes."""
        return self._hash(b"named", client, name.encode("utf-8", "surrogatepass"), self._options)

    def hash_reply_id(self, client: bytes, reply_id: str) -> bytes:
        """Return the keyed hash of a reply id, with which the client's next request can continue the conversation."""
        return self._hash(b"reply", client, reply_id.encode("utf-8", "surrogatepass"))

    def hash_reply_id_of_any_client(self, reply_id: str) -> bytes:
        """Return a hash of a reply id from the model's provider that does not depend on the client."""
        return self._hash(b"any", reply_id.encode("utf-8", "surrogatepass"))

    def _hash(self, *parts: bytes) -> bytes:
        hashes = self._keyed_hash.copy()  # updates with short data keep the interpreter lock
        for part in parts:
            hashes.update(len(part).to_bytes(8, "big") + part)
        return hashes.digest()


def normalize_message(value: Any) -> Any:
    """Return a message without the parts that clients change when they send it again.

    The result is ``None`` for a message that some clients do not send again.
    """
    if isinstance(value, str):
        return join_words(value)
    if isinstance(value, list):
        parts = [part for part in map(normalize_message, value) if part is not None]
        texts = [part.get("text") if isinstance(part, dict) and set(part) == {"text"} else None for part in parts]
        return " ".join(filter(None, texts)) if all(isinstance(text, str) for text in texts) else parts
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _SIGNED_TYPES:
        return None
    fields = {str(name): normalize_message(entry) for name, entry in value.items() if name not in _IGNORED_FIELDS}
    if isinstance(fields.get("type"), str) and fields["type"] in _IGNORED_TYPES:
        del fields["type"]
    return {
        name: entry for name, entry in fields.items() if entry is not None and entry != "" and entry not in ([], {})
    }
