"""Base class for restoring originals in replies of an API, complete or as an event stream.

Restorers change only the texts of a reply. All other values pass unchanged.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from textveil import Conversation
from textveil.conversation import RecordedReplyStream, ReplyView, RestoredReply, find_displayed_texts
from textveil.errors import InputError

from textveil_cli.gateway.sse import ServerSentEvent
from textveil_cli.gateway.upstream import make_upstream_refusal

#: Counts in log lines and in the header ``x-textveil-counts``: attributes of ``RestoredReply``.
_COUNT_NAMES = ("restored", "not_restored_words", "ambiguous", "tools", "skipped")


class ApiReplyRestorer:
    """Base class of objects that restore originals in one reply.

    They replace the surrogates that the request contained. Values of unknown types are not changed.

    Args:
        exchange: The conversation state of the request.
        tools: Names of tools whose arguments are restored. In a stream, such arguments are sent in one event.

    Attributes:
        restored_messages: The restored reply, as messages that the client may send again; one list for each choice.
        counts: How many surrogates were restored, and how many were not. ``unshared_results`` counts the tool results
            that were sent with new surrogates, not those of the conversation. ``unknown_tags`` counts tags that are not
            in the mapping, such as ``[person 99]``.
        reason_counts: Number of surrogates not restored, by reason.
        reply_ids: Ids that the provider gave to the reply, and that later requests may contain.
    """

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        self.exchange = self._exchange = exchange
        self._tools = frozenset(tools)
        self._streams: dict[Any, RecordedReplyStream] = {}
        self._views: dict[Any, ReplyView] = {}
        self._common_view = exchange.make_reply_view()
        self._begun_texts: set[Any] = set()
        self._newest_by_group: dict[Any, Any] = {}
        self._calls: dict[Any, dict[str, Any]] = {}
        self.restored_messages: list[list[Any]] = []
        self.counts: Counter[str] = Counter(dict.fromkeys(_COUNT_NAMES, 0))
        if exchange.unshared_results:
            self.counts["unshared_results"] = exchange.unshared_results
        self.reason_counts: Counter[str] = Counter()
        self.reply_ids: list[str] = []

    def claim_reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Set the role of every message in a reply, or in an event of a stream, to that of the model.

        If the reply contains results of tools, the model may have written them itself. In later requests, the names in
        these results are replaced by new surrogates, never by the surrogates of the conversation.

        Raises:
            Refusal: The reply has an item of an unknown type, or is nested too deeply.
        """
        try:
            return self._exchange.claim_reply(reply)
        except (InputError, RecursionError):
            raise make_upstream_refusal("sent an item of an unknown type, or one nested too deeply") from None

    def note_unclear(self, count: int) -> None:
        """Store the number of tool calls with ambiguous arguments, for the log line."""
        if count:
            self.counts["unclear_calls"] = count

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a complete (not streamed) reply with its texts restored."""
        return reply

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield an event with its text restored, after the text that was held back from earlier events.

        A text is held back while it may be the beginning of a surrogate.
        """
        yield event

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield the text that is still held back at the end of a stream, even if the upstream sent no end event."""
        yield from ()

    def _restore_value(
        self, reply: Any, is_counted: bool = True, *, record: bool = False, other_parts: Any = None
    ) -> Any:
        try:
            result = self._exchange.incoming(reply, record=record, other_parts=other_parts)
        except InputError:
            return reply  # unknown shape: nothing is restored
        if is_counted:
            self._count_result(result)
        return result.reply

    def _restores_arguments(self, call: Mapping[str, Any]) -> bool:
        """Return whether a tool call belongs to a tool whose arguments are restored."""
        name = call.get("name")
        return isinstance(name, str) and name in self._tools

    def _count_result(self, result: RestoredReply) -> None:
        self.counts.update({name: len(getattr(result, name)) for name in _COUNT_NAMES})
        if result.unknown_tags:
            self.counts["unknown_tags"] += len(result.unknown_tags)
        self.reason_counts.update(reason.value for _, reason in result.skipped)

    def _get_group(self, place: Any) -> Any:
        """Return the key of the group of texts to which the text at ``place`` belongs.

        A client may display all texts of a group as one text. In this base class all texts of a reply form one group.
        """
        return None

    def _get_view(self, group: Any = None) -> ReplyView:
        """Return the object that tracks the text that a client displays for a group of texts.

        Restoring depends on it: no original is put into a link that began earlier in the displayed text.
        """
        if group not in self._views:
            self._views[group] = view = self._exchange.make_reply_view()
            if self._common_view.has_effect:  # a link or markup began in a value outside all texts
                view.stop_restoring()
        return self._views[group]

    def _track_unchanged(self, value: Any) -> None:
        """Track an unchanged value that a client may display next to any text of the reply.

        If the value begins a link, surrogates that would be inside the link are not restored.
        """
        for text in find_displayed_texts(value):
            for view in (self._common_view, *self._views.values()):
                view.pass_text(text)

    def _refuse_late_text(self, place: Any) -> None:
        """Raise ``Refusal`` if a text continues although the next text of its group has begun.

        The surrogates of the next text are already restored. The late part could begin a link in front of them, which
        would send the originals to the host of the link.
        """
        if place in self._begun_texts and self._newest_by_group[self._get_group(place)] != place:
            raise make_upstream_refusal("continued a text after the next text had begun")

    def _feed_text(self, place: Any, delta: str) -> str:
        if place not in self._streams and delta:
            group = self._get_group(place)
            self._begun_texts.add(place)
            self._newest_by_group[group] = place
            self._streams[place] = self._exchange.stream(record=False)
            self._get_view(group).begin_text(self._streams[place])
        return self._streams[place].feed(delta) if delta else ""

    def _close_text(self, place: Any) -> tuple[str, str, str]:
        """End the text at the position ``place`` of the reply.

        Returns:
            The end of the text, which was held back as a possible surrogate; the whole restored text; and the text as
            the model wrote it.
        """
        stream = self._streams.pop(place, None)
        if stream is None:
            return "", "", ""
        rest = stream.close()
        self._get_view(self._get_group(place)).end_text(stream)
        assert stream.result is not None
        self._count_result(stream.result)
        return rest, stream.result.reply, stream.model_text


def list_objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; an empty list if the value is not a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def list_other_values(value: Any) -> list[Any]:
    """Return the entries of a list that are not objects; a value that is not a list is the only entry."""
    return [entry for entry in value if not isinstance(entry, dict)] if isinstance(value, list) else [value]


def drop_fields(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a copy of an object without the named fields."""
    return {name: entry for name, entry in value.items() if name not in names}


def get_index(value: Mapping[str, Any], name: str = "index") -> int:
    """Return the index in a field of an object; 0 if the field is not a number."""
    found = value.get(name)
    return found if isinstance(found, int) else 0


def get_string(value: Any) -> str:
    """Return the value if it is a string, otherwise an empty string."""
    return value if isinstance(value, str) else ""


def parse_object(text: str) -> Any:
    """Return the object that a JSON text encodes; ``None`` if the text is not a JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def make_index_key(number: Any) -> Any:
    """Return a hashable key for an index: a number unchanged, and any other value as a string."""
    return number if type(number) is int else repr(number)
