"""Base class of objects that put original words back into replies of an API, complete or streamed.

The objects change only the texts of a reply. All other values stay unchanged.
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
    """Base class of objects that put original words back into one reply of a language model.

    The request contained surrogates (replacements) of original words. Where the reply repeats a surrogate, the object
    inserts the original word again. Values of unknown types are not changed.

    Args:
        exchange: The conversation at the time of the request, which stores the original of each surrogate.
        tools: Names of tools whose arguments get original words. In a stream, the client gets all arguments of such a
            call in one event.

    Attributes:
        restored_messages: The reply with original words, as messages that the client may send again; one list for each
            alternative reply.
        counts: How many surrogates became original words again, and how many did not. ``unshared_results`` counts tool
            results whose names were sent with new surrogates instead of those in the rest of the conversation.
            ``unknown_tags`` counts tags that the request did not contain, such as ``[person 99]``.
        reason_counts: Number of surrogates that did not become original words, by reason.
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
        these results are replaced by new surrogates (replacements), so that the model cannot test guesses of hidden
        names.

        Raises:
            Refusal: The reply has an item of an unknown type, or is nested too deeply.
        """
        try:
            return self._exchange.claim_reply(reply)
        except (InputError, RecursionError):
            raise make_upstream_refusal("sent an item of an unknown type, or one nested too deeply") from None

    def note_unclear(self, count: int) -> None:
        """Store the number of tool calls with ambiguous arguments in ``counts``, for the log line."""
        if count:
            self.counts["unclear_calls"] = count

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a complete (not streamed) reply, with original words in place of their surrogates (replacements)."""
        return reply

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield an event of a stream, with original words in place of their surrogates (replacements).

        If the text of an event ends with the possible beginning of a surrogate, such as ``Mar`` of ``Maria``, this end
        is held back, and yielded with the next event.
        """
        yield event

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield the rest of a reply at the end of a stream.

        The rest is text that the restorer has held back, because the text may be the beginning of a surrogate
        (replacement). The restorer yields the rest even if the upstream (language model server) sent no end event.
        """
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
        """Return whether the tool of a call gets original words in its arguments."""
        name = call.get("name")
        return isinstance(name, str) and name in self._tools

    def _count_result(self, result: RestoredReply) -> None:
        self.counts.update({name: len(getattr(result, name)) for name in _COUNT_NAMES})
        if result.unknown_tags:
            self.counts["unknown_tags"] += len(result.unknown_tags)
        self.reason_counts.update(reason.value for _, reason in result.skipped)

    def _get_group(self, place: Any) -> Any:
        """Return the key of the group of texts that contains the text at the position ``place`` of the reply.

        A client may display all texts of a group as one text. In this base class all texts of a reply form one group.
        """
        return None

    def _get_view(self, group: Any = None) -> ReplyView:
        """Return the ``ReplyView`` of a group of texts, which stores what a client displays for this group.

        If a displayed text begins a link, ``ReplyView`` prevents that later texts of the group get original words
        inside that link.
        """
        if group not in self._views:
            self._views[group] = view = self._exchange.make_reply_view()
            if self._common_view.has_effect:  # a link or markup began in a value outside all texts
                view.stop_restoring()
        return self._views[group]

    def _track_unchanged(self, value: Any) -> None:
        """Inform the scanners of links about a value of the reply in which no original is restored.

        A client may display the value and a text of the reply as one text, for example ``[See](https://a.example/`` and
        then the text. If the value begins a link in this way, no original is restored in the rest of the link: a client
        that opens the link would send the original to its host.
        """
        for text in find_displayed_texts(value):
            for view in (self._common_view, *self._views.values()):
                view.pass_text(text)

    def _refuse_late_text(self, place: Any) -> None:
        """Raise ``Refusal`` if a text of a stream continues after the next text of its group has begun.

        A client may display both texts as one, and the later one already contains original words. If the late part of
        the first text begins a link, a client that opens the link would send these words to the host of the link.
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
        """Finish the text at the position ``place`` of a streamed reply, and return the rest of the text.

        Returns:
            The end of the text, which was held back as the possible beginning of a surrogate (replacement); the whole
            text with original words; and the text as the model wrote it.
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
    """Return the JSON objects in a list; an empty list if the value is not a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def list_other_values(value: Any) -> list[Any]:
    """Return the entries of a list that are not JSON objects. A value that is not a list counts as the only entry."""
    return [entry for entry in value if not isinstance(entry, dict)] if isinstance(value, list) else [value]


def drop_fields(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a copy of a JSON object without the fields whose names are given."""
    return {name: entry for name, entry in value.items() if name not in names}


def get_index(value: Mapping[str, Any], name: str = "index") -> int:
    """Return the integer in the field ``name`` of a JSON object; 0 if the field has no integer."""
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
