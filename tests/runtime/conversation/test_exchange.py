"""An exchange rewrites one request and restores its reply; texts may be rewritten by the caller's own function."""

import sys
import threading
from itertools import count
from pathlib import Path

import pytest
from textveil import Conversation, Sanitizer


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_a_reply_has_words_of_its_own_request_alone(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    first, second = conversation.start_exchange(), conversation.start_exchange()
    out = first.outgoing([user("Anna Novak called.")])[0]["content"]
    other = second.outgoing([user("Peter Schulz called.")])[0]["content"]
    assert second.incoming(f"{out} {other}").reply == f"{out} Peter Schulz called."
    assert first.incoming(f"{out} {other}").reply == f"Anna Novak called. {other}"
    stream = second.stream()
    assert stream.feed(out) + stream.close() == out
    assert conversation.incoming(f"{out} {other}").reply == "Anna Novak called. Peter Schulz called."


def test_one_mapping_and_every_message_as_it_went_out(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    messages = [user("Anna Novak paid 4711 euros."), user("Anna Novak, again 4711.")]
    once = conversation.start_exchange().outgoing(messages)
    later = conversation.start_exchange()
    assert later.outgoing(messages) == once
    assert later.incoming(once).reply == [{**message, "role": "assistant"} for message in messages]


def test_a_reply_at_its_place_brings_its_surrogates(sanitizer: Sanitizer) -> None:
    """This also holds if the client left out the oldest messages, which introduced the surrogates."""
    conversation = Conversation(sanitizer)
    history = [user("Anna Novak called."), user("Who else?"), user("Say so.")]
    first = conversation.start_exchange()
    sent = first.outgoing(history)
    reply = {"role": "assistant", "content": first.incoming(sent[0]["content"]).reply}
    for messages in ([*history, reply], [*history[1:], reply]):
        later = conversation.start_exchange()
        assert later.outgoing(messages)[-1] == {"role": "assistant", "content": sent[0]["content"]}
        assert later.incoming(sent[0]["content"]).reply == "Anna Novak called."


def test_a_reply_at_no_place_of_its_own_brings_none(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    first = conversation.start_exchange()
    sent = first.outgoing([user("Anna Novak called."), user("Peter Schulz called.")])
    reply = first.incoming(sent[0]["content"]).reply
    later = conversation.start_exchange()
    (again,) = later.outgoing([{"role": "assistant", "content": reply}])
    assert again["content"] != sent[0]["content"]
    assert not {"Anna", "Novak", "Peter", "Schulz"} & set(again["content"].split())
    assert later.incoming(sent[0]["content"]).reply == sent[0]["content"]
    assert later.incoming(again["content"]).reply == again["content"]


def test_an_exchange_goes_on_with_another(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    first = conversation.start_exchange()
    out = first.outgoing_text("Anna Novak called.")
    assert conversation.start_exchange().incoming(out).reply == out
    assert conversation.start_exchange(first.history).incoming(out).reply == "Anna Novak called."


def test_what_it_restores_is_saved(sanitizer: Sanitizer, tmp_path: Path) -> None:
    conversation = Conversation(sanitizer)
    out = conversation.start_exchange().outgoing([user("Anna Novak called.")])
    (tmp_path / "data").mkdir()
    conversation.start_exchange().save(tmp_path / "data" / "c", tmp_path / "key")
    again = Conversation.load(tmp_path / "data" / "c", tmp_path / "key", sanitizer)
    assert again.incoming(out).reply == [{"role": "assistant", "content": "Anna Novak called."}]
    assert again.start_exchange().incoming(out).reply == [{**out[0], "role": "assistant"}]


def test_a_key_twice_in_arguments_leaves_them_surrogates(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, restore_tools={"find"})
    call = {"type": "function_call", "name": "find", "arguments": '{"a": "x", "a": "y"}'}
    found = conversation.incoming([call])
    assert (found.reply, found.tools) == ([call], ("find",))


def test_somebody_else_rewrites(sanitizer: Sanitizer) -> None:
    """The caller's function gets each text once, and nothing is restored."""
    asked: list[str] = []
    conversation = Conversation(sanitizer, rewrite=lambda text: asked.append(text) or text.upper())
    messages = [user("Anna called."), {"role": "tool", "tool_call_id": "c", "content": '{"who": "Anna"}'}]
    once = conversation.outgoing(messages)
    assert [message["content"] for message in once] == ["ANNA CALLED.", '{"who": "ANNA"}']
    assert conversation.outgoing(messages) == once
    assert asked == ["Anna called.", "Anna"]
    assert conversation.incoming("ANNA CALLED.").reply == "ANNA CALLED."


def test_equal_texts_that_somebody_else_rewrites_are_drawn_apart(sanitizer: Sanitizer) -> None:
    """Otherwise equal messages would never have unequal outputs: an infinite loss."""
    drawn = count()
    conversation = Conversation(sanitizer, rewrite=lambda text: f"{text} {next(drawn)}")
    exchange = conversation.start_exchange()
    went = exchange.outgoing([user("yes"), user("yes"), user("no")])
    assert [message["content"] for message in went] == ["yes 0", "yes 1", "no 2"]
    assert [exchange.outgoing_text("yes") for _ in range(2)] == ["yes 3", "yes 4"]
    more = conversation.start_exchange().outgoing([user("yes"), user("yes"), user("yes"), user("no")])
    assert more[:2] == went[:2]
    assert [message["content"] for message in more[2:]] == ["yes 5", "no 6"]  # what is before "no" changed
    assert conversation.start_exchange(exchange.history).outgoing([user("yes")])[0]["content"] == "yes 7"


@pytest.mark.slow
def test_threads_that_share_a_conversation_get_their_own_replies(sanitizer: Sanitizer, tmp_path: Path) -> None:
    """Eight threads send 120 requests each; another one saves and packs the conversation meanwhile."""
    conversation, wrong = Conversation(sanitizer), list[str]()
    (tmp_path / "data").mkdir()

    def ask(thread: int) -> None:
        history: list[dict[str, str]] = []
        for number in range(120):
            text = f"Anna Novak{'abcdefgh'[thread]} called about {1_000 + number} chairs."
            history = [*history[-4:], user(text)]
            try:
                exchange = conversation.start_exchange()
                sent = exchange.outgoing(history)[-1]["content"]
                if number % 2:
                    stream = exchange.stream()
                    reply = stream.feed(sent[:9]) + stream.feed(sent[9:]) + stream.close()
                else:
                    reply = exchange.incoming({"role": "assistant", "content": sent}).reply["content"]
                if number % 40 == thread:
                    conversation.save(tmp_path / "data" / str(thread), tmp_path / "key")
                    conversation.pack()
            except Exception as error:
                wrong.append(repr(error))
            else:
                if reply != text:
                    wrong.append(f"{reply} for {text}")
                history.append({"role": "assistant", "content": reply})

    threads = [threading.Thread(target=ask, args=(thread,)) for thread in range(8)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []


def test_an_exchange_is_freed_alone_and_a_conversation_with_its_mapping(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    first, second = conversation.start_exchange(), conversation.start_exchange()
    messages = [user("Anna Novak called.")]
    sent = first.outgoing(messages)[0]["content"]
    assert second.outgoing(messages)[0]["content"] == sent
    assert first.incoming(sent).reply == "Anna Novak called."
    index, history, packed = first._exchange.get_restorer(first._shared).index, first.history, conversation.pack()
    first.free_memory()
    assert not index.forms
    assert not first._exchange.tags
    assert second.incoming(sent).reply == "Anna Novak called."
    assert conversation.start_exchange(history).incoming(sent).reply == "Anna Novak called."
    conversation.free_memory()
    assert not conversation._shared.sent_messages
    assert not conversation._shared.surrogate_state._tags
    assert Conversation.unpack(packed, sanitizer).incoming(sent).reply == "Anna Novak called."
