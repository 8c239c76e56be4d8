"""Patterns of own types: the subset that is read, whole words, the longest match, and surrogates of a layout."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil.errors import OptionError
from textveil.text.names.own_patterns import (
    MAX_MATCH,
    MAX_PATTERNS,
    MAX_POOL,
    PatternMatcher,
    count_layout_surrogates,
    format_layout,
    parse_layout,
    spell_layout_surrogate,
)

#: Patterns that Python's own engine reads too, without ambiguity about what a whole word is.
PATTERNS = [
    r"EMP[0-9]{5}",
    r"[A-Z]{2,4}-\d{1,5}",
    r"(?:ab|cd){1,3}x?",
    r"a+b*c",
    r"(a|ab)(c|bcd)?",
    r"[a-c]{2,}",
    r"\w{3}-[a-z]+",
    r"x(?:y(?:z|w){2}|v)?",
    r"No\. [0-9]{1,4}",
    r"#[0-9]{2}",
]


def find_all(matcher: PatternMatcher, text: str) -> list[str]:
    """Return all matches of a text."""
    found, position = [], 0
    while match := matcher.find_next(text, position):
        found.append(text[match.start : match.end])
        position = match.end
    return found


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(a+)+$", "repeats a group without a limit"),
        ("(a|aa)+", "repeats a group without a limit"),
        ("(a*){2,}", "repeats a group without a limit"),
        ("a*", "matches the empty string"),
        ("", "matches the empty string"),
        ("(|a)", "matches the empty string"),
        (r"\b", "matches the empty string"),
        (" ", "begins or ends with a blank"),
        (" a", "begins or ends with a blank"),
        ("[a ]", "begins or ends with a blank"),
        (r"(a)\1", "has an escape or a back reference"),
        (r"\s", "has an escape or a back reference"),
        (r"\p{L}", "has an escape or a back reference"),
        ("a(?=b)", 'has a group that begins with "(?"'),
        ("(?i)a", 'has a group that begins with "(?"'),
        ("(?P<n>a)", 'has a group that begins with "(?"'),
        ("a+?", "repeats a repetition"),
        ("a{2}{3}", "repeats a repetition"),
        ("a{3,1}", "below its minimum"),
        ("a{0}", "below its minimum"),
        ("a{", 'has a "{" without a repetition of at most 999 times, such as {2}: write one, or remove the bracket'),
        ("a{1000000}", 'has a "{" without a repetition of at most 999 times, such as {2}'),
        ("a{,3}", 'has a "{" without a repetition of at most 999 times, such as {2}: write one, or remove the bracket'),
        ("*a", "has a repetition with nothing before it"),
        ("^a$", "has the special character ^"),
        ("a.c", "has the special character .:"),
        ("[^a]", "has a negated class such as [^a]"),
        ("[]", "has an empty class"),
        ("[a", "has a character class without a closing ]"),
        ("[z-a]", "in the wrong order"),
        (r"[a-\d]", "in the wrong order"),
        ("(a", "has a group without a closing bracket"),
        ("a)", "has a closing bracket without an opening one"),
        ("[\u00e4\u00f6]", "patterns match printable ASCII"),
        ("caf\u00e9", "patterns match printable ASCII"),
        ('a"b', "patterns match printable ASCII"),
        ("a\nb", "patterns match printable ASCII"),
        (r"a\{b", "patterns match printable ASCII"),
        ("a{999}", "too large"),
        ("((a{20}){20}){20}", "too large"),
        ("((()){999}){999}a", "too large"),
        ("(" * 30 + "a" + ")" * 30, "has more than 20 groups inside each other"),
        ("a" * 201, "more than 200 characters"),
    ],
)
def test_a_pattern_outside_the_subset_is_refused_without_its_text(pattern: str, problem: str) -> None:
    with pytest.raises(OptionError) as caught:
        PatternMatcher({"first": "b1", "own": pattern})
    message = str(caught.value)
    assert message.startswith("patterns: pattern 2 ")
    assert problem in message
    assert "\n" not in message
    assert len(message) < 170
    assert len(pattern) < 5 or pattern not in message


@pytest.mark.parametrize("name", ["", "Employee", "em ployee", "1a", "a-", "a" * 33, "em\u00e9", "a]", "person", "x\n"])
def test_a_name_that_is_not_supported_or_built_in_is_refused(name: str) -> None:
    with pytest.raises(
        OptionError, match=r"^patterns: the name of pattern 1 is (not supported|that of a built-in type)"
    ):
        PatternMatcher({name: "a1"}, frozenset(("person",)))


def test_there_are_at_most_32_patterns() -> None:
    patterns = {f"t{number}": "a1" for number in range(MAX_PATTERNS)}
    assert PatternMatcher(patterns).find_next("a1", 0)
    with pytest.raises(OptionError, match=r"^patterns: more than 32 patterns"):
        PatternMatcher({**patterns, "one-more": "a1"})


@pytest.mark.parametrize("pattern", PATTERNS)
@given(st.text("ab cdxyzwvEMPNo.#01-_2", max_size=40))
def test_matches_are_those_of_a_backtracking_engine_at_word_boundaries(pattern: str, text: str) -> None:
    """Python's engine takes the first alternative, so every end is tried, the longest first."""
    engine, expected, position = re.compile(pattern), [], 0
    while position < len(text):
        ends = range(len(text), position, -1) if not position or not _is_word(text[position - 1]) else ()
        end = next((e for e in ends if not _is_word(text[e : e + 1]) and engine.fullmatch(text, position, e)), 0)
        expected += [text[position:end]] if end else []
        position = end or position + 1
    assert find_all(PatternMatcher({"own": pattern}), text) == expected


