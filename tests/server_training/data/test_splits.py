"""Shares that never change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import LabeledExample, choose_share, split_examples
from textveil_training.errors import DataOptionError, MissingSplit

SHARES = {"train": 80, "dev": 10, "test": 10}
all_weights = st.dictionaries(st.text(), st.integers(1, 10**30), min_size=1)
documents = [LabeledExample(texts=(f"document {number}",)) for number in range(2000)]


def test_shares_are_pinned() -> None:
    # A change of these values changes every published result that divides its own data.
    names = [choose_share(f"key {number}", SHARES) for number in range(12)]
    assert names == ["train"] * 3 + ["dev"] + ["train"] * 5 + ["test"] * 3
    assert choose_share("naïve café 😀", SHARES, seed=7) == "dev"


def test_every_example_is_in_one_share_in_its_order() -> None:
    divided = split_examples(documents, SHARES)
    assert list(divided) == ["train", "dev", "test"]
    kept = [row.text for rows in divided.values() for row in rows]
    assert sorted(kept) == sorted(row.text for row in documents)
    for rows in divided.values():
        assert rows == sorted(rows, key=documents.index)


@pytest.mark.slow
@given(key=st.text(), seed=st.integers(), weights=all_weights)
def test_the_order_of_the_shares_does_not_matter(key: str, seed: int, weights: dict[str, int]) -> None:
    name = choose_share(key, weights, seed)
    assert name in weights
    assert choose_share(key, dict(reversed(weights.items())), seed) == name


def test_a_key_keeps_the_rows_of_a_question_together() -> None:
    rows = [LabeledExample(texts=(f"question {n // 4}?", f"sentence {n}"), label="entailment") for n in range(800)]
    divided = split_examples(rows, SHARES, key=lambda pair: pair.text)
    questions = [{row.text for row in part} for part in divided.values()]
    assert sum(len(part) for part in questions) == 200


def test_another_seed_is_another_division() -> None:
    assert split_examples(documents, SHARES, seed=0) == split_examples(documents, SHARES, seed=0)
    halves = [split_examples(documents, {"a": 1, "b": 1}, seed=seed)["a"] for seed in (0, 1)]
    assert 400 < len(set(halves[0]) & set(halves[1])) < 600


@pytest.mark.parametrize("shares", [{}, {"a": 0}, {"a": -1, "b": 2}, {"a": 0.8, "b": 0.2}, {"a": True}])
def test_other_weights_are_refused(shares: dict[str, int]) -> None:
    with pytest.raises(DataOptionError):
        choose_share("key", shares)


def test_an_empty_share_is_refused() -> None:
    with pytest.raises(MissingSplit, match="share 2 of 2 has no example: use fewer or larger shares, or more data"):
        split_examples(documents[:5], {"train": 10**9, "dev": 1})
    with pytest.raises(DataOptionError):
        split_examples(documents, {})
