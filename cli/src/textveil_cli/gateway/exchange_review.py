"""Store the last requests and replies of a gateway with their originals, for the page of ``--review-page``.

For each request the module stores the texts before and after words were replaced. For each reply it stores the texts
before and after original words were put back. Number and length of these texts are bounded.

Privacy:
    The texts are stored in memory only, never in a file or a log.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol

from textveil_cli.gateway.differences import iterate_values
from textveil_cli.gateway.sse import ServerSentEvent

#: Maximum number of requests, of texts in each, and of characters of one text and of all texts of a request.
MAX_EXCHANGES, _MAX_TEXTS, _MAX_CHARACTERS, _MAX_ALL_CHARACTERS = 20, 200, 20_000, 100_000
_MAX_PLACE = 200
#: Fields that contain texts of a user or a model; these are shown even if nothing in them changed.
_TEXT_FIELDS = frozenset(
    ("content", "text", "input", "output", "system", "instructions", "arguments", "refusal", "thinking", "reasoning")
)
_MESSAGE_LISTS = ("messages", "input")


@dataclass(kw_only=True)
class ReviewedText:
    """One text of a request or a reply, before and after the gateway changed words in it.

    Attributes:
        place: Path of the field that contains the text, such as ``messages.0.content``.
        role: Role of its message; empty for a text outside messages.
        before: The text before the gateway changed it.
        after: The text after the gateway changed it.
        is_earlier: Whether an earlier request of the conversation contained the text too.
    """

    place: str
    role: str = ""
    before: str = ""
    after: str = ""
    is_earlier: bool = False


@dataclass(kw_only=True)
class ReviewedExchange:
    """A request and its reply, with the original texts.

    Attributes:
        request_id: Identifier of the request, as in the log.
        path: Path of its route.
        seconds: Time of the request, in seconds since the epoch.
        sent: Texts of the request, before and after words were replaced.
        received: Texts of the reply, before and after original words were put back, by the path of their field.
        status: HTTP status of the response; ``None`` until the response has ended, 0 if the client disconnected before.
        left_out: Number of characters of the request that are not stored.
        left_out_of_reply: Number of characters of the reply that are not stored.
    """

    request_id: str
    path: str
    seconds: float
    sent: list[ReviewedText]
    received: dict[str, ReviewedText] = field(default_factory=dict)
    status: int | None = None
    left_out: int = 0
    left_out_of_reply: int = 0


class ReplySteps(Protocol):
    """Protocol for objects that put original words back into a reply, such as ``ApiReplyRestorer``.

    ``ExchangeReview`` wraps such an object to store the texts of the reply.
    """

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a complete reply (one that is not streamed), with original words in place of their replacements."""
        ...

    def restore_event(self, event: ServerSentEvent) -> Iterable[ServerSentEvent]:
        """Put original words back into one event of a stream, and return the events to send to the client instead."""
        ...

    def end_stream(self) -> Iterable[ServerSentEvent]:
        """Return the events that remain to be sent to the client at the end of a stream."""
        ...


class RequestObserver:
    """Observer of the requests of a gateway; this base class stores nothing."""

    def add_request(self, request_id: str, path: str, original: Mapping[str, Any], sent: Mapping[str, Any]) -> None:
        """Handle a request, given its original body and the body that is sent to the model. This class does nothing."""

    def observe_reply(self, request_id: str, restorer: ReplySteps) -> ReplySteps:
        """Return ``restorer``, or a wrapper around it that gives the texts of the reply to this observer."""
        return restorer

    def end_request(self, request_id: str, status: int) -> None:
        """Handle the end of a request, given the HTTP status of its response. This class does nothing."""


