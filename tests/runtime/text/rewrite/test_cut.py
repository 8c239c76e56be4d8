"""What a call remembers to be quick has a cap, and forgetting it changes nothing that comes out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mention_checks import stream
from textveil import Sanitizer
from textveil.mechanisms import entropy
from textveil.text.rewrite import cut, rewriter
from textveil.text.rewrite.cut import SegmentReader, SegmentTable

#: Reader come again in other texts, also words of several tokens, and what stands at the start of a sentence.
TEXTS = [
    "the doctor, The John's: don't 5. Zorblax",
    "",
    "was: a cancer; nurse\nThe zorblax JOHN's 5",
    "Zorblax the 5 don't. The doctor",
    "Mary nurse, 12 (3) 4 x7",
    "JOHN's zorblax: The cancer was a nurse",
] * 3
WAYS: list[dict[str, Any]] = [
    {},
    {"protect": "all"},
    {"sanitize_punctuation": True},
    {"deny": ["doctor"]},
    {"consistent": True},
    {"consistent": True, "protect": "all"},
]


@pytest.fixture
def drawn(small: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any], int], list[Any]]:
    """Sanitizes the texts, each as a batch of its own, where a call remembers so many pieces."""

    def draw(way: dict[str, Any], most: int) -> list[Any]:
        with monkeypatch.context() as patch:
            patch.setattr(cut, "_MAX_NUMBERS", most)
            patch.setattr(rewriter, "MAX_BATCH_CHARACTERS", 1)
            # The order of consistent draws is that in which words were met: there all draws have one word.
            one = "consistent" in way
            patch.setattr(entropy, "random_uint64", (lambda n: np.full(n, 10**17, np.uint64)) if one else stream(3))
            results = small.sanitize_batch(TEXTS, **way)
        return [(result.text, result.statement.to_dict()) for result in results]

    return draw


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_is_forgotten_makes_no_difference(drawn: Callable[..., list[Any]], way: dict[str, Any]) -> None:
    remembered = drawn(way, 1 << 18)
    for most in (0, 3, 9, 14):
        assert drawn(way, most) == remembered


@pytest.mark.parametrize("as_segments", [False, True])
def test_a_call_remembers_no_more_than_its_cap(
    small: Sanitizer, as_segments: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the words of one batch: it forgets before it reads on."""
    monkeypatch.setattr(cut, "_MAX_NUMBERS", 40)
    pieces = SegmentReader(small._get_plan({}))  # type: ignore[arg-type]
    most = 0
    for number in range(0, 500, 5):
        words = [f"word{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(number, number + 5)]
        if as_segments:
            pieces.read_segments([words])
        else:
            pieces.read_texts([" ".join(words)])
        most = max(most, len(pieces._chunk_numbers), len(pieces.segments.numbers), len(pieces.segments.entries))
    assert 40 < most <= 40 + 12


# --- planted faults -------------------------------------------------------------------------------------------------


def numbers_alone(self: SegmentReader) -> None:
    """Plant a fault: the segments of pieces are kept, the numbers of pieces are not."""
    if len(self._chunk_numbers) > cut._MAX_NUMBERS:
        self._chunk_numbers.clear()


def segments_alone(self: SegmentReader) -> None:
    """Segments are forgotten, and the pieces that they are in are not."""
    if len(self._chunk_numbers) > cut._MAX_NUMBERS:
        self.segments = SegmentTable(self._plan)


def never(self: SegmentReader) -> None:
    """Nothing is forgotten."""


@pytest.mark.parametrize("forget", [numbers_alone, segments_alone])
def test_forgetting_one_half_is_seen(
    forget: Callable[[SegmentReader], None], drawn: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SegmentReader, "_clear_if_large", forget)
    with pytest.raises((AssertionError, IndexError)):
        test_what_is_forgotten_makes_no_difference(drawn, {})


@pytest.mark.parametrize("as_segments", [False, True])
def test_a_cap_that_is_never_reached_is_seen(
    small: Sanitizer, as_segments: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SegmentReader, "_clear_if_large", never)
    with pytest.raises(AssertionError):
        test_a_call_remembers_no_more_than_its_cap(small, as_segments, monkeypatch)
