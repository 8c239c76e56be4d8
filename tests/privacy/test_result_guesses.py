"""Results of tools test no more of a model's guesses in its calls than ``tool_guesses`` permits."""

import json
import os
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.conversation.message_preparer import MessagePreparer
from textveil.conversation.tool_guesses import ToolGuesses

#: A word on no list: it is replaced, and is no surrogate.
GUESSED = "Zqxwgrad"
GUESSES = [GUESSED, *(f"Zqxw{first}{second}burg" for first in "abcdefgh" for second in "abcdefgh")]
Message = dict[str, Any]
#: The default options of a conversation, and surrogates that look like other names.
STYLES: dict[str, dict[str, Any]] = {"tags": {}, "surrogates": {"style": "surrogate", "facts": "none"}}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def tries(
    sanitizer: Sanitizer,
    guesses: list[list[str]],
    answer: Callable[[list[str]], str],
    *,
    other: str = "",
    **options: Any,
) -> list[int]:
    """Which of several calls of a tool have a result in which the surrogate of a hidden string stands again."""
    conversation = Conversation(sanitizer, **options)
    messages: list[Message] = [user("We met in Zqxwgrad")]
    surrogate = conversation.start_exchange().outgoing(messages)[0]["content"].removeprefix("We met in ")
    hits = []
    for number, of_call in enumerate(guesses):
        exchange = conversation.start_exchange()
        exchange.outgoing(messages)
        arguments = json.dumps({"towns": of_call})
        call = {"type": "function_call", "call_id": f"call_{number}", "name": "find", "arguments": arguments}
        decoys = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": other}]}
        messages += exchange.incoming([*([decoys] if other else []), call]).reply
        messages.append({"type": "function_call_output", "call_id": f"call_{number}", "output": answer(of_call)})
        sent = conversation.start_exchange().outgoing(messages)
        hits += [number] if surrogate in towns_in(sent[-1]["output"]) else []
    return hits


def towns_in(output: str) -> set[str]:
    return {town.strip() for town in re.split(r'[",.;:{}\\]+|found in|met in', output)}


def no_results(towns: list[str]) -> str:
    return json.dumps({"message": [f"Nothing was found in {town}" for town in towns]})


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_a_tool_that_echoes_ten_thousand_guesses_tells_nothing(sanitizer: Sanitizer, style: str) -> None:
    guesses = [f"Zqxw{number:04d}".translate(str.maketrans("0123456789", "abcdefghij")) for number in range(10_000)]
    guesses[7_071] = GUESSED
    assert tries(sanitizer, [guesses], no_results, **STYLES[style]) == []


@pytest.mark.parametrize("style", STYLES)
def test_calls_with_few_guesses_are_tests_and_only_so_many(sanitizer: Sanitizer, style: str) -> None:
    options = STYLES[style]
    wrong = [f"Zqxw{first}{second}burg" for first in "abcdefgh" for second in "abcdefgh"]
    assert tries(sanitizer, [["Vlombeck", GUESSED]], no_results, **options) == [0]
    assert tries(sanitizer, [[*wrong[:3], GUESSED]], no_results, **options) == []
    first = [wrong[place : place + 3] for place in range(0, 30, 3)]
    assert tries(sanitizer, [*first, [GUESSED]], no_results, **options) == [10]
    assert tries(sanitizer, [*first, wrong[30:33], [GUESSED]], no_results, **options) == []  # 33 with it
    assert tries(sanitizer, [[GUESSED]], no_results, **options, tool_guesses=(0, 0)) == []
    assert tries(sanitizer, [[*wrong[:9], GUESSED]], no_results, **options, tool_guesses=(10, 10)) == [0]


def test_what_a_model_wrote_outside_of_calls_does_not_count(sanitizer: Sanitizer) -> None:
    """Otherwise the count would test ten thousand strings at once for their presence in the result."""
    assert tries(sanitizer, [["Vlombeck"]], lambda towns: "We met in Zqxwgrad", other=" ".join(GUESSES)) == [0]


def test_a_tool_that_reads_what_another_wrote_tells_nothing(sanitizer: Sanitizer) -> None:
    assert tries(sanitizer, [GUESSES, []], lambda towns: ", ".join(GUESSES)) == []


