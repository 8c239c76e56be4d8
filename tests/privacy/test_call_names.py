"""Names and identifiers of calls test no more strings than arguments do; clients quote them in errors."""

import json
import random
import re
from typing import Any

import pytest
from planted import planted
from textveil import Conversation, Sanitizer
from textveil.conversation import model_strings, reply_roles
from textveil.conversation.reply_roles import CallIds
from textveil.conversation.tool_call_counter import ToolCallCounter

Message = dict[str, Any]
#: The default options of a conversation, and surrogates that look like other names.
STYLES: dict[str, dict[str, Any]] = {"tags": {}, "surrogates": {"style": "surrogate", "facts": "none"}}
ERRORS = {
    "langchain": "Error: {} is not a valid tool, try one of [search].",
    "quoted": "Tool '{}' not found",
    "end": "Unknown tool: {}",
    "start": "{} is not there.",
}
ID_ERRORS = ("Call {} failed.", "No call {}", "{}: failed", '{{"error": "{}"}}', "[{}]", "<call id='{}'>", "id={}")
FORMS = ("{}", "call_{}", "toolu_01{}", "tooluse_{}", "tooluse_x-{}", "call-{}", "functions.{}:0", "a|{}|b", "x {}")


def make_guesses(count: int = 10_000) -> list[str]:
    chance, consonants, vowels = random.Random(3), "bcdfghklmnprstvz", "aeiou"
    made = ("".join(chance.choice(consonants) + chance.choice(vowels) for _ in range(5)) for _ in range(3 * count))
    return [word.capitalize() for word in dict.fromkeys(made)][:count]


GUESSES = make_guesses()
SECRET = GUESSES[7_777]


def count_hits(
    sanitizer: Sanitizer,
    calls: list[tuple[str, str]],
    error: str,
    secret: str = SECRET,
    *,
    declared: tuple[str, ...] = ("search",),
    arguments: str = "{}",
    **options: Any,
) -> int:
    """Return how many results show the surrogate of a secret, each what a client answers to a call that it cannot run.

    Args:
        sanitizer: What rewrites.
        calls: Identifier and name of the tool of each call of one reply.
        error: What the client answers; it has the name, or else the identifier.
        secret: What the user wrote.
        declared: Tools of the user.
        arguments: Those of each call.
        options: Of the conversation.
    """
    conversation = Conversation(sanitizer, **options)
    messages: list[Message] = [{"role": "user", "content": f"I met {secret} today."}]
    exchange = conversation.start_exchange()
    exchange.declare_tools(declared)
    surrogate = exchange.outgoing(messages)[0]["content"].removeprefix("I met ").removesuffix(" today.")
    tool_calls = [
        {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}} for call, name in calls
    ]
    reply = exchange.incoming({"role": "assistant", "content": None, "tool_calls": tool_calls}).reply
    messages.append(reply)
    for call in reply["tool_calls"]:
        echoed = call["function"]["name"] if calls[0][1] != "search" else call["id"]
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": error.format(echoed)})
    sent = conversation.start_exchange().outgoing(messages)
    assert [call["id"] for call in sent[1]["tool_calls"]] == [call for call, _ in calls]
    assert [message["tool_call_id"] for message in sent[2:]] == [call for call, _ in calls]
    shown = re.compile(rf"(?<![^\W_]){re.escape(surrogate)}(?![^\W_])")
    return sum(shown.search(message["content"]) is not None for message in sent[2:])


@pytest.mark.full
@pytest.mark.parametrize("error", ERRORS)
def test_ten_thousand_names_of_tools_tell_nothing(sanitizer: Sanitizer, error: str) -> None:
    guesses = GUESSES if error == "langchain" else [*GUESSES[:100], SECRET]
    calls = [(f"call_{number}", guess) for number, guess in enumerate(guesses)]
    for options in STYLES.values():
        assert count_hits(sanitizer, calls, ERRORS[error], **options) == 0


@pytest.mark.full
@pytest.mark.parametrize("form", FORMS)
def test_ten_thousand_identifiers_tell_nothing(sanitizer: Sanitizer, form: str) -> None:
    for number, error in enumerate(ID_ERRORS):
        guesses = GUESSES if (form, number) == (FORMS[0], 0) else [SECRET, *GUESSES[:20]]
        calls = [(form.format(guess), "search") for guess in guesses]
        for options in STYLES.values():
            assert count_hits(sanitizer, calls, error, **options) == 0


@pytest.mark.parametrize(
    "secret", ["B12", "c7", "47118821", "EMP000123", "hope.k@mail.example", "Zqxw-12/88", "AB3cdE9fG"]
)
def test_no_identifier_is_a_test_of_a_code(sanitizer: Sanitizer, secret: str) -> None:
    for options in STYLES.values():
        assert count_hits(sanitizer, [(secret, "search")], "Call {} failed.", secret, **options) == 0


