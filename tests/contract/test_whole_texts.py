"""Whole texts under the staircase: the runtime agrees with a reader written from docs/format-staircase.md alone.

Both get the same random words, so where they agree the document describes the output of every token. Where it leaves
the order of samples open, there is one random word for all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import faulty_mentions
import pytest
import reference_reader as reader
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_reader import inputs, segments, shapes, template
from scripted import extreme_words
from textveil import Sanitizer
from textveil.bundle import DEFAULT_BUNDLE
from textveil.errors import DocumentTooLong
from textveil.text.segmentation.segments import classify_shape
from whole_texts import CONSISTENT, DENY, OPTIONS, TEXTS, Told, by_the_product, write_bundle

#: Epsilons of the two bundles that are used.
LEVELS = {"toy": ["6", "8.5"], "english": ["4", "10", "12"]}


class Pair:
    """A bundle, opened by the reader and by the product."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.levels = name, LEVELS[name]
        self.read, self.opened = reader.open_bundle(folder), Sanitizer.load(folder)

    def by_the_document(self, texts: list[str], options: dict[str, Any], stream: Iterator[int]) -> Told:
        return reader.rewrite_batch(self.read, texts, options, lambda number: list(islice(stream, number)))

    def assert_agreement(self, texts: list[str], options: dict[str, Any], stream: Callable[[], Iterator[int]]) -> None:
        told = self.by_the_document(texts, options, stream())
        assert by_the_product(self.opened, texts, options, stream()) == told


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair("toy", write_bundle(tmp_path_factory.mktemp("toy") / "bundle"))


@pytest.fixture(scope="module")
def english() -> Pair:
    return Pair("english", DEFAULT_BUNDLE)


def one_word(word: int) -> Callable[[], Iterator[int]]:
    """Return a stream that repeats one word, for samples in any order. No total rejects it."""
    return partial(repeat, word % 2**63)


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_the_toy_bundle_rewrites_as_the_document_says(toy: Pair, number: int) -> None:
    options = {**OPTIONS[number], "epsilon": toy.levels[number % 2]}
    toy.assert_agreement(TEXTS, options, partial(extreme_words, f"toy {number}"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 3, 4, 6, pytest.param(None, marks=pytest.mark.full)])
def test_the_english_bundle_rewrites_as_the_document_says(english: Pair, number: int | None) -> None:
    for options in OPTIONS if number is None else [OPTIONS[number]]:
        english.assert_agreement(TEXTS, options, partial(extreme_words, f"small {number}"))


@pytest.mark.parametrize("options", CONSISTENT)
def test_equal_tokens_share_a_draw(toy: Pair, options: dict[str, Any]) -> None:
    for word in (0x3123456789ABCDEF, 0x7FEDCBA987654321, 12345):
        toy.assert_agreement(TEXTS, options, one_word(word))


def test_draws_of_equal_tokens_are_told_apart(toy: Pair) -> None:
    """Where no function word is visible, the product has the reader's order within a text."""
    for text in TEXTS:
        for options in ({}, {"deny": DENY}, {"sanitize_punctuation": True}):
            every = {"consistent": True, "protect": "all", **options}
            toy.assert_agreement([text], every, partial(extreme_words, text[:9].encode("ascii", "replace").decode()))


@pytest.mark.parametrize("cap", [1, 2, 3, 5, 8])
def test_the_same_documents_are_refused(toy: Pair, cap: int) -> None:
    options, refused = {"consistent": True, "consistent_cap": cap}, set()
    tried = (*TEXTS, "doctor john", "doctor's", "john 5", "doctor nurse. The", "flu flu", "flu clinic: john, 5")
    for text in tried:
        try:
            told = by_the_product(toy.opened, [text], options, repeat(5))
            assert toy.by_the_document([text], options, repeat(5)) == told
        except DocumentTooLong:
            refused.add(text)
            with pytest.raises(ValueError, match="more mentions and members than the cap"):
                toy.by_the_document([text], options, repeat(5))
    assert 0 < len(refused) < len(tried)


# --- texts at random ------------------------------------------------------------------------------------------------

PIECES = sorted({piece for text in TEXTS for piece in text.split(" ") if len(piece) < 60})
MARKS = ["", " ", "  ", ". ", ".", "\n", ", ", "'", "’", "(", ") ", ":", "; ", '"', "-", "/", "@", "\u00a0", "? ", "…"]
mixtures = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(MARKS)), max_size=10).map(
    lambda parts: "".join(piece + mark for piece, mark in parts)
)
random_options = st.fixed_dictionaries(
    {"protect": st.sampled_from(["words", "all"])},
    optional={
        "sanitize_punctuation": st.just(True),
        "deny": st.lists(st.one_of(st.sampled_from(PIECES), mixtures), max_size=3),
    },
)


@pytest.mark.slow
@settings(max_examples=900, deadline=None)
@given(st.lists(mixtures, min_size=1, max_size=3), random_options, st.booleans(), st.integers(0, 2**63 - 1))
def test_random_texts_agree(toy: Pair, texts: list[str], options: dict[str, Any], consistent: bool, word: int) -> None:
    stream = one_word(word) if consistent else partial(extreme_words, str(word))
    more = {"consistent": True, "consistent_cap": 1000 + word % 4} if consistent else {}
    toy.assert_agreement(texts, {"epsilon": toy.levels[word % 2], **options, **more}, stream)


