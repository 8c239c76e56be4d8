"""Requests and replies of all shapes: the upstream gets surrogates, and the client gets restored text."""

import json
import time
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, KEY, RESPONSES, asked, call_of, events_of, stream, streamed_text, text_of
from serving import Server
from upstreams import Upstream

PATHS = (CHAT, RESPONSES, ANTHROPIC)
TEXT = "I am Zqxwvina Novak, my number is 47118.821. Order 88213.471 came with 2 broken chairs for Novak."
PLANTED = ("Zqxw", "Novak", "47118.821", "88213.471")


def clean(up: Upstream) -> str:
    """Return the last request after a check that it has no personal data of ``TEXT``."""
    said = json.dumps(up.last)
    assert not any(word in said for word in PLANTED)
    return said


@pytest.mark.parametrize("path", PATHS)
def test_a_reply_has_the_users_words_again(gate: Server, up: Upstream, path: str) -> None:
    status, reply, headers = gate.ask("POST", path, asked(path, TEXT), KEY)
    assert (status, text_of(path, reply)) == (200, TEXT)
    clean(up)
    assert headers["x-textveil-counts"] == "restored=5 not_restored_words=0 ambiguous=0 tools=0 skipped=0"
    assert up.asked[-1][1]["authorization"] == KEY["Authorization"]


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_has_them_too(gate: Server, up: Upstream, path: str) -> None:
    content = stream(gate, path, asked(path, TEXT))
    assert streamed_text(path, content) == TEXT
    clean(up)
    if path == RESPONSES:
        events = events_of(content)
        numbers = [event["sequence_number"] for event in events]
        assert numbers == sorted(set(numbers))
        assert events[-1]["response"]["output"][0]["content"][0]["text"] == TEXT
        assert [event["text"] for event in events if event["type"].endswith("text.done")] == [TEXT]
    elif path == CHAT:
        assert "data: [DONE]" in content
    assert ": textveil restored=" in content


def streamed_call(path: str, content: str) -> Any:
    """Return the arguments of the call in a stream."""
    events = events_of(content)
    if path == CHAT:
        calls = [c for e in events for choice in e["choices"] for c in choice["delta"].get("tool_calls") or ()]
        return json.loads("".join(call["function"].get("arguments", "") for call in calls))
    if path == ANTHROPIC:
        deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
        return json.loads("".join(delta["partial_json"] for delta in deltas))
    return json.loads("".join(e["delta"] for e in events if e["type"] == "response.function_call_arguments.delta"))


@pytest.mark.parametrize("path", PATHS)
def test_arguments_of_a_named_tool_are_restored(gate: Server, path: str) -> None:
    assert call_of(path, gate.ask("POST", path, asked(path, TEXT, "call"), KEY)[1]) == {"who": TEXT}
    assert streamed_call(path, stream(gate, path, asked(path, TEXT, "call"))) == {"who": TEXT}


def history(path: str, reply: dict[str, Any]) -> list[Any]:
    """Return a conversation with a reply that calls a tool, the tool's result, and the next message."""
    first, given = {"role": "user", "content": TEXT}, json.dumps({"paid": {"by": ["Zqxwvina", 47118.821]}})
    if path == CHAT:
        result = {"role": "tool", "tool_call_id": "call_1", "content": given}
        return [first, reply["choices"][0]["message"], result, {"role": "user", "content": "Who is Novak?"}]
    if path == ANTHROPIC:
        result = {"type": "tool_result", "tool_use_id": "tool_1", "content": given}
        last = [result, {"type": "text", "text": "Who is Novak?"}]
        return [first, {"role": "assistant", "content": reply["content"]}, {"role": "user", "content": last}]
    result = {"type": "function_call_output", "call_id": "call_1", "output": given}
    return [first, *reply["output"], result, {"role": "user", "content": "Who is Novak?"}]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_a_conversation_goes_on_under_one_mapping(gate: Server, up: Upstream, path: str, named: bool) -> None:
    """Its first message or a header identifies it; earlier messages are sent again byte for byte."""
    key = {**KEY, **({"X-Textveil-Conversation": f"one {path}"} if named else {})}
    field = "input" if path == RESPONSES else "messages"
    reply = gate.ask("POST", path, asked(path, TEXT, "call"), key)[1]
    once = up.last[field][0]
    messages = history(path, reply)
    status, reply, _ = gate.ask("POST", path, asked(path, messages), key)
    assert status == 200
    sent = up.last[field]
    assert sent[0] == once
    said = once["content"]
    call = sent[1]
    arguments = (
        call["tool_calls"][0]["function"]["arguments"] if path == CHAT
        else call["content"][0]["input"] if path == ANTHROPIC else call["arguments"]
    )  # fmt: skip
    assert (arguments if path == ANTHROPIC else json.loads(arguments)) == {"who": said}  # as the model wrote it
    clean(up)
    assert "Who is Novak?" in text_of(path, reply)


