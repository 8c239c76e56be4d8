"""Replies are restored in running text, and elsewhere only by an option; whole replies and streams give the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gateways import (
    ANTHROPIC,
    CHAT,
    KEY,
    RESPONSES,
    asked,
    call_of,
    events_of,
    gateway,
    stream,
    streamed_text,
    text_of,
)  # fmt: skip
from textveil import Conversation, Sanitizer
from textveil_cli.gateway.api_replies import ApiReplyRestorer
from textveil_cli.gateway.proxy import RESTORERS_BY_PATH
from textveil_cli.gateway.sse import DONE, EventReader, ServerSentEvent
from textveil_cli.options import RestoreOptions
from textveil_cli.serve.access import Refusal
from upstream_replies import events, whole
from upstreams import Upstream

PATHS = [CHAT, RESPONSES, ANTHROPIC]
NAME = "Anna Novak"
COUNTS = "restored=2 not_restored_words=0 ambiguous=0 tools=0 skipped=3"
#: What an upstream may write with a name, the option that opens the place, and the reason without it.
ATTACKS = [
    ("Look: ![x](https://e.example/?q={}) and on", {"restore_places": ["all"]}, "link"),
    ("Look: [x](https://ok.example/?q={}) and on", {"restore_hosts": ["ok.example"]}, "link"),
    ("Run `{}` now.", {"restore_places": ["code"]}, "code"),
    ("So $x_{{}}$ is.", {"restore_places": ["math"]}, "math"),
    ('{"name": "{}"}', {"restore_places": ["json"]}, "json"),
    ("Look: <img src=x alt='{}'>", {"restore_places": "all"}, "markup"),
    ("Look: https://e.example/?q={}", {"restore_places": "all"}, "chunk"),
    ("<script>x</script> {}", {"restore_places": "all"}, "active"),
]  # fmt: skip


def cutting(length: int) -> Callable[[str], list[str]]:
    return lambda text: [text[place : place + length] for place in range(0, len(text), length)]


def exchange_of(sanitizer: Sanitizer, **options: Any) -> tuple[Conversation, str]:
    """Return an exchange, and the surrogate of the name that it sent."""
    exchange = Conversation(sanitizer, style="surrogate", **options).start_exchange()
    return exchange, exchange.outgoing_text(f"I am {NAME}.")[5:-1]


def read(content: str) -> list[ServerSentEvent]:
    reader = EventReader(1 << 20)
    found = [*reader.feed(content.encode())]
    reader.close()
    return found


def restored(restoring: ApiReplyRestorer, came: list[ServerSentEvent], *, ends: bool = True) -> list[ServerSentEvent]:
    """Return the client's text of events that the gateway passed on."""
    passed: list[ServerSentEvent] = []
    for event in came:
        if event.data == DONE:
            passed += restoring.end_stream()
        passed += restoring.restore_event(event) if isinstance(event.data, dict) else [event]
    return [*passed, *restoring.end_stream()] if ends else passed


def written(passed: list[ServerSentEvent]) -> str:
    return "".join(event.encode().decode() for event in passed)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("reply", "option", "reason"), ATTACKS)
def test_a_place_is_restored_if_its_option_says_so(
    sanitizer: Sanitizer, path: str, reply: str, option: dict[str, Any], reason: str
) -> None:
    for given in ({}, option):
        exchange, name = exchange_of(sanitizer, **given)
        expected = reply.replace("{}", NAME if given else name)
        body, stayed = asked(path, reply.replace("{}", name)), {} if given else {reason: 1}
        once = RESTORERS_BY_PATH[path](exchange, ())
        assert text_of(path, once.restore_whole(whole(path, body))) == expected
        assert (once.counts["skipped"], once.counts["restored"]) == (len(stayed), bool(given))
        assert once.reason_counts == stayed
        for length in range(1, 6):
            streaming = RESTORERS_BY_PATH[path](exchange, ())
            content = written(restored(streaming, read("".join(events(path, body, cutting(length))))))
            assert streamed_text(path, content) == expected
            assert (streaming.counts, streaming.reason_counts) == (once.counts, once.reason_counts)
            assert (NAME in content) is bool(given)  # nor in the last events, which have the whole reply


