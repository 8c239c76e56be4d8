"""``Conversation``: rewrite messages to a model under one mapping, and restore its replies."""

import json
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import accumulate, islice
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from textveil.conversation import encrypted_file
from textveil.conversation.call_ids import CallIds
from textveil.conversation.field_names import FieldNames, KeyReader
from textveil.conversation.masks import OriginalMasks, is_function_word
from textveil.conversation.message_rewriter import (
    MessageRewriter,
    classify_sender,
    encode_json,
    encode_sorted_json,
    is_signed,
    list_result_call_ids,
)
from textveil.conversation.model_strings import find_hidden_strings, find_name_strings, list_model_words
from textveil.conversation.reply_records import (
    ConversationPlace,
    RecordedFields,
    ReplyRecords,
    build_message,
    is_response_item,
    iterate_calls,
    iterate_model_fields,
    split_reply,
)
from textveil.conversation.reply_restorer import RecordedReplyStream, ReplyRestorer, RestoredReply
from textveil.conversation.reply_roles import claim_reply
from textveil.conversation.reply_view import ReplyView
from textveil.conversation.tool_guesses import MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION, ToolGuesses
from textveil.errors import ContentHashMismatch, InputError, OptionError
from textveil.ledger.keys import compute_tag
from textveil.release import KeptWords
from textveil.sequences import check_string
from textveil.text.inflections import SurrogatePair
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.detector import hide_detected_spans
from textveil.text.names.entity_types import ASSIGNABLE_TYPES, RewrittenElement, make_assigned_mention
from textveil.text.names.read import NamesReader, ReadText, ReadTextStream
from textveil.text.names.rewrite import write_with_pairs
from textveil.text.reply_numbers import find_numbers
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy
from textveil.text.sanitizer import Sanitizer
from textveil.text.unicode_compat import NO_SWAP, CharacterSwap, find_swap
from textveil.work_limits import check_work

#: Cap of stored texts that stay equal on resending although nothing of them is restored, such as changed replies.
#: Texts beyond the cap, the oldest ones first, get new surrogates.
_MAX_UNLINKED_MESSAGES = 4_096
#: Approximate JSON characters of one pair, with all other data stored for it, and of one tag.
_PAIR_CHARACTERS = 128


class ExchangeHistory(NamedTuple):
    """The messages of an exchange, to continue from in another exchange.

    Attributes:
        tags: Tags of its messages.
        previous: The messages of the exchanges before this one, or ``None``.
        place: Place of the next message.
    """

    tags: tuple[str, ...] = ()
    previous: "ExchangeHistory | None" = None
    place: ConversationPlace = ConversationPlace()


_OPTIONS = frozenset("protect consistent consistent_cap style keep tag drop allow deny".split())


