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

from textveil.conversation import file
from textveil.conversation.call_ids import CallIds
from textveil.conversation.field_names import FieldNames, KeyReader
from textveil.conversation.incoming import Incoming, Reader, ReplyStream
from textveil.conversation.masks import Masks, is_function_word
from textveil.conversation.reply_records import (
    Fields,
    Place,
    ReplyRecords,
    calls_of,
    is_item,
    message_of,
    own_fields,
    units_of,
)
from textveil.conversation.reply_roles import claim_reply
from textveil.conversation.reply_view import ReplyView
from textveil.conversation.shapes import IN_ORDER, Messages, dumped, is_signed, results_of, sender_of
from textveil.conversation.tool_guesses import MOST_A_CALL, MOST_IN_ALL, ToolGuesses
from textveil.conversation.written_strings import hidden_strings, name_strings, own_words
from textveil.errors import IdentityMismatch, InputError, OptionError
from textveil.ledger.keys import tag
from textveil.release import KeptWords
from textveil.sequences import require_string
from textveil.text.forms import Pair
from textveil.text.names.also import hide
from textveil.text.names.kinds import CALLED_BY_OTHERS, Piece, called
from textveil.text.names.read import Read, ReadStream, TextReader
from textveil.text.names.reply_pairs import write
from textveil.text.names.running import Running
from textveil.text.reply_numbers import find_numbers
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy
from textveil.text.sanitizer import Sanitizer
from textveil.text.stand_ins import NO_SWAP, Swap, swap_of
from textveil.work_limits import check_work

#: Cap of stored texts that stay equal on resending although nothing of them is restored, such as changed replies.
#: Texts beyond the cap, the oldest ones first, get new surrogates.
_MOST_FRESH = 4_096
#: Approximate JSON characters of one pair, with all other data stored for it, and of one tag.
_OF_A_PAIR = 128


class Went(NamedTuple):
    """The messages of an exchange, to continue from in another exchange.

    Attributes:
        tags: Tags of its messages.
        before: The messages of the exchanges before this one, or ``None``.
        place: Place of the next message.
    """

    tags: tuple[str, ...] = ()
    before: "Went | None" = None
    place: Place = Place()


_OPTIONS = frozenset("protect consistent consistent_cap style keep tag drop allow deny".split())