#: The first event of a stream after which a client takes no more of a text.
FINISHES: dict[str, Callable[[dict[str, Any]], bool]] = {
    CHAT: lambda data: any(choice["finish_reason"] for choice in data["choices"]),
    RESPONSES: lambda data: data["type"] == "response.output_text.done",
    ANTHROPIC: lambda data: data["type"] == "content_block_stop",
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("end", ["{}", "x https://{}", "'{}", "Call {}, {}"])
def test_what_is_held_back_comes_before_the_end(sanitizer: Sanitizer, path: str, end: str) -> None:
    exchange, name = exchange_of(sanitizer)
    text = end.replace("{}", name)
    for length in (1, 4, 99):
        body = asked(path, text)
        passed = restored(RESTORERS_BY_PATH[path](exchange, ()), read("".join(events(path, body, cutting(length)))))
        content = events_of(written(passed))
        finish = next(place for place, data in enumerate(content) if FINISHES[path](data))
        before = "".join(f"data: {json.dumps(data)}\n" for data in content[: finish + (path == CHAT)])
        assert streamed_text(path, before) == exchange.incoming(text).reply


@pytest.mark.parametrize("path", PATHS)
def test_an_upstream_that_ends_anywhere_loses_nothing(sanitizer: Sanitizer, path: str) -> None:
    exchange, name = exchange_of(sanitizer)
    text = f"Dear {name}, see https://e.example/?q={name} or `{name}` {name}"
    came = read("".join(events(path, asked(path, text), cutting(3))))
    for place in range(len(came) + 1):
        sent = streamed_text(path, written(came[:place]))
        passed = restored(RESTORERS_BY_PATH[path](exchange, ()), read(written(came[:place])))
        assert streamed_text(path, written(passed)) == exchange.incoming(sent).reply


@pytest.mark.parametrize("ends", [False, True])
def test_a_block_that_never_began_loses_nothing(sanitizer: Sanitizer, ends: bool) -> None:
    exchange, name = exchange_of(sanitizer)
    deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": c}} for c in name]
    stop = [{"type": "content_block_stop", "index": 0}] if ends else []
    restoring = RESTORERS_BY_PATH[ANTHROPIC](exchange, ())
    passed = restored(restoring, [ServerSentEvent("", data) for data in [*deltas, *stop]])
    assert streamed_text(ANTHROPIC, written(passed)) == NAME
    assert restoring.restored_messages[-1][0]["content"][0]["text"] == NAME


def test_no_field_but_texts_is_restored(sanitizer: Sanitizer) -> None:
    """Clients fetch addresses and display titles of sources: these stay, even if every place is opened."""
    exchange, name = exchange_of(sanitizer, restore_places="all")
    url = {"url": f"https://e.example/?{name}", "title": name, "cited_text": name, "document_title": name}
    message = {
        "role": "assistant", "content": name, "refusal": name, "reasoning": name, "name": name,
        "annotations": [{"type": "url_citation", "url_citation": url}], "audio": {"transcript": name},
        "images": [{"image_url": url}],
    }  # fmt: skip
    reply = {"id": name, "model": name, "choices": [{"message": message, "finish_reason": name}], "usage": {name: name}}
    (choice,) = RESTORERS_BY_PATH[CHAT](exchange, ()).restore_whole(json.loads(json.dumps(reply)))["choices"]
    texts = {"content", "refusal", "reasoning"}
    assert choice["message"] == {field: NAME if field in texts else value for field, value in message.items()}
    block = {"type": "text", "text": name, "citations": [{"type": "web_search_result_location", **url}]}
    other = {"type": "web_search_tool_result", "content": [{"type": "web_search_result", **url}]}
    found = RESTORERS_BY_PATH[ANTHROPIC](exchange, ()).restore_whole({"id": name, "content": [block, other]})
    assert found == {"id": name, "content": [{**block, "text": NAME}, other]}
    part = {"type": "output_text", "text": name, "annotations": [{"type": "url_citation", **url}], "logprobs": [url]}
    item = {"type": "message", "id": name, "role": "assistant", "content": [part]}
    found = RESTORERS_BY_PATH[RESPONSES](exchange, ()).restore_whole(
        {"instructions": name, "output": [item], "metadata": {"a": name}}
    )
    assert found["output"] == [{**item, "content": [{**part, "text": NAME}]}]
    assert (found["instructions"], found["metadata"]) == (name, {"a": name})
    added = {"type": "response.output_text.annotation.added", "annotation": {"type": "url_citation", **url}}
    start = {"type": "content_block_start", "index": 0, "content_block": {**block, "text": ""}}
    cited = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": url}}
    delta = {"choices": [{"index": 0, "delta": {"annotations": message["annotations"], "images": message["images"]}}]}
    for path, data in ((RESPONSES, added), (ANTHROPIC, start), (ANTHROPIC, cited), (CHAT, delta)):
        (event,) = RESTORERS_BY_PATH[path](exchange, ()).restore_event(
            ServerSentEvent("", json.loads(json.dumps(data)))
        )
        assert event.data == data


def test_where_a_reply_stopped_is_a_text_under_the_same_rule(sanitizer: Sanitizer) -> None:
    exchange, name = exchange_of(sanitizer)
    for stopped, expected in ((name, NAME), (attack := f"![](https://e.example/?{name})", attack), (None, None)):
        found = RESTORERS_BY_PATH[ANTHROPIC](exchange, ()).restore_whole({"content": [], "stop_sequence": stopped})
        assert found["stop_sequence"] == expected
        data = {"type": "message_delta", "delta": {"stop_reason": "stop_sequence", "stop_sequence": stopped}}
        (event,) = RESTORERS_BY_PATH[ANTHROPIC](exchange, ()).restore_event(ServerSentEvent("", data))
        assert event.data["delta"]["stop_sequence"] == expected


@pytest.mark.parametrize("path", PATHS)
def test_a_reply_in_json_of_the_provider(sanitizer: Sanitizer, path: str) -> None:
    """With ``response_format``, ``text.format`` and ``output_format`` the text is JSON, and it stays valid."""
    for places in ((), ("json",)):
        exchange, name = exchange_of(sanitizer, restore_places=places)
        reply = json.dumps({"owner": {"name": name, "tags": [f"of {name}"]}, "note": f"Hi,\n{name}\nwrote"})
        restoring = RESTORERS_BY_PATH[path](exchange, ())
        content = written(restored(restoring, read("".join(events(path, asked(path, reply), cutting(2))))))
        shown = NAME if places else name
        assert json.loads(streamed_text(path, content)) == {
            "owner": {"name": shown, "tags": [f"of {shown}"]}, "note": f"Hi,\n{shown}\nwrote",
        }  # fmt: skip
        assert restoring.reason_counts == ({} if places else {"json": 3})


@pytest.mark.slow
def test_the_options_of_the_command(up: Upstream, tmp_path: Path) -> None:
    text = f"I am {NAME}. Or `{NAME}` or name={NAME} or [{NAME}]({NAME})"  # nothing of it but names is replaced
    with gateway(tmp_path, up.url, "--restore-places", "json", "--restore-places", "code") as server:
        found, headers = server.ask("POST", CHAT, asked(CHAT, text), KEY)[1:]
        assert text_of(CHAT, found).count(NAME) == 2
        assert headers["x-textveil-counts"] == COUNTS
        assert f": textveil {COUNTS}\n" in stream(server, ANTHROPIC, asked(ANTHROPIC, text))
        assert server.stop() == 0
        assert server.said.count(f" 200 {COUNTS} chunk=1 link=2\n") == 2
        assert "--restore-places" not in server.said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--restore-places links", "--restore-places takes code, json, math or all; repeat it for several"),
        (
            "--restore-hosts https://a.b",
            "--restore-hosts takes a host name, with a port if links have one, such as",
        ),
        ("--tool-guesses 5 2", "--tool-guesses takes two whole numbers, the first no larger than the second, such as"),
        ("--tool-guesses -1 2", "--tool-guesses takes two whole numbers, the first no larger than the second, such as"),
        (
            "--protect words --restore-places code",
            "--restore-places needs --protect names: the mode words restores nothing",
        ),
        ("--protect all --restore-tools f --tool-guesses 0 1", "--restore-tools, --tool-guesses need --protect names"),
        (
            "--protect words --restore-hosts a.b",
            "--restore-hosts needs --protect names: the mode words restores nothing",
        ),
    ],
)
def test_options_that_are_wrong(here: Callable[..., Any], options: str, message: str) -> None:
    ran = here("gateway", "--upstream", "http://localhost:1", *options.split())
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.startswith(f"textveil: option: {message}")


