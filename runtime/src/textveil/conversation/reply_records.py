"""Records of a model's replies by their place in the conversation, so that replies can be sent again as they arrived.

A place is a position in a conversation, identified by the messages that the model received before. Replies are never
looked up by their content. If they were, a model could write a guess of a hidden string at one place and the surrogate
(replacement) of this string at another, and learn whether the client received the same string for both.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from textveil.conversation.message_rewriter import encode_json, encode_sorted_json, is_signed
from textveil.text.inflections import SurrogatePair
from textveil.work_steps import SteppedJSONEncoder, decode_json, join_words

#: Limits on comparisons of a message with a recorded reply, because the upstream learns the result of each comparison.
#: The first is the maximum number of different texts at one place. The second applies to a whole conversation: at most
#: so many texts that are not the first at their place, and so many texts that differ from the restored reply.
MAX_TEXTS_PER_PLACE, MAX_OTHER_TEXTS = 3, 32
#: Number of last messages of users and tools that identify a place if a client omits the oldest messages.
_RECENT_MESSAGES = 1
_FIELD_CLASSES = {
    "content": "text",
    "text": "text",
    **{name: name for name in ("refusal", "reasoning", "reasoning_content")},
}
#: Classes of fields that clients may omit when they send a message again.
_OPTIONAL_CLASSES = frozenset(("reasoning", "reasoning_content"))
_TRAILING_PUNCTUATION = ".,;:!?\u2026"
#: Fields of messages that clients change from request to request.
_IGNORED_FIELDS = frozenset("id status annotations logprobs cache_control index phase audio citations".split())
_encode_sorted_json = SteppedJSONEncoder(sort_keys=True).encode
RecordedFields = dict[str, list[tuple[str, str]]]


class ConversationPlace(NamedTuple):
    """A position in a conversation, identified by the messages that were sent before.

    Attributes:
        chain: Hash of all messages before this position.
        recent: Hashes of the last messages of users and tools.
        turn: Hash of the text that the model wrote since the last message of a user or tool.
    """

    chain: str = ""
    recent: tuple[str, ...] = ()
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRecord:
    """One recorded message of a model's reply.

    Attributes:
        fields: Dictionary from the class of a field (``call`` for the arguments of a tool call, or for example
            ``text``) to its texts: for each text, the hash of the text that the client received (with originals) and
            the JSON of the text as the model wrote it.
        pairs: The surrogates (replacements) that were found in the text, each with its original.
        reply_start: Position, in the conversation, of the first message of the same reply.
        owner: Object that identifies the request of the reply; ``None`` in a loaded conversation.
    """

    fields: RecordedFields
    pairs: list[SurrogatePair]
    reply_start: str
    owner: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundReply:
    """Result of comparing a message of the model with the reply that was recorded at its position.

    The class of a field is ``call`` for the arguments of a tool call, and for example ``text`` for a text.

    Attributes:
        key: Hash of the position.
        is_open: Whether further messages at this position may be compared with the reply. If not, the caller must not
            store the form in which it sends the message.
        model_values: Dictionary from the class of a field to its texts as the model wrote them, with surrogates
            (replacements) in place of originals. It has the classes whose texts in the message equal those of the
            restored reply.
        is_whole: Whether ``model_values`` has the class of every field of the message.
    """

    key: str
    is_open: bool
    model_values: dict[str, list[Any]]
    is_whole: bool


class ReplyRecords:
    """Replies of the model, each stored with its position in the conversation.

    The client sends earlier replies again, with their originals. The record allows sending the model's own text in
    place of such a reply, byte for byte.

    Args:
        make_tag: Function that returns a tag (keyed hash) of strings. Its first argument is the purpose of the tag.
    """

    def __init__(self, make_tag: Callable[..., str]) -> None:
        self._make_tag = make_tag
        self._records: dict[str, ReplyRecord] = {}
        self._chain_by_recent: dict[str, str] = {}
        self._closed_keys: set[str] = set()
        self._texts_by_field: dict[str, list[str]] = {}
        self._other_text_count = 0
        #: Hashes of texts that differ from the recorded reply at their place.
        self._changed_hashes: set[str] = set()
        self._call_hashes: set[str] = set()

    def advance_place(self, place: ConversationPlace, message: Any, *, by_model: bool) -> ConversationPlace:
        """Return the position in the conversation (place) that follows a message at a given position.

        Args:
            place: Place of the message.
            message: The message, in the form in which it was sent to the model.
            by_model: Whether the message has the role of the model.
        """
        if by_model:
            fields: dict[str, list[str]] = {}
            for field_class, value in iterate_model_fields(message):
                if field_class not in _OPTIONAL_CLASSES:
                    fields.setdefault(field_class, []).append(encode_json(value, encode_sorted_json))
            if not fields:
                return place
            encoded = json.dumps(fields, sort_keys=True)
            turn = self._make_tag("turn", place.turn, encoded)
            return place._replace(chain=self._make_tag("model", place.chain, encoded), turn=turn)
        encoded = encode_json(_drop_settings(message), encode_sorted_json)
        recent = (*place.recent, self._make_tag("recent", encoded))[-_RECENT_MESSAGES:]
        return ConversationPlace(self._make_tag("others", place.chain, encoded), recent)

    def add_message(
        self,
        place: ConversationPlace,
        fields: RecordedFields,
        pairs: list[SurrogatePair],
        *,
        reply_start: ConversationPlace,
        owner: object,
    ) -> None:
        """Record a message of a model's reply.

        If a different message was recorded at the same place (position in the conversation), neither of them can be
        found again: the place is closed.

        Args:
            place: Place of the message.
            fields: Texts as the model wrote them, and hashes of the restored texts (``ReplyRecord``).
            pairs: The surrogates (replacements) that were found in the texts, each with its original.
            reply_start: Place of the first message of the same reply.
            owner: Object that identifies the request of the reply.

        Privacy:
            Whether the place is closed depends on the texts as the model wrote them, never on the restored texts.
        """
        chain, recent = self._hash_place(place)
        existing = self._records.get(chain)
        if chain in self._closed_keys or (
            existing is not None and existing.owner is not owner and _have_different_texts(existing.fields, fields)
        ):
            self._close_key(chain)
        else:
            self._records[chain] = ReplyRecord(
                fields=fields, pairs=[*dict.fromkeys(pairs)], reply_start=reply_start.chain, owner=owner
            )
            self._call_hashes.update(tag for tag, _ in fields.get("call", ()))
        if recent is not None:
            other = self._chain_by_recent.setdefault(recent, chain)
            if other != chain and (
                other not in self._records or _have_different_texts(self._records[other].fields, fields)
            ):
                self._closed_keys.add(recent)

    def close_place(self, place: ConversationPlace) -> None:
        """Delete the reply that is stored for a position in the conversation, and store no other reply for it.

        Call this when different replies arrived for the same place.
        """
        for key in filter(None, self._hash_place(place)):
            self._close_key(key)

    def covers_whole_replies(self, place: ConversationPlace, count: int) -> bool:
        """Return whether the next ``count`` messages after a place are recorded, and end where a reply ends.

        If not, the caller must not look up replies at this place: after a missing message, each later message would be
        compared with the wrong record.
        """
        reply = ""
        for _ in range(count):
            record = self._records.get(self._find_key(place))
            if record is None:
                return False
            place, reply = self.advance_place(place, build_message(record.fields), by_model=True), record.reply_start
        next_record = self._records.get(self._find_key(place))
        return next_record is None or next_record.reply_start != reply

    def find_reply(self, place: ConversationPlace, message: Any, *, is_compared: bool = True) -> FoundReply:
        """Find the reply recorded at the place of a message, and compare the message with the restored reply.

        The restored reply is the reply as the client received it, with originals in place of surrogates (replacements).

        Args:
            place: Position of the message in the conversation.
            message: A message with the role of the model.
            is_compared: Whether to compare; if not, the result contains no texts of the model.
        """
        key = self._find_key(place)
        values: dict[str, list[str]] = {}
        for field_class, value in iterate_model_fields(message):
            values.setdefault(field_class, []).append(self.hash_value(field_class, value))
        admitted = [
            self._admit_texts(key, field_class, hashes) for field_class, hashes in values.items()
        ]  # each uses up a limit
        is_open = all(admitted)
        may_compare = is_open and is_compared and len(self._changed_hashes) < MAX_OTHER_TEXTS
        record = self._records.get(key) if may_compare else None
        fields = {} if record is None else record.fields
        model_values = {
            field_class: [decode_json(text) for _, text in fields[field_class]]
            for field_class, hashes in values.items()
            if [tag for tag, _ in fields.get(field_class, ())] == hashes
        }
        if record is not None:
            self._changed_hashes.update(
                self._make_tag("changed", key, field_class, *hashes)
                for field_class, hashes in values.items()
                if field_class not in model_values
            )
        return FoundReply(
            key=key, is_open=is_open, model_values=model_values, is_whole=len(model_values) == len(values)
        )

    def get_pairs(self, key: str) -> list[SurrogatePair]:
        """Return the surrogates (replacements) that were found in a recorded reply, each with its original.

        Args:
            key: Hash of the position of the reply (``FoundReply.key``).
        """
        return self._records[key].pairs if key in self._records else []

    def has_call(self, value: Any) -> bool:
        """Return whether a reply, as the client received it, contained a tool call with these arguments.

        Privacy:
            The caller must not let a sent message depend on the result.
        """
        return self.hash_value("call", value) in self._call_hashes

    def hash_value(self, field_class: str, value: Any) -> str:
        """Return the hash of a field's value: a text, or the arguments of a tool call (``field_class`` is ``call``).

        The hash of a text ignores blanks at both ends and punctuation at the end. It treats consecutive blanks and line
        ends inside the text as one blank.
        """
        if field_class != "call" and isinstance(value, str):
            value = join_words(value).rstrip(_TRAILING_PUNCTUATION)
        elif isinstance(value, str):
            try:
                value = decode_json(value)
            except (ValueError, RecursionError):
                value = ["", value]
        return self._make_tag("restored", field_class, encode_json(value, _encode_sorted_json))

    def export_state(self) -> dict[str, Any]:
        """Return the whole state as plain values for JSON.

        Privacy:
            The state is as private as the conversation.
        """
        return {
            "records": {
                key: [record.fields, record.pairs, record.reply_start] for key, record in self._records.items()
            },
            "chain_by_recent": self._chain_by_recent,
            "closed_keys": sorted(self._closed_keys),
            "texts_by_field": self._texts_by_field,
            "other_text_count": self._other_text_count,
            "changed_hashes": sorted(self._changed_hashes),
        }

    def count_characters(self) -> int:
        """Return the approximate number of characters of all texts in the state."""
        texts = (text for record in self._records.values() for entries in record.fields.values() for _, text in entries)
        return sum(map(len, texts)) + 100 * (
            len(self._chain_by_recent) + len(self._texts_by_field) + len(self._changed_hashes)
        )

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Replace the state by one that ``export_state`` returned."""
        self._records = {
            key: ReplyRecord(
                fields={name: [(tag, text) for tag, text in entries] for name, entries in fields.items()},
                pairs=[SurrogatePair(*pair) for pair in used],
                reply_start=reply,
            )
            for key, (fields, used, reply) in state["records"].items()
        }
        self._call_hashes = {tag for record in self._records.values() for tag, _ in record.fields.get("call", ())}
        self._chain_by_recent, self._closed_keys = dict(state["chain_by_recent"]), set(state["closed_keys"])
        self._texts_by_field, self._other_text_count = (
            {key: [*hashes] for key, hashes in state["texts_by_field"].items()},
            state["other_text_count"],
        )
        self._changed_hashes = set(state["changed_hashes"])

    def _hash_place(self, place: ConversationPlace) -> tuple[str, str | None]:
        """Return two hashes of a position in the conversation.

        The first hash covers all messages before the position. The second hash covers only the last of these messages,
        and is ``None`` if there are too few.
        """
        recent = self._make_tag("near", *place.recent, place.turn) if len(place.recent) == _RECENT_MESSAGES else None
        return self._make_tag("place", place.chain), recent

    def _find_key(self, place: ConversationPlace) -> str:
        """Return the hash under which the reply at a position in the conversation is stored.

        If no reply is stored for exactly this position, use a stored position with the same last messages.
        """
        chain, recent = self._hash_place(place)
        if recent is None or chain in self._records or chain in self._closed_keys:
            return chain
        return recent if recent in self._closed_keys else self._chain_by_recent.get(recent, chain)

    def _admit_texts(self, key: str, field_class: str, texts: list[str]) -> bool:
        """Return whether texts may be compared with the reply recorded at a position, and store the hash of the texts.

        After too many different texts, the result is false for any further text at this position. So a model can test
        only a limited number of guesses of a hidden string.
        """
        if key in self._closed_keys:
            return False
        known_hashes, texts_hash = (
            self._texts_by_field.setdefault(f"{key} {field_class}", []),
            self._make_tag("texts", *texts),
        )
        if texts_hash in known_hashes:
            return True
        limit = MAX_TEXTS_PER_PLACE if key in self._records else 1
        if len(known_hashes) >= limit or (known_hashes and self._other_text_count == MAX_OTHER_TEXTS):
            self._close_key(key)
            return False
        self._other_text_count += bool(known_hashes)
        known_hashes.append(texts_hash)
        return True

    def _close_key(self, key: str) -> None:
        self._closed_keys.add(key)
        self._records.pop(key, None)
        for name in [name for name in self._texts_by_field if name.startswith(f"{key} ")]:
            del self._texts_by_field[name]


