"""The probability that an opposite replaces a word is computed from the bundle's integers, not sampled."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from misleading import opposites, pairs
from textveil import Sanitizer
from textveil.text import split_text
from textveil_training.attacks.words import WordIds, make_word_release


def test_opposites_are_what_the_exact_rows_say() -> None:
    sanitizer = Sanitizer.load()
    plan: Any = sanitizer._get_plan({"mechanism": "staircase", "epsilon": "10", "protect": "words"})
    release = make_word_release(WordIds(), plan)
    reading = release.read([split_text(text) for text in ("a large dog", "a large large dog", "the attic")])
    staircase = plan.mechanism.get_randomizer(lower=True).staircase
    x, y = (sanitizer.bundle.symbol_ids[word] for word in ("large", "small"))
    near = int(
        staircase.table.neighbors[sanitizer.bundle.symbol_ids["attic"], 1]
    )  # a rare word: its neighbors have a budget
    weights = staircase.compute_exact_row(x)
    one = float(Fraction(weights[y], sum(weights)))
    every, by_neighbors = opposites(plan, release, {("large", "small"), ("dog", "unlisted-word")}, reading)
    assert every == pytest.approx((one + 1 - (1 - one) ** 2) / 3)
    assert by_neighbors == 0
    of_neighbor = opposites(plan, release, {("attic", release.words.spellings[release.printed[near]])}, reading)
    assert of_neighbor[0] == of_neighbor[1] > every


def test_pairs_hold_in_both_orders_and_the_longest_line_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("# a list\nhot cold\ngood fine\tbad no\n", encoding="utf-8")
    two = {("hot", "cold"), ("cold", "hot")}
    assert pairs(tmp_path / "list", without_longest=True) == two
    assert len(pairs(tmp_path / "list") - two) == 8
