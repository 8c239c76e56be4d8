"""Replacing of surrogates by their originals in a model's replies, also in a text that arrives in parts."""

import json
from collections.abc import Callable, Collection, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from textveil.arguments import join_utf16_halves
from textveil.conversation.message_rewriter import (
    ARGUMENTS,
    CALL,
    CALLS,
    FIELDS_BY_TYPE,
    JSON_NUMBER,
    PARTS,
    SIGNED_TYPES,
    TEXT,
    VALUE,
    SpelledNumber,
    WrittenNumber,
    drop_null_fields,
    encode_rewritten,
    parse_json_container,
)
from textveil.conversation.reply_view import ReplyView, find_displayed_texts
from textveil.errors import InputError
from textveil.text.form_index import FormIndex
from textveil.text.inflections import SurrogatePair
from textveil.text.reply_matcher import StreamRestorer
from textveil.text.restore import Restorer
from textveil.text.restore_policy import EVERYWHERE_POLICY, PROSE_POLICY, RestorePolicy
from textveil.text.restored import ReportProperties, RestoreReport
from textveil.work_steps import check_work

if TYPE_CHECKING:
    from textveil.text.marked_html import HtmlFragment

#: Fields of a message that some clients display before the answer; and kinds of content that this module restores.
_THOUGHT_FIELDS = frozenset(("reasoning", "reasoning_content"))
_RESTORED_CONTENTS = frozenset((TEXT, PARTS, CALLS, CALL, ARGUMENTS, VALUE))
#: Number of characters that are restored between two checks of the time.
_MAX_STEP_CHARACTERS = 1 << 14
#: Largest integer that may be a surrogate. Python refuses to convert much larger integers to decimal digits.
_MAX_INTEGER_BITS = 1 << 10
#: Callback with three arguments: a restored text or value of a reply, the text or value as the model wrote it, and the
#: pairs of surrogate and original that were used.
RestoredCallback = Callable[[Any, Any, list[SurrogatePair]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredReply(ReportProperties):
    """A reply of the model with the original strings in place of their surrogates (replacements).

    >>> from textveil import Conversation
    >>> conversation = Conversation(style="surrogate")
    >>> sent = conversation.outgoing_text("Anna Novak called.")
    >>> result = conversation.incoming(f"{sent} [Note](https://example.com/{sent.split()[0]})")
    >>> str(result).split("[")[0]
    'Anna Novak called. '
    >>> result.restored == (sent.removesuffix(" called."),)
    True
    >>> [reason.value for _, reason in result.skipped]
    ['link']

    Attributes:
        reply: The restored reply, in the format of the argument of ``incoming``. It is as private as the messages.
        report: The restored surrogates; and the surrogates that were not restored, each with the reason.
        tools: Names of called tools in whose arguments surrogates were not replaced, since ``restore_tools`` lacks
            them.
    """

    reply: Any = field(repr=False)
    report: RestoreReport = field(default_factory=RestoreReport)
    tools: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the reply if it is a string; otherwise return the ``repr`` of this object."""
        return self.reply if isinstance(self.reply, str) else repr(self)

    def _repr_html_(self) -> str:
        """Return the report as HTML for a notebook, without the reply itself, because a notebook saves outputs."""
        return str(self.to_html())

    def to_html(self, *, show_originals: bool = False) -> "HtmlFragment":
        """Return the report on the surrogates (replacements) as HTML for a notebook; see ``Restored.to_html``.

        Args:
            show_originals: Whether to show the restored reply above the report. A text is shown unchanged, any other
                reply as JSON.
        """
        if not show_originals:
            return self.report.make_html()
        is_text = isinstance(self.reply, str)
        return self.report.make_html(self.reply if is_text else json.dumps(self.reply, ensure_ascii=False, indent=2))

    @property
    def restored(self) -> tuple[str, ...]:
        """Surrogates (replacements) in the reply for which the originals were put back, as the model wrote them."""
        return self.report.restored


class ReplyRestorer:
    """Component that replaces surrogates by their originals in one reply of a model.

    Args:
        restorer: Component that restores originals in a text.
        on_restored: Function to call for each text or value in which surrogates were replaced (``RestoredCallback``).
        restore_tools: Names of tools. Originals are restored everywhere in the arguments of these tools.
        policy: Parts of texts, such as code or links, in which originals are restored.
        find_known_numbers: Function that returns the numbers in all sent messages.
    """

    def __init__(
        self,
        restorer: Restorer,
        on_restored: RestoredCallback,
        restore_tools: Collection[str],
        policy: RestorePolicy = PROSE_POLICY,
        find_known_numbers: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._restorer, self._on_restored, self._restore_tools = restorer, on_restored, restore_tools
        self._find_known_numbers = find_known_numbers
        self._policy = policy
        self._streams = [StreamRestorer(restorer.index)]
        self._unrestored_tools: dict[str, None] = {}
        self._view, self._thought_view = ReplyView(policy), ReplyView(policy)

    def restore(self, reply: Any, other_parts: Any = None) -> RestoredReply:
        """Return a reply in which the originals are in place of their surrogates (replacements).

        Args:
            reply: A text, a message, or a list of parts or items.
            other_parts: Other parts of the reply that a client may display before ``reply``. These parts are not
                changed.

        Raises:
            InputError: The reply has an unknown format.
        """
        self._track_unchanged(other_parts)
        restored = self._restore_text(reply) if isinstance(reply, str) else self._restore_item(reply)
        return RestoredReply(
            reply=restored,
            report=RestoreReport.join_reports(stream.report for stream in self._streams),
            tools=tuple(self._unrestored_tools),
        )

    def _restore_item(self, reply: Any) -> Any:
        if isinstance(reply, list):
            return [self._restore_item(item) for item in reply]
        if not isinstance(reply, Mapping) or ("role" not in reply and "type" not in reply):
            raise InputError("a reply must be a string, a dictionary with a role, or a list of parts (dictionaries)")
        item_type = reply.get("type", "message")
        if isinstance(item_type, str) and item_type in SIGNED_TYPES:
            self._on_restored(drop_null_fields(reply), dict(reply), [])
        fields = FIELDS_BY_TYPE.get(item_type, {}) if isinstance(item_type, str) else {}
        self._track_unchanged(
            {name: value for name, value in reply.items() if fields.get(name) not in _RESTORED_CONTENTS}
        )
        restored = dict(reply)
        for name in sorted(reply, key=lambda name: name not in _THOUGHT_FIELDS):
            restored[name] = self._restore_field(
                reply[name], fields.get(name), reply, is_thought=name in _THOUGHT_FIELDS
            )
        return restored

    def _track_unchanged(self, value: Any) -> None:
        """Read the markup in the texts of a value that stays unchanged, since it can affect later texts.

        A client may display these texts directly before texts with originals.
        """
        for text in find_displayed_texts(value):
            self._view.pass_text(text)

    def _restore_field(
        self, value: Any, content: int | None, owner: Mapping[str, Any], *, is_thought: bool = False
    ) -> Any:
        if isinstance(value, str) and content in (TEXT, PARTS):
            if content == PARTS:  # a message of one text
                self._view.mark_separated()
            return self._restore_text(value, is_thought=is_thought)
        if isinstance(value, list) and content == PARTS:
            return [self._restore_item(item) for item in value]
        if isinstance(value, list) and content == CALLS:  # entries that are not calls stay
            is_call = [isinstance(item, Mapping) and item.get("type") == "function" for item in value]
            return [self._restore_item(item) if call else item for item, call in zip(value, is_call, strict=True)]
        if content == CALL and isinstance(value, Mapping):
            return {name: self._restore_arguments(v, value) if name == "arguments" else v for name, v in value.items()}
        return self._restore_arguments(value, owner) if content in (ARGUMENTS, VALUE) else value

    def _restore_arguments(self, value: Any, call: Mapping[str, Any]) -> Any:
        """Put originals back in the arguments of a tool call, if the tool is in ``restore_tools``.

        Surrogates (replacements) in code and links are also restored, because only the tool determines how its
        arguments are used.
        """
        name, start, values = call.get("name"), len(self._streams), None
        if isinstance(name, str) and name in self._restore_tools:
            with suppress(InputError):  # a duplicate key: the value that the tool uses is unknown
                values = parse_json_container(value) if isinstance(value, str) else value
        restored = value
        if values is None:
            self._unrestored_tools[str(name)] = None
        else:
            self._streams.append(StreamRestorer(self._restorer.index))
            restored = self._restore_value(values, WrittenNumber if isinstance(value, str) else json.loads)
            restored = encode_rewritten(restored) if isinstance(value, str) else restored
        self._on_restored(restored, value, [pair for stream in self._streams[start:] for pair in stream.used_pairs])
        return restored

    def _restore_key(self, name: str, *others: Container[str]) -> str:
        """Return the original string of a JSON key if the key is a surrogate (replacement), otherwise the key.

        Args:
            name: The key.
            others: Other keys of the object. If the original equals one of these, the key is not restored.
        """
        original = self._restorer.restore_value(name)
        if original is None or any(original in names for names in others):
            return name
        self._streams[-1].restored.append(name)
        self._streams[-1].used_pairs.append(SurrogatePair(name, original))
        return original

    def _restore_value(self, value: Any, make_number: Callable[[str], Any]) -> Any:
        """Put originals back in a JSON value.

        Args:
            value: The value.
            make_number: Function that makes a number of its JSON text.
        """
        if isinstance(value, list):
            return [self._restore_value(entry, make_number) for entry in value]
        if isinstance(value, Mapping):
            restored: dict[str, Any] = {}
            for name, entry in value.items():
                restored[self._restore_key(name, value, restored)] = self._restore_value(entry, make_number)
            return restored
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return value
        if isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS:
            return value
        if isinstance(value, str) and (number := self._restore_number(value, make_number)) is not None:
            return number
        if isinstance(value, SpelledNumber):
            return self._restore_spelled_number(value)
        written = str(abs(value)) if isinstance(value, int | float) else value
        original = self._restorer.restore_value(written)
        if original is None:
            return self._restore_string(value, EVERYWHERE_POLICY, is_argument=True) if isinstance(value, str) else value
        if not isinstance(value, str):
            try:
                original = type(value)(original.replace(",", "")) * (-1 if value < 0 else 1)
            except ValueError:
                return value
        self._streams[-1].restored.append(written)
        self._streams[-1].used_pairs.append(
            SurrogatePair(written, str(abs(original)) if not isinstance(original, str) else original)
        )
        return original

    def _restore_spelled_number(self, value: SpelledNumber) -> WrittenNumber:
        """Return the original of a number in a JSON text; the number as the model wrote it if it is no surrogate."""
        sign, spelling = "-" if value < 0 else "", value.spelling.removeprefix("-")
        for written in dict.fromkeys((spelling, str(abs(value)))):  # a model may write the surrogate 73.20 as 73.2
            original = (self._restorer.restore_value(written) or "").replace(",", "")
            if JSON_NUMBER.fullmatch(original):
                self._streams[-1].restored.append(written)
                self._streams[-1].used_pairs.append(SurrogatePair(written, original))
                return WrittenNumber(sign + original)
        return WrittenNumber(value.spelling)

    def _restore_number(self, value: str, make_number: Callable[[str], Any]) -> Any:
        """Return the original JSON number of a replacement such as ``[number 1]``; ``None`` for other strings."""
        original = self._restorer.restore_value(f'"{value}"')
        if original is None or JSON_NUMBER.fullmatch(original) is None:
            return None
        self._streams[-1].restored.append(value)
        self._streams[-1].used_pairs.append(SurrogatePair(value, original.removeprefix("-")))
        return make_number(original)

    def _restore_text(self, text: str, *, is_thought: bool = False) -> str:
        """Put hidden strings back into the places of their replacements in a text of a reply, if this is safe.

        After an unfinished link in an earlier text, for example, it is not safe.

        Args:
            text: The text.
            is_thought: Whether the text is a thought of the model, which some clients do not display.
        """
        if text and not is_thought:
            self._thought_view.stop_restoring()
        restored = self._restore_string(text, self._policy, self._thought_view if is_thought else self._view)
        if is_thought:
            self._view.pass_text(text)
        self._on_restored(restored, text, self._streams[-1].used_pairs)
        return restored

    def _restore_string(
        self, text: str, policy: RestorePolicy, view: ReplyView | None = None, *, is_argument: bool = False
    ) -> str:
        # The result of a call hides a restored letter, but not the letters that the model wrote beside it.
        index = self._restorer.index.without_quotations if is_argument else self._restorer.index
        stream = StreamRestorer(index, policy, self._find_known_numbers)
        if view is not None:
            view.begin_text(stream)
        self._streams.append(stream)
        parts: list[str] = []
        for start in range(0, len(text), _MAX_STEP_CHARACTERS):  # the result does not depend on the division into parts
            check_work()
            parts.append(stream.feed(text[start : start + _MAX_STEP_CHARACTERS]))
        parts.append(stream.close())
        if view is not None:
            view.end_text(stream)
        return "".join(parts)


class RecordedReplyStream(StreamRestorer):
    """Puts originals into the places of surrogates in a text that arrives in parts.

    Surrogates are the replacements of private strings (originals). The result does not depend on how the text is split.

    >>> from textveil import Conversation
    >>> conversation = Conversation()
    >>> sent = conversation.outgoing_text("Anna Novak called.")
    >>> stream = conversation.stream()
    >>> "".join(stream.feed(character) for character in sent) + stream.close()
    'Anna Novak called.'
    >>> stream.model_text == sent
    True

    Args:
        index: Index of the surrogates to find, with their originals.
        on_restored: Function to call at the end (``RestoredCallback``).
        policy: Parts of texts, such as code or links, in which originals are restored.
        find_known_numbers: Function that returns the numbers in all sent messages.

    Attributes:
        result: The result of ``Conversation.incoming`` for the whole text, after the stream is closed.
        model_text: The text as the model wrote it, after the stream is closed.
    """

    def __init__(
        self,
        index: FormIndex,
        on_restored: RestoredCallback,
        policy: RestorePolicy = PROSE_POLICY,
        find_known_numbers: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        super().__init__(index, policy, find_known_numbers)
        self._on_restored = on_restored
        self._model_parts: list[str] = []
        self._restored_parts: list[str] = []
        self.result: RestoredReply | None = None
        self.model_text: str = ""

    def feed(self, delta: str) -> str:
        """Read the next part of the text, and return as much of the restored text as later parts cannot change.

        The stream holds back the end of the text: at most the last, unfinished chunk (characters between two blanks),
        the longest spelling of a surrogate (replacement), and one more character.

        Raises:
            InputError: The part is not a string, or the stream is closed.
        """
        if not isinstance(delta, str) or self.result is not None:
            raise InputError("a part of a reply must be a string, and the stream must be open")
        self._model_parts.append(delta)
        self._restored_parts.append(super().feed(delta))
        return self._restored_parts[-1]

    def close(self) -> str:
        """Return the rest of the restored text, after its last part. A second call returns an empty string."""
        if self.result is not None:
            return ""
        rest = super().close()
        restored = "".join(self._restored_parts) + rest
        self.model_text = join_utf16_halves("".join(self._model_parts))
        self._on_restored(restored, self.model_text, self.used_pairs)
        self.result = RestoredReply(reply=restored, report=self.report)
        return rest
