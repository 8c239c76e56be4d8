"""The upstream gets none of the personal data planted in made-up conversations, in any field.

By default 30 conversations, a few seconds; ``make full`` runs 2,000.
"""

import copy
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, RESPONSES, asked, stream
from planted_people import LISTED, Person, is_in
from serving import Server
from textveil import Conversation, Sanitizer
from upstreams import Upstream

TURNS = 3


def user(path: str, person: Person, text: str) -> dict[str, Any]:
    """Return a message of a user: a text or parts, with a name or without."""
    kind = "input_text" if path == RESPONSES else "text"
    parts = [{"type": kind, "text": part} for part in (text, person.text(1))]
    message = {"role": "user", "content": text if person.chance.random() < 0.5 else parts}
    return {**message, "name": person.name()} if path == CHAT and person.chance.random() < 0.5 else message


def more_of(path: str, person: Person) -> dict[str, Any]:
    """Return other fields with words of a person."""
    found: dict[str, Any] = {"metadata": {"user_id" if path == ANTHROPIC else "for": person.text(1)}}
    if path == ANTHROPIC:
        return {**found, "system": person.text(1), "stop_sequences": [person.name() + ":"]}
    if path == RESPONSES:
        return {**found, "instructions": person.text(1), "user": person.name()}
    return {**found, "stop": [person.name() + ":"], "user": person.name(), "safety_identifier": person.name()}


def result_of(path: str, person: Person) -> dict[str, Any]:
    """Return the result of a tool: JSON as a text, or a text."""
    given = json.dumps(person.value()) if person.chance.random() < 0.7 else person.text(1)
    if path == ANTHROPIC:
        part = {"type": "tool_result", "tool_use_id": "tool_1", "content": given}
        return {"role": "user", "content": [part, {"type": "text", "text": person.text(1)}]}
    if path == RESPONSES:
        return {"type": "function_call_output", "call_id": "call_1", "output": given}
    return {"role": "tool", "tool_call_id": "call_1", "content": given}


def said(path: str, reply: dict[str, Any]) -> list[Any]:
    """Return a reply as messages to send again."""
    if path == CHAT:
        return [reply["choices"][0]["message"]]
    return [{"role": "assistant", "content": reply["content"]}] if path == ANTHROPIC else reply["output"]


def requests(gate: Server, path: str, person: Person) -> Iterator[dict[str, Any]]:
    """Run one conversation; yield its requests, each before it is sent."""
    messages: list[Any] = []
    if path == CHAT:
        messages.append({"role": person.chance.choice(("system", "developer")), "content": person.text(1)})
    key = {"Authorization": f"Bearer {person.chance.random()}"}
    for turn in range(TURNS):
        messages.append(user(path, person, person.text()))
        calls = turn == 1
        body = asked(path, messages, "call" if calls else "echo", **more_of(path, person))
        yield body
        if turn == TURNS - 1:
            stream(gate, path, body, key)
            return
        status, reply, _ = gate.ask("POST", path, body, key)
        assert status == 200
        messages += said(path, reply)
        if calls:
            messages.append(result_of(path, person))


def converse(gate: Server, up: Upstream, conversations: int) -> None:
    sanitizer, through, alone, mentions = Sanitizer.load(), 0, 0, 0
    for number in range(conversations):
        person = Person(random.Random(number))
        up.planted = lambda text, person=person: is_in(person.planted, text)
        path = (CHAT, RESPONSES, ANTHROPIC)[number % 3]
        first = None
        for body in requests(gate, path, person):
            first = first or copy.deepcopy(body)  # its messages grow
        if number % 10 == 0:
            texts = [person.text(1) for _ in range(3)]
            assert gate.ask("POST", "/v1/embeddings", {"model": "m", "input": texts, "user": person.name()})[0] == 200
        assert up.found == []
        field = "input" if path == RESPONSES else "messages"
        requested = [sent[field] for _, _, sent in up.asked if field in sent and sent["model"] != "m"]
        before = count(first[field])
        mentions += before.total()
        through += (count(requested[0]) & before).total()
        alone += (count(Conversation(sanitizer).outgoing(first[field])) & before).total()
        up.asked.clear()
    print(
        f"{conversations:,} conversations: of {mentions:,} listed names {through} through, {alone} by the library alone"
    )
    # One name in some hundreds becomes itself or another name of its request. By chance two such counts differ by no
    # more.
    assert mentions > conversations
    assert through <= alone + 4 * math.sqrt(alone + through) + 4
    assert max(through, alone) <= 10 + mentions // 100


def count(messages: list[Any]) -> Counter[str]:
    """Return how often each listed name is in a request, as a whole word.

    A listed name that only the rewritten request has is a surrogate of another name.
    """
    return Counter(re.findall(rf"\b(?:{'|'.join(LISTED)})\b", json.dumps(messages)))


def test_a_name_that_stays_is_counted() -> None:
    """Planted fault: the message of one listed name goes out unchanged, the other gets another listed name."""
    before, sent = count([{"content": "Anna, Novak."}]), count([{"content": "Anna, Juan."}])
    assert (sent & before).total() == 1


@pytest.fixture
def watched(up: Upstream) -> Iterator[Upstream]:
    up.asked.clear()
    yield up
    up.planted = lambda text: []


def test_nothing_planted_reaches_the_upstream(gate: Server, watched: Upstream) -> None:
    converse(gate, watched, 30)


@pytest.mark.full
def test_nothing_planted_reaches_the_upstream_in_2000_conversations(gate: Server, watched: Upstream) -> None:
    converse(gate, watched, 2_000)


def test_what_is_passed_through_would_be_found(gate: Server, watched: Upstream) -> None:
    """Planted fault: a schema, which belongs to the developer and is sent unchanged, contains a name."""
    person = Person(random.Random(0))
    watched.planted = lambda text: is_in(person.planted, text)
    tools = [{"type": "function", "function": {"name": "find", "description": person.name()}}]
    gate.ask("POST", CHAT, asked(CHAT, "Hello", tools=tools))
    assert watched.found == person.planted
    watched.found.clear()
