"""Entity types: shapes of strings, lists of words, and their files."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lists import small_kinds
from textveil.bundle.defaults import DEFAULT_BUNDLE
from textveil.bundle.open import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.bundle.word_lists import decode_list
from textveil.errors import BundleDamaged
from textveil.text.segmentation import LOWER, TITLE, UPPER, find_case_pattern, fold_word, is_string, split_text
from textveil.text.segmentation.segments import SHAPES, classify_shape
from textveil.text.token_rules.entity_types import (
    EntityType,
    EntityTypes,
    ListedWordIndex,
    list_surrogates,
    parse_entity_type,
)

SHAPED = {
    "email": "bob@x.org BOB@X.co.uk mailto:bob@x.org <bob@x.org> x(at)y.org bob[at]y",
    "url": "http://x/(a)b x.org www.x ftp://u@x x.museum/y bob@www.x.org",
    "handle": "@bob @1 @a.b/c ＠bob",
    "path": "/etc/x ~/x C:\\x \\\\host\\x",
    "date": "24/11/2020 2020-02-03 1.2.19",
    "time": "5pm 12:30 10:30am 9:05:01 9a.m",
    "phone": "555-0142 +16175550123 192.168.1.1 (617)555-0123 123-456-789-012-345",
    "year": "1500 2004 2099",
    "number": "5 1499 2100 1,234.5 $5 10% -3 #1 2004-05 2004-2005 3.14159265 ٣ 123-456-789-012-3456",
    "ordinal-number": "3rd 21ST 1,000th",
    "other": "C++ b2b 👍 中文 :) :D covid-19 1990s a_b a@b 2004-05-06T12:30 12:3:4:5",
}


@pytest.mark.parametrize("shape", SHAPED)
def test_shapes(shape: str) -> None:
    for string in SHAPED[shape].split():
        assert split_text(string) == [string]
        assert classify_shape(string) == shape, string


def test_numbers_in_groups() -> None:
    for string in ("+1 (555) 123-4567", "555 123 4567", "12 555 123 4567", "(555) 123-4567"):
        assert classify_shape(string) == "phone"
    assert classify_shape("1 2") == "number"


@settings(max_examples=500)
@given(st.text(max_size=10) | st.text(st.sampled_from("a1@.:/( )-+%'\"中"), max_size=12))
def test_every_string_has_one_shape(text: str) -> None:
    for segment in split_text(text):
        if is_string(segment):
            assert classify_shape(segment) in SHAPES


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("monday", "weekday"),
        ("Mon", "weekday"),
        ("mon", None),
        ("May", "month"),
        ("MARCH", "month"),
        ("march", None),
        ("Will", "given-name"),
        ("Élodie", "given-name"),
        ("boston", "city"),
        ("doctor", None),
        ("5", "number"),
        ("A4", "other"),
    ],
)
def test_kinds_are_found(word: str, name: str | None) -> None:
    kinds = small_kinds()
    index = (
        kinds.index_by_shape[classify_shape(word)]
        if is_string(word)
        else kinds.find_word_type(fold_word(word), find_case_pattern(word))
    )
    assert (None if index is None else kinds.entity_types[index].name) == name


def test_strings_are_found_by_shape_and_words_by_list_only() -> None:
    kinds = EntityTypes([EntityType("odd", None, b"a4\ncat\ndog\tcapitalized\n", ("cat",))])
    assert kinds.index_by_shape == {}
    assert [kinds.find_word_type("cat", case) for case in (LOWER, TITLE, UPPER)] == [0, 0, 0]
    assert [kinds.find_word_type("dog", case) for case in (LOWER, TITLE, UPPER)] == [None, 0, 0]


def test_kinds_that_do_not_go_together_are_refused() -> None:
    kinds = small_kinds().entity_types
    for wrong in (kinds[1:], [*kinds, kinds[0]], [*kinds, kinds[-1]], kinds[:1]):
        with pytest.raises(BundleDamaged):
            EntityTypes(wrong)
    EntityTypes([])
    EntityTypes(kinds[len(SHAPES) :])


def test_a_file_is_read() -> None:
    lines = b"a\nb\tmember-only\nc\tcapitalized\nd\tcapitalized,member-only\n"
    assert parse_entity_type("x", None, lines) == EntityType("x", None, lines, ("a", "c"))
    assert parse_entity_type("n", "number", b"5\n12") == EntityType("n", "number", b"", ("5", "12"))


def test_what_ends_as_a_mark_does_is_an_output() -> None:
    entries = "y my only family berry " + "a" * 11 + "y member-only-y"
    lines = entries.replace(" ", "\n").encode() + b"\nrosemary\tmember-only\nlily\tcapitalized\n"
    assert list_surrogates(lines) == (*entries.split(), "lily")
    assert list_surrogates(b"") == ()


@given(st.lists(st.lists(st.text("abé語", min_size=1, max_size=12), max_size=40), max_size=4))
def test_words_are_found_in_the_first_list_that_has_them(lists: list[list[str]]) -> None:
    """Among them are words of one code: the first eight bytes twice, and the same letters in the other half.

    The second and the fourth list have theirs in capitals alone.
    """
    lists = [[*words, *(word + "语" * 9 for word in words), "a" * 16, "b" * 16, "a" * 8 + "b" * 8] for words in lists]
    marks = ["", "\tcapitalized,member-only", "\tmember-only", "\tcapitalized"]
    listed = ListedWordIndex(
        ["".join(f"{word}{mark}\n" for word in words).encode() for words, mark in zip(lists, marks, strict=False)]
    )
    asked = [*{"", "a", "ab", "b" * 8 + "a" * 8, "\udc80", *(word for words in lists for word in words)}]
    for case in (LOWER, TITLE):
        together = listed.find_lists(asked, [case] * len(asked))
        for place, word in enumerate(asked):
            having = [n for n, words in enumerate(lists) if word in words and (case == TITLE or n % 2 == 0)]
            assert listed.find_list(word, case) == together[place] == (having[0] if having else None)


def test_many_words_are_of_the_kinds_that_each_is_of() -> None:
    kinds = EntityTypes(
        [EntityType("odd", None, b"cat\ndog\tcapitalized\n", ("cat",)), EntityType("even", None, b"dog\n", ("dog",))]
    )
    words = [(word, case) for word in ("cat", "dog", "cow") for case in (LOWER, TITLE, UPPER)]
    assert kinds.find_word_types(*map(list, zip(*words, strict=True))) == [
        kinds.find_word_type(*word) for word in words
    ]
    assert kinds.find_word_types(["dog", "dog"], [LOWER, TITLE]) == [1, 0]
    assert EntityTypes([]).find_word_types(["cat"], [LOWER]) == [None]


def test_the_lists_of_the_built_in_bundle_pass_the_checks_that_no_start_repeats() -> None:
    bundle = open_bundle(DEFAULT_BUNDLE, TextBundle)
    assert bundle.is_builtin
    assert bundle.template is not None
    for kind in bundle.template.entity_types:
        decode_list({"list": kind.utf_8}, "list")
        assert parse_entity_type(kind.name, kind.shape, kind.utf_8) == parse_entity_type(
            kind.name, kind.shape, kind.utf_8, is_checked=True
        )


NO_ENTRY, NO_MARK = (
    "line 1 of an entity type occurs twice, or is not an entry in lower case",
    "line 1 of an entity type has an unknown flag",
)


@pytest.mark.parametrize(
    ("shape", "text", "message"),
    [
        (None, "", NO_ENTRY),
        (None, "\n", NO_ENTRY),
        (None, "a\tmember-only\n", "an entity type has no surrogates"),
        (None, "a\na\n", "line 2 of an entity type occurs twice"),
        (None, "A\n", NO_ENTRY),
        (None, "ﬁne\n", NO_ENTRY),
        (None, "a’b\n", NO_ENTRY),
        (None, "a\tnonsense\n", NO_MARK),
        (None, "a\t\n", NO_MARK),
        (None, "a\tcapitalized\tmember-only\n", NO_MARK),
        (None, "a\tmember-only,capitalized\n", NO_MARK),
        (None, "new york\n", NO_ENTRY),
        (None, "mary's\n", NO_ENTRY),
        (None, "a4\n", NO_ENTRY),
        (None, "a\x1b[31m\n", NO_ENTRY),
        (None, "a\r\nb\r\n", NO_ENTRY),
        (None, "...\n", NO_ENTRY),
        ("number", "b2b\n", NO_ENTRY),
        ("number", "5\tmember-only\n", NO_MARK),
        ("other", ":)\n", NO_ENTRY),
        ("other", "cat\n", NO_ENTRY),
        ("other", "X7-q\n", NO_ENTRY),
        ("shape", "5\n", "an entity type has a shape that the format does not define"),
    ],
)
def test_damaged_files_are_refused(shape: str | None, text: str, message: str) -> None:
    with pytest.raises(BundleDamaged, match=f"^{message}[^\n]*$"):
        parse_entity_type("x", shape, text.encode())
