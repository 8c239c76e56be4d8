"""The input of a hostile upstream is the same whether its guess equals a hidden string or not.

docs/proofs/names.md has the rules. Two users have one secret each, of one template. The upstream guesses the first.
Under one stream of entropy it gets the same bytes from both, whatever it answers and whatever their clients send again.
"""

import itertools
import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from planted import planted
from textveil import Conversation, Sanitizer
from textveil.conversation.reply_records import ReplyRecords
from textveil.conversation.text_rewriter import ConversationTextRewriter

#: Words on no list: each is replaced, and none is a surrogate.
GUESSED, OTHER = "Zqxwgrad", "Qvorbley"
GUESSES = [GUESSED, *(f"Zqxw{first}{second}burg" for first in "abcdefgh" for second in "abcdefgh")]
Message = dict[str, Any]
Reply = Callable[[int, str], Any]
Client = Callable[[list[Message]], list[Message]]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def blocks(turn: int, surrogate: str) -> Any:
    """Return a message of many texts: the surrogate first or last, and guesses."""
    texts = [surrogate, *GUESSES] if turn % 2 else [*GUESSES, surrogate]
    return {"role": "assistant", "content": [{"type": "text", "text": text} for text in texts]}


def chat(turn: int, surrogate: str) -> Any:
    """One guess a reply."""
    return {"role": "assistant", "content": f"The town is {[surrogate, *GUESSES][turn]}."}


def items(turn: int, surrogate: str) -> Any:
    part = {"type": "output_text", "annotations": []}
    texts = [f"The town is {town}." for town in [surrogate, *GUESSES[:9], surrogate]]
    item = {"type": "message", "role": "assistant", "status": "completed"}
    return [{**item, "id": f"m{n}", "content": [{**part, "text": text}]} for n, text in enumerate(texts)]


def prose(turn: int, surrogate: str) -> Any:
    questions = f"Is it {surrogate}, or {', '.join(GUESSES[:20])}? &#{surrogate}; <{surrogate} {surrogate}. {surrogate}"
    return {"role": "assistant", "content": questions, "refusal": None}


def calls(turn: int, surrogate: str) -> Any:
    arguments = json.dumps({"towns": [surrogate, *GUESSES]})
    return [{"type": "function_call", "call_id": f"c{turn}", "name": "note", "arguments": arguments}]


def changed(change: Callable[[str], str]) -> Client:
    """Return a client that changes each text under the model's name."""

    def text(value: Any) -> Any:
        return change(value) if isinstance(value, str) else [{**p, "text": change(p["text"])} for p in value]

    return lambda messages: [
        {**message, "content": text(message["content"])}
        if message.get("role") == "assistant" and message.get("content")
        else message
        for message in messages
    ]


def merged(messages: list[Message]) -> list[Message]:
    """Return a client's messages with all replies merged into one."""
    said = [json.dumps(message.get("content")) for message in messages if message.get("role") == "assistant"]
    return [messages[0], {"role": "assistant", "content": " ".join(said)}, messages[-1]]


def repeated(messages: list[Message]) -> list[Message]:
    return [copy for message in messages for copy in [message] * (1 + (message.get("role") == "assistant"))]


CLIENTS: dict[str, Client] = {
    "exact": lambda messages: messages,
    "stripped": changed(lambda text: f" {text.strip(' .')}\n"),
    "edited": changed(lambda text: text.replace("is", "was").replace(",", ";")),
    "cut": changed(lambda text: text.partition(" ")[2] or text),
    "quoted": changed(lambda text: f"Earlier I said: {text}"),
    "repeated in a text": changed(lambda text: f"{text} {text}"),
    "merged": merged,
    "repeated": repeated,
    "drops the oldest": lambda messages: messages[-3:],
    "drops messages of the user": lambda messages: [messages[0], *messages[1::2], messages[-1]],
    "named": lambda messages: [
        {**message, "name": "Zqxwgrad"} if message.get("role") == "assistant" else message for message in messages
    ],
}
REPLIES: dict[str, Reply] = {"blocks": blocks, "chat": chat, "items": items, "prose": prose, "calls": calls}