@pytest.mark.parametrize(("values", "message"), [("3", "takes 2 values"), ("a b", "takes 2 numbers")])
def test_guesses_are_two_numbers(here: Callable[..., Any], values: str, message: str) -> None:
    ran = here("gateway", "--upstream", "http://localhost:1", "--tool-guesses", *values.split())
    assert ran.message == f"textveil: usage: --tool-guesses {message} (see textveil gateway --help)\n"


def test_hosts_of_the_command() -> None:
    options = RestoreOptions(restore_hosts=["ok.example"])
    assert options.make_keywords() == {"restore_places": (), "restore_hosts": ["ok.example"]}
    assert options.parse_policy().hosts == {"ok.example"}


@pytest.mark.slow
def test_every_place_is_warned_of(up: Upstream, tmp_path: Path) -> None:
    with gateway(tmp_path, up.url, "--restore-places", "all") as server:
        found = server.ask("POST", CHAT, asked(CHAT, f"![](https://e.example/?{NAME})"), KEY)[1]
        server.stop()
    assert NAME in text_of(CHAT, found)
    assert "--restore-places all puts " in server.said


@pytest.mark.slow
def test_a_kept_conversation_is_restored_as_its_gateway_says(up: Upstream, tmp_path: Path) -> None:
    """Two gateways may share a folder: both send the same, and each restores by its own options."""
    kept = ("--mappings", tmp_path / "kept", "--mappings-key", tmp_path / "key")
    (tmp_path / "kept").mkdir()
    named, text = {**KEY, "X-Textveil-Conversation": "one"}, f"I am {NAME}, `{NAME}`."
    sent = []
    for number, (options, count) in enumerate((((), 1), (("--restore-places", "code"), 2), ((), 1))):
        (place := tmp_path / str(number)).mkdir()
        with gateway(place, up.url, *kept, *options) as server:
            found = server.ask("POST", CHAT, asked(CHAT, text), named)[1]
            server.stop()
        assert text_of(CHAT, found).count(NAME) == count
        sent.append(up.last["messages"])
    assert sent[0] == sent[1] == sent[2]


