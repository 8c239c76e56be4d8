"""Replies of a model by their places, so that resending can use the model's own text.

A place is a function of the messages that the upstream got before it. A reply is never looked up by its content: an
upstream that writes a guess at one place and a surrogate at another would learn whether both were restored to one
string.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from textveil.conversation.shapes import IN_ORDER, dumped, is_signed
from textveil.text.forms import Pair

#: Maximum number of different texts at one place; and, in a conversation, of texts after the first at their
#: place, and of texts that differ from the restored form of their reply. The upstream sees the result
#: of each comparison.
MOST_TEXTS, MOST_OTHER_TEXTS = 3, 32
#: Number of user and tool messages that identify a place if a client left out the oldest messages.
_RECENT = 1
_FIELDS = {"content": "text", "text": "text", **{name: name for name in ("refusal", "reasoning", "reasoning_content")}}
#: Fields that clients may leave out on resending.
_OPTIONAL = frozenset(("reasoning", "reasoning_content"))
_TRAILING_MARKS = ".,;:!?\u2026"
#: Fields of messages that clients change from request to request.
_SKIPPED = frozenset("id status annotations logprobs cache_control index phase audio citations".split())
Fields = dict[str, list[tuple[str, str]]]


class Place(NamedTuple):
    """A place in a conversation, as the upstream sees it.

    Attributes:
        chain: Hash of all messages sent before it.
        recent: Hashes of the last messages of users and tools.
        turn: Hash of the model's text since the last of these.
    """

    chain: str = ""
    recent: tuple[str, ...] = ()
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRecord:
    """The model's text at one place.

    Attributes:
        fields: For each class of field: the hash of the restored text, and the JSON of the model's own text.
        used: The pairs that restored it.
        reply: Place of the first message of the reply, equal for all of its messages.
        owner: The request that got it; ``None`` after loading.
    """

    fields: Fields
    used: list[Pair]
    reply: str
    owner: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundReply:
    """The record found for a message under the model's name.

    Attributes:
        key: Hash of the place.
        is_open: Whether an equal later message may be sent as this one was.
        written: The model's own text of each field for which the message equals the restored form.
        is_whole: Whether that covers every field.
    """

    key: str
    is_open: bool
    written: dict[str, list[Any]]
    is_whole: bool


class ReplyRecords:
    """All replies of a conversation by their places.

    Args:
        make_tag: A keyed hash of some strings, different for each use.
    """

    def __init__(self, make_tag: Callable[..., str]) -> None:
        self._make_tag = make_tag
        self._records: dict[str, ReplyRecord] = {}
        self._by_recent: dict[str, str] = {}
        self._closed: set[str] = set()
        self._texts: dict[str, list[str]] = {}
        self._others = 0
        #: Texts that differ from the reply at their place.
        self._changed: set[str] = set()
        self._calls: set[str] = set()

    def place_after(self, place: Place, message: Any, *, by_model: bool) -> Place:
        """Return the place after a message, in the form in which it was sent."""
        if by_model:
            fields: dict[str, list[str]] = {}
            for kind, value in own_fields(message):
                if kind not in _OPTIONAL:
                    fields.setdefault(kind, []).append(dumped(value, IN_ORDER))
            if not fields:
                return place
            seen = json.dumps(fields, sort_keys=True)
            turn = self._make_tag("turn", place.turn, seen)
            return place._replace(chain=self._make_tag("model", place.chain, seen), turn=turn)
        seen = dumped(_without_settings(message), IN_ORDER)
        recent = (*place.recent, self._make_tag("recent", seen))[-_RECENT:]
        return Place(self._make_tag("others", place.chain, seen), recent)

    def add(self, place: Place, fields: Fields, used: list[Pair], *, begin: Place, owner: object) -> None:
        """Record a message of a reply.

        A second, different message at its place makes the place unusable.

        Args:
            place: Place of the message.
            fields: The model's own text, and its restored form.
            used: The pairs that restored it.
            begin: Place of the first message of the reply.
            owner: The request that got it.

        Privacy:
            The decision depends on the model's own text, never on its restored form.
        """
        chain, recent = self._keys(place)
        known = self._records.get(chain)
        if chain in self._closed or (known is not None and known.owner is not owner and _differs(known.fields, fields)):
            self._close(chain)
        else:
            self._records[chain] = ReplyRecord(
                fields=fields, used=[*dict.fromkeys(used)], reply=begin.chain, owner=owner
            )
            self._calls.update(tag for tag, _ in fields.get("call", ()))
        if recent is not None:
            other = self._by_recent.setdefault(recent, chain)
            if other != chain and (other not in self._records or _differs(self._records[other].fields, fields)):
                self._closed.add(recent)

    def close(self, place: Place) -> None:
        """Make a place unusable because it got several different replies."""
        for key in filter(None, self._keys(place)):
            self._close(key)

    def is_whole_run(self, place: Place, count: int) -> bool:
        """Return whether the records at a place are whole replies of ``count`` messages.

        With any other number of messages no reply is found: if one is missing, each of the rest would be compared with
        the one before it.
        """
        reply = ""
        for _ in range(count):
            record = self._records.get(self._key(place))
            if record is None:
                return False
            place, reply = self.place_after(place, message_of(record.fields), by_model=True), record.reply
        after = self._records.get(self._key(place))
        return after is None or after.reply != reply

    def find(self, place: Place, message: Any, *, is_compared: bool = True) -> FoundReply:
        """Look up the model's text at a place, and compare the message with its restored form."""
        key = self._key(place)
        values: dict[str, list[str]] = {}
        for kind, value in own_fields(message):
            values.setdefault(kind, []).append(self.fold(kind, value))
        admitted = [self._admits(key, kind, found) for kind, found in values.items()]  # each uses up a limit
        is_open = all(admitted)
        is_left = is_open and is_compared and len(self._changed) < MOST_OTHER_TEXTS
        record = self._records.get(key) if is_left else None
        fields = {} if record is None else record.fields
        written = {
            kind: [json.loads(text) for _, text in fields[kind]]
            for kind, found in values.items()
            if [tag for tag, _ in fields.get(kind, ())] == found
        }
        if record is not None:
            self._changed.update(
                self._make_tag("changed", key, kind, *found) for kind, found in values.items() if kind not in written
            )
        return FoundReply(key=key, is_open=is_open, written=written, is_whole=len(written) == len(values))

    def used_at(self, key: str) -> list[Pair]:
        """Return the pairs that restored the reply at a place."""
        return self._records[key].used if key in self._records else []

    def has_call(self, value: Any) -> bool:
        """Return whether any reply was restored to these arguments.

        Privacy:
            No sent message may depend on the result.
        """
        return self.fold("call", value) in self._calls

    def fold(self, kind: str, value: Any) -> str:
        """Return the hash of a text, or of arguments as a value.

        The hash ignores blanks and marks at the end of a text. Runs of blanks and line ends inside a text count as one
        blank.
        """
        if kind != "call" and isinstance(value, str):
            value = " ".join(value.split()).rstrip(_TRAILING_MARKS)
        elif isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                value = ["", value]
        return self._make_tag("restored", kind, dumped(value, json.JSONEncoder(sort_keys=True).encode))

    def state(self) -> dict[str, Any]:
        """Return the whole state as plain values for JSON.

        Privacy:
            The state is as private as the conversation.
        """
        return {
            "records": {key: [record.fields, record.used, record.reply] for key, record in self._records.items()},
            "recent": self._by_recent,
            "closed": sorted(self._closed),
            "texts": self._texts,
            "others": self._others,
            "changed": sorted(self._changed),
        }

    def count_characters(self) -> int:
        """Estimate the number of characters of the texts in the state."""
        texts = (text for record in self._records.values() for found in record.fields.values() for _, text in found)
        return sum(map(len, texts)) + 100 * (len(self._by_recent) + len(self._texts) + len(self._changed))

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self._records = {
            key: ReplyRecord(
                fields={kind: [(tag, text) for tag, text in found] for kind, found in fields.items()},
                used=[Pair(*pair) for pair in used],
                reply=reply,
            )
            for key, (fields, used, reply) in state["records"].items()
        }
        self._calls = {tag for record in self._records.values() for tag, _ in record.fields.get("call", ())}
        self._by_recent, self._closed = dict(state["recent"]), set(state["closed"])
        self._texts, self._others = {key: [*found] for key, found in state["texts"].items()}, state["others"]
        self._changed = set(state["changed"])

    def _keys(self, place: Place) -> tuple[str, str | None]:
        """Return the hash of a place, and the hash of the last messages alone if there are enough."""
        recent = self._make_tag("near", *place.recent, place.turn) if len(place.recent) == _RECENT else None
        return self._make_tag("place", place.chain), recent

    def _key(self, place: Place) -> str:
        """Return the lookup hash of a reply: that of its place, else of the last messages alone."""
        chain, recent = self._keys(place)
        if recent is None or chain in self._records or chain in self._closed:
            return chain
        return recent if recent in self._closed else self._by_recent.get(recent, chain)

    def _admits(self, key: str, kind: str, texts: list[str]) -> bool:
        """Return whether a message may be compared with others at its place; this uses up the limit."""
        if key in self._closed:
            return False
        known, text = self._texts.setdefault(f"{key} {kind}", []), self._make_tag("texts", *texts)
        if text in known:
            return True
        most = MOST_TEXTS if key in self._records else 1
        if len(known) >= most or (known and self._others == MOST_OTHER_TEXTS):
            self._close(key)
            return False
        self._others += bool(known)
        known.append(text)
        return True

    def _close(self, key: str) -> None:
        self._closed.add(key)
        self._records.pop(key, None)
        for name in [name for name in self._texts if name.startswith(f"{key} ")]:
            del self._texts[name]


