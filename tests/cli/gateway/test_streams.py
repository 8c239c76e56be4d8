"""A stream gives the same text as the whole reply, for any division into deltas and bytes."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, KEY, RESPONSES, asked, call_of, events_of, stream, streamed_text, text_of
from hypothesis import given
from hypothesis import strategies as st
from serving import Server
from textveil import Conversation, Sanitizer
from textveil_cli.gateway.call_audit import CallAudit
from textveil_cli.gateway.proxy import RESTORERS_BY_PATH
from textveil_cli.gateway.sse import DONE, EventReader, ServerSentEvent
from textveil_cli.serve.access import Refusal
from upstream_replies import events, whole
from upstreams import Upstream

TEXT = "Anna Novak paid $4,718 for order 88213 on 12 March 2024, to anna.novak@zqxw.org in Boston."
#: What a model may write of it; {} is what went out.
REPLIES_TO = (
    "{}", "Summary: {} {}", "{}\n\n- one\n- two", '```json\n{{"a": "{}"}}\n```', "The {}s.", "", "No names here.", "{",
)  # fmt: skip


def cutting(seed: int, most: int) -> Callable[[str], list[str]]:
    """Return a function that cuts a text into parts of random lengths."""

    def cut(text: str) -> list[str]:
        chance, parts = random.Random(seed), []
        while text:
            length = chance.randint(1, most)
            parts.append(text[:length])
            text = text[length:]
        return parts

    return cut


def read(content: str, seed: int) -> list[ServerSentEvent]:
    """Return the events of a stream whose bytes arrive in parts."""
    events, found, raw = EventReader(1 << 20), [], content.encode()
    chance = random.Random(seed)
    while raw:
        length = chance.randint(1, 40)
        found += events.feed(raw[:length])
        raw = raw[length:]
    events.close()
    return found


@given(
    st.sampled_from([CHAT, RESPONSES, ANTHROPIC]),
    st.sampled_from(REPLIES_TO),
    st.sampled_from(["echo", "call"]),
    st.booleans(),
    st.integers(0, 1 << 30),
    st.integers(1, 30),
)
def test_any_stream_is_the_whole_reply(
    sanitizer: Sanitizer, path: str, reply: str, model: str, named: bool, seed: int, most: int
) -> None:
    conversation = Conversation(sanitizer, restore_tools={"find"} if named else ())
    exchange = conversation.start_exchange()
    sent = exchange.outgoing_text(TEXT)
    said = reply.replace("{}", sent)
    body, tools = asked(path, said, model), ["find"] if named else []
    once = RESTORERS_BY_PATH[path](exchange, tools)
    whole_reply = once.restore_whole(whole(path, body))
    streaming = RESTORERS_BY_PATH[path](exchange, tools)
    came: list[ServerSentEvent] = []
    for event in read("".join(events(path, body, cutting(seed, most))), seed):
        came += streaming.restore_event(event) if event.data not in (None, DONE) else [*streaming.end_stream(), event]
    came += streaming.end_stream()
    content = "".join(event.encode().decode() for event in came)
    if model == "echo":
        assert streamed_text(path, content) == text_of(path, whole_reply)
    else:
        assert arguments(path, content) == call_of(path, whole_reply)
    assert streaming.counts == once.counts
    assert [plain(reply) for reply in streaming.restored_messages] == [plain(reply) for reply in once.restored_messages]
    if path == RESPONSES:
        assert streaming.restored_messages[0] == whole_reply["output"] == events_of(content)[-1]["response"]["output"]


@pytest.mark.parametrize("most", range(6))
@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC])
@pytest.mark.parametrize("model", ["echo", "call"])
def test_a_reply_goes_out_again_as_the_model_wrote_it(sanitizer: Sanitizer, path: str, model: str, most: int) -> None:
    """This includes a guess that equals the restored surrogate beside it; whole, and in pieces of 1 to 5 characters."""
    conversation = Conversation(sanitizer, restore_tools={"find"})
    exchange, user = conversation.start_exchange(), {"role": "user", "content": "We met in Zqxwgrad"}
    surrogate = exchange.outgoing([user])[0]["content"].removeprefix("We met in ")
    text = f"We met in {surrogate}, or was it in Zqxwgrad? In {surrogate}."
    body, restoring = asked(path, text, model), RESTORERS_BY_PATH[path](exchange, ["find"])
    if most:
        for event in read("".join(events(path, body, cutting(0, most))), 0):
            list(restoring.restore_event(event) if event.data not in (None, DONE) else restoring.end_stream())
        list(restoring.end_stream())
    else:
        restoring.restore_whole(whole(path, body))
    said = restoring.restored_messages[0]
    assert "Zqxwgrad, or was it in Zqxwgrad" in json.dumps(said)
    again = conversation.start_exchange().outgoing([user, *said, {"role": "user", "content": "Go on."}])
    written = json.dumps(again[1:-1], ensure_ascii=False)
    assert text in written
    assert written.count("Zqxwgrad") == 1


def cut_utf16(text: str) -> list[str]:
    """Return the UTF-16 halves of a text, as a server sends them that cuts between two of them."""
    units = text.encode("utf-16-le")
    return [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]


@pytest.mark.parametrize("model", ["echo", "call"])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC])
def test_an_emoji_is_restored_if_its_halves_arrive_in_two_events(sanitizer: Sanitizer, path: str, model: str) -> None:
    text = "Novak sent \U0001f44b\U0001f3fd to us."
    conversation = Conversation(sanitizer, style="surrogate", facts="none", restore_tools={"find"})
    exchange, user = conversation.start_exchange(), {"role": "user", "content": text}
    sent = exchange.outgoing([user])[0]["content"]
    restoring = RESTORERS_BY_PATH[path](exchange, ["find"])
    came: list[ServerSentEvent] = []
    for event in read("".join(events(path, asked(path, sent, model), cut_utf16)), 0):
        came += restoring.restore_event(event) if event.data not in (None, DONE) else restoring.end_stream()
    came += restoring.end_stream()
    content = "".join(event.encode().decode() for event in came)
    if model == "echo":
        assert streamed_text(path, content) == text
        again = conversation.start_exchange().outgoing([user, *restoring.restored_messages[0], user])
        assert sent in json.dumps(again[1:-1], ensure_ascii=False)
    else:
        assert arguments(path, content) == {"who": text}


@pytest.mark.parametrize("path", [CHAT, ANTHROPIC])
def test_a_guess_cut_within_an_emoji_counts_as_one_string(sanitizer: Sanitizer, path: str) -> None:
    conversation = Conversation(sanitizer, style="surrogate", facts="none")
    exchange, user = conversation.start_exchange(), {"role": "user", "content": "Hello."}
    exchange.outgoing([user])
    audit = CallAudit(exchange)
    counted: list[Any] = []
    exchange.count_call = lambda call, arguments: counted.append(arguments)  # type: ignore[method-assign]
    call = '{"who": "\U0001f355"}'
    for event in read("".join(events(path, asked(path, "x", "call"), lambda _: cut_utf16(call))), 0):
        audit.observe(event.data)
    audit.count_unrecorded(is_end=True)
    assert counted == [call]


def plain(reply: Any) -> str:
    """Return a reply as a client sends it again: without empty fields."""
    from textveil_cli.gateway.conversation_ids import normalize_message as without

    return json.dumps(without(reply), sort_keys=True)


def arguments(path: str, content: str) -> Any:
    found = events_of(content)
    if path == CHAT:
        calls = [c for e in found for choice in e["choices"] for c in choice["delta"].get("tool_calls") or ()]
        return json.loads("".join(call["function"].get("arguments", "") for call in calls))
    if path == ANTHROPIC:
        deltas = [event["delta"] for event in found if event["type"] == "content_block_delta"]
        return json.loads("".join(delta["partial_json"] for delta in deltas))
    return json.loads("".join(e["delta"] for e in found if e["type"] == "response.function_call_arguments.delta"))


@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC])
def test_any_stream_through_the_gateway_is_the_whole_reply(gate: Server, up: Upstream, path: str) -> None:
    named = {**KEY, "X-Textveil-Conversation": f"streams {path}"}
    assert text_of(path, gate.ask("POST", path, asked(path, TEXT), named)[1]) == TEXT
    before = up.cut
    try:
        for seed in range(10):
            up.cut = cutting(seed, 1 + 3 * seed)
            assert streamed_text(path, stream(gate, path, asked(path, TEXT), named)) == TEXT
    finally:
        up.cut = before


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_what_a_model_thought_comes_back_before_its_answer(sanitizer: Sanitizer, name: str) -> None:
    exchange = Conversation(sanitizer).start_exchange()
    sent, restoring = exchange.outgoing_text(TEXT), RESTORERS_BY_PATH[CHAT](exchange, ())
    events = [
        ServerSentEvent("", {"choices": [{"index": 0, "delta": {of: part}}]})
        for of in (name, "content")
        for part in sent
    ]
    came = [after.data["choices"][0]["delta"] for event in events for after in restoring.restore_event(event)]
    assert "".join(delta.get(name, "") for delta in came[: len(sent) + 1]) == TEXT
    assert [*restoring.end_stream()]
    assert exchange.outgoing([{"role": "assistant", name: TEXT}]) == [{"role": "assistant", name: sent}]


@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC])
def test_a_stream_without_an_end_has_all_of_its_text(sanitizer: Sanitizer, path: str) -> None:
    """Some servers send no finish reason; others close the connection early."""
    exchange = Conversation(sanitizer).start_exchange()
    sent = exchange.outgoing_text(TEXT)
    content = "".join(events(path, asked(path, sent), cutting(1, 5)))
    last = {CHAT: '"finish_reason": "stop"', RESPONSES: "output_text.done", ANTHROPIC: "content_block_stop"}[path]
    blocks = content[: content.index(last)].split("\n\n")[:-1]
    restoring = RESTORERS_BY_PATH[path](exchange, ())
    came = [after for event in read("\n\n".join(blocks) + "\n\n", 3) for after in restoring.restore_event(event)]
    came += restoring.end_stream()
    assert streamed_text(path, "".join(event.encode().decode() for event in came)) == TEXT
    assert list(restoring.end_stream()) == []


SHAPES: list[dict[str, Any]] = [
    {}, {"choices": None}, {"choices": [1, {"delta": 1}]},
    {"choices": [{"index": [], "delta": {"content": ["a"], "tool_calls": [5]}}]},
    {"choices": [{"delta": {"tool_calls": [{"function": {"name": 1, "arguments": 2}}]}, "finish_reason": "stop"}]},
    {"type": [], "index": {}}, {"type": "content_block_start", "content_block": 1}, {"type": "content_block_stop"},
    {"type": "content_block_delta", "delta": {"partial_json": "{", "text": 1}}, {"type": "message_stop"},
    {"type": "content_block_start", "content_block": {"type": "tool_use", "input": 4}}, {"type": "message_start"},
    {"type": "response.output_text.done", "text": 5}, {"type": "response.completed", "response": {"output": [1, {}]}},
    {"type": "response.output_item.done", "item": {"type": 5}}, {"type": "response.output_text.delta", "delta": None},
    {"type": "response.function_call_arguments.done", "arguments": "{{", "sequence_number": "a"},
    {"type": "response.output_item.added", "item": {"type": "function_call", "name": ["find"], "arguments": 5}},
]  # fmt: skip


@pytest.mark.parametrize("path", RESTORERS_BY_PATH)
def test_events_and_replies_of_other_shapes_pass(sanitizer: Sanitizer, path: str) -> None:
    for tools in ([], ["find"]):
        restoring = RESTORERS_BY_PATH[path](Conversation(sanitizer).start_exchange(), tools)
        for shape in SHAPES:
            assert list(restoring.restore_event(ServerSentEvent("", json.loads(json.dumps(shape)))))
            assert restoring.restore_whole(json.loads(json.dumps(shape))) is not None
        list(restoring.end_stream())


def test_events_as_servers_write_them() -> None:
    raw = '\ufeffevent: a\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: a comment\n\ndata:{"b": 2}\n\nid: 5\n\ndata: [DONE]\n\n'
    found = [
        ServerSentEvent("a", {"a": 1}),
        ServerSentEvent("", None),
        ServerSentEvent("", {"b": 2}),
        ServerSentEvent("", None),
        ServerSentEvent("", DONE),
    ]
    for seed in range(20):
        assert read(raw, seed) == found
    half = 'data: {"a": "\\ud83d"}\n\n'  # the other half is in the next one
    assert read(half, 0)[0].encode() == half.encode()
    events = EventReader(10)
    assert list(events.feed(b"data: {")) == []
    with pytest.raises(Refusal, match="within an event"):
        events.close()
    with pytest.raises(Refusal, match="more than 10"):
        list(events.feed(b" " * 10))


def test_what_anthropic_thought_and_stopped_at(sanitizer: Sanitizer) -> None:
    exchange = Conversation(sanitizer).start_exchange()
    stop = exchange.outgoing_text("Novak:")
    thought = {"type": "thinking", "thinking": f"It is {stop}", "signature": "sig"}
    deltas = [{"type": "thinking_delta", "thinking": part} for part in ("It is ", stop)]
    streaming = RESTORERS_BY_PATH[ANTHROPIC](exchange, ())
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}
    steps = [start, *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas)]
    steps += [{"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}}]
    steps += [{"type": "content_block_stop", "index": 0}]
    steps += [{"type": "message_delta", "delta": {"stop_reason": "stop_sequence", "stop_sequence": stop}}]
    came = [
        event
        for step in [*steps, {"type": "message_stop"}]
        for event in streaming.restore_event(ServerSentEvent("", step))
    ]
    assert [event.data for event in came[:5]] == steps[:5]
    assert came[5].data["delta"]["stop_sequence"] == "Novak:"
    assert exchange.outgoing(streaming.restored_messages[0]) == [{"role": "assistant", "content": [thought]}]
    once = RESTORERS_BY_PATH[ANTHROPIC](exchange, ())
    assert once.restore_whole({"content": [dict(thought)], "stop_sequence": stop})["stop_sequence"] == "Novak:"
    assert once.restored_messages == streaming.restored_messages


def test_a_message_that_leaves_out_whose_it_is(sanitizer: Sanitizer) -> None:
    exchange = Conversation(sanitizer).start_exchange()
    reply = {"choices": [{"index": 0, "message": {"content": exchange.outgoing_text("Novak")}}]}
    assert text_of(CHAT, RESTORERS_BY_PATH[CHAT](exchange, ()).restore_whole(reply)) == "Novak"
