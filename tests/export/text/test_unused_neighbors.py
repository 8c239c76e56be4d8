"""Neighbors on which no output depends are replaced, and every distribution stays the same."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from drawn_words import close_words
from small_staircase import replace_table
from textveil import Sanitizer
from textveil.bundle import TextBundle
from textveil.mechanisms.staircase import Staircase, StaircaseTable
from textveil.text.names.word_list import WordListRandomizer
from textveil_export.errors import ExportError
from textveil_export.text.unused_neighbors import replace_unused_neighbors


@pytest.fixture(scope="module")
def bundle() -> TextBundle:
    """Return the built-in bundle with neighbors by seed, of which many are no output or get no budget."""
    found: TextBundle = Sanitizer.load().bundle
    table = found.staircase_table
    assert table is not None
    random, count = np.random.default_rng(5), len(table.base)
    rows = [[word, *np.setdiff1d(random.integers(count, size=80), [word])[:63]] for word in range(count)]
    return replace_table(found, replace(table, neighbors=np.array(rows, dtype=np.uint16)))


def weights(staircase: Staircase, inputs: Any) -> Any:
    stored, budgets = staircase.distribute_budget(inputs)
    found = np.zeros((len(inputs), len(staircase.base)), dtype=np.int64)
    np.put_along_axis(found, stored, budgets, axis=1)
    return found


def smaller(bundle: TextBundle) -> TextBundle:
    table = bundle.staircase_table
    assert table is not None
    return replace_table(bundle, replace(table, neighbors=replace_unused_neighbors(bundle)))


def test_every_budget_is_what_it_was(bundle: TextBundle) -> None:
    inputs, after = np.arange(0, bundle.symbol_count + 1, 7), smaller(bundle)
    for kept, lower, level in product((True, False), (False, True), bundle.staircase_levels):
        both = []
        for one in (bundle, after):
            table: Any = one.staircase_table
            outputs = table.get_output_mask(function_words_kept=kept, lower=lower)
            both.append(Staircase.from_table(table, level, outputs))
        for part in np.array_split(inputs, 4):
            assert (weights(both[0], part) == weights(both[1], part)).all()


@pytest.mark.parametrize("of", ["nearest words", "all over the vocabulary"])
def test_lists_to_randomize_have_the_budgets_that_they_had(of: str) -> None:
    """Such a list gives every word the same weight, so it reaches neighbors far away."""
    shipped: TextBundle = Sanitizer.load().bundle
    table: Any = shipped.staircase_table
    listed = close_words(shipped, "doctor film river hungry slowly")
    swapped = table.neighbors.copy()
    if of != "nearest words":
        ids = [shipped.symbol_ids[word] for word in listed]
        for place, id in enumerate(ids):
            row = [id, *[other for other in np.roll(ids, place).tolist() if other != id]]
            swapped[id, : min(len(row), 64)] = row[:64]
    before = replace_table(shipped, replace(table, neighbors=swapped))
    for level in shipped.staircase_levels:
        one, other = (WordListRandomizer.from_bundle(each, listed, (), level) for each in (before, smaller(before)))
        inputs = np.array(sorted({*one.ids.values()}))
        assert (weights(one.staircase, inputs) == weights(other.staircase, inputs)).all()


def test_rows_stay_rows_of_a_table(bundle: TextBundle) -> None:
    found = replace_unused_neighbors(bundle)
    table: Any = bundle.staircase_table
    StaircaseTable.from_tensors({"neighbors": found, "base": table.base, "roles": table.roles}, bundle.symbol_count)
    assert (found != table.neighbors).any(axis=1).mean() > 0.9
    assert (replace_unused_neighbors(smaller(bundle)) == found).all()


def test_a_row_needs_words_that_are_never_an_output(bundle: TextBundle) -> None:
    table: Any = bundle.staircase_table
    every = replace(table, roles=np.full_like(table.roles, 51))
    with pytest.raises(ExportError, match="fewer than 65 words that are never an output"):
        replace_unused_neighbors(replace_table(bundle, every))
