"""Slots exchanged between unusual texts leave the template unchanged, except in the rows of the proof's table."""

from collections import Counter
from pathlib import Path

import pytest
from names_pairs import exchange_slots, excluding_rows, has_other_skeleton
from planted import planted
from textveil import Sanitizer
from textveil.text.names.plan import NamesPlan, NamesPlanFactory
from textveil.text.names.tokenizer import ChunkTokenizer

#: Rows that no search had found before this one, and nobody had written down.
FOUND_LATE = ("a number of HTML", "an apostrophe at the end", "a sign behind a sign", "a blank between marks")


def unexplained(plan: NamesPlan, seed: int, count: int) -> tuple[list[tuple[str, str]], Counter[str]]:
    """Pairs that differ and that no row explains; and how many differ that a row explains, by row."""
    found: list[tuple[str, str]] = []
    explained: Counter[str] = Counter()
    for text, other, entry, member, before, after in exchange_slots(plan, seed, count):
        rows = excluding_rows(plan, entry, member, before, after)
        if has_other_skeleton(plan, text, other):
            found += [] if rows else [(text, other)]
            explained.update(rows)
    return found, explained


@pytest.fixture(scope="module", params=["small", "shipped"])
def plan(request: pytest.FixtureRequest, names: Path) -> NamesPlan:
    return NamesPlanFactory(Sanitizer.load(*[names][: request.param == "small"]).bundle).make_plan({"facts": "none"})


@pytest.mark.slow
def test_what_differs_is_in_the_table_of_the_proof(plan: NamesPlan) -> None:
    found, explained = unexplained(plan, 9, 6_000)
    assert found == []
    assert all(explained[row] for row in FOUND_LATE), f"the search finds each of these: {explained}"


@pytest.mark.full
def test_the_same_of_many_pairs(plan: NamesPlan) -> None:
    assert unexplained(plan, 2, 300_000)[0] == []


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("met S & X A today", "met F. J. B today"),
        ("met S & X & A today", "met F J B today"),
        ("met S & X & A & Novak today", "met F J B Kralls today"),
    ],
)
def test_an_ampersand_joins_letters_as_a_blank_does(plan: NamesPlan, text: str, other: str) -> None:
    assert not has_other_skeleton(plan, text, other)


@pytest.mark.full
def test_a_fault_of_a_rare_string_is_found(names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: a name ends before its last letters."""
    change = ("start, end = len(chunk)", 'chunk = chunk.replace("lax", "la.")\n        start, end = len(chunk)')
    monkeypatch.setattr(ChunkTokenizer, "_find_core", planted(ChunkTokenizer._find_core, change))
    assert unexplained(NamesPlanFactory(Sanitizer.load(names).bundle).make_plan({"facts": "none"}), 2, 12_000)[0] != []
