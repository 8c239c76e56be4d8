"""Prompts are drawn by their ids alone, and the committed draw is one of these."""

import json

from prompts.draw import DRAWN, KNOWN, SHARES, draw, in_order
from prompts.prompts import Prompt

PROMPTS = [Prompt(f"{name}-{number}", f"text {number}") for name in SHARES for number in range(80)]
JUDGED = [f"pupa-{number}" for number in range(0, 80, 2)] + [f"arena-{number}" for number in range(0, 80, 2)]


def test_the_draw_depends_on_ids_and_the_seed_alone() -> None:
    first = draw(PROMPTS, JUDGED, "a")
    other_texts = [Prompt(one.id, one.text[::-1]) for one in reversed(PROMPTS)]
    assert draw(other_texts, JUDGED, "a") == first
    assert draw(PROMPTS, JUDGED, "b") != first


def test_judged_prompts_are_drawn_as_known_ones_only() -> None:
    drawn = draw(PROMPTS, JUDGED)
    new, known = drawn["new"], drawn["known"]
    assert isinstance(new, list)
    assert isinstance(known, dict)
    counts = {name: sum(one.startswith(name) for one in new) for name in SHARES}
    assert counts == {**SHARES, "pupa": 40}  # the others are judged
    assert not set(new) & set(JUDGED)
    assert {tool: len(ids) for tool, ids in known.items()} == KNOWN
    assert len(set().union(*known.values())) == sum(KNOWN.values())
    assert set().union(*known.values()) <= set(JUDGED)


def test_long_prompts_and_other_scripts_are_not_drawn() -> None:
    drawn = draw([Prompt("pupa-1", "x" * 2001), Prompt("pupa-2", "привет"), Prompt("pupa-3", "x")], [])
    assert drawn["new"] == ["pupa-3"]


def test_the_order_is_that_of_the_hashes() -> None:
    assert in_order(["b", "a", "c"], "seed") == in_order(["c", "b", "a"], "seed")


def test_the_committed_draw() -> None:
    drawn = json.loads(DRAWN.read_text("utf-8"))
    assert {name: sum(one.startswith(name) for one in drawn["new"]) for name in SHARES} == SHARES
    assert in_order(drawn["known"]["presidio default"], drawn["seed"]) == drawn["known"]["presidio default"]
    pupa = [one for one in drawn["new"] if one.startswith("pupa")]
    assert in_order(pupa, drawn["seed"]) == pupa
