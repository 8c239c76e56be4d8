"""The draws of a conversation: tags go on with their numbers, and what looks like one is not restored."""

import json
import re

import pytest
from textveil import Sanitizer
from textveil.text.names.plan import NamesPlan, NamesPlans
from textveil.text.names.running import Running


@pytest.fixture(scope="module")
def plans() -> NamesPlans:
    return NamesPlans(Sanitizer.load().bundle)


def said(plan: NamesPlan, running: Running, text: str) -> str:
    (read,) = plan.reader().read([text])
    return "".join(piece.output for piece in running.rewrite(read))


def made(plan: NamesPlan) -> Running:
    return Running(plan.style, plan.surrogates, plan.lists.common)


def test_tags_go_on_where_a_state_was_taken(plans: NamesPlans) -> None:
    plan = plans.plan({"style": "tag"})
    first, second = made(plan), made(plan)
    assert said(plan, first, "he met Zobbel and Zaddik") == "he met [person 1] and [person 2]"
    second.go_on(json.loads(json.dumps(first.state())))
    assert said(plan, second, "Zikkur met Zaddik") == "[person 3] met [person 2]"


def test_what_a_number_makes_look_like_a_tag_is_not_one(plans: NamesPlans) -> None:
    """The mark is in what is shown, and the number in what comes out for the slot behind it."""
    plan = plans.plan({})
    assert re.fullmatch(r"see \[ person \d+\] there", said(plan, made(plan), "see [person 1] there"))
