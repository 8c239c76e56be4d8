"""In a conversation of the mode ``names`` the outputs are a function of the templates and of earlier samples.

docs/proofs/names.md has the paragraph. Each conversation has another with other members in all slots, equal ones in
equal slots; under one stream of entropy both have the same outputs, byte for byte.
"""

import json
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from names_fiber import Members
from planted import planted
from textveil import Conversation, Sanitizer
from textveil.text.names.conversation_state import ConversationDraws

TEXTS = """
I am Anna Novak of Boston, and my order is 4711 of 12 March 2024.
Anna called about 12 pages, 12 boxes and $49.99; Mr. Novak of Acme Corp knows.
Please write to anna@novak.org or call (555) 123-4567, says Dr. Kim from Salt Lake City in Texas.
the zorbing was frobly, said Zorblax; the zorbing ended on Friday in May at 9:05.
Boston and Paris, Paris and Boston; NATO and the German twelve, he is 82 years old.
J. R. Smith lives at 12 Elm Street, suite 7, Boston, TX 84101. See www.novak.com/a and ~/novak #4711.
""".strip().split("\n")


def conversations(sanitizer: Sanitizer, count: int) -> Iterator[tuple[list[str], list[str]]]:
    """Return the texts of two conversations with equal templates."""
    chance, plan = random.Random(3), sanitizer.names_plan(protect="names", facts="none")
    members, reader = (
        Members(plan.lists.members_by_type, plan.lists.common_words, chance, frozenset()),
        plan.make_reader(),
    )
    for _ in range(count):
        texts: list[str] = chance.choices(TEXTS, k=6)
        distinct = [*dict.fromkeys(texts)]  # which messages are the same is in the skeleton
        others = members.replaced([reader.read_texts([text])[0] for text in distinct])
        yield texts, [others[distinct.index(text)] for text in texts]


def said(sanitizer: Sanitizer, texts: list[str], monkeypatch: pytest.MonkeyPatch, **options: Any) -> str:
    """Return the output of each text, as a message, a tool's result, or a text, under one stream of entropy."""
    monkeypatch.setattr(os, "urandom", random.Random(5).randbytes)
    try:
        conversation = Conversation(sanitizer, **options)
        first = [conversation.outgoing_text(text) for text in texts[:2]]
        again = [{"role": "user", "content": text} for text in texts]
        tool = {"role": "tool", "tool_call_id": "c", "content": json.dumps({"a": texts[0], "b": texts[-1:]})}
        return json.dumps([first, conversation.outgoing([*again, tool])])
    finally:
        monkeypatch.undo()


OPTIONS: list[dict[str, Any]] = [
    {**more, "style": style, "facts": "none"}
    for style in ("surrogate", "tag")
    for more in ({}, {"tag": ["city"], "drop": ["month"]}, {"consistent_cap": 4})
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_skeleton_one_law(sanitizer: Sanitizer, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    different = 0
    for texts, others in conversations(sanitizer, 12):
        different += texts != others
        assert said(sanitizer, texts, monkeypatch, **options) == said(sanitizer, others, monkeypatch, **options)
    assert different > 9


FAULTS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "a member that depends on what it replaces": (
        "_draw_part", (("index = self._draw_unused(", "index = len(part.text) % 2 or self._draw_unused("),)),
    "a card that is put aside for the original": (
        "_draw_part", (("else ()", "else {part.folded, 'seven', '7', 'boston', 'texas'}"),)),
    "a pool that depends on the original": (
        "_draw_part", (
            ("entity_type, layout, size, self", "entity_type, layout, max(1, size - len(part.text) % 3), self"),)),
    "an output with the length of the original": (
        "_rewrite_mention", (
            ("mention, drawn_parts)", "mention, drawn_parts)._replace(output='.' * (len(original) % 2))"),)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(sanitizer: Sanitizer, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, changes = FAULTS[fault]
    monkeypatch.setattr(ConversationDraws, name, planted(getattr(ConversationDraws, name), *changes))
    options: dict[str, Any] = {"style": "surrogate", "facts": "none"}
    assert any(
        said(sanitizer, texts, pytest.MonkeyPatch(), **options)
        != said(sanitizer, others, pytest.MonkeyPatch(), **options)
        for texts, others in conversations(sanitizer, 6)
    )
