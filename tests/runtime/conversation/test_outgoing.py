"""Outgoing messages: the formats of two providers, one mapping, refused input, repeated messages, files."""

import copy
import gc
import json
import math
import os
import pickle
import weakref
from pathlib import Path
from typing import Any

import pytest
from textveil import ContentHashMismatch, Conversation, InputError, KeyFileError, OptionError, Sanitizer
from textveil.conversation import encrypted_file as kept

SECRET = "Zorblax Qwyx"


def texts(value: Any) -> list[Any]:
    """Return all strings and numbers of a value except keys."""
    if isinstance(value, dict):
        return [text for entry in value.values() for text in texts(entry)]
    if isinstance(value, list):
        return [text for entry in value for text in texts(entry)]
    return [value]


CALL = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": json.dumps({"who": SECRET})}}
RESULT = json.dumps({"who": SECRET, "list": [SECRET, 47118821, -1.5, True, None], "paid": False})
MESSAGES: list[Any] = [
    {"role": "system", "content": f"You help {SECRET}."},
    {"role": "developer", "content": SECRET},
    {"role": "user", "content": SECRET, "name": "Zorblax"},
    {"role": "user", "content": [{"type": "text", "text": SECRET}, {"type": "input_text", "text": SECRET}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None, "annotations": [], "audio": None},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": SECRET}], "reasoning_content": SECRET},
    {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
    {"role": "tool", "tool_call_id": "call_1", "name": "find", "content": [{"type": "text", "text": SECRET}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": SECRET}]},
    {"type": "message", "id": "m", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": SECRET, "annotations": [], "logprobs": []}]},
    {"type": "function_call", "id": "f", "call_id": "c", "name": "find", "arguments": json.dumps({"who": SECRET})},
    {"type": "function_call_output", "call_id": "c", "output": RESULT},
    {"type": "item_reference", "id": "msg_1"},
    {"type": "function_call_output", "call_id": "c", "output": f"found {SECRET}"},
    {"type": "text", "text": f"Help {SECRET}.", "cache_control": {"type": "ephemeral"}},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {"who": [SECRET]}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": RESULT, "is_error": False}]},
    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": SECRET}]},
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_every_text_is_rewritten_and_nothing_else(sanitizer: Sanitizer, message: Any) -> None:
    (out,) = Conversation(sanitizer).outgoing([message])
    assert "Zorblax" not in json.dumps(out)
    assert "47118821" not in json.dumps(out)
    before, after = texts(message), texts(out)
    for old, new in zip(before, after, strict=True):
        if not isinstance(old, str) or ("Zorblax" not in old and "find" not in old):
            assert new == old
        elif old.startswith("{"):
            given, written = json.loads(old), json.loads(new)
            assert given.keys() == written.keys()
            for value, surrogate in zip(texts(given), texts(written), strict=True):  # a number may become a tag
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                assert type(surrogate) is type(value) or (is_number and surrogate[-1] == "]")
            assert [value for value in texts(given) if isinstance(value, bool | None)] == [
                value for value in texts(written) if isinstance(value, bool | None)
            ]


@pytest.mark.parametrize("shape", ["value", "part"])
def test_json_inside_of_json_keeps_its_keys(sanitizer: Sanitizer, shape: str) -> None:
    inside = json.dumps({"customerName": SECRET, "orderNo": 47118821, "more": json.dumps([{"houseOf": SECRET}])})
    content = json.dumps({"text": inside}) if shape == "value" else [{"type": "text", "text": inside}]
    (out,) = Conversation(sanitizer).outgoing([{"role": "tool", "tool_call_id": "c", "content": content}])
    written = json.loads(out["content"])["text"] if shape == "value" else out["content"][0]["text"]
    found = json.loads(written)
    assert [*found] == ["customerName", "orderNo", "more"]
    assert [*json.loads(found["more"])[0]] == ["houseOf"]
    assert found["orderNo"] == "[account]"
    assert not any(word in written for word in ("Zorblax", "Qwyx", "47118821"))


@pytest.mark.parametrize("inside", [json.dumps({SECRET: 1}), '{"a": "Zorblax", "a": 1}', '{"Zorblax'])
def test_what_is_inside_and_cannot_stay_json_is_a_text(sanitizer: Sanitizer, inside: str) -> None:
    part = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": inside}]}
    assert "Zorblax" not in json.dumps(Conversation(sanitizer).outgoing([part]))


def test_what_a_model_thought_goes_out_as_it_came(sanitizer: Sanitizer, tmp_path: Path) -> None:
    conversation = Conversation(sanitizer)
    sent = conversation.outgoing_text(SECRET)
    thinking = {"type": "thinking", "thinking": sent, "signature": "s"}
    reasoning = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": sent}]}
    conversation.incoming([thinking, reasoning])
    conversation.save(tmp_path / "a", tmp_path.parent / f"{tmp_path.name}.key")
    for one in (conversation, Conversation.load(tmp_path / "a", tmp_path.parent / f"{tmp_path.name}.key", sanitizer)):
        again = [{"role": "assistant", "content": [thinking]}, {**reasoning, "encrypted_content": None}]
        assert one.outgoing(again) == [again[0], reasoning]
        with pytest.raises(InputError, match="the type thinking"):
            one.outgoing([{"role": "assistant", "content": [{**thinking, "thinking": SECRET}]}])


REFUSED: list[tuple[Any, str]] = [
    (SECRET, "must be a dictionary"), (None, "must be a dictionary"), ({}, "has no role"),
    ({"content": SECRET}, "has no role"), ({"role": SECRET, "content": ""}, "role is"), ({"role": 5}, "role is"),
    ({"role": "user", "content": SECRET, "metadata": {}}, "an unknown field: remove metadata$"),
    ({"role": "user", "content": "", "Grace": 5}, "an unknown field: remove it$"),
    ({"role": "user", "content": "", SECRET: 5, "sentAt": 5}, "an unknown field: remove sentAt$"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": SECRET}}]}, "the type image_url"),
    ({"role": "user", "content": [{"type": "input_file", "file": SECRET}]}, "the type input_file"),
    ({"role": "assistant", "content": [{"type": "thinking", "thinking": SECRET}]}, "the type thinking"),
    ({"role": "user", "content": [{"type": SECRET, "text": SECRET}]}, "the type is unknown"),
    ({"role": "user", "content": [{"type": 5}]}, "the type is unknown"),
    ({"role": "user", "content": {"text": SECRET}}, "an unsupported value"),
    ({"role": "user", "content": 5}, "an unsupported value"),
    ({"role": "user", "content": [SECRET]}, "must be a dictionary"),
    ({"role": "tool", "tool_call_id": SECRET, "content": ""}, "identifier"),
    ({"role": "assistant", "content": "", "audio": {"id": "a"}}, "an unsupported value"),
    ({"role": "assistant", "content": "", "tool_calls": [SECRET]}, "must be a dictionary"),
    ({"role": "assistant", "content": "", "tool_calls": {}}, "an unsupported value"),
    ({"role": "assistant", "tool_calls": [{**CALL, "function": {"name": SECRET, "arguments": "{}"}}]}, "identifier"),
    ({"type": "function_call_output", "call_id": "c", "output": '{"a": 1, "a": 2}'}, "a duplicate key"),
    ({"type": "function_call_output", "call_id": "c", "output": '{"a": NaN}'}, "not finite"),
    ({"type": "function_call_output", "call_id": "c", "output": '{"a": 1e999}'}, "not finite"),
    ({"type": "tool_use", "id": "t", "name": "f", "input": {"n": math.nan}}, "JSON"),
    ({"type": "tool_use", "id": "t", "name": "f", "input": {"n": b"x"}}, "JSON"),
    ({"type": "tool_use", "id": "t", "name": "f", "input": {5: "x"}}, "JSON"),
    ({"type": "tool_use", "id": "t", "name": "f", "input": {"n": 10**400}}, "too large"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "why"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_known_is_refused_before_anything_is_drawn(sanitizer: Sanitizer, message: Any, why: str) -> None:
    conversation = Conversation(sanitizer)
    with pytest.raises(InputError, match=why) as caught:
        conversation.outgoing([{"role": "user", "content": SECRET}, message])
    assert str(caught.value).startswith("message 2 of 2: ")
    assert "\n" not in str(caught.value)
    assert "Zorblax" not in str(caught.value)
    assert conversation._shared.surrogate_state.export_state()["draw_numbers"] == []
    assert not conversation._shared.sent_messages
    for wrong in ("text", {"role": "user"}, None):
        with pytest.raises(InputError, match=r"^messages must be a list of dictionaries$"):
            conversation.outgoing(wrong)  # type: ignore[arg-type]


def test_fields_that_clients_leave_empty(sanitizer: Sanitizer) -> None:
    """``model_dump`` of client libraries writes such fields."""
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}, "caller": None, "toolset_name": None}
    (out,) = Conversation(sanitizer).outgoing([{"role": "assistant", "content": [block], SECRET: None}])
    assert out == {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}


def test_keys_that_are_names_of_fields(sanitizer: Sanitizer) -> None:
    keys = "name firstName FamilyName order_no isActive lat lon Lon SKU es page x-trace-id HTTPServer2 "
    keys += "customer_id getUserName sha256 base64_data top_k @type og:title x y2 grant_type max_price line_2"
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": dict.fromkeys(keys.split(), True)}
    assert Conversation(sanitizer).outgoing([tool]) == [tool]
    tool["input"] = {"Smith": True}
    assert Conversation(sanitizer, allow=["smith"]).outgoing([tool]) == [tool]
    tool["input"] = {"order_no": True}
    (out,) = Conversation(sanitizer, deny=["order"]).outgoing([tool])
    assert "order" not in json.dumps(out)


#: Keys that are no names of fields: of persons, accounts and secrets. Ottilie is no surrogate, as Anna is: a key
#: of one word must differ from every surrogate for the test to be free of chance.
PRIVATE_KEYS = (
    "Ottilie anna.novak Novak AnnaNovak smith_anna MariaDbParameters f.last flast firstlast f.novak anovak "
    "annanovak user_anna_novak grace_hill GraceHill DE89370400440532013000 sk-live_abc cust_88213 j_doe k_o_v_a_c_s"
).split()


@pytest.mark.parametrize("key", [*PRIVATE_KEYS, SECRET, "47118821", "anna@novak.org"])
def test_other_keys_are_rewritten_and_restored(sanitizer: Sanitizer, key: str) -> None:
    conversation = Conversation(sanitizer, restore_tools=["f"], style="surrogate", facts="none")
    messages = [
        {"role": "user", "content": "hello"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"scores": {key: 1}}},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": json.dumps({"scores": {key: True}})},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps({"text": json.dumps({key: True})})},
    ]
    out = conversation.outgoing(messages)
    assert key not in json.dumps(out)
    assert not any(word in json.dumps(out) for word in ("Zorblax", "Qwyx"))
    (written,) = json.loads(out[3]["output"])["scores"]
    (inside,) = json.loads(json.loads(out[4]["content"])["text"])
    assert inside == written, "equal keys stay equal"
    reply = {"type": "tool_use", "id": "u", "name": "f", "input": {"scores": {written: True}}}
    assert conversation.incoming(reply).reply["input"] == {"scores": {key: True}}


def test_keys_that_would_become_one_are_numbered(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = Conversation(sanitizer)
    monkeypatch.setattr(conversation._texts, "_rewrite_linked", lambda *given: "same")
    monkeypatch.setattr(conversation._texts, "rewrite_unlinked", lambda *given, **more: "same")
    of_model = {"type": "tool_use", "id": "t", "name": "f", "input": {"qwyxo": True, "zorblax": False}}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": '{"qwyxo": true, "zorblax": false}'}
    assert conversation.outgoing([of_model])[0]["input"] == {"same": True, "same_2": False}
    assert json.loads(conversation.outgoing([call, result])[1]["output"]) == {"same": True, "same_2": False}


@pytest.mark.parametrize("style", ["tag", "surrogate"])
@pytest.mark.parametrize("shape", ["chat", "item", "block"])
def test_numbers_of_results_never_become_zero(sanitizer: Sanitizer, shape: str, style: str) -> None:
    """A number without a surrogate number becomes a tag in a string, which replies restore as a number."""
    values = {"order_no": 88213, "total": 49.9, "qty": 2, "change": -3}
    result = json.dumps(values)
    messages: list[Any] = {
        "chat": [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": result},
        ],
        "item": [
            {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": result},
        ],
        "block": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": result}]},
        ],
    }[shape]
    conversation = Conversation(sanitizer, style=style, restore_tools=["pay"], restore_places={"json"})
    out = conversation.outgoing([{"role": "user", "content": "Where is my order?"}, *messages])[-1]
    written = out["content"][0]["content"] if shape == "block" else out["output" if shape == "item" else "content"]
    found = json.loads(written)
    assert found.keys() == values.keys()
    assert 0 not in found.values()
    assert [found[name].rstrip("123456789]") for name in ("total", "qty", "change")] == [*["[number "] * 2, "-[number "]
    arguments = {"type": "function", "id": "p", "function": {"name": "pay", "arguments": written}}
    reply = {"role": "assistant", "content": written, "tool_calls": [arguments]}
    restored = conversation.incoming(reply).reply
    assert json.loads(restored["tool_calls"][0]["function"]["arguments"]) == values
    assert json.loads(restored["content"]) == values
    assert conversation.incoming(f"The total is {found['total']}.").reply == "The total is 49.9."


def test_kept_and_dropped_numbers_of_results(sanitizer: Sanitizer) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    item = {"type": "function_call_output", "call_id": "c", "output": '{"total": 49.9, "qty": 2}'}
    assert Conversation(sanitizer, keep=["number"]).outgoing([call, item])[1] == item
    dropped = Conversation(sanitizer, drop=["number"]).outgoing([call, item])[1]
    assert json.loads(dropped["output"]) == {"total": None, "qty": None}


def test_numbers_of_settings_stay_numbers(sanitizer: Sanitizer) -> None:
    """A provider checks them against a schema."""
    (out,) = Conversation(sanitizer).outgoing([{"type": "textveil_settings", "value": {"total": 49.9, "qty": [2]}}])
    assert out["value"] == {"total": 0.0, "qty": [0]}


def test_tables_with_numbered_rows_go_out(sanitizer: Sanitizer) -> None:
    rows = json.dumps({"name": {str(number): f"Zqxw{number}" for number in range(40)}})
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": rows}
    for messages in ([call, result], [result]):
        assert len(json.loads(Conversation(sanitizer).outgoing(messages)[-1]["output"])["name"]) == 40


def test_what_is_nested_too_deeply(sanitizer: Sanitizer) -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    message = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": deep}}
    for refused in (
        lambda: Conversation(sanitizer).outgoing([message]),
        lambda: Conversation(sanitizer).incoming(deep),
    ):
        with pytest.raises(InputError, match="nested too deeply"):
            refused()


def test_what_is_passed_through(sanitizer: Sanitizer) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    conversation = Conversation(sanitizer, pass_through={"image_url", "system", "keys"})
    system = {"role": "system", "content": SECRET, "anything": 1}
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": {SECRET: SECRET}}
    out = conversation.outgoing([{"role": "user", "content": [image]}, system, tool])
    assert out[:2] == [{"role": "user", "content": [image]}, system]
    assert [*out[2]["input"]] == [SECRET]
    assert out[2]["input"][SECRET] != SECRET


def test_the_same_person_is_the_same_in_forty_messages(sanitizer: Sanitizer, tmp_path: Path) -> None:
    conversation = Conversation(sanitizer, style="surrogate")
    first = conversation.outgoing_text("Anna Novak paid.").removesuffix(" paid.")
    for number in range(40):
        if number == 20:
            conversation.save(tmp_path / "c", tmp_path.parent / "key")
            conversation = Conversation.load(tmp_path / "c", tmp_path.parent / "key", sanitizer)
        out = conversation.outgoing([{"role": "user", "content": f"Anna Novak called about {number + 100} pages."}])
        assert out[0]["content"].startswith(f"{first} called about ")
    other = conversation.outgoing_text("Maria Kowalski paid.").removesuffix(" paid.")
    assert not set(other.split()) & set(first.split())
    assert conversation.incoming(f"{first} and {other}").reply == "Anna Novak and Maria Kowalski"


def test_no_number_comes_out_twice_while_its_pool_lasts(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, style="surrogate", facts="none")
    out = [conversation.outgoing_text(f"I paid {10 + number} euros") for number in range(80)]
    assert len(set(out)) == 80
    text = "I paid 12 euros"
    found = [conversation.outgoing_text(f"{text} and {number}") for number in range(5)]
    assert len({entry.split()[2] for entry in found}) == 5
    months = [conversation.outgoing_text(f"It was in {month}.") for month in ("March", "April") for _ in range(12)]
    assert months[0] in months  # the pool ends, and goes on
    replies = [conversation.incoming(month) for month in months]  # a month that came out for itself is in no mapping
    assert any(reply.ambiguous or reply.restored for reply in replies)


def test_a_message_goes_out_again_as_it_did(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    out = json.dumps(conversation.outgoing(MESSAGES))
    assert json.dumps(conversation.outgoing(copy.deepcopy(MESSAGES))) == out
    assert conversation.outgoing_text("Pay 47118821.") == conversation.outgoing_text("Pay 47118821.")
    reply = conversation.incoming("You paid 8123 in May.")
    assert (
        conversation.outgoing([{"role": "assistant", "content": reply.reply}])[0]["content"] == "You paid 8123 in May."
    )
    assert conversation.outgoing([{"role": "user", "content": reply.reply}])[0]["content"] != "You paid 8123 in May."


def test_calls_in_a_message_of_the_user_are_the_models(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    sent = conversation.outgoing_text(f"I am {SECRET}")
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"who": f"I am {SECRET}"}}
    out = conversation.outgoing([{"role": "user", "content": [{"type": "text", "text": f"I am {SECRET}"}, call]}])
    assert out[0]["content"][0]["text"] == sent
    assert out[0]["content"][1]["input"]["who"] != sent


def test_a_result_has_the_surrogate_of_what_was_restored_into_its_call(sanitizer: Sanitizer) -> None:
    """This includes names that are also common words, at the start of a sentence."""
    conversation = Conversation(sanitizer, restore_tools={"find"}, style="surrogate", facts="none")
    messages: list[Any] = [{"role": "user", "content": "I met Bill Hope yesterday."}]
    exchange = conversation.start_exchange()
    name = exchange.outgoing(messages)[0]["content"].removeprefix("I met ").removesuffix(" yesterday.")
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": json.dumps({"who": name})}
    messages += exchange.incoming([call]).reply
    assert json.loads(messages[1]["arguments"]) == {"who": "Bill Hope"}
    messages.append({"type": "function_call_output", "call_id": "c", "output": "Bill Hope pays. Did Bill Hope call?"})
    later = conversation.start_exchange()
    out = later.outgoing(messages)[2]["output"]
    assert out == f"{name} pays. Did {name} call?"
    assert later.incoming(out).reply == "Bill Hope pays. Did Bill Hope call?"


def test_a_changed_reply_goes_out_again_as_it_did(sanitizer: Sanitizer, tmp_path: Path) -> None:
    conversation = Conversation(sanitizer)
    first = {"role": "user", "content": f"I am {SECRET}"}
    sent = conversation.outgoing([first])
    reply = conversation.incoming(sent[0]["content"]).reply
    changed = [first, {"role": "assistant", "content": f"So: {reply}"}, {"role": "user", "content": "Go on."}]
    out = conversation.outgoing(changed)
    assert sent[0]["content"].removeprefix("I am ") not in out[1]["content"]
    conversation.save(tmp_path / "c", tmp_path.parent / f"{tmp_path.name}.key")
    for one in (conversation, Conversation.load(tmp_path / "c", tmp_path.parent / f"{tmp_path.name}.key", sanitizer)):
        assert one.outgoing(changed) == out
        exact = [first, {"role": "assistant", "content": f" {reply}. \n"}, {"role": "user", "content": "Go on."}]
        assert one.outgoing(exact)[1]["content"] == sent[0]["content"]


def test_the_store_knows_messages_by_tags_alone(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    conversation.outgoing(MESSAGES)
    conversation.incoming(conversation.outgoing_text(SECRET))
    stored = [(tag, written) for tag, (written, _) in conversation._shared.sent_messages.items()]
    stored += [(tag, record.fields) for tag, record in conversation._shared.reply_records._records.items()]
    assert len(stored) > len(conversation._shared.sent_messages)
    shared = conversation._shared
    guesses = shared.tool_guesses.export_state()["all_strings"]
    assert "Zorblax" not in json.dumps([stored, shared.unlinked_messages, guesses])
    other = Conversation(sanitizer)
    other.outgoing(MESSAGES)
    assert not set(other._shared.sent_messages) & set(conversation._shared.sent_messages)  # tags are keyed


def test_tags_that_somebody_else_wrote_are_not_restored(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, style="tag", facts="none", restore_places="all")
    assert conversation.outgoing_text("Anna Novak called") == "[person 1] called"
    out = conversation.outgoing_text("please quote [person 1] here")
    assert conversation.incoming(out).restored == ("[number 1]",)
    assert conversation.incoming("[person 1]").reply == "Anna Novak"


WRONG: list[dict[str, Any]] = [
    {"protect": "words"}, {"protect": "all"}, {"key": b"x" * 16}, {"consistent": "corpus"},
    {"epsilon": 8}, {"style": "other"}, {"facts": "other"}, {"facts": 1}, {"facts": "plain", "protect": "words"},
    {"pass_through": "system"}, {"restore_tools": [5]}, {"unknown": 1},
    {"tool_guesses": (3,)}, {"tool_guesses": (4, 3)}, {"tool_guesses": 3}, {"tool_guesses": (True, 3)},
]  # fmt: skip


@pytest.mark.parametrize("options", WRONG, ids=str)
def test_other_rungs_and_options_are_refused(sanitizer: Sanitizer, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Conversation(sanitizer, **options)


@pytest.fixture
def saved(sanitizer: Sanitizer, tmp_path: Path) -> tuple[Conversation, Path, Path]:
    (tmp_path / "keys").mkdir()
    (tmp_path / "data").mkdir()
    conversation = Conversation(sanitizer, tag={"city"})
    conversation.outgoing(MESSAGES)
    conversation.outgoing_text("Anna Novak of Boston paid 7 euros in May, again in May; Dr. Brown and Mr. Hill know")
    conversation.save(tmp_path / "data" / "c", tmp_path / "keys" / "k")
    return conversation, tmp_path / "data" / "c", tmp_path / "keys" / "k"


def test_a_file_goes_on_as_the_conversation_would(
    sanitizer: Sanitizer, saved: tuple[Conversation, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation, path, key = saved
    again = Conversation.load(path, key, sanitizer)
    assert again.outgoing(MESSAGES) == conversation.outgoing(MESSAGES)
    assert (
        again._exchange.get_restorer(again._shared).index.forms
        == conversation._exchange.get_restorer(conversation._shared).index.forms
    )
    assert again._shared.surrogate_state.export_state() == conversation._shared.surrogate_state.export_state()
    texts = ["Anna Smith of Boston and of Lima paid 12 in March", "J. Doe, 5 May 2020"]
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count % 251)) if count < 251 else bytes(count))
    assert [*map(again.outgoing_text, texts)] == [*map(conversation.outgoing_text, texts)]


def test_a_file_is_its_owners_and_shows_nothing(saved: tuple[Conversation, Path, Path]) -> None:
    _, path, key = saved
    assert path.stat().st_mode & 0o777 == key.stat().st_mode & 0o777 == 0o600
    assert b"Zorblax" not in path.read_bytes()
    assert b"members" not in path.read_bytes()
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["c"]


def test_files_that_do_not_fit(sanitizer: Sanitizer, saved: tuple[Conversation, Path, Path], tmp_path: Path) -> None:
    conversation, path, key = saved
    content = path.read_bytes()
    for wrong, error in (
        (content.replace(b"conversation 5", b"conversation 3"), InputError), (b"", InputError), (b"{}", InputError),
        (content[:-1] + bytes([content[-1] ^ 1]), KeyFileError), (kept.HEADER, KeyFileError),
    ):  # fmt: skip
        path.write_bytes(wrong)
        with pytest.raises(error):
            Conversation.load(path, key, sanitizer)
    path.write_bytes(content)
    (tmp_path / "keys" / "other").write_bytes(bytes(32))
    (tmp_path / "keys" / "other").chmod(0o600)
    for wrong_key in (tmp_path / "keys" / "other", tmp_path / "keys" / "none", path.parent / "k"):
        with pytest.raises(KeyFileError):
            Conversation.load(path, wrong_key, sanitizer)
    with pytest.raises(
        KeyFileError, match="outside the folder of the conversation: otherwise a copy of the folder would contain"
    ):
        conversation.save(path, path.parent / "k")
    with pytest.raises(InputError, match="missing or cannot be read"):
        Conversation.load(tmp_path / "none", key, sanitizer)
    assert path.read_bytes() == content


def test_another_bundle(saved: tuple[Conversation, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    conversation, path, key = saved
    monkeypatch.setattr(type(conversation._shared.sanitizer.bundle), "content_hash", "0" * 64, raising=False)
    monkeypatch.delitem(conversation._shared.sanitizer.bundle.__dict__, "content_hash", raising=False)
    with pytest.raises(ContentHashMismatch):
        Conversation.load(path, key, conversation._shared.sanitizer)


def test_it_is_not_pickled(sanitizer: Sanitizer) -> None:
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"^a conversation cannot be pickled: use save, which encrypts it"):
            leave(Conversation(sanitizer))


def test_a_conversation_that_nobody_holds_is_freed_at_once() -> None:
    """A reference cycle would keep it in memory until the garbage collector runs."""
    conversation = Conversation(tool_guesses=(3, 32))
    exchange = conversation.start_exchange()
    sent = exchange.outgoing([{"role": "user", "content": "I am Anna Novak."}])
    exchange.incoming({"role": "assistant", "content": f"You wrote: {sent[0]['content']}"})
    stream = exchange.stream()
    stream.feed("Hello")
    stream.close()
    restored = Conversation.unpack(conversation.pack())
    held = [weakref.ref(conversation), weakref.ref(exchange), weakref.ref(restored)]
    gc.disable()
    try:
        del conversation, exchange, stream, restored
        assert [one() for one in held] == [None, None, None]
    finally:
        gc.enable()
