"""Additional detectors read outputs alone, and can only hide more."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.errors import DetectorFailed, OptionError
from textveil.text.names.detector import HIDDEN_MARKER, hide_detected_spans

SECRET = "Zelphina"


def sanitizer(names: Path, also: Callable) -> Sanitizer:
    return Sanitizer(Sanitizer.load(names).bundle, detector=also)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], "one two three"),
        ([(4, 7)], f"one {HIDDEN_MARKER} three"),
        ([(8, 13), (0, 3)], f"{HIDDEN_MARKER} two {HIDDEN_MARKER}"),
        ([(0, 5), (4, 7), (1, 2)], f"{HIDDEN_MARKER} three"),
        ([(3, 3)], "one two three"),
        ([[0, 13]], HIDDEN_MARKER),
    ],
)
def test_what_is_found_is_hidden(spans: list, expected: str) -> None:
    assert hide_detected_spans("one two three", lambda text: spans) == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 26)], f"{HIDDEN_MARKER} Anna Novak {HIDDEN_MARKER} Berlin"),
        ([(0, 14)], f"{HIDDEN_MARKER} Anna Novak at Berlin"),
        ([(4, 14)], "ask Anna Novak at Berlin"),
        ([(4, 16)], f"ask Anna Novak {HIDDEN_MARKER}t Berlin"),
        ([(6, 7), (20, 22)], "ask Anna Novak at Berlin"),
        ([(0, 3)], f"{HIDDEN_MARKER} Anna Novak at Berlin"),
    ],
)
def test_surrogates_that_are_to_come_back_stay(spans: list, expected: str) -> None:
    text, kept = "ask Anna Novak at Berlin", [(4, 8), (9, 14), (18, 24)]
    assert hide_detected_spans(text, lambda text: [(a, min(b, len(text))) for a, b in spans], kept) == expected


@pytest.mark.parametrize("spans", [[(0, 99)], [(-1, 2)], [(2, 1)], [(0, 1.0)], [(True, 2)], [(1,)], ["ab"], None, 7])
def test_anything_else_releases_nothing(spans: Any) -> None:
    with pytest.raises(DetectorFailed):
        hide_detected_spans("one two", lambda text: spans)


def test_an_error_of_a_detector_is_not_repeated(names: Path) -> None:
    def failing(text: str) -> list:
        raise ValueError(text)

    with pytest.raises(
        DetectorFailed, match=r"^the external detector raised ValueError; nothing was released$"
    ) as seen:
        sanitizer(names, failing).sanitize(f"we saw {SECRET}", protect="names")
    assert seen.value.__cause__ is None


def test_a_detector_sees_outputs_alone(names: Path) -> None:
    seen = []

    def first_word(text: str) -> list:
        seen.append(text)
        return [(0, text.index(" "))]

    text = f"we saw {SECRET} in {SECRET}ville, 12 people"
    result = sanitizer(names, first_word).sanitize(text, protect="names")
    assert seen
    assert not any(SECRET in one for one in seen)
    assert result.text == HIDDEN_MARKER + seen[0][2:]
    assert result.statement.to_dict()["also"] is True


def test_in_a_conversation_a_detector_hides_what_the_rung_shows(names: Path) -> None:
    talk = Conversation(sanitizer(names, lambda text: [(0, len(text))]))
    sent = talk.outgoing_text(f"we saw {SECRET}")
    assert sent.startswith(f"{HIDDEN_MARKER} ")
    assert talk.incoming(sent).reply == f"{HIDDEN_MARKER} {SECRET}"


def test_other_rungs_take_no_detector(names: Path) -> None:
    with pytest.raises(OptionError, match="an external detector works only with the mode 'names'"):
        sanitizer(names, lambda text: []).sanitize("we", protect="words")