def view(
    sanitizer: Sanitizer,
    secret: str,
    reply: Reply,
    client: Client,
    *,
    turns: int = 4,
    stream: bool = False,
    **options: Any,
) -> str:
    """Return the upstream's input, under one stream of entropy."""
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "urandom", random.Random(5).randbytes)
    try:
        conversation = Conversation(
            sanitizer, restore_places="all", **options
        )  # the more is restored, the more can be asked
        messages, seen = [user(f"We met in {secret}")], list[Any]()
        for turn in range(turns):
            exchange = conversation.start_exchange()
            seen.append(sent := exchange.outgoing(client(messages) if turn else messages))
            surrogate = seen[0][0]["content"].removeprefix("We met in ")
            written = reply(turn, surrogate)
            if stream:
                texts = [part["text"] for part in written["content"]]
                restored = {"role": "assistant", "content": [streamed(exchange, text, 1 + turn) for text in texts]}
            else:
                restored = exchange.incoming(written).reply
            messages += [*(restored if isinstance(restored, list) else [restored]), user(f"Go on, part {turn}.")]
            assert OTHER not in json.dumps(sent)
        return json.dumps(seen)
    finally:
        patch.undo()


def streamed(exchange: Conversation, text: str, size: int) -> Message:
    stream = exchange.stream()
    parts = [stream.feed(text[place : place + size]) for place in range(0, len(text), size)]
    return {"type": "text", "text": "".join([*parts, stream.close()])}


#: The default options of a conversation, and surrogates that look like other names.
STYLES: dict[str, dict[str, Any]] = {"tags": {}, "surrogates": {"style": "surrogate", "facts": "none"}}


