"""The fast paths for chunks give the same tokens as the general tokenizer."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from textveil import Sanitizer
from textveil.bundle.rules import Patterns
from textveil.lazy import LazyPattern
from textveil.text.names import numbers, string_types
from textveil.text.names import tokenizer as module
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.tokenizer import ChunkTokenizer
from textveil.text.names.tokens import GAP, KEPT

WORDS = (
    "the Nurse ANNA I o'clock don't Anna's it's O'Neil 's Jürgen ﬁne nurse\u2019s quot D o_O x-ray 5kg 70 a1 "
    "1,234.5 3-4 12/5 \u0663"
).split()


def read() -> ChunkTokenizer:
    return ChunkTokenizer(
        Lexicon(Sanitizer.load().bundle.get_names_lists(), allowed=["anna"], denied=["nurse", "kg", "p.m", "mail"])
    )


@pytest.mark.parametrize(
    ("chunk", "shown"), [("5kg", ""), ("5cm", "cm"), ("p.m", ""), ("a.m", "a.m"), ("e-mail", ""), ("x-ray", "x-ray")]
)
def test_what_is_denied_is_not_shown_behind_a_number_or_with_marks(chunk: str, shown: str) -> None:
    assert "".join(token.text for token in read().tokenize(chunk) if token.token_class == KEPT) == shown


def test_a_chunk_of_one_word_is_read_as_any_other() -> None:
    chunks = read()
    found_some = 0
    for lead, word, tail in product(
        ["", '"', "((", "'", ":", "'(", "\u2018", "\u201c", "(\u2018"],
        [*WORDS, "a" * 1001, "re"],
        ["", ".", "',", ";", '")!', "\u2026", ":)", "\u2019", ".\u201d"],
    ):
        chunk = f"{lead}{word}{tail}"
        found = chunks.lexicon.split_word(chunk)
        if found is not None:
            before, tokens, after = found
            long_way = tuple(chunks._tokenize_with_entities(chunk))
            assert tuple(tokens) == tuple(token for token in long_way if token.token_class != GAP), chunk
            assert (before, after) == (lead, tail)
            assert "".join(token.text for token in long_way) == chunk
            assert [token.text for token in (long_way[0], long_way[-1]) if token.token_class == GAP] == [
                *filter(None, (lead, tail))
            ]
            found_some += 1
    assert found_some > 100


def test_a_word_that_is_plainly_shown_is_read_as_any_other() -> None:
    chunks = read()
    lists = Sanitizer.load().bundle.get_names_lists()
    plain = [word for word in (*lists.common_words, *WORDS) if chunks.lexicon.find_plain_token(word)]
    assert all(
        (chunks.lexicon.find_plain_token(word),) == chunks.lexicon.classify_word(word) == chunks.tokenize(word)
        for word in plain
    )
    assert "nurse" not in plain
    assert len(plain) > 50_000


@pytest.mark.parametrize(
    ("chunk", "values"),
    [
        ("7,chair,12.50", "7 chair 12.50"),
        ("34,Boston", "34 Boston"),
        ("Weiß;DE89370400440532013000;1.249,50", "Weiß DE89370400440532013000 1.249,50"),
        ("2024-01-02|9:05|a@b.com|2/3/2020", "2024-01-02 9:05 a@b.com 2/3/2020"),
        ('"Ann","a@b.com","12/3/2024"', "Ann a@b.com 12/3/2024"),
        ("1,34,250", "1 34 250"),
        ("7;https://x.org/a;b", "7 https://x.org/a;b"),
        *((whole, whole) for whole in "1,249 1.249,50 1,000-2,000 1,250,000 2,5,10 3,5-4 https://x.org/a,b;c".split()),
    ],
)
def test_the_values_of_a_table_row_are_separate_tokens(chunk: str, values: str) -> None:
    assert " ".join(token.text for token in read().tokenize(chunk) if token.token_class != GAP) == values


def differences(patterns: Patterns = numbers.ENGLISH) -> Iterator[str]:
    """Return the ASCII chunks for which a fast path and the pattern that it replaces differ."""
    chunks, slow = read(), replace(patterns, plain_number=LazyPattern(re.compile, "(?!)"))
    chunks._patterns = patterns
    short = [*map("".join, product("a1-.,'\\/:oO3=<^_; ", repeat=3)), *map("".join, product("12-.,/", repeat=4))]
    for chunk in filter(
        str.strip, [*short, "a-b-c", "a\\b\\c", "12,345", "1,234.5", "1,2345", "a--b", "a-b's", "1-2-12", "1.2.1.2"]
    ):
        lead, tail = chunks.lexicon.gap_pattern.match(chunk), chunks.lexicon.final_gap_pattern.search(chunk)
        start, end = chunks._find_core(chunk)
        begins = lead.end() if lead else 0
        if begins == len(chunk) or start == end:
            if (begins == len(chunk)) != (start == end):
                yield chunk
        elif (start, end) != (begins - module._count_prefix_marks(chunk, begins), tail.start() if tail else len(chunk)):
            yield chunk
        if patterns.plain_number.fullmatch(chunk):
            told = string_types.classify_string(chunk, patterns), [*chunks._tokenize_core(chunk)]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(chunks, "_patterns", slow)
                if (string_types.classify_string(chunk, slow), [*chunks._tokenize_core(chunk)]) != told:
                    yield chunk
        if chunk[0].isalpha() and set(chunk).isdisjoint("1.,;:=&") and len(module._SLASHES.findall(chunk)) < 2:
            pieces = module._split_words_and_marks(chunk)
            if pieces is not None and [*chunks._tokenize_core(chunk)] != [*chunks._tokenize_joined_words(pieces)]:
                yield chunk


def test_short_ways_say_what_the_patterns_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*differences()] == []
    with monkeypatch.context() as patch:
        patch.setattr(module, "punctuation", "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~")
        assert [*differences()] != []
    wrong = LazyPattern(re.compile, "[0-9]+(?:[-./,][0-9]+)*")
    assert [*differences(replace(numbers.ENGLISH, plain_number=wrong))] != []