class ExchangeReview(RequestObserver):
    """Observer that stores the last requests and replies of a gateway with their originals.

    Privacy:
        The object contains original texts. They are in memory only, in bounded size. The oldest request is removed
        first.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._exchanges: OrderedDict[str, ReviewedExchange] = OrderedDict()

    def add_request(self, request_id: str, path: str, original: Mapping[str, Any], sent: Mapping[str, Any]) -> None:
        """Store the original and the sent texts of a request; remove the oldest request if there are too many.

        Args:
            request_id: Identifier of the request in the log.
            path: Path of its route.
            original: Its original body.
            sent: The body that is sent to the language model.
        """
        texts, left_out = _limit_texts(_list_in_depth(_iterate_request_texts(original, sent)))
        exchange = ReviewedExchange(
            request_id=request_id, path=path, seconds=time.time(), sent=texts, left_out=left_out
        )
        with self._lock:
            self._exchanges[request_id] = exchange
            while len(self._exchanges) > MAX_EXCHANGES:
                self._exchanges.popitem(last=False)

    def observe_reply(self, request_id: str, restorer: ReplySteps) -> ReplySteps:
        """Wrap ``restorer``, which puts original words into a reply, so that the texts of the reply are also stored."""
        exchange = self._exchanges.get(request_id)
        return restorer if exchange is None else _ObservedReply(self._lock, exchange, restorer)

    def end_request(self, request_id: str, status: int) -> None:
        """Store the HTTP status of the response; 0 if the client disconnected before the response."""
        with self._lock:
            if request_id in self._exchanges:
                self._exchanges[request_id].status = status

    def list_exchanges(self) -> list[ReviewedExchange]:
        """Return copies of the stored requests with their replies, the newest first."""
        with self._lock:
            return [
                replace(exchange, received={place: replace(text) for place, text in exchange.received.items()})
                for exchange in reversed(self._exchanges.values())
            ]


class _ObservedReply:
    """Wrapper around an ``ApiReplyRestorer`` that also stores the texts of the reply for the review page."""

    def __init__(self, lock: Lock, exchange: ReviewedExchange, restorer: ReplySteps) -> None:
        self._lock, self._exchange, self._restorer = lock, exchange, restorer
        self._characters = 0

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        received = _list_in_depth(_iterate_reply_texts(reply))  # before the restorer changes the reply
        restored = self._restorer.restore_whole(reply)
        self._add_texts(received, _list_in_depth(_iterate_reply_texts(restored)))
        return restored

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        received = [*_iterate_deltas(event.data)]
        events = [*self._restorer.restore_event(event)]
        self._add_texts(received, (delta for after in events for delta in _iterate_deltas(after.data)))
        return iter(events)

    def end_stream(self) -> Iterator[ServerSentEvent]:
        events = [*self._restorer.end_stream()]
        self._add_texts((), (delta for after in events for delta in _iterate_deltas(after.data)))
        return iter(events)

    def _add_texts(self, received: Iterable[tuple[str, str]], restored: Iterable[tuple[str, str]]) -> None:
        with self._lock:
            for place, text in received:
                found = self._get_text(place)
                added = "" if found is None else self._limit_addition(found.before, text)
                if found is not None:
                    found.before += added
                self._exchange.left_out_of_reply += len(text) - len(added)
            for place, text in restored:
                if (found := self._get_text(place)) is not None:
                    found.after += self._limit_addition(found.after, text)

    def _get_text(self, place: str) -> ReviewedText | None:
        place = place[:_MAX_PLACE]
        texts = self._exchange.received
        if place not in texts and len(texts) < _MAX_TEXTS:
            texts[place] = ReviewedText(place=place)
        return texts.get(place)

    def _limit_addition(self, text: str, addition: str) -> str:
        added = addition[: max(0, min(_MAX_CHARACTERS - len(text), 2 * _MAX_ALL_CHARACTERS - self._characters))]
        self._characters += len(added)
        return added


def _limit_texts(texts: list[ReviewedText]) -> tuple[list[ReviewedText], int]:
    """Select the last texts of a request, as many as the review page may show, and shorten long texts.

    Returns:
        The stored texts in their order, and the number of characters that are not stored.
    """
    limited, size, left_out = list[ReviewedText](), 0, 0
    for text in reversed(texts):
        most = max(0, min(_MAX_CHARACTERS, _MAX_ALL_CHARACTERS - size))
        before = text.before[:most] if len(limited) < _MAX_TEXTS else ""
        left_out += len(text.before) - len(before)
        if before or (not text.before and len(limited) < _MAX_TEXTS):
            size += len(before)
            text.before, text.after = before, text.after[:most]
            limited.append(text)
    return limited[::-1], left_out


def _iterate_request_texts(original: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[ReviewedText]:
    """Yield the texts of a request, and all other values in which the gateway replaced words, for the review page."""
    earlier_counts = {name: _count_earlier(original.get(name)) for name in _MESSAGE_LISTS}
    for place, value, other in iterate_values(original, sent):
        if value == other and not (isinstance(value, str) and _is_text_place(place)):
            continue
        name, _, rest = place.partition(".")
        number, _, _ = rest.partition(".")
        message = original[name][int(number)] if name in _MESSAGE_LISTS and number.isdecimal() else None
        role = message.get("role") if isinstance(message, Mapping) else None
        yield ReviewedText(
            place=place,
            role=role if isinstance(role, str) else "",
            before=value if isinstance(value, str) else repr(value),
            after=other if isinstance(other, str) else repr(other),
            is_earlier=message is not None and int(number) < earlier_counts[name],
        )


def _count_earlier(messages: Any) -> int:
    """Return how many messages of a request were already part of an earlier request of the conversation.

    These are the messages up to the last message of the model.
    """
    roles = [message.get("role") if isinstance(message, Mapping) else "" for message in messages or ()]
    return len(roles) - roles[::-1].index("assistant") if "assistant" in roles else 0


def _is_text_place(place: str) -> bool:
    """Return whether a path leads to a field that contains text, judging by the last name in the path."""
    names = [name for name in place.split(".") if not name.isdecimal()]
    return bool(names) and names[-1] in _TEXT_FIELDS


def _list_in_depth(values: Iterator[Any]) -> list[Any]:
    """Return the values of an iterator, up to the first value that is nested too deeply for Python.

    The error about the nesting is suppressed, so that the review page never makes a request fail.
    """
    found = []
    with suppress(RecursionError):
        found.extend(values)
    return found


def _iterate_reply_texts(reply: Any) -> Iterator[tuple[str, str]]:
    """Yield the path of each text field of a complete reply, together with the text."""
    for place, value, _ in iterate_values(reply, reply):
        if isinstance(value, str) and _is_text_place(place):
            yield place, value


def _iterate_deltas(data: Any) -> Iterator[tuple[str, str]]:
    """Yield each piece of text in an event of a streamed reply, as a pair.

    The first entry names the text to which the piece belongs, such as ``choices.0.content``; the second is the piece.
    """
    if not isinstance(data, Mapping):
        return
    delta = data.get("delta")
    if isinstance(delta, str):  # OpenAI's responses
        kind = str(data.get("type", "")).removeprefix("response.").removesuffix(".delta")
        yield f"output.{data.get('output_index', 0)}.{kind}.{data.get('content_index', 0)}", delta
    elif isinstance(delta, Mapping):  # Anthropic's messages
        for name, value in delta.items():
            if isinstance(value, str) and name in ("text", "thinking", "partial_json"):
                yield f"content.{data.get('index', 0)}.{name}", value
    for choice in _list_mappings(data.get("choices")):
        chosen = choice.get("delta")
        if isinstance(chosen, Mapping):
            index = choice.get("index", 0)
            for name in ("content", "refusal", "reasoning", "reasoning_content"):
                if isinstance(chosen.get(name), str):
                    yield f"choices.{index}.{name}", chosen[name]
            for call in _list_mappings(chosen.get("tool_calls")):
                function = call.get("function")
                if isinstance(function, Mapping) and isinstance(function.get("arguments"), str):
                    yield f"choices.{index}.tool_calls.{call.get('index', 0)}.arguments", function["arguments"]


def _list_mappings(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