def list_cases() -> list[Any]:
    """Return all combinations; by default each client runs with each style, and with the replies in turn."""
    cases = []
    for place, (client, reply, style) in enumerate(itertools.product(CLIENTS, REPLIES, STYLES)):
        row, column = divmod(place, len(REPLIES) * len(STYLES))
        is_default = (row + column // len(STYLES) + column) % len(REPLIES) == 0
        cases.append(pytest.param(reply, client, style, marks=() if is_default else pytest.mark.full))
    return cases


@pytest.mark.parametrize(("reply", "client", "style"), list_cases())
def test_a_guess_shows_nothing(sanitizer: Sanitizer, reply: str, client: str, style: str) -> None:
    options = STYLES[style]
    first, second = (view(sanitizer, secret, REPLIES[reply], CLIENTS[client], **options) for secret in (GUESSED, OTHER))
    assert first == second


@pytest.mark.parametrize("client", ["exact", "edited"])
def test_a_guess_in_a_stream_shows_nothing(sanitizer: Sanitizer, client: str) -> None:
    first, second = (view(sanitizer, secret, blocks, CLIENTS[client], stream=True) for secret in (GUESSED, OTHER))
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("surrogate_first", [True, False])
def test_six_thousand_guesses_go_out_as_they_were_written(sanitizer: Sanitizer, surrogate_first: bool) -> None:
    conversation = Conversation(sanitizer)
    messages = [user("We met in Zqxwgrad")]
    exchange = conversation.start_exchange()
    surrogate = exchange.outgoing(messages)[0]["content"].removeprefix("We met in ")
    guesses = [f"Zqxw{number:04d}".translate(str.maketrans("0123456789", "abcdefghij")) for number in range(6_000)]
    guesses[4_711] = "Zqxwgrad"
    texts = [surrogate, *guesses] if surrogate_first else [*guesses, surrogate]
    written = {"role": "assistant", "content": [{"type": "text", "text": f"{text} "} for text in texts]}
    restored = exchange.incoming(written).reply
    assert [part["text"] for part in restored["content"]].count("Zqxwgrad ") == 2
    again = conversation.start_exchange().outgoing([*messages, restored, user("Go on.")])
    assert again[1] == written


@pytest.mark.parametrize("style", STYLES)
def test_two_replies_at_one_place_show_nothing(sanitizer: Sanitizer, style: str) -> None:
    """The client repeats its request, and sends either reply."""

    def seen(secret: str) -> str:
        patch = pytest.MonkeyPatch()
        patch.setattr(os, "urandom", random.Random(5).randbytes)
        try:
            conversation, view = Conversation(sanitizer, **STYLES[style]), list[Any]()
            messages = [user(f"We met in {secret}")]
            replies = []
            for turn in range(3):
                exchange = conversation.start_exchange()
                sent = exchange.outgoing(messages)
                surrogate = sent[0]["content"].removeprefix("We met in ")
                replies.append(exchange.incoming(chat(turn, surrogate)).reply)
            for number in (0, 1, 2, 1, 0):
                view.append(conversation.start_exchange().outgoing([*messages, replies[number], user("Go on.")]))
            return json.dumps(view)
        finally:
            patch.undo()

    assert seen(GUESSED) == seen(OTHER)
    assert GUESSED not in seen(GUESSED)


@pytest.mark.parametrize("choices", [2, 65])
def test_several_replies_to_one_request_show_nothing(sanitizer: Sanitizer, choices: int) -> None:
    """The client sends one of them again, which need not be the first."""

    def seen(secret: str) -> str:
        patch = pytest.MonkeyPatch()
        patch.setattr(os, "urandom", random.Random(5).randbytes)
        try:
            conversation, view = Conversation(sanitizer), list[Any]()
            messages = [user(f"We met in {secret}")]
            exchange = conversation.start_exchange()
            surrogate = exchange.outgoing(messages)[0]["content"].removeprefix("We met in ")
            replies = [exchange.incoming(chat(number, surrogate)).reply for number in range(choices)]
            for number in (1, 0, choices - 1, 1):
                view.append(conversation.start_exchange().outgoing([*messages, replies[number], user("Go on.")]))
            return json.dumps(view)
        finally:
            patch.undo()

    assert seen(GUESSED) == seen(OTHER)


def test_each_message_with_a_mapping_of_its_own_shows_no_equality(sanitizer: Sanitizer) -> None:
    def said(secret: str) -> str:
        patch = pytest.MonkeyPatch()
        patch.setattr(os, "urandom", random.Random(5).randbytes)
        try:
            conversation = Conversation(sanitizer, consistent=False)
            texts = [f"We met in {secret}", *(f"Is it {guess}?" for guess in GUESSES)]
            return json.dumps(conversation.outgoing([user(text) for text in texts]))
        finally:
            patch.undo()

    assert said(GUESSED) == said(OTHER)
    texts = ("Anna Novak called.", "Then Anna Novak wrote to Anna Novak.")
    repeats = []
    for _ in range(4):  # by chance, two messages draw one surrogate in about one of 700 conversations
        conversation = Conversation(sanitizer, consistent=False, style="surrogate")
        sent = conversation.outgoing([user(text) for text in texts])
        repeats.append(sent[0]["content"].split()[0] in sent[1]["content"])
    assert not all(repeats)
    names = sent[1]["content"].removesuffix(".").removeprefix("Then ").split(" wrote to ")
    assert names[0] == names[1]
    for message, text in zip(sent, texts, strict=True):
        assert conversation.incoming(message["content"]).reply == text


def test_a_client_that_keeps_the_first_message_and_drops_the_next_tests_three_texts(sanitizer: Sanitizer) -> None:
    """Other replies take the place of the first reply in turn: after three texts no text is compared there."""
    conversation = Conversation(sanitizer)
    first = user("We met in Zqxwgrad")
    history: list[Message] = []
    guesses = ["Vlombeck", "Wrexgau", "Xanbridge", "Ystrop", GUESSED]
    seen = []
    for turn in range(7):
        exchange = conversation.start_exchange()
        sent = exchange.outgoing([first, *history[-2:]])
        surrogate = sent[0]["content"].removeprefix("We met in ")
        seen.append(sent[1]["content"] if turn else "")
        text = f"The town is {[surrogate, *guesses, 'Vlombeck'][turn]}."
        reply = exchange.incoming({"role": "assistant", "content": text}).reply
        history += [reply, user("Go on.")]
    assert seen[1] == f"The town is {surrogate}."
    assert seen[6] != seen[1]


def by_content(records: ReplyRecords, place: Any, message: Any, **ways: Any) -> Any:
    """Plants a fault: a record is found by what its text was restored to."""
    found = real_find(records, place, message, **ways)
    texts = [records.hash_value("text", message["content"])] if isinstance(message.get("content"), str) else []
    for record in records._records.values():
        if texts and [tag for tag, _ in record.fields.get("text", ())] == texts:
            return replace(found, model_values={"text": [json.loads(record.fields["text"][0][1])]}, is_whole=True)
    return found


real_find = ReplyRecords.find_reply
FAULTS: dict[str, tuple[Any, str, tuple[tuple[str, str], ...], str, str]] = {
    "a place without what went out before": (
        ReplyRecords, "_hash_place", (('"place", place.chain', '"place", ""'),), "chat", "exact"),
    "items that are found though others are missing": (
        ReplyRecords, "covers_whole_replies",
        (("next_record is None or next_record.reply_start != reply", "True"), ("return False", "return True")),
        "items", "repeated"),
    "a second reply at a place replaces the first": (
        ReplyRecords, "add_message", (("existing.owner is not owner", "False"),), "chat", "retries"),
    "one surrogate for equal strings of changed text": (
        ConversationTextRewriter, "rewrite_unlinked", (("rewrite_unlinked(read)", "rewrite_stream(read)"),),
        "prose", "edited"),
    "changed text is read as the user's": (
        ConversationTextRewriter, "rewrite_unlinked",
        (("shared.plan.hide_context_words(entries)", "entries"),),
        "numbers", "edited"),
}  # fmt: skip


def numbers(turn: int, surrogate: str) -> Any:
    return {"role": "assistant", "content": f"It is <{surrogate}, and &#{surrogate}; too."}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(sanitizer: Sanitizer, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, changes, reply, client = FAULTS[fault]
    monkeypatch.setattr(where, name, planted(getattr(where, name), *changes))
    if name == "_hash_place":  # else the second reply at the one place closes it
        monkeypatch.setattr(
            ReplyRecords, "add_message", planted(ReplyRecords.add_message, ("existing.owner is not owner", "False"))
        )
    if client == "retries":
        with pytest.raises(AssertionError):
            test_two_replies_at_one_place_show_nothing(sanitizer, "surrogates")
        return
    if reply == "numbers":
        seen = [view_of_number(sanitizer, secret, "surrogates") for secret in ("3", "4")]
    else:
        options = STYLES["surrogates"]
        seen = [view(sanitizer, secret, REPLIES[reply], CLIENTS[client], **options) for secret in (GUESSED, OTHER)]
    assert seen[0] != seen[1]


def test_a_planted_lookup_by_content(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReplyRecords, "find_reply", by_content)
    first, second = (view(sanitizer, secret, chat, CLIENTS["exact"]) for secret in (GUESSED, OTHER))
    assert first != second


def view_of_number(sanitizer: Sanitizer, secret: str, style: str) -> str:
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "urandom", random.Random(5).randbytes)
    try:
        conversation = Conversation(sanitizer, restore_places="all", **STYLES[style])
        messages = [user(f"My room is {secret} here")]
        exchange = conversation.start_exchange()
        surrogate = exchange.outgoing(messages)[0]["content"].removeprefix("My room is ").removesuffix(" here")
        written = f"It is <{surrogate} here and &#{surrogate} here; too."
        restored = exchange.incoming({"role": "assistant", "content": written}).reply
        restored["content"] = restored["content"].replace("It is", "Is it").replace(" here", "")
        return json.dumps(conversation.start_exchange().outgoing([*messages, restored, user("Go on.")]))
    finally:
        patch.undo()


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("secrets", [("3", "4"), ("9", "3")])
def test_numbers_in_changed_text_are_hidden_in_every_context(
    sanitizer: Sanitizer, secrets: tuple[str, str], style: str
) -> None:
    first, second = (view_of_number(sanitizer, secret, style) for secret in secrets)
    assert first == second
