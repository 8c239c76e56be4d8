"""State that all exchanges of a conversation share, and state of one exchange.

An exchange is one request and its reply. It *shares* the ``ConversationState`` of its conversation: the options, the
key, the mapping, the sent messages, the records of replies, the counted guesses, the identifiers of calls and the lock.
It *owns* an ``ExchangeState``: the tags of its messages, the place of its reply, the part of the reply that has
arrived, the pairs that it may restore, the names of its tools and its counts. A *tag* is a keyed hash, here and in the
other modules of this package. A conversation that is used without an exchange has an ``ExchangeState`` too, with
``tags=None``: its messages are all messages of the conversation.

A saved file contains the shared state. Of the owned state it contains only the places of the last reply. The objects in
these two classes do not refer to a ``Conversation``: a reference cycle would delay freeing the memory of a closed
conversation.
"""

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import islice
from threading import RLock
from typing import Any, NamedTuple

from textveil.conversation.field_names import FieldNames
from textveil.conversation.message_rewriter import encode_json, encode_sorted_json
from textveil.conversation.model_strings import find_hidden_strings
from textveil.conversation.reply_records import ConversationPlace, RecordedFields, ReplyRecords
from textveil.conversation.reply_roles import CallIds
from textveil.conversation.tool_guesses import ToolGuesses
from textveil.errors import OptionError
from textveil.storage.cryptography import compute_tag
from textveil.text.inflections import SurrogatePair
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.plan import NamesPlan
from textveil.text.reply_numbers import find_numbers
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy
from textveil.text.sanitizer import Sanitizer
from textveil.text.statement import KeptWords
from textveil.work_steps import free_in_steps

#: Maximum number of stored messages of which nothing is restored, such as edited replies. They stay equal on resending;
#: messages beyond the maximum, the oldest first, get new surrogates.
_MAX_UNLINKED_MESSAGES = 4_096
#: Approximate JSON characters of one pair, with all other data stored for it, and of one tag.
_PAIR_CHARACTERS = 128


class ExchangeHistory(NamedTuple):
    """The messages of an exchange, so that another exchange can continue it.

    >>> from textveil import Conversation
    >>> conversation = Conversation()
    >>> first = conversation.start_exchange()
    >>> sent = first.outgoing_text("Anna Novak called.")
    >>> conversation.start_exchange(first.history).incoming(sent).reply
    'Anna Novak called.'
    >>> conversation.start_exchange().incoming(sent).reply == sent  # no message of this exchange has the surrogates
    True

    Attributes:
        tags: Keyed hashes of its messages.
        previous: The history of the exchange before it, or ``None``.
        place: Place of the next message.
    """

    tags: tuple[str, ...] = ()
    previous: "ExchangeHistory | None" = None
    place: ConversationPlace = ConversationPlace()