def test_a_response_goes_on_with_an_earlier_one(gate: Server, up: Upstream) -> None:
    """The provider stores the earlier messages, so their surrogates may come back."""
    for streamed in (False, True):
        if streamed:
            name = events_of(stream(gate, RESPONSES, asked(RESPONSES, TEXT)))[-1]["response"]["id"]
        else:
            name = gate.ask("POST", RESPONSES, asked(RESPONSES, TEXT), KEY)[1]["id"]
        sent = up.last["input"][0]["content"]
        up.asked.append(("", {}, asked(RESPONSES, sent)))
        body = {"model": "before", "input": "And now?", "previous_response_id": name}
        status, reply, _ = gate.ask("POST", RESPONSES, body, KEY)
        assert (status, up.last) == (200, body)
        assert text_of(RESPONSES, reply) == TEXT
        for after, client in (("resp_other", KEY), (name, {})):  # the words of its reply would be nobody's
            status, reply, _ = gate.ask("POST", RESPONSES, {**body, "previous_response_id": after}, client)
            assert (status, reply["error"]["code"], up.last) == (422, "input", body)


def test_a_reply_that_is_named_in_place_of_its_text(gate: Server, up: Upstream) -> None:
    """Some clients send an identifier for a reply that the provider stores."""
    reply = gate.ask("POST", RESPONSES, asked(RESPONSES, TEXT), KEY)[1]
    sent = up.last["input"][0]
    items = [{"role": "user", "content": TEXT}, {"type": "item_reference", "id": reply["output"][0]["id"]}]
    status, reply, _ = gate.ask(
        "POST", RESPONSES, asked(RESPONSES, [*items, {"role": "user", "content": "And Novak?"}]), KEY
    )
    assert (status, text_of(RESPONSES, reply)) == (200, "And Novak?")
    assert up.last["input"][:2] == [sent, items[1]]


def test_results_of_calls_with_many_guesses_go_out_without_the_mapping(gate: Server, up: Upstream) -> None:
    """The log line and the header count these results."""
    reply = gate.ask("POST", CHAT, asked(CHAT, TEXT), KEY)[1]
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    towns = [f"Zqxw{letter}burg" for letter in "abcdefgh"]
    call["function"] = {"name": "look", "arguments": json.dumps({"towns": [*towns, "Zqxwvina"]})}
    messages = [
        {"role": "user", "content": TEXT}, reply["choices"][0]["message"], {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "I am Zqxwvina Novak"},
    ]  # fmt: skip
    said = gate.said
    headers = gate.ask("POST", CHAT, asked(CHAT, messages), KEY)[2]
    sent = up.last["messages"]
    assert sent[4]["content"] != sent[0]["content"].partition(",")[0]
    assert "Novak" not in sent[4]["content"]
    assert headers["x-textveil-counts"].endswith(" unshared_results=1")
    for _ in range(100):  # the line is written after the reply
        if "unshared_results=1" in gate.said.removeprefix(said):
            return
        time.sleep(0.1)
    raise AssertionError("no line counts them")