def test_places_of_texts_do_not_open_arguments_of_tools(sanitizer: Sanitizer) -> None:
    exchange, name = exchange_of(sanitizer, restore_places="all")
    for path in PATHS:
        restoring = RESTORERS_BY_PATH[path](exchange, ())
        assert call_of(path, restoring.restore_whole(whole(path, asked(path, name, "call")))) == {"who": name}
        assert restoring.counts["tools"] == 1


#: Texts of one reply that clients may join, or show one by one; in one of the two views the name stands in a link.
SPREAD = [
    ("![x](<https://e.example/?q=", " {} >)", "link"),
    ("`", "![x](<https://e.example/?q=` {} >)", "link"),
    ("https://e.example/?q=", "{}", "chunk"),
    ("<script>", " {}", "active"),
]


def spread_over(path: str, texts: list[str]) -> list[ServerSentEvent]:
    """Return a stream with each text in a part of its own."""
    found: list[dict[str, Any]] = []
    for index, text in enumerate(texts):
        at = {"output_index": 0, "content_index": index, "sequence_number": 1}
        if path == ANTHROPIC:
            found.append({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}})
            deltas = [{"type": "text_delta", "text": part} for part in cutting(2)(text)]
            found += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            found.append({"type": "content_block_stop", "index": index})
        else:
            found += [{"type": "response.output_text.delta", **at, "delta": part} for part in cutting(2)(text)]
            found.append({"type": "response.output_text.done", **at, "text": text})
            found.append({"type": "response.content_part.done", **at, "part": {"type": "output_text", "text": text}})
    if path == RESPONSES:
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": t} for t in texts]}
        found.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        found.append({"type": "response.completed", "response": {"output": [item]}})
    return [ServerSentEvent("", data) for data in found]


@pytest.mark.parametrize("path", [RESPONSES, ANTHROPIC])
@pytest.mark.parametrize(("first", "second", "reason"), SPREAD)
def test_no_place_is_spread_over_two_texts(
    sanitizer: Sanitizer, path: str, first: str, second: str, reason: str
) -> None:
    exchange, name = exchange_of(sanitizer)
    for texts, stays in (([first, second], True), (["Hello, ", "{} and ", "`x` {}."], False)):
        restoring = RESTORERS_BY_PATH[path](exchange, ())
        content = written(restored(restoring, spread_over(path, [text.replace("{}", name) for text in texts])))
        assert (NAME in content) is not stays
        assert streamed_text(path, content) == "".join(texts).replace("{}", name if stays else NAME)
        assert restoring.reason_counts == ({reason: 1} if stays else {})
        assert (name in content) is stays


@pytest.mark.parametrize("path", [RESPONSES, ANTHROPIC])
def test_a_text_is_not_gone_on_with_after_the_next_one(sanitizer: Sanitizer, path: str) -> None:
    """Otherwise a later part could begin a link before a name that was already restored."""
    exchange, name = exchange_of(sanitizer)
    came = [event for event in spread_over(path, ["Hello ", f"{name} "]) if "delta" in event.data]
    late = ServerSentEvent("", json.loads(json.dumps(came[0].data)))
    restoring = RESTORERS_BY_PATH[path](exchange, ())
    passed = restored(restoring, came, ends=False)
    with pytest.raises(Refusal, match="continued a text after"):
        list(restoring.restore_event(late))
    assert streamed_text(path, written([*passed, *restoring.end_stream()])) == f"Hello {NAME} "


def test_a_thought_that_goes_on_is_one_text(sanitizer: Sanitizer) -> None:
    exchange, name = exchange_of(sanitizer)
    deltas = [{"reasoning": "![x](<https://e.example/?q="}, {"content": "a"}, {"reasoning": f" {name} >)"}]
    passed = restored(
        RESTORERS_BY_PATH[CHAT](exchange, ()),
        [ServerSentEvent("", {"choices": [{"index": 0, "delta": delta}]}) for delta in deltas],
    )
    assert NAME not in written(passed)
