"""Near-duplicate texts are in the same part, and labels that cannot be a task are named."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import LabeledExample
from textveil_training.data.splits import fold_words, group_texts, split_groups
from textveil_training.encoder.labeled_texts import MIN_CLASS_TEXTS, split_labeled_texts
from textveil_training.errors import InvalidClasses

LONG = "one two three four five six seven eight"


def together(*texts: str) -> bool:
    return len(set(group_texts(texts).group_ids)) == 1


def test_what_belongs_together() -> None:
    assert together("Good day!", "good  DAY")
    assert together("the cat sat down", "yesterday the cat sat down here")  # contained, four words
    assert together(f"a b {LONG} c d", f"x {LONG}, y")
    assert together(LONG, f"x {LONG}")
    assert together("a b c d", "x a b c d y", "y z a b c d")  # through the contained one
    assert not together("the cat sat", "yesterday the cat sat here")  # three words are everywhere
    assert not together("one two three four five six seven x", "one two three four five six seven y")
    assert not together("", "a")
    assert together("", "...", "!")


def test_duplicates_are_counted() -> None:
    groups = group_texts(["a b", "A b!", "c", "a  b", "c d"])
    assert (groups.duplicates, groups.largest_size, groups.group_ids) == (2, 3, (0, 0, 2, 0, 4))


def close(one: str, other: str) -> bool:
    """Apply the rule to one pair at a time."""

    def passages(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
        return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}

    first, second = fold_words(one), fold_words(other)
    if first == second or passages(first, 8) & passages(second, 8):
        return True
    short, long = sorted((first, second), key=len)
    return len(short) >= 4 and short in passages(long, len(short))


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=10).map(" ".join), min_size=1, max_size=12), st.integers(0, 9)
)
def test_no_close_texts_are_on_different_sides(texts: list[str], seed: int) -> None:
    groups = group_texts(texts)
    for number, one in enumerate(texts):
        for other, group in zip(texts, groups.group_ids, strict=True):
            if close(one, other):
                assert groups.group_ids[number] == group
    sides = split_groups(groups, {"train": 1, "test": 1}, seed)
    assert sorted(sides["train"] + sides["test"]) == list(range(len(texts)))
    for group in set(groups.group_ids):
        assert len({name for name, found in sides.items() for n in found if groups.group_ids[n] == group}) == 1


def test_a_large_group_goes_to_the_first_side() -> None:
    texts = [LONG] * 30 + [f"text number {n}" for n in range(100)]
    for seed in range(5):
        assert set(range(30)) <= set(split_groups(group_texts(texts), {"train": 1, "test": 1}, seed)["train"])


def test_the_division_does_not_depend_on_the_order() -> None:
    texts = [f"text number {n} {'x' * (n % 7)}" for n in range(60)]
    groups = group_texts(texts), group_texts(texts[::-1])
    one, other = (split_groups(found, {"train": 1, "test": 1}) for found in groups)
    assert {texts[n] for n in one["test"]} == {texts[::-1][n] for n in other["test"]}


def rows(*sizes: int, prefix: str = "text") -> list[LabeledExample]:
    return [
        LabeledExample(texts=(f"{prefix} {label} number {number}",), label=f"label {label}")
        for label, size in enumerate(sizes)
        for number in range(size)
    ]


def test_a_task_is_divided_and_labels_keep_their_names() -> None:
    task = split_labeled_texts(rows(80, 60))
    assert task.labels == ("label 0", "label 1")
    parts = (task.train, task.calibration, task.test)
    texts = [text for part in parts for text in part.texts]
    assert len(texts) == len(set(texts)) == 140
    for part in parts:
        assert all(text.startswith(f"text {number}") for text, number in zip(part.texts, part.classes, strict=True))
        assert set(part.classes.tolist()) == {0, 1}
    assert len(task.train.texts) > len(task.calibration.texts) + len(task.test.texts)


def test_what_is_too_close_to_a_given_test_text_is_left_out() -> None:
    given_test = rows(3, 3, prefix="other")
    copies = [
        LabeledExample(texts=("Other 0, number 1!",), label="label 0"),
        LabeledExample(texts=("so: other 1 number 2 it is",), label="label 1"),
    ]
    task = split_labeled_texts([*rows(60, 60), *copies], given_test)
    assert task.left_out == 2
    assert task.test.texts == tuple(row.text for row in given_test)
    assert not set(task.train.texts + task.calibration.texts) & {row.text for row in copies}


def test_blanks_around_a_label_are_left_out() -> None:
    spaced = [replace(row, label=f" {row.label}\t") for row in rows(30, 30, prefix="spaced")]
    assert split_labeled_texts([*rows(60, 60), *spaced]).labels == split_labeled_texts(rows(60, 60)).labels


@pytest.mark.parametrize(
    ("found", "test", "message"),
    [
        (rows(50), None, "1 different labels"),
        ([], None, "0 different labels"),
        (rows(*[1] * 257), None, "257 different labels"),
        (rows(50, 1), None, f"has 1 text, but {MIN_CLASS_TEXTS} are needed"),
        (rows(50, 2), None, f"has 2 texts, but {MIN_CLASS_TEXTS} are needed"),
        (
            [*rows(90, 0), *[LabeledExample(texts=(LONG,), label="copied")] * 40],
            None,
            "class 1 of 2 has no text in the part for",
        ),
        (rows(50, 50), rows(0, 0, 3), "1 labels of the test file do not occur in the training file"),
        (rows(50, 50), rows(3, 0), "class 2 of 2 has no text in the part for test"),
    ],
)
def test_labels_that_make_no_task(found: list[LabeledExample], test: list[LabeledExample] | None, message: str) -> None:
    with pytest.raises(InvalidClasses, match=message):
        split_labeled_texts(found, test)


def test_the_seed_decides_of_the_division() -> None:
    one, other = split_labeled_texts(rows(80, 60)), split_labeled_texts(rows(80, 60), seed=1)
    assert not np.array_equal(one.train.texts, other.train.texts)
    assert one.train.texts == split_labeled_texts(rows(80, 60)).train.texts