class ConversationState:
    """State that a conversation and all its exchanges share.

    Args:
        sanitizer: Supplies the bundle and the rules.
        options: Options of the mode ``names``.
        pass_through: Types of parts, and roles, that are sent unchanged.
        restore_tools: Names of tools whose arguments in replies are restored.
        restore_policy: Regions of replies in which originals are restored.
        custom_rewrite: Rewrites each text independently, in place of the mode.
        tool_guesses: Maximum number of guesses in one call and in all calls.

    Attributes:
        key: Key of all tags (keyed hashes).
        surrogate_state: The mapping, and the surrogates that are used.
        sent_messages: For each tag of a message: the JSON that was sent, and the pairs that a reply may mention.
        unlinked_messages: For each tag of an unlinked message: the JSON that was sent.
        signed_items: For each tag of a restored item that a provider signed: its JSON as the provider sent it.
        begin_hashes: Hashes of the first messages of the conversation.
        shared_results: For each tag of a tool result: whether the result shares the mapping.
        file_stamps: For each file that this conversation read or wrote: a stamp, which differs after each write.
    """

    def __init__(
        self,
        sanitizer: Sanitizer,
        options: Mapping[str, Any],
        *,
        pass_through: Collection[str],
        restore_tools: Collection[str],
        restore_policy: RestorePolicy,
        custom_rewrite: Callable[[str], str] | None,
        tool_guesses: tuple[int, int],
    ) -> None:
        self.sanitizer = sanitizer
        self.options: dict[str, Any] = {name: _to_plain(value) for name, value in options.items()}
        self.plan: NamesPlan = sanitizer.names_plan(**options)
        self.options["facts"] = self.plan.facts_level  # a stored conversation keeps it if the default changes
        lists = self.plan.lists
        self.surrogate_state: ConversationDraws = ConversationDraws(
            self.plan.style, self.plan.surrogates, lists.common_words
        )
        given, family = lists.members_by_type["given"], lists.members_by_type["family"]
        hidden = self.plan.denied | self.plan.known_words
        self.field_names: FieldNames = FieldNames(lists.common_words, given, family, self.plan.allowed - hidden, hidden)
        self.pass_through: frozenset[str] = frozenset(pass_through)
        self.restore_tools: frozenset[str] = frozenset(restore_tools)
        self.restore_policy = restore_policy
        self.custom_rewrite = custom_rewrite
        self.sent_messages: dict[str, tuple[str, list[SurrogatePair]]] = {}
        self.unlinked_messages: dict[str, str] = {}
        self.signed_items: dict[str, str] = {}
        self.begin_hashes: set[str] = set()
        self.shared_results: dict[str, bool] = {}
        guesses = ToolGuesses(tool_guesses)
        self.tool_guesses: ToolGuesses = guesses if self.plan.style.consistent else ToolGuesses((0, 0))
        self.file_stamps: dict[str, bytes] = {}
        self.lock: RLock = RLock()
        self._use_key(os.urandom(32))

    def _use_key(self, key: bytes) -> None:
        self.key: bytes = key
        self.reply_records: ReplyRecords = ReplyRecords(partial(_hash_parts, key))
        make_reader, names, plan = self.plan.make_reader, self.field_names, self.plan
        self.call_ids: CallIds = CallIds(
            partial(_hash_parts, key),
            lambda text: bool(find_hidden_strings([text], make_reader(), plan, (), names.is_field, 1)),
        )

    def hash_strings(self, use: str, *parts: str) -> str:
        """Return the tag (keyed hash) of some strings. It differs for each value of ``use``."""
        return _hash_parts(self.key, use, *parts)

    def hash_value(self, use: str, value: Any) -> str:
        """Return the tag (keyed hash) of a JSON value. It also depends on ``pass_through``."""
        encoded = encode_json(value, encode_sorted_json).encode()
        return compute_tag(self.key, use, encoded, encode_json(sorted(self.pass_through)).encode()).hex()

    def store_unlinked(self, message_tag: str, written: str) -> None:
        """Store the JSON of an unlinked message that was sent."""
        self.unlinked_messages[message_tag] = written
        if len(self.unlinked_messages) > _MAX_UNLINKED_MESSAGES:
            del self.unlinked_messages[next(iter(self.unlinked_messages))]

    def find_signed_item(self, item: Any) -> Any:
        """Return a signed item as its provider sent it; ``None`` for any other item."""
        encoded = self.signed_items.get(self.hash_value("signed", item))
        return None if encoded is None else json.loads(encoded)

    def get_pairs(self, message_tag: str) -> list[SurrogatePair]:
        """Return the pairs of surrogate and original of a sent message, or those that restored a reply."""
        if message_tag in self.sent_messages:
            return self.sent_messages[message_tag][1]
        return self.reply_records.get_pairs(message_tag)

    def estimate_size(self) -> int:
        """Estimate the JSON size of the state in characters, from the lengths of texts and lists."""
        sent = sum(len(written) + _PAIR_CHARACTERS * (1 + len(pairs)) for written, pairs in self.sent_messages.values())
        others = sum(len(text) for texts in (self.unlinked_messages, self.signed_items) for text in texts.values())
        return (
            sent
            + others
            + self.reply_records.count_characters()
            + self.call_ids.count_characters()
            + _PAIR_CHARACTERS * (len(self.begin_hashes) + self.tool_guesses.stored_count)
        )

    def free_memory(self) -> None:
        """Empty the mapping and the sent messages in steps. Nobody may use the conversation afterward."""
        self.surrogate_state.free_memory()
        free_in_steps(
            *(pairs for _, pairs in self.sent_messages.values()),
            self.sent_messages,
            self.unlinked_messages,
            self.shared_results,
        )

    def export_state(self) -> dict[str, Any]:
        """Return the state as plain values for JSON.

        Privacy:
            The result contains the key, the texts and the mapping.
        """
        return {
            "bundle": self.sanitizer.bundle.content_hash,
            "options": self.options,
            "key": self.key.hex(),
            "surrogates": self.surrogate_state.export_state(),
            "sent_messages": self.sent_messages,
            "unlinked_messages": self.unlinked_messages,
            "signed_items": self.signed_items,
            "begin_hashes": sorted(self.begin_hashes),
            "shared_results": self.shared_results,
            "reply_records": self.reply_records.export_state(),
            "tool_guesses": self.tool_guesses.export_state(),
            "call_ids": self.call_ids.export_state(),
        }

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Continue from an exported state, with the options that the constructor received."""
        self._use_key(bytes.fromhex(state["key"]))
        self.surrogate_state.restore_state(state["surrogates"])
        for message_tag, (written, pairs) in state["sent_messages"].items():
            self.sent_messages[message_tag] = written, [SurrogatePair(*pair) for pair in pairs]
        self.unlinked_messages, self.signed_items = state["unlinked_messages"], state["signed_items"]
        self.begin_hashes, self.shared_results = set(state["begin_hashes"]), state["shared_results"]
        self.reply_records.restore_state(state["reply_records"])
        self.tool_guesses = ToolGuesses.from_state(state["tool_guesses"])
        self.call_ids.restore_state(state["call_ids"])


class ExchangeState:
    """State that one exchange owns.

    Args:
        tags: Tags of the messages of the exchanges that it continues; ``None`` for all messages of the conversation.
        previous: History of the exchange that it continues, if there is one.
        tool_names: Names of tools that the user declared.

    Attributes:
        tags: The argument ``tags``, then the tags of its own messages; or ``None``.
        origin: Place of its first message.
        message_pairs: Pairs of the message that is being rewritten.
        kept_words: Number of kept words, and of replaced words on no list, in the texts that it was the first to send.
        unshared_results: Number of its tool results that were sent unlinked.
        counted_calls: Hashes of the arguments of calls whose strings are counted.
        reply_start: Place of the first message of its reply.
        unit_place: Place of the message of the reply that is arriving.
        next_place: Place of the message after that one.
        reply_owner: An object that is the same for all parts of one reply.
        reply_fields: The model's own text that has arrived so far for the message at ``unit_place``.
        reply_pairs: The pairs that restored this text.
        restored_values: Restored texts and values that are not in a record yet, with their pairs.
    """

    def __init__(
        self, tags: dict[str, None] | None, previous: ExchangeHistory | None, tool_names: frozenset[str]
    ) -> None:
        self.tags: dict[str, None] | None = tags
        self._previous = previous
        self._previous_count = len(tags or ())
        self.origin: ConversationPlace = ConversationPlace() if previous is None else previous.place
        self._restorer: Restorer | None = None
        self._restorer_tag_count = 0
        self.message_pairs: list[SurrogatePair] = []
        self.kept_words: KeptWords = KeptWords()
        self.unshared_results: int = 0
        self.counted_calls: set[str] = set()
        self.tool_names = tool_names
        self.expect_reply(self.origin)

    @classmethod
    def continue_history(cls, previous: ExchangeHistory | None, tool_names: frozenset[str]) -> "ExchangeState":
        """Create the state of a new exchange, which may continue another one."""
        return cls(dict.fromkeys(_iterate_tags(previous)), previous, tool_names)

    def expect_reply(self, place: ConversationPlace) -> None:
        """Prepare the state for a new reply at the given place, before its first part arrives."""
        self.reply_start: ConversationPlace = place
        self.unit_place: ConversationPlace = place
        self.next_place: ConversationPlace = place
        self.reply_owner: object = object()
        self.reply_fields: RecordedFields = {}
        self.reply_pairs: list[SurrogatePair] = []
        self.restored_values: list[tuple[str, list[SurrogatePair]]] = []

    def make_history(self, shared: ConversationState) -> ExchangeHistory:
        """Return the messages of this exchange, linked to the history that this exchange continues."""
        tags = tuple(islice(self._get_tags(shared), self._previous_count, None))
        return ExchangeHistory(tags, self._previous, self.next_place)

    def get_restorer(self, shared: ConversationState) -> Restorer:
        """Return the restorer for all messages so far; each call adds the messages since the last."""
        tags = self._get_tags(shared)
        if self._restorer is None:
            self._restorer = Restorer(rules=shared.plan.lists.rules.replies)
        if self._restorer_tag_count < len(tags):
            new_tags = islice(tags, self._restorer_tag_count, None)
            self._restorer.add_pairs(pair for tag in new_tags for pair in shared.get_pairs(tag))
            self._restorer_tag_count = len(tags)
        return self._restorer

    def find_sent_numbers(self, shared: ConversationState) -> set[str]:
        """Return the numbers in all sent messages."""
        with shared.lock:
            tags = [*self._get_tags(shared)]
            sent = [shared.sent_messages[tag][0] for tag in tags if tag in shared.sent_messages]
        return set().union(*map(find_numbers, sent))

    def free_memory(self) -> None:
        """Empty the tags and the restorer in steps. Nobody may use the exchange afterward."""
        if self._restorer is not None:
            self._restorer.free_memory()
        free_in_steps(self.tags)

    def export_state(self) -> dict[str, Any]:
        """Return the places of the last reply as plain values for JSON. Other state is not saved."""
        return {"reply_start": self.reply_start, "next_place": self.next_place}

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Continue after the reply at the exported places."""
        self.expect_reply(_parse_place(state["reply_start"]))
        self.next_place = _parse_place(state["next_place"])

    def _get_tags(self, shared: ConversationState) -> Collection[str]:
        return shared.sent_messages if self.tags is None else self.tags