@pytest.mark.parametrize("style", STYLES)
def test_names_of_tools_are_tests_within_the_budget_alone(sanitizer: Sanitizer, style: str) -> None:
    """A name that the user did not declare counts as a string of the model, with those of the arguments."""
    error, options = ERRORS["start"], STYLES[style]
    assert count_hits(sanitizer, [("call_1", SECRET)], error, **options) == 1
    for towns, hits in (('["Alba", "Berlo"]', 1), ('["Alba", "Berlo", "Corti"]', 0)):
        arguments = f'{{"query": {towns}}}'
        assert count_hits(sanitizer, [("call_1", SECRET)], error, arguments=arguments, **options) == hits
    calls = [(f"call_{number}", guess) for number, guess in enumerate([*GUESSES[:31], SECRET])]
    assert count_hits(sanitizer, calls, error, **options) == 1
    assert count_hits(sanitizer, [("call_0", GUESSES[40]), *calls], error, **options) == 0


def test_declared_tools_and_opaque_identifiers_cost_no_guess(sanitizer: Sanitizer) -> None:
    conversation, chance = Conversation(sanitizer), random.Random(1)
    messages: list[Message] = [{"role": "user", "content": "I met Zqxwgrad today."}]
    for turn in range(60):
        exchange = conversation.start_exchange()
        exchange.declare_tools(["Kowalczyk_CRM"])
        surrogate = exchange.outgoing(messages)[0]["content"].removeprefix("I met ").removesuffix(" today.")
        length = 24 if turn % 2 else 9  # as of OpenAI and Mistral
        made = "".join(chance.choice("abcdefXYZ0123456789") for _ in range(length))
        call = {
            "id": f"call_{made}" if turn % 2 else made,
            "type": "function",
            "function": {"name": "Kowalczyk_CRM", "arguments": "{}"},
        }
        messages.append(exchange.incoming({"role": "assistant", "content": None, "tool_calls": [call]}).reply)
        got = messages[-1]["tool_calls"][0]["id"]
        assert len(got) == len(call["id"])
        messages.append({"role": "tool", "tool_call_id": got, "content": "She met Zqxwgrad."})
        after = conversation.start_exchange()
        sent = after.outgoing(messages)
        assert after.unshared_results == 0
        assert surrogate in sent[-1]["content"]
        assert sent[-1]["tool_call_id"] == call["id"]


@pytest.mark.parametrize("word", ["hope", "will", "nice", "page", "wise"])
def test_a_common_word_that_is_a_name_counts_in_lower_case(sanitizer: Sanitizer, word: str) -> None:
    """A tool may write it with a capital."""
    conversation = Conversation(sanitizer, tool_guesses=(0, 0))
    messages: list[Message] = [{"role": "user", "content": f"I met {word.capitalize()} today."}]
    exchange = conversation.start_exchange()
    exchange.outgoing(messages)
    function = {"name": "find", "arguments": json.dumps({"query": f"the {word} of it"})}
    call = {"id": "call_1", "type": "function", "function": function}
    messages.append(exchange.incoming({"role": "assistant", "content": None, "tool_calls": [call]}).reply)
    messages.append({"role": "tool", "tool_call_id": "call_1", "content": f"I met {word.capitalize()}."})
    after = conversation.start_exchange()
    after.outgoing(messages)
    assert after.unshared_results == 1


def test_what_was_made_outlives_a_saved_conversation(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    messages: list[Message] = [{"role": "user", "content": "I met Zqxwgrad today."}]
    exchange = conversation.start_exchange()
    exchange.outgoing(messages)
    reply = exchange.incoming([{"type": "function_call", "call_id": SECRET, "name": "find", "arguments": "{}"}]).reply
    assert reply[0]["call_id"] != SECRET
    result = {"type": "function_call_output", "call_id": reply[0]["call_id"], "output": "I met Zqxwgrad."}
    again = Conversation.unpack(conversation.pack(), sanitizer)
    sent = again.start_exchange().outgoing([*messages, *reply, result])
    assert [sent[1]["call_id"], sent[2]["call_id"]] == [SECRET, SECRET]
    assert sent[2]["output"].removesuffix(".") == sent[0]["content"].removesuffix(" today.")
    passing = Conversation.unpack(conversation.pack(), sanitizer, pass_through={"tool"})
    passed = {"role": "tool", "tool_call_id": reply[0]["call_id"], "content": "Nothing."}
    assert passing.start_exchange().outgoing([*messages, *reply, passed])[2]["tool_call_id"] == SECRET


def test_planted_names_that_nobody_counts(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToolCallCounter, "_find_name_strings", lambda counter, name: [])
    with pytest.raises(AssertionError):
        test_ten_thousand_names_of_tools_tell_nothing(sanitizer, "end")


def test_planted_identifiers_that_stay(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallIds, "replace", lambda ids, call: call)
    with pytest.raises(AssertionError):
        test_no_identifier_is_a_test_of_a_code(sanitizer, "EMP000123")


def test_planted_prefix_with_marks_behind_it(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_roles, "_OPAQUE_ID", re.compile(r"(?:call|tooluse)[_-][\w-]+"))
    with pytest.raises(AssertionError):
        test_ten_thousand_identifiers_tell_nothing(sanitizer, "call-{}")


def test_planted_lower_case_names_that_nobody_counts(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    change = ("word.islower() and _may_be_name(word, plan)", "False")
    monkeypatch.setattr(
        model_strings, "_iterate_hidden_strings", planted(model_strings._iterate_hidden_strings, change)
    )
    with pytest.raises(AssertionError):
        test_a_common_word_that_is_a_name_counts_in_lower_case(sanitizer, "hope")
