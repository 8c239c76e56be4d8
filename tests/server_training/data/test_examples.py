"""The examples themselves."""

import dataclasses

import pytest
from textveil_training.data import AttributedText, Document, Example, LabeledPair, LabeledText, ScoredPair


def every_kind(word: str) -> list[Example]:
    return [
        Document(word),
        LabeledText(word, word),
        LabeledPair(word, word, word),
        ScoredPair(first=word, second=word, score=3.5, label=word),
        AttributedText(word, word, (0, 2)),
    ]


def test_no_repr_shows_a_text_or_a_label(canary: str) -> None:
    assert canary not in repr(every_kind(canary))


def test_examples_are_frozen_and_compare_by_value(canary: str) -> None:
    assert every_kind(canary) == every_kind(canary)
    assert len({*every_kind(canary), *every_kind(canary)}) == 5
    for example in every_kind(canary):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(example, dataclasses.fields(example)[0].name, "other")  # type: ignore[arg-type]


def test_texts_are_in_the_order_of_the_file() -> None:
    assert Document("a").texts == ("a",)
    assert LabeledPair("a", "b", "c").texts == ("a", "b")
    assert ScoredPair(first="a", second="b", score=1.0).texts == ("a", "b")
    assert ScoredPair(first="a", second="b", score=1.0).label is None
    assert Document("a").label is None
