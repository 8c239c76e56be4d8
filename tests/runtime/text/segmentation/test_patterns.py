"""Segments that are words, by hand; tests/contract/test_golden_segments.py compares random ones."""

import pytest
from textveil.text import segmentation

# "|" stands between segments.
BOUNDARIES = [
    "straße| |жук| |Ωμέγα",
    "aб",
    "a\u0308\u200db",
    "e\u0301\u00adt\u2060e",
    "can't",
    "can’t",
    "l'aîné",
    "a:b·c",
    "a|'",
    "a|..|b",
    "'|a|'",
    "a|, |b",
    "a|-|b",
    "a|_",
    "_|a",
    "a|-_|b",
    "a|\u202f|b",
    "a|\r\n|b",
    "a|\x0b|b|\x0c|c|\u2028|d",
    "U.S|. |Ph.D",
    "a|:|)|b",
]


@pytest.mark.parametrize("expected", BOUNDARIES)
def test_boundaries_by_hand(expected: str) -> None:
    assert segmentation.split_text(expected.replace("|", "")) == expected.split("|")
