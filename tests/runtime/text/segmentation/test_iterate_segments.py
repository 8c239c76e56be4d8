"""Long texts have the same segments as short ones, in time linear in their length."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from signs import JOINED, WORDS
from textveil.text import segmentation

# --- long input ----------------------------------------------------------------------------------------------------

LONG = {
    **JOINED,
    **WORDS,
    "letters": "a",
    "letters é": "é",
    "dots": ".",
    "at signs": "@",
    "digits": "1",
    "abbreviation": "a.",
    "schemes": "://",
    "www": "www.",
    "percent": "%aa",
    "bare percent": "%a",
    "underscores": "_",
    "underscores é": "_é",
    "quotes": "'",
    "letters and quotes": "é'",
    "hebrew and quotes": 'א"',
    "long domains": ".aaaaaaaaaaaaaaaaaaaaaaaaa",
    "long domains é": ".éééééééééééééééééééééééé",
    "numbers": "1 ",
    "numbers é": "é1 ",
    "at signs in quotes": '@"',
    "trimmed": "1................ ",
    "ideographs": "中",
    "katakana": "ア",
    "blanks": " ",
    "numbers in pairs of brackets": "((1) ",
    "brackets that close nothing": "1)) (",
    "short words after eyes": ":a",
    "backslashes": "\\",
    "hosts": "a.com;",
}


@pytest.mark.slow
@pytest.mark.parametrize("length", [40_000, pytest.param(250_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("unit", LONG.values(), ids=LONG.keys())
def test_long_runs_are_cut_in_linear_time(unit: str, length: int) -> None:
    """Up to a quarter of a million characters of one kind each; anything worse than linear would take minutes."""
    text = unit * max(1, length // len(unit))
    assert "".join(segmentation.split_text(text)) == text
    assert "".join(segmentation.split_text("é " + text)) == "é " + text


@pytest.mark.slow
@pytest.mark.parametrize("length", [100_000, pytest.param(6_000_000, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "unit", ["a", "1", ".", "%aa", "://", "a.a.@1 (((((((((((((((((((((((((", "é", 'אב"', "😀\u200d", "_é"]
)
def test_a_long_line(unit: str, length: int) -> None:
    """Very many characters, also in one word."""
    text = unit * (length // len(unit)) + "é"
    assert "".join(segmentation.split_text(text)) == text


@settings(max_examples=1000)
@given(
    st.text(max_size=60) | st.text(st.sampled_from("ab1@.'\"’é \u0308\u00ad\u200d🚀\u2003\u202f\t\n_-“ "), max_size=60)
)
@example("a \u0308b")
@example("aa @ bb")
@example("a\u2003 b")
def test_a_long_text_has_the_segments_of_a_short_one(text: str) -> None:
    for apart in (False, True):
        assert list(segmentation.iterate_split_text(text, marks_apart=apart)) == segmentation.split_text(
            text, marks_apart=apart
        )