def iterate_model_fields(message: Any) -> Iterator[tuple[str, Any]]:
    """Yield the class and the value of each field that contains text of the model, in the order of the message.

    The class is ``call`` for the arguments of a tool call. For other fields it is ``text`` or a name such as
    ``reasoning``. Items with a signature of the provider are omitted.
    """
    if isinstance(message, str):
        if message.strip():
            yield "text", message
    elif isinstance(message, list):
        for part in message:
            yield from iterate_model_fields(part)
    elif isinstance(message, Mapping) and not is_signed(message):
        for name, value in message.items():
            if name in _FIELD_CLASSES and isinstance(value, str) and value.strip():
                yield _FIELD_CLASSES[name], value
            elif name in ("content", "tool_calls") and isinstance(value, list):
                yield from iterate_model_fields(value)
            elif name in ("arguments", "input") and value is not None:
                yield "call", value
            elif name == "function" and isinstance(value, Mapping):
                yield from iterate_model_fields(value)


def build_message(fields: RecordedFields) -> Any:
    """Build a message from the recorded fields of a reply, with the texts as the model wrote them."""
    names = {"text": "text", "call": "input"}
    return [
        {names.get(field_class, field_class): json.loads(text)}
        for field_class, entries in fields.items()
        for _, text in entries
    ]


