"""The second reader, written from docs/format.md, and the runtime agree on rows and samples of a staircase."""

import hashlib
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_reader as reader
from small_staircase import BASE, CASED_ROLES, CASED_WORDS, NEIGHBORS, small_staircase
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.mechanisms.staircase import Staircase
from wrong_staircases import LAWS, TABLES

#: Visible function words, slots in lower case.
RULES = list(product((True, False), repeat=2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_staircase(tmp_path_factory.mktemp("staircase") / "b")


@pytest.fixture(scope="module")
def wider(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More neighbors than the budget needs, larger numbers, and levels at the ends of what is allowed."""
    chance = np.random.default_rng(5)
    rows = [[x, *chance.permutation([y for y in range(15) if y != x])[:8]] for x in range(15)]
    levels = [
        {"name": "low", "epsilon": "0.000001", "share": "1"},
        {"name": "middle", "epsilon": "3.75", "share": "1/3"},
        {"name": "high", "epsilon": "16", "share": "1/100000"},
    ]
    return small_staircase(
        tmp_path_factory.mktemp("staircase") / "b",
        words=CASED_WORDS,
        roles=CASED_ROLES,
        neighbors=np.array(rows, NEIGHBORS.dtype),
        base=chance.integers(1, 3000, 15).astype(BASE.dtype),
        levels=levels,
    )


def test_reader_and_runtime_agree_on_a_staircase(folder: Path) -> None:
    read, bundle = reader.open_bundle(folder), open_bundle(folder, TextBundle)
    assert read.identity == bundle.content_hash == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    assert read.staircase is not None
    assert bundle.staircase_table is not None
    for visible, lower in RULES:
        told = np.flatnonzero(bundle.staircase_table.get_output_mask(function_words_kept=visible, lower=lower)).tolist()
        assert sorted(reader.allowed_outputs(read.staircase, visible, lower)) == told
    assert read.staircase.function_words["may"] == ("name-like",)
    assert read.staircase.kinds["weekday"] == (
        None,
        {"friday": (), "mon": ("capitalized", "member-only"), "monday": ()},
    )


def both(folder: Path) -> Any:
    """Every level and rule of a bundle, by the reader and by the runtime."""
    read, bundle = reader.open_bundle(folder).staircase, open_bundle(folder, TextBundle)
    assert read is not None
    assert bundle.staircase_table is not None
    for number, level in enumerate(bundle.staircase_levels):
        for visible, lower in RULES:
            outputs = bundle.staircase_table.get_output_mask(function_words_kept=visible, lower=lower)
            told = reader.allowed_outputs(read, visible, lower)
            yield read, read.levels[number], told, Staircase.from_table(bundle.staircase_table, level, outputs)


def test_slots_in_lower_case_have_more_outputs(folder: Path, wider: Path) -> None:
    """As the roles say; where no role speaks of lower case, as bundles before had none, case decides nothing."""
    for of, more in ((wider, {"mark"}), (folder, set())):
        read, bundle = reader.open_bundle(of).staircase, open_bundle(of, TextBundle)
        assert read is not None
        for visible in (True, False):
            strict, lower = (reader.allowed_outputs(read, visible, case) for case in (False, True))
            assert {bundle.vocabulary[y] for y in lower - strict} == more
            assert strict <= lower


@pytest.mark.parametrize("name", ["folder", "wider"])
def test_exact_rows(name: str, request: pytest.FixtureRequest) -> None:
    spread = 0
    for read, level, outputs, ours in both(request.getfixturevalue(name)):
        for x in range(16):
            wanted = reader.staircase_row(read, level, outputs, x)
            exact = ours.compute_exact_row(x)
            assert sum(wanted) == 1
            assert [Fraction(weight, sum(exact)) for weight in exact] == wanted
            spread += sum(exact) != ours.total
    assert spread > 16  # in more rows than those of <unk> something is left over


def scripted(seed: int) -> Callable[[int], list[int]]:
    """Random words, one in eight the largest there is, which every total that is not a power of two rejects."""
    chance = np.random.default_rng(seed)

    def words(count: int) -> list[int]:
        drawn = chance.integers(0, 2**64, count, dtype=np.uint64)
        drawn[chance.integers(0, 8, count) == 0] = 2**64 - 1
        return drawn.tolist()

    return words


@pytest.mark.parametrize("name", ["folder", "wider"])
def test_the_same_words_give_the_same_outputs(name: str, request: pytest.FixtureRequest) -> None:
    inputs = list(range(16)) * 60
    for read, level, outputs, ours in both(request.getfixturevalue(name)):
        words = scripted(3)
        drawn = ours.draw_symbols(np.array(inputs), lambda count, words=words: np.array(words(count), np.uint64))
        assert drawn.tolist() == reader.draw_staircase(read, level, outputs, inputs, scripted(3))


@pytest.mark.parametrize("change", LAWS.values(), ids=LAWS.keys())
def test_the_reader_refuses_what_no_law_is(tmp_path: Path, change: Callable[[Any], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        reader.open_bundle(small_staircase(tmp_path / "b", law=change))


@pytest.mark.parametrize("arrays", TABLES.values(), ids=TABLES.keys())
def test_the_reader_refuses_a_wrong_table(tmp_path: Path, arrays: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        reader.open_bundle(small_staircase(tmp_path / "b", **arrays))
