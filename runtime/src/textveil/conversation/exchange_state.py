"""State that all exchanges of a conversation share, and state of one exchange.

An exchange is one request and its reply. All exchanges of a conversation share its ``ConversationState``: the options,
the key, the mapping (the surrogate, that is the replacement, of each hidden string), the sent messages, the records of
replies, the counts of guesses (strings that the model itself wrote into tool calls), the identifiers of calls and the
lock. Each exchange has its own ``ExchangeState``: the tags of its messages, the position of its reply, the received
part of the reply, the surrogates that the exchange may restore, the names of its tools and its counts. A *tag* is a
keyed hash, here and in the other modules of this package. A conversation without an exchange also has an
``ExchangeState``. Its ``tags`` are ``None``, which stands for all messages of the conversation.

A saved file contains the shared state. Of the state of exchanges, the file contains only the position of the last
reply. The objects in these two classes do not refer to a ``Conversation``, because a reference cycle would delay the
release of memory.
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
from textveil.text.kept_words import KeptWords
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.plan import NamesPlan
from textveil.text.reply_numbers import find_numbers
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy
from textveil.text.sanitizer import Sanitizer
from textveil.work_steps import free_in_steps

#: Maximum number of stored unlinked messages, such as edited replies. A stored message is sent again unchanged. Beyond
#: the maximum, the oldest messages are deleted; if one is sent again, it gets new surrogates.
_MAX_UNLINKED_MESSAGES = 4_096
#: Approximate number of JSON characters of one pair of surrogate and original, including related data; also of one tag.
_PAIR_CHARACTERS = 128


class ExchangeHistory(NamedTuple):
    """Record of the messages of an exchange (one request and its reply).

    Pass the record to ``start_exchange`` to continue the exchange with a new request.

    >>> from textveil import Conversation
    >>> conversation = Conversation()
    >>> first = conversation.start_exchange()
    >>> sent = first.outgoing_text("Anna Novak called.")
    >>> conversation.start_exchange(first.history).incoming(sent).reply
    'Anna Novak called.'
    >>> conversation.start_exchange().incoming(sent).reply == sent  # no message of this exchange has the surrogates
    True

    Attributes:
        tags: Keyed hashes of the messages.
        previous: The history of the exchange that this exchange continued; ``None`` if there was none.
        place: Position of the next message in the conversation.
    """

    tags: tuple[str, ...] = ()
    previous: "ExchangeHistory | None" = None
    place: ConversationPlace = ConversationPlace()


class ConversationState:
    """The data that all exchanges (requests with their replies) of a conversation share.

    Args:
        sanitizer: Sanitizer with the bundle (data folder) and the rules.
        options: Options for hiding names (mode ``names``).
        pass_through: Types of message parts, and roles, that are sent unchanged.
        restore_tools: Names of tools. In replies, originals are restored in the arguments of these tools.
        restore_policy: Parts of replies, such as code or links, in which originals are restored.
        custom_rewrite: Function that rewrites each text independently, in place of the mode ``names``; or ``None``.
        tool_guesses: Maximum number of guesses (strings that the model itself writes into tool calls) in one call and
            in all calls.

    Attributes:
        key: Key of all tags (keyed hashes).
        surrogate_state: The surrogate (replacement) of each hidden string, and the surrogates that are already used.
        sent_messages: Dictionary from the tag of a message to the sent JSON, and the pairs of surrogate and original in
            the message.
        unlinked_messages: Dictionary from the tag of a message with new surrogates, which are never restored, to the
            sent JSON.
        signed_items: Dictionary from the tag of a restored item with a provider's signature to the JSON as the provider
            sent it.
        begin_hashes: Hashes of the first messages of the conversation.
        shared_results: Dictionary from the tag of a tool result to whether the result was rewritten with the surrogates
            of ``surrogate_state``.
        file_stamps: Dictionary from the path of a file that this conversation read or wrote to the first bytes of the
            file, which differ after each write.
        has_warned_about_language: Whether a ``LanguageWarning`` was issued for this conversation.
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
        self.has_warned_about_language: bool = False
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
        """Return a keyed hash (tag) of strings, which is stored in their place.

        Args:
            use: Purpose of the tag. Tags of the same strings for different purposes differ.
            parts: The strings.
        """
        return _hash_parts(self.key, use, *parts)

    def hash_value(self, use: str, value: Any) -> str:
        """Return a keyed hash (tag) of a JSON value. The hash also depends on the option ``pass_through``.

        The option lists the parts of messages that are sent unchanged. If a saved conversation is loaded with another
        value of the option, the hashes of its messages differ, so every message is rewritten anew.

        Args:
            use: Purpose of the hash. Hashes of the same value for different purposes differ.
            value: The value.
        """
        encoded = encode_json(value, encode_sorted_json).encode()
        return compute_tag(self.key, use, encoded, encode_json(sorted(self.pass_through)).encode()).hex()

    def store_unlinked(self, message_tag: str, written: str) -> None:
        """Store the JSON of a message that was rewritten with new surrogates, so that it can be sent again unchanged.

        *New* means that no other message has the same surrogates (replacements), and that they are never restored.

        Args:
            message_tag: Keyed hash of the message.
            written: The sent JSON.
        """
        self.unlinked_messages[message_tag] = written
        if len(self.unlinked_messages) > _MAX_UNLINKED_MESSAGES:
            del self.unlinked_messages[next(iter(self.unlinked_messages))]

    def find_signed_item(self, item: Any) -> Any:
        """Return the part of a message that a provider sent with a signature, exactly as the provider sent it.

        The result is ``None`` if the part has no signature of a provider.

        Args:
            item: A part of a message, as the client received it after restoring.
        """
        encoded = self.signed_items.get(self.hash_value("signed", item))
        return None if encoded is None else json.loads(encoded)

    def get_pairs(self, message_tag: str) -> list[SurrogatePair]:
        """Return the surrogates (replacements) in a sent message or in a resent reply, each with its original."""
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
        """Free the memory of the hidden strings and the sent messages in small steps.

        The conversation cannot be used afterward.
        """
        self.surrogate_state.free_memory()
        free_in_steps(
            *(pairs for _, pairs in self.sent_messages.values()),
            self.sent_messages,
            self.unlinked_messages,
            self.shared_results,
        )

    def export_state(self) -> dict[str, Any]:
        """Return the options, the key and the state of each part as a dictionary for JSON; ``restore_state`` reads it.

        Privacy:
            The result contains the key, the texts and all hidden strings.
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
        """Replace the state by one that ``export_state`` returned. The options of the constructor stay in effect."""
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
    """State of one exchange: the messages of one request and its reply, and their hidden strings.

    A place is a position in the conversation, identified by all messages before it. A pair is a surrogate (replacement)
    and its original (hidden string). A tag is a keyed hash of a message.

    Args:
        tags: Tags of earlier messages: those of the exchanges that this exchange continues. ``None`` if the state is
            for all messages of the conversation.
        previous: History of the exchange that this exchange continues; ``None`` if there is none.
        tool_names: Names of tools that the user declared.

    Attributes:
        tags: The argument ``tags``, followed by the tags of the messages of this exchange; or ``None``.
        origin: Place of the first message of the request.
        message_pairs: Pairs of the message that is currently rewritten.
        kept_words: Counts of words left unchanged, of replaced words that are on no word list, and of unchanged words
            of other languages. Texts that an earlier exchange sent do not count.
        foreign_words: The counts of ``kept_words`` for those messages alone that may be in another language than that
            of the word lists. Each message is checked separately.
        unshared_results: Number of tool results that were sent with new surrogates, which are never restored.
        counted_calls: Hashes of the arguments of tool calls that were already counted (``ToolCallCounter``).
        reply_start: Place of the first message of the reply.
        unit_place: Place of the message of the reply whose parts currently arrive.
        next_place: Place after the message at ``unit_place``.
        reply_owner: Object that identifies the reply: all parts of one reply have the same object.
        reply_fields: Text of the model that has arrived so far for the message at ``unit_place``.
        reply_pairs: Pairs that were used to restore the text in ``reply_fields``.
        restored_values: Restored texts and values that are not yet recorded, with the pairs that were used.
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
        self.foreign_words: KeptWords = KeptWords()
        self.unshared_results: int = 0
        self.counted_calls: set[str] = set()
        self.tool_names = tool_names
        self.expect_reply(self.origin)

    @classmethod
    def continue_history(cls, previous: ExchangeHistory | None, tool_names: frozenset[str]) -> "ExchangeState":
        """Create the state of a new exchange (one request and its reply), which may continue an earlier one.

        Args:
            previous: History of the exchange that the new one continues; ``None`` if there is none.
            tool_names: Names of tools that the user declared.
        """
        return cls(dict.fromkeys(_iterate_tags(previous)), previous, tool_names)

    def expect_reply(self, place: ConversationPlace) -> None:
        """Store the position in the conversation at which the next reply begins.

        Call this before the first part of the reply arrives.

        Args:
            place: The position, identified by the messages before the reply.
        """
        self.reply_start: ConversationPlace = place
        self.unit_place: ConversationPlace = place
        self.next_place: ConversationPlace = place
        self.reply_owner: object = object()
        self.reply_fields: RecordedFields = {}
        self.reply_pairs: list[SurrogatePair] = []
        self.restored_values: list[tuple[str, list[SurrogatePair]]] = []

    def make_history(self, shared: ConversationState) -> ExchangeHistory:
        """Return a record of the messages of this exchange and of the earlier exchanges that it continues.

        An exchange is one request to the model and its reply.
        """
        tags = tuple(islice(self._get_tags(shared), self._previous_count, None))
        return ExchangeHistory(tags, self._previous, self.next_place)

    def get_restorer(self, shared: ConversationState) -> Restorer:
        """Return the object that restores the reply: it puts originals in the places of surrogates (replacements).

        The object restores the surrogates of all messages that the exchange has sent so far. Every call adds the
        surrogates of new messages to the same object, and returns this object.
        """
        tags = self._get_tags(shared)
        if self._restorer is None:
            self._restorer = Restorer(rules=shared.plan.lists.rules.replies)
        if self._restorer_tag_count < len(tags):
            new_tags = islice(tags, self._restorer_tag_count, None)
            self._restorer.add_pairs(pair for tag in new_tags for pair in shared.get_pairs(tag))
            self._restorer_tag_count = len(tags)
        return self._restorer

    def find_sent_numbers(self, shared: ConversationState) -> set[str]:
        """Return all numbers in the sent messages of this exchange (or of the whole conversation), as strings."""
        with shared.lock:
            tags = [*self._get_tags(shared)]
            sent = [shared.sent_messages[tag][0] for tag in tags if tag in shared.sent_messages]
        return set().union(*map(find_numbers, sent))

    def free_memory(self) -> None:
        """Free the memory of this state in small steps. The object cannot be used afterward."""
        if self._restorer is not None:
            self._restorer.free_memory()
        free_in_steps(self.tags)

    def export_state(self) -> dict[str, Any]:
        """Return the place (position in the conversation) of the start and end of the last reply, as JSON values.

        A saved file contains no other state of an exchange.
        """
        return {"reply_start": self.reply_start, "next_place": self.next_place}

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Set the positions of the start and the end of the last reply to those of a saved state (``export_state``)."""
        self.expect_reply(_parse_place(state["reply_start"]))
        self.next_place = _parse_place(state["next_place"])

    def _get_tags(self, shared: ConversationState) -> Collection[str]:
        return shared.sent_messages if self.tags is None else self.tags


def check_stored_options(options: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options with which a caller loads a stored conversation.

    The options ``facts``, ``patterns`` and ``known`` are part of the stored conversation. If the caller passes one of
    these options, its value must equal the stored value.

    Args:
        options: Options of the caller.
        stored: Options in the stored conversation.

    Returns:
        The options of the caller without ``facts``, ``patterns`` and ``known``.

    Raises:
        OptionError: The stored conversation has another value of ``facts``, ``patterns`` or ``known``.
    """
    if options.get("facts") not in (None, stored["facts"]):
        value = stored["facts"]
        raise OptionError(
            f"the conversation was started with facts={value}: use this value, or start a new conversation"
        )
    for name in ("patterns", "known"):
        asked, started_with = options.get(name), stored.get(name) or ()
        if asked is not None and [*_list_entries(asked)] != [*_list_entries(started_with)]:
            raise OptionError(
                f"the conversation was started with another value of {name}: use that value, or start a new one"
            )
    return {name: value for name, value in options.items() if name not in ("facts", "patterns", "known")}


def _list_entries(value: Any) -> Iterator[Any]:
    """Yield the entries of an option's value in an order that permits a comparison with another value.

    The entries of a dictionary are its pairs of key and value, in their order. The entries of any other collection are
    sorted.
    """
    yield from map(list, value.items()) if isinstance(value, Mapping) else sorted(value)


def _to_plain(value: Any) -> Any:
    """Convert the value of an option to a value that JSON can represent, such as a set to a sorted list."""
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
