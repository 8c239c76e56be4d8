"""``Encoder`` releases vectors, and refuses invalid input."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_encoders import DIMENSION, SECRET, ids, load_encoder
from small_label_bundle import write_index
from textveil import Encoder, TextLabelEncoder, VectorRelease
from textveil.bundle import VectorBundle, open_bundle
from textveil.errors import InputError, ModelNotExpected, OptionError, UnknownLevel

reading = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


# --- what is released ----------------------------------------------------------------------------------------------


def test_a_release(encoder: Encoder) -> None:
    release = encoder.encode("the doctor said", epsilon=8.0, word_dropout=0.3)
    assert isinstance(release, VectorRelease)
    assert (release.vector.dtype, release.vector.shape) == (np.float32, (DIMENSION,))
    assert (release.integers.dtype, release.integers.shape) == (np.int64, (DIMENSION,))
    statement = release.statement.to_dict()
    assert (statement["epsilon_text"], statement["word_dropout"]) == (8, "0.3")
    assert (statement["noise_mode"], statement["dimension"], statement["grid"]) == ("l1", DIMENSION, 64)
    assert statement["bundle"] == encoder.bundle.content_hash
    assert 7.6 < statement["epsilon_per_word"] < 8
    assert encoder.statement(epsilon="8", word_dropout="0.3") == release.statement
    assert encoder.encode("").statement.to_dict()["epsilon_text"] == 4
    assert any("encoding the same text again" in item for item in release.statement.not_protected)


def test_the_statement_does_not_depend_on_the_text(encoder: Encoder) -> None:
    texts = ("", "the", "broken", "the " * 100, SECRET)
    assert len({json.dumps(encoder.encode(text).statement.to_dict()) for text in texts}) == 1


def test_options_of_earlier_calls_are_forgotten(encoder: Encoder) -> None:
    for number in range(10, 60):
        statement = encoder.encode("the", word_dropout=f"0.{number}").statement.to_dict()
        assert statement["word_dropout"] == f"0.{number}"
        assert len(encoder._plans) <= 16


def test_each_coordinate_has_noise_of_its_own(encoder: Encoder) -> None:
    """One scalar for all coordinates would cancel in their differences (the published code)."""
    drawn = np.array([encoder.encode("the doctor").integers for _ in range(300)])
    for first in range(DIMENSION):
        for second in range(first):
            assert len(np.unique(drawn[:, first] - drawn[:, second])) > 50
    assert len(np.unique(drawn, axis=0)) > 290  # and every call draws afresh
    spread = np.abs(drawn - np.median(drawn, axis=0)).mean()
    assert 24 < spread < 42  # a discrete Laplace of scale 32 has mean distance 32; 1,200 draws


@pytest.mark.usefixtures("bare")
def test_what_is_not_finite_is_the_fixed_point(encoder: Encoder) -> None:
    release = encoder.encode("the broken doctor")
    assert release.notes.is_zero_vector
    assert (release.integers == 0).all()
    assert not encoder.encode("the doctor").notes.is_zero_vector


@reading
@given(st.text(max_size=200), st.sampled_from(["1", "4", "8"]), st.sampled_from(["0", "0.1", "0.9"]))
def test_any_text(encoder: Encoder, text: str, epsilon: str, word_dropout: str) -> None:
    release = encoder.encode(text, epsilon=epsilon, word_dropout=word_dropout)
    margin = 64 + 8 * 128 // int(epsilon) + 1
    assert np.abs(release.integers).max() <= margin
    assert np.isfinite(release.vector).all()


def test_a_batch_is_one_text_after_the_other(encoder: Encoder, seen: list[list[int]]) -> None:
    done: list[int] = []
    releases = encoder.encode_batch(["the", "", "doctor"], epsilon=1, progress=done.append)
    assert seen == [ids("the"), ids(""), ids("doctor")]
    assert done == [1, 2, 3]
    assert [release.statement.to_dict()["epsilon_text"] for release in releases] == [1, 1, 1]
    assert encoder.encode_batch([]) == []


def test_two_threads_give_the_same(tiny_encoder: Path, encoder: Encoder) -> None:
    both = load_encoder(tiny_encoder, threads=2)
    assert (
        both._extractor.session.run_model(ids("the doctor")) == encoder._extractor.session.run_model(ids("the doctor"))
    ).all()
    for threads in (0, 3, -1):
        with pytest.raises(OptionError):
            load_encoder(tiny_encoder, threads=threads)


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0, -1, 5, 4.0000001, "nan", float("inf"), "", SECRET])
def test_an_epsilon_that_is_no_level(encoder: Encoder, epsilon: float | str) -> None:
    with pytest.raises(UnknownLevel, match=r"has the levels \(epsilon of the whole text\) 1, 4, 8$"):
        encoder.encode("the", epsilon=epsilon)


@pytest.mark.parametrize("word_dropout", [1, 1.5, -0.1, "nan", float("inf"), "", SECRET])
def test_a_word_dropout_out_of_range(encoder: Encoder, word_dropout: float | str) -> None:
    with pytest.raises(OptionError, match="word dropout") as caught:
        encoder.encode("the", word_dropout=word_dropout)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", [None, b"the", 7, ["the"]])
def test_a_text_that_is_none(encoder: Encoder, text: object) -> None:
    with pytest.raises(InputError):
        encoder.encode(text)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="text 2 of 2"):
        encoder.encode_batch(["the", text])  # type: ignore[list-item]


def test_a_model_that_nobody_pinned_is_not_run(tiny_encoder: Path, encoder: Encoder, tmp_path: Path) -> None:
    """Neither of vectors nor of indices; a static extractor needs no pin."""
    with pytest.raises(ModelNotExpected, match=f"--expect-id {encoder.bundle.content_hash} "):
        Encoder.load(tiny_encoder)
    assert TextLabelEncoder.load(write_index(tmp_path / "static")).encode("the").line
    with pytest.raises(ModelNotExpected):  # whichever door it came through
        Encoder(open_bundle(tiny_encoder, VectorBundle))