def test_another_key_or_another_beginning_is_another_conversation(gate: Server, up: Upstream) -> None:
    reply = gate.ask("POST", CHAT, asked(CHAT, TEXT), KEY)[1]
    sent = up.last["messages"][0]
    messages = [{"role": "user", "content": TEXT}, reply["choices"][0]["message"]]
    for headers in ({"Authorization": "Bearer another"}, {}, {"X-Api-Key": "the-clients-key"}):
        gate.ask("POST", CHAT, asked(CHAT, messages), headers)
        assert up.last["messages"][0] != sent
    gate.ask("POST", CHAT, asked(CHAT, messages), KEY)
    assert up.last["messages"][0] == sent
    gate.ask("POST", CHAT, asked(CHAT, TEXT), KEY)  # no reply is in it: it tells nothing
    assert up.last["messages"][0] != sent


def test_a_surrogate_of_another_conversation_stays(gate: Server, up: Upstream) -> None:
    gate.ask("POST", CHAT, asked(CHAT, "Zqxwvina Novak called."), KEY)
    other = up.last["messages"][0]["content"]
    reply = gate.ask("POST", CHAT, asked(CHAT, "Quote: " + other), KEY)[1]
    assert text_of(CHAT, reply) == "Quote: " + other
    assert "Novak" not in json.dumps(reply)


def test_one_name_and_two_conversations(gate: Server, up: Upstream) -> None:
    """Each reply has words of its own request alone; a conversation of the same name by another client is separate."""
    named = {**KEY, "X-Textveil-Conversation": "shared"}
    gate.ask("POST", CHAT, asked(CHAT, "Zqxwvina Novak called."), named)
    out = up.last["messages"][0]["content"]
    reply = gate.ask("POST", CHAT, asked(CHAT, "Peter Schulz called."), named)[1]
    assert text_of(CHAT, reply) == "Peter Schulz called."
    gate.ask("POST", CHAT, asked(CHAT, "Zqxwvina Novak called."), named)
    assert up.last["messages"][0]["content"] == out
    gate.ask("POST", CHAT, asked(CHAT, "Zqxwvina Novak called."), {**named, "Authorization": "Bearer other"})
    assert up.last["messages"][0]["content"] != out


def test_deleting_a_conversation(gate: Server, up: Upstream) -> None:
    named = {**KEY, "X-Textveil-Conversation": "gone"}
    gate.ask("POST", CHAT, asked(CHAT, TEXT), named)
    out = up.last["messages"]
    assert gate.ask("DELETE", "/conversation", None, named)[:2] == (200, {"deleted": True})
    assert gate.ask("DELETE", "/conversation", None, named)[:2] == (200, {"deleted": False})
    assert gate.ask("DELETE", "/conversation", None, KEY)[0] == 400
    gate.ask("POST", CHAT, asked(CHAT, TEXT), named)
    assert up.last["messages"] != out


FIELDS: dict[str, dict[str, Any]] = {
    CHAT: {
        "temperature": 0.2, "stop": ["Zqxwvina:"], "user": "zqxwvina", "metadata": {"for": "Zqxwvina"}, "n": 1,
        "logit_bias": {"50256": -100}, "tool_choice": {"type": "function", "function": {"name": "find"}},
        "stream_options": None, "safety_identifier": "Novak", "prompt_cache_key": "Novak 4711",
    },
    RESPONSES: {
        "instructions": "Help Zqxwvina Novak.", "metadata": {"for": "Novak"}, "user": "zqxwvina", "store": False,
        "reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"], "background": False,
    },
    ANTHROPIC: {
        "system": [{"type": "text", "text": "Help Zqxwvina.", "cache_control": {"type": "ephemeral"}}],
        "stop_sequences": ["Novak:"], "metadata": {"user_id": "Novak-4711"}, "thinking": {"type": "disabled"},
    },
}  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_other_fields_with_words_of_a_person_are_rewritten_too(gate: Server, up: Upstream, path: str) -> None:
    status, said, _ = gate.ask("POST", path, asked(path, TEXT, **FIELDS[path]), KEY)
    assert (status, text_of(path, said)) == (200, TEXT)
    assert set(up.last) == {*asked(path, TEXT), *FIELDS[path]}
    assert "zqxw" not in clean(up).lower()
    same = {"temperature", "logit_bias", "tool_choice", "store", "reasoning", "include", "thinking", "n"}
    assert all(up.last[name] == value for name, value in FIELDS[path].items() if name in same)


