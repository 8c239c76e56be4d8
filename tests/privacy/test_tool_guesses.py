"""Strings of a model in calls of tools count as guesses, in every form in which a tool may return them."""

import html
import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from planted import planted
from textveil import Conversation, Sanitizer
from textveil.conversation import model_strings
from textveil.conversation.masks import OriginalMasks
from textveil.conversation.message_preparer import MessagePreparer
from textveil.conversation.reply_records import ReplyRecords
from textveil.conversation.tool_guesses import ToolGuesses

#: Listed names that the rules keep where a sentence starts, and hide elsewhere.
KEPT_AT_STARTS = "Finna Hope Lotta Nice Shan".split()
Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def make_call(arguments: Any, call: str = "c") -> Message:
    function = {"name": "find", "arguments": json.dumps(arguments)}
    tool_calls = [{"id": call, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def get_call_id(messages: list[Message]) -> str:
    """Return the identifier of the last call, as the client received it: one that may be a guess is replaced."""
    return messages[-1]["tool_calls"][0]["id"]


def send_result(conversation: Conversation, messages: list[Message], arguments: Any, result: str) -> tuple[str, int]:
    """Let the model call a tool; return what its result goes out as, and how many went out without the mapping."""
    exchange = conversation.start_exchange()
    exchange.outgoing(messages)
    messages.append(exchange.incoming(make_call(arguments)).reply)
    messages.append({"role": "tool", "tool_call_id": get_call_id(messages), "content": result})
    exchange = conversation.start_exchange()
    return exchange.outgoing(messages)[-1]["content"], exchange.unshared_results


SHAPES: dict[str, Any] = {
    "texts": KEPT_AT_STARTS,
    "lines": "\n".join(KEPT_AT_STARTS),
    "sentences": " ".join(f"{name}." for name in KEPT_AT_STARTS),
    "keys": dict.fromkeys(KEPT_AT_STARTS, 1),
    "one run of capitals": " ".join(KEPT_AT_STARTS),
    "one chunk": "_".join(name.lower() + "q" for name in KEPT_AT_STARTS),
    "JSON in a text": json.dumps(KEPT_AT_STARTS),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_words_that_only_a_start_of_a_sentence_keeps_count(sanitizer: Sanitizer, shape: str) -> None:
    conversation = Conversation(sanitizer)
    messages = [user("I called Hope yesterday.")]
    result = "\n".join(f"No results for {name}." for name in KEPT_AT_STARTS)
    sent, unshared = send_result(conversation, messages, {"q": SHAPES[shape]}, result)
    surrogate = conversation.outgoing(messages[:1])[0]["content"].split()[2]
    assert unshared == 1
    assert f"for {surrogate}." not in sent


def test_names_of_fields_are_no_guesses(sanitizer: Sanitizer) -> None:
    arguments = {"query": "open orders", "customerName": "x", "dateFrom": "2024-01-02", "user_id": 5, "is_open": True}
    conversation = Conversation(sanitizer, style="surrogate", facts="none")  # tags of letters and numbers are equal too
    assert send_result(conversation, [user("I called Hope.")], arguments, "Nothing.")[1] == 0


def test_a_planted_reading_by_context(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    change = ("plan.hide_context_words(reader.stream_text(text))", "reader.stream_text(text)")
    monkeypatch.setattr(
        model_strings, "_iterate_hidden_strings", planted(model_strings._iterate_hidden_strings, change)
    )
    with pytest.raises(AssertionError):
        test_words_that_only_a_start_of_a_sentence_keeps_count(sanitizer, "texts")


GUESSED, OTHER = "Zqxwgrad", "Qvorbley"


def view_without_equality(sanitizer: Sanitizer, secret: str, way: str) -> str:
    """Return what goes out with a mapping for each message, under one stream of entropy."""
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "urandom", random.Random(5).randbytes)
    try:
        conversation = Conversation(sanitizer, consistent=False, restore_tools={"find"})
        if way == "texts":
            return json.dumps([conversation.outgoing_text(text) for text in (secret, GUESSED, GUESSED)])
        if way == "one call":
            return json.dumps(conversation.outgoing([user(secret), user(GUESSED), user(GUESSED)]))
        if way == "system":
            roles = ("system", "system", "user")
            texts = zip(roles, (secret, GUESSED, GUESSED), strict=True)
            return json.dumps(conversation.outgoing([{"role": role, "content": text} for role, text in texts]))
        messages, seen = [user(secret)], list[Any]()
        for turn in range(3):
            exchange = conversation.start_exchange()
            seen.append(exchange.outgoing(messages))
            if way == "tools":
                arguments = {"q": seen[0][0]["content"], "r": GUESSED}
                messages.append(exchange.incoming(make_call(arguments)).reply)
                result = {"role": "tool", "tool_call_id": get_call_id(messages), "content": f"{secret}, {GUESSED}"}
                messages.append(result)
            else:
                reply = {"role": "assistant", "content": [seen[0][0]["content"], GUESSED, OTHER][turn]}
                messages += [exchange.incoming(reply).reply, user(GUESSED)]
        return json.dumps(seen)
    finally:
        patch.undo()


@pytest.mark.parametrize("way", ["texts", "one call", "system", "turns", "tools"])
def test_a_mapping_for_each_message_shows_no_equality_at_all(sanitizer: Sanitizer, way: str) -> None:
    first, second = (view_without_equality(sanitizer, secret, way) for secret in (GUESSED, OTHER))
    assert first == second


def test_with_a_mapping_for_each_message_each_goes_out_again_at_its_place(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, consistent=False, style="surrogate")
    messages = [{"role": "system", "content": "Help Anna."}, user("Anna Novak called.")]
    exchange = conversation.start_exchange()
    sent = exchange.outgoing(messages)
    reply = exchange.incoming({"role": "assistant", "content": f"Who is {sent[1]['content'].split()[0]}?"}).reply
    assert reply["content"] == "Who is Anna?"
    again = conversation.start_exchange().outgoing([*messages, reply, user("Anna Novak called.")])
    assert again[:2] == sent
    assert again[2]["content"] == f"Who is {sent[1]['content'].split()[0]}?"
    assert again[3] != sent[1]


def test_a_client_that_cuts_replies_tells_at_most_32_lengths(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    messages = [user("We met in Zqxwgrad")]
    outcomes = []
    for turn in range(40):
        exchange = conversation.start_exchange()
        surrogate = exchange.outgoing(messages)[0]["content"].removeprefix("We met in ")
        written = f"Well {'so ' * turn} {surrogate}" if turn < 36 else f"The town is {surrogate}."
        reply = exchange.incoming({"role": "assistant", "content": written}).reply
        cut = reply["content"][:-1] if turn < 36 else reply["content"]
        messages += [{"role": "assistant", "content": cut}, user(f"Go on, part {turn}.")]
        sent = conversation.start_exchange().outgoing(messages)
        outcomes.append(sent[-2]["content"] == written)
    assert outcomes == [False] * 40


def test_a_planted_fault_compares_changed_replies_for_ever(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = (" and len(self._changed_hashes) < MAX_OTHER_TEXTS", "")
    monkeypatch.setattr(ReplyRecords, "find_reply", planted(ReplyRecords.find_reply, change))
    with pytest.raises(AssertionError):
        test_a_client_that_cuts_replies_tells_at_most_32_lengths(sanitizer)


def test_a_planted_memory_of_equal_messages(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MessagePreparer, "_make_resend_tag", lambda preparer, place, message_tag, number=0: message_tag)
    with pytest.raises(AssertionError):
        test_a_mapping_for_each_message_shows_no_equality_at_all(sanitizer, "turns")


def view_of_result(sanitizer: Sanitizer, secret: str, template: str, change: Callable[[str], str], written: str) -> str:
    """Return what goes out where a tool does something with an original that was restored into its call."""
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "urandom", random.Random(5).randbytes)
    try:
        conversation = Conversation(sanitizer, restore_tools={"find"})
        messages = [user(template.format(secret))]
        exchange = conversation.start_exchange()
        before, after = template.split("{}")
        surrogate = exchange.outgoing(messages)[0]["content"].removeprefix(before).removesuffix(after)
        messages.append(exchange.incoming(make_call({"q": f"{surrogate} {written}".strip()})).reply)
        restored = json.loads(messages[-1]["tool_calls"][0]["function"]["arguments"])["q"]
        assert restored.startswith(secret)
        result = {"role": "tool", "tool_call_id": get_call_id(messages), "content": f"{change(secret)} {written}"}
        messages.append(result)
        return json.dumps([conversation.start_exchange().outgoing(messages)])
    finally:
        patch.undo()


CHANGES: dict[str, Callable[[str], str]] = {
    "lower": lambda secret: f"no results for {secret.lower()}",
    "upper": lambda secret: f"NO RESULTS FOR {secret.upper()}",
    "start": lambda secret: f"{secret} is not here.",
    "possessive": lambda secret: f"no results for {secret.lower()}'s or {secret}\u2019s",
    "lines": lambda secret: "\n".join(secret.split()),
    "lower lines": lambda secret: "\n".join(secret.lower().split()),
    "entities": lambda secret: "no " + "".join(f"&#{ord(letter)};" for letter in secret),
    "escaped": lambda secret: f"<b>{html.escape(secret.lower())}</b>",
}
SECRETS = {
    "given": ("I called {} yesterday.", ("Hope", "Anna")),
    "firm": ("We work at {} today.", ("Zqxw Hope Quux", "Zqxw Brel Quux")),
    "number": ("My room is {} here.", ("79", "65")),
}


@pytest.mark.parametrize("written", ["", "hope anna field quux brel 79 65 66"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", SECRETS)
def test_a_tool_that_changes_an_original_shows_nothing_of_it(
    sanitizer: Sanitizer, kind: str, change: str, written: str
) -> None:
    """This holds too if the model wrote words of a possible original, which would reveal which of them are hidden."""
    template, secrets = SECRETS[kind]
    first, second = (view_of_result(sanitizer, secret, template, CHANGES[change], written) for secret in secrets)
    assert first == second


def test_a_tool_that_splits_a_formatted_number_shows_none_of_its_digits(sanitizer: Sanitizer) -> None:
    for change in (lambda secret: secret.replace("-", ""), lambda secret: "\n".join(secret.split("-"))):
        seen = view_of_result(sanitizer, "417-928-0186", "Call {} now.", change, "")
        assert not [part for part in ("417", "928", "0186") if part in seen]


def test_planted_masks(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = (
        (OriginalMasks, "read_masked", ("folded not in self._words", "True"), "firm", "lower lines", ""),
        (
            OriginalMasks,
            "__init__",
            ("set(model_words) if pair_by_original else", "set() if pair_by_original else"),
            "given",
            "start",
            "hope anna alpha1 beta2 gamma3",
        ),
        (ToolGuesses, "hides_model_words", ("> self.limits[0]", "> 99"), "given", "start", "hope anna alpha beta"),
    )
    for where, name, change, kind, way, written in faults:
        with monkeypatch.context() as patch:
            patch.setattr(where, name, planted(getattr(where, name), change))
            with pytest.raises(AssertionError):
                test_a_tool_that_changes_an_original_shows_nothing_of_it(sanitizer, kind, way, written)


def test_no_kept_type_leaves_a_text_that_the_model_may_have_written(sanitizer: Sanitizer) -> None:
    """The type of a word follows from its context: as a number, a restored age would leave where numbers are kept."""
    conversation = Conversation(sanitizer, facts="none", keep=["number"])
    assert conversation.outgoing_text("She is 73 years old, and order 4718 is late.").endswith("order 4718 is late.")
    text = "The &#73; is <73, and order 73 or 4718 is late."
    result, unshared = send_result(conversation, [user("Go on.")], ["Ada Quell", "Bo Vard", "Cy Elm", "Di Orr"], text)
    assert unshared == 1
    for written in (conversation.outgoing_unlinked(text), result):
        assert not any(map(str.isdigit, written))