def own_fields(message: Any) -> Iterator[tuple[str, Any]]:
    """Yield class and value of each field with words of the model, in order.

    Signed items have no such fields.
    """
    if isinstance(message, str):
        if message.strip():
            yield "text", message
    elif isinstance(message, list):
        for part in message:
            yield from own_fields(part)
    elif isinstance(message, Mapping) and not is_signed(message):
        for name, value in message.items():
            if name in _FIELDS and isinstance(value, str) and value.strip():
                yield _FIELDS[name], value
            elif name in ("content", "tool_calls") and isinstance(value, list):
                yield from own_fields(value)
            elif name in ("arguments", "input") and value is not None:
                yield "call", value
            elif name == "function" and isinstance(value, Mapping):
                yield from own_fields(value)


def message_of(fields: Fields) -> Any:
    """Return the model's text as a message that has the same fields."""
    names = {"text": "text", "call": "input"}
    return [{names.get(kind, kind): json.loads(text)} for kind, found in fields.items() for _, text in found]


def calls_of(message: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the identifier, the name of the tool and the arguments of each call."""
    if isinstance(message, list):
        for part in message:
            yield from calls_of(part)
    elif isinstance(message, Mapping):
        kind, function = message.get("type"), message.get("function")
        if kind == "function_call":
            yield str(message.get("call_id")), str(message.get("name") or ""), message.get("arguments")
        elif kind == "tool_use":
            yield str(message.get("id")), str(message.get("name") or ""), message.get("input")
        elif isinstance(function, Mapping):
            yield str(message.get("id")), str(function.get("name") or ""), function.get("arguments")
        else:
            for name in ("content", "tool_calls"):
                if isinstance(message.get(name), list):
                    yield from calls_of(message[name])


def units_of(reply: Any) -> list[Any]:
    """Return the items of a reply that clients resend as messages, else the whole reply."""
    if isinstance(reply, list) and any(is_item(entry) for entry in reply):
        return reply
    return [reply]


def is_item(reply: Any) -> bool:
    """Return whether a part of a reply is an item of the responses API."""
    return isinstance(reply, Mapping) and reply.get("type") in ("message", "function_call")


def _differs(known: Fields, fields: Fields) -> bool:
    return {kind: [text for _, text in found] for kind, found in known.items()} != {
        kind: [text for _, text in found] for kind, found in fields.items()
    }


def _without_settings(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_settings(entry) for entry in value]
    if isinstance(value, Mapping):
        return {name: _without_settings(entry) for name, entry in value.items() if name not in _SKIPPED and entry}
    return value