def test_a_call_whose_identifier_comes_again_has_the_guesses_of_both(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    messages: list[Message] = [user("We met in Zqxwgrad")]
    for towns in (["Vlombeck"], GUESSES):
        exchange = conversation.start_exchange()
        sent = exchange.outgoing(messages)
        call = {"type": "function_call", "call_id": "call_1", "name": "find", "arguments": json.dumps({"towns": towns})}
        messages += exchange.incoming([call]).reply
        messages.append({"type": "function_call_output", "call_id": "call_1", "output": ", ".join(towns)})
    surrogate = sent[0]["content"].removeprefix("We met in ")
    again = conversation.start_exchange()
    assert surrogate not in {town for sent in again.outgoing(messages)[1:] for town in towns_in(json.dumps(sent))}
    assert again.unshared_results == 1


def test_the_result_of_a_call_that_nobody_knows_tells_nothing(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    surrogate = conversation.outgoing([user("We met in Zqxwgrad")])[0]["content"].removeprefix("We met in ")
    result = {"role": "tool", "tool_call_id": "never", "content": "We met in Zqxwgrad"}
    (out,) = conversation.outgoing([result])
    assert surrogate not in towns_in(out["content"])
    assert "Zqxwgrad" not in out["content"]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("secrets", [("79", "65"), ("3", "4"), ("9", "3")])
def test_what_was_restored_into_a_call_is_hidden_in_every_context(
    sanitizer: Sanitizer, secrets: tuple[str, str], style: str
) -> None:
    """``&#79;`` and ``<3`` are kept anywhere else; other numbers in such contexts are not."""

    def seen(secret: str) -> str:
        patch = pytest.MonkeyPatch()
        patch.setattr(os, "urandom", random.Random(5).randbytes)
        try:
            conversation = Conversation(sanitizer, restore_tools={"find"}, **STYLES[style])
            messages: list[Message] = [user(f"My room is {secret} here")]
            exchange = conversation.start_exchange()
            sent = exchange.outgoing(messages)
            surrogate = sent[0]["content"].removeprefix("My room is ").removesuffix(" here")
            arguments = json.dumps({"text": f"{surrogate} here"})
            call = {"type": "function_call", "call_id": "call_1", "name": "find", "arguments": arguments}
            messages += exchange.incoming([call]).reply
            assert secret in messages[-1]["arguments"]
            output = f"&#{secret}; <{secret} and &amp;#{secret}; {secret}. or {secret}: {secret}"
            messages.append({"type": "function_call_output", "call_id": "call_1", "output": output})
            return json.dumps(conversation.start_exchange().outgoing(messages))
        finally:
            patch.undo()

    first, second = map(seen, secrets)
    assert first == second


def test_a_planted_threshold_by_the_result(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: a result with more than three of all the model's strings is read without the mapping."""
    real, allowed = MessagePreparer._prepare_tool_results, [True]

    def by_result(self: Any, message: Any, *others: Any) -> Any:
        allowed[:] = [sum(guess in message["output"] for guess in GUESSES) <= 3]
        return real(self, message, *others)

    decoys = GUESSES[1:4]

    def answer(towns: list[str]) -> str:
        return f"{', '.join(towns)}. We met in {GUESSED}"

    assert tries(sanitizer, [decoys], answer, other=" ".join(GUESSES)) == [0]
    monkeypatch.setattr(MessagePreparer, "_prepare_tool_results", by_result)
    monkeypatch.setattr(ToolGuesses, "may_share_mapping", lambda tests, calls: allowed[0])
    assert tries(sanitizer, [decoys], answer, other=" ".join(GUESSES)) == []  # a row with OTHER would still be shared


def test_a_call_id_that_comes_again_has_the_strings_of_all_its_calls(sanitizer: Sanitizer) -> None:
    def call(text: dict[str, Any]) -> dict[str, Any]:
        function = {"name": "find", "arguments": json.dumps(text)}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        }

    def result(text: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": "call_1", "content": text}

    echo = call({"a": "Zqxwgrad", "b": "Zqxwa", "c": "Zqxwb", "d": "Zqxwc"})
    for limits in ((3, 32), (0, 0)):
        conversation = Conversation(sanitizer, tool_guesses=limits)
        messages = [user("Who?"), call({}), result("Zqxwgrad"), echo, result("Zqxwgrad")]
        conversation.outgoing(messages)
        assert conversation.unshared_results == 1


def test_surrogates_that_no_device_restored_count_as_guesses(sanitizer: Sanitizer) -> None:
    for tools, is_counted in (((), True), (("find",), False)):
        conversation = Conversation(sanitizer, restore_tools=tools)
        exchange = conversation.start_exchange()
        surrogate = exchange.outgoing([user("We met in Zqxwgrad")])[0]["content"].removeprefix("We met in ")
        function = {"name": "find", "arguments": json.dumps({"query": surrogate})}
        exchange.incoming(
            {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
        )
        assert (
            len(conversation._shared.tool_guesses._all_strings) > 0
        ) == is_counted  # a surrogate of several words counts for each


@pytest.mark.parametrize(
    "arguments", ['{"query": 1, "query": "\\u0057alter"}', '{"count": NaN, "query": "\\u0057alter"}']
)
def test_arguments_that_readers_decode_differently_share_no_mapping(sanitizer: Sanitizer, arguments: str) -> None:
    conversation = Conversation(sanitizer)
    exchange = conversation.start_exchange()
    messages = [user("We met Walter")]
    exchange.outgoing(messages)
    function = {"name": "find", "arguments": arguments}
    reply = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    messages += [exchange.incoming(reply).reply, {"role": "tool", "tool_call_id": "call_1", "content": "Walter"}]
    exchange = conversation.start_exchange()
    exchange.outgoing(messages)
    assert exchange.unshared_results == 1