class Conversation:
    """A conversation with a model, in the mode ``names``: equal strings get equal surrogates.

    The mapping is the same for all of its messages. Several threads may use it, each with an exchange
    (``start_exchange``) of its own. Its ``repr`` contains nothing of it, and it cannot be pickled.

    Args:
        sanitizer: Rewrites texts; the built-in English bundle by default.
        pass_through: Types of parts to send unchanged, such as ``image_url``; roles, such as ``system``; and
            ``keys``, for JSON keys that may be more than names of fields. Nothing of these is protected.
        restore_tools: Names of tools whose arguments in replies are restored. The arguments of other tools keep their
            surrogates: the model must not decide what a tool does with a name.
        restore_places: Places of replies, beside running text, in which originals are restored: ``code``, ``json``,
            ``math``; or ``all``, for replies that no client displays or fetches.
        restore_hosts: Hosts of the links in which originals are restored.
        rewrite: Rewrites each text independently in place of the mode, such as a ledger in a mode with an epsilon. Then
            nothing is restored, the options belong to the caller's own function, and resending returns an equal message
            only if all messages before it in the call, or in the exchange, are the same: other equal texts are sampled
            independently.
        tool_guesses: Maximum number of strings of its own that a model may write into the arguments of one call, and of
            all calls of the conversation, while tool results share the mapping. Each string is a guess that the model
            can test. Results of calls above the limit, and of unknown calls, are rewritten like changed replies,
            without an error.
        options: Options of the mode ``names``: ``style``, ``keep``, ``tag``, ``drop``, ``allow``, ``deny`` and
            ``consistent_cap``, here for all strings of the conversation; with ``consistent=False`` each message has its
            own mapping, resending returns an equal message at its place alone, and ``tool_guesses`` are 0.

    Attributes:
        unshared_results: Number of tool results sent without the mapping, in an exchange.

    Raises:
        OptionError: An option or its value is not supported, such as another mode.

    Privacy:
        A conversation is one document whose texts follow one another. The upstream learns the templates, and the
        equality of strings in all messages (docs/proofs/names.md). The object contains all data that undo the
        protection.

        A model that answers can also ask: anyone who brings a guess into a message of the user, or into a tool
        result, learns whether it equals one of the hidden strings. Text under the model's own name reveals no such
        equality, and tool results allow as many tests as ``tool_guesses`` permits.
    """

    def __init__(
        self,
        sanitizer: Sanitizer | None = None,
        *,
        pass_through: Collection[str] = (),
        restore_tools: Collection[str] = (),
        restore_places: Collection[str] | str = (),
        restore_hosts: Collection[str] = (),
        rewrite: Callable[[str], str] | None = None,
        tool_guesses: tuple[int, int] = (MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION),
        **options: Any,
    ) -> None:
        for given, name in ((pass_through, "pass_through"), (restore_tools, "restore_tools")):
            if isinstance(given, str) or not all(isinstance(entry, str) for entry in given):
                raise OptionError(f"{name} takes a collection of names")
        is_names_mode = options.setdefault("protect", "names") == "names" and options.get("consistent", True) in (
            True,
            False,
        )
        if not is_names_mode or not set(options) <= _OPTIONS:
            raise OptionError(
                f'a conversation has protect="names", and takes {", ".join(sorted(_OPTIONS))}; for the '
                "rungs words and all, and for other options, rewrite each message by itself with Sanitizer or Ledger"
            )
        self._sanitizer = Sanitizer.load() if sanitizer is None else sanitizer
        self._options = {name: sorted(v) if isinstance(v, set | frozenset) else v for name, v in options.items()}
        self._plan = self._sanitizer.names_plan(**options)
        self._surrogate_state = ConversationDraws(
            self._plan.style, self._plan.surrogates, self._plan.lists.common_words
        )
        lists = self._plan.lists
        given, family = lists.members_by_type["given"], lists.members_by_type["family"]
        self._field_names = FieldNames(lists.common_words, given, family, self._plan.allowed, self._plan.denied)
        self._pass_through, self._restore_tools = frozenset(pass_through), frozenset(restore_tools)
        self._restore_policy = RestorePolicy.parse(restore_places, restore_hosts)
        self._rewrite = rewrite
        self._use_key(os.urandom(32))
        #: For each file that this object read or wrote: a stamp that detects later versions by other writers.
        self._stamps: dict[str, bytes] = {}
        self._cached_restorer, self._cached_tag_count = Restorer(), 0
        self._kept_words = KeptWords()
        self._message_pairs: list[SurrogatePair] = []
        #: For each tag: the sent message, and the pairs that a reply may mention; `_fresh`: messages without restoring.
        self._sent_messages: dict[str, tuple[str, list[SurrogatePair]]] = {}
        self._unlinked_messages: dict[str, str] = {}
        #: Items signed by a provider; first messages of the conversation.
        self._signed_items: dict[str, str] = {}
        self._begin_hashes: set[str] = set()
        self._shared_results: dict[str, bool] = {}
        guesses = ToolGuesses(tool_guesses)
        self._tool_guesses = guesses if self._plan.style.consistent else ToolGuesses((0, 0))
        #: Hashes of the call arguments that are counted.
        self._counted_calls: set[str] = set()
        #: Names of tools from the user, not from the model.
        self._tool_names = self._restore_tools
        self._lock = RLock()
        self.unshared_results = 0
        #: Tags of the messages of an exchange; their number before it, and the exchange that it continues.
        self._exchange_tags: dict[str, None] | None = None
        self._continued_exchange: tuple[int, ExchangeHistory | None] = 0, None
        self._origin = ConversationPlace()
        self._expect_reply(self._origin)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> Any:
        raise TypeError("a conversation is not pickled: save it with save, under a key")

    def is_field_name(self, key: str) -> bool:
        """Return whether a JSON key consists of common words and field words.

        An error message may contain such a key.
        """
        return bool(self._field_names.find_fields([key]))

    def start_exchange(self, after: "ExchangeHistory | None" = None) -> "Conversation":
        """Return this conversation for one request and its reply.

        The exchange restores only surrogates of messages sent through it, including messages already sent before, and
        no others of the conversation.

        Args:
            after: ``went`` of the exchange that this one continues, for a provider that stores its messages.
        """
        with self._lock:
            exchange = object.__new__(type(self))
            exchange.__dict__.update(self.__dict__)
            exchange._exchange_tags = dict.fromkeys(_iterate_tags(after))
            exchange._continued_exchange = len(exchange._exchange_tags), after
            exchange._cached_restorer, exchange._cached_tag_count, exchange.unshared_results = Restorer(), 0, 0
            exchange._counted_calls = set()
            exchange._origin = ConversationPlace() if after is None else after.place
            exchange._expect_reply(exchange._origin)
            exchange._kept_words = KeptWords()
            return exchange

    @property
    def kept_words(self) -> KeptWords:
        """The numbers of kept words and of replaced words on no list, in the rewritten texts.

        In an exchange: the texts that its request was the first to send. Both numbers follow from the template.
        """
        return self._kept_words

    @property
    def history(self) -> "ExchangeHistory":
        """The messages sent through an exchange, or the whole conversation, as tags.

        It links to the exchange before.
        """
        with self._lock:
            earlier_count, previous = self._continued_exchange
            tags = tuple(
                islice(self._sent_messages if self._exchange_tags is None else self._exchange_tags, earlier_count, None)
            )
            return ExchangeHistory(tags, previous, self._next_place)

    def outgoing(self, messages: list[Any]) -> list[Any]:
        """Return messages in the form to send: OpenAI's chat and responses, or Anthropic's messages.

        Every text of a person or a tool is rewritten. JSON in the arguments and results of tools is rewritten
        by value, including numbers, each to one of its type. Keys, roles, identifiers, names of tools, true, false and
        null stay. Text of the model is sent as the model wrote it, byte for byte, if it is at its place: after
        the same messages as on its arrival. Any other text under the model's name gets new surrogates, linked
        to no others and never restored. A message sent before is sent again unchanged (see ``rewrite``).

        Args:
            messages: The messages, as dictionaries; all of them so far, or the new ones alone.

        Raises:
            InputError: A message has an unknown shape, field or type, or cannot be rewritten. Nothing is returned, and
                nothing is sampled.
        """
        if not isinstance(messages, list):
            raise InputError("messages come in a list")
        with self._lock:
            tags = self._check_messages(messages)
            return self._prepare_messages(messages, tags)

    def outgoing_text(self, text: str, entity_type: str | None = None) -> str:
        """Return a text in the form to send; an equal text has an equal result.

        With ``rewrite`` or ``consistent=False`` it is sampled anew each time.

        Args:
            text: The text.
            entity_type: Entity type of the whole text according to a detector: ``person``, ``city``, ``organization``,
                ``group`` or ``word``. The text becomes one entity, even if the mode would keep it.

        Raises:
            InputError: The text is not a string.
            OptionError: The type is none of these.
        """
        check_string(text)
        with self._lock:
            return self._sanitize_text(text, entity_type)

    def _sanitize_text(self, text: str, entity_type: str | None) -> str:
        if self._rewrite and entity_type is None:
            return self._rewrite(text)
        # With consistent=False even equal texts get independent surrogates
        number = 0 if self._plan.style.consistent else len(self._sent_messages) + 1
        if entity_type is None or not text.strip():
            message_tag = self._hash_value("message", [number, text] if number else text)
            return json.loads(self._rewrite_once(message_tag, text, self._make_text_rewriter()))
        if entity_type not in ASSIGNABLE_TYPES:
            raise OptionError(f"a text is called one of {', '.join(sorted(ASSIGNABLE_TYPES))}")
        message_tag = self._hash_value("message", [entity_type, text, *([number] * bool(number))])
        return json.loads(
            self._rewrite_once(
                message_tag,
                text,
                lambda _: self._write_surrogates(ReadText([make_assigned_mention(entity_type, text)], 0)),
            )
        )

    def outgoing_unlinked(self, text: str) -> str:
        """Return a text of the model that someone changed, such as a file, in the form to send.

        Each hidden word gets its own surrogate, even if two are equal, and nothing of the text is restored later. All
        numbers are hidden, and all words except common words in lower case, in any context.

        Raises:
            InputError: The text is not a string.
        """
        check_string(text)
        with self._lock:
            return self._rewrite(text) if self._rewrite else self._rewrite_unlinked(text, self._plan.make_reader())

    def incoming(self, reply: Any, *, record: bool = True, other_parts: Any = None) -> RestoredReply:
        """Return a reply with the originals in place of surrogates.

        Args:
            reply: A text; a message, or a list of parts or items, as dictionaries. Unknown fields stay.
            record: Whether this is the whole reply to the last messages; otherwise call ``record_reply``. A reply that
                is not recorded is not resent as the model wrote it. Of two replies to the same messages neither is.
            other_parts: Other parts of the reply that a client may show with it. They stay unchanged, and nothing is
                restored where they may begin a link that the reply continues.

        Raises:
            InputError: The reply has another shape.

        Privacy:
            Nothing is sent. The arguments of tools outside ``restore_tools`` keep their surrogates.
        """
        with self._lock:
            try:
                reply = self.claim_reply(reply)
                restorer, numbers = self._restorer, cache(self._find_sent_numbers)
                reader = ReplyRestorer(
                    restorer, self._store_restored, self._restore_tools, self._restore_policy, numbers
                )
                result = reader.restore(reply, other_parts)
            except RecursionError:
                raise InputError("the reply is nested too deeply") from None
            if record:
                self.record_reply(reply, result.reply)
            return result

    def stream(self, *, record: bool = True) -> RecordedReplyStream:
        """Return a stream that restores one text of a reply while it arrives.

        Args:
            record: Whether the text is a part of the reply to the last messages; see ``incoming``.
        """

        def remember(restored: Any, written: Any, used: list[SurrogatePair]) -> None:
            with self._lock:
                self._store_restored(restored, written, used)
                if record:
                    self._record_reply(written, restored, is_part=True)

        with self._lock:
            return RecordedReplyStream(
                self._restorer.index, remember, self._restore_policy, cache(self._find_sent_numbers)
            )

    def make_reply_view(self) -> ReplyView:
        """Return a tracker for the texts of one reply that a client may show together."""
        return ReplyView(self._restore_policy)

    def record_reply(self, written: Any, restored: Any) -> None:
        """Record a reply to the last messages so that resending can return the model's own text.

        Of several different replies, such as the choices of one request, none can be resent.

        Args:
            written: The reply as the model wrote it.
            restored: The reply as the client gets it.
        """
        self._record_reply(written, restored, is_part=False)

    def _record_reply(self, written: Any, restored: Any, *, is_part: bool) -> None:
        with self._lock:
            values, self._restored_values = self._restored_values, []
            self._reply_pairs += [pair for _, used in values for pair in used]
            for unit, restored_unit in zip(split_reply(written), split_reply(restored), strict=True):
                if is_response_item(unit) and self._reply_fields:
                    self._unit_place, self._reply_fields, self._reply_pairs = (
                        self._next_place,
                        {},
                        [pair for _, used in values for pair in used],
                    )
                model_fields, restored_fields = [*iterate_model_fields(unit)], [*iterate_model_fields(restored_unit)]
                if len(model_fields) != len(restored_fields):  # only if restoring left a text empty
                    continue
                fields: RecordedFields = {}
                for (field_class, text), (_, value) in zip(model_fields, restored_fields, strict=True):
                    fields.setdefault(field_class, []).append(
                        (self._reply_records.hash_value(field_class, value), encode_json(text))
                    )
                is_repeated = not is_part and not fields.keys().isdisjoint(self._reply_fields)
                self._count_calls(unit, values)
                if is_repeated and any(fields[kind] != self._reply_fields.get(kind) for kind in fields):
                    self._reply_records.close_place(self._unit_place)
                if is_repeated or not fields:
                    continue
                for field_class, entries in fields.items():
                    self._reply_fields.setdefault(field_class, []).extend(entries)
                self._reply_records.add_message(
                    self._unit_place,
                    {**self._reply_fields},
                    [*self._reply_pairs],
                    reply_start=self._reply_start,
                    owner=self._reply_owner,
                )
                self._next_place = self._reply_records.advance_place(
                    self._unit_place, build_message(self._reply_fields), by_model=True
                )

    def count_call(self, call: str, arguments: Any) -> None:
        """Count the model's strings in a call whose arguments are not in the record of its reply.

        Args:
            call: The identifier of the call.
            arguments: The arguments as the model wrote them: a value, or its JSON.
        """
        with self._lock:
            call = str(self._call_ids.replace(call))
            call_hash = self._hash_strings("counted", call, self._reply_records.hash_value("call", arguments))
            if self._rewrite is None and call_hash not in self._counted_calls:
                self._counted_calls.add(call_hash)
                strings = self._find_hidden_strings(arguments, self._plan.make_reader(), ())
                self._tool_guesses.add_strings(
                    self._hash_strings("call", call), (self._hash_strings("string", text) for text in strings)
                )

    def count_call_name(self, call: str, name: str) -> None:
        """Count a tool's name that a model wrote into a call, unless ``declare_tools`` has it.

        Args:
            call: The identifier of the call.
            name: The name.
        """
        with self._lock:
            if self._rewrite is None and name not in self._tool_names:
                call, strings = str(self._call_ids.replace(call)), self._find_name_strings(name)
                self._tool_guesses.add_name_strings(
                    self._hash_strings("call", call), (self._hash_strings("string", text) for text in strings)
                )

    def declare_tools(self, names: Iterable[str]) -> None:
        """Add names of tools that the user sends with the messages: in a call they are no guesses.

        Any other name in a call counts like its arguments (``tool_guesses``): a client may answer that there is no
        tool of that name. In an exchange the names are valid for its reply alone.
        """
        with self._lock:
            self._tool_names = self._tool_names.union(names)

    def are_equal_arguments(self, one: Any, other: Any) -> bool:
        """Return whether two arguments of a call, each a value or its JSON, are equal."""
        return self._reply_records.hash_value("call", one) == self._reply_records.hash_value("call", other)

    def claim_reply(self, reply: Any) -> Any:
        """Return a reply, or an event of one, with the model's role in place of any other role.

        If the reply contains a result of a call, no result of this call shares the mapping: the model wrote that one.

        Raises:
            InputError: The reply has an item of a type that no API has.
        """
        with self._lock:
            ways = () if self._rewrite else (self._call_ids.replace,)
            return claim_reply(
                reply, lambda call: self._tool_guesses.exclude_result(self._hash_strings("call", call)), *ways
            )

    def exclude_tool_results(self) -> None:
        """Rewrite all later tool results without the mapping: a call has uncounted arguments."""
        with self._lock:
            self._tool_guesses.exclude_all_results()

    def save(self, path: str | Path, key_file: str | Path) -> None:
        """Write the conversation to a file, encrypted (AES-256-GCM), readable for its owner alone.

        Args:
            path: The file. Deleting it deletes the conversation.
            key_file: The key; created if it is missing. It must not be in the folder of ``path`` or below.

        Raises:
            CryptoUnavailable: The package ``cryptography`` is not installed.
            KeyFileError: The key is invalid, is in the wrong folder, or others may read it.
            OutputError: The file cannot be written.
            ConversationChanged: The file has another conversation, or another process continued and saved this one.
                Nothing is written, and no mapping is lost.
        """
        with self._lock:
            real_path = os.path.realpath(path)
            self._stamps[real_path] = encrypted_file.write_conversation(
                Path(path), key_file, self._encode_content(), self._stamps.get(real_path)
            )

    def _encode_content(self, **more: Any) -> bytes:
        content = {
            "bundle": self._sanitizer.bundle.content_hash,
            "options": self._options,
            "key": self._key.hex(),
            "draws": self._surrogate_state.export_state(),
            "sent": self._sent_messages,
            "fresh": self._unlinked_messages,
            "signed": self._signed_items,
            "begins": sorted(self._begin_hashes),
            "shared": self._shared_results,
            "records": self._reply_records.export_state(),
            "tests": self._tool_guesses.export_state(),
            "places": [self._reply_start, self._next_place],
            "ids": self._call_ids.export_state(),
            **more,
        }
        return encrypted_file.encode_content(content, self._estimate_size())

    def _estimate_size(self) -> int:
        """Estimate the JSON size of the conversation in characters, from text and list lengths."""
        sent = sum(len(written) + _PAIR_CHARACTERS * (1 + len(used)) for written, used in self._sent_messages.values())
        others = sum(len(text) for texts in (self._unlinked_messages, self._signed_items) for text in texts.values())
        return (
            sent
            + others
            + self._reply_records.count_characters()
            + self._call_ids.count_characters()
            + _PAIR_CHARACTERS * (len(self._begin_hashes) + self._tool_guesses.stored_count)
        )

    @classmethod
    def load(
        cls,
        path: str | Path,
        key_file: str | Path,
        sanitizer: Sanitizer | None = None,
        *,
        pass_through: Collection[str] = (),
        restore_tools: Collection[str] = (),
        restore_places: Collection[str] | str = (),
        restore_hosts: Collection[str] = (),
        rewrite: Callable[[str], str] | None = None,
    ) -> "Conversation":
        """Load a saved conversation, with the options of its creation, to continue it.

        Raises:
            InputError: The file is missing or unreadable, or is not a conversation of this version.
            KeyFileError: The key does not belong to the file, or the file was altered.
            IdentityMismatch: The conversation was rewritten with another bundle.
            CryptoUnavailable: The package ``cryptography`` is not installed.
        """
        options: dict[str, Any] = {
            "pass_through": pass_through,
            "restore_tools": restore_tools,
            "restore_places": restore_places,
            "restore_hosts": restore_hosts,
            "rewrite": rewrite,
        }
        content, stamp = encrypted_file.read_conversation(Path(path), key_file)
        conversation = cls._from_content(content, sanitizer, options)
        conversation._stamps[os.path.realpath(path)] = stamp
        return conversation

    def pack(self) -> bytes:
        """Return the conversation compressed to a tenth of its memory, for ``unpack``.

        Privacy:
            The bytes are not encrypted.
        """
        with self._lock:
            stamps = {real_path: stamp.hex() for real_path, stamp in self._stamps.items()}
            return zlib.compress(self._encode_content(stamps=stamps), 1)

    @classmethod
    def unpack(cls, packed: bytes, sanitizer: Sanitizer | None = None, **options: Any) -> "Conversation":
        """Continue a conversation from ``packed``.

        Args:
            packed: The result of ``packed``, from a trusted source only.
            sanitizer: As in ``load``.
            options: ``pass_through``, ``restore_tools``, ``restore_places``, ``restore_hosts`` and ``rewrite``, as in
                ``load``.
        """
        return cls._from_content(zlib.decompress(packed), sanitizer, options)

    @classmethod
    def _from_content(cls, encoded: bytes, sanitizer: Sanitizer | None, options: Mapping[str, Any]) -> "Conversation":
        content = json.loads(encoded)
        conversation = cls(sanitizer, **options, **content["options"])
        if conversation._sanitizer.bundle.content_hash != content["bundle"]:
            raise ContentHashMismatch("the conversation was rewritten with another bundle")
        conversation._use_key(bytes.fromhex(content["key"]))
        conversation._stamps.update((place, bytes.fromhex(stamp)) for place, stamp in content.get("stamps", {}).items())
        conversation._surrogate_state.restore_state(content["draws"])
        for message_tag, (written, used) in content["sent"].items():
            conversation._sent_messages[message_tag] = written, [SurrogatePair(*pair) for pair in used]
        conversation._unlinked_messages, conversation._signed_items = content["fresh"], content["signed"]
        conversation._begin_hashes, conversation._shared_results = set(content["begins"]), content["shared"]
        conversation._reply_records.restore_state(content["records"])
        conversation._tool_guesses = ToolGuesses.from_state(content["tests"])
        conversation._call_ids.restore_state(content.get("ids", {}))
        reply_start, next_place = (
            ConversationPlace(chain, tuple(recent), turn) for chain, recent, turn in content["places"]
        )
        conversation._expect_reply(reply_start)
        conversation._next_place = next_place
        return conversation

    def _use_key(self, key: bytes) -> None:
        """Set the key of all tags.

        The records get no method of this object: a reference cycle would delay freeing its memory.
        """
        self._key, self._reply_records = key, ReplyRecords(partial(_hash_parts, key))
        reader, names, plan = self._plan.make_reader, self._field_names, self._plan
        self._call_ids = CallIds(
            partial(_hash_parts, key),
            lambda text: bool(find_hidden_strings([text], reader(), plan, (), names.is_field, 1)),
        )

    def _expect_reply(self, place: ConversationPlace) -> None:
        """Set the place of the next reply, with no reply received yet."""
        self._reply_start = self._unit_place = self._next_place = place
        self._reply_owner: object = object()
        self._reply_fields: RecordedFields = {}
        self._reply_pairs: list[SurrogatePair] = []
        self._restored_values: list[tuple[str, list[SurrogatePair]]] = []

    def _check_messages(self, messages: list[Any]) -> list[str]:
        """Check all messages and return a tag for each of them; nothing is sampled.

        Raises:
            InputError: A message cannot be sent.
        """
        if not isinstance(messages, list):
            raise InputError("messages come in a list")
        checker = self._make_rewriter(lambda text: text, find_model_value=self._accept_restored_arguments)
        tags: list[str] = []
        previous: Any = [
            *(self._exchange_tags or ())
        ]  # with `rewrite`, the samples must not depend on equality of texts
        for number, message in enumerate(messages, 1):
            try:
                tags.append(previous := self._hash_value("message", [previous, message] if self._rewrite else message))
                if previous not in self._sent_messages:  # a known message has passed the check before
                    checker.rewrite_item(message)
            except (InputError, RecursionError) as error:
                reason = error if isinstance(error, InputError) else "it is nested too deeply"
                raise InputError(f"message {number} of {len(messages)}: {reason}") from None
        return tags

    def _prepare_messages(self, messages: list[Any], tags: list[str]) -> list[Any]:
        reader = self._plan.make_reader()  # lives for one call: its cache of a text is larger than the text
        senders = [classify_sender(message, self._pass_through) for message in messages]
        place, prepared, is_run = self._find_start(messages, senders, tags, reader), [], False
        runs, other_count = _measure_model_runs(messages, senders), 0
        for message, sender, message_tag, run in zip(messages, senders, tags, runs, strict=True):
            if sender == "model":
                is_run = self._reply_records.covers_whole_replies(place, run) if run else is_run
                sent = self._prepare_model_message(message, place, message_tag, reader, is_compared=is_run)
            elif sender == "tool" and not self._rewrite:
                sent = self._prepare_tool_results(message, place, self._make_resend_tag(place, message_tag), reader)
            else:
                other_count += sender == "other"
                sent = self._prepare_other_message(
                    message, self._make_resend_tag(place, message_tag, other_count * (sender == "other")), reader
                )
            prepared.append(sent)
            if sender != "other":
                other_count = 0
                place = self._reply_records.advance_place(place, sent, by_model=sender == "model")
        self._expect_reply(place)
        return prepared

    def _find_start(
        self, messages: list[Any], senders: list[str], tags: list[str], reader: NamesReader
    ) -> ConversationPlace:
        """Return the place of the first message.

        It is the root if the conversation began with this message, else the place after the last message.
        """
        if self._exchange_tags is not None:
            return self._origin
        first = next((number for number, sender in enumerate(senders) if sender in ("user", "tool")), None)
        begin_hash = None
        if first is not None and senders[first] == "user":
            sent = self._prepare_other_message(
                messages[first], self._make_resend_tag(ConversationPlace(), tags[first]), reader
            )
            begin_hash = self._hash_strings(
                "begin", encode_json([senders[:first].count("model"), sent], encode_sorted_json)
            )
        is_first, is_model_first = (
            not self._begin_hashes,
            next((sender for sender in senders if sender != "other"), "") == "model",
        )
        if is_first:
            self._begin_hashes.add(begin_hash or "")
        if is_first or begin_hash in self._begin_hashes:
            return ConversationPlace()
        return self._reply_start if is_model_first else self._next_place

    def _make_resend_tag(self, place: ConversationPlace, message_tag: str, number: int = 0) -> str:
        """Return the tag of a message for resending.

        With ``consistent=False`` the tag includes the place.
        """
        if self._rewrite or self._plan.style.consistent:
            return message_tag
        return self._hash_strings("alone", place.chain, message_tag, f"{number}")

    def _prepare_other_message(self, message: Any, message_tag: str, reader: NamesReader) -> Any:
        return json.loads(
            self._rewrite_once(
                message_tag,
                message,
                self._make_linked_rewriter(reader, model_rewriter=self._make_unlinked_rewriter(reader)).rewrite_item,
            )
        )

    def _prepare_model_message(
        self, message: Any, place: ConversationPlace, message_tag: str, reader: NamesReader, *, is_compared: bool
    ) -> Any:
        """Return a message under the model's name in the form to send.

        The result is the model's own text at this place, or has surrogates linked to no others.
        """
        record = self._reply_records.find_reply(place, message, is_compared=is_compared)
        for call_id, name, value in () if self._rewrite or "call" in record.model_values else iterate_calls(message):
            call, text = (
                self._hash_strings("call", call_id),
                encode_json([name, value]),
            )  # not restored at this place by this object
            count = len(self._find_hidden_strings(value, reader, ())) + len(self._find_name_strings(name))
            self._tool_guesses.add_strings(
                call, (self._hash_strings("own", call, text, f"{number}") for number in range(count))
            )
        queues = {kind: iter(values) for kind, values in record.model_values.items()}

        def take_model_value(field_class: str, value: Any) -> Any:
            if isinstance(value, str) and field_class != "call" and not value.strip():
                return value
            return next(queues.get(field_class, iter(())), None)

        rewriter = self._make_unlinked_rewriter(reader, find_model_value=take_model_value)
        if self._exchange_tags is not None and record.model_values:
            self._exchange_tags[record.key] = None
        if record.is_whole and not (isinstance(message, Mapping) and message.get("name")):
            return json.loads(encode_json(rewriter.rewrite_item(message)))
        if self._rewrite:
            return json.loads(self._rewrite_once(message_tag, message, rewriter.rewrite_item))
        resend_tag = self._hash_value("own", [record.key, sorted(record.model_values), message])
        if not record.is_open or resend_tag not in self._unlinked_messages:
            written = encode_json(rewriter.rewrite_item(message))
            if not record.is_open:
                return json.loads(written)
            self._store_unlinked(resend_tag, written)
        return json.loads(self._unlinked_messages[resend_tag])

    def _prepare_tool_results(
        self, message: Any, place: ConversationPlace, message_tag: str, reader: NamesReader
    ) -> Any:
        """Return a message with tool results.

        Each result is rewritten under the mapping as long as its call has few strings of the model's own.
        """
        calls = [self._hash_strings("call", call) for call in list_result_call_ids(message)]
        result_tag = self._hash_strings("result", place.chain, message_tag)
        if result_tag not in self._shared_results:
            self._shared_results[result_tag] = self._tool_guesses.may_share_mapping(calls)
        is_shared = self._shared_results[result_tag]
        if not is_shared:
            self.unshared_results += 1
            if result_tag in self._unlinked_messages:
                return json.loads(self._unlinked_messages[result_tag])

        def make_result_rewriter(call: str) -> MessageRewriter:
            call = self._hash_strings("call", call)
            pairs, model_words = self._tool_guesses.list_restored_pairs([call]), list[str]()
            if not (is_shared or self._tool_guesses.may_share_mapping([call])):
                model_words = (
                    self._tool_guesses.list_model_words([call])
                    if self._tool_guesses.hides_model_words([call])
                    else model_words
                )
                return self._make_unlinked_rewriter(
                    reader, OriginalMasks(pairs, self._plan, model_words, is_linked=False)
                )
            return self._make_linked_rewriter(reader, OriginalMasks(pairs, self._plan))

        rewriter = self._make_linked_rewriter(
            reader, model_rewriter=self._make_unlinked_rewriter(reader), make_result_rewriter=make_result_rewriter
        )
        if is_shared:
            restored = OriginalMasks(self._tool_guesses.list_restored_pairs(calls), self._plan).originals
            message_tag = self._hash_strings("masked", message_tag, *restored) if restored else message_tag
            return json.loads(self._rewrite_once(message_tag, message, rewriter.rewrite_item))
        if result_tag not in self._sent_messages:
            self._begin_message()
            written = encode_json(rewriter.rewrite_item(message))
            if not self._message_pairs:
                self._store_unlinked(result_tag, written)
                return json.loads(written)
            self._sent_messages[result_tag] = written, self._message_pairs
        return json.loads(self._rewrite_once(result_tag, message, rewriter.rewrite_item))

    def _store_unlinked(self, message_tag: str, written: str) -> None:
        self._unlinked_messages[message_tag] = written
        if len(self._unlinked_messages) > _MAX_UNLINKED_MESSAGES:
            del self._unlinked_messages[next(iter(self._unlinked_messages))]

    def _count_calls(self, message: Any, restored_values: list[tuple[str, list[SurrogatePair]]]) -> None:
        """Count the model's strings in tool calls, without the restored surrogates."""
        if self._rewrite:
            return
        reader, pairs_by_value = self._plan.make_reader(), dict[str, list[SurrogatePair]]()
        for encoded, pairs in restored_values:
            pairs_by_value.setdefault(encoded, []).extend(pairs)
        for call, name, value in iterate_calls(message):
            check_work()
            self._counted_calls.add(self._hash_strings("counted", call, self._reply_records.hash_value("call", value)))
            restored = list(dict.fromkeys(pairs_by_value.get(encode_json(value), ())))
            hidden = [*self._find_hidden_strings(value, reader, restored), *self._find_name_strings(name)]
            strings = (self._hash_strings("string", text) for text in hidden)
            model_words = [] if not restored else list_model_words(value, restored)
            model_words = [word for word in model_words if not is_function_word(word, self._plan)]
            self._tool_guesses.add_strings(self._hash_strings("call", call), strings, restored, model_words)

    def _find_hidden_strings(self, value: Any, reader: NamesReader, restored: Collection[SurrogatePair]) -> list[str]:
        """Return the hidden strings of arguments, without restored ones.

        Only strings whose equality is visible in the output count.
        """
        max_count = self._tool_guesses.limits[1] + 1
        return find_hidden_strings(value, reader, self._plan, restored, self._field_names.is_field, max_count)

    def _find_name_strings(self, name: str) -> list[str]:
        """Return the hidden strings of a tool's name, if a model wrote it.

        Only strings whose equality is visible in the output count.
        """
        if name in self._tool_names:
            return []
        return find_name_strings(name, self._plan.make_reader(), self._plan, self._field_names.is_field)

    def _rewrite_once(self, message_tag: str, message: Any, rewrite: Any) -> str:
        """Return the stored form of a message with a tag; sample it on the first call."""
        if message_tag not in self._sent_messages:
            self._begin_message()
            self._sent_messages[message_tag] = encode_json(rewrite(message)), self._message_pairs
        if self._exchange_tags is not None:
            self._exchange_tags[message_tag] = None
        return self._sent_messages[message_tag][0]

    def _begin_message(self) -> None:
        self._message_pairs = []
        if not self._plan.style.consistent:
            self._surrogate_state.forget_strings()

    @property
    def _restorer(self) -> Restorer:
        """The restorer for all messages so far, or those of an exchange.

        Each reply adds the messages since the last one.
        """
        sent_tags = self._sent_messages if self._exchange_tags is None else self._exchange_tags
        if self._cached_tag_count < len(sent_tags):
            self._cached_restorer.add_pairs(
                pair for tag in islice(sent_tags, self._cached_tag_count, None) for pair in self._get_pairs(tag)
            )
            self._cached_tag_count = len(sent_tags)
        return self._cached_restorer

    def _find_sent_numbers(self) -> set[str]:
        """Return the numbers of all sent messages, or of those of an exchange."""
        with self._lock:
            tags = [*(self._sent_messages if self._exchange_tags is None else self._exchange_tags)]
            sent = [self._sent_messages[tag][0] for tag in tags if tag in self._sent_messages]
        return set().union(*map(find_numbers, sent))

    def _get_pairs(self, message_tag: str) -> list[SurrogatePair]:
        return (
            self._sent_messages[message_tag][1]
            if message_tag in self._sent_messages
            else self._reply_records.get_pairs(message_tag)
        )

    def _make_rewriter(self, rewrite_text: Callable[[str], str], **options: Any) -> MessageRewriter:
        """Return a rewriter of messages."""
        put_back = self._call_ids.put_back
        return MessageRewriter(
            rewrite_text,
            self._find_signed_item,
            self._field_names.find_fields,
            self._pass_through,
            put_id_back=put_back,
            **options,
        )

    def _make_linked_rewriter(
        self, reader: NamesReader, masks: OriginalMasks | None = None, **options: Any
    ) -> MessageRewriter:
        """Return a rewriter of messages with equal surrogates for the conversation's equal strings."""
        rewrite_key = self._make_text_rewriter(self._make_key_reader(reader), masks)
        return self._make_rewriter(self._make_text_rewriter(reader, masks), rewrite_key=rewrite_key, **options)

    def _make_unlinked_rewriter(
        self, reader: NamesReader, masks: OriginalMasks | None = None, **options: Any
    ) -> MessageRewriter:
        """Return a rewriter for text under the model's name, with unlinked surrogates."""
        if self._rewrite:
            return self._make_rewriter(self._rewrite, **options)
        rewrite_key = partial(self._rewrite_unlinked, reader=self._make_key_reader(reader), masks=masks)
        return self._make_rewriter(
            partial(self._rewrite_unlinked, reader=reader, masks=masks), rewrite_key=rewrite_key, **options
        )

    def _make_key_reader(self, reader: NamesReader) -> NamesReader:
        return reader if "person" in self._plan.style.keep else KeyReader(reader)

    def _make_text_rewriter(
        self, reader: NamesReader | None = None, masks: OriginalMasks | None = None
    ) -> Callable[[str], str]:
        reader = self._plan.make_reader() if reader is None else reader
        return self._rewrite or (lambda text: self._rewrite_linked(text, reader, masks))

    def _rewrite_linked(self, text: str, reader: NamesReader, masks: OriginalMasks | None = None) -> str:
        swap = find_swap(self._sanitizer.bundle.characters_json, [text]) or NO_SWAP
        text = swap.replace_characters(text)
        is_forced = isinstance(reader, KeyReader) and reader.is_forced(text)
        if masks is not None and masks.originals:
            read, pairs_of_originals = masks.read_masked(text, reader)
            self._message_pairs += pairs_of_originals
            return self._write_surrogates(read, swap, masks, link=bool(pairs_of_originals) or not is_forced)
        if self._plan.detector is not None or isinstance(reader, KeyReader):
            return self._write_surrogates(reader.read_texts([text])[0], swap, link=not is_forced)
        stream = reader.stream_text(text)
        written, pairs = write_with_pairs(self._surrogate_state.rewrite_stream(stream))
        self._count_words(stream)
        self._message_pairs += _restore_characters(pairs, swap)
        return swap.restore_characters(written)

    def _rewrite_unlinked(self, text: str, reader: NamesReader, masks: OriginalMasks | None = None) -> str:
        swap = find_swap(self._sanitizer.bundle.characters_json, [text]) or NO_SWAP
        text = swap.replace_characters(text)
        is_masked = masks is not None and bool(masks.originals)
        entries = (
            masks.read_masked(text, reader)[0].elements if masks is not None and is_masked else reader.stream_text(text)
        )
        read = self._plan.hide_context_words(entries)
        return self._join_pieces(self._surrogate_state.rewrite_unlinked(read), swap)

    def _count_words(self, read: ReadText | ReadTextStream) -> None:
        kept, replaced = self._kept_words
        self._kept_words = KeptWords(kept + read.kept_count, replaced + read.replaced_words)

    def _write_surrogates(
        self, read: ReadText, swap: CharacterSwap = NO_SWAP, masks: OriginalMasks | None = None, *, link: bool = True
    ) -> str:
        self._count_words(read)
        pieces = (
            self._surrogate_state.rewrite(read) if link else [*self._surrogate_state.rewrite_unlinked(read.elements)]
        )
        pieces = pieces if masks is None else masks.put_surrogates(pieces)
        self._message_pairs += _restore_characters(write_with_pairs(pieces)[1], swap)
        return self._join_pieces(pieces, swap)

    def _join_pieces(self, pieces: Iterable[RewrittenElement], swap: CharacterSwap) -> str:
        if self._plan.detector is None:
            return swap.restore_characters("".join(piece.output for piece in pieces))
        pieces = [*pieces]
        written = swap.restore_characters("".join(piece.output for piece in pieces))
        ends = [*accumulate(len(piece.output) for piece in pieces)]
        kept = [(end - len(piece.output), end) for piece, end in zip(pieces, ends, strict=True) if piece.mention]
        return hide_detected_spans(written, self._plan.detector, kept)

    def _store_restored(self, restored: Any, written: Any, pairs: list[SurrogatePair]) -> None:
        """Store the pairs that restored a text or value of a reply, and signed items."""
        if is_signed(written):
            self._signed_items[self._hash_value("signed", restored)] = encode_json(written)
        else:
            self._restored_values.append((encode_json(written), [*pairs]))

    def _find_signed_item(self, item: Any) -> Any:
        encoded = self._signed_items.get(self._hash_value("signed", item))
        return None if encoded is None else json.loads(encoded)

    def _accept_restored_arguments(self, field_class: str, value: Any) -> Any:
        """Return arguments of a model unchecked if some call was restored to them, else ``None``.

        Only the place of a call decides how its arguments are sent.
        """
        return value if field_class == "call" and self._reply_records.has_call(value) else None

    def _hash_strings(self, use: str, *parts: str) -> str:
        return _hash_parts(self._key, use, *parts)

    def _hash_value(self, use: str, value: Any) -> str:
        encoded, encoded_pass_through = (
            encode_json(value, encode_sorted_json).encode(),
            encode_json(sorted(self._pass_through)).encode(),
        )
        return compute_tag(self._key, use, encoded, encoded_pass_through).hex()


