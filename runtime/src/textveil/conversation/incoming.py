"""Restoring of a model's replies: whole texts and messages, or a text while it arrives."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from textveil.conversation.reply_view import ReplyView, find_shown_texts
from textveil.conversation.shapes import (
    ARGUMENTS,
    CALL,
    CALLS,
    PARTS,
    SIGNED,
    TEXT,
    TYPES,
    VALUE,
    as_signed,
    dumped,
    parsed,
)
from textveil.errors import InputError
from textveil.text.forms import Pair
from textveil.text.placing import Index, Stream
from textveil.text.restore import Restorer
from textveil.text.restore_policy import EVERY_PLACE, PROSE_ONLY, RestorePolicy
from textveil.text.restored import ReportViews, RestoreReport
from textveil.work_limits import check_work

#: Fields of a message that some clients show before its answer; the content of fields that this module restores.
_THOUGHTS = frozenset(("reasoning", "reasoning_content"))
_READ = frozenset((TEXT, PARTS, CALLS, CALL, ARGUMENTS, VALUE))
#: Number of characters that are restored between two checks of the time.
_MOST_AT_ONCE = 1 << 14
#: Callback with three arguments: a restored text or value of a reply, its original form, and the pairs used.
Remember = Callable[[Any, Any, list[Pair]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming(ReportViews):
    """A reply with the originals in place of surrogates.

    Attributes:
        reply: The restored reply, in the shape of the argument. It is as private as the messages.
        report: What was restored, and what was not, with reasons.
        tools: Names of tools whose arguments stayed as the model wrote them.
    """

    reply: Any = field(repr=False)
    report: RestoreReport = field(default_factory=RestoreReport)
    tools: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the reply, if it is a text."""
        return self.reply if isinstance(self.reply, str) else repr(self)

    @property
    def placed(self) -> tuple[str, ...]:
        """Surrogates that were replaced by their originals, as spelled in the reply."""
        return self.report.restored


