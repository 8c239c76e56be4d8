"""What reaches the model of a text, and words that are dropped before."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper
from small_encoders import DIMENSION, POSITIONS, SECRET, ids, load_encoder, model_of, write_encoder
from textveil import Encoder


def by_hand(pieces: str, mode: str = "l1", grid: int = 64) -> NDArray[np.int64]:
    """Compute the tiny graph in numpy, and round to the grid toward zero."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in model_of(mode).graph.initializer}
    numbers = ids(pieces)
    head = (stored["embeddings"][numbers] + stored["positions"][: len(numbers)]).mean(axis=0) @ stored["projection"]
    if mode == "box":
        bounded = (head - head.min()) / (head.max() - head.min())
    else:
        bounded = head / max(1, np.abs(head).sum() if mode == "l1" else np.sqrt((head**2).sum()))
    return np.trunc(bounded.astype(np.float64) * grid).astype(np.int64)


# --- what reaches the model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ""),
        (" \n\t", ""),
        ("The doctor said,", "the doctor said ,"),
        ("Doctors' unaffable", "doctor ##s ' un ##aff ##able"),
        (SECRET, "[UNK] [UNK]"),
        ("[MASK] [CLS]", "[UNK] [UNK] [UNK] [UNK] [UNK] [UNK]"),  # plain text, not control symbols
        ("\ud800the\x00", "the"),
        ("the " * 14, "the " * 14),
    ],
)
@pytest.mark.usefixtures("bare")
def test_a_text_becomes_its_pieces(encoder: Encoder, seen: list[list[int]], text: str, pieces: str) -> None:
    release = encoder.encode(text)
    assert seen == [ids(pieces)]
    assert not release.notes.is_truncated
    assert np.abs(release.integers - by_hand(pieces)).max() <= 1
    assert (release.vector == release.integers.astype(np.float32) / 64).all()


@pytest.mark.parametrize(("mode", "delta"), [("l1", None), ("l2", "1e-6"), ("box", None)])
@pytest.mark.usefixtures("bare")
def test_every_mode_is_computed_right(tmp_path: Path, mode: str, delta: str | None) -> None:
    encoder = load_encoder(write_encoder(tmp_path / mode, noise_mode=mode, delta=delta, grid=32))
    for text in ("", "the doctor", "of the nurse said un"):
        assert np.abs(encoder.encode(text).integers - by_hand(text, mode, 32)).max() <= 1


def test_a_long_text_is_cut_and_that_is_said_here_alone(encoder: Encoder, seen: list[list[int]]) -> None:
    long = encoder.encode("the doctor said " * 200)
    assert len(seen[0]) == POSITIONS
    assert seen[0] == ids("the doctor said " * 4 + "the doctor")
    assert long.notes.is_truncated
    short = encoder.encode("the")
    assert not short.notes.is_truncated
    assert long.statement == short.statement
    assert "truncated" not in repr(long)
    assert repr(long.statement) == repr(short.statement)
    assert encoder.encode("unaffable " * 5).notes.is_truncated  # in the middle of a word


def test_a_text_of_five_megabytes(encoder: Encoder) -> None:
    assert encoder.encode("the doctor, " * 430_000).notes.is_truncated


# --- word dropout --------------------------------------------------------------------------------------------------


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Scripts the coins of the words: ``x`` is dropped."""

    def script(pattern: str) -> None:
        def words(count: int) -> NDArray[np.uint64]:
            assert count == len(pattern)
            return np.array([0 if coin == "x" else 2**64 - 1 for coin in pattern], np.uint64)

        monkeypatch.setattr("textveil.mechanisms.entropy.random_uint64", words)

    return script


@pytest.mark.usefixtures("bare")
def test_a_dropped_word_is_gone_with_all_its_pieces(
    encoder: Encoder, seen: list[list[int]], coins: Callable[[str], None]
) -> None:
    coins("-x--")
    first = encoder.encode("the unaffable nurse said", word_dropout="0.3")
    other = encoder.encode("the boston nurse said", word_dropout="0.3")
    foreign = encoder.encode(f"the {SECRET.split()[0]} nurse said", word_dropout=0.3)
    coins("---")
    without = encoder.encode("the nurse said", word_dropout=0.3)
    assert seen == [ids("the nurse said")] * 4
    assert (first.integers == without.integers).all()
    assert (other.integers == without.integers).all()
    assert (foreign.integers == without.integers).all()


@pytest.mark.usefixtures("bare")
def test_words_are_dropped_before_the_text_is_cut(
    encoder: Encoder, seen: list[list[int]], coins: Callable[[str], None]
) -> None:
    coins("x" * 14 + "-" * 14)
    release = encoder.encode("the " * 14 + "nurse " * 14, word_dropout="0.5")
    assert seen == [ids("nurse " * 14)]
    assert not release.notes.is_truncated
    coins("x" * 5)
    encoder.encode("the doctor said , of", word_dropout="0.99")
    assert seen[-1] == ids("")


def test_without_dropout_no_coin_is_thrown(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def counted(count: int) -> NDArray[np.uint64]:
        drawn.append(count)
        return np.frombuffer(os.urandom(8 * count), dtype="<u8")

    monkeypatch.setattr("textveil.mechanisms.entropy.random_uint64", counted)
    encoder.encode("the doctor said")
    assert drawn == [DIMENSION]
    encoder.encode("the doctor said", word_dropout="0.25")
    assert drawn == [DIMENSION, 3, DIMENSION]