def iterate_calls(message: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the identifier, the name of the tool and the arguments of each tool call in a message."""
    if isinstance(message, list):
        for part in message:
            yield from iterate_calls(part)
    elif isinstance(message, Mapping):
        item_type, function = message.get("type"), message.get("function")
        if item_type == "function_call":
            yield str(message.get("call_id")), str(message.get("name") or ""), message.get("arguments")
        elif item_type == "tool_use":
            yield str(message.get("id")), str(message.get("name") or ""), message.get("input")
        elif isinstance(function, Mapping):
            yield str(message.get("id")), str(function.get("name") or ""), function.get("arguments")
        else:
            for name in ("content", "tool_calls"):
                if isinstance(message.get(name), list):
                    yield from iterate_calls(message[name])


def split_reply(reply: Any) -> list[Any]:
    """Return the items of a reply that a client sends again as separate messages, such as the calls of several tools.

    The list has the whole reply if a client sends the reply again as one message.
    """
    if isinstance(reply, list) and any(is_response_item(entry) for entry in reply):
        return reply
    return [reply]


def is_response_item(reply: Any) -> bool:
    """Return whether a part of a reply is an item of the responses API."""
    return isinstance(reply, Mapping) and reply.get("type") in ("message", "function_call")


def _have_different_texts(known: RecordedFields, fields: RecordedFields) -> bool:
    return {name: [text for _, text in entries] for name, entries in known.items()} != {
        name: [text for _, text in entries] for name, entries in fields.items()
    }


def _drop_settings(value: Any) -> Any:
    if isinstance(value, list):
        return [_drop_settings(entry) for entry in value]
    if isinstance(value, Mapping):
        return {name: _drop_settings(entry) for name, entry in value.items() if name not in _IGNORED_FIELDS and entry}
    return value
