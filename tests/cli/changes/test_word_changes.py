"""Two texts are compared word by word, completely and in one pass."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_cli.changes import word_changes
from textveil_cli.changes.word_changes import iterate_word_changes

texts = st.text(alphabet="ab .,[]1\n", max_size=40)


@given(texts, texts)
def test_parts_are_both_texts_and_alternate(original: str, rewritten: str) -> None:
    parts = [*iterate_word_changes(original, rewritten)]
    assert "".join(old for old, _, _ in parts) == original
    assert "".join(new for _, new, _ in parts) == rewritten
    assert all((old == new) == is_equal for old, new, is_equal in parts)
    assert all(before[2] != after[2] for before, after in pairwise(parts))


@pytest.mark.parametrize(
    ("original", "rewritten", "changes"),
    [
        ("", "", []),
        ("from Leeds", "from Vienna", [("Leeds", "Vienna")]),
        ("Anna, Leeds, now", "[person 1], [city 1], now", [("Anna", "[person 1]"), ("Leeds", "[city 1]")]),
        ("the fee is 5", "the fee is", [(" 5", "")]),
        ("Novak", "a Novak", [("", "a ")]),
        ("a b c d", "x y", [("a b c d", "x y")]),
    ],
)
def test_changes_are_as_small_as_words(original: str, rewritten: str, changes: list) -> None:
    assert [(old, new) for old, new, same in iterate_word_changes(original, rewritten) if not same] == changes


class CountedWords(list[str]):
    """Words that count how often a part of them is read."""

    reads = 0

    def __getitem__(self, key: Any) -> Any:
        CountedWords.reads += 1
        return super().__getitem__(key)


@pytest.mark.parametrize(
    ("original", "rewritten"),
    [
        ("a " * 5_000, "b " * 5_000),
        ("a b " * 2_500, "b a " * 2_500),
        ("".join(f"x{i} " * 95 + "m n " for i in range(50)), "".join(f"y{i} " * 95 + "m n " for i in range(50))),
    ],
    ids=["nothing in common", "shifted", "far agreements"],
)
def test_long_texts_are_read_a_few_times(monkeypatch: pytest.MonkeyPatch, original: str, rewritten: str) -> None:
    """The number of steps grows with the length, not with its square."""
    words = word_changes._WORD.findall

    class CountingPattern:
        def findall(self, text: str) -> CountedWords:
            return CountedWords(words(text))

    monkeypatch.setattr(word_changes, "_WORD", CountingPattern())
    monkeypatch.setattr(CountedWords, "reads", 0)
    assert [*iterate_word_changes(original, rewritten)]
    assert CountedWords.reads < 10 * (len(words(original)) + len(words(rewritten)))
