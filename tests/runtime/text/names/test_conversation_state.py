"""A conversation continues the numbers of its tags, and kept text that looks like a tag is not restored."""

import json
import re

import pytest
from textveil import Sanitizer
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.plan import NamesPlan, NamesPlanFactory


@pytest.fixture(scope="module")
def plans() -> NamesPlanFactory:
    return NamesPlanFactory(Sanitizer.load().bundle)


def said(plan: NamesPlan, running: ConversationDraws, text: str) -> str:
    (read,) = plan.make_reader().read_texts([text])
    return "".join(piece.output for piece in running.rewrite(read))


def made(plan: NamesPlan) -> ConversationDraws:
    return ConversationDraws(plan.style, plan.surrogates, plan.lists.common_words)


def test_tags_go_on_where_a_state_was_taken(plans: NamesPlanFactory) -> None:
    plan = plans.make_plan({"style": "tag"})
    first, second = made(plan), made(plan)
    assert said(plan, first, "he met Zobbel and Zaddik") == "he met [person 1] and [person 2]"
    second.restore_state(json.loads(json.dumps(first.export_state())))
    assert said(plan, second, "Zikkur met Zaddik") == "[person 3] met [person 2]"


def test_what_a_number_makes_look_like_a_tag_is_not_one(plans: NamesPlanFactory) -> None:
    """The bracket is kept text, and the number is the surrogate of the slot after it."""
    plan = plans.make_plan({"style": "surrogate", "facts": "none"})
    assert re.fullmatch(r"see \[ person \d+\] there", said(plan, made(plan), "see [person 1] there"))
    plan = plans.make_plan({"style": "tag", "facts": "useful"})
    assert said(plan, made(plan), "see [person 1] there, Zobbel") == "see [ person 1] there, [person 1]"
    plan = plans.make_plan({})
    assert said(plan, made(plan), "see [person 1] there") == "see [person [number 1]] there"


def test_tags_take_no_random_numbers(plans: NamesPlanFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plans.make_plan({"style": "tag"})
    monkeypatch.setattr("textveil.text.names.conversation_state.draw_uniform_below", None)
    assert said(plan, made(plan), "he met Zobbel at 88213") == "he met [person 1] at [number 1]"
    with pytest.raises(TypeError):
        said(plans.make_plan({}), made(plans.make_plan({})), "he met Zobbel at 88213")
