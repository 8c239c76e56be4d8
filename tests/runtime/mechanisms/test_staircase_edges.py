"""Edge cases of samplers and of tables that `make mutants` once found without a failing test."""

import importlib
import math
from collections import Counter
from dataclasses import is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from inspect import isclass

import numpy as np
import pytest
from dealt import drawn_from
from textveil.errors import BundleDamaged
from textveil.mechanisms.entropy import MAX_WORDS
from textveil.mechanisms.integer_sampling import MAX_ROUNDS, MAX_TOTAL
from textveil.mechanisms.staircase import StaircaseRandomizer, make_staircase_randomizer
from textveil.mechanisms.staircase import staircase as staircase_module
from textveil.mechanisms.staircase.staircase import (
    BASE_UNIT,
    Staircase,
    StaircaseLevel,
    StaircaseTable,
    compute_output_role,
    compute_realized_ratio,
)

DRAWING = ("integer_sampling", "staircase.staircase")


@pytest.mark.parametrize(
    "name", [f"mechanisms.{module}" for module in DRAWING] + ["ledger.queries", "ledger.transaction"]
)
def test_what_is_drawn_from_cannot_be_changed(name: str) -> None:
    module = importlib.import_module(f"textveil.{name}")
    ours = [value for value in vars(module).values() if isclass(value) and value.__module__ == module.__name__]
    for found in filter(is_dataclass, ours):
        assert found.__dataclass_params__.frozen, found  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("found", [StaircaseTable, Staircase, StaircaseRandomizer])
def test_what_holds_arrays_is_told_apart_by_identity(found: type) -> None:
    """Equality by value would compare arrays and prevent a hash: these objects are keys of caches."""
    assert (found.__eq__, found.__hash__) == (object.__eq__, object.__hash__)


@pytest.mark.parametrize(("visible", "bit"), [(True, 1), (False, 2)])
def test_bits_of_roles(visible: bool, bit: int) -> None:
    """docs/format-staircase.md, "The staircase": slots in lower case have bits of their own."""
    assert compute_output_role(function_words_kept=visible) == bit
    assert compute_output_role(function_words_kept=visible, lower=True) == bit << 4


def test_only_a_symbol_with_the_role_comes_out() -> None:
    roles = np.array([0, 1, 2, 3, 4, 15], np.uint8)
    table = StaircaseTable(np.arange(6, dtype=np.uint16)[:, None], np.ones(6, np.uint32), roles)
    assert table.get_output_mask(function_words_kept=True).tolist() == [False, True, False, True, False, True]
    assert table.get_output_mask(function_words_kept=False).tolist() == [False, False, True, True, False, True]
    assert table.get_output_mask(function_words_kept=True, lower=True).tolist() == [
        False,
        True,
        False,
        True,
        False,
        True,
    ]
    cased = replace(table, roles=roles | np.uint8(16))
    assert cased.get_output_mask(function_words_kept=True, lower=True).all()
    assert cased.get_output_mask(function_words_kept=True).tolist() == [False, True, False, True, False, True]
    assert not cased.get_output_mask(function_words_kept=False, lower=True).any()


@pytest.mark.parametrize("row", [0, 1, 2047, 2048, 2999])
@pytest.mark.parametrize("twice", [True, False])
def test_every_row_of_a_long_table_is_checked(row: int, twice: bool) -> None:
    """Rows are checked 2,048 at a time."""
    symbols = 3000
    neighbors = np.stack([np.arange(symbols), (np.arange(symbols) + 1) % symbols], axis=1).astype(np.uint16)
    tensors = {"neighbors": neighbors, "base": np.ones(symbols, np.uint32), "roles": np.zeros(symbols, np.uint8)}
    assert StaircaseTable.from_tensors(tensors, symbols).symbol_count == symbols
    neighbors[row, 1] = row if twice else symbols
    with pytest.raises(
        BundleDamaged,
        match="twice" if twice else "a row must begin with its own word and contain only words of the vocabulary",
    ):
        StaircaseTable.from_tensors(tensors, symbols)


def test_one_symbol_is_a_table() -> None:
    tensors = {"neighbors": np.zeros((1, 1), np.uint16), "base": np.ones(1, np.uint32), "roles": np.zeros(1, np.uint8)}
    assert StaircaseTable.from_tensors(tensors, 1).symbol_count == 1


def test_the_bounds_are_those_of_the_proofs() -> None:
    """docs/format.md and docs/proofs/integer-sampling.md: a word is rejected less than one time in four."""
    assert 4 * MAX_TOTAL == 1 << 64
    assert (MAX_WORDS, MAX_ROUNDS) == (128, 32_768)