@pytest.mark.full
@settings(max_examples=300, deadline=None)
@given(st.lists(mixtures, min_size=1, max_size=3), random_options, st.integers(0, 999))
def test_random_texts_agree_in_the_english_bundle(
    english: Pair, texts: list[str], options: dict[str, Any], label: int
) -> None:
    english.assert_agreement(
        texts, {"epsilon": english.levels[label % 3], **options}, partial(extreme_words, str(label))
    )


@settings(max_examples=1500)
@given(st.text("0123456789٣９:.,/-‐–−+()[]{} \u00a0@＠\"'~\\aptmsndrhCx$#%;", min_size=1, max_size=14))
def test_shapes_agree(text: str) -> None:
    for kind, segment in segments.find_segments(text):
        if kind == "string":
            assert shapes.shape_of(segment) == classify_shape(segment)


# --- planted faults -------------------------------------------------------------------------------------------------


def without_marks(mark: str) -> Callable[[Any], Any]:
    """Return a bundle whose lists lack one mark."""

    def changed(bundle: Any) -> Any:
        lists = bundle.staircase
        drop = lambda one: {entry: tuple(m for m in marks if m != mark) for entry, marks in one.items()}  # noqa: E731
        named = {name: (shape, drop(entries)) for name, (shape, entries) in lists.kinds.items()}
        return replace(bundle, staircase=replace(lists, function_words=drop(lists.function_words), kinds=named))

    return changed


def other_shape(wrong: str) -> Callable[[str], str]:
    """Shapes, one of which is forgotten."""
    instead = {"other": "number", "number": "other", "year": "number", "date": "number", "phone": "number"}
    return lambda string: instead.get(wrong, "other") if shapes.shape_of(string) == wrong else shapes.shape_of(string)


real_word, real_key = template.TemplateReader.word, template.key_of


def stems_alone_are_denied(rule: Any, word: str, starts: bool) -> Any:
    denied, rule.denied = rule.denied, rule.denied - {real_key(word)}
    found = real_word(rule, word, starts)
    rule.denied = denied
    return found


#: What a reader may get wrong.
FAULTS: dict[str, tuple[Any, str, Any]] = {
    **{f"no shape {shape}": (template, "shape_of", other_shape(shape)) for shape in shapes.SHAPES},
    **{
        f"{clitic} is not a clitic": (template, "CLITICS", [one for one in template.CLITICS if one != clitic])
        for clitic in template.CLITICS
        if clitic != "n't"
    },
    **{
        f"{mark!r} ends no sentence": (template, "SENTENCE_ENDS", template.SENTENCE_ENDS - {mark})
        for mark in ".!?\n\x0c\x85\u2028"
    },
    "a colon ends a sentence": (template, "SENTENCE_ENDS", template.SENTENCE_ENDS | {":"}),
    "n't is never cut off": (template, "AUXILIARIES", []),
    "n't is cut off any word": (template, "AUXILIARIES", ["the", *template.AUXILIARIES]),
    "long strings have a shape": (template, "LONGEST_WORD", 10**6),
    "denied texts deny no words of theirs": (template, "denied_keys", lambda entry: [real_key(entry)]),
    "a denied word keeps its clitics": (template.TemplateReader, "word", stems_alone_are_denied),
    "case is lost": (template, "case_pattern", lambda word: "lower"),
    "upper case is title case": (
        template,
        "case_pattern",
        lambda word: found if (found := inputs.case_pattern(word)) != "UPPER" else "Title",
    ),
    "keys are not normalized": (template, "key_of", lambda word: word.lower().replace("’", "'")),
    "marks come out in another order": (template, "MARKS", template.MARKS[::-1]),
}
MARKS_OF_LISTS = ("name-like", "capitalized", "member-only")


def sees_a_fault(pair: Pair, bundle: Any) -> bool:
    """Whether any text comes out otherwise."""
    ways: list[tuple[dict[str, Any], Callable[[], Iterator[int]]]] = [
        (OPTIONS[number], partial(extreme_words, "fault")) for number in (0, 1, 2, 5)
    ]
    for options, stream in ways:
        every = {**options, "epsilon": "8.5"}
        told = by_the_product(pair.opened, TEXTS, every, stream())
        words = stream()
        if reader.rewrite_batch(bundle, TEXTS, every, lambda n, words=words: list(islice(words, n))) != told:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(toy: Pair, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    assert sees_a_fault(toy, toy.read)


@pytest.mark.parametrize("mark", MARKS_OF_LISTS)
def test_a_mark_of_a_list_that_is_not_read_is_seen(toy: Pair, mark: str) -> None:
    assert sees_a_fault(toy, without_marks(mark)(toy.read))


def test_without_a_fault_none_is_seen(toy: Pair) -> None:
    assert not sees_a_fault(toy, toy.read)


# --- faults of the product -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("fault", faulty_mentions.SEEN_IN_WHOLE_TEXTS)
def test_a_fault_of_the_product_is_seen(toy: Pair, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, faulty in faulty_mentions.FAULTS[fault]():
        monkeypatch.setattr(owner, name, faulty)

    def compare() -> None:
        for options in (*OPTIONS[:3], *CONSISTENT[:3]):
            toy.assert_agreement(TEXTS, options, one_word(0x3123456789ABCDEF))

    with pytest.raises(AssertionError):
        compare()