class Reader:
    """Restorer of one reply.

    Args:
        restorer: Restores texts.
        remember: See ``Remember``.
        restore_tools: Tools whose arguments are restored, everywhere in them.
        policy: Places of texts in which originals are restored.
        find_known_numbers: Returns the numbers of all sent messages.
    """

    def __init__(
        self,
        restorer: Restorer,
        remember: Remember,
        restore_tools: Collection[str],
        policy: RestorePolicy = PROSE_ONLY,
        find_known_numbers: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._restorer, self._remember, self._restore_tools = restorer, remember, restore_tools
        self._find_known_numbers = find_known_numbers
        self._policy = policy
        self._streams = [Stream(restorer.index)]
        self._tools: dict[str, None] = {}
        self._view, self._thoughts = ReplyView(policy), ReplyView(policy)

    def read(self, reply: Any, beside: Any = None) -> Incoming:
        """Return a restored reply: a text, a message, or a list of its parts or items.

        Args:
            reply: The reply.
            beside: Other parts of the reply that a client may show; they stay unchanged.
        """
        self._pass(beside)
        restored = self._text(reply) if isinstance(reply, str) else self._items(reply)
        return Incoming(
            reply=restored,
            report=RestoreReport.join(stream.report for stream in self._streams),
            tools=tuple(self._tools),
        )

    def _items(self, reply: Any) -> Any:
        if isinstance(reply, list):
            return [self._items(item) for item in reply]
        if not isinstance(reply, Mapping) or ("role" not in reply and "type" not in reply):
            raise InputError("a reply is a text, a message with its role, or a list of its parts: dictionaries")
        kind = reply.get("type", "message")
        if isinstance(kind, str) and kind in SIGNED:
            self._remember(as_signed(reply), dict(reply), [])
        fields = TYPES.get(kind, {}) if isinstance(kind, str) else {}
        self._pass({name: value for name, value in reply.items() if fields.get(name) not in _READ})
        restored = dict(reply)
        for name in sorted(reply, key=lambda name: name not in _THOUGHTS):
            restored[name] = self._field(reply[name], fields.get(name), reply, is_thought=name in _THOUGHTS)
        return restored

    def _pass(self, value: Any) -> None:
        """Track texts that a client may show and that stay unchanged."""
        for text in find_shown_texts(value):
            self._view.pass_text(text)

    def _field(self, value: Any, what: int | None, around: Mapping[str, Any], *, is_thought: bool = False) -> Any:
        if isinstance(value, str) and what in (TEXT, PARTS):
            if what == PARTS:  # a message of one text
                self._view.separate()
            return self._text(value, is_thought=is_thought)
        if isinstance(value, list) and what == PARTS:
            return [self._items(item) for item in value]
        if isinstance(value, list) and what == CALLS:  # entries that are not calls stay
            is_call = [isinstance(item, Mapping) and item.get("type") == "function" for item in value]
            return [self._items(item) if call else item for item, call in zip(value, is_call, strict=True)]
        if what == CALL and isinstance(value, Mapping):
            return {name: self._arguments(v, value) if name == "arguments" else v for name, v in value.items()}
        return self._arguments(value, around) if what in (ARGUMENTS, VALUE) else value

    def _arguments(self, value: Any, call: Mapping[str, Any]) -> Any:
        """Return the arguments of a call, restored by value for the tools of ``restore_tools``.

        The use that a tool makes of its arguments is unknown here.
        """
        name, start, values = call.get("name"), len(self._streams), None
        if isinstance(name, str) and name in self._restore_tools:
            with suppress(InputError):  # a duplicate key: the value that the tool uses is unknown
                values = parsed(value) if isinstance(value, str) else value
        restored = value
        if values is None:
            self._tools[str(name)] = None
        else:
            self._streams.append(Stream(self._restorer.index))
            restored = self._value(values)
            restored = dumped(restored) if isinstance(value, str) else restored
        self._remember(restored, value, [pair for stream in self._streams[start:] for pair in stream.used])
        return restored

    def _key(self, name: str) -> str:
        """Return a JSON key, restored if it is a surrogate."""
        original = self._restorer.whole(name)
        if original is None:
            return name
        self._streams[-1].placed.append(name)
        self._streams[-1].used.append(Pair(name, original))
        return original

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(entry) for entry in value]
        if isinstance(value, Mapping):
            return {self._key(name): self._value(entry) for name, entry in value.items()}
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return value
        written = str(abs(value)) if isinstance(value, int | float) else value
        original = self._restorer.whole(written)
        if original is None:
            return self._restored(value, EVERY_PLACE, is_argument=True) if isinstance(value, str) else value
        if not isinstance(value, str):
            try:
                original = type(value)(original.replace(",", "")) * (-1 if value < 0 else 1)
            except ValueError:
                return value
        self._streams[-1].placed.append(written)
        self._streams[-1].used.append(Pair(written, str(abs(original)) if not isinstance(original, str) else original))
        return original

    def _text(self, text: str, *, is_thought: bool = False) -> str:
        """Restore a text after the others that clients may show with it."""
        if text and not is_thought:
            self._thoughts.close()
        restored = self._restored(text, self._policy, self._thoughts if is_thought else self._view)
        if is_thought:
            self._view.pass_text(text)
        self._remember(restored, text, self._streams[-1].used)
        return restored

    def _restored(
        self, text: str, policy: RestorePolicy, view: ReplyView | None = None, *, is_argument: bool = False
    ) -> str:
        # The result of the call would hide a restored letter, but not the letters that the model wrote beside it.
        index = self._restorer.index.unquoted if is_argument else self._restorer.index
        stream = Stream(index, policy, self._find_known_numbers)
        if view is not None:
            view.begin(stream)
        self._streams.append(stream)
        parts: list[str] = []
        for start in range(0, len(text), _MOST_AT_ONCE):  # the result does not depend on the division into parts
            check_work()
            parts.append(stream.feed(text[start : start + _MOST_AT_ONCE]))
        parts.append(stream.close())
        if view is not None:
            view.end(stream)
        return "".join(parts)


class ReplyStream(Stream):
    """Restorer of a text that arrives in parts; the result does not depend on the division.

    Args:
        index: The surrogates to find, with their originals.
        remember: Called at the end; see ``Remember``.
        policy: Places in which originals are restored.
        find_known_numbers: Returns the numbers of all sent messages.

    Attributes:
        incoming: The result of ``Conversation.incoming`` for the whole text, after the stream is closed.
        written: The text as the model wrote it, after the stream is closed.
    """

    def __init__(
        self,
        index: Index,
        remember: Remember,
        policy: RestorePolicy = PROSE_ONLY,
        find_known_numbers: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        super().__init__(index, policy, find_known_numbers)
        self._remember = remember
        self._came: list[str] = []
        self._went: list[str] = []
        self.incoming: Incoming | None = None
        self.written = ""

    def feed(self, delta: str) -> str:
        """Process the next part, and return the finished text.

        The stream holds back at most a form, a character and an open chunk.

        Raises:
            InputError: The part is not a string, or the stream is closed.
        """
        if not isinstance(delta, str) or self.incoming is not None:
            raise InputError("a part of a reply is a string, and none comes after the end")
        self._came.append(delta)
        self._went.append(super().feed(delta))
        return self._went[-1]

    def close(self) -> str:
        """Return the rest of the text; an empty string on a second call."""
        if self.incoming is not None:
            return ""
        rest = super().close()
        restored = "".join(self._went) + rest
        self.written = "".join(self._came)
        self._remember(restored, self.written, self.used)
        self.incoming = Incoming(reply=restored, report=self.report)
        return rest
