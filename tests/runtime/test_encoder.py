"""``Encoder``: what reaches the model, what is released, what is said, and what goes wrong by name."""

import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from small_encoders import DIMENSION, MISSING_ROW, POSITIONS, VOCABULARY, model_of, write_encoder
from textveil import Encoder, TextveilError, VectorRelease
from textveil.errors import (
    BundleNotFound,
    EncoderFailed,
    EncoderUnavailable,
    IdentityMismatch,
    InputError,
    OptionError,
    UnknownLevel,
)
from textveil.mechanisms.vector_noise import Releaser
from textveil.vector import onnx_session as module

SECRET = "Zorblaxia 48213977"
NUMBER = {piece: number for number, piece in enumerate(VOCABULARY)}
reading = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> Encoder:
    return Encoder.load(tiny_encoder)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise: what is released is what the noise would be added to."""
    monkeypatch.setattr(Releaser, "release", lambda self, vectors: self.quantize(vectors)[0])


@pytest.fixture
def seen(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The ids of everything the model is given."""
    calls: list[list[int]] = []
    run = encoder._session.run
    monkeypatch.setattr(encoder._session, "run", lambda ids: calls.append(ids) or run(ids))
    return calls


def ids(pieces: str) -> list[int]:
    return [NUMBER[piece] for piece in f"[CLS] {pieces} [SEP]".split()]


def by_hand(pieces: str, mode: str = "l1", grid: int = 64) -> NDArray[np.int64]:
    """The tiny graph in numpy, and the grid: truncated toward zero."""
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
    assert not release.notes.truncated
    assert np.abs(release.integers - by_hand(pieces)).max() <= 1
    assert (release.vector == release.integers.astype(np.float32) / 64).all()


@pytest.mark.parametrize(("mode", "delta"), [("l1", None), ("l2", "1e-6"), ("box", None)])
@pytest.mark.usefixtures("bare")
def test_every_mode_is_computed_right(tmp_path: Path, mode: str, delta: str | None) -> None:
    encoder = Encoder.load(write_encoder(tmp_path / mode, mode=mode, delta=delta, grid=32))
    for text in ("", "the doctor", "of the nurse said un"):
        assert np.abs(encoder.encode(text).integers - by_hand(text, mode, 32)).max() <= 1


def test_a_long_text_is_cut_and_that_is_said_here_alone(encoder: Encoder, seen: list[list[int]]) -> None:
    long = encoder.encode("the doctor said " * 200)
    assert len(seen[0]) == POSITIONS
    assert seen[0] == ids("the doctor said " * 4 + "the doctor")
    assert long.notes.truncated
    short = encoder.encode("the")
    assert not short.notes.truncated
    assert long.statement == short.statement
    assert "truncated" not in repr(long)
    assert repr(long.statement) == repr(short.statement)
    assert encoder.encode("unaffable " * 5).notes.truncated  # in the middle of a word


def test_a_text_of_five_megabytes(encoder: Encoder) -> None:
    assert encoder.encode("the doctor, " * 430_000).notes.truncated


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
    assert not release.notes.truncated
    coins("x" * 5)
    encoder.encode("the doctor said , of", word_dropout="0.99")
    assert seen[-1] == ids("")


def test_every_word_has_a_coin_of_its_own(encoder: Encoder, seen: list[list[int]]) -> None:
    """1,200 coins at one half, and how often two neighbors agree: six standard errors."""
    for _ in range(100):
        encoder.encode("the of and doctor nurse said , . ' un boston the", word_dropout="0.5")
    kept = sum(len(given) - 2 for given in seen)
    assert abs(kept - 600) < 6 * np.sqrt(300)
    both = sum(NUMBER["doctor"] in given and NUMBER["nurse"] in given for given in seen)
    assert 2 < both < 48


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


# --- what is released ----------------------------------------------------------------------------------------------


def test_a_release(encoder: Encoder) -> None:
    release = encoder.encode("the doctor said", epsilon=8.0, word_dropout=0.3)
    assert isinstance(release, VectorRelease)
    assert (release.vector.dtype, release.vector.shape) == (np.float32, (DIMENSION,))
    assert (release.integers.dtype, release.integers.shape) == (np.int64, (DIMENSION,))
    statement = release.statement.to_dict()
    assert (statement["epsilon_whole_text"], statement["word_dropout"]) == (8, "0.3")
    assert (statement["mode"], statement["dimension"], statement["grid"]) == ("l1", DIMENSION, 64)
    assert statement["bundle"] == encoder.bundle.identity
    assert 7.6 < statement["epsilon_per_word"] < 8
    assert encoder.statement(epsilon="8", word_dropout="0.3") == release.statement
    assert encoder.encode("").statement.to_dict()["epsilon_whole_text"] == 4
    assert any("encoding the same text again" in item for item in release.statement.not_protected)