def staircase_of(share: Fraction, epsilon: str = "2", unit: int = 4) -> Staircase:
    """Four words of which each has two others near it."""
    neighbors = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]], np.uint16)
    table = StaircaseTable(neighbors, np.array([3, 2, 4, 1], np.uint32), np.full(4, 63, np.uint8))
    return Staircase.from_table(
        table,
        StaircaseLevel(name="level", epsilon=Decimal(epsilon), share=share),
        np.ones(4, np.bool_),
        unit=unit,
    )


def check_draws(staircase: Staircase) -> None:
    """Every pair of integers of every input, all inputs drawn together, against the exact weights and the channel."""
    tokens = np.arange(5)
    rows = staircase._prepare_rows(tokens)
    for token in tokens.tolist():
        left, exact = int(rows.left[token]), staircase.compute_exact_row(token)
        u, w = np.divmod(np.arange(staircase.total * left), left)
        counts = Counter(staircase._select_outputs(rows, np.full(len(u), token), u, w).tolist())
        law = [Fraction(weight, sum(exact)) for weight in exact]
        assert [Fraction(counts[y], len(u)) for y in range(4)] == law
        np.testing.assert_allclose(
            make_staircase_randomizer(staircase).compute_rows(np.array([token]))[0], [float(p) for p in law], rtol=1e-12
        )
        np.testing.assert_allclose(
            make_staircase_randomizer(staircase).compute_columns(np.arange(4))[:, token],
            [float(p) for p in law],
            rtol=1e-12,
        )


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(4, 5), Fraction(9, 10), Fraction(1)])
def test_inputs_that_are_drawn_together_have_their_own_rows(share: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five of them are three blocks here, of which the last is not full."""
    monkeypatch.setattr(staircase_module, "_ROWS_AT_ONCE", 2)
    check_draws(staircase_of(share))


def test_what_is_left_of_the_base_may_be_one_or_nothing() -> None:
    """Of the budget 9 of 10 the first word gets 9: one is left. If nothing is left, ``w`` is below 1."""
    neighbors = np.array([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]], np.uint16)
    table = StaircaseTable(neighbors, np.array([3, 2, 4, 1], np.uint32), np.full(4, 63, np.uint8))
    for share, left in ((Fraction(9, 10), 1), (Fraction(1), 1), (Fraction(4, 5), 2)):
        level = StaircaseLevel(name="level", epsilon=Decimal(2), share=share)
        staircase = Staircase.from_table(table, level, np.ones(4, np.bool_), unit=4)
        assert staircase._prepare_rows(np.arange(5)).left.tolist() == [left] * 4 + [10]
        check_draws(staircase)


def test_levels_at_the_edges_of_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BASE_UNIT == 1 << 20
    for share in (Fraction(0), Fraction(3, 2)):
        with pytest.raises(BundleDamaged, match="out of range"):
            staircase_of(share)
    nothing = StaircaseTable(np.zeros((0, 1), np.uint16), np.zeros(0, np.uint32), np.zeros(0, np.uint8))
    with pytest.raises(BundleDamaged, match="no output is possible, or the budget exceeds the sum of base weights"):
        Staircase.from_table(
            nothing, StaircaseLevel(name="level", epsilon=Decimal(2), share=Fraction(1)), np.zeros(0, np.bool_)
        )
    sound = staircase_of(Fraction(1, 2))
    monkeypatch.setattr(Staircase, "total", MAX_TOTAL - 1)
    sound.check_conditions()
    monkeypatch.setattr(Staircase, "total", MAX_TOTAL)
    with pytest.raises(BundleDamaged, match="too large"):
        sound.check_conditions()


@pytest.mark.parametrize("epsilon", ["0.01", "2", "16"])
def test_what_a_level_realizes(epsilon: str) -> None:
    wanted = math.expm1(float(epsilon))
    assert wanted - 2 / BASE_UNIT <= compute_realized_ratio(Decimal(epsilon)) <= wanted * (1 + 1e-12)


def test_each_unit_of_a_budget_is_one_integer_where_the_factor_is_one() -> None:
    """The first of them are the word's own, up to its base."""
    neighbors = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]], np.uint16)
    table = StaircaseTable(neighbors, np.array([3, 2, 4], np.uint32), np.full(3, 63, np.uint8))
    level = StaircaseLevel(name="one", epsilon=Decimal("0.7"), share=Fraction(1, 2))
    staircase = Staircase.from_table(table, level, np.ones(3, np.bool_), unit=1)
    assert (staircase.factor, staircase.budget) == (1, 4)
    for token in range(4):
        exact = staircase.compute_exact_row(token)
        assert drawn_from(staircase, token, 3) == [Fraction(weight, sum(exact)) for weight in exact]
