"""Restores replies of a model: texts and messages at once, or a text as it comes in."""

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

#: Fields of a message that clients show before its answer, if at all; kinds of fields that are read here.
_THOUGHTS = frozenset(("reasoning", "reasoning_content"))
_READ = frozenset((TEXT, PARTS, CALLS, CALL, ARGUMENTS, VALUE))
#: Characters of a reply that are restored between two checks of the time.
_MOST_AT_ONCE = 1 << 14
#: Is told what a text or value of a reply became, what it was, and what it mentioned.
Remember = Callable[[Any, Any, list[Pair]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming(ReportViews):
    """A reply with the words of the user.

    Attributes:
        reply: The reply, restored, in the shape in which it was given. It is as private as the messages.
        report: What was restored, and what was not and why.
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
        """Surrogates that were replaced by their originals, as the reply has them."""
        return self.report.restored


class Reader:
    """Restores one reply.

    Args:
        restorer: What restores texts.
        remember: See ``Remember``.
        restore_tools: Tools whose arguments are restored, everywhere in them.
        policy: Places of texts in which originals are put.
        find_known_numbers: Returns the numbers of what went out.
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
        """Returns a reply restored: a text, a message, or a list of its parts or items.

        Args:
            reply: The reply.
            beside: What else of it a client may show; it stays as it is.
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
        """Read what a client may show, and gets as it came."""
        for text in find_shown_texts(value):
            self._view.pass_text(text)

    def _field(self, value: Any, what: int | None, around: Mapping[str, Any], *, is_thought: bool = False) -> Any:
        if isinstance(value, str) and what in (TEXT, PARTS):
            if what == PARTS:  # a message of one text
                self._view.separate()
            return self._text(value, is_thought=is_thought)
        if isinstance(value, list) and what == PARTS:
            return [self._items(item) for item in value]
        if isinstance(value, list) and what == CALLS:  # what is no call among them stays
            is_call = [isinstance(item, Mapping) and item.get("type") == "function" for item in value]
            return [self._items(item) if call else item for item, call in zip(value, is_call, strict=True)]
        if what == CALL and isinstance(value, Mapping):
            return {name: self._arguments(v, value) if name == "arguments" else v for name, v in value.items()}
        return self._arguments(value, around) if what in (ARGUMENTS, VALUE) else value

    def _arguments(self, value: Any, call: Mapping[str, Any]) -> Any:
        """Those of a named tool by value: what a tool does with them nobody here knows."""
        name, start, values = call.get("name"), len(self._streams), None
        if isinstance(name, str) and name in self._restore_tools:
            with suppress(InputError):  # a key twice: nobody knows which one the tool takes
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
        """Return a key of JSON, restored if it is a surrogate."""
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
        """Restore a text behind the others that clients may show with it."""
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
        # A letter in a call would be hidden in its result, and the letters that the model wrote beside it would not.
        index = self._restorer.index.unquoted if is_argument else self._restorer.index
        stream = Stream(index, policy, self._find_known_numbers)
        if view is not None:
            view.begin(stream)
        self._streams.append(stream)
        parts: list[str] = []
        for start in range(0, len(text), _MOST_AT_ONCE):  # however a reply is cut, it is restored alike
            check_work()
            parts.append(stream.feed(text[start : start + _MOST_AT_ONCE]))
        parts.append(stream.close())
        if view is not None:
            view.end(stream)
        return "".join(parts)


class ReplyStream(Stream):
    """Restores a text that comes in parts; the same as at once, however it is cut.

    Args:
        index: What may be in it.
        remember: Is told what the text became, what it was and what it mentioned, at the end.
        policy: Places in which originals are put.
        find_known_numbers: Returns the numbers of what went out.

    Attributes:
        incoming: What ``Conversation.incoming`` would say, once it is closed.
        written: The text as the model wrote it, once it is closed.
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
        """Takes the next part; returns what is decided: all but a form, a character and an open chunk at most.

        Raises:
            InputError: It is not a string, or the stream is closed.
        """
        if not isinstance(delta, str) or self.incoming is not None:
            raise InputError("a part of a reply is a string, and none comes after the end")
        self._came.append(delta)
        self._went.append(super().feed(delta))
        return self._went[-1]

    def close(self) -> str:
        """Returns the rest; nothing the second time."""
        if self.incoming is not None:
            return ""
        rest = super().close()
        restored = "".join(self._went) + rest
        self.written = "".join(self._came)
        self._remember(restored, self.written, self.used)
        self.incoming = Incoming(reply=restored, report=self.report)
        return rest