def test_the_statement_does_not_depend_on_the_text(encoder: Encoder) -> None:
    texts = ("", "the", "broken", "the " * 100, SECRET)
    assert len({json.dumps(encoder.encode(text).statement.to_dict()) for text in texts}) == 1


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
    assert release.notes.fixed_point
    assert (release.integers == 0).all()
    assert not encoder.encode("the doctor").notes.fixed_point


def test_the_fixed_point_is_noised_like_others(encoder: Encoder) -> None:
    drawn = np.array([encoder.encode("broken").integers for _ in range(100)])
    assert np.isfinite(drawn).all()
    assert len(np.unique(drawn)) > 50


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
    assert [release.statement.to_dict()["epsilon_whole_text"] for release in releases] == [1, 1, 1]
    assert encoder.encode_batch([]) == []


def test_two_threads_give_the_same(tiny_encoder: Path, encoder: Encoder) -> None:
    both = Encoder.load(tiny_encoder, threads=2)
    assert (both._session.run(ids("the doctor")) == encoder._session.run(ids("the doctor"))).all()
    for threads in (0, 3, -1):
        with pytest.raises(OptionError):
            Encoder.load(tiny_encoder, threads=threads)


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
    with pytest.raises(InputError):
        encoder.encode_batch("the doctor")


def test_another_bundle_than_expected(tiny_encoder: Path, encoder: Encoder) -> None:
    assert Encoder.load(tiny_encoder, expect_id=encoder.bundle.identity).bundle.identity == encoder.bundle.identity
    with pytest.raises(IdentityMismatch):
        Encoder.load(tiny_encoder, expect_id="0" * 64)