def _is_word(character: str) -> bool:
    return character != "" and (character.isalnum() or character == "_")


def test_a_match_is_a_whole_word() -> None:
    matcher = PatternMatcher({"employee": r"\bEMP\d{5}\b"})
    for text in ("EMP12345", "(EMP12345)", "EMP12345's", "x-EMP12345.", "\u00abEMP12345\u00bb", "EMP12345\nb"):
        assert find_all(matcher, text) == ["EMP12345"]
    for text in ("xEMP12345", "EMP123456", "EMP12345x", "_EMP12345", "EMP12345_", "\u00e9EMP12345", "EMP12345\u0301"):
        assert find_all(matcher, text) == []


def test_the_first_pattern_has_an_equally_long_match_and_the_longer_match_counts() -> None:
    match = PatternMatcher({"a1": "[a-z]{3}", "a2": "abc", "a3": "abc d"}).find_next
    first, longer = match("abc", 0), match("abc d", 0)
    assert first is not None
    assert longer is not None
    assert (first.entity_type, first.layout) == ("a1", "[a-z]{3}")
    assert (longer.entity_type, longer.layout) == ("a3", "abc d")


def test_a_match_has_at_most_64_characters() -> None:
    matcher = PatternMatcher({"own": "a+"})
    assert find_all(matcher, "a" * MAX_MATCH) == ["a" * MAX_MATCH]
    assert find_all(matcher, "a" * (MAX_MATCH + 1)) == []


def test_patterns_on_which_engines_backtrack_take_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of steps is counted, not the time."""
    matcher = PatternMatcher({"own": "(?:a{0,9}a{0,9}){0,9}b"})
    steps, step = [], PatternMatcher._step
    monkeypatch.setattr(PatternMatcher, "_step", lambda self, *args: steps.append(0) or step(self, *args))
    text = " ".join(["a" * 60] * 200)
    assert find_all(matcher, text) == []
    assert len(steps) <= len(text)


LAYOUTS = ["EMP[0-9]{5}", "[A-Z]{2}\\-[0-9]{4}", "[a-c]{3}x", "a\\.b[0-9a-f]{4}", "\\#[ab]", "[0-9_]{2} [xy]"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_a_pattern_that_its_surrogates_match(layout: str) -> None:
    matcher, size = PatternMatcher({"own": layout}), count_layout_surrogates(layout)
    assert format_layout(parse_layout(layout)) == layout
    for index in {*range(min(size, 300)), size - 1}:
        match = matcher.find_next(spell_layout_surrogate(layout, index), 0)
        assert match is not None
        assert match.layout == layout
    assert len({spell_layout_surrogate(layout, index) for index in range(min(size, 5000))}) == min(size, 5000)


@given(st.lists(st.text(string.ascii_letters + "0123456789-_.#:/+,;!", min_size=1, max_size=9), min_size=1, max_size=9))
def test_every_layout_is_read_back(classes: list[str]) -> None:
    sorted_classes = ["".join(sorted({*members})) for members in classes]
    assert list(parse_layout(format_layout(sorted_classes))) == sorted_classes


def test_the_surrogates_of_a_layout_are_all_its_strings() -> None:
    expected = {f"{first}{second}-{digit}" for first in "ab" for second in "ab" for digit in "012"}
    assert {spell_layout_surrogate("[ab]{2}\\-[0-2]", index) for index in range(12)} == expected
    assert count_layout_surrogates("[ab]{2}\\-[0-2]") == 12


def test_of_a_long_layout_the_last_positions_vary() -> None:
    size = count_layout_surrogates("[A-Za-z]{40}")
    assert size == 52**9 <= MAX_POOL < 52**10
    assert spell_layout_surrogate("[A-Za-z]{40}", size - 1) == "A" * 31 + "z" * 9
