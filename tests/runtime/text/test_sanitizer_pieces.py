"""``Sanitizer`` over WordPieces."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from strange_texts import reading, strange_texts
from textveil import Sanitizer
from textveil.text import segmentation

# --- WordPiece bundles ---------------------------------------------------------------------------------------------


@pytest.fixture
def one_piece(make_bundle: Callable[..., Path], nearest: None) -> Sanitizer:
    """WordPieces of which only ``piano`` is drawn, and the common whole words are kept."""
    spelled = "the of and in said a ##s un ##aff ##able , ' t cafe 19 doctor ##psy piano ##rare"
    words = spelled.split()
    common = {"the", "of", "and", "in", "said", "a", "cafe"}
    never = [word for word in words if word not in {*common, "piano", "##rare"}]
    return Sanitizer.load(make_bundle(words, tokens="wordpiece", share=1, allow=common, never=never, k=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected", "tokens"),
    [
        ("the", "the", 1),
        ("The doctor said", "The piano said", 3),
        ("unaffable", "pianopianopiano", 3),
        ("Unaffable.", "Pianopianopiano.", 3),
        ("thes", "pianopiano", 2),
        ("THES", "PIANOPIANO", 2),
        ("xqj", "piano", 1),
        ("19", "piano", 1),
        ("a19", "piano", 1),
        ("Café", "Cafe", 1),
        ("the@and", "piano", 1),
        ("don't", "pianopianopiano", 3),
        ("中文", "piano", 1),
        ("the\0", "piano", 1),
        ("\u200b", "piano", 1),
        ("the\u00adof", "piano", 1),
        ("[UNK] ##s", "[PIANO] ##piano", 2),
    ],
)
def test_whole_words_are_cut_into_pieces(
    one_piece: Sanitizer, keep_all: None, text: str, expected: str, tokens: int
) -> None:
    """Pieces are joined without ``##``; only a common word in one piece is ever kept."""
    result = one_piece.sanitize(text)
    assert result.text == expected
    assert result.tokens == tokens


@settings(reading, max_examples=200)
@given(strange_texts)
def test_pieces_take_any_text(pieces: Sanitizer, text: str) -> None:
    result = pieces.sanitize(text, mechanism="random")
    result.text.encode("utf-8")
    gaps = [segment for segment in segmentation.split_text(text) if segmentation.is_gap(segment)]
    assert "##" not in result.text or any("#" in gap for gap in gaps)


def test_pieces_in_strict_mode(one_piece: Sanitizer) -> None:
    assert one_piece.sanitize("Unaffable, the!").text == "Pianopianopiano, Piano!".replace("Piano!", "piano!")
    strict = one_piece.sanitize("Unaffable, the!", sanitize_punctuation=True)
    assert (strict.text, strict.tokens) == ("pianopianopiano piano piano piano", 6)


def test_a_string_of_a_wordpiece_bundle_has_the_law_of_the_unknown(pieces: Sanitizer) -> None:
    """``distribution`` reports the distribution of ``sanitize``, also for a number in the vocabulary."""
    assert pieces.distribution("19") == pieces.distribution("20")
    assert pieces.distribution("19").symbol == "<unk>"