class Conversation:
    """A conversation with a model, in the mode ``names``: equal strings get equal surrogates.

    The mapping is the same for all of its messages. Several threads may use it, each with an ``exchange`` of its own.
    Its ``repr`` contains nothing of it, and it cannot be pickled.

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
        unshared: Number of tool results sent without the mapping, in an exchange.

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
        tool_guesses: tuple[int, int] = (MOST_A_CALL, MOST_IN_ALL),
        **options: Any,
    ) -> None:
        for given, name in ((pass_through, "pass_through"), (restore_tools, "restore_tools")):
            if isinstance(given, str) or not all(isinstance(entry, str) for entry in given):
                raise OptionError(f"{name} takes a collection of names")
        one = options.setdefault("protect", "names") == "names" and options.get("consistent", True) in (True, False)
        if not one or not set(options) <= _OPTIONS:
            raise OptionError(
                f'a conversation has protect="names", and takes {", ".join(sorted(_OPTIONS))}; for the '
                "rungs words and all, and for other options, rewrite each message by itself with Sanitizer or Ledger"
            )
        self._sanitizer = Sanitizer.load() if sanitizer is None else sanitizer
        self._options = {name: sorted(v) if isinstance(v, set | frozenset) else v for name, v in options.items()}
        self._plan = self._sanitizer.names_plan(**options)
        self._running = Running(self._plan.style, self._plan.surrogates, self._plan.lists.common)
        lists = self._plan.lists
        given, family = lists.kinds["given"], lists.kinds["family"]
        self._field_names = FieldNames(lists.common, given, family, self._plan.allowed, self._plan.denied)
        self._pass_through, self._restore_tools = frozenset(pass_through), frozenset(restore_tools)
        self._policy = RestorePolicy.parse(restore_places, restore_hosts)
        self._rewrite = rewrite
        self._use_key(os.urandom(32))
        #: For each file that this object read or wrote: a stamp that detects later versions by other writers.
        self._stamps: dict[str, bytes] = {}
        self._restores, self._added = Restorer(), 0
        self._kept_words = KeptWords()
        self._found: list[Pair] = []
        #: For each tag: the sent message, and the pairs that a reply may mention; `_fresh`: messages without restoring.
        self._sent: dict[str, tuple[str, list[Pair]]] = {}
        self._fresh: dict[str, str] = {}
        #: Items signed by a provider; first messages of the conversation.
        self._signed: dict[str, str] = {}
        self._begins: set[str] = set()
        self._shared: dict[str, bool] = {}
        guesses = ToolGuesses(tool_guesses)
        self._tests = guesses if self._plan.style.consistent else ToolGuesses((0, 0))
        #: Hashes of the call arguments that are counted.
        self._counted: set[str] = set()
        #: Names of tools from the user, not from the model.
        self._tool_names = self._restore_tools
        self._lock = RLock()
        self.unshared = 0
        #: Tags of the messages of an exchange; their number before it, and the exchange that it continues.
        self._through: dict[str, None] | None = None
        self._after: tuple[int, Went | None] = 0, None
        self._origin = Place()
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

    def exchange(self, after: "Went | None" = None) -> "Conversation":
        """Return this conversation for one request and its reply.

        The exchange restores only surrogates of messages sent through it, including messages already sent before, and
        no others of the conversation.

        Args:
            after: ``went`` of the exchange that this one continues, for a provider that stores its messages.
        """
        with self._lock:
            part = object.__new__(type(self))
            part.__dict__.update(self.__dict__)
            part._through = dict.fromkeys(_tags(after))
            part._after = len(part._through), after
            part._restores, part._added, part.unshared = Restorer(), 0, 0
            part._counted = set()
            part._origin = Place() if after is None else after.place
            part._expect_reply(part._origin)
            part._kept_words = KeptWords()
            return part

    @property
    def kept_words(self) -> KeptWords:
        """The numbers of kept words and of replaced words on no list, in the rewritten texts.

        In an exchange: the texts that its request was the first to send. Both numbers follow from the template.
        """
        return self._kept_words

    @property
    def went(self) -> "Went":
        """The messages sent through an exchange, or the whole conversation, as tags.

        It links to the exchange before.
        """
        with self._lock:
            known, after = self._after
            tags = tuple(islice(self._sent if self._through is None else self._through, known, None))
            return Went(tags, after, self._next)

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
            tags = self._check(messages)
            return self._send_all(messages, tags)

    def outgoing_text(self, text: str, kind: str | None = None) -> str:
        """Return a text in the form to send; an equal text has an equal result.

        With ``rewrite`` or ``consistent=False`` it is sampled anew each time.

        Args:
            text: The text.
            kind: Entity type of the whole text according to a detector: ``person``, ``city``, ``organization``,
                ``group`` or ``word``. The text becomes one entity, even if the mode would keep it.

        Raises:
            InputError: The text is not a string.
            OptionError: The type is none of these.
        """
        require_string(text)
        with self._lock:
            return self._outgoing_text(text, kind)

    def _outgoing_text(self, text: str, kind: str | None) -> str:
        if self._rewrite and kind is None:
            return self._rewrite(text)
        # With consistent=False even equal texts get independent surrogates
        number = 0 if self._plan.style.consistent else len(self._sent) + 1
        if kind is None or not text.strip():
            known = self._tag("message", [number, text] if number else text)
            return json.loads(self._once(known, text, self._rewriter()))
        if kind not in CALLED_BY_OTHERS:
            raise OptionError(f"a text is called one of {', '.join(sorted(CALLED_BY_OTHERS))}")
        known = self._tag("message", [kind, text, *([number] * bool(number))])
        return json.loads(self._once(known, text, lambda _: self._written(Read([called(kind, text)], 0))))

    def outgoing_unlinked(self, text: str) -> str:
        """Return a text of the model that someone changed, such as a file, in the form to send.

        Each hidden word gets its own surrogate, even if two are equal, and nothing of the text is restored later. All
        numbers are hidden, and all words except common words in lower case, in any context.

        Raises:
            InputError: The text is not a string.
        """
        require_string(text)
        with self._lock:
            return self._rewrite(text) if self._rewrite else self._write_unlinked(text, self._plan.reader())

    def incoming(self, reply: Any, *, record: bool = True, beside: Any = None) -> Incoming:
        """Return a reply with the originals in place of surrogates.

        Args:
            reply: A text; a message, or a list of parts or items, as dictionaries. Unknown fields stay.
            record: Whether this is the whole reply to the last messages; otherwise call ``record_reply``. A reply that
                is not recorded is not resent as the model wrote it. Of two replies to the same messages neither is.
            beside: Other parts of the reply that a client may show with it. They stay unchanged, and nothing is
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
                reader = Reader(restorer, self._remember, self._restore_tools, self._policy, numbers)
                found = reader.read(reply, beside)
            except RecursionError:
                raise InputError("the reply is nested too deeply") from None
            if record:
                self.record_reply(reply, found.reply)
            return found

    def stream(self, *, record: bool = True) -> ReplyStream:
        """Return a stream that restores one text of a reply while it arrives.

        Args:
            record: Whether the text is a part of the reply to the last messages; see ``incoming``.
        """

        def remember(restored: Any, written: Any, used: list[Pair]) -> None:
            with self._lock:
                self._remember(restored, written, used)
                if record:
                    self._record(written, restored, is_part=True)

        with self._lock:
            return ReplyStream(self._restorer.index, remember, self._policy, cache(self._find_sent_numbers))

    def view(self) -> ReplyView:
        """Return a tracker for the texts of one reply that a client may show together."""
        return ReplyView(self._policy)

    def record_reply(self, written: Any, restored: Any) -> None:
        """Record a reply to the last messages so that resending can return the model's own text.

        Of several different replies, such as the choices of one request, none can be resent.

        Args:
            written: The reply as the model wrote it.
            restored: The reply as the client gets it.
        """
        self._record(written, restored, is_part=False)

    def _record(self, written: Any, restored: Any, *, is_part: bool) -> None:
        with self._lock:
            pieces, self._pieces = self._pieces, []
            self._used += [pair for _, used in pieces for pair in used]
            for one, other in zip(units_of(written), units_of(restored), strict=True):
                if is_item(one) and self._fields:
                    self._unit, self._fields, self._used = self._next, {}, [pair for _, used in pieces for pair in used]
                before, after = [*own_fields(one)], [*own_fields(other)]
                if len(before) != len(after):  # only if restoring left a text empty
                    continue
                fields: Fields = {}
                for (kind, text), (_, value) in zip(before, after, strict=True):
                    fields.setdefault(kind, []).append((self._records.fold(kind, value), dumped(text)))
                again = not is_part and not fields.keys().isdisjoint(self._fields)
                self._count_calls(one, pieces)
                if again and any(fields[kind] != self._fields.get(kind) for kind in fields):
                    self._records.close(self._unit)
                if again or not fields:
                    continue
                for kind, found in fields.items():
                    self._fields.setdefault(kind, []).extend(found)
                self._records.add(self._unit, {**self._fields}, [*self._used], begin=self._end, owner=self._owner)
                self._next = self._records.place_after(self._unit, message_of(self._fields), by_model=True)

    def count_call(self, call: str, arguments: Any) -> None:
        """Count the model's strings in a call whose arguments are not in the record of its reply.

        Args:
            call: The identifier of the call.
            arguments: The arguments as the model wrote them: a value, or its JSON.
        """
        with self._lock:
            call = str(self._ids.replace(call))
            known = self._hashed("counted", call, self._records.fold("call", arguments))
            if self._rewrite is None and known not in self._counted:
                self._counted.add(known)
                strings = self._hidden_strings(arguments, self._plan.reader(), ())
                self._tests.add(self._hashed("call", call), (self._hashed("string", text) for text in strings))

    def count_call_name(self, call: str, name: str) -> None:
        """Count a tool's name that a model wrote into a call, unless ``declare_tools`` has it.

        Args:
            call: The identifier of the call.
            name: The name.
        """
        with self._lock:
            if self._rewrite is None and name not in self._tool_names:
                call, strings = str(self._ids.replace(call)), self._name_strings(name)
                self._tests.add_name(self._hashed("call", call), (self._hashed("string", text) for text in strings))

    def declare_tools(self, names: Iterable[str]) -> None:
        """Add names of tools that the user sends with the messages: in a call they are no guesses.

        Any other name in a call counts like its arguments (``tool_guesses``): a client may answer that there is no
        tool of that name. In an exchange the names are valid for its reply alone.
        """
        with self._lock:
            self._tool_names = self._tool_names.union(names)

    def has_same_arguments(self, one: Any, other: Any) -> bool:
        """Return whether two arguments of a call, each a value or its JSON, are equal."""
        return self._records.fold("call", one) == self._records.fold("call", other)

    def claim_reply(self, reply: Any) -> Any:
        """Return a reply, or an event of one, with the model's role in place of any other role.

        If the reply contains a result of a call, no result of this call shares the mapping: the model wrote that one.

        Raises:
            InputError: The reply has an item of a type that no API has.
        """
        with self._lock:
            ways = () if self._rewrite else (self._ids.replace,)
            return claim_reply(reply, lambda call: self._tests.refuse(self._hashed("call", call)), *ways)

    def close_tool_results(self) -> None:
        """Rewrite all later tool results without the mapping: a call has uncounted arguments."""
        with self._lock:
            self._tests.close()

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
            place = os.path.realpath(path)
            self._stamps[place] = file.write(Path(path), key_file, self._content(), self._stamps.get(place))

    def _content(self, **more: Any) -> bytes:
        content = {
            "bundle": self._sanitizer.bundle.identity,
            "options": self._options,
            "key": self._key.hex(),
            "draws": self._running.state(),
            "sent": self._sent,
            "fresh": self._fresh,
            "signed": self._signed,
            "begins": sorted(self._begins),
            "shared": self._shared,
            "records": self._records.state(),
            "tests": self._tests.state(),
            "places": [self._end, self._next],
            "ids": self._ids.state(),
            **more,
        }
        return file.encode(content, self._estimate_size())

    def _estimate_size(self) -> int:
        """Estimate the JSON size of the conversation in characters, from text and list lengths."""
        sent = sum(len(written) + _OF_A_PAIR * (1 + len(used)) for written, used in self._sent.values())
        others = sum(len(text) for texts in (self._fresh, self._signed) for text in texts.values())
        return (
            sent
            + others
            + self._records.count_characters()
            + self._ids.count_characters()
            + _OF_A_PAIR * (len(self._begins) + self._tests.count)
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
        given: dict[str, Any] = {
            "pass_through": pass_through,
            "restore_tools": restore_tools,
            "restore_places": restore_places,
            "restore_hosts": restore_hosts,
            "rewrite": rewrite,
        }
        content, stamp = file.read(Path(path), key_file)
        found = cls._of(content, sanitizer, given)
        found._stamps[os.path.realpath(path)] = stamp
        return found

    def packed(self) -> bytes:
        """Return the conversation compressed to a tenth of its memory, for ``unpacked``.

        Privacy:
            The bytes are not encrypted.
        """
        with self._lock:
            stamps = {place: stamp.hex() for place, stamp in self._stamps.items()}
            return zlib.compress(self._content(stamps=stamps), 1)

    @classmethod
    def unpacked(cls, packed: bytes, sanitizer: Sanitizer | None = None, **given: Any) -> "Conversation":
        """Continue a conversation from ``packed``.

        Args:
            packed: The result of ``packed``, from a trusted source only.
            sanitizer: As in ``load``.
            given: ``pass_through``, ``restore_tools``, ``restore_places``, ``restore_hosts`` and ``rewrite``, as in
                ``load``.
        """
        return cls._of(zlib.decompress(packed), sanitizer, given)

    @classmethod
    def _of(cls, said: bytes, sanitizer: Sanitizer | None, given: Mapping[str, Any]) -> "Conversation":
        content = json.loads(said)
        found = cls(sanitizer, **given, **content["options"])
        if found._sanitizer.bundle.identity != content["bundle"]:
            raise IdentityMismatch("the conversation was rewritten with another bundle")
        found._use_key(bytes.fromhex(content["key"]))
        found._stamps.update((place, bytes.fromhex(stamp)) for place, stamp in content.get("stamps", {}).items())
        found._running.go_on(content["draws"])
        for known, (written, used) in content["sent"].items():
            found._sent[known] = written, [Pair(*pair) for pair in used]
        found._fresh, found._signed = content["fresh"], content["signed"]
        found._begins, found._shared = set(content["begins"]), content["shared"]
        found._records.restore_state(content["records"])
        found._tests = ToolGuesses.of_state(content["tests"])
        found._ids.restore_state(content.get("ids", {}))
        end, after = (Place(chain, tuple(recent), turn) for chain, recent, turn in content["places"])
        found._expect_reply(end)
        found._next = after
        return found

    def _use_key(self, key: bytes) -> None:
        """Set the key of all tags.

        The records get no method of this object: a reference cycle would delay freeing its memory.
        """
        self._key, self._records = key, ReplyRecords(partial(_hash_parts, key))
        reader, names, plan = self._plan.reader, self._field_names, self._plan
        self._ids = CallIds(
            partial(_hash_parts, key), lambda text: bool(hidden_strings([text], reader(), plan, (), names.is_field, 1))
        )

    def _expect_reply(self, place: Place) -> None:
        """Set the place of the next reply, with no reply received yet."""
        self._end = self._unit = self._next = place
        self._owner: object = object()
        self._fields: Fields = {}
        self._used: list[Pair] = []
        self._pieces: list[tuple[str, list[Pair]]] = []

    def _check(self, messages: list[Any]) -> list[str]:
        """Check all messages and return a tag for each of them; nothing is sampled.

        Raises:
            InputError: A message cannot be sent.
        """
        if not isinstance(messages, list):
            raise InputError("messages come in a list")
        checks = self._messages(lambda text: text, own=self._as_restored)
        tags: list[str] = []
        before: Any = [*(self._through or ())]  # with `rewrite`, the samples must not depend on equality of texts
        for number, message in enumerate(messages, 1):
            try:
                tags.append(before := self._tag("message", [before, message] if self._rewrite else message))
                if before not in self._sent:  # a known message has passed the check before
                    checks.item(message)
            except (InputError, RecursionError) as error:
                why = error if isinstance(error, InputError) else "it is nested too deeply"
                raise InputError(f"message {number} of {len(messages)}: {why}") from None
        return tags

    def _send_all(self, messages: list[Any], tags: list[str]) -> list[Any]:
        reader = self._plan.reader()  # lives for one call: its cache of a text is larger than the text
        senders = [sender_of(message, self._pass_through) for message in messages]
        place, found, is_run = self._start(messages, senders, tags, reader), [], False
        runs, others = _runs(messages, senders), 0
        for message, sender, known, run in zip(messages, senders, tags, runs, strict=True):
            if sender == "model":
                is_run = self._records.is_whole_run(place, run) if run else is_run
                sent = self._send_own(message, place, known, reader, is_compared=is_run)
            elif sender == "tool" and not self._rewrite:
                sent = self._send_results(message, place, self._known_at(place, known), reader)
            else:
                others += sender == "other"
                sent = self._send_other(message, self._known_at(place, known, others * (sender == "other")), reader)
            found.append(sent)
            if sender != "other":
                others = 0
                place = self._records.place_after(place, sent, by_model=sender == "model")
        self._expect_reply(place)
        return found

    def _start(self, messages: list[Any], senders: list[str], tags: list[str], reader: TextReader) -> Place:
        """Return the place of the first message.

        It is the root if the conversation began with this message, else the place after the last message.
        """
        if self._through is not None:
            return self._origin
        first = next((number for number, sender in enumerate(senders) if sender in ("user", "tool")), None)
        begin = None
        if first is not None and senders[first] == "user":
            sent = self._send_other(messages[first], self._known_at(Place(), tags[first]), reader)
            begin = self._hashed("begin", dumped([senders[:first].count("model"), sent], IN_ORDER))
        is_first, own = not self._begins, next((sender for sender in senders if sender != "other"), "") == "model"
        if is_first:
            self._begins.add(begin or "")
        if is_first or begin in self._begins:
            return Place()
        return self._end if own else self._next

    def _known_at(self, place: Place, known: str, number: int = 0) -> str:
        """Return the tag of a message for resending.

        With ``consistent=False`` the tag includes the place.
        """
        if self._rewrite or self._plan.style.consistent:
            return known
        return self._hashed("alone", place.chain, known, f"{number}")

    def _send_other(self, message: Any, known: str, reader: TextReader) -> Any:
        return json.loads(self._once(known, message, self._linked(reader, of_model=self._unlinked(reader)).item))

    def _send_own(self, message: Any, place: Place, known: str, reader: TextReader, *, is_compared: bool) -> Any:
        """Return a message under the model's name in the form to send.

        The result is the model's own text at this place, or has surrogates linked to no others.
        """
        found = self._records.find(place, message, is_compared=is_compared)
        for one, name, value in () if self._rewrite or "call" in found.written else calls_of(message):
            call, text = self._hashed("call", one), dumped([name, value])  # not restored at this place by this object
            count = len(self._hidden_strings(value, reader, ())) + len(self._name_strings(name))
            self._tests.add(call, (self._hashed("own", call, text, f"{number}") for number in range(count)))
        queues = {kind: iter(values) for kind, values in found.written.items()}

        def own(kind: str, value: Any) -> Any:
            if isinstance(value, str) and kind != "call" and not value.strip():
                return value
            return next(queues.get(kind, iter(())), None)

        of_model = self._unlinked(reader, own=own)
        if self._through is not None and found.written:
            self._through[found.key] = None
        if found.is_whole and not (isinstance(message, Mapping) and message.get("name")):
            return json.loads(dumped(of_model.item(message)))
        if self._rewrite:
            return json.loads(self._once(known, message, of_model.item))
        again = self._tag("own", [found.key, sorted(found.written), message])
        if not found.is_open or again not in self._fresh:
            written = dumped(of_model.item(message))
            if not found.is_open:
                return json.loads(written)
            self._keep_fresh(again, written)
        return json.loads(self._fresh[again])

    def _send_results(self, message: Any, place: Place, known: str, reader: TextReader) -> Any:
        """Return a message with tool results.

        Each result is rewritten under the mapping as long as its call has few strings of the model's own.
        """
        calls = [self._hashed("call", call) for call in results_of(message)]
        here = self._hashed("result", place.chain, known)
        if here not in self._shared:
            self._shared[here] = self._tests.are_shared(calls)
        shared = self._shared[here]
        if not shared:
            self.unshared += 1
            if here in self._fresh:
                return json.loads(self._fresh[here])

        def of_result(call: str) -> Messages:
            call = self._hashed("call", call)
            pairs, own = self._tests.restored_into([call]), list[str]()
            if not (shared or self._tests.are_shared([call])):
                own = self._tests.own_words([call]) if self._tests.are_own_hidden([call]) else own
                return self._unlinked(reader, Masks(pairs, self._plan, own, is_linked=False))
            return self._linked(reader, Masks(pairs, self._plan))

        rewrites = self._linked(reader, of_model=self._unlinked(reader), of_result=of_result)
        if shared:
            restored = Masks(self._tests.restored_into(calls), self._plan).originals
            known = self._hashed("masked", known, *restored) if restored else known
            return json.loads(self._once(known, message, rewrites.item))
        if here not in self._sent:
            self._begin_message()
            written = dumped(rewrites.item(message))
            if not self._found:
                self._keep_fresh(here, written)
                return json.loads(written)
            self._sent[here] = written, self._found
        return json.loads(self._once(here, message, rewrites.item))

    def _keep_fresh(self, known: str, written: str) -> None:
        self._fresh[known] = written
        if len(self._fresh) > _MOST_FRESH:
            del self._fresh[next(iter(self._fresh))]

    def _count_calls(self, written: Any, pieces: list[tuple[str, list[Pair]]]) -> None:
        """Count the model's strings in tool calls, without the restored surrogates."""
        if self._rewrite:
            return
        reader, used = self._plan.reader(), dict[str, list[Pair]]()
        for known, of_piece in pieces:
            used.setdefault(known, []).extend(of_piece)
        for call, name, value in calls_of(written):
            check_work()
            self._counted.add(self._hashed("counted", call, self._records.fold("call", value)))
            restored = list(dict.fromkeys(used.get(dumped(value), ())))
            hidden = [*self._hidden_strings(value, reader, restored), *self._name_strings(name)]
            strings = (self._hashed("string", text) for text in hidden)
            own = [] if not restored else own_words(value, restored)
            own = [word for word in own if not is_function_word(word, self._plan)]
            self._tests.add(self._hashed("call", call), strings, restored, own)

    def _hidden_strings(self, value: Any, reader: TextReader, restored: Collection[Pair]) -> list[str]:
        """Return the hidden strings of arguments, without restored ones.

        Only strings whose equality is visible in the output count.
        """
        most = self._tests.limits[1] + 1
        return hidden_strings(value, reader, self._plan, restored, self._field_names.is_field, most)

    def _name_strings(self, name: str) -> list[str]:
        """Return the hidden strings of a tool's name, if a model wrote it.

        Only strings whose equality is visible in the output count.
        """
        if name in self._tool_names:
            return []
        return name_strings(name, self._plan.reader(), self._plan, self._field_names.is_field)

    def _once(self, known: str, message: Any, rewrite: Any) -> str:
        """Return the stored form of a message with a tag; sample it on the first call."""
        if known not in self._sent:
            self._begin_message()
            self._sent[known] = dumped(rewrite(message)), self._found
        if self._through is not None:
            self._through[known] = None
        return self._sent[known][0]

    def _begin_message(self) -> None:
        self._found = []
        if not self._plan.style.consistent:
            self._running.forget_strings()

    @property
    def _restorer(self) -> Restorer:
        """The restorer for all messages so far, or those of an exchange.

        Each reply adds the messages since the last one.
        """
        went = self._sent if self._through is None else self._through
        if self._added < len(went):
            self._restores.add(pair for tag in islice(went, self._added, None) for pair in self._pairs_of(tag))
            self._added = len(went)
        return self._restores

    def _find_sent_numbers(self) -> set[str]:
        """Return the numbers of all sent messages, or of those of an exchange."""
        with self._lock:
            tags = [*(self._sent if self._through is None else self._through)]
            sent = [self._sent[tag][0] for tag in tags if tag in self._sent]
        return set().union(*map(find_numbers, sent))

    def _pairs_of(self, tag: str) -> list[Pair]:
        return self._sent[tag][1] if tag in self._sent else self._records.used_at(tag)

    def _messages(self, text: Callable[[str], str], **ways: Any) -> Messages:
        """Return a rewriter of messages."""
        put_back = self._ids.put_back
        return Messages(
            text, self._as_signed, self._field_names.find_fields, self._pass_through, put_id_back=put_back, **ways
        )

    def _linked(self, reader: TextReader, masks: Masks | None = None, **ways: Any) -> Messages:
        """Return a rewriter of messages with equal surrogates for the conversation's equal strings."""
        rewrite_key = self._rewriter(self._key_reader(reader), masks)
        return self._messages(self._rewriter(reader, masks), rewrite_key=rewrite_key, **ways)

    def _unlinked(self, reader: TextReader, masks: Masks | None = None, **ways: Any) -> Messages:
        """Return a rewriter for text under the model's name, with unlinked surrogates."""
        if self._rewrite:
            return self._messages(self._rewrite, **ways)
        rewrite_key = partial(self._write_unlinked, reader=self._key_reader(reader), masks=masks)
        return self._messages(
            partial(self._write_unlinked, reader=reader, masks=masks), rewrite_key=rewrite_key, **ways
        )

    def _key_reader(self, reader: TextReader) -> TextReader:
        return reader if "person" in self._plan.style.keep else KeyReader(reader)

    def _rewriter(self, reader: TextReader | None = None, masks: Masks | None = None) -> Callable[[str], str]:
        reader = self._plan.reader() if reader is None else reader
        return self._rewrite or (lambda text: self._read(text, reader, masks))

    def _read(self, text: str, reader: TextReader, masks: Masks | None = None) -> str:
        swap = swap_of(self._sanitizer.bundle.characters_json, [text]) or NO_SWAP
        text = swap.there(text)
        is_forced = isinstance(reader, KeyReader) and reader.is_forced(text)
        if masks is not None and masks.originals:
            read, used = masks.read(text, reader)
            self._found += used
            return self._written(read, swap, masks, link=bool(used) or not is_forced)
        if self._plan.also is not None or isinstance(reader, KeyReader):
            return self._written(reader.read([text])[0], swap, link=not is_forced)
        stream = reader.stream(text)
        written, found = write(self._running.stream(stream))
        self._count_words(stream)
        self._found += _swap_back(found, swap)
        return swap.back(written)

    def _write_unlinked(self, text: str, reader: TextReader, masks: Masks | None = None) -> str:
        swap = swap_of(self._sanitizer.bundle.characters_json, [text]) or NO_SWAP
        text = swap.there(text)
        is_masked = masks is not None and bool(masks.originals)
        entries = masks.read(text, reader)[0].entries if masks is not None and is_masked else reader.stream(text)
        read = self._plan.read_strictly(entries)
        return self._joined(self._running.rewrite_unlinked(read), swap)

    def _count_words(self, read: Read | ReadStream) -> None:
        kept, replaced = self._kept_words
        self._kept_words = KeptWords(kept + read.shown, replaced + read.replaced_words)

    def _written(self, read: Read, swap: Swap = NO_SWAP, masks: Masks | None = None, *, link: bool = True) -> str:
        self._count_words(read)
        pieces = self._running.rewrite(read) if link else [*self._running.rewrite_unlinked(read.entries)]
        pieces = pieces if masks is None else masks.put_surrogates(pieces)
        self._found += _swap_back(write(pieces)[1], swap)
        return self._joined(pieces, swap)

    def _joined(self, pieces: Iterable[Piece], swap: Swap) -> str:
        if self._plan.also is None:
            return swap.back("".join(piece.output for piece in pieces))
        pieces = [*pieces]
        written = swap.back("".join(piece.output for piece in pieces))
        ends = [*accumulate(len(piece.output) for piece in pieces)]
        kept = [(end - len(piece.output), end) for piece, end in zip(pieces, ends, strict=True) if piece.mention]
        return hide(written, self._plan.also, kept)

    def _remember(self, restored: Any, written: Any, used: list[Pair]) -> None:
        """Store the pairs that restored a text or value of a reply, and signed items."""
        if is_signed(written):
            self._signed[self._tag("signed", restored)] = dumped(written)
        else:
            self._pieces.append((dumped(written), [*used]))

    def _as_signed(self, item: Any) -> Any:
        written = self._signed.get(self._tag("signed", item))
        return None if written is None else json.loads(written)

    def _as_restored(self, kind: str, value: Any) -> Any:
        """Return arguments of a model unchecked if some call was restored to them, else ``None``.

        Only the place of a call decides how its arguments are sent.
        """
        return value if kind == "call" and self._records.has_call(value) else None

    def _hashed(self, use: str, *parts: str) -> str:
        return _hash_parts(self._key, use, *parts)

    def _tag(self, use: str, value: Any) -> str:
        said, passes = dumped(value, IN_ORDER).encode(), dumped(sorted(self._pass_through)).encode()
        return tag(self._key, use, said, passes).hex()


def _hash_parts(key: bytes, use: str, *parts: str) -> str:
    return tag(key, use, *(part.encode("utf-8", "surrogatepass") for part in parts)).hex()


def _swap_back(pairs: list[Pair], swap: Swap) -> list[Pair]:
    """Return pairs with the user's characters in place of stand-ins, as in the sanitized text."""
    if swap is NO_SWAP:
        return pairs
    return [
        pair._replace(
            original=swap.back(pair.original),
            before=pair.before if pair.after is None else swap.back(pair.before),
            after=None if pair.after is None else swap.back(pair.after),
        )
        for pair in pairs
    ]


def _runs(messages: list[Any], senders: list[str]) -> list[int]:
    """Return the length of each run of model messages at its first message, and 0 elsewhere."""
    runs, first = [0] * len(messages), None
    for number, (message, sender) in enumerate(zip(messages, senders, strict=True)):
        if sender == "model" and next(own_fields(message), None) is not None:
            first = number if first is None else first
            runs[first] += 1
        elif sender in ("user", "tool"):
            first = None
    return runs


def _tags(went: Went | None) -> Iterator[str]:
    while went is not None:
        yield from went.tags
        went = went.before
