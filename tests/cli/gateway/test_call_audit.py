"""Every part of a reply that a client may run as a call is counted, or no result shares the mapping."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra gateway: make integrations")
pytest.importorskip("httpcore2", reason="needs the extra gateway: make integrations")

from planted import planted
from textveil import Conversation, Sanitizer
from textveil_cli.gateway.call_audit import CallAudit
from textveil_cli.gateway.proxy import RESTORERS_BY_PATH
from textveil_cli.gateway.sse import ServerSentEvent

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
MANY = json.dumps({"q": [f"Zqxw{letter}burg" for letter in "abcdefgh"]})
FEW = json.dumps({"q": "Zqxwaburg"})
Data = dict[str, Any]


def run(sanitizer: Sanitizer, path: str, reply: Data | Sequence[Data]) -> tuple[int, int]:
    """Return the number of results sent without the mapping after a reply, and the number of unclear calls."""
    conversation = Conversation(sanitizer, restore_tools={"find"})
    exchange = conversation.start_exchange()
    exchange.outgoing([{"role": "user", "content": "We met in Zqxwaburg"}])
    restoring, audit = RESTORERS_BY_PATH[path](exchange, {"find"}), CallAudit(exchange)
    if isinstance(reply, dict):
        audit.observe(reply)
        restoring.restore_whole(reply)
    else:
        for data in reply:
            audit.observe(data)
            assert [*restoring.restore_event(ServerSentEvent("", data))] or True
            if audit.has_ended_part:
                audit.count_unrecorded()
        assert [*restoring.end_stream()] or True
    audit.count_unrecorded(is_end=True)
    after = conversation.start_exchange()
    after.outgoing([{"role": "tool", "tool_call_id": "fc_1", "content": "Nothing in Zqxwaburg."}])
    return after.unshared_results, audit.unclear_count


def call(arguments: Any, **more: Any) -> Data:
    return {"id": "fc_1", "type": "function", "function": {"name": "look", "arguments": arguments}, **more}


def chunk(reason: str | None = None, index: Any = 0, **delta: Any) -> Data:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": reason}]}


def piece(arguments: Any, call_id: str | None = None, index: Any = 0, reason: str | None = None) -> Data:
    function = {"arguments": arguments} if call_id is None else {"name": "look", "arguments": arguments}
    entry = {"index": index, "function": function, **({} if call_id is None else {"id": call_id, "type": "function"})}
    return chunk(reason, tool_calls=[entry])


def message(**fields: Any) -> Data:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": None, **fields}}]}


def start(call_id: str = "fc_1", index: Any = 0, **given: Any) -> Data:
    block = {"type": "tool_use", "id": call_id, "name": "look", "input": given}
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(text: Any, index: Any = 0) -> Data:
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stop(index: Any = 0) -> Data:
    return {"type": "content_block_stop", "index": index}


def item(arguments: Any, **more: Any) -> Data:
    return {"type": "function_call", "id": "f1", "call_id": "fc_1", "name": "look", "arguments": arguments, **more}


def of_item(step: str, arguments: Any, index: Any = 0, **more: Any) -> Data:
    return {"type": f"response.output_item.{step}", "output_index": index, "item": item(arguments, **more)}


def of_arguments(step: str, index: Any = 0, **fields: Any) -> Data:
    return {"type": f"response.function_call_arguments.{step}", "output_index": index, **fields}


def completed(*output: Data) -> Data:
    return {"type": "response.completed", "response": {"id": "r", "output": [*output]}}


END = [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]
PIECES = [MANY[place : place + 7] for place in range(0, len(MANY), 7)]
#: A harmless call, and what a client may run in its place.
BROKEN: dict[str, tuple[str, Data | list[Data]]] = {
    "a block that does not stop": (MESSAGES, [start(), block_delta(MANY[:-2])]),
    "a block that stops before its arguments": (MESSAGES, [start(), stop(), block_delta(MANY), *END]),
    "arguments after the end": (MESSAGES, [start(), block_delta(FEW), stop(), *END, block_delta(MANY)]),
    "arguments of no block": (MESSAGES, [start(), block_delta(FEW), stop(), block_delta(MANY, 1), *END]),
    "a block that starts again": (MESSAGES, [start(), block_delta(FEW), start("c_2"), block_delta(MANY), stop(), *END]),
    "arguments at the start and after it": (
        MESSAGES,
        [start(q=[f"Zqxv{n}" for n in "abcdefgh"]), block_delta(FEW), stop(), *END],
    ),
    "arguments in another delta": (
        MESSAGES,
        [start(), {"type": "content_block_delta", "index": 0, "delta": {"type": "x", "input": {"q": MANY}}}, stop()],
    ),
    "an index that is no number": (MESSAGES, [start(), block_delta(MANY, "0"), stop(), *END]),
    "arguments that are an object": (MESSAGES, [start(), block_delta({"q": MANY}), stop(), *END]),
    "an output that differs from its item": (RESPONSES, [of_item("done", "{}"), completed(item(MANY))]),
    "arguments that differ from their item": (
        RESPONSES,
        [of_item("added", ""), of_arguments("done", arguments=MANY), of_item("done", "{}"), completed(item("{}"))],
    ),
    "pieces that differ from their end": (
        RESPONSES,
        [of_item("added", ""), *[of_arguments("delta", delta=part) for part in PIECES], of_item("done", "{}")],
    ),
    "arguments of no item": (RESPONSES, [of_arguments("delta", 7, delta=MANY), of_item("done", "{}", 0)]),
    "an item with another call": (RESPONSES, [of_item("added", ""), of_item("done", MANY, call_id="fc_2")]),
    "a tool of another kind": (
        RESPONSES,
        [completed({"type": "custom_tool_call", "call_id": "fc_1", "name": "look", "input": MANY})],
    ),
    "a message of an unknown type": (CHAT, message(type="x", tool_calls=[call(MANY)])),
    "a message with odd content": (CHAT, message(content=[{"x": 1}], tool_calls=[call(MANY)])),
    "calls that are no list": (CHAT, message(tool_calls={"0": call(MANY)})),
    "a call in the choice": (CHAT, {"choices": [{"index": 0, "tool_calls": [call(MANY)]}]}),
    "a call of two kinds": (CHAT, message(tool_calls=[call("{}", custom={"input": MANY})])),
    "a call without a type": (CHAT, message(tool_calls=[{"id": "fc_1", "function": {"arguments": MANY}}])),
    "a function call of the old kind": (CHAT, message(function_call={"name": "look", "arguments": MANY})),
    "arguments as an object": (CHAT, message(type="x", tool_calls=[call({"q": MANY})])),
    "a message in a stream": (CHAT, [piece("", "fc_1"), {"choices": [message(tool_calls=[call(MANY)])["choices"][0]]}]),
    "a message in pieces": (
        CHAT, [piece("{}", "fc_1"), *[message(tool_calls=[call(part)]) for part in PIECES]]),
    "pieces after the end": (CHAT, [piece("{}", "fc_1"), chunk("tool_calls"), *[piece(part) for part in PIECES]]),
    "pieces with an end each": (
        CHAT, [piece("", "fc_1"), chunk("tool_calls"), *[piece(part, reason="tool_calls") for part in PIECES]]),
    "several calls at one index": (
        CHAT, [chunk(tool_calls=[{"index": 0, **call("{}")}, {"index": 0, **call(MANY), "id": "c_2"}]), chunk("stop")]),
    "an index of another type": (CHAT, [piece("{}", "fc_1"), piece(MANY, index="0"), chunk("tool_calls")]),
    "pieces that are objects": (CHAT, [piece("{}", "fc_1"), piece({"q": MANY}), chunk("tool_calls")]),
    "a delta of the old kind": (CHAT, [piece("{}", "fc_1"), chunk(function_call={"arguments": MANY}), chunk("stop")]),
    "a delta beside the choices": (CHAT, [piece("{}", "fc_1"), {"delta": {"tool_calls": [call(MANY)]}}]),
    "choices with one index": (
        CHAT, [{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call("{}")}]}}]},
               {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call(MANY)}]}}] * 2}]),
}  # fmt: skip
#: What servers send, with one string of the model's own.
REGULAR: dict[str, tuple[str, Data | list[Data]]] = {
    "a whole chat": (CHAT, message(tool_calls=[call(FEW)])),
    "a chat": (CHAT, [piece("", "fc_1"), *[piece(FEW[place : place + 3]) for place in range(0, len(FEW), 3)],
                      piece("", "fc_2", 1), piece(FEW, index=1), chunk("tool_calls"), {"choices": [], "usage": {}}]),
    "several choices": (CHAT, [piece("{", "fc_1"), chunk("stop", 1, content="x"), piece("}"), chunk("tool_calls")]),
    "a chat that sends each call at once": (CHAT, [piece(FEW, "fc_1", reason="tool_calls")]),
    "a whole message": (MESSAGES, {"content": [start(q="Zqxwaburg")["content_block"]]}),
    "a message": (MESSAGES, [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Well"}}, stop(),
        start("fc_1", 1), block_delta("", 1), block_delta(FEW[:5], 1), block_delta(FEW[5:], 1), stop(1), *END]),
    "a message with a call that the provider runs": (MESSAGES, [
        {"type": "content_block_start", "index": 0,
         "content_block": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}},
        block_delta(MANY), stop(), start("fc_1", 1), block_delta(FEW, 1), stop(1), *END]),
    "a whole response": (RESPONSES, {"output": [item(FEW)], "tools": [{"parameters": {"input": MANY}}]}),
    "a response": (RESPONSES, [
        {"type": "response.created", "response": {"output": [], "tools": [{"input": MANY}]}},
        of_item("added", ""), of_arguments("delta", delta=FEW[:5]), of_arguments("delta", delta=FEW[5:]),
        of_arguments("done", arguments=FEW), of_item("done", FEW), completed(item(FEW))]),
    "a call that the provider runs": (RESPONSES, [
        {"type": "response.mcp_call_arguments.done", "output_index": 0, "arguments": MANY},
        of_item("done", FEW, 1),
        completed({"type": "mcp_call", "id": "m", "arguments": MANY}, item(FEW))]),
    "a call whose arguments are restored": (CHAT, message(
        tool_calls=[{"id": "fc_1", "type": "function", "function": {"name": "find", "arguments": FEW}}])),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_reply_that_clients_read_differently_shares_no_mapping(sanitizer: Sanitizer, case: str) -> None:
    assert run(sanitizer, *json.loads(json.dumps(BROKEN[case])))[0] == 1


@pytest.mark.parametrize("case", REGULAR)
def test_a_regular_reply_shares_the_mapping(sanitizer: Sanitizer, case: str) -> None:
    assert run(sanitizer, *json.loads(json.dumps(REGULAR[case]))) == (0, 0)


def test_planted_audits(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = (
        ("count_unrecorded", ("len(values) > 1", "len(values) > 99"), "an output that differs from its item"),
        ("_observe_block", ("or place in self._ended_places", ""), "a block that stops before its arguments"),
        ("_observe_call", ("or place in self._ended_places", ""), "pieces after the end"),
    )
    for name, change, case in faults:
        with monkeypatch.context() as patch:
            patch.setattr(CallAudit, name, planted(getattr(CallAudit, name), change))
            changed = run(sanitizer, *json.loads(json.dumps(BROKEN[case])))
        assert changed[1] < run(sanitizer, *json.loads(json.dumps(BROKEN[case])))[1]


def with_name(case: Any, name: str) -> Any:
    """Return a path and a reply whose calls use another tool name and no counted arguments."""
    return json.loads(json.dumps(case).replace('"look"', json.dumps(name)))


NAMED: dict[str, Any] = {
    "a whole chat": (CHAT, message(tool_calls=[call("{}")])),
    "a whole message": (MESSAGES, {"content": [start()["content_block"]]}),
    "a whole response": (RESPONSES, {"output": [item("{}")]}),
    "a chat": (CHAT, [piece("", "fc_1"), piece("{}"), chunk("tool_calls")]),
    "a message": (MESSAGES, [start(), block_delta("{}"), stop(), *END]),
    "a response": (RESPONSES, [of_item("added", ""), of_arguments("done", arguments="{}"), of_item("done", "{}"),
                               completed(item("{}"))]),
    "a chat that does not end": (CHAT, [piece("{}", "fc_1")]),
    "a message of a type that is not known": (CHAT, message(type="x", tool_calls=[call("{}")])),
    "a custom call": (CHAT, message(
        tool_calls=[{"id": "fc_1", "type": "custom", "custom": {"name": "look", "input": "{}"}}])),
    "an item that differs at the end": (RESPONSES, [
        of_item("added", "", name="a"), of_item("done", "{}", name="a"), completed(item("{}"))]),
    "an item in no event": (RESPONSES, [completed(item("{}"))]),
    "a name behind another": (CHAT, [
        piece("", "fc_1"),
        chunk(tool_calls=[{"index": 0, "function": {"name": "look"}}]), chunk("tool_calls")]),
}  # fmt: skip


@pytest.mark.parametrize("name", ["find", "Zqxw"])
def test_the_result_of_a_call_with_a_name_alone_shares_no_mapping(sanitizer: Sanitizer, name: str) -> None:
    calls = [{"id": "fc_1", "type": "custom", "custom": {"name": name}}]
    assert run(sanitizer, CHAT, message(tool_calls=calls))[0] == 1


@pytest.mark.parametrize("case", NAMED)
def test_a_name_that_a_model_invents_counts_wherever_it_stands(sanitizer: Sanitizer, case: str) -> None:
    assert run(sanitizer, *with_name(NAMED[case], "find"))[0] == 0
    assert run(sanitizer, *with_name(NAMED[case], "Kowalczyk_Novak_Zqxw"))[0] == 1


def test_planted_names_that_the_audit_does_not_see(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallAudit, "_add_name", lambda audit, call, name: None)
    missed = [case for case in NAMED if run(sanitizer, *with_name(NAMED[case], "Kowalczyk_Novak_Zqxw"))[0] == 0]
    assert {"a message of a type that is not known", "an item that differs at the end"} <= {*missed}
