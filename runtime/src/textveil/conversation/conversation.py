"""``Conversation``: messages to a model go out under one mapping, and its replies come back with the user's words."""

import json
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from textveil.conversation import file
from textveil.conversation.incoming import Incoming, Reader, ReplyStream
from textveil.conversation.sent import pairs
from textveil.conversation.shapes import IN_ORDER, Messages, dumped
from textveil.errors import IdentityMismatch, InputError, OptionError
from textveil.ledger.keys import tag
from textveil.release import KeptWords
from textveil.sequences import require_string
from textveil.text.forms import Pair
from textveil.text.names.also import hide
from textveil.text.names.kinds import CALLED_BY_OTHERS, called
from textveil.text.names.read import Read, TextReader
from textveil.text.names.running import Running
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy
from textveil.text.sanitizer import Sanitizer
from textveil.text.stand_ins import NO_SWAP, Swap, swap_of

#: Shorter keys are rather the names of fields: lon, es.
_SHORT = 3
#: What went out through an exchange: tags of messages, and what went before them.
Went = tuple[tuple[str, ...], "Went | None"]
_OPTIONS = frozenset("protect consistent consistent_cap style keep tag drop allow deny".split())


class Conversation:
    """A conversation with a model, on the rung ``names``: equal strings are equal in all of its messages.

    It is for one thread at a time. Its ``repr`` shows nothing of it, and it cannot be pickled.

    Args:
        sanitizer: What rewrites; the built-in English bundle if left out.
        pass_through: Types of parts that go out as they are, such as ``image_url``; roles, such as ``system``; and
            ``keys``, for keys of JSON that may be more than names of fields. Nothing of these is protected.
        restore_tools: Names of tools whose arguments in replies are restored. The arguments of others stay surrogates:
            what a tool does with a name is not for the model to decide.
        restore_places: Places of replies, beside running text, that are restored: ``code``, ``json``, ``math``; or
            ``all``, for replies that nothing displays or fetches.
        restore_hosts: Hosts in links to which replies are restored.
        rewrite: Rewrites each text by itself in place of the rung, such as by a ledger on a rung that has nats. Then
            nothing is restored, options are for whoever rewrites, and a message goes out as before only where all
            before it in the call, or in the exchange, are the same: other equal texts are drawn each by itself.
        options: Those of the rung ``names``: ``style``, ``keep``, ``tag``, ``drop``, ``allow``, ``deny`` and
            ``consistent_cap``, here of all strings of the conversation.

    Raises:
        OptionError: Another rung or option is asked for.

    Privacy:
        A conversation is one document whose texts come one after the other. It tells what its skeletons show, and which
        strings of all messages are equal (docs/proofs/names.md). It holds what undoes the protection.
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
        **options: Any,
    ) -> None:
        for given, name in ((pass_through, "pass_through"), (restore_tools, "restore_tools")):
            if isinstance(given, str) or not all(isinstance(entry, str) for entry in given):
                raise OptionError(f"{name} takes a collection of names")
        one = options.setdefault("protect", "names") == "names" and options.get("consistent", True) is True
        if not one or not set(options) <= _OPTIONS:
            raise OptionError(
                f'a conversation has protect="names" and one mapping, and takes {", ".join(sorted(_OPTIONS))}; for the '
                "rungs words and all, and for other options, rewrite each message by itself with Sanitizer or Ledger"
            )
        self._sanitizer = Sanitizer.load() if sanitizer is None else sanitizer
        self._options = {name: sorted(v) if isinstance(v, set | frozenset) else v for name, v in options.items()}
        self._plan = self._sanitizer.names_plan(**options)
        self._running = Running(self._plan.style, self._plan.surrogates, self._plan.lists.common)
        self._pass_through, self._restore_tools = frozenset(pass_through), frozenset(restore_tools)
        self._policy = RestorePolicy.parse(restore_places, restore_hosts)
        self._rewrite, self._key = rewrite, os.urandom(32)
        self._restores, self._added = Restorer(), 0
        self._kept_words = KeptWords()
        self._found: list[Pair] = []
        #: What messages went out as, and what a reply may mention of them; what a reply was, and what it did mention.
        self._sent: dict[str, tuple[str, list[Pair]]] = {}
        self._said: dict[str, tuple[str, list[Pair]]] = {}
        #: Tags of the messages of an exchange; how many of them went before it, and as what.
        self._through: dict[str, None] | None = None
        self._after: tuple[int, Went | None] = 0, None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> Any:
        raise TypeError("a conversation is not pickled: save it with save, under a key")

    def exchange(self, after: "Went | None" = None) -> "Conversation":
        """Returns this conversation for one request and its reply.

        What it restores are surrogates of the messages that went out through it, also of those that went out before;
        no others of the conversation.

        Args:
            after: What ``went`` through the exchange that this one goes on with, where the provider remembers its
                messages.
        """
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__)
        part._through = dict.fromkeys(_tags(after))
        part._after = len(part._through), after
        part._restores, part._added = Restorer(), 0
        part._kept_words = KeptWords()
        return part

    @property
    def kept_words(self) -> KeptWords:
        """Return how many words of the texts that were rewritten were kept, and how many on no list replaced.

        Of an exchange: the texts that its request was the first to send. Both follow from the template.
        """
        return self._kept_words

    @property
    def went(self) -> "Went":
        """Tells what went out through an exchange, or the whole conversation, by tags alone, and what before it."""
        known, after = self._after
        return tuple(islice(self._sent if self._through is None else self._through, known, None)), after

    def outgoing(self, messages: list[Any]) -> list[Any]:
        """Returns messages as they may go out: of a chat or of responses of OpenAI, or messages of Anthropic.

        Every text that a person or a tool wrote is rewritten. JSON in the arguments and results of tools is rewritten
        by value, numbers too, each to one of its type. Keys, roles, identifiers, names of tools, true, false and null
        stay. What the model wrote goes out as it did, byte for byte; so does what went out before (see ``rewrite``).

        Args:
            messages: The messages, as dictionaries; all of them so far, or the new ones alone.

        Raises:
            InputError: A message has a shape, a field or a type that is not known, or cannot be rewritten. Nothing goes
                out, and nothing is drawn.
        """
        if not isinstance(messages, list):
            raise InputError("messages come in a list")
        looked_at = Messages(lambda text: text, self._written_by_the_model, self._is_a_name, self._pass_through)
        tags: list[str] = []
        before: Any = [*(self._through or ())]  # which texts are equal must not tell what is drawn
        for number, message in enumerate(messages, 1):
            try:
                tags.append(before := self._tag("message", [before, message] if self._rewrite else message))
                if before not in self._sent:  # else it was looked at
                    looked_at.item(message)
            except (InputError, RecursionError) as error:
                why = error if isinstance(error, InputError) else "it is nested too deeply"
                raise InputError(f"message {number} of {len(messages)}: {why}") from None
        rewrites = Messages(self._rewriter(), self._written_by_the_model, self._is_a_name, self._pass_through)
        return [
            json.loads(self._once(known, message, rewrites.item)) for known, message in zip(tags, messages, strict=True)
        ]

    def outgoing_text(self, text: str, kind: str | None = None) -> str:
        """Returns a text as it may go out; one that went out before as it did, unless ``rewrite`` is given.

        Args:
            text: The text.
            kind: What a detector says that all of it is: ``person``, ``city``, ``organization``, ``group`` or ``word``.
                It becomes one, also where the rung would show it.

        Raises:
            InputError: It is not a string.
            OptionError: The kind is none of these.
        """
        require_string(text)
        if self._rewrite and kind is None:
            return self._rewrite(text)
        if kind is None or not text.strip():
            return json.loads(self._once(self._tag("message", text), text, self._rewriter()))
        if kind not in CALLED_BY_OTHERS:
            raise OptionError(f"a text is called one of {', '.join(sorted(CALLED_BY_OTHERS))}")
        known = self._tag("message", [kind, text])
        return json.loads(self._once(known, text, lambda _: self._written(Read([called(kind, text)], 0))))

    def incoming(self, reply: Any) -> Incoming:
        """Returns a reply with the words of the user.

        Args:
            reply: A text; a message, or a list of parts or items, as dictionaries. Fields that are not known stay.

        Raises:
            InputError: It is something else.

        Privacy:
            Nothing goes out. The arguments of tools that are not among ``restore_tools`` stay surrogates.
        """
        try:
            return Reader(self._restorer, self._remember, self._restore_tools, self._policy).read(reply)
        except RecursionError:
            raise InputError("the reply is nested too deeply") from None

    def stream(self) -> ReplyStream:
        """Returns what restores one reply as it comes in."""
        return ReplyStream(self._restorer.index, self._remember, self._policy)

    def save(self, path: str | Path, key_file: str | Path) -> None:
        """Writes the conversation to a file, encrypted (AES-256-GCM), for its owner alone.

        Args:
            path: The file. To delete the conversation is to delete it.
            key_file: The key; made where it is missing. Not in the folder of ``path`` or below.

        Raises:
            CryptoUnavailable: The package ``cryptography`` is not installed.
            KeyFileError: The key is not one, is in the wrong folder, or others may read it.
            OutputError: The file cannot be written.
        """
        file.write(Path(path), key_file, self._content())

    def _content(self) -> bytes:
        content = {
            "bundle": self._sanitizer.bundle.identity,
            "options": self._options,
            "key": self._key.hex(),
            "draws": self._running.state(),
            "sent": dict(self._sent),
            "said": dict(self._said),
        }
        return json.dumps(content).encode()

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
        """Goes on with a conversation that was saved, under the options that it had.

        Raises:
            InputError: There is no readable file, or it is not a conversation of this version.
            KeyFileError: The key is not its key, or the file was altered.
            IdentityMismatch: It was rewritten with another bundle.
            CryptoUnavailable: The package ``cryptography`` is not installed.
        """
        given: dict[str, Any] = {
            "pass_through": pass_through,
            "restore_tools": restore_tools,
            "restore_places": restore_places,
            "restore_hosts": restore_hosts,
            "rewrite": rewrite,
        }
        return cls._of(file.read(Path(path), key_file), sanitizer, given)

    def packed(self) -> bytes:
        """Returns the conversation in a tenth of its memory, for ``unpacked``. It is not encrypted."""
        return zlib.compress(self._content(), 1)

    @classmethod
    def unpacked(cls, packed: bytes, sanitizer: Sanitizer | None = None, **given: Any) -> "Conversation":
        """Goes on with a conversation that was packed.

        Args:
            packed: What ``packed`` gave, and nobody else.
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
        found._key = bytes.fromhex(content["key"])
        found._running.go_on(content["draws"])
        for kept, name in ((found._sent, "sent"), (found._said, "said")):
            kept.update(
                (tag, (written, [Pair(*pair) for pair in used])) for tag, (written, used) in content[name].items()
            )
        return found

    def _once(self, known: str, message: Any, rewrite: Any) -> str:
        """What a message with a tag goes out as; drawn at its first time."""
        if known not in self._sent:
            self._found = []
            self._sent[known] = dumped(rewrite(message)), self._found
        if self._through is not None:
            self._through[known] = None
        return self._sent[known][0]

    @property
    def _restorer(self) -> Restorer:
        """What restores replies to all messages so far, or to those of an exchange; made when a reply comes."""
        went = self._sent if self._through is None else self._through
        if self._added < len(went):
            self._restores.add(pair for tag in islice(went, self._added, None) for pair in self._sent[tag][1])
            self._added = len(went)
        return self._restores

    def _rewriter(self) -> Callable[[str], str]:
        reader = self._plan.reader()  # ends with the call: what it remembers of a text is larger than the text
        return self._rewrite or (lambda text: self._read(text, reader))

    def _read(self, text: str, reader: TextReader) -> str:
        swap = swap_of(self._sanitizer.bundle.characters_json, [text]) or NO_SWAP
        return self._written(reader.read([swap.there(text)])[0], swap)

    def _written(self, read: Read, swap: Swap = NO_SWAP) -> str:
        kept, replaced = self._kept_words
        self._kept_words = KeptWords(kept + read.shown, replaced + read.replaced_words)
        pieces = self._running.rewrite(read)
        self._found += (pair._replace(original=swap.back(pair.original)) for pair in pairs(pieces))
        written = swap.back("".join(piece.output for piece in pieces))
        if self._plan.also is None:
            return written
        ends = [*accumulate(len(piece.output) for piece in pieces)]
        kept = [(end - len(piece.output), end) for piece, end in zip(pieces, ends, strict=True) if piece.mention]
        return hide(written, self._plan.also, kept)

    def _remember(self, restored: Any, reply: Any, used: list[Pair]) -> None:
        self._said[self._tag("reply", restored)] = dumped(reply), used

    def _written_by_the_model(self, value: Any) -> Any:
        written, used = self._said.get(self._tag("reply", value), (None, []))
        self._found += used
        return None if written is None else json.loads(written)

    def _is_a_name(self, words: list[str]) -> bool:
        """Whether all words of a key of JSON are names of persons, and one is nothing else; or one is denied."""
        small, lists, shown = [*map(str.lower, words)], self._plan.lists, self._plan.allowed
        if not self._plan.denied.isdisjoint(small):
            return True
        named = all(word in lists.kinds["given"] or word in lists.kinds["family"] for word in small)
        return named and any(len(word) > _SHORT and word not in lists.common and word not in shown for word in small)

    def _tag(self, use: str, value: Any) -> str:
        said, passes = dumped(value, IN_ORDER).encode(), dumped(sorted(self._pass_through)).encode()
        return tag(self._key, use, said, passes).hex()


def _tags(went: Went | None) -> Iterator[str]:
    while went is not None:
        tags, went = went
        yield from tags