def check_stored_options(options: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the options of a call with those of a stored conversation; return the options that are not stored.

    Args:
        options: Options of the call. ``facts``, ``patterns`` and ``known`` may have values that the conversation must
            have.
        stored: Options of the conversation.

    Raises:
        OptionError: The conversation has other values of ``facts``, ``patterns`` or ``known``.
    """
    if options.get("facts") not in (None, stored["facts"]):
        value = stored["facts"]
        raise OptionError(f"the conversation was started with facts={value}: use this value, or start a new one")
    for name in ("patterns", "known"):
        asked, started_with = options.get(name), stored.get(name) or ()
        if asked is not None and [*_list_entries(asked)] != [*_list_entries(started_with)]:
            raise OptionError(f"the conversation was started with other {name}: use those, or start a new one")
    return {name: value for name, value in options.items() if name not in ("facts", "patterns", "known")}


def _list_entries(value: Any) -> Iterator[Any]:
    """Yield the entries of a list in order of their spelling, or the pairs of a mapping in their own order."""
    yield from map(list, value.items()) if isinstance(value, Mapping) else sorted(value)


def _to_plain(value: Any) -> Any:
    """Convert the value of an option to a value that JSON can represent."""
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value) if isinstance(value, set | frozenset) else value


def _hash_parts(key: bytes, use: str, *parts: str) -> str:
    return compute_tag(key, use, *(part.encode("utf-8", "surrogatepass") for part in parts)).hex()


def _parse_place(fields: list[Any]) -> ConversationPlace:
    chain, recent, turn = fields
    return ConversationPlace(chain, tuple(recent), turn)


def _iterate_tags(history: ExchangeHistory | None) -> Iterator[str]:
    while history is not None:
        yield from history.tags
        history = history.previous
