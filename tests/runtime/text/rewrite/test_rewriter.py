"""Texts under the staircase: previews, long and unusual texts, sanitized punctuation, dropped case."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from small_staircase import WORDS as PLAIN
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.text.rewrite import rewriter
from textveil.text.rewrite.cut import KEPT, RANDOMIZED, REPLACED, ROW_LENGTH, UNCHANGED, SegmentReader, SegmentTable
from textveil.text.segmentation import is_gap, split_text
from textveil.text.token_rules import TokenRole

WAYS: list[dict[str, Any]] = [
    {},
    {"protect": "all"},
    {"consistent": True},
    {"sanitize_punctuation": True},
    {"deny": ["doctor", "The", "John"]},
]
WORDS = "the The a doctor Doctor NURSE zorblax John MAY may don't can't john's doctor's've 5 x7 a@b.co :) 1999".split()
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=3) | st.sampled_from(list(" \n.,:;'\t!-")), max_size=12).map(
    "".join
)
shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@shared
@given(texts, st.sampled_from(WAYS))
def test_the_pieces_of_a_preview_are_the_text(small: Sanitizer, text: str, way: dict[str, Any]) -> None:
    """The number of randomized pieces equals the number of spent tokens."""
    pieces = small.preview(text, **way)
    assert "".join(piece for piece, _ in pieces) == text
    drawn = [piece for piece, what in pieces if what in ("randomized", "unknown")]
    if not way.get("consistent"):
        assert small.sanitize(text, **way).tokens == len(drawn)


@shared
@given(texts, st.sampled_from([way for way in WAYS if "sanitize_punctuation" not in way]))
def test_gaps_stay_and_nothing_unknown_comes_out(small: Sanitizer, text: str, way: dict[str, Any]) -> None:
    out = small.sanitize(text, **way).text
    gaps = "".join(piece for piece, what in small.preview(text, **way) if what == "gap")
    assert all(gaps.count(mark) <= out.count(mark) for mark in set(gaps))
    assert not any(word in out for word in ("zorblax", "Zorblax", "a@b.co", "x7 "))


def test_what_a_preview_says(small: Sanitizer) -> None:
    text = "The doctor, John's zorblax: wasn't 5. The"
    assert small.preview(text) == [
        ("The", "kept"), (" ", "gap"), ("doctor", "randomized"), (", ", "gap"), ("John", "given-name"),
        ("'s", "kept"), (" ", "gap"), ("zorblax", "unknown"), (":", "gap"), (" ", "gap"), ("was", "kept"),
        ("n't", "kept"), (" ", "gap"), ("5", "number"), (". ", "gap"), ("The", "kept"),
    ]  # fmt: skip
    bare = dict(small.preview("The doctor, a. The", sanitize_punctuation=True))
    assert (bare[", "], bare[" "], bare["The"]) == ("punctuation mark", "gap", "unknown")
    with pytest.raises(
        OptionError, match="this bundle contains staircase only: use --bundle artifacts/english-santext"
    ):
        small.preview(text, mechanism="santext")


def test_a_preview_where_everything_is_drawn(tiny: Sanitizer) -> None:
    assert tiny.preview("Doctor's  zorblax,") == [
        ("Doctor", "randomized"), ("'s", "randomized"), ("  ", "gap"), ("zorblax", "unknown"), (",", "gap"),
    ]  # fmt: skip
    assert tiny.unknown_share("Doctor's zorblax") == 1 / 3


def test_the_share_of_unknown_words(small: Sanitizer) -> None:
    assert small.unknown_share("the zorblax, the doctor, John") == 1 / 2
    assert small.unknown_share("the John 5") == small.unknown_share("") == 0
    assert small.unknown_share("qwyx spelt") == 1


@pytest.mark.parametrize(
    "deny", [["doctor"], ["Doctor"], ["\ufeffdoctor"], ["  doctor "], ["a doctor"], ["ｄｏｃｔｏｒ"]]
)
def test_denied_words_are_unknown(small: Sanitizer, deny: list[str]) -> None:
    assert dict(small.preview("the DOCTOR, doctor's", deny=deny))["DOCTOR"] == "unknown"
    assert dict(small.preview("the DOCTOR, doctor's", deny=deny))["doctor"] == "unknown"


@pytest.mark.parametrize(
    ("deny", "text", "expected"),
    [
        ("the", "the", [("the", "unknown")]),
        ("John", "John's", [("John", "unknown"), ("'s", "kept")]),
        ("john's", "John's", [("John's", "unknown")]),
        ("ca", "can't", [("can't", "unknown")]),
        ("can't", "can't", [("can't", "unknown")]),
        ("7", "7", [("7", "unknown")]),
        ("doctor", "nurse", [("nurse", "randomized")]),
    ],
)
def test_what_denying_does(small: Sanitizer, deny: str, text: str, expected: list[tuple[str, str]]) -> None:
    """A clitic after a denied word stays only where any word may have it."""
    assert small.preview(f"my {text}", deny=[deny])[2:] == expected


# --- odd texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("text", ["", " ", "\n", " ,.!?\n\t", "—…“”", ":", "::;"])
def test_texts_of_gaps_only(small: Sanitizer, text: str, way: dict[str, Any]) -> None:
    result = small.sanitize(text, **way)
    assert result.tokens == result.statement.to_dict()["randomized_words"] == 0
    if not way.get("sanitize_punctuation"):
        assert result.text == text
    assert "randomized words: epsilon 0)." in result.statement.summary()


def test_sanitized_punctuation(small: Sanitizer) -> None:
    result = small.sanitize("The  doctor's\nNURSE, was; I!", sanitize_punctuation=True)
    words = result.text.split(" ")
    assert (words[0], words[2], words[5], words[7]) == ("the", "'s", "was", "i")
    assert len(words) == 9
    assert result.text == result.text.lower()
    terms = result.statement.to_dict()
    assert "punctuation and white space" not in terms["revealed_parts"]
    assert "case" not in terms["revealed_parts"]


def test_sanitized_marks_do_not_decide_what_is_visible(small: Sanitizer) -> None:
    """Only the first word of a text starts a sentence: no randomized mark affects the words after it."""
    for mark in (",", ".", "!", "-"):
        pieces = small.preview(f"The nurse{mark} The nurse", sanitize_punctuation=True)
        assert [what for piece, what in pieces if piece == "The"] == ["kept", "unknown"]
        assert small.sanitize(f"The nurse{mark} The nurse", sanitize_punctuation=True).tokens == 3
    assert small.preview("... The", sanitize_punctuation=True)[-1] == ("The", "kept")


# --- long texts ----------------------------------------------------------------------------------------------------


@pytest.fixture
def zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    """One word of entropy for all draws: what comes out is a function of symbols and kinds, whatever the chunks."""
    monkeypatch.setattr(entropy, "random_uint64", lambda count: np.full(count, 10**17, np.uint64))


def test_what_a_call_has_met_makes_no_difference(
    small: Sanitizer, zeros: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["the doctor, The John's: don't 5. Zorblax", "", "The", "was: a cancer; nurse\nThe zorblax JOHN's 5"] * 2
    for way in WAYS:
        plain = [small.sanitize(line, **way) for line in lines]
        with monkeypatch.context() as patch:
            patch.setattr(rewriter, "MAX_BATCH_CHARACTERS", 1)
            patch.setattr(rewriter, "MAX_WHOLE_CHARACTERS", 1)
            assert small.sanitize_batch(lines, **way) == plain


def test_long_documents_alone_are_drawn_in_chunks(small: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    long, real = [], rewriter.LongDocumentRewriter
    monkeypatch.setattr(rewriter, "LongDocumentRewriter", lambda plan, parts: long.append(parts) or real(plan, parts))
    monkeypatch.setattr(rewriter, "MAX_WHOLE_CHARACTERS", 8)
    small.sanitize_batch(["doctor", "the doctor, nurse", "flu"])
    assert long == [("the doctor, nurse",)]


def test_a_document_keeps_each_of_its_texts(small: Sanitizer) -> None:
    documents = [["the", "was the"], [], ["the"], ["the", "was", "the"]]
    assert [document.texts for document in small.sanitize_documents(documents)] == documents


@shared
@given(st.lists(texts | st.text(st.sampled_from("aZé9 .,:;'@\n-\u00a0\u0301日)"), max_size=14), max_size=3))
@example(["", "a:b1 c d", "x  (617) 555-0123 , :) . The", "www.a.b c"])
def test_texts_are_cut_into_the_words_of_their_segments(small: Sanitizer, found: list[str]) -> None:
    plan: Any = small._get_plan({})
    reader = SegmentReader(plan)
    cut = reader.read_texts(found)
    spelled = list(reader.segments.numbers)
    starts = [0, *cut.ends.tolist()]
    for text, start, end in zip(found, starts, cut.ends.tolist(), strict=False):
        parts = [spelled[number] for number in cut.numbers[start:end].tolist()]
        assert "".join(parts) == text
        assert [part for part in parts if part and not is_gap(part)] == [
            part for part in split_text(text) if not is_gap(part)
        ]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_plain_words_are_what_the_rule_says(small: Sanitizer, way: dict[str, Any]) -> None:
    """Words of ASCII letters take a fast path with the same result."""
    plan: Any = small._get_plan(way)  # type: ignore[arg-type]
    met = SegmentTable(plan)
    cases = str, str.lower, str.title, str.upper
    words = sorted({case(word) for word in [*WORDS, *PLAIN, "nursE"] for case in cases})
    words = [word for word in words if word.isascii() and word.isalpha()]
    numbers = [met.numbers[word] for word in words]
    met.add_entries()
    rows = np.array(met.rows).reshape(-1, ROW_LENGTH)
    for word, number in zip(words, numbers, strict=True):
        for starts in (False, True):
            ((_, token),) = plan.rule.classify_token(word, starts_sentence=starts)
            entry = met.entries[number]
            row = rows[entry if entry >= 0 else met.ranges[-2 * (entry + 1) + starts][0]]
            if token.role is TokenRole.KEPT:
                assert row[0] in (UNCHANGED, KEPT)
                continue
            index = plan.find_symbol_id(token) if token.type_index is None else token.type_index
            assert tuple(row[:3]) == (RANDOMIZED if token.type_index is None else REPLACED, index, token.case)


def test_the_output_is_cut_as_the_input(small: Sanitizer) -> None:
    text = "The doctor's nurse, John. A zorblax (flu) wasn't 5"
    for _ in range(20):
        out = small.sanitize(text).text
        assert len(split_text(out)) == len(split_text(text))
        assert [what for _, what in small.preview(out)] == [
            what.replace("unknown", "randomized") for _, what in small.preview(text)
        ]


def test_marks_before_the_first_word_leave_it_the_first() -> None:
    sanitizer = Sanitizer.load()
    for text, drawn in (("The doctor", 1), ("(The doctor", 1), ("doctor The", 2), ("doctor (The", 2)):
        assert sanitizer.sanitize(text, protect="words", sanitize_punctuation=True).tokens == drawn, text
