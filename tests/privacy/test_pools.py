"""Samples of a conversation from one pool are uniform among unused surrogates, and cheap once these are used up."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from planted import planted
from textveil import Sanitizer
from textveil.text.names import conversation_state
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.entity_types import MentionPart
from textveil.text.names.plan import NamesPlan


class Branches:
    """Every sequence of draws, one after the other, each with its exact probability."""

    def __init__(self) -> None:
        self._path: list[list[int]] = []

    def runs(self) -> Iterator["Branches"]:
        while True:
            self.probability, self._depth = Fraction(1), 0
            yield self
            while self._path and self._path[-1][0] == self._path[-1][1] - 1:
                self._path.pop()
            if not self._path:
                return
            self._path[-1][0] += 1

    def __call__(self, totals: Any) -> list[int]:
        return [self._next(total) for total in totals]

    def _next(self, total: int) -> int:
        if self._depth == len(self._path):
            self._path.append([0, total])
        number, of = self._path[self._depth]
        assert of == total
        self._depth += 1
        self.probability /= total
        return number


class SmallPools:
    """Two pools of three members each, of which one spelling is the same."""

    def __init__(self, is_consistent: bool) -> None:
        self.is_consistent = is_consistent

    def get_size_and_consistency(self, entity_type: str, layout: str) -> tuple[int, bool]:
        return 3, self.is_consistent

    def spell_surrogate(self, entity_type: str, layout: str, index: int, case: int) -> str:
        return {"first": "abc", "second": "cde"}[entity_type][index]


@pytest.fixture(scope="module")
def plan() -> NamesPlan:
    return Sanitizer.load().names_plan(protect="names")


def distribution(plan: NamesPlan, kinds: str, is_consistent: bool, skips: str = "") -> dict[str, Fraction]:
    """Return each output for mentions of the first and second pool (1, 2) with its exact probability; - is a tag."""
    found: dict[str, Fraction] = {}
    branches = Branches()
    for branch in branches.runs():
        pools: Any = SmallPools(is_consistent)
        drawn = ConversationDraws(plan.style, pools, skips)
        parts = [MentionPart("first" if kind == "1" else "second", "", f"{n}", "") for n, kind in enumerate(kinds)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(conversation_state, "_sample_all_below", branch)
            drawn._sample_ahead(parts[:1])
            out = "".join(
                "-" if member is None else pools.spell_surrogate(part.entity_type, "", member, 0)
                for part in parts
                for member in [drawn._draw_part(part)]
            )
        found[out] = found.get(out, Fraction(0)) + branch.probability
    assert sum(found.values()) == 1
    return found


def expected(kinds: str, is_consistent: bool, skips: str = "") -> dict[str, Fraction]:
    """Compute the same by the definition."""
    found = {"": Fraction(1)}
    for kind in kinds:
        after: dict[str, Fraction] = {}
        for out, probability in found.items():
            pool = "abc" if kind == "1" else "cde"
            free = [word for word in pool if word not in out and word not in skips]
            ways = free or (["-"] if is_consistent else [*pool])
            for word in ways:
                after[out + word] = after.get(out + word, Fraction(0)) + probability / len(ways)
        found = after
    return found


@pytest.fixture(autouse=True)
def _few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation_state, "_MAX_TRIES", 1)
    monkeypatch.setattr(conversation_state, "_DRAWS_PER_CALL", 1)


KINDS = ["1", "11", "111", "1111", "12", "112", "2121"]


@pytest.mark.parametrize("is_consistent", [False, True])
@pytest.mark.parametrize("kinds", KINDS)
def test_each_unused_member_is_as_likely_as_any_other(plan: NamesPlan, kinds: str, is_consistent: bool) -> None:
    assert distribution(plan, kinds, is_consistent) == expected(kinds, is_consistent)


def test_words_to_skip_never_come_out(plan: NamesPlan) -> None:
    assert distribution(plan, "111", True, "b") == expected("111", True, "b")


@pytest.mark.parametrize("draws", [2, 3])
def test_draws_that_are_left_over_stay_uniform(plan: NamesPlan, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are uniform below an earlier, larger number, and those at or above the present one are skipped."""
    monkeypatch.setattr(conversation_state, "_DRAWS_PER_CALL", draws)
    assert distribution(plan, "111", False) == expected("111", False)


FAULTS = {
    "an order that favors the first": (
        "_draw_unused",
        ("self._sample_below(pool, len(unused))", "0 * self._sample_below(pool, len(unused))"),
    ),
    "a member that never comes": ("_list_unused", ("range(size)", "range(size - 1)")),
    "a used one that comes again": ("_mark_used", ("word in self._used_spellings or ", "")),
    "a draw above the bound that is taken": ("_sample_below", (":= numbers.pop()) <", ":= numbers.pop() % limit) <")),
    "a draw that is used twice": ("_sample_below", ("return numbers.pop()", "return numbers[-1]")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(plan: NamesPlan, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, change = FAULTS[fault]
    monkeypatch.setattr(ConversationDraws, name, planted(getattr(ConversationDraws, name), change))
    monkeypatch.setattr(conversation_state, "_DRAWS_PER_CALL", 2)
    assert any(distribution(plan, kinds, False) != expected(kinds, False) for kinds in KINDS[:4])


@pytest.mark.slow
def test_a_mention_of_a_used_up_pool_costs_the_same_as_any_other(
    plan: NamesPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test counts sampling calls and compared spellings."""
    monkeypatch.undo()
    sanitizer, counts = Sanitizer.load(), {"draws": 0, "spellings": 0}
    draw, take = conversation_state._sample_all_below, ConversationDraws._mark_used

    def count_draws(totals: Any) -> Any:
        counts["draws"] += 1
        return draw(totals)

    def count_spellings(*given: Any) -> bool:
        counts["spellings"] += 1
        return take(*given)

    monkeypatch.setattr(conversation_state, "_sample_all_below", count_draws)
    monkeypatch.setattr(ConversationDraws, "_mark_used", count_spellings)
    for unit in ("x y ", "4711 and ", "5 May 2020 "):
        counts.update(draws=0, spellings=0)
        plan = sanitizer.names_plan(protect="names")
        drawn = ConversationDraws(plan.style, plan.surrogates, plan.lists.common_words)
        texts = [plan.make_reader().read_texts([unit * 5_000]) for _ in range(4)]
        drawn.rewrite(texts[0][0])
        before = dict(counts)
        for (read,) in texts[1:]:
            drawn.rewrite(read)
        mentions = 3 * sum(not isinstance(entry, str) for entry in texts[0][0].elements)
        assert counts["draws"] - before["draws"] <= mentions / 32
        assert counts["spellings"] - before["spellings"] <= 3 * mentions
