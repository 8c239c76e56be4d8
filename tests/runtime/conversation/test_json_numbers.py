"""Numbers in JSON texts that a conversation leaves unchanged or restores keep their spelling."""

import json
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.conversation import message_rewriter
from textveil.conversation.message_rewriter import SpelledNumber, WrittenNumber, encode_rewritten
from textveil.conversation.model_strings import list_model_words

#: JSON text whose decimal numbers, but for the last one, Python would spell in another way.
SPELLED = (
    '{"price": 49.90, "rows": [1.0, 1e5, -12.50, 1E-7], "long": 0.1234567890123456789, "id": 12345678901234567890, '
)
SPELLED += '"x": 2.5}'


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def call_with(arguments: str, name: str = "pay") -> dict[str, Any]:
    call = {"type": "function", "id": "p", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def restore_arguments(conversation: Conversation, arguments: str) -> str:
    return conversation.incoming(call_with(arguments)).reply["tool_calls"][0]["function"]["arguments"]


def check_arguments_keep_numbers(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, restore_tools=["pay"])
    (out,) = conversation.outgoing([{"role": "user", "content": "Anna Novak called."}])
    assert out["content"] == "[person 1] called."
    assert restore_arguments(conversation, SPELLED) == SPELLED
    with_name = SPELLED.replace('"x"', '"who": "[person 1]", "x"')
    assert restore_arguments(conversation, with_name) == with_name.replace("[person 1]", "Anna Novak")


def test_arguments_of_a_model_keep_their_numbers(sanitizer: Sanitizer) -> None:
    check_arguments_keep_numbers(sanitizer)


def test_a_reader_that_forgets_the_spelling_is_found(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_rewriter, "SpelledNumber", float)
    with pytest.raises(AssertionError):
        check_arguments_keep_numbers(sanitizer)


def test_kept_numbers_of_results_keep_their_spelling(sanitizer: Sanitizer) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    item = {
        "type": "function_call_output",
        "call_id": "c",
        "output": '{"total": 49.90, "rows": [-1.0, 2], "qty": 2.50}',
    }
    assert Conversation(sanitizer, keep=["number"]).outgoing([call, item])[1] == item


@pytest.mark.parametrize("spelling", ["49.90", "-12.50", "1.0", "49.9"])
def test_a_replaced_number_comes_back_as_it_was_spelled(sanitizer: Sanitizer, spelling: str) -> None:
    conversation = Conversation(sanitizer, restore_tools=["pay"])
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    output = f'{{"total": {spelling}}}'
    question = {"role": "user", "content": "Where is my order?"}
    sent = conversation.outgoing([question, call, {"type": "function_call_output", "call_id": "c", "output": output}])
    written = sent[2]["output"]
    assert "[number 1]" in written
    assert restore_arguments(conversation, written) == output
    tag = json.loads(written)["total"]
    assert conversation.incoming(f"It is {tag}.").reply == f"It is {spelling}."


def test_the_same_number_of_a_text_and_of_json_has_one_tag(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, facts="none")
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    question = {"role": "user", "content": "Why did I pay 73.90?"}
    item = {"type": "function_call_output", "call_id": "c", "output": '{"total": 73.90}'}
    sent = conversation.outgoing([question, call, item])
    tag = sent[0]["content"].removeprefix("Why did I pay ").removesuffix("?")
    assert json.loads(sent[2]["output"]) == {"total": tag}


def test_a_model_may_write_a_surrogate_number_in_another_spelling(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, style="surrogate", facts="none", restore_tools=["pay"])
    (out,) = conversation.outgoing([{"role": "user", "content": "I paid 48713.5 there."}])
    surrogate = out["content"].removeprefix("I paid ").removesuffix(" there.")
    assert message_rewriter.JSON_NUMBER.fullmatch(surrogate)
    written = f'{{"a": {surrogate}, "b": -{surrogate}0, "c": {surrogate}25}}'
    assert restore_arguments(conversation, written) == f'{{"a": 48713.5, "b": -48713.5, "c": {surrogate}25}}'


@pytest.mark.parametrize("printed", ["4871.90", "4871.9", "It is 4871.9, so 4871.90."])
def test_a_tool_may_print_the_number_that_it_read(sanitizer: Sanitizer, printed: str) -> None:
    """Otherwise the surrogate in its result reveals whether the original ends in 0."""
    conversation = Conversation(sanitizer, facts="none", restore_tools=["pay"])
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    question = {"role": "user", "content": "Where is my order?"}
    history = [question, call, {"type": "function_call_output", "call_id": "c", "output": '{"total": 4871.90}'}]
    (tag,) = json.loads(conversation.outgoing(history)[2]["output"]).values()
    reply = conversation.incoming({**call, "call_id": "d", "name": "pay", "arguments": f'{{"paid": "{tag}"}}'}).reply
    assert reply["arguments"] == '{"paid": 4871.90}'
    result = {"type": "function_call_output", "call_id": reply["call_id"], "output": printed}
    sent = conversation.outgoing([*history, reply, result])[-1]["output"]
    assert sent == printed.replace("4871.90", tag).replace("4871.9", tag)
    assert conversation.incoming(f"It is {tag}.").reply == "It is 4871.90."


def test_both_spellings_of_a_number_are_words_of_the_model() -> None:
    """A tool may repeat the number as the model wrote it, or as its JSON reader prints it."""
    assert list_model_words('{"a": 49.90, "b": [-7.5]}', ()) == ["a", "49", "9", "90", "b", "7", "5"]


def test_rewritten_json_is_written_as_by_the_standard_library() -> None:
    values: list[Any] = [{}, [], {"a": [{}, [], None, True, 2, "x\u00e9\n"], "": {"b": [[]]}}, [1, [2, [3.5]]], "a", 7]
    for value in values:
        assert encode_rewritten(value) == json.dumps(value, ensure_ascii=False)
    assert encode_rewritten({"a": [WrittenNumber("1e5"), "1e5"]}) == '{"a": [1e5, "1e5"]}'
    assert SpelledNumber("49.90") == 49.9