def test_who_the_user_is_stays_the_same_and_hidden(gate: Server, up: Upstream) -> None:
    for _ in range(2):
        gate.ask("POST", CHAT, asked(CHAT, TEXT, user="zqxwvina"), KEY)
    first, second = (body["user"] for _, _, body in up.asked[-2:])
    assert first == second != "zqxwvina"
    assert len(first) == 32


def test_marks_at_which_models_stop_stay(gate: Server, up: Upstream) -> None:
    for stop in ("</s>", ["<|im_end|>", "\n\n", "Novak:"]):
        gate.ask("POST", CHAT, asked(CHAT, "Hello", stop=stop), KEY)
        sent = up.last["stop"]
        assert sent == stop if isinstance(stop, str) else (sent[:2] == stop[:2] and "Novak" not in sent[2])


def test_tools_and_schemas_stay(gate: Server, up: Upstream) -> None:
    tools = [
        {"type": "function", "function": {"name": "find", "description": "Finds", "parameters": {"type": "object"}}}
    ]
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    gate.ask("POST", CHAT, asked(CHAT, TEXT, tools=tools, response_format=form), KEY)
    assert (up.last["tools"], up.last["response_format"]) == (tools, form)


def test_embeddings_models_and_counts_of_tokens(gate: Server, up: Upstream) -> None:
    status, said, _ = gate.ask("POST", "/v1/embeddings", {"model": "m", "input": [TEXT, "Novak"], "user": "Novak"}, KEY)
    assert (status, len(said["data"])) == (200, 2)
    clean(up)
    assert gate.ask("POST", "/v1/embeddings", {"model": "m", "input": TEXT}, KEY)[0] == 200
    clean(up)
    assert gate.ask("GET", "/v1/models", None, KEY)[1]["data"][0]["id"] == "m"
    assert gate.ask("GET", "/v1/models/gpt-4?limit=2", None, KEY)[0] == 200
    assert up.asked[-1][0] == "/v1/models/gpt-4?limit=2"
    assert gate.ask("POST", "/v1/messages/count_tokens?beta=true", asked(ANTHROPIC, TEXT), KEY)[1] == {
        "input_tokens": 7
    }
    clean(up)


def test_headers_that_go_on_and_those_that_do_not(gate: Server, up: Upstream) -> None:
    sent = {
        "X-Api-Key": "a",
        "Anthropic-Version": "v",
        "OpenAI-Organization": "o",
        "X-Zqxw": "Novak",
        "Cookie": "Novak",
    }
    gate.ask(
        "POST", ANTHROPIC, asked(ANTHROPIC, "Hello"), {**sent, "User-Agent": "Novak", "X-Textveil-Conversation": "N"}
    )
    got = up.asked[-1][1]
    assert {"x-api-key", "anthropic-version", "openai-organization"} <= set(got)
    assert set(got) <= {
        "host", "accept-encoding", "content-length", "content-type", "user-agent",
        "x-api-key", "anthropic-version", "openai-organization",
    }  # fmt: skip
    assert (got["user-agent"], got["accept-encoding"]) == ("textveil", "identity")


def test_a_packed_reply_is_unpacked(gate: Server) -> None:
    assert text_of(CHAT, gate.ask("POST", CHAT, asked(CHAT, TEXT, "gzip"), KEY)[1]) == TEXT