def _hash_parts(key: bytes, use: str, *parts: str) -> str:
    return compute_tag(key, use, *(part.encode("utf-8", "surrogatepass") for part in parts)).hex()


def _restore_characters(pairs: list[SurrogatePair], swap: CharacterSwap) -> list[SurrogatePair]:
    """Return pairs with the user's characters in place of stand-ins, as in the sanitized text."""
    if swap is NO_SWAP:
        return pairs
    return [
        pair._replace(
            original=swap.restore_characters(pair.original),
            before=pair.before if pair.after is None else swap.restore_characters(pair.before),
            after=None if pair.after is None else swap.restore_characters(pair.after),
        )
        for pair in pairs
    ]


def _measure_model_runs(messages: list[Any], senders: list[str]) -> list[int]:
    """Return the length of each run of model messages at its first message, and 0 elsewhere."""
    runs, first = [0] * len(messages), None
    for number, (message, sender) in enumerate(zip(messages, senders, strict=True)):
        if sender == "model" and next(iterate_model_fields(message), None) is not None:
            first = number if first is None else first
            runs[first] += 1
        elif sender in ("user", "tool"):
            first = None
    return runs


def _iterate_tags(history: ExchangeHistory | None) -> Iterator[str]:
    while history is not None:
        yield from history.tags
        history = history.previous
