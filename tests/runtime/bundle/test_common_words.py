"""Tests of the search for common words in the bytes of a list, before and after all lines are parsed."""

import random

import pytest
from textveil.bundle import DEFAULT_BUNDLE, TextBundle, open_bundle
from textveil.bundle.common_words import _MAX_SEARCHES, CommonWords, ListedWords
from textveil.bundle.layout import COMMON_WORDS, FACT_LIST
from textveil.bundle.names_files import _parse_common_flags, parse_names_lists

BITS = {"a": 0, "a'b": 3, "ab": 1, "b": 0, "é": 1, "straße": 2, "z": 0, "\U00010428": 1}
FLAGS = {"": 0, "one": 1, "two": 2, "one,two": 3}
TEXT_BY_BITS = {bits: text for text, bits in FLAGS.items()}


@pytest.fixture
def words() -> CommonWords:
    """Open a list of few words."""
    lines = [f"{word}\t{TEXT_BY_BITS[BITS[word]]}" if BITS[word] else word for word in sorted(BITS)]
    return CommonWords(("\n".join(lines) + "\n").encode(), FLAGS.get)


def test_each_word_is_found_by_searching_and_by_parsing(words: CommonWords) -> None:
    for _ in range(2):
        assert {word: words[word] for word in BITS} == BITS
        assert [*words] == sorted(BITS)  # parses all lines
        assert len(words) == len(BITS)


@pytest.mark.parametrize(
    "word", ["", "A", "a'", "a'bc", "aa", "c", "zz", "\n", "a\n", "\t", "ab\tone", "\ud800", "\U0010ffff"]
)
def test_other_strings_are_not_found(words: CommonWords, word: str) -> None:
    for _ in range(2):
        assert word not in words
        assert words.get(word, 7) == 7
        with pytest.raises(KeyError) as caught:
            words[word]
        assert word == "" or repr(word) not in str(caught.value)
        len(words)  # parses all lines


def test_after_many_searches_the_words_are_parsed(words: CommonWords) -> None:
    for _ in range(_MAX_SEARCHES):
        assert words.get("ab") == 1
    assert words._words == {}
    assert (words.get("ab"), words.get("c"), words._words) == (1, None, BITS)


def test_the_search_finds_every_built_in_word_with_its_flags() -> None:
    files = open_bundle(DEFAULT_BUNDLE, TextBundle).names_files
    assert files is not None
    expected = parse_names_lists(files.entity_types, files.pool_types, files.contents).common_words
    content = files.contents[COMMON_WORDS]
    chosen = [*expected][:50] + random.Random(1).sample([*expected], _MAX_SEARCHES - 200) + [*expected][-50:]
    words = CommonWords(content, _parse_common_flags)
    assert [words.get(word) for word in chosen] == [expected[word] for word in chosen]
    assert not any(f"{word}'q" in words for word in chosen[:100])
    assert words._words == {}
    assert [*words.items()] == [*expected.items()]


def test_a_long_list_of_facts_is_a_set_of_the_same_words() -> None:
    files = open_bundle(DEFAULT_BUNDLE, TextBundle).names_files
    assert files is not None
    expected = frozenset(files.contents[FACT_LIST.format("foreign")].decode().split())
    lists = parse_names_lists(files.entity_types, files.pool_types, files.contents, is_checked=True)
    words = lists.fact_lists["foreign"]
    assert isinstance(words, ListedWords)
    assert all(word in words for word in [*expected][:300])
    assert "nowordofthislist" not in words
    assert words == expected
    assert type(words | {"x"}) is frozenset
    assert len(words | {"nowordofthislist"}) == len(expected) + 1
