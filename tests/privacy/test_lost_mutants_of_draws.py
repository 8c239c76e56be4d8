"""Changes of samplers and of the ledger's rows that ``make mutants`` found and no other test noticed."""

import importlib
from dataclasses import is_dataclass
from inspect import isclass
from typing import Any

import numpy as np
import pytest
from small_context import random_context
from textveil.errors import BundleDamaged
from textveil.mechanisms.context import ContextTable
from textveil.mechanisms.integer_sampling import MAX_ROUNDS, MAX_TOTAL, MAX_WORDS

DRAWING = ("integer_sampling", "staircase", "staircase_table", "context")


@pytest.mark.parametrize("name", [f"mechanisms.{module}" for module in DRAWING] + ["ledger.rows", "ledger.charging"])
def test_what_is_drawn_from_cannot_be_changed(name: str) -> None:
    module = importlib.import_module(f"textveil.{name}")
    ours = [value for value in vars(module).values() if isclass(value) and value.__module__ == module.__name__]
    for found in filter(is_dataclass, ours):
        assert found.__dataclass_params__.frozen, found  # pyright: ignore[reportAttributeAccessIssue]


def test_the_bounds_are_those_of_the_proofs() -> None:
    """docs/format.md and docs/proofs/integer-sampling.md: a word is rejected less than one time in four."""
    assert 4 * MAX_TOTAL == 1 << 64
    assert (MAX_WORDS, MAX_ROUNDS) == (128, 32_768)


@pytest.mark.parametrize(("classes", "weights"), [(1, 1), (2, 1), (256, 1), (3, 1024)])
def test_a_context_at_its_bounds_is_read(classes: int, weights: int) -> None:
    arrays = random_context(1, symbols=300, kinds=4, classes=classes, weights=range(1, weights + 1))
    table = ContextTable.from_tensors(arrays, 300, 4)
    assert table.factors(np.zeros((1, 4), np.int64)).shape == (1, classes)


@pytest.mark.parametrize(("classes", "weights"), [(257, 1), (3, 1025), (3, 0), (0, 1)])
def test_a_context_beyond_them_is_not(classes: int, weights: int) -> None:
    arrays: dict[str, Any] = random_context(1, symbols=300, kinds=4, classes=3, weights=range(1, weights + 1))
    if classes != 3:
        arrays["scores"] = np.zeros((6, classes), np.int8)
    with pytest.raises(BundleDamaged, match="shapes or types"):
        ContextTable.from_tensors(arrays, 300, 4)