def test_no_bundle_there(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere", "x" * 5000, "nul\0"):
        with pytest.raises(BundleNotFound):
            Encoder.load(path)


# --- models that pass the check and do not run ---------------------------------------------------------------------


def failing(tmp_path: Path, model: onnx.ModelProto | None = None, **options: object) -> str:
    with pytest.raises(EncoderFailed) as caught:
        Encoder.load(write_encoder(tmp_path / "encoder", model=model, **options))  # type: ignore[arg-type]
    return str(caught.value)


def test_more_pieces_than_embeddings(tmp_path: Path) -> None:
    model = model_of(pieces=VOCABULARY[:-1])
    assert failing(tmp_path, model) == "the model of this bundle fails on its input"


def test_more_tokens_than_positions(tmp_path: Path) -> None:
    assert failing(tmp_path, max_tokens=POSITIONS + 1) == "the model of this bundle fails on its input"


def test_a_graph_that_does_not_fit_together(tmp_path: Path) -> None:
    model = model_of()
    model.graph.node[-1].input[0] = "input_ids"  # no numbers of one type
    assert failing(tmp_path, model) == "onnxruntime does not start the model of this bundle"


def test_a_vector_of_another_length(tmp_path: Path) -> None:
    """The output's axes are open, so only running it tells."""
    model = model_of(dimension=5)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    assert failing(tmp_path, model) == "the model gives vectors of another length than its bundle says"


def test_a_vector_of_another_rank(tmp_path: Path) -> None:
    model = model_of()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.graph.node[-1].output[0] = "flat"
    model.graph.node.append(helper.make_node("Reshape", ["flat", "last"], ["representation"]))
    assert failing(tmp_path, model) == "the model of this bundle gives something else than one vector"


# --- nothing leaks -------------------------------------------------------------------------------------------------


def told(error: BaseException) -> str:
    """All that an error and whatever it is chained to say, suppressed or not, source lines apart."""
    said, seen = [], [error]
    while seen:
        current = seen.pop()
        said += [repr(current), *map(str, current.args), *traceback.format_exception_only(current)]
        seen += [other for other in (current.__cause__, current.__context__) if other is not None]
    return "\n".join(said)


def test_a_text_on_which_the_model_fails_is_released_like_any_other(encoder: Encoder) -> None:
    """No release would be an output that only some texts have, outside every epsilon: they get the fixed point."""
    releases = [encoder.encode("the poison said", epsilon=1) for _ in range(200)]
    assert all(release.notes.fixed_point for release in releases)
    assert not any(encoder.encode("the nurse said", epsilon=1).notes.fixed_point for _ in range(20))
    assert {release.vector.shape for release in releases} == {(encoder.bundle.default_level.dimension,)}
    assert len({tuple(release.integers.tolist()) for release in releases}) > 150  # it has the noise, too


def test_a_vector_of_another_length_is_the_fixed_point(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder._session, "run", lambda ids: np.ones((1, 99), dtype=np.float32))
    assert encoder.encode("the nurse").notes.fixed_point


def test_onnxruntime_is_not_quoted(
    encoder: Encoder, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Its message names a row that depends on the text; it is neither raised, chained, logged nor printed."""
    caplog.set_level(logging.NOTSET)
    release = encoder.encode("the poison doctor")
    assert str(MISSING_ROW) not in repr(release)
    with pytest.raises(EncoderFailed) as caught:
        encoder._session.run(ids("poison"))
    assert str(MISSING_ROW) not in told(caught.value)
    assert "".join(capfd.readouterr()) == ""
    assert caplog.text == ""
    runtime = module.offline_onnxruntime()
    session = runtime.InferenceSession(model_of().SerializeToString(), providers=["CPUExecutionProvider"])
    row = np.array([ids("poison")])
    with pytest.raises(Exception, match=str(MISSING_ROW)):  # that is what there is to hide
        session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})
    assert str(MISSING_ROW) in "".join(capfd.readouterr())


def test_nothing_that_is_said_holds_the_text(
    encoder: Encoder, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.NOTSET)
    release = encoder.encode(f"the {SECRET} said")
    said = [repr(release), str(release), repr(release.notes), repr(encoder), json.dumps(release.statement.to_dict())]
    said += [str(release.statement), release.statement.summary(), repr(encoder.encode(f"{SECRET} poison"))]
    calls: list[Callable[[], object]] = [
        lambda: encoder.encode(SECRET, epsilon=SECRET),
        lambda: encoder.encode(SECRET, word_dropout=SECRET),
        lambda: encoder.encode(SECRET.encode()),  # type: ignore[arg-type]
        lambda: encoder.encode_batch([SECRET, [SECRET]]),  # type: ignore[list-item]
        lambda: Encoder.load(SECRET),
        lambda: Encoder.load(encoder.bundle.path, expect_id=SECRET),
    ]
    for call in calls:
        with pytest.raises(TextveilError) as caught:
            call()
        said.append(told(caught.value))
    assert not any("orblaxia" in line or "48213977" in line for line in said)
    assert "".join(capfd.readouterr()) == ""
    assert caplog.text == ""


# --- onnxruntime ---------------------------------------------------------------------------------------------------


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that has not opened an encoder yet."""
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    module.offline_onnxruntime.cache_clear()
    yield
    module.offline_onnxruntime.cache_clear()


def fake(version: str) -> ModuleType:
    runtime = ModuleType("onnxruntime")
    runtime.__version__ = version  # type: ignore[attr-defined]
    return runtime


@pytest.mark.usefixtures("forgotten")
def test_without_onnxruntime(tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EncoderUnavailable) as caught:
        Encoder.load(tiny_encoder)
    assert str(caught.value) == (
        "encoding needs onnxruntime: "
        "install textveil with the extra encoder (in a clone: pip install './runtime[encoder]')"
    )
    assert caught.value.code == "encoder-unavailable"


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("version", ["1.29.0", "1.31.1", "1.21.0", "1.2.8", "1.280.0", "2.0", "", "x1.28.0"])
@pytest.mark.parametrize("told_too_late", [False, True])
def test_a_version_that_may_phone_home(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch, version: str, told_too_late: bool
) -> None:
    """Imported by the application before us: nobody knows what it was told by then."""
    monkeypatch.setitem(sys.modules, "onnxruntime", fake(version))
    if told_too_late:
        monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "1")
    with pytest.raises(EncoderUnavailable, match="not known to stay offline"):
        Encoder.load(tiny_encoder)


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize(("setting", "accepted"), [("1", True), ("0", False), ("", False), (None, False)])
def test_a_version_that_was_told_in_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str | None, accepted: bool
) -> None:
    (tmp_path / "onnxruntime.py").write_text('__version__ = "1.31.1"\n')
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    if setting is not None:
        monkeypatch.setenv("ORT_DISABLE_TELEMETRY", setting)
    try:
        if accepted:
            assert module.offline_onnxruntime().__version__ == "1.31.1"
            assert module.offline_onnxruntime().__version__ == "1.31.1"  # and it is remembered
        else:
            with pytest.raises(EncoderUnavailable):
                module.offline_onnxruntime()
    finally:
        sys.modules.pop("onnxruntime", None)


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("version", ["1.28.0", "1.28.1", "1.28.0+cpu"])
def test_a_version_that_stays_offline(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", fake(version))
    assert module.offline_onnxruntime().__version__ == version


def test_the_session_is_as_it_should_be(encoder: Encoder) -> None:
    session = encoder._session._session
    assert session.get_providers() == ["CPUExecutionProvider"]
    options = session.get_session_options()
    for key, setting in module._SETTINGS.items():
        assert options.get_session_config_entry(key) == setting
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert options.log_severity_level == 4
    assert not options.enable_profiling
    assert options.optimized_model_filepath == ""
